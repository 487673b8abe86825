package agents

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxText = 64 << 10 // bytes of a message, a diary entry, a handoff's summary
	maxRole = 200      // runes
	maxWord = 60       // runes of a name that an error repeats
)

// clip shortens a text, at a rune boundary.
func clip(s string, runes int) string {
	n := 0
	for i := range s {
		if n == runes {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// brief shows at most 300 runes of a text and says how long the rest is.
func brief(text string) string {
	if short := clip(text, 300); short != text {
		return fmt.Sprintf("%s (%d bytes)", oneLine(short), len(text))
	}
	return oneLine(text)
}

// oneLine makes a text safe to stand in a line of output: line breaks and
// control characters are shown as escapes, so that no text can forge a line
// or move a terminal's cursor.
func oneLine(s string) string { return escape(s, `\n`) }

// block is oneLine for texts that are read: line breaks stay, and the lines
// after the first are indented deeper than any line of our own.
func block(s string) string {
	return escape(strings.ReplaceAll(strings.TrimSpace(s), "\r\n", "\n"), "\n      ")
}

func escape(s, lineFeed string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(lineFeed)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case isControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isControl covers C0, DEL, C1, line and paragraph separators and the
// bidirectional overrides, which could make a line read as another.
func isControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// count writes a number with its noun: 1 agent, 2 agents, 1 entry, 2 entries.
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return strconv.Itoa(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// span writes a duration in its largest whole unit: 45s, 5m, 2h, 1d.
func span(d time.Duration) string {
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

// ago is the age of what happened at an instant.
func ago(now, at time.Time) string { return span(now.Sub(at).Round(time.Second)) + " ago" }

// left is the time that remains, rounded up to its unit: one never waits
// longer than it says by more than the unit below.
func left(d time.Duration) string {
	switch {
	case d > time.Hour:
		return span(d + time.Minute - 1)
	case d > time.Minute:
		return span(d + time.Minute - 1)
	}
	return span(d + time.Second - 1)
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
			return 0, badArgument(argument, "%s %q is not a duration: give a number and a unit, such as 90s, 10m, 1h30m or 1d", argument, clip(text, maxWord))
		}
		unit := units[rest[i]]
		sum += time.Duration(min(n, uint64(b.most/unit)+1)) * unit
		sum, rest = min(sum, b.most+1), rest[i+1:]
	}
	if sum >= b.least && sum <= b.most {
		return sum, nil
	}
	return 0, badArgument(argument, "%s %q is not between %s and %s", argument, clip(text, maxWord), span(b.least), span(b.most))
}

// text checks and redacts what somebody wrote. found are the rules that took
// something out.
func (s *Store) text(argument, given string, most int) (clean string, found []string, err error) {
	switch given = strings.TrimSpace(given); {
	case given == "":
		return "", nil, badArgument(argument, "needs %s", argument)
	case len(given) > most:
		return "", nil, badArgument(argument, "%s has %d bytes, more than %d: put it into a file and share that", argument, len(given), most)
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
		return "", badArgument(argument, "needs %s", argument)
	case len(w) > most:
		return "", badArgument(argument, "%s has %d bytes, more than %d", argument, len(w), most)
	case bad || w[0] == '-' || w[len(w)-1] == '-':
		return "", badArgument(argument, "%s %q is not made of letters a-z, digits and dashes between them", argument, clip(given, maxWord))
	}
	return w, nil
}

func redactedLine(found []string) string {
	if len(found) == 0 {
		return ""
	}
	return "\n  Redacted before storing: " + strings.Join(found, ", ")
}
