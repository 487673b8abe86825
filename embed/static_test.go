package embed

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func encode(t testing.TB, e *StaticEncoder, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := e.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func length(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

func TestTableIsWhole(t *testing.T) {
	rows, err := openTable(table256)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256([]byte(table256[tableHead:])); string(sum[:]) != table256[16:48] {
		t.Errorf("the table's checksum is %x, its head says %x", sum, table256[16:48])
	}
	if rows.dim != 256 || rows.n != 30522 {
		t.Errorf("%d rows of %d", rows.n, rows.dim)
	}
	for id := range rows.n {
		if scale := math.Float32frombits(binary.LittleEndian.Uint32([]byte(rows.scales[4*id:]))); !(scale >= 0 && scale < 10) {
			t.Fatalf("row %d has the scale %v", id, scale)
		}
	}
}

func TestStaticVectors(t *testing.T) {
	e := Static()
	if e.Dim() != 256 || !strings.HasPrefix(e.Name(), "static-minilm-256@") {
		t.Errorf("%s has %d values", e.Name(), e.Dim())
	}
	texts := probes(t)
	together := encode(t, e, texts...)
	for i, text := range texts {
		alone := encode(t, e, text)[0]
		if diff := cmp.Diff(alone, together[i]); diff != "" {
			t.Errorf("%.40q is another vector beside others", text)
		}
		if n := length(alone); n != 0 && math.Abs(n-1) > 1e-5 {
			t.Errorf("%.40q has length %v", text, n)
		}
	}
	for _, text := range []string{"", " \n", "\x00\xff", strings.Repeat("x", 101), "\u200b", "\U000e0001"} {
		if v := encode(t, e, text)[0]; length(v) != 0 || len(v) != 256 {
			t.Errorf("%.40q has length %v, want a vector of zeros", text, length(v))
		}
	}
	same := encode(t, e, "Naïve CAFÉ", "naive cafe", "nai\u0308ve\tcafe\u0301", "naive cafe \U0001fae8\U0001fae8")
	for _, v := range same {
		if !cmp.Equal(same[0], v) {
			t.Error("accents, case, spaces or an unknown word changed a vector")
		}
	}
}

// The digest of the vectors of all probes: the same on every machine, so that
// one process may read what another wrote.
func TestStaticIsTheSameEverywhere(t *testing.T) {
	h := sha256.New()
	for _, v := range encode(t, Static(), probes(t)...) {
		if err := binary.Write(h, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	const want = "011702510ff11234"
	if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != want {
		t.Errorf("the vectors' digest is %s, want %s; it changes with the table and the probes alone", got, want)
	}
}

func TestTablesThatAreNone(t *testing.T) {
	short := table256[:len(table256)-1]
	for name, data := range map[string]string{
		"empty": "", "short": short, "a pointer": "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 1\n",
		"another": "lctable2" + table256[8:], "no rows": table256[:8] + strings.Repeat("\x00", 56),
	} {
		if _, err := newStatic(vocabulary30k, data); err == nil || !strings.HasPrefix(err.Error(), "token table: ") {
			t.Errorf("%s: %v, want an error of the table", name, err)
		}
	}
	if _, err := newStatic(vocabulary30k[:1000], table256); err == nil {
		t.Error("a vocabulary of another size was taken")
	}
}

// Random strings of bytes, of any runes and of tokens: none panics, and each
// gives a vector of length 1 or 0.
func TestStaticOnRandomStrings(t *testing.T) {
	e := Static()
	r := rand.New(rand.NewPCG(5, 6))
	seeds := probes(t)
	for i := range 1500 {
		var b strings.Builder
		for range r.IntN(200) {
			switch i % 3 {
			case 0:
				b.WriteByte(byte(r.IntN(256)))
			case 1:
				b.WriteRune(rune(r.IntN(0x110000)))
			default:
				s := []rune(seeds[r.IntN(len(seeds))])
				if len(s) > 0 {
					b.WriteRune(s[r.IntN(len(s))])
				}
			}
		}
		if n := length(encode(t, e, b.String())[0]); n != 0 && math.Abs(n-1) > 1e-5 {
			t.Fatalf("%q has length %v", b.String(), n)
		}
	}
}

func FuzzStatic(f *testing.F) {
	for _, seed := range probes(f) {
		f.Add(seed)
	}
	e := Static()
	f.Fuzz(func(t *testing.T, text string) {
		if n := length(encode(t, e, text)[0]); n != 0 && math.Abs(n-1) > 1e-5 {
			t.Fatalf("%q has length %v", text, n)
		}
	})
}

// fact has 23 tokens, query 7.
const (
	fact  = "Deployments of the billing service go to AWS ECS in eu-central-1 after two approvals."
	query = "where do we host production?"
)

func BenchmarkEncodeStatic(b *testing.B) {
	e := Static()
	long := strings.Repeat("naïve words and 日本語 ", 64<<10/25)
	for name, text := range map[string]string{"fact": fact, "query": query, "64KiB": long} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				encode(b, e, text)
			}
			b.ReportMetric(float64(len(newWordPieces(vocabulary30k).ids(nil, clean(text)))), "tokens")
		})
	}
	b.Run("first", func(b *testing.B) { // what the first use in a process costs, but for reading pages of the program
		for b.Loop() {
			if _, err := newStatic(vocabulary30k, table256); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A word put together from syllables alone means nothing.
func TestKnows(t *testing.T) {
	for text, want := range map[string]bool{
		"how do users log in": true, "Authentication!": true, "(database)": true, "zzybojugixq authentication": true,
		"zzybojugixq": false, "": false, "a b c": false, "12": false, "!?": false, "\xff\xfe": false, "Щербаковский": false,
	} {
		if got := Static().Knows(text); got != want {
			t.Errorf("Knows(%q) = %v", text, got)
		}
	}
}
