package verdict

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"leanctx/internal/language"
)

// phrases are what values are drawn from: words, names, numbers, units, marks.
var phrases = []string{"cache", "Redis", "userId", "src/a.go", "v1.2", "the", "a", "not", "never", "no", "without", "and", "or", "and", "5", "10", "500 ms", "0.5 s",
	"10 MB", "50%", "three", "twenty", "is", "was", "uses", "for", "in", "to", "from", "instead of", "only", "until", "before", "port:", "port =", ",", ",", ";", ".", "(", ")",
	"`db`", `"x"`, "don't", "do not", "colour", "color", "->", ">=", "1,000", "1000", "000", "hosts", "are", "1 h", "30 min", "A", "Ä", "猫", "-", "&", "[", "]", "?", "+1", "$5", "USD"}

func valueOf(t *rapid.T, label string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom(phrases), 1, 8).Draw(t, label)
	return strings.ReplaceAll(strings.Join(parts, " "), " ,", ",")
}

// variantOf is a value near another, often equal to it.
func variantOf(t *rapid.T, v, label string) string {
	fields := strings.Fields(v)
	i := rapid.IntRange(0, len(fields)-1).Draw(t, label+" place")
	switch rapid.IntRange(0, 7).Draw(t, label+" change") {
	case 0:
		fields[i] = strings.ToUpper(fields[i])
	case 1:
		fields[i] = "`" + fields[i] + "`"
	case 2:
		j := rapid.IntRange(0, len(fields)-1).Draw(t, label+" other")
		fields[i], fields[j] = fields[j], fields[i]
	case 3:
		fields = append(fields, rapid.SampledFrom(phrases).Draw(t, label+" added"))
	case 4:
		fields = slices.Insert(fields, i, "the")
	case 5:
		return v + "."
	case 6:
		return strings.ReplaceAll(v, "500 ms", "0.5s")
	}
	return strings.Join(fields, " ")
}

func TestEqualityIsSymmetricAndTransitive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := valueOf(t, "a")
		b := variantOf(t, a, "b")
		c := variantOf(t, b, "c")
		ab, bc, ac := Compare("", a, b) == Equal, Compare("", b, c) == Equal, Compare("", a, c) == Equal
		if ab != (Compare("", b, a) == Equal) {
			t.Fatalf("%q, %q: equal one way alone", a, b)
		}
		if ab && bc && !ac {
			t.Fatalf("%q = %q = %q, but not the first and the last", a, b, c)
		}
		if ab != (Canonical("", a).Hash() == Canonical("", b).Hash()) {
			t.Fatalf("%q, %q: equal %v, and the hashes say otherwise", a, b, ab)
		}
		if Compare("", a, a+" ") != Equal {
			t.Fatalf("%q is not equal to itself", a)
		}
	})
}

// TestRefinementLosesNothing holds refinements to the numbers, names and
// negations of the old value, and to one direction.
func TestRefinementLosesNothing(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		a := valueOf(t, "a")
		b := a + " " + valueOf(t, "more")
		if rapid.Bool().Draw(t, "inserted") {
			fields := strings.Fields(a)
			i := rapid.IntRange(0, len(fields)).Draw(t, "place")
			b = strings.Join(slices.Insert(fields, i, valueOf(t, "insertion")), " ")
		}
		if Compare("", a, b) != Refined {
			return
		}
		found++
		if back := Compare("", b, a); back != Different {
			t.Fatalf("%q refines %q, and back it is %v", b, a, back)
		}
		count := func(v string, keep func(atom) bool) map[string]int {
			n := map[string]int{}
			for _, a := range Canonical("", v).atoms {
				if keep(a) {
					n[a.text]++
				}
			}
			return n
		}
		carries := func(a atom) bool { return a.class >= number && a.class != pause || a.class == name }
		for text, n := range count(a, carries) {
			if count(b, carries)[text] < n {
				t.Fatalf("%q refines %q without %q", b, a, text)
			}
		}
		denies := func(a atom) bool { return a.class == word && language.Negates(a.text) && a.text != "without" }
		was, is := count(a, denies), count(b, denies)
		if len(was) != len(is) {
			t.Fatalf("%q refines %q with other negations", b, a)
		}
		for text, n := range was {
			if is[text] != n {
				t.Fatalf("%q refines %q with other negations", b, a)
			}
		}
	})
	if found == 0 {
		t.Error("no refinement was drawn: the property was not tested")
	}
}

