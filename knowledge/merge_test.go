package knowledge_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/transfer"
)

func (s *story) load(t *testing.T, merge, text string) transfer.Imported {
	t.Helper()
	r, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{Merge: merge, Data: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// must panics away the error of an operation whose result does not matter.
func must[T any](t testing.TB) func(T, error) T {
	return func(x T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// rich is a store with something of everything.
func rich(t *testing.T) *story {
	t.Helper()
	s := testStore(t, nil)
	s.load(t, "", `{"schema":1,"project_root":"/elsewhere","project_hash":"00","updated_at":"2026-01-02T00:00:00Z",
 "facts":[{"id":"f-1","category":"Odd","key":"One","value":"<&> \u2028 \"quoted\"","confidence":0.25,"created_at":"2025-01-01T00:00:00.5Z","privacy":"linked_projects",
   "archetype":"prophecy","novel":{"b":[1,2.50,null],"a":"x"},"sources":[{"kind":"oracle","at":"2025-01-01T00:00:00.5Z","mood":"good"}]}],
 "patterns":[{"pattern_type":"naming","description":"snake_case","examples":["foo_bar"],"source_session":"s1","created_at":"2025-01-01T00:00:00Z","since":"v1"}],
 "relations":[],"judged_pairs":[],"history":[{"summary":"Consolidated 2 facts","from_sessions":["s1"],"timestamp":"2025-01-02T00:00:00Z","kind":"consolidate"}],
 "theme":{"colour":"green","shades":[1,2,3]}}`)
	for i := range 4 {
		s.days(1)
		s.remember(t, Assertion{Category: "architecture", Key: "auth", Value: fmt.Sprint("version ", i/2), Confidence: new(.9), Source: "src/auth.ts:12", Tags: []string{"a", "b"}, Aliases: []string{"login"}, Pinned: new(true)})
	}
	s.remember(t, Assertion{Category: "architecture", Key: "auth", Value: "planned", ValidFrom: "2027-01-01"})
	s.remember(t, Assertion{Category: "architecture", Key: "auth", Value: "interlude", ValidFrom: "2026-01-17", ValidUntil: "2026-01-18"})
	s.days(1)
	s.remember(t, Assertion{Category: "architecture", Key: "db", Value: "MySQL"})
	s.remember(t, Assertion{Category: "architecture", Key: "db", Value: "PostgreSQL", Correct: true})
	s.remember(t, Assertion{Category: "deployment", Key: "host", Value: "AWS ECS", Privacy: PrivacyProjectOnly})
	s.remember(t, Assertion{Category: "deployment", Key: "region", Value: "eu-central-1"})
	s.remember(t, Assertion{Category: "deployment", Key: "gone", Value: "for ever"})
	s.remember(t, Assertion{Category: "deployment", Key: "back", Value: "first life"})
	s.remember(t, Assertion{Category: "findings", Key: "fading", Value: "nobody asks"})
	ctx := t.Context()
	must[Withdrawn](t)(s.Remove(ctx, Withdrawal{Category: "deployment", Key: "region"}))
	must[Withdrawn](t)(s.Remove(ctx, Withdrawal{Category: "deployment", Key: "gone", Erase: true}))
	must[Withdrawn](t)(s.Remove(ctx, Withdrawal{Category: "deployment", Key: "back", Erase: true}))
	s.remember(t, Assertion{Category: "deployment", Key: "back", Value: "second life"})
	must[Linked](t)(Relate(ctx, s.Store, Link{Category: "architecture", Key: "auth", Target: "architecture/db", Kind: "depends_on"}))
	must[Linked](t)(Relate(ctx, s.Store, Link{Category: "architecture", Key: "auth", Target: "architecture/db", Kind: "depends_on"}))
	must[advice.Judged](t)(advice.Judge(ctx, s.Store, advice.Verdict{Category: "architecture", Key: "auth", Target: "deployment/host", Verdict: "compatible"}))
	must[Voted](t)(Feedback(ctx, s.Store, Vote{Category: "architecture", Key: "db", Vote: "up"}))
	must[Learned](t)(Gotcha(ctx, s.Store, Mistake{Trigger: "go mod tidy", Resolution: "pin bleve", Severity: "critical"}))
	must[Reminded](t)(Remind(ctx, s.Store, NewReminder{Value: "rotate keys", Due: "2026-06-01", Keyword: "keys"}))
	done := must[Reminded](t)(Remind(ctx, s.Store, NewReminder{Value: "write README", Path: "docs/**"}))
	must[Reminded](t)(RemindDone(ctx, s.Store, Done{ID: done.Reminder.ID}))
	must[Maintained](t)(s.Maintain(ctx, true)) // from here on it is known what is read
	s.days(400)
	if n, err := s.Maintain(ctx, true); err != nil || n.Archived == 0 {
		t.Fatalf("%+v, %v", n, err)
	}
	return s
}

var itsOwn = regexp.MustCompile(`(?m)^  "(project_root|project_hash|updated_at|checksum)": .*\n`)

// An export, imported into an empty store and exported again, is the same file but for what
// belongs to the store. So is the export of the store after it was opened again.
func TestRoundTrip(t *testing.T) {
	s := rich(t)
	text := s.whole(t)
	for _, part := range []string{`"retracted_at"`, `"archived_at": "2`, `"tombstones"`, `"earlier_periods"`, `"theme"`, `"mood"`, `"since"`, `"novel"`, `"done_at": "2`, `"oracle"`} {
		if !strings.Contains(text, part) {
			t.Errorf("the store has no %s, and this test no point", part)
		}
	}
	if diff := cmp.Diff(text, reopened(t, s)); diff != "" {
		t.Errorf("opened again (-memory +files):\n%s", diff)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, reopened(t, s)); diff != "" {
		t.Errorf("compacted and opened again (-memory +files):\n%s", diff)
	}
	to := testStore(t, &Options{ProjectRoot: "/home/u/copy", ProjectHash: "00000000000000aa"})
	to.now = s.now.Add(time.Hour)
	to.load(t, "", text)
	for what, got := range map[string]string{"memory": to.whole(t), "files": reopened(t, to)} {
		if diff := cmp.Diff(itsOwn.ReplaceAllString(text, ""), itsOwn.ReplaceAllString(got, "")); diff != "" {
			t.Errorf("%s (-exported +imported):\n%s", what, diff)
		}
	}
	for _, q := range []Question{{AsOf: "2026-01-17T12:00:00Z"}, {KnownAt: "2026-01-17T12:00:00Z"}, {Category: "architecture", KnownAt: "2026-01-20"}} {
		if diff := cmp.Diff(s.recall(t, q).Text(), to.recall(t, q).Text()); diff != "" {
			t.Errorf("%+v (-exported +imported):\n%s", q, diff)
		}
	}
}

// seq is the number of the store's last commit.
func (s *story) seq(t *testing.T) uint64 {
	return must[listing.StoreStatus](t)(listing.Status(t.Context(), s.Store, Examining{})).Commits
}

// In every way of merging, an import is one commit, and the same import again
// is none.
func TestImportTwice(t *testing.T) {
	text := rich(t).whole(t)
	jsonl := `{"category":"c","key":"k","value":"v","confirmations":3,"timestamp":"2025-05-01T12:00:00Z"}` + "\n" +
		`{"category":"c","key":"k","value":"v2","valid_from":"2025-06-01"}` + "\n" + `{"category":"c","key":"period","value":"p","valid_from":"2025-06-01","valid_until":"2025-07-01"}`
	for name, text := range map[string]string{"native": text, "jsonl": jsonl} {
		for _, merge := range []string{"skip-existing", "replace", "append"} {
			t.Run(name+" "+merge, func(t *testing.T) {
				s := testStore(t, nil)
				s.days(500)
				s.remember(t, Assertion{Category: "mine", Key: "mine", Value: "mine"})
				s.load(t, merge, text)
				if n := s.seq(t); n != 2 {
					t.Errorf("%d commits, want 2", n)
				}
				once := s.whole(t)
				s.days(1)
				if r := s.load(t, merge, text); r.Added+r.Replaced+r.Lists != 0 {
					t.Errorf("again: %s", r.Text())
				}
				if diff := cmp.Diff(once, s.whole(t)); diff != "" || s.seq(t) != 2 {
					t.Errorf("imported twice, %d commits (-once +twice):\n%s", s.seq(t), diff)
				}
			})
		}
	}
}

// What an import makes of a fact that is new, the same, different, withdrawn
// or erased here, and of one that is withdrawn there.
func TestMerge(t *testing.T) {
	t.Parallel()
	const native = `{"schema":1,"facts":[{"id":"f-%d","category":"c","key":"%s","value":"theirs","confidence":0.8,"created_at":"2025-01-01T00:00:00Z","valid_from":"2025-01-01T00:00:00Z"%s}]}`
	line := func(key string) string {
		return fmt.Sprintf(`{"category":"c","key":"%s","value":"theirs","valid_from":"2025-01-01T00:00:00Z"}`, key)
	}
	fact := func(key string) string { return fmt.Sprintf(native, 1, key, "") }
	for _, form := range []struct {
		name string
		text func(key string) string
	}{{"native", fact}, {"jsonl", line}} {
		for _, test := range []struct {
			merge, key           string
			added, skip, replace int
			current, before      string // values now, and on 2025-06-01
		}{
			{"skip-existing", "new", 1, 0, 0, "theirs", "theirs"},
			{"skip-existing", "same", 0, 1, 0, "theirs", ""},
			{"skip-existing", "different", 0, 1, 0, "ours", ""},
			{"skip-existing", "retracted", 0, 1, 0, "", ""},
			{"skip-existing", "erased", 0, 1, 0, "", ""},
			{"replace", "new", 1, 0, 0, "theirs", "theirs"},
			{"replace", "same", 0, 1, 0, "theirs", ""},
			{"replace", "different", 0, 0, 1, "theirs", ""},
			{"replace", "retracted", 0, 0, 1, "theirs", ""},
			{"replace", "erased", 1, 0, 0, "theirs", "theirs"},
			{"append", "new", 1, 0, 0, "theirs", "theirs"},
			{"append", "different", 1, 0, 0, "ours", "theirs"},
			{"append", "retracted", 0, 1, 0, "", ""},
			{"append", "erased", 0, 1, 0, "", ""},
		} {
			t.Run(fmt.Sprintf("%s %s %s", form.name, test.merge, test.key), func(t *testing.T) {
				s := ours(t)
				before := files(t, s.dir)
				in := transfer.Incoming{Merge: test.merge, DryRun: true, Data: strings.NewReader(form.text(test.key))}
				dry := must[transfer.Imported](t)(transfer.Import(t.Context(), s.Store, in))
				if diff := cmp.Diff(before, files(t, s.dir)); diff != "" {
					t.Errorf("a dry run wrote:\n%s", diff)
				}
				seq := s.seq(t)
				r := s.load(t, test.merge, form.text(test.key))
				if r.Added != test.added || r.Skipped != test.skip || r.Replaced != test.replace {
					t.Errorf("%s, want %d added, %d skipped, %d replaced", r.Text(), test.added, test.skip, test.replace)
				}
				if want := fmt.Sprintf("[DRY RUN] Would add: %d, skip: %d, replace: %d", r.Added, r.Skipped, r.Replaced); !strings.Contains(dry.Text(), want) {
					t.Errorf("%q, want %q", dry.Text(), want)
				}
				if got, want := s.seq(t)-seq, uint64(min(test.added+test.replace, 1)); got != want {
					t.Errorf("%d commits, want %d", got, want)
				}
				for asOf, want := range map[string]string{"": test.current, "2025-06-01": test.before} {
					var got strings.Builder
					for _, f := range s.recall(t, Question{Category: "c", Key: test.key, AsOf: asOf}).Facts {
						got.WriteString(f.Value)
					}
					if got.String() != want && !(form.name == "jsonl" && asOf != "" && test.merge == "replace") {
						t.Errorf("as of %q: %q, want %q", asOf, got.String(), want)
					}
				}
			})
		}
	}
}

// ours is what is there before an import.
func ours(t *testing.T) *story {
	t.Helper()
	s := testStore(t, nil)
	for key, value := range map[string]string{"same": "theirs", "different": "ours", "retracted": "ours", "erased": "ours"} {
		s.remember(t, Assertion{Category: "c", Key: key, Value: value})
	}
	s.days(1)
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "c", Key: "retracted"}))
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "c", Key: "erased", Erase: true}))
	s.days(1)
	return s
}

