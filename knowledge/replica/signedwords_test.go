package replica_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/replica"
	"leanctx/knowledge/state"
)

// strangerWord is in every text that a stranger wrote, and in none of anybody else.
const strangerWord = "curl evil"

// hasStrangersWord reports whether a version says what a stranger wrote.
func hasStrangersWord(v *fact.Version) bool {
	text := fmt.Sprint(v.Value, v.Examples, v.Questions, v.Tags, v.Aliases, v.SourceSession, v.AssertedBy, v.RetractedReason, v.Sources)
	return strings.Contains(text, strangerWord)
}

// strangersLines are lines of somebody who is not trusted, about the facts of which is spoken here.
func strangersLines(t *rapid.T) string {
	var b strings.Builder
	for i := range rapid.IntRange(1, 6).Draw(t, "lines") {
		at := start.AddDate(0, 0, -rapid.IntRange(1, 300).Draw(t, "age"))
		l := replica.Line{Op: "assert", Category: "arch", Key: rapid.SampledFrom(keys).Draw(t, "key"), At: at, By: "mallory", SourceKind: rapid.SampledFrom([]string{"user", "agent", "tool"}).Draw(t, "kind")}
		l.Value = fmt.Sprint(strangerWord, " ", rapid.IntRange(0, 3).Draw(t, "value"))
		from := func() *time.Time {
			return new(start.AddDate(0, 0, rapid.SampledFrom([]int{-400, -60, -3, 2, 40, 500}).Draw(t, "from")))
		}
		if rapid.Bool().Draw(t, "dated") {
			l.ValidFrom = from()
		}
		if rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
			until := from()
			if l.ValidFrom == nil || until.After(*l.ValidFrom) {
				l.ValidUntil = until
			}
		}
		l.Also = rapid.IntRange(0, 4).Draw(t, "also") == 0
		if rapid.IntRange(0, 3).Draw(t, "words") == 0 {
			l.Examples, l.Questions, l.Tags = []string{strangerWord + " example"}, []string{strangerWord + "?"}, []string{strangerWord + " tag"}
		}
		switch rapid.IntRange(0, 9).Draw(t, "op") {
		case 0:
			l.Op, l.Reason = "retract", strangerWord+" reason"
		case 1, 2:
			v := &fact.Version{
				ID: fmt.Sprintf("f-%016x", i), Category: l.Category, Key: l.Key, Value: l.Value, Confidence: .8, CreatedAt: at, LastConfirmed: at, ValidFrom: at, RecordedFrom: at, ConfirmationCount: 1,
				Also: l.Also, Privacy: "shared", Archetype: "fact", Examples: l.Examples, Questions: l.Questions, Sources: []knowledge.Source{{Kind: "agent", At: at, Ref: strangerWord}},
			}
			later := *v
			later.ID, later.ValidFrom = fmt.Sprintf("f-%016x", 100+i), *from()
			l = replica.Line{Op: "fact", Category: l.Category, Key: l.Key, At: at, Versions: []*fact.Version{v, &later}}
			if later.ValidFrom.After(v.ValidFrom) {
				v.ValidUntil = &later.ValidFrom
			}
		case 3:
			l = replica.Line{Op: "dispute", At: at, Dispute: &formats.Dispute{ID: fmt.Sprintf("d-%08x", i), Category: l.Category, Key: l.Key, Value: l.Value, State: "open", At: at, Source: knowledge.Source{Kind: "agent", At: at}}}
		case 4:
			l = replica.Line{Op: "remind", At: at, Reminder: &formats.Reminder{ID: fmt.Sprintf("r-%d", i), Text: strangerWord, Keyword: l.Key, State: "open"}}
		}
		b.WriteString(replica.Claims("deadbeef", i+1, l, nil))
	}
	return b.String()
}

// act has somebody here say something of a fact, or do something to it, without repeating what a stranger wrote.
func (m *machine) act(t *rapid.T) {
	ctx := context.Background()
	m.clock = m.clock.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "seconds")) * time.Second)
	s := m.as(rapid.SampledFrom([]string{"", "codex-1"}).Draw(t, "by"))
	key := rapid.SampledFrom(keys).Draw(t, "about")
	source := rapid.SampledFrom([]string{"", "user"}).Draw(t, "source")
	day := func(name string) string {
		return rapid.SampledFrom([]string{"", "", "2026-02-01", "2026-03-02", "2026-04-20", "2027-01-10"}).Draw(t, name)
	}
	switch rapid.IntRange(0, 13).Draw(t, "act") {
	default:
		a := knowledge.Assertion{Category: "arch", Key: key, Value: rapid.SampledFrom(words).Draw(t, "said"), Source: source, ValidFrom: day("since"), ValidUntil: day("until")}
		a.Also, a.Correct = rapid.IntRange(0, 3).Draw(t, "beside") == 0, rapid.IntRange(0, 5).Draw(t, "correct") == 0
		_, _ = s.Remember(ctx, a)
	case 1:
		_, _ = s.Remove(ctx, knowledge.Withdrawal{Category: "arch", Key: key, Until: day("end"), Source: source})
	case 2:
		_, _ = knowledge.Undo(ctx, s, knowledge.UndoArgs{})
	case 3:
		_, _ = knowledge.Questions(ctx, s, knowledge.FactQuestions{Category: "arch", Key: key, Questions: "what is it?"})
	case 4:
		_, _ = knowledge.Rename(ctx, s, knowledge.NewName{Category: "arch", Key: key, To: rapid.SampledFrom(keys).Draw(t, "to"), Merge: rapid.SampledFrom([]string{"", "true"}).Draw(t, "merge")})
	case 5:
		_, _ = knowledge.Relate(ctx, s, knowledge.Link{Category: "arch", Key: key, Target: "arch/db"})
	}
}

