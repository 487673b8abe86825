package knowledge_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"leanctx/formats"
	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/history"
	"leanctx/knowledge/state"
	"leanctx/knowledge/transfer"
)

// values asserts one thing after another about [clients] supported and gives the
// first lines of the answers, or the errors.
func values(t *testing.T, s *story, says ...Assertion) (lines []string) {
	t.Helper()
	for _, a := range says {
		s.now = s.now.Add(time.Hour)
		a.Category, a.Key = "clients", "supported"
		r, err := s.Remember(t.Context(), a)
		line, _, _ := strings.Cut(r.Text(), "\n  ⚠")
		if err != nil {
			line = err.Error()
		}
		lines = append(lines, line)
	}
	return lines
}

// What an assertion does to a fact with several values, to the letter.
func TestSeveralValues(t *testing.T) {
	s := testStore(t, nil)
	got := values(
		t, s,
		Assertion{Value: "Claude Code"},
		Assertion{Value: "Codex", Also: true},
		Assertion{Value: "codex."},
		Assertion{Value: "Claude Code", Also: true},
		Assertion{Value: "Gemini"},
		Assertion{Value: "Gemini on macOS"},
		Assertion{Value: "Gemini", Also: true},
		Assertion{Value: "Cursor", Replaces: "Gemini"},
		Assertion{Value: "Zed", Replaces: "Emacs"},
		Assertion{Value: "Codex", Replaces: "Cursor"},
		Assertion{Value: "Amp", Correct: true},
		Assertion{Value: "Gemini on Linux", Correct: true, Replaces: "Gemini on macOS"},
		Assertion{Value: "Amp", Also: true, Correct: true},
		Assertion{Value: "Amp", Also: true, Replaces: "Codex"},
		Assertion{Value: "Codex", Replaces: "*"},
		Assertion{Value: "Goose"},
	)
	want := []string{
		"Remembered [clients] supported: Claude Code (confidence: 80%)",
		"Added [clients] supported: Codex (2 values: Claude Code, Codex)",
		"Confirmed [clients] supported: Codex (confidence: 80%, confirmed 2x)",
		"Confirmed [clients] supported: Claude Code (confidence: 80%, confirmed 2x)",
		"Added [clients] supported: Gemini (3 values: Claude Code, Codex, Gemini)",
		"Refined [clients] supported: Gemini on macOS (confidence: 80%)\n  was: Gemini",
		"Added [clients] supported: Gemini (4 values: Claude Code, Codex, Gemini on macOS, Gemini)",
		"Remembered [clients] supported: Cursor (confidence: 80%)\n  was: Gemini (since 2026-01-15 by cursor-a3f8)",
		"No value 'Emacs' of [clients] supported",
		"Remembered [clients] supported: Codex (confidence: 80%)\n  was: Cursor (since 2026-01-15 by cursor-a3f8)",
		"[clients] supported has 3 values: Claude Code, Codex, Gemini on macOS: say with replaces which one was wrong",
		"Corrected [clients] supported: Gemini on Linux (confidence: 80%)",
		"also adds a value, correct replaces a wrong one: give one of the two",
		"also adds a value, replaces ends one: give one of the two",
		"Remembered [clients] supported: Codex (confidence: 80%)\n  was: Claude Code, Gemini on Linux",
		"Remembered [clients] supported: Goose (confidence: 80%)\n  was: Codex (since 2026-01-15 by cursor-a3f8)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each way of reading shows all values that are true.
func TestSeveralValuesAreShown(t *testing.T) {
	s := testStore(t, nil)
	values(t, s, Assertion{Value: "Claude Code"}, Assertion{Value: "Codex", Also: true}, Assertion{Value: "Cursor", Also: true})
	r, err := s.Remove(t.Context(), Withdrawal{Category: "clients", Key: "supported", Value: "cursor"})
	if err != nil || r.Text() != "Removed [clients] supported: Cursor (2 values: Claude Code, Codex)" {
		t.Errorf("%s, %v", r.Text(), err)
	}
	if _, err := s.Remove(t.Context(), Withdrawal{Category: "clients", Key: "supported", Value: "Emacs"}); err == nil || err.Error() != "No value 'Emacs' of [clients] supported" {
		t.Error(err)
	}
	if _, err := s.Remove(t.Context(), Withdrawal{Category: "clients", Key: "supported", Value: "Codex", Erase: true}); err == nil {
		t.Error("one value was erased")
	}
	room := s.recall(t, Question{Category: "clients"}).Text()
	for _, want := range []string{"(showing 2/2)", "[clients/supported]: Claude Code (", "[clients/supported]: Codex ("} {
		if !strings.Contains(room, want) {
			t.Errorf("no %q in %s", want, room)
		}
	}
	found := s.recall(t, Question{Query: "supported clients"}).Text()
	if !strings.Contains(found, "Claude Code") || !strings.Contains(found, "Codex") || strings.Contains(found, "Cursor") {
		t.Error(found)
	}
	tl, err := history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: "clients"})
	if err != nil || strings.Count(tl.Text(), "[CURRENT]") != 2 || strings.Count(tl.Text(), "[retracted]") != 1 {
		t.Errorf("%s, %v", tl.Text(), err)
	}
	woken, err := briefing.Wakeup(t.Context(), s.Store, briefing.Query{})
	if err != nil || !strings.Contains(woken.Text(), "supported=Claude Code★★★") || !strings.Contains(woken.Text(), "supported=Codex★★★") {
		t.Errorf("%s, %v", woken.Text(), err)
	}
	health, err := advice.Health(t.Context(), s.Store, Examining{})
	if err != nil || health.Facts != 1 || len(health.Duplicates)+len(health.NearDuplicates) > 0 {
		t.Errorf("%s, %v", health.Text(), err)
	}
}

