package formats

import (
	"math"
	"strings"
	"unicode"

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
// 1..5 are taken to the nearer end.
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
