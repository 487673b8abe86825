package knowledge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/listing"
)

func entry(minute int, kind, text string) Finding {
	ref := "diary:codex-1acc/" + time.Duration(minute).String()
	return Finding{kind, text, "codex-1acc", ref, noted.Add(time.Duration(minute) * time.Minute)}
}

// A known fact is confirmed or refined. A question or a guess becomes no fact. A blocker ends
// when a later entry says that it is solved. A dry run shows it all.
func TestConsolidateWhatIsKnown(t *testing.T) {
	n := &notes{list: []Finding{
		entry(1, "decision", "Sessions are opaque tokens, kept in Redis."),
		entry(2, "insight", "the connection pool holds 20 connections, and PostgreSQL allows 200 in all"),
		entry(3, "finding", "maybe the cache is never invalidated"),
		entry(4, "decision", "Should we move to Kubernetes?"),
		entry(5, "insight", "never force push to main, it rewrites the work of others"),
		entry(6, "blocker", "staging has no TLS certificate"),
		entry(7, "progress", "fixed the TLS certificate of staging"),
		entry(8, "finding", "the pool holds 30 connections"),
	}}
	s := testStore(t, &Options{Findings: n})
	s.now = noted.AddDate(0, 0, -1)
	for _, a := range []Assertion{
		{Category: "architecture", Key: "auth", Value: "sessions are opaque tokens kept in Redis"},
		{Category: "operations", Key: "db pool", Value: "the connection pool holds 20 connections"},
		{Category: "user", Key: "force push", Value: "never force push to main", Source: "user"},
		{Category: "blocker", Key: "arm64", Value: "arm64 images cannot be built since the runner's disk is full"},
		{Category: "blocker", Key: "licence", Value: "the legal department has not answered about the licence"},
	} {
		s.remember(t, a)
	}
	n.list = append(n.list, entry(9, "result", "arm64 images build again: the disk of the runner is no longer full, resolved"), entry(10, "insight", "the licence question is not resolved, legal has not answered"))
	s.now = noted.AddDate(0, 0, 1)
	dry := must[Promoted](t)(Consolidate(t.Context(), s.Store, Promotion{DryRun: true}))
	wet := must[Promoted](t)(Consolidate(t.Context(), s.Store, Promotion{}))
	lines := func(p Promoted) []string { return strings.Split(p.Text(), "\n")[1:] }
	if d := cmp.Diff(lines(dry), lines(wet)); d != "" {
		t.Errorf("a dry run shows something else (-dry +wet):\n%s", d)
	}
	text := wet.Text()
	for _, want := range []string{
		"closed 1 blocker, left out 2 unsure entries",
		"[architecture/auth]: sessions are opaque tokens kept in Redis (conf: 85%, confirmed)",
		"[operations/db pool]: the connection pool holds 20 connections, and PostgreSQL allows 200 in all (conf: 75%, refined)",
		"[user/force push]: never force push to main (conf: 95%, confirmed)",
		"the pool holds 30 connections (conf: 70%)",
		"closed [blocker/arm64]: arm64 images cannot be built since the runner's disk is full (solved: diary:codex-1acc/9ns)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, not := range []string{"Kubernetes", "maybe", "TLS", "closed [blocker/licence]"} {
		if strings.Contains(text, not) {
			t.Errorf("%q in\n%s", not, text)
		}
	}
	if got := s.recall(t, Question{Category: "blocker", Key: "arm64"}).Text(); got != "No current fact [blocker/arm64]: ended 2026-03-21 (was 'arm64 images cannot be built since the runner's disk is full')." {
		t.Error(got)
	}
	if r := must[listing.DisputeList](t)(listing.Disputes(t.Context(), s.Store, listing.DisputeQuery{})); r.Total != 0 {
		t.Errorf("a dispute was opened: %s", r.Text())
	}
	again := must[Promoted](t)(Consolidate(t.Context(), s.Store, Promotion{}))
	if len(again.Facts) != 0 || len(again.Closed) != 0 {
		t.Errorf("again: %s", again.Text())
	}
}

// Words decide what is a guess and what is solved; doubt leaves it.
func TestWhatAFindingSays(t *testing.T) {
	for text, want := range map[string]string{
		"Is the cache ever invalidated?":              "unsure",
		"The cache may hold 100 entries":              "",
		"probably a race in the loader":               "unsure",
		"I think the pool is too small":               "unsure",
		"the seams of the tests":                      "",
		"Fixed: staging has its certificate":          "solved",
		"the certificate is not fixed yet":            "",
		"once the certificate is fixed we can deploy": "",
		"the blocker was resolved by Marek":           "solved",
		"it looks like the blocker was resolved":      "unsure",
		"the certificate has to be fixed":             "",
		"Возможно, кэш не сбрасывается":               "unsure",
		"": "",
		strings.Repeat("is it? ", 9000) + "the answer is no": "",
	} {
		if got := FindingSays(text); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}
