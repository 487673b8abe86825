package knowledge_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/formats"
	. "leanctx/knowledge"
	"leanctx/knowledge/fact"
)

var writeStore = flag.String("write-store", "", "write a store of this version into testdata/store under this name, which must be new")

// TestStores: the stores that every version so far wrote open, answer and
// export to the file beside them, and go on being written to. They are only
// ever added to: go test ./knowledge -run TestStores -write-store vN
func TestStores(t *testing.T) {
	root := filepath.Join("..", "testdata", "store")
	if *writeStore != "" {
		keep(t, filepath.Join(root, *writeStore))
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) == 0 {
		t.Fatalf("no stores: %v", err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			opens(t, filepath.Join(root, e.Name()))
		})
	}
}

// keep writes a store with a snapshot, the one before it, and a journal that
// goes on after it.
func keep(t *testing.T, to string) {
	t.Helper()
	s := rich(t)
	for i := range 2 {
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.days(1)
		s.remember(t, Assertion{Category: "architecture", Key: "cache", Value: []string{"Redis 7", "Valkey 8"}[i], Source: "user"})
	}
	s.remember(t, Assertion{Category: "architecture", Key: "cache", Value: "valkey 8."})
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "deployment", Key: "host"}))
	must[Learned](t)(Pattern(t.Context(), s.Store, Lesson{Type: "errors", Value: "lower case", Examples: []string{"no full stop"}}))
	if err := os.Mkdir(to, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"knowledge.json", "knowledge.json.prev", "knowledge.journal", "knowledge.journal.prev"} {
		data, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(to, "export.golden"), []byte(s.whole(t)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// listed are the lists of patterns and gotchas that a fact file has beside the facts.
var listed = regexp.MustCompile(`(?ms)^  "(patterns|gotchas)": \[.*?^  \]`)

func opens(t *testing.T, stored string) {
	golden, err := os.ReadFile(filepath.Join(stored, "export.golden"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := fact.DecodeFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	doc.Schema = formats.Schema // patterns and gotchas are among the facts by now
	var meant bytes.Buffer
	if err := fact.EncodeFile(&meant, doc); err != nil {
		t.Fatal(err)
	}
	s := &story{dir: copied(t, stored), now: doc.UpdatedAt.Add(time.Hour)}
	before := files(t, s.dir)
	s.open(t, nil)
	if diff := cmp.Diff(body(t, meant.String()), body(t, s.whole(t))); diff != "" { // members that are new stand in both
		t.Errorf("export (-golden +got); a store that is out there must not change its meaning:\n%s", diff)
	}
	if f := s.only(t, "architecture", "cache"); f.Value != "Valkey 8" || f.Confirmations != 2 {
		t.Errorf("%+v", f)
	}
	lists := func(text string) []string { return listed.FindAllString(text, -1) }
	if diff := cmp.Diff(lists(string(golden)), lists(s.whole(t))); diff != "" {
		t.Errorf("patterns and gotchas as other programs read them (-golden +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, files(t, s.dir)); diff != "" {
		t.Errorf("reading wrote:\n%s", diff)
	}
	s.remember(t, Assertion{Category: "architecture", Key: "cache", Value: "none"})
	want := s.whole(t)
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, reopened(t, s)); diff != "" {
		t.Errorf("written on, compacted and opened again (-memory +files):\n%s", diff)
	}
	if n := s.Notices(); len(n) > 0 {
		t.Errorf("notices %q", n)
	}
	if err := os.Remove(filepath.Join(s.dir, "knowledge.json")); err != nil {
		t.Fatal(err)
	}
	if got := reopened(t, s); !strings.Contains(got, `"Valkey 8"`) || got != want {
		t.Errorf("without its snapshot (-want +got):\n%s", cmp.Diff(want, got))
	}
}