// A record says the same about itself whatever the way of merging.
func TestMergeKeepsRecord(t *testing.T) {
	for _, merge := range []string{"skip-existing", "replace", "append"} {
		s := testStore(t, nil)
		s.load(t, merge, `{"category":"c","key":"k","value":"v","confidence":0.6,"confirmations":3,"timestamp":"2025-05-01T12:00:00Z"}`)
		if f := s.only(t, "c", "k"); f.Confirmations != 3 || f.LastConfirmed.Year() != 2025 || f.Confidence != .6 {
			t.Errorf("%s: %+v", merge, f)
		}
	}
}

// Secrets are taken out of every text that a file brings.
func TestImportSecrets(t *testing.T) {
	const key = "AKIAIOSFODNN7EXAMPLQ"
	text := strings.ReplaceAll(`{"schema":1,"facts":[{"id":"f-1","category":"c","key":"k","value":"aws KEY","confidence":1,"created_at":"2025-01-01T00:00:00Z",
 "tags":["KEY"],"aliases":["KEY"],"sources":[{"kind":"agent","ref":"KEY","at":"2025-01-01T00:00:00Z"}]}],
 "patterns":[{"pattern_type":"p","description":"aws KEY","examples":["aws KEY"],"source_session":"","created_at":"2025-01-01T00:00:00Z"}],
 "gotchas":[{"id":"g-1","category":"x","severity":"info","trigger":"aws KEY","resolution":"aws KEY","first_seen":"2025-01-01T00:00:00Z","last_seen":"2025-01-01T00:00:00Z"}],
 "reminders":[{"id":"r-1","text":"aws KEY","keyword":"KEY","state":"open","created_at":"2025-01-01T00:00:00Z"}],
 "history":[{"summary":"aws KEY","from_sessions":[],"timestamp":"2025-01-01T00:00:00Z"}]}`, "KEY", key)
	s := testStore(t, nil)
	s.load(t, "", text)
	s.load(t, "", `{"category":"`+key+`","key":"`+key+`","value":"aws `+key+`","source":"`+key+`"}`)
	holds(t, s.dir, key, false)
	_, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(`{"category":"c","key":"k","value":"v","privacy":"` + key + `"}`)})
	if err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("an unknown privacy: %v", err)
	}
}
