package agents

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

const (
	maxText = 64 << 10 // bytes of a message, a diary entry, a handoff's summary
	maxRole = 200      // runes
	maxWord = 60       // runes of a name that an error repeats
)

// block is a text that is read: its line breaks stay, and the lines after the
// first are indented deeper than any line of our own.
func block(s string) string {
	const blanks = "      "
	return strings.TrimPrefix(prose.Indent(strings.TrimSpace(s), blanks), blanks)
}

// left is the time that remains, rounded up to its unit: one never waits
// longer than it says by more than the unit below.
func left(d time.Duration) string {
	if d > time.Minute {
		return prose.Span(d + time.Minute - 1)
	}
	return prose.Span(d + time.Second - 1)
}

// bounds are what a duration must be within, both included.
type bounds struct{ least, most time.Duration }

// duration reads whole numbers, each with a unit of s, m, h, d, w: 90s, 1h30m.
func duration(argument, text string, b bounds) (time.Duration, error) {
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
		sum += time.Duration(min(n, uint64(b.most/unit)+1)) * unit
		sum, rest = min(sum, b.most+1), rest[i+1:]
	}
	if sum >= b.least && sum <= b.most {
		return sum, nil
	}
	return 0, refusal.Argument(argument, "%s %q is not between %s and %s", argument, prose.Clip(text, maxWord), prose.Span(b.least), prose.Span(b.most))
}

// text checks and redacts what somebody wrote. found are the rules that took
// something out.
func (s *Store) text(argument, given string, most int) (clean string, found []string, err error) {
	switch given = strings.TrimSpace(given); {
	case given == "":
		return "", nil, refusal.Argument(argument, "needs %s", argument)
	case len(given) > most:
		return "", nil, refusal.Argument(argument, "%s has %d bytes, more than %d: put it into a file and share that", argument, len(given), most)
	}
	clean, found = s.redact(strings.ToValidUTF8(given, string(utf8.RuneError)))
	return clean, found, nil
}

// word checks a name of letters, digits and dashes, and makes it lower-case.
func word(argument, given string, most int) (string, error) {
	w := strings.ToLower(strings.TrimSpace(given))
	bad := strings.IndexFunc(w, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }) >= 0
	switch {
	case w == "":
		return "", refusal.Argument(argument, "needs %s", argument)
	case len(w) > most:
		return "", refusal.Argument(argument, "%s has %d bytes, more than %d", argument, len(w), most)
	case bad || w[0] == '-' || w[len(w)-1] == '-':
		return "", refusal.Argument(argument, "%s %q is not made of letters a-z, digits and dashes between them", argument, prose.Clip(given, maxWord))
	}
	return w, nil
}
