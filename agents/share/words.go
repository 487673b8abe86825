package share

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// quiet makes a text fit for one line.
func quiet(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || isBidi(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// isBidi covers what makes a line read as another: line separators and the
// bidirectional overrides.
func isBidi(r rune) bool {
	return r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// clip shortens a name for an error.
func clip(text string) string {
	n := 0
	for i := range text {
		if n == 80 {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return number(n) + " " + noun
}

// number writes a number that is not negative with thousands separators.
func number(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", number(n/1000), n%1000)
}

// ago is the age of what happened at an instant: 45s, 5m, 2h, 1d.
func ago(now, at time.Time) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if n := now.Sub(at) / unit.of; n > 0 {
			return fmt.Sprintf("%d%s ago", n, unit.name)
		}
	}
	return fmt.Sprintf("%ds ago", max(now.Sub(at), 0)/time.Second)
}
