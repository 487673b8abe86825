// Package arg reads what callers of the package agents gave: texts, names,
// durations, numbers, paths. What cannot be meant is a
// [*refusal.ArgumentError], which says what could be.
package arg

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

const maxWord = 60 // runes of a name that an error repeats

// Bounds are what a duration must be within, both included.
type Bounds struct{ Least, Most time.Duration }

// Duration reads whole numbers, each with a unit of s, m, h, d, w: 90s, 1h30m.
func Duration(argument, text string, b Bounds) (time.Duration, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	var sum time.Duration
	for rest := text; rest != "" || text == ""; {
		i := max(0, strings.IndexAny(rest, "smhdw"))
		n, err := strconv.ParseUint(rest[:i], 10, 31)
		if err != nil {
			return 0, refusal.Argument(argument, "%s %q is not a duration: give a number and a unit, such as 90s, 10m, 1h30m or 1d", argument, prose.Clip(text, maxWord))
		}
		unit := units[rest[i]]
		sum += time.Duration(min(n, uint64(b.Most/unit)+1)) * unit
		sum, rest = min(sum, b.Most+1), rest[i+1:]
	}
	if sum >= b.Least && sum <= b.Most {
		return sum, nil
	}
	return 0, refusal.Argument(argument, "%s %q is not between %s and %s", argument, prose.Clip(text, maxWord), prose.Span(b.Least), prose.Span(b.Most))
}

// Text is what somebody wrote, of most bytes at most, without blanks around it
// and valid UTF-8.
func Text(argument, text string, most int) (string, error) {
	switch text = strings.TrimSpace(text); {
	case text == "":
		return "", refusal.Argument(argument, "needs %s", argument)
	case len(text) > most:
		return "", refusal.Argument(argument, "%s has %d bytes, more than %d: put it into a file and share that", argument, len(text), most)
	}
	return strings.ToValidUTF8(text, string(utf8.RuneError)), nil
}

// Word is a name of letters, digits and dashes, of most bytes at most, in lower
// case.
func Word(argument, name string, most int) (string, error) {
	w := strings.ToLower(strings.TrimSpace(name))
	bad := strings.IndexFunc(w, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }) >= 0
	switch {
	case w == "":
		return "", refusal.Argument(argument, "needs %s", argument)
	case len(w) > most:
		return "", refusal.Argument(argument, "%s has %d bytes, more than %d", argument, len(w), most)
	case bad || w[0] == '-' || w[len(w)-1] == '-':
		return "", refusal.Argument(argument, "%s %q is not made of letters a-z, digits and dashes between them", argument, prose.Clip(name, maxWord))
	}
	return w, nil
}

// MaxLimit is the most that a list shows or a reading gives.
const MaxLimit = 1000

// Limit is how many at most are wanted; standard if nobody says, never more
// than [MaxLimit].
func Limit(limit, standard int) (int, error) {
	if limit < 0 {
		return 0, refusal.Argument("limit", "limit %d is negative", limit)
	}
	return min(cmp.Or(limit, standard), MaxLimit), nil
}