func TestNegationIsNoConfirmationAndNoRefinement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := strings.Fields(valueOf(t, "a"))
		i := rapid.IntRange(0, len(fields)).Draw(t, "place")
		not := rapid.SampledFrom([]string{"not", "never", "no", "no longer", "don't", "cannot"}).Draw(t, "negation")
		a, b := strings.Join(fields, " "), strings.Join(slices.Insert(slices.Clone(fields), i, not), " ")
		if got := Compare("", a, b); got != Different {
			t.Fatalf("%q, %q: %v", a, b, got)
		}
		if got := Compare("", b, a); got != Different {
			t.Fatalf("%q, %q: %v", b, a, got)
		}
	})
}

// TestSmallChangeIsAChange changes one digit, unit, sign, version part or
// letter of an identifier inside a sentence.
func TestSmallChangeIsAChange(t *testing.T) {
	units := []string{"ms", "s", "min", "h", "kB", "MB", "KiB", "MiB", "%", "USD", "EUR", "", "bits", "weeks"}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 999).Draw(t, "n")
		m := rapid.IntRange(1, 999).Filter(func(m int) bool { return m != n }).Draw(t, "m")
		i := strconv.Itoa
		var old, now string
		switch rapid.IntRange(0, 4).Draw(t, "what") {
		case 0:
			unit := rapid.SampledFrom(units).Draw(t, "unit")
			old, now = i(n)+" "+unit, i(m)+" "+unit
		case 1: // no unit is a multiple of another by a factor that makes the same number another quantity's
			u := rapid.SampledFrom(units).Draw(t, "unit")
			v := rapid.SampledFrom(units).Filter(func(v string) bool { return v != u }).Draw(t, "other unit")
			old, now = i(n)+u, i(n)+v
		case 2:
			old, now = i(n), "-"+i(n)
		case 3:
			part := rapid.IntRange(0, 2).Draw(t, "part")
			v := []string{i(n), i(n), i(n)}
			old = "v" + strings.Join(v, ".")
			v[part] = i(m)
			now = "v" + strings.Join(v, ".")
		case 4:
			id := []byte(rapid.SampledFrom([]string{"userId", "max_size", "src/auth.go", "a.b.c", "$HOME", "x@y"}).Draw(t, "name"))
			old = string(id)
			at := rapid.IntRange(0, len(id)-1).Draw(t, "place")
			id[at] = rapid.SampledFrom([]byte("qwz79QWZ")).Filter(func(c byte) bool { return c != id[at] }).Draw(t, "letter")
			now = string(id)
		}
		frame := rapid.SampledFrom([]string{"X", "limit is X", "X for reads", "a, X and c", "(X)", "X, never more", "hosts: X, y, z"}).Draw(t, "frame")
		a, b := strings.Replace(frame, "X", old, 1), strings.Replace(frame, "X", now, 1)
		if got := Compare("", a, b); got != Different {
			t.Fatalf("%q, %q: %v", a, b, got)
		}
	})
}

func FuzzCompare(f *testing.F) {
	for _, list := range [][][2]string{rewordings, refinements, contradictions, tricky} {
		for _, p := range list {
			f.Add(p[0], p[1])
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		k, back := Compare("", a, b), Compare("", b, a)
		if (k == Equal) != (back == Equal) || k == Refined && back == Refined {
			t.Errorf("%q, %q: %v, and back %v", a, b, k, back)
		}
		if Compare("", a, a) != Equal {
			t.Errorf("%q is not equal to itself", a)
		}
	})
}
