package vectors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// named is a name and a size for vectors that no encoder made.
type named struct {
	name string
	dim  int
}

// given is an encoder that gives the vectors it was given, by text.
type given struct {
	named
	vectors map[string][]float32
}

func (n named) Name() string { return n.name }
func (n named) Dim() int     { return n.dim }

func (named) Knows(string) bool { return true }

func (g given) Encode(_ context.Context, texts []string) ([][]float32, error) {
	return [][]float32{g.vectors[texts[0]]}, nil
}

// vectorsOf gives n unit vectors at random, and texts for them.
func vectorsOf(seed uint64, n, dim int) ([]Text, [][]float32) {
	r := rand.New(rand.NewPCG(seed, 1))
	texts, vectors := make([]Text, n), make([][]float32, n)
	for i := range n {
		texts[i] = Text{ID: fmt.Sprintf("f-%016x", r.Uint64()), Text: fmt.Sprint("text ", r.Uint64())}
		vectors[i] = make([]float32, dim)
		for j := range dim {
			vectors[i][j] = float32(r.NormFloat64())
		}
		unit(vectors[i])
	}
	return texts, vectors
}

func fill(x *Index, e named, texts []Text, vectors [][]float32) error {
	g := given{e, map[string][]float32{}}
	for i, t := range texts {
		g.vectors[t.Text] = vectors[i]
	}
	_, err := x.Fill(context.Background(), g, Changes{Texts: texts}, nil)
	return err
}

// missing are the places of the texts without a vector.
func missing(t testing.TB, x *Index, texts []Text) (places []int) {
	t.Helper()
	err := x.read(func(f *opened) (err error) { places, err = f.missing("a@1", texts); return err })
	if err != nil && !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	return places
}

func forget(x *Index, ids ...string) error {
	return x.Prune(func(id string) bool { return !slices.Contains(ids, id) })
}

