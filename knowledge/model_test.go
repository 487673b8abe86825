package knowledge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	. "leanctx/knowledge"
	"leanctx/knowledge/history"
)

// horizon is the last day the model looks at; a period that reaches it is open.
const horizon = 45

// model is what a fact's valid time should be: the value of each day. stretch
// tells which days are one version.
type model struct {
	value   [horizon + 1]string
	stretch [horizon + 1]int
	next    int
}

// paint is the whole effect of an assertion on valid time: the days of its period have its
// value, all others keep theirs. Stretches of that value which it overlaps or touches become one
// with it. The whole is withdrawn at its end if the last of them was.
func (m *model) paint(from, until int, value string) {
	before := *m
	m.next++
	n := m.next
	join := func(d int, touching bool) {
		old := before.stretch[d]
		if before.value[d] != value || old == 0 || touching && old < 0 {
			return
		}
		for e := range m.stretch {
			if before.stretch[e] == old {
				m.stretch[e] = n
			}
		}
	}
	join(from-1, true)
	if until <= horizon {
		join(until, false)
	}
	last := until - 1
	for d := from; d < until; d++ {
		join(d, false)
		m.value[d], m.stretch[d] = value, n
	}
	for d, k := range m.stretch {
		if k == n {
			last = max(last, d)
		}
	}
	if before.stretch[last] < 0 && before.value[last] == value {
		for d, k := range m.stretch {
			if k == n {
				m.stretch[d] = -n
			}
		}
	}
}

// end is where a period without an end stops: the start of the next version.
func (m *model) end(from int) int {
	for d := from + 1; d <= horizon; d++ {
		if m.value[d] != "" && abs(m.stretch[d]) != abs(m.stretch[d-1]) {
			return d
		}
	}
	return horizon + 1
}

func abs(n int) int { return max(n, -n) }

// retract takes back the rest of time; what was true stays, and does not join
// what begins at that instant (a negative stretch). What was planned to begin just
// then is withdrawn whole, and the version before it was not.
func (m *model) retract(day int) bool {
	any, ends := false, m.stretch[day] == m.stretch[day-1]
	for d := day; d <= horizon; d++ {
		any = any || m.value[d] != ""
		m.value[d], m.stretch[d] = "", 0
	}
	if any && ends {
		last := m.stretch[day-1]
		for d := range m.stretch {
			if m.stretch[d] == last && last > 0 {
				m.stretch[d] = -last
			}
		}
	}
	return any
}

// Whatever is asserted and withdrawn, the store answers like the model at every instant. It
// gives the same answer about a past recorded time for ever.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := &story{dir: t.TempDir(), now: at(1)}
		s.open(t, nil)
		var m model
		snapshots := []model{m}
		steps := rapid.IntRange(1, 14).Draw(rt, "steps")
		for day := 2; day < 2+steps; day++ {
			s.now = at(day)
			m.step(rt, s, day)
			snapshots = append(snapshots, m)
			for d := 1; d < horizon; d++ {
				m.compare(rt, s, d, day)
			}
		}
		for range 10 {
			known := rapid.IntRange(1, steps).Draw(rt, "known")
			snapshots[known].compare(rt, s, rapid.IntRange(1, horizon-1).Draw(rt, "as of"), known+1)
		}
	})
}

func (m *model) step(rt *rapid.T, s *story, day int) {
	if rapid.IntRange(0, 6).Draw(rt, "op") == 0 {
		_, err := s.Remove(rt.Context(), Withdrawal{Category: "c", Key: "k"})
		_, missing := errors.AsType[*NotFoundError](err)
		if any := m.retract(day); any == missing || err != nil && !missing {
			rt.Fatalf("day %d: remove: %v, something was there: %v", day, err, any)
		}
		return
	}
	a := Assertion{Category: "c", Key: "k", Value: rapid.SampledFrom([]string{"A", "B", "C"}).Draw(rt, "value")}
	from, until := day, 0
	if rapid.Bool().Draw(rt, "from given") {
		from = rapid.IntRange(1, 35).Draw(rt, "from")
		a.ValidFrom = at(from).Format(time.RFC3339)
	}
	if rapid.IntRange(0, 2).Draw(rt, "until given") == 0 {
		until = from + rapid.IntRange(1, 8).Draw(rt, "days")
		a.ValidUntil = at(until).Format(time.RFC3339)
	}
	if a.ValidFrom == "" && a.ValidUntil == "" && m.value[day] == a.Value && m.stretch[day] != 0 {
		until = day // a plain confirmation changes no period
	} else if until == 0 {
		until = m.end(from)
	}
	if _, err := s.Remember(rt.Context(), a); err != nil {
		rt.Fatalf("day %d: remember %+v: %v", day, a, err)
	}
	if until > from {
		m.paint(from, until, a.Value)
	}
}

// compare asks the store for one day of valid time, as known on another.
func (m *model) compare(rt *rapid.T, s *story, day, known int) {
	noon := at(day).Add(12 * time.Hour)
	r, err := s.Recall(rt.Context(), Question{Category: "c", Key: "k", AsOf: noon.Format(time.RFC3339), KnownAt: at(known).Format(time.RFC3339)})
	if err != nil {
		rt.Fatal(err)
	}
	var got strings.Builder
	for _, f := range r.Facts {
		got.WriteString(f.Value)
	}
	if got.String() != m.value[day] {
		tl, _ := history.Timeline(rt.Context(), s.Store, history.TimelineQuery{Category: "c"})
		rt.Fatalf("day %d as known on day %d: %q, want %q\n%s", day, known, got.String(), m.value[day], fmt.Sprint(tl.Text()))
	}
}
