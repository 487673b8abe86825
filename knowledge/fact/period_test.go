package fact

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// at is day n of a year.
func at(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

func genPeriod(t *rapid.T, name string) Period {
	from := rapid.IntRange(1, 30).Draw(t, name+" from")
	p := Period{From: at(from)}
	if n := rapid.IntRange(0, 10).Draw(t, name+" days"); n > 0 {
		p.Until = new(at(from + n))
	}
	return p
}

// Period arithmetic agrees with looking at every day.
func TestPeriodArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := genPeriod(t, "p"), genPeriod(t, "q")
		share := false
		for d := 1; d < 50; d++ {
			share = share || p.Contains(at(d)) && q.Contains(at(d))
			if u := p.Union(q); (p.Contains(at(d)) || q.Contains(at(d))) && !u.Contains(at(d)) {
				t.Fatalf("the union %s of %s and %s lacks day %d", u, p, q, d)
			}
		}
		if p.Overlaps(q) != share || q.Overlaps(p) != share {
			t.Fatalf("%s overlaps %s: %v, want %v", p, q, p.Overlaps(q), share)
		}
		if p.Meets(q) && p.Overlaps(q) {
			t.Fatalf("%s both meets and overlaps %s", p, q)
		}
	})
}
