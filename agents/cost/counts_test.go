package cost

import (
	"fmt"
	"testing"
	"time"
)

// The sums over agents, tools, days and sessions stay equal, however much was
// folded away.
func TestBounded(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	const calls = 3000
	for i := range calls {
		l.Note(Receipt{
			Agent: fmt.Sprint("agent-", i%700), Tool: "x", Action: "y", Session: fmt.Sprint("s", i), OutSize: 4,
			At: noon.Add(time.Duration(i) * 12 * time.Hour),
		})
		if i%500 == 499 {
			l.flush(noDeadline)
			if err := l.fold(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, err := l.book(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]Counts{"tools": total(b.tools), "days": b.earlier, "sessions": b.older}
	for _, c := range b.days {
		sums["days"] = sums["days"].plus(c)
	}
	for _, s := range b.sessions {
		sums["sessions"] = sums["sessions"].plus(s.Counts)
	}
	for name, c := range sums {
		if c.Calls != calls || c.Out != calls {
			t.Errorf("%s: %+v", name, c)
		}
	}
	byDay := b.byDay()
	if last := byDay[len(byDay)-1]; last.Name != earlierDays || last.Calls != b.earlier.Calls || byDay[0].Name < byDay[1].Name {
		t.Errorf("the days end with %+v", last)
	}
	if len(b.sessions) > maxSessions || len(b.days) > maxDays || len(b.tools) > maxAgents+1 || b.gone+int64(len(b.sessions)) != calls {
		t.Errorf("%d sessions, %d days, %d agents, %d gone", len(b.sessions), len(b.days), len(b.tools), b.gone)
	}
}
