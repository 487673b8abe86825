package args

import (
	"strconv"
	"strings"
	"time"

	"leanctx/internal/language"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Instant is a point in time as somebody wrote it.
type Instant struct {
	time.Time
	Text string // how answers name it
	Day  bool   // it was given as a day, without a time
}

// ParseInstant reads RFC 3339, YYYY-MM-DD, YYYY-MM, an age such as 90s, 5m, 3h, 3d, 2w before now,
// or a time in words as a question has it: yesterday, last week, March 2025. A day or a longer
// period is its first instant, UTC, or its last one when endOfDay is set. Years outside 1..9999 are
// refused: no other program could read them. Errors are a [refusal.ArgumentError] about the
// argument.
func ParseInstant(argument, text string, now time.Time, endOfDay bool) (Instant, error) {
	return parseInstant(argument, text, now, endOfDay, -1, "an age (3d) or a time in words (last week)")
}

// ParseDue is [ParseInstant] for what lies ahead: 3d is in three days.
func ParseDue(argument, text string, now time.Time) (Instant, error) {
	return parseInstant(argument, text, now, false, 1, "or how long from now (3d)")
}

// parseInstant counts a length of time from now in a direction, 1 or -1. span says what
// such a length means.
func parseInstant(argument, text string, now time.Time, endOfDay bool, direction time.Duration, span string) (Instant, error) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		if endOfDay {
			t = endOf(t)
		}
		return checkYear(argument, Instant{t, text, true})
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return checkYear(argument, Instant{Time: t.UTC(), Text: t.UTC().Format(time.RFC3339)})
	}
	if d, ok := parseAge(text); ok {
		t := now.Add(direction * d).UTC()
		return checkYear(argument, Instant{Time: t, Text: t.Format(time.RFC3339)})
	}
	if first, last, ok := language.ReadDate(text, now); ok && (direction < 0 || !first.Before(now)) {
		t := Instant{Time: first, Text: first.Format(time.DateOnly), Day: first.Equal(last)}
		if endOfDay {
			t.Time, t.Text = endOf(last), last.Format(time.DateOnly)
		}
		return checkYear(argument, t)
	}
	return Instant{}, refusal.Argument(argument, "%s %q is not a time: give RFC 3339 (2026-02-01T12:00:00Z), a day (2026-02-01), a month (2026-02), %s", argument, prose.Clip(text, 60), span)
}

// endOf is the last instant of a day.
func endOf(day time.Time) time.Time { return day.AddDate(0, 0, 1).Add(-time.Nanosecond) }

func checkYear(argument string, t Instant) (Instant, error) {
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return Instant{}, refusal.Argument(argument, "%s %q is outside the years 1 to 9999", argument, prose.Clip(t.Text, 60))
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
