package knowledge_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/history"
)

// refused checks that an operation fails with an ArgumentError that names the
// argument, and writes nothing.
func (s *story) refused(t *testing.T, argument string, err error) {
	t.Helper()
	wrong, ok := errors.AsType[*ArgumentError](err)
	if !ok || wrong.Argument != argument {
		t.Errorf("%v, want an error of the argument %s", err, argument)
	}
	if written := files(t, s.dir); len(written) > 0 {
		t.Errorf("something was written: %q", written)
	}
	if ok && (len(wrong.Problem) > 300 || !printable(wrong.Problem)) {
		t.Errorf("the message is not fit to be read: %q", wrong.Problem)
	}
}

// What cannot be a fact is refused, the argument is named and nothing is written.
func TestRefused(t *testing.T) {
	fact := func(change func(*Assertion)) Assertion {
		a := Assertion{Category: "c", Key: "k", Value: "v"}
		change(&a)
		return a
	}
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprint("name ", i)
	}
	confidence := func(x float64) Assertion { return fact(func(a *Assertion) { a.Confidence = &x }) }
	from := func(x string) Assertion { return fact(func(a *Assertion) { a.ValidFrom = x }) }
	until := func(x string) Assertion { return fact(func(a *Assertion) { a.ValidUntil = x }) }
	for name, test := range map[string]struct {
		argument string
		Assertion
	}{
		"64 KiB and one":        {"value", fact(func(a *Assertion) { a.Value = strings.Repeat("x", MaxValue+1) })},
		"1 MB":                  {"value", fact(func(a *Assertion) { a.Value = strings.Repeat("word ", 200_000) })},
		"empty value":           {"value", fact(func(a *Assertion) { a.Value = "" })},
		"blank value":           {"value", fact(func(a *Assertion) { a.Value = " \n\t\u00a0" })},
		"no category":           {"category", fact(func(a *Assertion) { a.Category = "" })},
		"blank category":        {"category", fact(func(a *Assertion) { a.Category = " \u2003" })},
		"long category":         {"category", fact(func(a *Assertion) { a.Category = strings.Repeat("c", MaxName+1) })},
		"category of two lines": {"category", fact(func(a *Assertion) { a.Category = "a\nb" })},
		"key with an escape":    {"key", fact(func(a *Assertion) { a.Key = "a\x1b[2Jb" })},
		"key with an override":  {"key", fact(func(a *Assertion) { a.Key = "a\u202eb" })},
		"long key":              {"key", fact(func(a *Assertion) { a.Key = strings.Repeat("k", MaxName+1) })},
		"value not UTF-8":       {"value", fact(func(a *Assertion) { a.Value = "caf\xe9" })},
		"key not UTF-8":         {"key", fact(func(a *Assertion) { a.Key = "caf\xe9" })},
		"category not UTF-8":    {"category", fact(func(a *Assertion) { a.Category = "\xff" })},
		"source not UTF-8":      {"source", fact(func(a *Assertion) { a.Source = "\xc3\x28" })},
		"tag not UTF-8":         {"tags", fact(func(a *Assertion) { a.Tags = []string{"\xff"} })},
		"alias not UTF-8":       {"aliases", fact(func(a *Assertion) { a.Aliases = []string{"\xff"} })},
		"21 tags":               {"tags", fact(func(a *Assertion) { a.Tags = many })},
		"21 aliases":            {"aliases", fact(func(a *Assertion) { a.Aliases = many })},
		"alias of two lines":    {"aliases", fact(func(a *Assertion) { a.Aliases = []string{"a\nb"} })},
		"confidence below":      {"confidence", confidence(-1)},
		"confidence above":      {"confidence", confidence(1.1)},
		"confidence NaN":        {"confidence", confidence(math.NaN())},
		"confidence +Inf":       {"confidence", confidence(math.Inf(1))},
		"confidence -Inf":       {"confidence", confidence(math.Inf(-1))},
		"no date":               {"valid_from", from("yesterday-ish")},
		"no such day":           {"valid_from", from("2026-02-30")},
		"no such hour":          {"valid_from", from("2026-02-03T25:00:00Z")},
		"year 0":                {"valid_from", from("0000-06-01")},
		"year 0, with a zone":   {"valid_from", from("0001-01-01T00:00:00+05:00")},
		"year 10000":            {"valid_until", until("10000-01-01")},
		"year 10000, zone":      {"valid_until", until("9999-12-31T23:00:00-05:00")},
		"an age beyond time":    {"valid_from", from("2147483647w")},
		"until is no date":      {"valid_until", until("\x00")},
		"upside down":           {"valid_until", fact(func(a *Assertion) { a.ValidFrom, a.ValidUntil = "2026-02-01", "2026-01-01" })},
		"no time at all":        {"valid_until", fact(func(a *Assertion) { a.ValidFrom, a.ValidUntil = "2026-02-01", "2026-02-01" })},
		"privacy":               {"privacy", fact(func(a *Assertion) { a.Privacy = "\x1b[2J" + strings.Repeat("long", 100) })},
	} {
		t.Run(name, func(t *testing.T) {
			s := testStore(t, nil)
			_, err := s.Remember(t.Context(), test.Assertion)
			s.refused(t, test.argument, err)
		})
	}
}

