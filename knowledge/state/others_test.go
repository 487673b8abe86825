package state

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/internal/proctest"
	"leanctx/knowledge/fact"
)

// feed is a team's log: its commits are given.
type feed struct{ commits [][]byte }

func (f *feed) Name() string        { return "leanctx.x.knowledge" }
func (f *feed) Wait() time.Duration { return time.Minute }
func (f *feed) Fetch(_ context.Context, from uint64, take func(uint64, []byte) error) error {
	for i, c := range f.commits {
		if uint64(i+1) >= from {
			if err := take(uint64(i+1), c); err != nil {
				return err
			}
		}
	}
	return nil
}
func (f *feed) Publish(_ context.Context, last uint64, commit []byte) (uint64, error) {
	if last != uint64(len(f.commits)) {
		return 0, journal.ErrConflict
	}
	f.commits = append(f.commits, commit)
	return last + 1, nil
}
func (f *feed) Newest(context.Context) (journal.Mark, uint64, error) {
	return journal.Mark{}, 4096, nil
}
func (f *feed) Load(context.Context, journal.Mark) ([]byte, error)                     { return nil, journal.ErrGone }
func (f *feed) Save(_ context.Context, m journal.Mark, _ []byte) (journal.Mark, error) { return m, nil }
func (f *feed) Trim(context.Context, journal.Mark, func([]byte) bool) error            { return nil }
func (f *feed) Follow(ctx context.Context, _ func() error)                             { <-ctx.Done() }

// commit is one that a member writes.
func (f *feed) commit(at, events string) {
	prev := "00000000"
	if n := len(f.commits); n > 0 {
		prev = fmt.Sprintf("%08x", crc32.Checksum(f.commits[n-1], crc32.MakeTable(crc32.Castagnoli)))
	}
	f.commits = append(f.commits, fmt.Appendf(nil, `{"seq":%d,"prev":%q,"at":%q,"events":[%s]}`, len(f.commits)+1, prev, at, events))
}

func (f *feed) open(t *testing.T, dir string) *Log {
	t.Helper()
	l, err := Open(dir, &Options{Team: func(name string) journal.Remote { return f }})
	must(t, err)
	return l
}

const day = "2026-03-01T00:00:00Z"

func version(id, key, value, kind string) string {
	return fmt.Sprintf(`{"id":%q,"category":"deploy","key":%q,"value":%q,"confidence":0.9,"created_at":%q,"valid_from":%q,"recorded_from":%q,"last_confirmed":%q,"confirmation_count":1,"sources":[{"kind":%q,"at":%q}]}`,
		id, key, value, day, day, day, day, kind, day)
}

func valueOf(t *testing.T, l *Log, key string) (v *fact.Version, replica *formats.Replica) {
	t.Helper()
	must(t, l.View(t.Context(), func(st *State) error {
		if vs := st.Versions(fact.IDOf("deploy", key)); len(vs) > 0 {
			v = vs[0]
		}
		replica = st.Replica
		return nil
	}))
	return v, replica
}

