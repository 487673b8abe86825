package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/history"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/transfer"
)

// existing is a directory as the existing program writes it. It has every field, superseded
// rows, two current rows of one key, and values that this build has no name for.
func existing(t testing.TB) (data, dir string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "a[b]") // no pattern is made of it
	dir = filepath.Join(data, "knowledge", "0123456789abcdef")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"knowledge.json": `{
  "project_root": "/home/u/my-app", "project_hash": "14958352f5925e3e",
  "facts": [
    {"category":"architecture","key":"auth","value":"JWT RS256","source_session":"s1","confidence":0.95,
     "created_at":"2025-01-15T10:00:00.123456789Z","last_confirmed":"2025-02-01T08:00:00Z","retrieval_count":4,"last_retrieved":"2025-02-03T08:00:00Z",
     "valid_from":"2025-01-15T10:00:00.123456789Z","valid_until":"2025-03-20T09:12:00Z","supersedes":null,"confirmation_count":2,
     "feedback_up":1,"feedback_down":2,"last_feedback":"2025-02-04T08:00:00Z","privacy":"project_only","sensitivity":"public","imported_from":null,
     "archetype":"architecture","fidelity":null,"revision_count":2},
    {"category":"architecture","key":"auth","value":"OAuth2 + PKCE","source_session":"s2","confidence":0.9,
     "created_at":"2025-03-20T09:12:00Z","last_confirmed":"2025-03-20T09:12:00Z","retrieval_count":0,"last_retrieved":null,
     "valid_from":"2025-03-20T09:12:00Z","valid_until":null,"supersedes":"architecture/auth","confirmation_count":1,
     "feedback_up":0,"feedback_down":0,"last_feedback":null,"privacy":"team","sensitivity":"hypersecret","imported_from":"other-app",
     "archetype":"prophecy","fidelity":{"structural":0.5,"semantic":0.5,"computed_at":"2025-03-20T09:12:00Z"},"revision_count":3},
    {"category":"architecture","key":"db","value":"PostgreSQL 14","source_session":"s1","confidence":0.8,
     "created_at":"2025-01-16T10:00:00Z","last_confirmed":"2025-01-16T10:00:00Z","confirmation_count":1},
    {"category":"architecture","key":"db","value":"PostgreSQL 16","source_session":"import","confidence":1.7,"telepathy":{"strength":[1,2]},
     "created_at":"2025-05-16T10:00:00Z","last_confirmed":"2025-05-16T10:00:00Z","confirmation_count":1,"revision_count":0}
  ],
  "patterns":[{"pattern_type":"naming","description":"snake_case","examples":["foo_bar"],"source_session":"s1","created_at":"2025-01-15T10:00:00Z"}],
  "history":[{"summary":"Session s1: fix login","from_sessions":["s1"],"timestamp":"2025-01-15T11:00:00Z"}],
  "updated_at":"2025-05-16T10:00:00Z",
  "judged_pairs":[{"key_a":"architecture/auth","key_b":"architecture/db","verdict":"compatible","judged_at":"2025-01-15T12:00:00Z"}],
  "horoscope": "lucky"
}`,
		"gotchas.json": `{"project_hash":"14958352f5925e3e","gotchas":[
  {"id":"00aa11bb22cc33dd","category":"Build","severity":"Critical","trigger":"go mod tidy","resolution":"pin bleve","file_patterns":["go.mod"],
   "occurrences":3,"session_ids":["s1"],"first_seen":"2025-01-15T10:00:00Z","last_seen":"2025-02-15T10:00:00Z","confidence":0.9,
   "source":"AgentReported","prevented_count":1,"tags":["go"],"provenance":[],"expires_at":null,"decay_rate_override":null}],
  "error_log":[],"stats":{"total_errors_detected":1},"updated_at":"2025-02-15T10:00:00Z","pending_errors":[]}`,
		"relations.json": `{"project_hash":"14958352f5925e3e","edges":[
  {"from":{"category":"architecture","key":"auth"},"to":{"category":"architecture","key":"db"},"kind":"depends_on","created_at":"2025-01-15T10:00:00Z",
   "last_seen":null,"count":2,"source_session":"s1","strength":0.5,"decay_rate":0.02}],"updated_at":"2025-02-15T10:00:00Z"}`,
		"embeddings.json": `{"entries":[]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return data, dir
}

// took checks that everything of the existing program's directory is there. auth was read
// so many times.
func took(t *testing.T, s *story, retrievals int, adopted bool) {
	t.Helper()
	text := s.whole(t) // before it is read below, which counts
	if f := s.only(t, "architecture", "auth"); f.Value != "OAuth2 + PKCE" || f.Confidence != .9 || f.Unconfirmed == adopted || f.Archetype != "prophecy" {
		t.Errorf("auth: %+v", f)
	}
	if f := s.only(t, "architecture", "db"); f.Value != "PostgreSQL 16" || f.Confidence != 1 {
		t.Errorf("db: %+v, want the later of two current rows, confidence 1", f)
	}
	for day, want := range map[string]string{"2025-02-01": "JWT RS256", "2025-03-21": "OAuth2 + PKCE"} {
		if r := s.recall(t, Question{Category: "architecture", Key: "auth", AsOf: day}); len(r.Facts) != 1 || r.Facts[0].Value != want {
			t.Errorf("auth as of %s: %s, want %s", day, r.Text(), want)
		}
	}
	if r := s.recall(t, Question{Category: "architecture", Key: "db", AsOf: "2025-02-01"}); len(r.Facts) != 1 || r.Facts[0].Value != "PostgreSQL 14" {
		t.Errorf("db as of February: %s", r.Text())
	}
	tl, err := history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: "architecture"})
	if err != nil || strings.Count(tl.Text(), "[CURRENT]") != 2 || len(tl.Entries) != 4 {
		t.Errorf("%s, %v", tl.Text(), err)
	}
	if first, second := tl.Entries[0].ID, tl.Entries[slices.IndexFunc(tl.Entries, func(e history.Entry) bool { return e.Value == "OAuth2 + PKCE" })]; second.Supersedes != first {
		t.Errorf("supersedes %q, want the id of the old version, %q", second.Supersedes, first)
	}
	if r := s.recall(t, Question{Query: "bleve"}); len(r.Facts) != 1 || r.Facts[0].Category != "gotcha" || r.Facts[0].Confirmations != 3 {
		t.Errorf("the gotcha: %s", r.Text())
	}
	if r := s.recall(t, Question{Query: "snake_case"}); len(r.Facts) != 1 || r.Facts[0].Category != "pattern" {
		t.Errorf("the pattern: %s", r.Text())
	}
	if r, err := listing.Relations(t.Context(), s.Store, listing.RelationQuery{}); err != nil || r.Total != 1 || r.Relations[0].Kind != "depends_on" || r.Relations[0].Count != 2 {
		t.Errorf("%s, %v", r.Text(), err)
	}
	for _, kept := range []string{`"telepathy": {`, `"sensitivity": "hypersecret"`, `"fidelity": {`, `"feedback_down": 2`, `"imported_from": "other-app"`, `"verdict": "compatible"`,
		`"summary": "Session s1: fix login"`, fmt.Sprintf(`"retrieval_count": %d`, retrievals), `"privacy": "team"`, `"prevented_count": 1`, `"strength": 0.5`} {
		if !strings.Contains(text, kept) {
			t.Errorf("%s is gone", kept)
		}
	}
	if strings.Contains(text, `"project_only"`) {
		t.Error("a fact is still private to the project")
	}
}

// The existing program's own files are imported whole.
func TestImportExisting(t *testing.T) {
	_, dir := existing(t)
	s := testStore(t, nil)
	r, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{File: filepath.Join(dir, "knowledge.json")})
	if err != nil || r.Kind != "leanctx" || r.Added != 4 || r.Skipped+r.Replaced != 0 {
		t.Fatalf("%s, %v", r.Text(), err)
	}
	took(t, s, 4, false)
	if f := s.only(t, "architecture", "auth"); f.Version.Privacy != "team" {
		t.Errorf("privacy %q", f.Version.Privacy)
	}
	private := testStore(t, nil)
	if _, err := transfer.Import(t.Context(), private.Store, transfer.Incoming{File: filepath.Join(dir, "knowledge.json"), KeepPrivacy: true}); err != nil {
		t.Fatal(err)
	}
	if f := private.only(t, "architecture", "db"); f.Version.Privacy != PrivacyProjectOnly {
		t.Errorf("privacy %q, want the existing program's default kept", f.Version.Privacy)
	}
}

// A whole directory of the existing program is taken over by the first use of
// the project's store, once, and left as it was.
func TestAdopt(t *testing.T) {
	data, dir := existing(t)
	before := files(t, dir)
	s := testStore(t, &Options{Adopt: adopts(t.TempDir(), data)})
	took(t, s, 4, true)
	if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0], dir) || !strings.Contains(n[0], "pattern") {
		t.Errorf("notices %q, want one that names %s and counts patterns", n, dir)
	}
	if r := s.recall(t, Question{}); strings.Contains(r.Text(), "unconfirmed") {
		t.Errorf("what the user's own agents said is taken for somebody else's:\n%s", r.Text())
	}
	if _, err := s.Remove(t.Context(), Withdrawal{Category: "architecture", Key: "db"}); err != nil {
		t.Fatal(err)
	}
	again := &story{dir: s.dir, now: s.now.Add(time.Hour)}
	again.open(t, &Options{Adopt: adopts(data)})
	if r := again.recall(t, Question{Category: "architecture", Key: "db"}); len(r.Facts) != 0 || len(again.Notices()) != 0 {
		t.Errorf("taken over a second time: %s", r.Text())
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("the existing program's files changed:\n%s", diff)
	}
	other := testStore(t, &Options{Adopt: adopts(data), ProjectRoot: "/home/u/other", ProjectHash: "00000000000000ff"})
	if r := other.recall(t, Question{}); len(r.Facts) != 0 {
		t.Errorf("another project's facts: %s", r.Text())
	}
}

// Two processes that take the directory over at the same time get it once.
func TestAdoptRace(t *testing.T) {
	data, _ := existing(t)
	for range pick(4, 40) {
		j := task{Job: "status", Dir: t.TempDir(), Legacy: data}
		notices := 0
		for _, out := range together(t, j, j, j) {
			var facts, told int
			if _, err := fmt.Sscan(out, &facts, &told); err != nil || facts != 4 {
				t.Errorf("%q, %v", out, err)
			}
			notices += told
		}
		r, err := listing.Status(t.Context(), named(t, j.Dir), Examining{})
		if err != nil || notices != 1 || r.Versions != 6 || r.Commits != 1 || r.Gotchas != 1 {
			t.Errorf("%d notices, %s, %v", notices, r.Text(), err)
		}
	}
}

// If the disk is full when the directory is taken over, that is only delayed. A fact that is
// remembered later does not stand in its way.
func TestAdoptLater(t *testing.T) {
	data, _ := existing(t)
	full := true
	o := &Options{Adopt: adopts(data), Fault: func(op, _ string) error {
		if full && op == "write" {
			return errors.New("no space left on device")
		}
		return nil
	}}
	s := testStore(t, o)
	if r := s.recall(t, Question{}); len(r.Facts) != 0 || len(s.Notices()) != 1 {
		t.Fatalf("%s, want a notice that nothing was taken over", r.Text())
	}
	full = false
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "v"})
	took(t, s, 4, true)
	again := &story{dir: s.dir, now: s.now.Add(time.Hour)}
	again.open(t, &Options{Adopt: adopts(data)})
	took(t, again, 5, true)
}

// Arrays and lines of records, as other programs write them.
func TestImportRecords(t *testing.T) {
	records := []string{
		`{"category":"auth","key":"token-type","value":"Uses JWT","confidence":0.7,"source":"cli-18f0","timestamp":"2025-05-01T12:00:00+00:00"}`,
		`{"category":"auth","key":"expiry","value":"15 minutes","valid_from":"2025-05-01","valid_until":"2027-05-01","confirmations":3,"unknown":{"x":1}}`,
		`{"category":"база","key":"ключ","value":"значение"}`,
	}
	for kind, text := range map[string]string{
		"jsonl": "\ufeff" + strings.Join(records, "\r\n\n"),
		"array": "[\n" + strings.Join(records, ",\n") + "\n]",
	} {
		t.Run(kind, func(t *testing.T) {
			s := testStore(t, nil)
			file := filepath.Join(t.TempDir(), "facts."+kind)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{File: file})
			if err != nil || r.Kind != kind {
				t.Fatalf("%+v, %v", r, err)
			}
			if want := "Parsed 3 facts from facts." + kind + "\nImport complete: 3 added, 0 skipped, 0 replaced\n  to take it back: action=undo import=" + r.ID; r.Text() != want || r.ID == "" {
				t.Errorf("%q, want %q", r.Text(), want)
			}
			f := s.only(t, "auth", "token-type")
			want := time.Date(2025, 5, 1, 12, 0, 0, 0, time.UTC)
			if f.Confidence != .7 || !f.Unconfirmed || !f.LastConfirmed.Equal(want) || f.Version.Sources[0].Kind != KindImport || f.Version.Sources[0].Ref != "cli-18f0" {
				t.Errorf("%+v", f)
			}
			if f := s.only(t, "auth", "expiry"); f.Confirmations != 3 || f.ValidUntil == nil || f.ValidUntil.Year() != 2027 || f.ValidFrom.Year() != 2025 {
				t.Errorf("%+v", f)
			}
			s.only(t, "база", "ключ")
			if w, err := briefing.Wakeup(t.Context(), s.Store, briefing.Query{}); err != nil || !strings.Contains(w.Text(), "token-type=Uses JWT★?") {
				t.Errorf("not marked as imported: %s, %v", w.Text(), err)
			}
			s.remember(t, Assertion{Category: "auth", Key: "token-type", Value: "Uses JWT"})
			if s.only(t, "auth", "token-type").Unconfirmed {
				t.Error("still marked once it was confirmed")
			}
		})
	}
}

// What is kept to its project stays so in the forms that other programs read.
func TestRecordsKeepPrivacy(t *testing.T) {
	from := testStore(t, nil)
	from.remember(t, Assertion{Category: "ops", Key: "account", Value: "4711", Privacy: PrivacyProjectOnly})
	from.remember(t, Assertion{Category: "ops", Key: "region", Value: "eu-central-1"})
	for _, format := range []string{"jsonl", "array"} {
		e, err := transfer.Export(t.Context(), from.Store, transfer.Outgoing{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		to := testStore(t, nil)
		to.days(1)
		if r := to.load(t, "", e.Data); r.Added != 2 {
			t.Fatalf("%s: %+v", format, r)
		}
		if account, region := to.only(t, "ops", "account").Privacy, to.only(t, "ops", "region").Privacy; account != PrivacyProjectOnly || region != PrivacyShared {
			t.Errorf("%s: account %s, region %s", format, account, region)
		}
	}
	if r, err := transfer.Import(t.Context(), from.Store, transfer.Incoming{Data: strings.NewReader(`{"category":"a","key":"b","value":"c","privacy":"secret"}`)}); err == nil {
		t.Errorf("an unknown privacy is taken: %+v", r)
	}
}

// adopts has a store take over what the existing program keeps in data directories.
func adopts(dirs ...string) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error { return transfer.Adopt(ctx, s, dirs) }
}

// An import says what keeps removed facts out, and what would bring them back.
func TestImportOfRemovedFacts(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "db", Key: "engine", Value: "PostgreSQL"})
	s.remember(t, Assertion{Category: "db", Key: "port", Value: "5432"})
	file := s.whole(t)
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "db", Key: "engine"}))
	for _, merge := range []string{"", "append"} {
		r := s.load(t, merge, file)
		if r.Skipped == 0 || r.Removed != 1 || !strings.Contains(r.Text(), "1 of the skipped were removed here: merge=replace brings them back") {
			t.Errorf("merge %q: %s", merge, r.Text())
		}
	}
	if r := s.load(t, "replace", file); r.Removed != 0 || r.Added+r.Replaced != 1 {
		t.Errorf("replace: %s", r.Text())
	}
}

// A dry run shows all that a consolidation would do, the forgetting included.
func TestDryRunShowsForgetting(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "status", Key: "build", Value: "is red"})
	must[Maintained](t)(s.Maintain(t.Context(), true)) // from here on it is known what is read
	s.days(200)
	dry := must[Promoted](t)(Consolidate(t.Context(), s.Store, Promotion{DryRun: true}))
	if dry.Archived != 1 || !strings.Contains(dry.Text(), "archive 1 fact") {
		t.Errorf("dry run: %s", dry.Text())
	}
	if got := must[Promoted](t)(Consolidate(t.Context(), s.Store, Promotion{})); got.Archived != dry.Archived {
		t.Errorf("then: %s", got.Text())
	}
}
