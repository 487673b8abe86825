package vectors

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A server that keeps the file in memory answers as one that reads it. It follows what others write,
// and a damaged file is not kept.
func TestKeptFileAnswersLikeTheFile(t *testing.T) {
	dir := t.TempDir()
	e := named{name: "a", dim: 8}
	texts, vectors := vectorsOf(1, 600, e.dim)
	other, kept := Open(dir), Open(dir)
	kept.Keep(1 << 20)
	for _, n := range []int{300, 600} { // two blocks, then more
		put(t, other, e, texts[:n], vectors[:n])
		got, want := kept.InMemory(e.name, texts, nil), other.Vectors(e.name, texts)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("with %d vectors, what is in memory differs from the file", n)
		}
		if got, want := scan(t, kept, e.name, vectors[7], 5), scan(t, other, e.name, vectors[7], 5); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if got := other.InMemory(e.name, texts, nil); slices.ContainsFunc(got, func(v []float32) bool { return v != nil }) {
		t.Error("an index that keeps nothing has vectors in memory")
	}
	if err := kept.Prune(func(id string) bool { return id != texts[7].ID }); err != nil {
		t.Fatal(err)
	}
	if v := kept.InMemory(e.name, texts[7:9], nil); v[0] != nil || v[1] == nil {
		t.Error("what was pruned is still in memory, or what was not is gone")
	}
	data := readWhole(t, dir)
	data[len(data)-1] ^= 1
	if err := os.WriteFile(filepath.Join(dir, vectorFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := kept.InMemory(e.name, texts, nil); slices.ContainsFunc(got, func(v []float32) bool { return v != nil }) {
		t.Error("a damaged file is in memory")
	}
}
