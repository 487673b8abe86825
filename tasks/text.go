package tasks

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// clip shortens a text at a rune boundary.
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

// brief shows at most 300 runes of a text, in one line.
func brief(s string) string {
	if short := clip(s, 300); short != s {
		return fmt.Sprintf("%s (%d bytes)", escape(short, ""), len(s))
	}
	return escape(s, "")
}

// escape makes a text safe to stand in an answer: control characters become
// escapes, so that no text can forge a line or move a terminal's cursor. Those
// in keep stay.
func escape(s, keep string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !isControl(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// isControl covers C0, DEL, C1, line and paragraph separators and the
// bidirectional overrides.
func isControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// indented is a text of several lines, each behind the same blanks: none can
// be taken for a line of the answer itself.
func indented(s, blanks string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(blanks+escape(line, "\t"), " ")
	}
	return strings.Join(lines, "\n")
}

// age is how long ago an instant was: 40s, 5m, 2h, 3d.
func age(since, now time.Time) string {
	d := max(now.Sub(since), 0).Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// stamp is an instant in an answer.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// redactedLine tells which rules took something out, "" if none did.
func redactedLine(rules []string) string {
	if len(rules) == 0 {
		return ""
	}
	return "\n  Redacted before storing: " + strings.Join(rules, ", ")
}
