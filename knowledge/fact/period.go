package fact

import (
	"time"
)

// Period is a half-open stretch of valid time, [From, Until). A nil Until is
// open: true until another value follows.
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
	return Before(p.From, q.Until) && Before(q.From, p.Until)
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
func (p Period) Equal(q Period) bool { return p.From.Equal(q.From) && SameEnd(p.Until, q.Until) }

// String is its first and last day, UTC: 2026-01-15 → now.
func (p Period) String() string { return Day(p.From) + " → " + endDay(p.Until) }

// Times is p with the time of day of its first and last instant, UTC, to the
// minute: 2026-01-15 10:00 → now.
func (p Period) Times() string {
	const layout = "2006-01-02 15:04"
	if p.Until == nil {
		return p.From.UTC().Format(layout) + " → now"
	}
	return p.From.UTC().Format(layout) + " → " + p.Until.UTC().Format(layout)
}

// StringAt is p for people, as seen at an instant. "until now" would be wrong for a period
// that has not begun. So an open one is shown by its first day only.
func (p Period) StringAt(now time.Time) string {
	if p.Until == nil && p.From.After(now) {
		return "from " + Day(p.From)
	}
	return p.String()
}

// Before reports t < end, where a nil end is infinitely late.
func Before(t time.Time, end *time.Time) bool { return end == nil || t.Before(*end) }

// SameEnd reports whether two ends are the same; nil is open.
func SameEnd(a, b *time.Time) bool {
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

// EarlierEnd is the end that comes first; nil is open.
func EarlierEnd(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

// Day is the day of an instant, UTC: 2026-01-15.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func endDay(t *time.Time) string {
	if t == nil {
		return "now"
	}
	return Day(*t)
}
