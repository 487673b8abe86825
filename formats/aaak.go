package formats

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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
	Stars       int    `json:"stars"`       // 1..5, see [Stars]
	Unconfirmed bool   `json:"unconfirmed"` // known only from an import; written as ? after the stars
}

const star = "★"

// Stars is how an effective confidence, 0..1, shows in AAAK, once rounded to
// 0.01: from .95 five, .85 four, .70 three, .50 two, else one.
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
//	CATEGORY:key=value★★★|key2=value2★★?
//
// Each line ends with a line feed; a room without pairs has none. Stars outside
// 1..5 are taken to the nearer end. [ParseAAAK] is the inverse: it gives the
// same keys, values and stars, and the category folded.
//
// The category stands in upper case as far as folding gets the same category
// back: no capital of ß or ı does, so they stay. Texts are escaped by [Escape].
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
		b.WriteString(Escape(shown))
		for i, p := range room.Pairs {
			b.WriteByte(":|"[min(i, 1)])
			b.WriteString(Escape(p.Key))
			b.WriteByte('=')
			b.WriteString(Escape(p.Value))
			b.WriteString(strings.Repeat(star, min(max(p.Stars, 1), 5)))
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
	case "FACTS", "LAST_TASK", "RECENT_DECISIONS", "GOTCHAS", "REMINDERS", "AGENTS", "UNREAD", "WAKE-UP BRIEFING":
		return true
	}
	return strings.HasPrefix(shown, "+")
}

// Escape makes a text safe to stand in AAAK, so that it can forge neither a
// pair nor a line: \| \= \: \★ \\ \n \r \t, and \uXXXX for other control
// characters, for separators of lines and paragraphs, and for the marks that
// turn the direction of writing. Bytes that are not UTF-8 become U+FFFD.
func Escape(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, escaped) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !escaped(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case forbidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteByte('\\')
			b.WriteRune(r)
		}
	}
	return b.String()
}

func escaped(r rune) bool {
	return r == '|' || r == '=' || r == ':' || r == '★' || r == '\\' || forbidden(r)
}

// forbidden is what never stands in AAAK as it is.
func forbidden(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
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
		return room, fmt.Errorf("not UTF-8")
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
	if p.Value, s, err = cut(s, star); err != nil {
		return p, "", err
	}
	for p.Stars = 1; strings.HasPrefix(s, star); p.Stars++ {
		s = s[len(star):]
	}
	if p.Stars > 5 {
		return p, "", fmt.Errorf("%d stars after the value of %q: five are the most", p.Stars, clip(p.Key))
	}
	if p.Unconfirmed = strings.HasPrefix(s, "?"); p.Unconfirmed {
		s = s[1:]
	}
	return p, s, nil
}

// cut takes the escaped text up to sep, which must be the first mark of AAAK
// that is not escaped.
func cut(s, sep string) (text, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case strings.HasPrefix(s[i:], sep):
			return b.String(), s[i+len(sep):], nil
		case r == '\\':
			if r, size, err = unescape(s[i:]); err != nil {
				return "", "", err
			}
		case escaped(r):
			return "", "", fmt.Errorf("want %s, found %q first, after %q", sep, r, clip(b.String()))
		}
		b.WriteRune(r)
		i += size
	}
	return "", "", fmt.Errorf("no %s after %q", sep, clip(b.String()))
}

// unescape reads the escape that s begins with, size bytes of it.
func unescape(s string) (r rune, size int, err error) {
	r, size = utf8.DecodeRuneInString(s[1:])
	switch r {
	case 'n':
		return '\n', 2, nil
	case 'r':
		return '\r', 2, nil
	case 't':
		return '\t', 2, nil
	case 'u':
		n, err := strconv.ParseUint(s[2:min(len(s), 6)], 16, 32)
		if err != nil || len(s) < 6 || !utf8.ValidRune(rune(n)) {
			return 0, 0, fmt.Errorf("%q is no escape", clip(s))
		}
		return rune(n), 6, nil
	}
	if size == 0 || forbidden(r) {
		return 0, 0, fmt.Errorf("a backslash that escapes nothing")
	}
	return r, 1 + size, nil
}
