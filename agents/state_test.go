package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// Files of the first version open, with an index of the messages that nobody reads
// any more.
func TestFirstVersion(t *testing.T) {
	const v1 = "../testdata/store/v1/agents"
	b := newFixture(t)
	b.opts.ProjectRoot = "/home/you/my-app"
	if err := os.CopyFS(b.dir, os.DirFS(v1)); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(v1, "registry.golden"))
	if err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(b.dir)); err != nil {
			t.Fatal(err)
		}
		copied := *b
		copied.dir = dir // to look marks as read
		if d := gocmp.Diff(string(want), answers(t, copied.open().As(Actor{Agent: "cursor-0002"}))); d != "" {
			t.Error(d)
		}
	}
	check()
	if err := b.open().Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	check()
}

// answers is what an agent sees of the registry.
func answers(t *testing.T, s *Store) string {
	t.Helper()
	ctx := t.Context()
	refs, err := s.Copies(ctx, func(text string) bool { return strings.HasPrefix(text, "message 1") || text == "found" })
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Findings(ctx, time.Time{})
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	refs = append(refs, must[Agents](t)(s.List(ctx, ListArgs{})).Text(), must[Info](t)(s.Info(ctx, NoArgs{})).Text(),
		must[Synced](t)(s.Sync(ctx, NoArgs{})).Text(), found[0].Ref, read(t, s).Text())
	return strings.Join(refs, "\n---\n") + "\n"
}
