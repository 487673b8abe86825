package replica_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/replica"
	"leanctx/knowledge/state"
)

// The files in testdata/former are what a former version wrote, whose lines bore no signature: a store
// with its snapshot, journal and copy of the lines; the logs of that store and of a colleague at that
// time; and the colleague's log after more was written with that version.
//
// What was believed before the upgrade is believed after it, without a mark, and stays when the
// repository's lines are read anew. What the colleague writes with the former version is of nobody who
// is known: it adds, and waits where it would change something. The log begins its new part with an
// operation that the former version does not know: it says then "line … is of a newer version
// (operation "key"): update lean-ctx; nothing was changed", as it was seen to do.
func TestStoreAndLogsOfAFormerVersion(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	logs := filepath.Join(root, replica.Directory, "log")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"store": dir, "before": logs} {
		if err := os.CopyFS(to, os.DirFS(filepath.Join("testdata", "former", from))); err != nil {
			t.Fatal(err)
		}
	}
	s, err := knowledge.Open(dir, &knowledge.Options{ProjectRoot: root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	sync := func() replica.Report {
		t.Helper()
		r, err := replica.Sync(t.Context(), s, replica.Options{Root: root})
		if err != nil || len(r.Warnings) > 0 {
			t.Fatalf("%s %v", r.Text(), err)
		}
		return r
	}
	believed := func() (out []string) {
		t.Helper()
		if err := s.View(t.Context(), func(st *state.State, now time.Time) error {
			for n := range st.Each() {
				if v := fact.Current(st.Versions(n), now); v != nil {
					text := v.Category + "/" + v.Key + "=" + v.Value + " by " + knowledge.AuthorOf(v)
					if v.Pinned {
						text += " pinned"
					}
					if fact.Unconfirmed(v) {
						text += " ?"
					}
					out = append(out, text)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	want := []string{
		"architecture/auth=OAuth2 by user",
		"architecture/cache=Redis 7 by tool:cli ?",
		"architecture/db=PostgreSQL 16 by tool:cli",
		"architecture/queue=Kafka by tool:cli pinned",
		"gotcha/tests-hang=tests hang → use -short by agent",
		"machine/laptop=my laptop by tool:cli",
		"pattern/style=tabs, not spaces by agent",
		"workflow/ship=never on Fridays by user",
	}
	check := func(when string) {
		t.Helper()
		if got := believed(); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant:\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	check("opened")
	for range 2 {
		if r := sync(); r.New+r.Changed+r.Erased+len(r.Waiting) > 0 {
			t.Errorf("%s", r.Text())
		}
		check("synced")
	}
	ours, err := os.ReadFile(filepath.Join(logs, "ab47f149.jsonl"))
	if err != nil || !regexp.MustCompile(`(?m)^\{"id":"ab47f149-[0-9]+",[^\n]*"op":"key"`).Match(ours) || strings.Contains(string(ours), "laptop") {
		t.Errorf("the former version would read on: %v\n%s", err, ours)
	}
	if err := os.CopyFS(logs+"-after", os.DirFS(filepath.Join("testdata", "former", "after"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(logs+"-after", "d65b152e.jsonl"), filepath.Join(logs, "d65b152e.jsonl")); err != nil {
		t.Fatal(err)
	}
	r := sync()
	var waits []string
	for _, w := range r.Waiting {
		waits = append(waits, w.Line())
	}
	if r.New != 1 || !slices.Equal(waits, []string{
		"[architecture/auth] 'OAuth2' would become 'SQLite' (d65b152e)", "[architecture/db] 'PostgreSQL 16' would end (d65b152e: calls itself tool:cli)",
	}) {
		t.Errorf("%s", r.Text())
	}
	want = slices.Insert(want, 7, "stack/lang=Go 1.26 by agent ?")
	check("with what the former version wrote")
	if _, err := replica.Sync(t.Context(), s, replica.Options{Root: root, Accept: true, ByUser: true}); err != nil {
		t.Fatal(err)
	}
	want = slices.DeleteFunc(want, func(x string) bool { return strings.HasPrefix(x, "architecture/db=") })
	want[0] = "architecture/auth=SQLite by agent"
	check("a person took in what waited: it is what was named")
}
