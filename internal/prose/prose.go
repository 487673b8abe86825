// Package prose formats texts of people, numbers and ages for answers that people and
// models read.
//
// An answer consists of lines. A text of somebody is shown in one line ([Line], [Brief]) or in
// several ([Indent]). So it cannot pass for a line of the answer, nor move a terminal's cursor.
//
// Control characters are shown as escapes. Dropping them was rejected, because two
// different texts would look the same.
package prose

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Clip shortens a text to a number of runes and adds … if it cut something.
func Clip(s string, runes int) string {
	n := 0
	for i := range s {
		if n == runes {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// briefRunes is how much [Brief] shows of a text.
const briefRunes = 300

// CutFacts shortens a briefing to a number of characters, at the end of a line or of a fact.
// Bars separate facts; a bar within a fact is escaped.
func CutFacts(briefing string, most int) string {
	end, n, escaped := 0, 0, false
	for i, r := range briefing {
		if (r == '\n' || r == '|') && !escaped && n <= most {
			end = i
		}
		escaped = r == '\\' && !escaped
		n++
	}
	if n <= most {
		return briefing
	}
	return briefing[:end]
}

// Brief is a text in one line, at most 300 runes. A longer text is followed by its size in
// bytes.
func Brief(s string) string {
	if short := Clip(s, briefRunes); short != s {
		return fmt.Sprintf("%s (%d bytes)", Line(short), len(s))
	}
	return Line(s)
}

// Line is a text in one line. Hidden characters ([IsHidden]) are written as [Shown],
// invalid UTF-8 as U+FFFD. The < of "</" is escaped too, so that no text can close a tag
// around it.
func Line(s string) string { return escape(s, "") }

// Indent indents each line of a text with the same blanks. Tabs stay.
func Indent(s, blanks string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(blanks+escape(line, "\t"), " ")
	}
	return strings.Join(lines, "\n")
}

// Block is a text that follows the start of a line. Its line breaks stay. Its further
// lines are indented deeper than any line of the answer itself.
func Block(s string) string {
	const blanks = "      "
	return strings.TrimPrefix(Indent(strings.TrimSpace(s), blanks), blanks)
}

// Visible writes hidden characters as [Shown], except those in keep. It is for pages and
// drawings, which escape what is syntax to them; all else takes [Line].
func Visible(s, keep string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if !strings.ContainsFunc(s, IsHidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if IsHidden(r) && !strings.ContainsRune(keep, r) {
			b.WriteString(Shown(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escape makes hidden characters visible, except those in keep, and the end of a tag.
func escape(s, keep string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if !strings.ContainsFunc(s, IsHidden) && !strings.Contains(s, "</") {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '<' && strings.HasPrefix(s[i:], "</"), IsHidden(r) && !strings.ContainsRune(keep, r):
			b.WriteString(Shown(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Shown is the escape of a character:  , \t, \r, or \u{…} with its code point in
// hexadecimal.
func Shown(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	}
	return fmt.Sprintf(`\u{%x}`, r)
}

// IsControl covers C0, DEL, C1, line and paragraph separators and the
// bidirectional overrides, which make a line read as another.
func IsControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// IsHidden covers [IsControl] and other characters that a model reads and a person does not
// see. These are zero-width characters, direction marks, tag characters, and variation
// selectors that can carry text.
func IsHidden(r rune) bool {
	switch {
	case r < 0xa0:
		return IsControl(r)
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff,
		r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x2065, r >= 0x206a && r <= 0x206f,
		r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return IsControl(r)
}

// Redacted is the line below an answer that names the secret rules that matched; empty if
// none did.
func Redacted(rules []string) string {
	if len(rules) == 0 {
		return ""
	}
	return "\n  Redacted before storing: " + strings.Join(rules, ", ")
}
