package knowledge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"leanctx/knowledge/ledger"
	"leanctx/knowledge/search"
	"leanctx/knowledge/table"
)

// How a test opens a store: in parts, whatever its size, or never.
const (
	inParts = 1
	atOnce  = 1 << 60
)

// commanded is a command's store on a directory, at the time of s.
func commanded(t testing.TB, dir string, now time.Time, from int64) *Store {
	t.Helper()
	s, err := Open(dir, &Options{
		ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e", Now: func() time.Time { return now }, keysFrom: from,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.As(Actor{Agent: "cursor-a3f8"})
}

// parted tells whether a store's state is partial.
func parted(t testing.TB, s *Store) (partial bool) {
	t.Helper()
	err := s.view(t.Context(), func(st *ledger.State, _ moment) error {
		partial = st.Partial()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return partial
}

// tabled is a store of everything whose snapshot has a key table and whose
// journal has commits after it.
func tabled(t *testing.T) (dir string, now time.Time) {
	t.Helper()
	s := rich(t)
	s.remember(t, Assertion{Category: "architecture", Key: "cache", Value: "redis cluster", Aliases: []string{"memo", "кеш"}})
	for i := range 40 {
		s.remember(t, Assertion{Category: []string{"decision", "Testing", "fact"}[i%3], Key: fmt.Sprintf("Key-%02d", i), Value: fmt.Sprintf("value %d of the redis cache", i)})
	}
	s.remember(t, Assertion{Category: "fact", Key: "farthest", Value: "for good", ValidUntil: "9999-12-31"})
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	indexedWhole(t, s.Store)
	c := commanded(t, s.dir, s.now, inParts)
	must[Nothing](t)(Nothing{}, c.SyncKeys(t.Context()))
	must[Nothing](t)(Nothing{}, c.Close())
	s.days(1)
	s.remember(t, Assertion{Category: "architecture", Key: "auth", Value: "passkeys"})
	s.remember(t, Assertion{Category: "architecture", Key: "cache", Value: "redis cluster", Aliases: []string{"warehouse"}})
	s.remember(t, Assertion{Category: "TESTING", Key: "key-01", Value: "value 1 of the redis cache."})
	s.remember(t, Assertion{Category: "novelty", Key: "first", Value: "a room of the tail, with redis"})
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "decision", Key: "key-03"}))
	s.now = s.now.Add(time.Hour)
	return s.dir, s.now
}

// indexedWhole writes a generation of the index, however few facts there are.
func indexedWhole(t *testing.T, s *Store) {
	t.Helper()
	index, _, err := s.catchUp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var to search.Generation
	err = s.view(t.Context(), func(st *ledger.State, m moment) error {
		to = search.Generation{At: m.head.At, Epoch: st.Epoch()}
		return nil
	})
	if err == nil {
		err = index.Sync(t.Context(), to, s.everything(t.Context(), func(err error) { t.Error(err) }))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// answer is an answer in full.
func answer(r any, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return "error: " + err.Error()
	}
	if x, ok := r.(interface{ Text() string }); ok {
		return x.Text() + "\n" + string(text)
	}
	return string(text)
}

// deed is something done with a store. One that is lean needs no whole state.
type deed struct {
	name string
	lean bool
	do   func(context.Context, *Store) (any, error)
}

func asking(lean bool, q Question) deed {
	return deed{fmt.Sprintf("recall %+v", q), lean, func(ctx context.Context, s *Store) (any, error) { return s.Recall(ctx, q) }}
}

func telling(a Assertion) deed {
	return deed{fmt.Sprintf("remember %s/%s %s", a.Category, a.Key, a.Value), true, func(ctx context.Context, s *Store) (any, error) { return s.Remember(ctx, a) }}
}

func briefed(m Moment) deed {
	return deed{fmt.Sprintf("wakeup %+v", m), true, func(ctx context.Context, s *Store) (any, error) { return s.Wakeup(ctx, m) }}
}

func questions() []deed {
	out := []deed{
		asking(true, Question{Query: "redis"}),
		asking(true, Question{Query: "redis cache value", Limit: 3, Explain: true}),
		asking(true, Question{Query: "redis", Category: "Decision"}),
		asking(true, Question{Query: "redis", Key: "memo"}),
		asking(true, Question{Query: "nobody asks"}),
		asking(true, Question{Query: "snake_case"}),
		asking(true, Question{Query: "version", IncludeArchived: true}),
		asking(true, Question{Query: "version", AsOf: "2026-01-17T12:00:00Z"}),
		asking(true, Question{Query: "version", KnownAt: "2026-01-17T12:00:00Z"}),
		asking(true, Question{Query: "auth", AsOf: "2027-02-01"}),
		asking(true, Question{Category: "architecture", Key: "auth"}),
		asking(true, Question{Category: "architecture", Key: "AUTH", AsOf: "2026-01-17"}),
		asking(true, Question{Category: "architecture", Key: "memo"}),
		asking(true, Question{Category: "architecture", Key: "warehouse"}),
		asking(true, Question{Category: "decision", Key: "key-03"}),
		asking(true, Question{Category: "nowhere", Key: "nothing"}),
		asking(true, Question{Key: "key-04"}),
		asking(true, Question{Key: "кеш"}),
		asking(true, Question{Category: "testing"}),
		asking(true, Question{Category: "novelty"}),
		asking(true, Question{Category: "pattern"}),
		asking(true, Question{}),
		asking(true, Question{Limit: 100, IncludeArchived: true}),
		asking(true, Question{AsOf: "2026-01-17T12:00:00Z"}),
		asking(true, Question{KnownAt: "2026-01-17T12:00:00Z"}),
		asking(true, Question{Category: "architecture", KnownAt: "2026-01-20"}),
		briefed(Moment{}), briefed(Moment{Budget: 40}), briefed(Moment{Budget: 100000}), briefed(Moment{AsOf: "2026-01-17"}), briefed(Moment{AsOf: "2027-03-01"}),
		{"rooms", true, func(ctx context.Context, s *Store) (any, error) { return s.Rooms(ctx, Nothing{}) }},
		{"status", true, func(ctx context.Context, s *Store) (any, error) {
			r, err := s.Status(ctx, Nothing{})
			r.Dir = ""
			return r, err
		}},
		{"relations", true, func(ctx context.Context, s *Store) (any, error) { return s.Relations(ctx, RelationQuery{}) }},
		{"reminders", true, func(ctx context.Context, s *Store) (any, error) { return s.Reminders(ctx, ReminderQuery{State: "all"}) }},
		{"health", true, func(ctx context.Context, s *Store) (any, error) {
			r, err := s.Health(ctx, Nothing{})
			r.Index = ""
			return r, err
		}},
		{"diff", true, func(ctx context.Context, s *Store) (any, error) { return s.Diff(ctx, Interval{From: "2026-01-16"}) }},
	}
	for _, format := range []string{"json", "jsonl"} {
		out = append(out, deed{"export " + format, true, func(ctx context.Context, s *Store) (any, error) { return s.Export(ctx, Outgoing{Format: format}) }})
	}
	for _, n := range []Name{{Category: "architecture", Key: "auth"}, {Category: "decision", Key: "key-03"}, {Category: "deployment", Key: "gone"}, {Category: "x", Key: "y"}} {
		out = append(out,
			deed{fmt.Sprint("why ", n), true, func(ctx context.Context, s *Store) (any, error) {
				return s.Why(ctx, Subject{Category: n.Category, Key: n.Key})
			}},
			deed{fmt.Sprint("timeline ", n), true, func(ctx context.Context, s *Store) (any, error) {
				return s.Timeline(ctx, Span{Category: n.Category, Key: n.Key})
			}},
			deed{fmt.Sprint("timeline room ", n), true, func(ctx context.Context, s *Store) (any, error) { return s.Timeline(ctx, Span{Category: n.Category}) }})
	}
	return out
}

// Whatever is asked, a partial state answers as a whole one.
func TestPartialAnswers(t *testing.T) {
	dir, now := tabled(t)
	for _, q := range questions() {
		t.Run(q.name, func(t *testing.T) {
			from := map[int64]string{}
			for _, size := range []int64{inParts, atOnce} {
				s := commanded(t, copied(t, dir), now, size)
				if size == inParts && !parted(t, s) {
					t.Fatal("the state is whole, and this test has no point")
				}
				from[size] = answer(q.do(t.Context(), s))
				if size == inParts && q.lean && !parted(t, s) {
					t.Error("all facts were read")
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			if diff := cmp.Diff(from[atOnce], from[inParts]); diff != "" {
				t.Errorf("(-whole +partial):\n%s", diff)
			}
		})
	}
}

func deeds() []deed {
	out := []deed{
		telling(Assertion{Category: "testing", Key: "key-01", Value: "value 1 of the redis cache"}),
		telling(Assertion{Category: "Testing", Key: "KEY-04", Value: "value 4 of the redis cache"}),
		telling(Assertion{Category: "architecture", Key: "auth", Value: "another"}),
		telling(Assertion{Category: "architecture", Key: "db", Value: "SQLite", Correct: true}),
		telling(Assertion{Category: "architecture", Key: "db", Value: "Oracle", ValidFrom: "2026-01-01", ValidUntil: "2026-01-10"}),
		telling(Assertion{Category: "architecture", Key: "db", Value: "planned", ValidFrom: "2030-01-01"}),
		telling(Assertion{Category: "fact", Key: "brand new", Value: "never heard of", Pinned: new(true), Aliases: []string{"x"}}),
		telling(Assertion{Category: "brand new", Value: "value 4 of the redis cache"}),
		telling(Assertion{Category: "deployment", Key: "region", Value: "eu-central-1"}),
		telling(Assertion{Category: "deployment", Key: "gone", Value: "back again"}),
		telling(Assertion{Category: "notes", Key: "fading", Value: "nobody asks"}),
		telling(Assertion{Category: "fact", Key: "bad", Value: ""}),
	}
	lean := func(name string, do func(context.Context, *Store) (any, error)) {
		out = append(out, deed{name, true, do})
	}
	lean("remove", func(ctx context.Context, s *Store) (any, error) {
		return s.Remove(ctx, Withdrawal{Category: "architecture", Key: "auth"})
	})
	lean("remove none", func(ctx context.Context, s *Store) (any, error) {
		return s.Remove(ctx, Withdrawal{Category: "x", Key: "y"})
	})
	lean("relate", func(ctx context.Context, s *Store) (any, error) {
		return s.Relate(ctx, Link{Category: "architecture", Key: "db", Target: "testing/Key-01"})
	})
	lean("judge", func(ctx context.Context, s *Store) (any, error) {
		return s.Judge(ctx, Verdict{Category: "architecture", Key: "db", Target: "testing/key-01", Verdict: "supersedes"})
	})
	lean("feedback", func(ctx context.Context, s *Store) (any, error) {
		return s.Feedback(ctx, Vote{Category: "fact", Key: "key-02", Vote: "down"})
	})
	lean("pattern", func(ctx context.Context, s *Store) (any, error) {
		return s.Pattern(ctx, Lesson{Type: "naming", Value: "snake_case", Examples: []string{"c_d"}})
	})
	lean("restore", func(ctx context.Context, s *Store) (any, error) {
		return s.Restore(ctx, Restoration{Query: "nobody asks"})
	})
	for _, merge := range []string{mergeSkip, mergeReplace, mergeAppend} {
		lean("import "+merge, func(ctx context.Context, s *Store) (any, error) {
			return s.Import(ctx, Incoming{Merge: merge, Data: strings.NewReader(`{"category":"architecture","key":"auth","value":"imported"}
{"category":"imported","key":"new","value":"of redis"}
{"category":"deployment","key":"gone","value":"risen"}
`)})
		})
	}
	return append(out,
		deed{"erase", false, func(ctx context.Context, s *Store) (any, error) {
			return s.Remove(ctx, Withdrawal{Category: "architecture", Key: "cache", Erase: true, Confirm: true})
		}},
		deed{"maintain", true, func(ctx context.Context, s *Store) (any, error) { return s.Maintain(ctx, true) }},
		deed{"compact", true, func(ctx context.Context, s *Store) (any, error) { return nil, s.Compact(ctx) }})
}

// Whatever is done, a partial state decides as a whole one, and so are the
// files that it leaves.
func TestPartialDeeds(t *testing.T) {
	dir, now := tabled(t)
	for _, d := range deeds() {
		t.Run(d.name, func(t *testing.T) {
			from := map[int64]string{}
			for _, size := range []int64{inParts, atOnce} {
				own := copied(t, dir)
				s := commanded(t, own, now, size)
				var text strings.Builder
				text.WriteString(answer(d.do(t.Context(), s)))
				if size == inParts && d.lean && !parted(t, s) {
					t.Error("all facts were read")
				}
				for _, q := range []deed{asking(true, Question{Query: "redis"}), briefed(Moment{})} {
					text.WriteString("\n" + answer(q.do(t.Context(), s)))
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				after := commanded(t, own, now, atOnce)
				from[size] = text.String() + "\n" + exported(t, after)
				if err := after.Close(); err != nil {
					t.Error(err)
				}
			}
			if diff := cmp.Diff(from[atOnce], from[inParts]); diff != "" {
				t.Errorf("(-whole +partial):\n%s", diff)
			}
		})
	}
}

// Two stores, one read in parts and the other at once, stay the same whatever
// happens to them.
func TestPartialModel(t *testing.T) {
	dir, start := tabled(t)
	rapid.Check(t, func(rt *rapid.T) {
		dirs := map[int64]string{inParts: copied(t, dir), atOnce: copied(t, dir)}
		now := start
		all := append(questions(), deeds()...)
		for i := range rapid.IntRange(2, 6).Draw(rt, "steps") {
			d := all[rapid.IntRange(0, len(all)-1).Draw(rt, "deed")]
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "hours")) * time.Hour)
			from := map[int64]string{}
			for size, dir := range dirs {
				s := commanded(t, dir, now, size)
				from[size] = answer(d.do(t.Context(), s))
				if err := s.Close(); err != nil {
					rt.Error(err)
				}
			}
			if diff := cmp.Diff(from[atOnce], from[inParts]); diff != "" {
				rt.Fatalf("step %d, %s (-whole +partial):\n%s", i, d.name, diff)
			}
		}
	})
}

// A key table is a cache: cut anywhere, changed anywhere, of another snapshot
// or gone, the answers are the same, and afterwards there is a good one.
func TestKeyTableDamage(t *testing.T) {
	dir, now := tabled(t)
	path := filepath.Join(dir, "index", "keys")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (text string) {
		if err := os.WriteFile(filepath.Join(dir, "retrievals.log"), nil, 0o600); err != nil {
			t.Fatal(err) // what was read before would show in the order
		}
		s := commanded(t, dir, now, inParts)
		for _, q := range []deed{asking(true, Question{}), asking(true, Question{Query: "redis"}), asking(true, Question{Category: "testing", Key: "key-07"}), asking(true, Question{Key: "memo"}), briefed(Moment{})} {
			text += answer(q.do(t.Context(), s))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return text
	}
	want := ask()
	try := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, ask()); diff != "" {
			t.Fatalf("%s (-good table +bad):\n%s", what, diff)
		}
		if mended, err := os.ReadFile(path); err != nil || !bytes.Equal(mended, good) {
			t.Errorf("%s: no good table was written, %v", what, err)
		}
	}
	step := max(64, len(good)/100/64*64)
	for n := 0; n < len(good); n += step {
		try(fmt.Sprint("cut at ", n), good[:n])
		bad := bytes.Clone(good)
		bad[n] ^= 1
		try(fmt.Sprint("flipped at ", n), bad)
	}
	for n := 0; n < table.HeaderSize; n += 3 {
		bad := bytes.Clone(good)
		bad[n] ^= 0x80
		try(fmt.Sprint("flipped at ", n), bad)
	}
	try("too long", append(bytes.Clone(good), 0))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	try("text", []byte("not a table at all"))
}

// A byte of a fact's text that changed on disk is noticed when the fact is
// read, and then all goes as for a state that was loaded whole: the snapshot
// before takes over.
func TestDamageUnderKeys(t *testing.T) {
	dir, now := tabled(t)
	snapshot := filepath.Join(dir, "knowledge.json")
	data, err := os.ReadFile(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"value 7 of", "redis cluster", "green", "haiku"} {
		at := bytes.Index(data, []byte(part))
		if part == "haiku" {
			at = len(data) - 3
		}
		if at < 0 {
			t.Fatalf("no %q in the snapshot", part)
		}
		bad := bytes.Clone(data)
		bad[at] ^= 1
		if err := os.WriteFile(snapshot, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		all := []deed{
			asking(false, Question{Query: "redis", Limit: 100}), asking(false, Question{Category: "architecture", Key: "cache"}), asking(false, Question{Category: "testing"}),
			asking(false, Question{Category: "testing", Key: "key-07"}), briefed(Moment{}), telling(Assertion{Category: "architecture", Key: "cache", Value: "memcached"}),
			telling(Assertion{Category: "testing", Key: "key-07", Value: "value 7 of the redis cache"}),
		}
		for _, d := range append(questions(), deeds()...) {
			switch d.name {
			case "health", "diff", "export json", "export jsonl", "maintain", "compact", "erase", "rooms":
				all = append(all, d)
			}
		}
		all = append(all, deed{"timeline", true, func(ctx context.Context, s *Store) (any, error) { return s.Timeline(ctx, Span{Category: "testing"}) }},
			deed{"restore", true, func(ctx context.Context, s *Store) (any, error) { return s.Restore(ctx, Restoration{}) }})
		for _, d := range all {
			from := map[int64]string{}
			for _, size := range []int64{inParts, atOnce} {
				s := commanded(t, copied(t, dir), now, size)
				from[size] = answer(d.do(t.Context(), s))
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(from[atOnce], from[inParts]); diff != "" {
				t.Errorf("%s, damaged in %q (-whole +partial):\n%s", d.name, part, diff)
			}
		}
	}
}

// Others compact and write while a partial state is open: what it reads from
// is the file it was opened on, and what they write is folded.
func TestCompactedUnderneath(t *testing.T) {
	dir, now := tabled(t)
	s, other := commanded(t, dir, now, inParts), commanded(t, dir, now, atOnce)
	for i := range 3 {
		if !parted(t, s) {
			t.Fatal("the state is whole, and this test has no point")
		}
		if _, err := other.Remember(t.Context(), Assertion{Category: "testing", Key: "key-07", Value: fmt.Sprint("redis again ", i)}); err != nil {
			t.Fatal(err)
		}
		if err := other.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, q := range questions() {
			if q.name == "status" {
				continue // it tells the size of the journal
			}
			var got []string
			for _, s := range []*Store{other, s} {
				if err := os.WriteFile(filepath.Join(dir, "retrievals.log"), nil, 0o600); err != nil {
					t.Fatal(err) // else the one would see that the other has read
				}
				got = append(got, answer(q.do(t.Context(), s)))
			}
			if diff := cmp.Diff(got[0], got[1]); diff != "" {
				t.Fatalf("%s (-whole +partial):\n%s", q.name, diff)
			}
		}
		if _, err := s.Remember(t.Context(), Assertion{Category: "testing", Key: "key-10", Value: fmt.Sprint("from the other side ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(exported(t, other), exported(t, s)); diff != "" {
		t.Errorf("(-whole +partial):\n%s", diff)
	}
	for _, s := range []*Store{s, other} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What is erased is in no key table either, also when one is being written.
func TestEraseKeys(t *testing.T) {
	dir, now := tabled(t)
	s, late := commanded(t, dir, now, inParts), commanded(t, dir, now, inParts)
	keys, err := os.ReadFile(filepath.Join(dir, "index", "keys"))
	if err != nil || !bytes.Contains(keys, []byte("Key-07")) {
		t.Fatalf("the key is not in the table, %v", err)
	}
	w := Withdrawal{Category: "testing", Key: "key-07", Erase: true, Confirm: true}
	if _, err := s.Remove(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if err := late.SyncKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{s, late} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	after := commanded(t, dir, now, inParts)
	if r, err := after.Recall(t.Context(), Question{Category: "testing", Key: "key-07"}); err != nil || len(r.Facts) > 0 {
		t.Errorf("%v, %v", r.Facts, err)
	}
	if err := after.Close(); err != nil {
		t.Fatal(err)
	}
	for _, text := range files(t, filepath.Join(dir, "index")) {
		if strings.Contains(strings.ToLower(text), "key-07") {
			t.Errorf("the key is still in %.80q", text)
		}
	}
}
