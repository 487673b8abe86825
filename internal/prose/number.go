package prose

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Number is a whole number with thousands separators: 1,247.
func Number[N ~int | ~int64](n N) string {
	digits, sign := strconv.FormatInt(int64(n), 10), ""
	if n < 0 {
		digits, sign = digits[1:], "-"
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Count is a number with its noun, which is given in the singular: 1 agent,
// 2 agents, 1 entry, 1,247 entries.
func Count[N ~int | ~int64](n N, noun string) string {
	switch stem, y := strings.CutSuffix(noun, "y"); {
	case n == 1:
	case y:
		noun = stem + "ies"
	default:
		noun += "s"
	}
	return Number(n) + " " + noun
}

// CountOf words a number of what is named in the plural: 1 "blocks of HTML" is "1 block of HTML".
func CountOf[N ~int | ~int64](n N, plural string) string {
	if n != 1 {
		return Number(n) + " " + plural
	}
	words := strings.Split(plural, " ")
	head := slices.IndexFunc(words, func(w string) bool { return slices.Contains([]string{"of", "without", "to"}, w) })
	if head < 0 {
		head = len(words)
	}
	if head > 0 {
		noun := &words[head-1]
		if stem, ok := strings.CutSuffix(*noun, "ies"); ok {
			*noun = stem + "y"
		} else {
			*noun = strings.TrimSuffix(*noun, "s")
		}
	}
	return "1 " + strings.Join(words, " ")
}

// Percent words a share of 1 in percent. It rounds half away from zero, as
// people do.
func Percent(x float64) string { return fmt.Sprintf("%d%%", int(math.Round(x*100))) }

// Duration is a duration in its largest whole unit, rounded down: 45s, 5m, 2h, 1d.
// One below zero is 0s.
func Duration(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// Left is a duration that remains, rounded up to its unit: one never waits
// longer than it says by more than the unit below.
func Left(d time.Duration) string {
	if d > time.Minute {
		return Duration(d + time.Minute - 1)
	}
	return Duration(d + time.Second - 1)
}

// Age is how long ago an instant was, to the second: 5m. What is still to
// come is 0s old.
func Age(now, at time.Time) string { return Duration(now.Sub(at).Round(time.Second)) }

// Ago is an age in a sentence: 5m ago.
func Ago(now, at time.Time) string { return Age(now, at) + " ago" }

// More is the line below a list that was cut, or nothing if no rows are missing.
func More(call Syntax, missing, limit int) string {
	if missing <= 0 {
		return ""
	}
	return fmt.Sprintf("\n  … %d more (%s)", missing, call("", "limit", limit))
}