// Questions that make no sense are refused, and odd ones are answered.
func TestOddQuestions(t *testing.T) {
	s := testStore(t, nil)
	for argument, q := range map[string]Question{
		"limit":    {Limit: -1},
		"query":    {Query: strings.Repeat("q", MaxQuery+1)},
		"mode":     {Query: "q", Mode: "psychic"},
		"as_of":    {AsOf: "soon"},
		"known_at": {KnownAt: "12026-01-01"},
	} {
		_, err := s.Recall(t.Context(), q)
		s.refused(t, argument, err)
	}
	for i := range 12 {
		s.remember(t, Assertion{Category: "c", Key: fmt.Sprint("k", i), Value: "the database"})
	}
	const some = -1 // what is told of it is up to the ranking
	for _, test := range []struct {
		q    Question
		want int
	}{
		{Question{Limit: 0}, 10},
		{Question{Limit: 1_000_000_000}, 12},
		{Question{Query: "database", Limit: 1_000_000_000}, 12},
		{Question{Query: strings.Repeat("database ", 100_000/9)}, some},
		{Question{Query: strings.Repeat("nowhere ", 100_000/8)}, 0},
		{Question{Query: strings.Repeat("数据库 ", 9_000)}, 0},
		{Question{Query: "\xff\xfe database"}, some},
		{Question{Query: "\x00\x1b[2J\u202e"}, 0},
		{Question{Query: `("database~9^5:*?/[/`}, some},
		{Question{Category: "c", Key: "\xff"}, 0},
	} {
		r := s.recall(t, test.q)
		if test.want != some && len(r.Facts) != test.want || !printable(r.Text()) {
			t.Errorf("%.60q, limit %d: %d facts, want %d: %.300s", test.q.Query, test.q.Limit, len(r.Facts), test.want, r.Text())
		}
	}
	if _, err := history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: "c", Limit: -1}); err == nil {
		t.Error("a timeline of -1 versions")
	}
	if _, err := briefing.Wakeup(t.Context(), s.Store, briefing.Query{Budget: -1}); err == nil {
		t.Error("a briefing of -1 tokens")
	}
}

// Keys and categories that differ in case, width or composition are one fact.
func TestOneName(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "Café", Key: "Straße", Value: "A1"})
	for _, name := range [][2]string{{"café", "STRASSE"}, {"CAFE\u0301", " straße "}, {"ｃａｆé", "ｓｔｒａｓｓｅ"}} {
		r := s.remember(t, Assertion{Category: name[0], Key: name[1], Value: "A1"})
		if r.Outcome != Confirmed || r.Category != "Café" || r.Key != "Straße" {
			t.Errorf("%q: %s", name, r.Text())
		}
	}
	if f := s.only(t, "CAFÉ", "straße"); f.Confirmations != 4 {
		t.Errorf("confirmed %d times, want 4", f.Confirmations)
	}
}

// A clock that jumps ahead a year and back hides nothing that is said then,
// and recorded time only goes up.
func TestClockJumps(t *testing.T) {
	s := testStore(t, nil)
	var last time.Time
	for i, jump := range []time.Duration{0, 0, 365 * 24 * time.Hour, 0, -365 * 24 * time.Hour, -time.Hour, 0, 400 * 24 * time.Hour, -30 * 24 * time.Hour} {
		s.now = s.now.Add(jump)
		value := fmt.Sprint("value ", i)
		r := s.remember(t, Assertion{Category: "c", Key: "k", Value: value})
		if !r.RecordedAt.After(last) {
			t.Errorf("%d: recorded at %v, not after %v", i, r.RecordedAt, last)
		}
		fresh := s.remember(t, Assertion{Category: "c", Key: fmt.Sprint("fresh ", i), Value: value})
		last = fresh.RecordedAt
		if got := s.only(t, "c", "k"); got.Value != value || prose.Percent(got.Effective) != "80%" {
			t.Errorf("%d: %+v is current, want %q in full", i, got, value)
		}
		if got := s.recall(t, Question{Query: fmt.Sprint("fresh ", i)}); len(got.Facts) == 0 || got.Facts[0].Key != fresh.Key {
			t.Errorf("%d: what was said just now is not found: %s", i, got.Text())
		}
		if w, err := briefing.Wakeup(t.Context(), s.Store, briefing.Query{}); err != nil || !strings.Contains(w.Text(), "k="+value) {
			t.Errorf("%d: not in the briefing: %s, %v", i, w.Text(), err)
		}
	}
	if tl, err := history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: "c", Key: "k"}); err != nil || strings.Count(tl.Text(), "[CURRENT]") != 1 {
		t.Errorf("%s, %v", tl.Text(), err)
	}
}

// FuzzTexts: whatever is remembered, answers keep their form and give it back.
func FuzzTexts(f *testing.F) {
	for _, value := range strange()[:len(strange())-2] {
		f.Add("architecture", "auth", value, "auth")
		f.Add(prose.Clip(value, 20), prose.Clip(value, 20), value, value)
	}
	f.Add("FACTS", "LAST_TASK", "+3 more facts in 2 rooms", "facts")
	f.Add("+1 more", "İ", "ǅ ﬁ ẞ", "ﬁ")
	f.Fuzz(func(t *testing.T, category, key, value, query string) {
		s := testStore(t, nil)
		r, err := s.Remember(t.Context(), Assertion{Category: category, Key: key, Value: value})
		if _, wrong := errors.AsType[*ArgumentError](err); wrong {
			if !printable(err.Error()) {
				t.Errorf("%q", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if found, err := s.Recall(t.Context(), Question{Query: query}); err == nil && !printable(found.Text()) {
			t.Errorf("%q", found.Text())
		}
		if len(r.Redacted) > 0 || formats.FoldName(r.Category) == "decision" || formats.Archetype(r.Category) == "decision" {
			return // a decision has a line of its own in the briefing
		}
		survives(t, s, Assertion{Category: r.Category, Key: r.Key, Value: r.Value})
	})
}