// A native export keeps several values to the byte; records bring them, and what is
// here already is skipped by its value.
func TestSeveralValuesTravel(t *testing.T) {
	s := testStore(t, nil)
	values(t, s, Assertion{Value: "Claude Code"}, Assertion{Value: "Codex", Also: true}, Assertion{Value: "Codex CLI", Also: true})
	file := func(from *Store, format string) string {
		t.Helper()
		r, err := transfer.Export(t.Context(), from, transfer.Outgoing{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		return r.Data
	}
	take := func(to *Store, data, merge string) string {
		t.Helper()
		r, err := transfer.Import(t.Context(), to, transfer.Incoming{Data: strings.NewReader(data), Merge: merge})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d added, %d skipped, %d replaced", r.Added, r.Skipped, r.Replaced)
	}
	held := func(of *story) string {
		t.Helper()
		r := of.recall(t, Question{Category: "clients", Key: "supported"})
		var out []string
		for _, f := range r.Facts {
			out = append(out, f.Value)
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	native, jsonl := file(s.Store, "json"), file(s.Store, "jsonl")
	if strings.Count(jsonl, `"also":true`) != 3 || strings.Count(native, `"also": true`) != 3 {
		t.Errorf("%s\n%s", jsonl, native)
	}
	empty := testStore(t, nil)
	if got := take(empty.Store, native, ""); got != "1 added, 0 skipped, 0 replaced" || body(t, file(empty.Store, "json")) != body(t, native) {
		t.Errorf("%s\n%s", got, cmp.Diff(body(t, native), body(t, file(empty.Store, "json"))))
	}
	for _, x := range []struct{ have, merge, want, counts string }{
		{"", "", "Claude Code, Codex, Codex CLI", "3 added, 0 skipped, 0 replaced"},
		{"codex", "", "Claude Code, Codex CLI, codex", "2 added, 1 skipped, 0 replaced"},
		{"codex", "append", "Claude Code, Codex CLI, codex", "2 added, 1 skipped, 0 replaced"},
		{"Zed", "replace", "Claude Code, Codex, Codex CLI", "0 added, 0 skipped, 3 replaced"},
	} {
		other := testStore(t, nil)
		other.now = other.now.AddDate(0, 0, 2)
		if x.have != "" {
			values(t, other, Assertion{Value: x.have})
		}
		if got := take(other.Store, jsonl, x.merge); got != x.counts || held(other) != x.want {
			t.Errorf("%s with %s: %s, %s", x.have, x.merge, got, held(other))
		}
		if got := take(other.Store, jsonl, ""); got != "0 added, 3 skipped, 0 replaced" {
			t.Errorf("again: %s", got)
		}
	}
	// A single value replaces several; a value that was removed here stays away.
	if got := take(empty.Store, `{"category":"clients","key":"supported","value":"Amp"}`, "replace"); held(empty) != "Amp" {
		t.Errorf("%s: %s", got, held(empty))
	}
	if _, err := s.Remove(t.Context(), Withdrawal{Category: "clients", Key: "supported", Value: "Codex"}); err != nil {
		t.Fatal(err)
	}
	if got := take(s.Store, jsonl, ""); got != "0 added, 3 skipped, 0 replaced" || held(s) != "Claude Code, Codex CLI" {
		t.Errorf("%s: %s", got, held(s))
	}
}

// Nobody stands a value beside a user's, and the user's verdict can be judged again.
func TestSeveralValuesAndAuthority(t *testing.T) {
	st, n := state.NewOverlay(state.New(), nil), fact.IDOf("c", "k")
	assert(t, st, claim("never", user, 1), 1)
	held := func(day int) (out string) {
		for _, v := range fact.AllCurrent(st.Versions(n), at(day)) {
			out += v.Value + " "
		}
		return out
	}
	judge := func(day int, accept bool, by Source) error {
		t.Helper()
		ds := st.Disputes(n)
		events, err := Settle(st, ds[len(ds)-1], accept, by, "", at(day), at(day))
		st.Fold(events...)
		return err
	}
	beside := claim("always", codex, .9)
	beside.Also = true
	if r := assert(t, st, beside, 2); r.Outcome != Disputed || held(2) != "never " || st.Versions(n)[0].Also {
		t.Errorf("%s; %s", r.Text(), held(2))
	}
	if err := judge(3, true, codex); err == nil {
		t.Error("an agent accepted it")
	}
	if err := judge(3, true, user); err != nil || held(3) != "never always " {
		t.Errorf("%v: %s", err, held(3))
	}
	if err := judge(4, false, user); err != nil || held(4) != "never " {
		t.Errorf("%v: %s", err, held(4))
	}
	// Among several, one is the agent's to change and the other is not.
	second := claim("sometimes", user, 1)
	second.Also = true
	assert(t, st, second, 5)
	for value, want := range map[string]Outcome{"sometimes on Sundays": Disputed, "at night": Disputed, "NEVER": Confirmed} {
		if r := assert(t, st, claim(value, codex, .9), 6); r.Outcome != want {
			t.Errorf("%s: %s", value, r.Text())
		}
	}
	gone := claim("at night", codex, .9)
	gone.Replaces = "sometimes"
	assert(t, st, gone, 7)
	if err := judge(8, true, user); err != nil || held(8) != "never at night " {
		t.Errorf("%v: %s", err, held(8))
	}
	if err := judge(9, false, user); err != nil || held(9) != "never sometimes " {
		t.Errorf("%v: %s", err, held(9))
	}
	if events, x := End(st, n, Removal("never", codex), at(10), at(10)); !x.Warned() {
		t.Error("an agent removed a user's value")
	} else {
		st.Fold(events...)
	}
	if err := judge(11, true, user); err != nil || held(11) != "sometimes " {
		t.Errorf("%v: %s", err, held(11))
	}
	if err := judge(12, false, user); err != nil || held(12) != "sometimes never " && held(12) != "never sometimes " {
		t.Errorf("%v: %s", err, held(12))
	}
}

// A thousand values under one key are no trouble, and no answer lists them all.
func TestThousandValues(t *testing.T) {
	st := state.NewOverlay(state.New(), nil)
	for i := range 999 {
		v := fact.Version{ID: fmt.Sprintf("f-%d", i), Category: "c", Key: "k", Value: fmt.Sprintf("client %d", i), Also: true, ValidFrom: at(1), RecordedFrom: at(1), Confidence: .8}
		st.Fold(state.Event{Put: &v})
	}
	c := claim("client 999", codex, .8)
	c.Also = true
	events, r, err := Assert(st, c, at(2))
	if err != nil || len(events) != 1 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	st.Fold(events...)
	if text := r.Text(); len(r.Values) != 1000 || len(text) > 300 || !strings.Contains(text, "(1,000 values: client 0, client 1, ") || !strings.HasSuffix(text, ", … 990 more)") {
		t.Error(text)
	}
	if r := assert(t, st, claim("client 500", claude, .8), 3); r.Outcome != Confirmed {
		t.Error(r.Text())
	}
}

// severalModel is what a fact's valid time should be: for each day the values that
// are true.
type severalModel struct {
	days [horizon + 1]map[string]bool
	many bool
}

func (m *severalModel) clone() severalModel {
	c := *m
	for d := range c.days {
		c.days[d] = maps.Clone(m.days[d])
	}
	return c
}

// put makes a value true from one day until another.
func (m *severalModel) put(value string, from, until int) {
	for d := from; d < until && d <= horizon; d++ {
		if m.days[d] == nil {
			m.days[d] = map[string]bool{}
		}
		m.days[d][value] = true
	}
}

// end makes a value that is true on a day false from then to the end of its stretch;
// without a value all, for good.
func (m *severalModel) end(value string, from int) {
	for d := from; d <= horizon; d++ {
		switch {
		case value == "":
			m.days[d] = nil
		case !m.days[d][value]:
			return
		default:
			delete(m.days[d], value)
		}
	}
}

func (m *severalModel) any(from int) bool {
	return slices.ContainsFunc(m.days[from:], func(d map[string]bool) bool { return len(d) > 0 })
}

// Whatever is added, replaced and removed, all values that are true on a day are told. What was
// told about a past recorded time stays.
func TestSeveralValuesModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := &story{dir: t.TempDir(), now: at(1)}
		s.open(t, nil)
		var m severalModel
		snapshots := []severalModel{m}
		steps := rapid.IntRange(1, 12).Draw(rt, "steps")
		for day := 2; day < 2+steps; day++ {
			s.now = at(day)
			m.step(rt, s, day)
			snapshots = append(snapshots, m.clone())
			for d := 1; d < horizon; d += 3 {
				m.compare(rt, s, d, day)
			}
			m.compare(rt, s, day, day)
		}
		for range 6 {
			known := rapid.IntRange(1, steps).Draw(rt, "known")
			snapshots[known].compare(rt, s, rapid.IntRange(1, horizon-1).Draw(rt, "as of"), known+1)
		}
	})
}

func (m *severalModel) step(rt *rapid.T, s *story, day int) {
	letters := []string{"A", "B", "C", "D"}
	value := rapid.SampledFrom(letters).Draw(rt, "value")
	a := Assertion{Category: "c", Key: "k", Value: value}
	m.many = m.many && m.any(day)
	missing := func(err error) bool {
		_, ok := errors.AsType[*NotFoundError](err)
		return ok
	}
	var err error
	switch rapid.IntRange(0, 7).Draw(rt, "op") {
	case 0, 1, 2: // beside the others
		from, until := day, horizon+1
		if rapid.IntRange(0, 2).Draw(rt, "dated") == 0 {
			from = rapid.IntRange(1, 30).Draw(rt, "from")
			until = from + rapid.IntRange(1, 9).Draw(rt, "days")
			a.ValidFrom, a.ValidUntil = at(from).Format(time.RFC3339), at(until).Format(time.RFC3339)
		}
		a.Also = true
		_, err = s.Remember(rt.Context(), a)
		if confirms := a.ValidFrom == "" && m.days[day][value]; !confirms {
			m.put(value, from, until)
			m.many = m.many || m.any(day)
		}
	case 3, 4: // as it comes
		_, err = s.Remember(rt.Context(), a)
		switch {
		case m.days[day][value]:
		case m.many:
			m.put(value, day, horizon+1)
		default:
			m.end("", day)
			m.put(value, day, horizon+1)
		}
	case 5: // instead of one of them
		a.Replaces = rapid.SampledFrom(letters).Draw(rt, "replaced")
		there := m.days[day][a.Replaces]
		_, err = s.Remember(rt.Context(), a)
		if missing(err) == there {
			rt.Fatalf("day %d: %+v: %v", day, a, err)
		}
		if there && a.Replaces != value {
			m.end(a.Replaces, day)
			m.put(value, day, horizon+1)
		}
		if missing(err) {
			err = nil
		}
	case 6: // instead of all
		a.Replaces = AllValues
		_, err = s.Remember(rt.Context(), a)
		m.end("", day)
		m.put(value, day, horizon+1)
		m.many = false
	case 7:
		w := Withdrawal{Category: "c", Key: "k", Value: rapid.SampledFrom(append(letters, "")).Draw(rt, "removed")}
		_, err = s.Remove(rt.Context(), w)
		there := false
		for d := day; d <= horizon; d++ {
			there = there || m.days[d][w.Value] || w.Value == "" && len(m.days[d]) > 0
			if w.Value == "" {
				m.days[d] = nil
			}
			delete(m.days[d], w.Value)
		}
		if missing(err) == there {
			rt.Fatalf("day %d: remove %q: %v", day, w.Value, err)
		}
		if missing(err) {
			err = nil
		}
	}
	if err != nil {
		rt.Fatalf("day %d: %+v: %v", day, a, err)
	}
}

func (m *severalModel) compare(rt *rapid.T, s *story, day, known int) {
	r, err := s.Recall(rt.Context(), Question{Category: "c", Key: "k", AsOf: at(day).Add(12 * time.Hour).Format(time.RFC3339), KnownAt: at(known).Format(time.RFC3339)})
	if err != nil {
		rt.Fatal(err)
	}
	got := []string{}
	for _, f := range r.Facts {
		got = append(got, f.Value)
	}
	slices.Sort(got)
	if want := append([]string{}, slices.Sorted(maps.Keys(m.days[day]))...); !slices.Equal(got, want) {
		tl, _ := history.Timeline(rt.Context(), s.Store, history.TimelineQuery{Category: "c"})
		rt.Fatalf("day %d as known on day %d: %q, want %q\n%s", day, known, got, want, tl.Text())
	}
}

// body is a native export without what belongs to one store.
func body(t *testing.T, export string) string {
	t.Helper()
	d, err := formats.DecodeNative([]byte(export))
	if err != nil {
		t.Fatal(err)
	}
	d.ProjectRoot, d.ProjectHash, d.UpdatedAt, d.Checksum = "", "", time.Time{}, ""
	var b strings.Builder
	if err := formats.EncodeNative(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Undo takes back what was done to one of several values, and leaves the others.
func TestUndoOfSeveralValues(t *testing.T) {
	for name, do := range map[string]func(s *story){
		"added":    func(s *story) { values(t, s, Assertion{Value: "Gemini", Also: true}) },
		"replaced": func(s *story) { values(t, s, Assertion{Value: "Zed", Replaces: "Codex"}) },
		"all":      func(s *story) { values(t, s, Assertion{Value: "Solo", Replaces: AllValues}) },
		"refined":  func(s *story) { values(t, s, Assertion{Value: "Codex CLI"}) },
		"removed": func(s *story) {
			s.now = s.now.Add(time.Hour)
			must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "clients", Key: "supported", Value: "Codex"}))
		},
		"removed whole": func(s *story) {
			s.now = s.now.Add(time.Hour)
			must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "clients", Key: "supported"}))
		},
	} {
		s := testStore(t, nil)
		values(t, s, Assertion{Value: "Claude Code"}, Assertion{Value: "Codex", Also: true})
		current := func() string {
			var out []string
			for _, f := range s.recall(t, Question{Category: "clients"}).Facts {
				out = append(out, f.Value)
			}
			slices.Sort(out)
			return strings.Join(out, ", ")
		}
		before := current()
		do(s)
		if current() == before {
			t.Errorf("%s: nothing was done", name)
		}
		s.now = s.now.Add(time.Hour)
		u := s.undo(t)
		if got := current(); got != before || got != "Claude Code, Codex" {
			t.Errorf("%s, undone: %s", name, got)
		}
		if !strings.HasSuffix(u.Text(), "\n  [clients] supported: Claude Code, Codex") {
			t.Errorf("%s: %s", name, u.Text())
		}
		// It still has several values: the next one is added.
		if got := values(t, s, Assertion{Value: "Cline"}); got[0] != "Added [clients] supported: Cline (3 values: Claude Code, Codex, Cline)" {
			t.Errorf("%s: %s", name, got[0])
		}
		if d := cmp.Diff(s.whole(t), reopened(t, s)); d != "" {
			t.Errorf("%s (-memory +files):\n%s", name, d)
		}
	}
}