// What a member writes takes nothing away without a trace, names no replica and nobody to trust, and
// ends no program, in the team and after it was left.
func TestWhatAMemberCannotDo(t *testing.T) {
	for name, events := range map[string]string{
		"the whole fact":           `{"replace":{"facts":[{"category":"deploy","key":"day","versions":[` + version("f-2", "day", "always deploy", "user") + `]}]}}`,
		"no fact":                  `{"replace":{"facts":[{"category":"deploy","key":"day"}]}}`,
		"no version":               `{"replace":{"facts":[{"category":"deploy","key":"day","versions":[null]}]}}`,
		"patterns":                 `{"replace":{"patterns":[null],"gotchas":[null],"relations":null}}`,
		"another value":            `{"put":` + version("f-1", "day", "always deploy", "user") + `}`,
		"another author":           `{"put":` + version("f-1", "day", "never on fridays", "agent") + `}`,
		"a replica":                `{"replica":{"id":"aaaaaaaa","seq":0,"trusted":[{"id":"deadbeef","key":"k","name":"Ann","at":"2026-03-01T00:00:00Z"}],"refold":true}}`,
		"members of the fact file": `{"extra":{"facts":[],"schema":99,"note":"x"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := &feed{}
			f.commit(day, `{"put":`+version("f-1", "day", "never on fridays", "user")+`}`)
			f.commit("2026-03-01T00:00:01Z", events)
			dir := t.TempDir()
			l := f.open(t, dir)
			check := func(when string) {
				t.Helper()
				v, replica := valueOf(t, l, "day")
				if v == nil || v.Value != "never on fridays" || v.ID != "f-1" || v.Sources[0].Kind != "user" || replica != nil {
					t.Errorf("%s: %+v %+v", when, v, replica)
				}
			}
			check("fetched")
			must(t, l.Compact(t.Context()))
			must(t, l.Close())
			l = f.open(t, dir)
			check("compacted")
			must(t, l.Close())
			dir = t.TempDir() // another machine, which leaves before it compacts
			l = f.open(t, dir)
			check("fetched again")
			must(t, l.Close())
			_, err := journal.Detach(t.Context(), func(string) journal.Remote { return f }, time.Second, dir)
			must(t, err)
			l = openLog(t, dir)
			check("left")
			must(t, l.Update(t.Context(), func(_ *State, now time.Time) ([]Event, error) {
				return []Event{Note(NoteMaintenance, "x", now)}, nil
			}))
			must(t, l.Compact(t.Context()))
			must(t, l.Close())
			l = openLog(t, dir)
			check("left and compacted")
			must(t, l.Close())
		})
	}
}

// The machine that fetches a commit with an event that does not count names it once, and what else the commit
// does counts.
func TestVoidEventIsNamedOnce(t *testing.T) {
	f := &feed{}
	f.commit(day, `{"put":`+version("f-1", "day", "never on fridays", "user")+`}`)
	dir := t.TempDir()
	l := f.open(t, dir)
	valueOf(t, l, "day")
	f.commit("2026-03-01T00:00:01Z", `{"replica":{"id":"aaaaaaaa","seq":0}},{"replace":{"facts":[{"category":"deploy","key":"day"}]}},{"put":`+version("f-3", "other", "x", "agent")+`}`)
	must(t, l.Fetch(t.Context()))
	for _, want := range []int{1, 0} {
		if v, _ := valueOf(t, l, "day"); v == nil {
			t.Error("the fact is gone")
		}
		if v, _ := valueOf(t, l, "other"); v == nil {
			t.Error("the rest of the commit is gone")
		}
		n := 0
		for _, w := range l.Warnings() {
			if w.Kind == journal.Void && w.Seq == 2 && strings.HasPrefix(w.Text, "2 events of commit 2") {
				n++
			}
		}
		if n != want {
			t.Errorf("named %d times, want %d: %v", n, want, l.Warnings())
		}
		must(t, l.Close())
		l = f.open(t, dir)
	}
	must(t, l.Close())
}

// A commit of a member that claims to be of the end of time stops no write.
func TestATimeFarAhead(t *testing.T) {
	f := &feed{}
	f.commit(day, `{"put":`+version("f-1", "day", "never on fridays", "user")+`}`)
	f.commit("9999-12-31T23:59:59.999999999Z", `{"author":{"kind":"agent","clock":"9999-12-31T23:59:59.999999999Z"}}`)
	dir := t.TempDir()
	write := func(l *Log) {
		t.Helper()
		must(t, l.Update(t.Context(), func(_ *State, now time.Time) ([]Event, error) {
			if time.Until(now) > time.Hour {
				t.Errorf("recorded at %v", now)
			}
			return []Event{Note(NoteMaintenance, "x", now)}, nil
		}))
	}
	l := f.open(t, dir)
	write(l)
	must(t, l.Close())
	_, err := journal.Detach(t.Context(), func(string) journal.Remote { return f }, time.Second, dir)
	must(t, err)
	l = openLog(t, dir)
	write(l)
	must(t, l.Compact(t.Context()))
	must(t, l.Close())
	write(openLog(t, dir))
}

// Whatever the members of an event are, a commit is folded or named, and what was there before is read.
func TestAnyMemberOfAnyEvent(t *testing.T) {
	var events []string
	for kind, text := range map[string]string{
		"put": version("f-9", "k", "v", "user"), "replace": `{"facts":[{"category":"c","key":"k","versions":[]}],"relations":[],"renames":[]}`,
		"confirm": `{"category":"deploy","key":"day","id":"f-1","confidence":1,"source":{},"tags":[],"pinned":true}`,
		"relate":  `{"from":{"category":"deploy","key":"day"},"to":{"category":"deploy","key":"k"},"kind":"depends_on","created_at":"` + day + `"}`,
		"remind":  `{"id":"r","text":"t","created_at":"` + day + `"}`, "dispute": `{"id":"d","category":"deploy","key":"day","at":"` + day + `","rival":{}}`,
		"judge": `{"key_a":"deploy/day","key_b":"deploy/k","verdict":"v","judged_at":"` + day + `"}`, "note": `{"summary":"s","from_sessions":[],"timestamp":"` + day + `"}`,
		"rename":  `{"old_name":{"category":"deploy","key":"x"},"new_name":{"category":"deploy","key":"y"},"at":"` + day + `"}`,
		"replica": `{"id":"aaaaaaaa","seq":1,"trusted":[]}`, "pattern": `{"pattern_type":"p","description":"d"}`, "gotcha": `{"id":"g","trigger":"t"}`,
		"revive": `{"category":"c","key":"k"}`, "author": `{"kind":"user","clock":"` + day + `"}`, "open": `{"project_root":"/","project_hash":"h"}`,
	} {
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &members); err != nil {
			t.Fatal(kind, err)
		}
		for name := range members {
			for _, odd := range []string{`null`, `[]`, `[null]`, `{}`, `-1`, `18446744073709551615`, `""`, `[{}]`, `"9999-12-31T23:59:59.999999999Z"`} {
				was := members[name]
				members[name] = json.RawMessage(odd)
				e, _ := json.Marshal(map[string]any{kind: members})
				events = append(events, string(e))
				members[name] = was
			}
		}
	}
	for i, e := range events {
		f := &feed{}
		f.commit(day, `{"put":`+version("f-1", "day", "never on fridays", "user")+`}`)
		f.commit("2026-03-01T00:00:01Z", e)
		dir := t.TempDir()
		l := f.open(t, dir)
		if v, _ := valueOf(t, l, "day"); v == nil || v.Value != "never on fridays" {
			t.Errorf("%s: %+v", e, v)
		}
		if i%7 == 0 { // each way through the files, for some
			if err := l.Compact(t.Context()); err == nil {
				must(t, l.Close())
				l = f.open(t, dir)
				if v, _ := valueOf(t, l, "day"); v == nil || v.Value != "never on fridays" {
					t.Errorf("compacted, %s: %+v", e, v)
				}
			}
		}
		must(t, l.Close())
	}
}

// A commit with many versions of one fact costs about as much as it has bytes.
func TestManyVersionsOfOneFact(t *testing.T) {
	fold := func(n int) time.Duration {
		var all strings.Builder
		for i := range n {
			if i > 0 {
				all.WriteByte(',')
			}
			v := version("f-"+strconv.Itoa(i+10), "day", "v"+strconv.Itoa(i), "user")
			all.WriteString(`{"put":` + strings.Replace(v, `"valid_from":"`+day, `"valid_from":"`+time.Date(2020, 1, 1, 0, 0, (i*7919)%n, 0, time.UTC).Format(time.RFC3339), 1) + `}`)
		}
		f := &feed{}
		f.commit(day, all.String())
		l := f.open(t, t.TempDir())
		start := time.Now()
		if v, _ := valueOf(t, l, "day"); v == nil {
			t.Error("no version")
		}
		took := time.Since(start)
		must(t, l.Close())
		return took
	}
	few := fold(1000)
	if many := fold(8000); many > 24*few+200*time.Millisecond {
		t.Errorf("8,000 versions take %v, 1,000 take %v", many, few)
	}
}

// No number that a member writes into an event makes a count negative, or a fact surer than sure, also
// after the next confirmation. Each integer of each event is tried.
func TestNumbersOfAMemberAreBounded(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	v := &fact.Version{}
	if err := json.Unmarshal([]byte(version("f-1", "day", "never on fridays", "user")), v); err != nil {
		t.Fatal(err)
	}
	v.Sources[0].Files = []formats.FileState{{Ref: "a.go:1", Checksum: "0011223344556677", Size: 1, Modified: at}}
	for _, e := range []Event{
		{Put: v},
		{Relate: &formats.Relation{From: formats.RelationEnd{Name: formats.Name{Category: "deploy", Key: "day"}}, To: formats.RelationEnd{Name: formats.Name{Category: "deploy", Key: "k"}}, Kind: "supports", CreatedAt: at, Count: 1}},
		{Gotcha: &formats.Gotcha{ID: "g-1", Trigger: "t", Resolution: "r", Severity: "critical", Occurrences: 1, FirstSeen: at, LastSeen: at, Confidence: .5}},
		{Replica: &formats.Replica{ID: "aaaaaaaa", Seq: 1, Seen: map[string]uint64{"bbbbbbbb": 1}, Lines: 1, Commit: 1}},
	} {
		proctest.Extremes(t, e, func(name string, e Event) {
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			f := &feed{}
			f.commit(day, string(text)+`,{"put":`+version("f-2", "other", "x", "user")+`}`)
			f.commit("2026-03-01T00:00:01Z", `{"confirm":{"category":"deploy","key":"day","id":"f-1","confidence":1,"source":{"kind":"user","at":"2026-03-01T00:00:01Z"}}}`)
			l := f.open(t, t.TempDir())
			defer l.Close()
			must(t, l.View(t.Context(), func(s *State) error {
				if s.Replica != nil {
					t.Errorf("%s: a replica", name)
				}
				for _, vs := range s.All() {
					for _, v := range vs {
						for _, count := range []int{v.RetrievalCount, v.ConfirmationCount, v.FeedbackUp, v.FeedbackDown, v.RevisionCount} {
							if count < 0 || count > maxCount+1 {
								t.Errorf("%s: %+v", name, v)
							}
						}
						if x := fact.Salience(v, at, fact.Retrievals{}); x < 0 || x > 1000 {
							t.Errorf("%s: salience %v", name, x)
						}
					}
				}
				for _, r := range s.Relations {
					if r.Count < 0 || r.Count > maxCount {
						t.Errorf("%s: %+v", name, r)
					}
				}
				return nil
			}))
		})
	}
}
