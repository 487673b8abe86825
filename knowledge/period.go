package knowledge

import (
	"strconv"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Period is a half-open stretch of valid time, [From, Until). A nil Until is
// open: true until something else is said.
type Period struct {
	From  time.Time  `json:"from"`
	Until *time.Time `json:"until"`
}

// Contains reports whether t lies in p.
func (p Period) Contains(t time.Time) bool {
	return !t.Before(p.From) && (p.Until == nil || t.Before(*p.Until))
}

// Overlaps reports whether p and q share an instant.
func (p Period) Overlaps(q Period) bool {
	return before(p.From, q.Until) && before(q.From, p.Until)
}

// Meets reports whether q begins at the instant that p ends.
func (p Period) Meets(q Period) bool { return p.Until != nil && p.Until.Equal(q.From) }

// Union is the shortest period that holds both.
func (p Period) Union(q Period) Period {
	if q.From.Before(p.From) {
		p.From = q.From
	}
	p.Until = laterEnd(p.Until, q.Until)
	return p
}

// Equal reports whether p and q are the same period.
func (p Period) Equal(q Period) bool { return p.From.Equal(q.From) && sameEnd(p.Until, q.Until) }

func (p Period) String() string { return day(p.From) + " → " + endDay(p.Until) }

// before reports t < end, where a nil end is infinitely late.
func before(t time.Time, end *time.Time) bool { return end == nil || t.Before(*end) }

func sameEnd(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

func laterEnd(a, b *time.Time) *time.Time {
	if a == nil || b == nil {
		return nil
	}
	if a.Before(*b) {
		return b
	}
	return a
}

func earlierEnd(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func endDay(t *time.Time) string {
	if t == nil {
		return "now"
	}
	return day(*t)
}

// instant is a point in time as somebody wrote it.
type instant struct {
	time.Time
	text string // how answers name it
}

// parseInstant reads RFC 3339, YYYY-MM-DD (the first instant of that day, UTC;
// the last one when endOfDay is set) or an age such as 90s, 5m, 3h, 3d, 2w
// before now. Years outside 1..9999 are refused: no other program could read them.
func parseInstant(argument, text string, now time.Time, endOfDay bool) (instant, error) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		if endOfDay {
			t = t.AddDate(0, 0, 1).Add(-time.Nanosecond)
		}
		return checkYear(argument, instant{t, text})
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return checkYear(argument, instant{t.UTC(), t.UTC().Format(time.RFC3339)})
	}
	if d, ok := parseAge(text); ok {
		t := now.Add(-d).UTC()
		return checkYear(argument, instant{t, t.Format(time.RFC3339)})
	}
	return instant{}, refusal.Argument(argument, "%s %q is not a time: give RFC 3339 (2026-02-01T12:00:00Z), a day (2026-02-01) or an age (3d)", argument, prose.Clip(text, 60))
}

func checkYear(argument string, t instant) (instant, error) {
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return instant{}, refusal.Argument(argument, "%s %q is outside the years 1 to 9999", argument, prose.Clip(t.text, 60))
	}
	return t, nil
}

// parseAge reads a whole number and one unit of s, m, h, d, w.
func parseAge(text string) (time.Duration, bool) {
	if len(text) < 2 {
		return 0, false
	}
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	unit, ok := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 31)
	if !ok || err != nil || time.Duration(n) > (1<<63-1)/unit {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