// A Markdown export has an item for each value and reads back without a change. An edited item
// replaces the value that it was, beside the others.
func TestSeveralValuesInMarkdown(t *testing.T) {
	s := testStore(t, nil)
	values(t, s, Assertion{Value: "Claude Code"}, Assertion{Value: "Codex", Also: true})
	s.remember(t, Assertion{Category: "clients", Key: "first", Value: "Cursor"})
	dir := filepath.Join(t.TempDir(), "md")
	must[transfer.Exported](t)(transfer.Export(t.Context(), s.Store, transfer.Outgoing{Format: "md", File: dir}))
	file := filepath.Join(dir, "clients.md")
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "- **first**: Cursor\n- **supported**: Claude Code\n- **supported**: Codex\n") {
		t.Fatalf("%v\n%s", err, text)
	}
	if r := must[transfer.Imported](t)(transfer.Import(t.Context(), s.Store, transfer.Incoming{File: dir})); r.Skipped != 3 || r.Added+r.Replaced != 0 {
		t.Error(r.Text())
	}
	other := testStore(t, nil)
	if r := must[transfer.Imported](t)(transfer.Import(t.Context(), other.Store, transfer.Incoming{File: dir})); r.Added != 3 || r.Skipped+r.Replaced != 0 {
		t.Error(r.Text())
	}
	write(t, file, strings.Replace(string(text), "Codex", "Codex CLI", 1))
	if r := must[transfer.Imported](t)(transfer.Import(t.Context(), s.Store, transfer.Incoming{File: dir})); r.Replaced != 1 || r.Skipped != 2 {
		t.Error(r.Text())
	}
	if got := values(t, s, Assertion{Value: "Codex CLI"}); got[0] != "Confirmed [clients] supported: Codex CLI (confidence: 80%, confirmed 2x)" {
		t.Errorf("%q", got)
	}
	write(t, file, strings.Replace(string(text), "Cursor", "Zed", 1)) // beside values that nobody edited
	if r := must[transfer.Imported](t)(transfer.Import(t.Context(), s.Store, transfer.Incoming{File: dir})); r.Replaced != 1 || s.only(t, "clients", "first").Value != "Zed" {
		t.Error(r.Text())
	}
}

