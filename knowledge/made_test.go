package knowledge

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Without a key table a command still reads in parts, answers the same, and leaves the table to the next one; a
// snapshot that is damaged is read whole, and mended.
func TestTableMadeOnTheWay(t *testing.T) {
	dir := filled(t, 3000)
	ask := func(s *Store) string {
		return must[Recalled](t)(s.Recall(t.Context(), Question{Query: "service 2049", Limit: 5})).Text()
	}
	want := ask(named(t, dir))
	keys := filepath.Join(dir, "index", "keys")
	open := func() *Store {
		t.Helper()
		s, err := Open(dir, &Options{ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e", keysFrom: 1})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	must[Nothing](t)(Nothing{}, s.Compact(t.Context()))
	must[Nothing](t)(Nothing{}, s.Close())
	if err := os.RemoveAll(filepath.Join(dir, "index")); err != nil {
		t.Fatal(err)
	}
	s = open()
	if !parted(t, s) {
		t.Error("read whole")
	}
	if diff := cmp.Diff(want, ask(s)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(keys); err == nil {
		t.Error("written before the answer")
	}
	must[Nothing](t)(Nothing{}, s.Close())
	if _, err := os.Stat(keys); err != nil {
		t.Error("not written after the answer:", err)
	}
	s = open()
	if !parted(t, s) {
		t.Error("read whole")
	}
	must[Nothing](t)(Nothing{}, s.Close())

	if err := os.RemoveAll(filepath.Join(dir, "index")); err != nil {
		t.Fatal(err)
	}
	snapshot := filepath.Join(dir, "knowledge.json")
	data, err := os.ReadFile(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(snapshot, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open()
	if parted(t, s) {
		t.Error("a table of a damaged snapshot")
	}
	if diff := cmp.Diff(want, ask(s)); diff != "" {
		t.Error(diff)
	}
	must[Nothing](t)(Nothing{}, s.Close())
}