func complete(t testing.TB, x *Index) time.Time {
	t.Helper()
	at, err := x.Complete("a@1")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// setComplete says that the vectors are complete. It returns how many are missing.
func setComplete(t testing.TB, x *Index, c Changes) int {
	t.Helper()
	n, err := x.SetComplete("a@1", c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func put(t testing.TB, x *Index, e named, texts []Text, vectors [][]float32) {
	t.Helper()
	if err := fill(x, e, texts, vectors); err != nil {
		t.Fatal(err)
	}
}

func scan(t testing.TB, x *Index, name string, v []float32, k int) []Hit {
	t.Helper()
	hits, err := x.Scan(t.Context(), name, [][]float32{v}, k)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// unit brings a vector to length 1.
func unit(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
}

var a16, b8 = named{"a@1", 16}, named{"b@1", 8}

func TestIndexKeepsWhatItWasGiven(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	x := Open(dir)
	if got := missing(t, x, []Text{{ID: "f-1"}}); len(got) != 1 {
		t.Fatalf("nothing is there, and yet missing are %v", got)
	}
	texts, vectors := vectorsOf(1, 300, 16)
	put(t, x, a16, texts[:200], vectors[:200])
	put(t, x, a16, texts[200:], vectors[200:])
	few, small := vectorsOf(2, 5, 8)
	put(t, x, b8, few, small)
	for _, x := range []*Index{x, Open(dir)} {
		if got := missing(t, x, texts); len(got) != 0 {
			t.Errorf("missing %v, want none", got)
		}
		want := []EncoderEntries{{"a@1", 16, 300}, {"b@1", 8, 5}}
		if got, err := x.Entries(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
		kept := x.Vectors("a@1", texts)
		for i, text := range texts {
			v := kept[i]
			if v == nil {
				t.Fatalf("no vector of %v", text)
			}
			for j := range v {
				if math.Abs(float64(v[j]-vectors[i][j])) > 0.005 {
					t.Fatalf("value %d of %v is %v, want %v", j, text, v[j], vectors[i][j])
				}
			}
		}
		if hits := scan(t, x, "a@1", vectors[7], 1); hits[0].ID != texts[7].ID || math.Abs(hits[0].Cosine-1) > 0.01 {
			t.Errorf("the nearest to a vector is %v, want itself, %v", hits, texts[7])
		}
		if hits := scan(t, x, "c@1", vectors[7], 1); len(hits) != 0 {
			t.Errorf("an encoder without vectors has hits: %v", hits)
		}
	}
	names, err := fs.Glob(os.DirFS(dir), "*")
	if err != nil || !slices.Equal(names, []string{vectorFile, describingFile}) {
		t.Errorf("the folder holds %v, %v", names, err)
	}
	var described struct{ Encoders []EncoderEntries }
	if data, err := os.ReadFile(x.Path()); err != nil || json.Unmarshal(data, &described) != nil || len(described.Encoders) != 2 {
		t.Errorf("%v %s", err, data)
	}
}

// Changed words replace the vector of an id.
func TestIndexNeverAnswersWithWhatWasReplaced(t *testing.T) {
	dir := t.TempDir()
	x := Open(dir)
	texts, vectors := vectorsOf(1, 50, 16)
	put(t, x, a16, texts, vectors)
	changed := []Text{{ID: texts[3].ID, Text: "other words"}}
	if got := missing(t, x, changed); !slices.Equal(got, []int{0}) {
		t.Errorf("the words of %s changed, and yet missing are %v", texts[3].ID, got)
	}
	put(t, x, a16, changed, vectors[4:5])
	for _, x := range []*Index{x, Open(dir)} {
		hits := scan(t, x, "a@1", vectors[3], 50)
		if len(hits) != 50 || hits[0].Cosine > .99 {
			t.Errorf("%d hits, the replaced vector among them or one too few", len(hits))
		}
		if x.Vectors("a@1", texts[3:4])[0] != nil {
			t.Error("the replaced vector is still given")
		}
	}
}

func TestFillRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	two := named{"a@1", 2}
	one := []Text{{ID: "f"}}
	for want, call := range map[string]func(x *Index) error{
		"has 1 values":     func(x *Index) error { return fill(x, two, one, [][]float32{{1}}) },
		"holds NaN":        func(x *Index) error { return fill(x, two, one, [][]float32{{1, nan}}) },
		"holds -Inf":       func(x *Index) error { return fill(x, two, one, [][]float32{{1, inf}}) },
		"id of 1 to":       func(x *Index) error { return fill(x, two, []Text{{}}, [][]float32{{1, 0}}) },
		"on one line":      func(x *Index) error { return fill(x, two, []Text{{ID: "f\nf"}}, [][]float32{{1, 0}}) },
		"need a name":      func(x *Index) error { return fill(x, named{"", 2}, nil, nil) },
		"1 to 8192 values": func(x *Index) error { return fill(x, named{"a", 1 << 20}, nil, nil) },
	} {
		x := Open(t.TempDir())
		if err := call(x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if s, err := x.Entries(); err != nil || len(s) != 0 {
			t.Errorf("%q: something was stored, %v", want, err)
		}
	}
}

// To what the vectors are complete is in their file: another process sees it, it goes
// when vectors are taken out.
func TestComplete(t *testing.T) {
	dir := t.TempDir()
	x, other := Open(dir), Open(dir)
	texts, vectors := vectorsOf(1, 20, 16)
	then := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	want := func(what string, at time.Time) {
		t.Helper()
		for _, x := range []*Index{x, other, Open(dir)} {
			if got := complete(t, x); !got.Equal(at) {
				t.Errorf("%s: complete to %v, want %v", what, got, at)
			}
		}
	}
	if n := setComplete(t, x, Changes{Texts: texts[:1], To: then}); n != 1 {
		t.Errorf("%d missing, want 1", n)
	}
	want("nothing is there", time.Time{})
	put(t, x, a16, texts[:19], vectors[:19])
	if n := setComplete(t, x, Changes{Texts: texts, To: then}); n != 1 {
		t.Errorf("%d missing, want 1", n)
	}
	want("one is missing", time.Time{})
	put(t, x, a16, texts, vectors)
	if n := setComplete(t, x, Changes{Texts: texts, To: then}); n != 0 {
		t.Errorf("%d missing, want none", n)
	}
	want("all are there", then)
	if err := forget(other, texts[3].ID); err != nil {
		t.Fatal(err)
	}
	want("one is gone", time.Time{})
	if n := setComplete(t, other, Changes{Texts: texts, To: then.Add(1)}); n != 1 {
		t.Errorf("%d missing, want 1", n)
	}
	want("said of one that is gone", time.Time{})
}

// A file of which nobody said to what it is complete is as good.
func TestFillCompletes(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 3, 16)
	put(t, Open(dir), a16, texts, vectors)
	more, others := vectorsOf(2, 2, 16)
	g := given{a16, map[string][]float32{more[0].Text: others[0]}}
	then := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	if _, err := Open(dir).Fill(t.Context(), g, Changes{Texts: more, To: then}, nil); err == nil {
		t.Fatal("a vector of no values is stored")
	}
	if at := complete(t, Open(dir)); !at.IsZero() {
		t.Errorf("stopped, and yet complete to %v", at)
	}
	g.vectors[more[1].Text] = others[1]
	if n, err := Open(dir).Fill(t.Context(), g, Changes{Texts: more, To: then}, nil); n != 1 || err != nil {
		t.Errorf("%d made, want 1, %v", n, err)
	}
	if at := complete(t, Open(dir)); !at.Equal(then) {
		t.Errorf("complete to %v, want %v", at, then)
	}
}

// What is over goes when the vectors that came since are added. It stays where it is not known what
// the others are complete to: the instant that they name may need it.
func TestFillRemovesWhatIsOver(t *testing.T) {
	dir := t.TempDir()
	x := Open(dir)
	texts, vectors := vectorsOf(1, 600, 16)
	put(t, x, a16, texts[:500], vectors[:500])
	put(t, x, b8, texts[:2], [][]float32{make([]float32, 8), make([]float32, 8)})
	then := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	setComplete(t, x, Changes{Texts: texts[:500], To: then})
	g := given{a16, map[string][]float32{}}
	for i, text := range texts {
		g.vectors[text.Text] = vectors[i]
	}
	add := func(i int, since, to time.Time) {
		t.Helper()
		c := Changes{Texts: texts[i : i+1], Over: []string{texts[i-500].ID, "f-unknown"}, Since: since, To: to}
		if n, err := Open(dir).Fill(t.Context(), g, c, nil); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	add(500, then.Add(1), then.Add(2)) // somebody put older vectors back
	if got := missing(t, x, texts[:501]); len(got) != 0 || !complete(t, x).Equal(then) {
		t.Errorf("missing %v, complete to %v", got, complete(t, x))
	}
	add(501, then, then.Add(2))
	if got := missing(t, x, texts[:502]); !slices.Equal(got, []int{1}) || !complete(t, x).Equal(then.Add(2)) {
		t.Errorf("missing %v, complete to %v", got, complete(t, x))
	}
	if ids, err := x.IDs("b@1"); err != nil || len(ids) != 2 {
		t.Errorf("of the other encoder there are %v, %v", ids, err)
	}
}

// Whatever is added and taken out, in many blocks, what is there is what must be.
func TestManyChanges(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	texts, vectors := vectorsOf(1, 2000, 4)
	a4, there := named{"a@1", 4}, map[int]bool{}
	for range 40 {
		var some []Text
		var its [][]float32
		for range r.IntN(400) {
			i := r.IntN(len(texts))
			some, its, there[i] = append(some, texts[i]), append(its, vectors[i]), true
		}
		put(t, Open(dir), a4, some, its)
		from := r.IntN(len(texts))
		gone := map[string]bool{}
		for i := from; i < min(len(texts), from+r.IntN(600)); i++ {
			gone[texts[i].ID] = true
			delete(there, i)
		}
		if err := Open(dir).Prune(func(id string) bool { return !gone[id] }); err != nil {
			t.Fatal(err)
		}
		got := Open(dir).Vectors("a@1", texts)
		for i := range texts {
			if (got[i] != nil) != there[i] || there[i] && math.Abs(float64(got[i][0]-vectors[i][0])) > .01 {
				t.Fatalf("text %d: %v, there: %v", i, got[i], there[i])
			}
		}
		if hits := scan(t, Open(dir), "a@1", vectors[0], len(texts)); len(hits) != len(there) {
			t.Fatalf("%d hits, want %d", len(hits), len(there))
		}
	}
}

// resetting is an encoder while which somebody resets the index.
type resetting struct {
	given
	index *Index
}

func (r resetting) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	if err := r.index.Reset(); err != nil {
		return nil, err
	}
	return r.given.Encode(ctx, texts)
}

// Who adds what came since the vectors were complete does not say so of vectors that
// were reset meanwhile.
func TestResetWhileFilling(t *testing.T) {
	dir := t.TempDir()
	x := Open(dir)
	texts, vectors := vectorsOf(1, 3, 16)
	put(t, x, a16, texts[:2], vectors[:2])
	then := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	setComplete(t, x, Changes{Texts: texts[:2], To: then})
	g := given{a16, map[string][]float32{texts[2].Text: vectors[2]}}
	since := Changes{Texts: texts[2:], Since: then, To: then.Add(1)}
	if n, err := x.Fill(t.Context(), resetting{g, Open(dir)}, since, nil); n != 1 || err != nil {
		t.Fatalf("%d made, %v", n, err)
	}
	if missing := setComplete(t, x, since); missing != 0 {
		t.Errorf("%d missing", missing)
	}
	if at := complete(t, x); !at.IsZero() {
		t.Errorf("two of three are gone, and yet complete to %v", at)
	}
}

func TestForgetLeavesNoByte(t *testing.T) {
	dir := t.TempDir()
	x := Open(dir)
	texts, vectors := vectorsOf(1, 20, 16)
	put(t, x, a16, texts, vectors)
	few, small := vectorsOf(1, 20, 8)
	put(t, x, b8, few, small)
	if err := forget(Open(dir), texts[4].ID, few[2].ID, "f-unknown"); err != nil {
		t.Fatal(err)
	}
	data := readWhole(t, dir)
	if strings.Contains(string(data), texts[4].ID) || strings.Contains(string(data), few[2].ID) {
		t.Error("a forgotten id is still in the file")
	}
	if hits := scan(t, x, "a@1", vectors[0], 100); len(hits) != 19 {
		t.Errorf("%d hits, want 19", len(hits))
	}
	if err := forget(x, slices.Collect(func(yield func(string) bool) {
		for _, text := range slices.Concat(texts, few) {
			yield(text.ID)
		}
	})...); err != nil {
		t.Fatal(err)
	}
	if names, err := fs.Glob(os.DirFS(dir), "*"); err != nil || len(names) > 0 {
		t.Errorf("when all is forgotten the folder holds %v, %v", names, err)
	}
}

// Several processes, here indexes that share nothing but the folder, write at
// once. What one of them loses it encodes again, and what is there is whole.
func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 400, 16)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			x := Open(dir)
			for i := w * 100; i < w*100+100; i += 10 {
				if err := fill(x, a16, texts[i:i+10], vectors[i:i+10]); err != nil {
					t.Error(err)
				}
				hits, err := x.Scan(t.Context(), "a@1", vectors[i:i+1], 3)
				if err != nil || len(hits) == 0 {
					t.Error(hits, err)
				}
			}
		})
	}
	wg.Wait()
	x := Open(dir)
	put(t, x, a16, texts, vectors)
	if missing := missing(t, Open(dir), texts); len(missing) != 0 {
		t.Errorf("%d of 400 are missing", len(missing))
	}
}

