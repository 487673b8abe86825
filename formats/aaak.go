package formats

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"leanctx/internal/prose"
)

// Room is a line of AAAK: a category and its facts.
type Room struct {
	Category string `json:"category"`
	Pairs    []Pair `json:"pairs"`
}

// Pair is a fact in AAAK.
type Pair struct {
	Key         string `json:"key"`
	Value       string `json:"value"`
	Stars       int    `json:"stars"`          // 1..5, see [Stars]
	User        bool   `json:"user,omitempty"` // stated by the user; written as u after the stars
	Unconfirmed bool   `json:"unconfirmed"`    // known only from an import; written as ? after the stars
}

const star = "★"

// Stars is the number of stars for an effective confidence, 0..1, rounded to 0.01:
// from .95 five, .85 four, .70 three, .50 two, else one.
func Stars(effective float64) int {
	switch percent := math.Round(effective * 100); {
	case percent >= 95:
		return 5
	case percent >= 85:
		return 4
	case percent >= 70:
		return 3
	case percent >= 50:
		return 2
	default: // not a number too
		return 1
	}
}

// FormatAAAK writes a line a room:
//
//	CATEGORY:key=value★★★u|key2=value2★★?
//
// Each line ends with a line feed; a room without pairs has none. Stars outside
// 1..5 are taken to the nearer end. [ParseAAAK] is the inverse: it gives the
// same keys, values and stars, and the category folded.
//
// The category is in upper case. A letter whose capital does not fold back to it, as ß,
// stays. Only what could forge a line or a pair is escaped. That is what [Escape] escapes,
// and = and : in a category or a key.
// A category that would begin a line as the briefing's own lines do
// (LAST_TASK, +3 more facts …) gets a backslash in front.
func FormatAAAK(rooms []Room) string {
	var b strings.Builder
	for _, room := range rooms {
		if len(room.Pairs) == 0 {
			continue
		}
		shown := capitals(room.Category)
		if ownLine(shown) {
			b.WriteByte('\\')
		}
		b.WriteString(escapeName(shown))
		for i, p := range room.Pairs {
			b.WriteByte(":|"[min(i, 1)])
			b.WriteString(escapeName(p.Key))
			b.WriteByte('=')
			b.WriteString(Escape(p.Value))
			b.WriteString(strings.Repeat(star, min(max(p.Stars, 1), 5)))
			if p.User {
				b.WriteByte('u')
			}
			if p.Unconfirmed {
				b.WriteByte('?')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// capitals is how a category is shown. It depends on the folded category alone
// and folds back to it, so that what was parsed is written as it was.
func capitals(category string) string {
	folded := FoldName(category)
	upper := strings.Map(func(r rune) rune {
		if u := unicode.ToUpper(r); u != r && FoldName(string(u)) == string(r) {
			return u
		}
		return r
	}, folded)
	if FoldName(upper) != folded {
		return folded
	}
	return upper
}

// ownLine reports whether a line that begins so could be taken for one of the
// briefing's own.
func ownLine(shown string) bool {
	switch shown {
	case "FACTS", "NEW", "TASKS", "NEXT_TASK", "DISPUTES", "LAST_TASK", "RECENT_DECISIONS", "GOTCHAS", "REMINDERS", "AGENTS", "UNREAD", "WAKE-UP BRIEFING":
		return true
	}
	return strings.HasPrefix(shown, "+")
}

// Escape makes a text safe inside a line of a briefing: it can neither end the
// line nor begin another part of it. It writes \| and \\, and what nobody sees
// as [prose.Shown]. Bytes that are not UTF-8 become U+FFFD.
func Escape(s string) string { return escape(s, "") }

// escapeName is Escape for a category or a key, which end at : and =.
func escapeName(s string) string { return escape(s, ":=") }

// escape writes a backslash before |, \, ★ and the characters of more.
func escape(s, more string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	var b strings.Builder
	for i, r := range s {
		switch {
		case r != '★' && prose.Imitates(s, i), prose.Escaped(s, i):
			b.WriteString(prose.Shown(r))
			continue
		case r == '|', r == '\\', r == '★', strings.ContainsRune(more, r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ParseAAAK reads what [FormatAAAK] writes. Categories come out folded. The
// briefing's other lines are no rooms: an error, which names the line.
func ParseAAAK(text string) ([]Room, error) {
	var rooms []Room
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if text == "" {
			break
		}
		room, err := parseRoom(line)
		if err != nil {
			return nil, &MistakeError{Line: i + 1, Problem: err.Error()}
		}
		rooms = append(rooms, room)
	}
	return rooms, nil
}

func parseRoom(line string) (room Room, err error) {
	if !utf8.ValidString(line) {
		return room, errors.New("not UTF-8")
	}
	category, rest, err := cut(line, ":")
	if err != nil {
		return room, err
	}
	room.Category = FoldName(category)
	for {
		var p Pair
		if p, rest, err = parsePair(rest); err != nil {
			return room, err
		}
		room.Pairs = append(room.Pairs, p)
		if rest == "" {
			return room, nil
		}
		if rest[0] != '|' {
			return room, fmt.Errorf("want | or the end of the line after a pair, found %q", clip(rest))
		}
		rest = rest[1:]
	}
}

func parsePair(s string) (p Pair, rest string, err error) {
	if p.Key, s, err = cut(s, "="); err != nil {
		return p, "", err
	}
	raw := s
	if at := endOfPair(s); at >= 0 {
		raw, rest = s[:at], s[at:]
	}
	raw, p.Unconfirmed = strings.CutSuffix(raw, "?")
	if before, marked := strings.CutSuffix(raw, "u"); marked && strings.HasSuffix(before, star) {
		raw, p.User = before, true
	}
	text := strings.TrimRight(raw, star)
	if escapedAtEnd(text) { // the first star belongs to the value
		text += star
	}
	switch p.Stars = strings.Count(raw[min(len(text), len(raw)):], star); {
	case p.Stars == 0:
		return p, "", fmt.Errorf("no ★ after %q", clip(raw))
	case p.Stars > 5:
		return p, "", fmt.Errorf("%d stars after the value of %q: five are the most", p.Stars, clip(p.Key))
	}
	p.Value, err = unescaped(text)
	return p, rest, err
}

// endOfPair is where the first | stands that is not escaped, or -1.
func endOfPair(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '|':
			return i
		}
	}
	return -1
}

// escapedAtEnd reports whether a text ends in a backslash that escapes what
// follows.
func escapedAtEnd(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// cut takes the escaped text up to sep, which must come before any other mark
// that a name would escape.
func cut(s, sep string) (text, rest string, err error) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == sep[0]:
			text, err = unescaped(s[:i])
			return text, s[i+1:], err
		case strings.IndexByte("|:=", s[i]) >= 0:
			return "", "", fmt.Errorf("want %s, found %q first, after %q", sep, s[i], clip(s[:i]))
		}
	}
	return "", "", fmt.Errorf("no %s after %q", sep, clip(s))
}

// unescaped is the text that [escape] wrote.
func unescaped(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\\':
			var err error
			if r, size, err = unescape(s[i:]); err != nil {
				return "", err
			}
		case r != '<' && prose.Escaped(s, i):
			return "", fmt.Errorf("%q is not escaped, after %q", r, clip(b.String()))
		}
		b.WriteRune(r)
		i += size
	}
	return b.String(), nil
}

// unescape reads the escape that s begins with, size bytes of it.
func unescape(s string) (r rune, size int, err error) {
	switch r, size = utf8.DecodeRuneInString(s[1:]); r {
	case 'n':
		return '\n', 2, nil
	case 'r':
		return '\r', 2, nil
	case 't':
		return '\t', 2, nil
	case 'u':
		digits, _, ok := strings.Cut(strings.TrimPrefix(s[2:], "{"), "}")
		n, err := strconv.ParseUint(digits, 16, 32)
		if !ok || err != nil || !strings.HasPrefix(s[2:], "{") || !utf8.ValidRune(rune(n)) {
			return 0, 0, fmt.Errorf("%q is no escape", clip(s))
		}
		return rune(n), len(`\u{}`) + len(digits), nil
	}
	if size == 0 || prose.IsHidden(r) {
		return 0, 0, errors.New("a backslash that escapes nothing")
	}
	return r, 1 + size, nil
}