// A Markdown export says when its values are true. A store that did not know them takes that over; what somebody edited
// is true from then on.
func TestMarkdownKeepsPeriods(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "plan", Key: "freeze", Value: "no deploys", ValidFrom: "2025-12-20T08:30:00.5Z", ValidUntil: "2026-06-01"})
	s.remember(t, Assertion{Category: "plan", Key: "lead", Value: "Ann", ValidFrom: "2024-03-01"})
	s.remember(t, Assertion{Category: "plan", Key: "sites", Value: "Oslo", ValidFrom: "2025-01-01"})
	s.remember(t, Assertion{Category: "plan", Key: "sites", Value: "Pune", Also: true, ValidFrom: "2025-05-05", ValidUntil: "2027-01-01"})
	s.remember(t, Assertion{Category: "plan", Key: "moved", Value: "to Monday"})
	periods := func(s *story) (out []string) {
		t.Helper()
		for _, f := range s.recall(t, Question{Category: "plan"}).Facts {
			until := "open"
			if f.ValidUntil != nil {
				until = f.ValidUntil.Format(time.RFC3339Nano)
			}
			out = append(out, f.Key+" "+f.Value+" "+f.ValidFrom.Format(time.RFC3339Nano)+" "+until)
		}
		slices.Sort(out)
		return out
	}
	dir := filepath.Join(t.TempDir(), "md")
	must[transfer.Exported](t)(transfer.Export(t.Context(), s.Store, transfer.Outgoing{Format: "md", File: dir}))
	other := testStore(t, nil)
	other.now = s.now.AddDate(0, 1, 0)
	if r := must[transfer.Imported](t)(transfer.Import(t.Context(), other.Store, transfer.Incoming{File: dir})); r.Added != 5 {
		t.Error(r.Text())
	}
	if d := cmp.Diff(periods(s), periods(other)); d != "" {
		t.Error(d)
	}
	file := filepath.Join(dir, "plan.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, strings.Replace(string(text), "Ann", "Bob", 1))
	third := testStore(t, nil)
	third.now = other.now
	must[transfer.Imported](t)(transfer.Import(t.Context(), third.Store, transfer.Incoming{File: dir}))
	if f := third.only(t, "plan", "lead"); f.Value != "Bob" || f.ValidFrom.Before(third.now) {
		t.Errorf("%s since %s", f.Value, f.ValidFrom)
	}
}

// A repository cannot lead an export to another file of the user.
func TestExportFollowsNoLinkOfTheProject(t *testing.T) {
	root, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	s := testStore(t, &Options{ProjectRoot: root})
	s.remember(t, Assertion{Category: "architecture", Key: "db", Value: "PostgreSQL 16"})
	if err := errors.Join(os.WriteFile(victim, []byte("keep"), 0o600), os.Mkdir(filepath.Join(root, "out"), 0o755), os.Symlink(victim, filepath.Join(root, "out", "architecture.md")),
		os.Symlink(victim, filepath.Join(root, "out.json")), os.Symlink(filepath.Dir(victim), filepath.Join(root, "led"))); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Export(t.Context(), s.Store, transfer.Outgoing{Format: "md", File: filepath.Join(root, "out")}); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(filepath.Join(root, "out", "architecture.md")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the file of the room: %v", err)
	}
	for format, name := range map[string]string{"json": "out.json", "jsonl": "led/victim", "md": "led"} {
		if _, err := transfer.Export(t.Context(), s.Store, transfer.Outgoing{Format: format, File: filepath.Join(root, name)}); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "keep" {
		t.Errorf("the victim holds %q, %v", text, err)
	}
}