// readWhole gives the file of vectors.
func readWhole(t testing.TB, dir string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, vectorFile))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// slow is an encoder that takes a second a text.
type slow struct{ given }

func (s slow) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	time.Sleep(time.Second)
	return s.given.Encode(ctx, texts)
}

// A fill that cannot write what it has so far goes on: else each command on a full disk would find the
// same few facts, and none of the others.
func TestFillGoesOnWithoutTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		blocked := filepath.Join(dir, vectorFile, "x")
		if err := os.MkdirAll(blocked, 0o700); err != nil {
			t.Fatal(err)
		}
		texts, vectors := vectorsOf(1, 9, 16)
		g := given{a16, map[string][]float32{}}
		for i, t := range texts {
			g.vectors[t.Text] = vectors[i]
		}
		x := Open(dir)
		if n, err := x.Fill(t.Context(), slow{g}, Changes{Texts: texts}, nil); n != 9 || err == nil {
			t.Errorf("%d, %v, want 9 and why they were not written", n, err)
		}
		if hits := scan(t, x, "a@1", vectors[0], 100); len(hits) != 9 {
			t.Errorf("%d hits in memory, want 9", len(hits))
		}
	})
}

// A slow process looked at the facts of an instant. Another is complete to a later one, and has removed
// what was over by then: the vectors are not complete to the earlier one.
func TestCompleteIsNotMovedBack(t *testing.T) {
	dir := t.TempDir()
	at := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
	texts, vectors := vectorsOf(1, 3, 16)
	x := Open(dir)
	put(t, x, a16, texts, vectors)
	setComplete(t, x, Changes{Texts: texts, To: at(1)})
	if _, err := x.Fill(t.Context(), given{named: a16}, Changes{Over: []string{texts[0].ID}, Since: at(1), To: at(3)}, nil); err != nil {
		t.Fatal(err)
	}
	setComplete(t, Open(dir), Changes{Since: at(1), To: at(2)})
	if got := complete(t, x); !got.Equal(at(3)) {
		t.Errorf("complete to %v, want %v", got, at(3))
	}
}