// proposals are the versions that nobody here has confirmed, by their ids.
func (m *machine) proposals() map[string]bool {
	out := map[string]bool{}
	_ = m.store.View(context.Background(), func(st *state.State, _ time.Time) error {
		for _, v := range st.Each() {
			out[v.ID] = v.TakenIn && !slices.ContainsFunc(v.Sources, func(s knowledge.Source) bool { return s.Replica == "" })
		}
		return nil
	})
	return out
}

// Whatever strangers wrote and whatever is done here: nothing that they wrote goes out in a line of this store
// or loses its mark here, and who trusts this store and has its file alone knows nothing of theirs.
func TestNothingOfStrangersIsSignedHere(t *testing.T) {
	n, dir := 0, t.TempDir()
	few(t, 40)
	rapid.Check(t, func(t *rapid.T) {
		n++
		m := newMachine(t, filepath.Join(dir, fmt.Sprint(n), "a"), 0)
		m.alone = true
		defer func() { _ = m.store.Close() }()
		if rapid.Bool().Draw(t, "before") {
			m.act(t)
			m.sync(t)
		}
		m.put("deadbeef.jsonl", strangersLines(t))
		m.sync(t)
		for range rapid.IntRange(1, 6).Draw(t, "acts") {
			m.act(t)
			if rapid.Bool().Draw(t, "syncs") {
				was := m.proposals()
				m.sync(t)
				_ = m.store.View(context.Background(), func(st *state.State, _ time.Time) error {
					for id, proposed := range was {
						if v := st.ByID(id); v != nil && proposed && !m.proposals()[id] {
							t.Fatalf("the sync took the mark of %+v", v)
						}
					}
					return nil
				})
			}
		}
		m.sync(t)
		if r := m.sync(t); r.Written+r.TakenIn > 0 {
			t.Fatalf("written again: %s", r.Text())
		}
		check := func(who string, m *machine, marked bool) {
			_ = m.store.View(context.Background(), func(st *state.State, _ time.Time) error {
				for _, v := range st.Each() {
					if hasStrangersWord(v) && !(marked && v.TakenIn) {
						t.Fatalf("%s holds %+v\n%s", who, v, m.logs()[m.id+".jsonl"])
					}
				}
				return nil
			})
		}
		check("this store", m, true)
		own := m.logs()[m.id+".jsonl"]
		for line := range strings.Lines(own) {
			// An end of one of several values names it.
			if strings.Contains(line, strangerWord) && !strings.Contains(line, `"op":"retract"`) {
				t.Fatalf("signed here: %s", line)
			}
		}
		clone := newMachine(t, filepath.Join(dir, fmt.Sprint(n), "b"), time.Hour)
		defer func() { _ = clone.store.Close() }()
		clone.put(m.id+".jsonl", own)
		clone.sync(t)
		check("a clone", clone, false)
	})
}

// The limits of what a stranger says are those of what is stored, in however many lines it stands.
func TestLimitsHoldForWhatIsStored(t *testing.T) {
	m := attacked(t)
	at := start.AddDate(0, 0, -9)
	var text strings.Builder
	for i := range 40 {
		v := &fact.Version{ID: "f-00000000000000cc", Category: "arch", Key: "many", Value: "v", RecordedFrom: at, ValidFrom: at, CreatedAt: at}
		for j := range 20 {
			v.Sources = append(v.Sources, formats.Source{Kind: "agent", At: at.Add(time.Duration(20*i+j) * time.Second)})
		}
		text.WriteString(replica.Claims("deadbeef", i+1, replica.Line{Op: "fact", Key: "many", At: at.Add(time.Duration(i) * time.Second), Versions: []*fact.Version{v}, More: i > 0, Rest: i > 0}, nil))
	}
	m.put("deadbeef.jsonl", text.String())
	for range 2 {
		m.mustTry(t)
		if v := m.version(t, "many"); v == nil || len(v.Sources) > 20 {
			t.Fatalf("%d sources", len(v.Sources))
		}
		m.remember(t, "other", "said here")
	}
}
