package session

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"leanctx/formats/transcript"
	"leanctx/internal/prose"
)

const (
	maxText   = 64 << 10 // bytes kept of what user and agent said
	maxGiven  = 2 << 10  // of what a tool gave: its first and its last lines
	maxInput  = 4 << 10  // of what a tool was asked
	margin    = 16 << 10 // bytes beside a cut that are redacted too: a secret may reach over it
	maxPath   = 1000
	maxRecord = 20 // files that a turn names
	maxTodos  = 50
)

// turnID is the id of a turn: 8 hex digits of the source's own.
func turnID(x *transcript.Turn) string {
	role := x.Role
	if role == transcript.Program {
		role = transcript.User // the same message, whoever gave it
	}
	h := sha256.Sum256([]byte(role[:1] + x.ID))
	return hex.EncodeToString(h[:4])
}

// turn is a turn as it is kept: redacted, and cut.
func (s *Store) turn(x *transcript.Turn, path string) Turn {
	t := Turn{ID: turnID(x), At: x.At, Role: x.Role, LeftOut: x.LeftOut, OK: x.OK}
	if x.Role != transcript.Tool {
		var cut int
		t.Text, cut = s.head(x.Text, maxText)
		t.LeftOut += cut
	} else {
		t.Tool, _ = s.head(x.Tool, 400)
		t.Tool = prose.Clip(t.Tool, 100)
		t.Input, _ = s.head(x.Input, maxInput)
		var cut int
		t.Text, cut = s.ends(x.Text)
		t.LeftOut += cut
		t.Edits, t.Todos = x.Edits, s.todos(x.Todos)
		for _, f := range x.Files[:min(len(x.Files), maxRecord)] {
			t.Files = append(t.Files, s.file(f))
		}
	}
	if t.LeftOut > 0 && path != "" {
		t.From = &From{File: s.clean(path), At: x.Offset}
	}
	return t
}

// file is a path as it is kept: from the project's root, if it is in the project.
func (s *Store) file(path string) string {
	if s.options.Rel != nil {
		if rel, ok := s.options.Rel(path); ok {
			path = rel
		}
	}
	path, _ = s.head(path, maxPath)
	return path
}

// todos is a change of a list, as it is kept.
func (s *Store) todos(t *transcript.Todos) *transcript.Todos {
	if t == nil {
		return nil
	}
	out := transcript.Todos{All: t.All}
	for _, x := range t.Items[:min(len(t.Items), maxTodos)] {
		// What is cut first may leave a part of a secret.
		x.Text, _ = s.head(x.Text, 4*maxPoint)
		x.Text = prose.Clip(x.Text, maxPoint)
		out.Items = append(out.Items, x)
	}
	return &out
}

// cleanCalls are calls that wait, without secrets.
func (s *Store) cleanCalls(calls []transcript.Call) []transcript.Call {
	calls = slices.Clone(calls)
	for i := range calls {
		c := &calls[i]
		c.Input, _ = s.head(c.Input, maxInput)
		c.Files = slices.Clone(c.Files)
		for j := range c.Files {
			c.Files[j] = s.clean(c.Files[j])
		}
		c.Todos = s.todos(c.Todos)
	}
	return calls
}

var (
	private = regexp.MustCompile(`(?is)<private>.*?(?:</private>|\z)`)
	// escapes matches the sequences by which a terminal is controlled.
	escapes = regexp.MustCompile(`\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])`)
)

// clean is a text without what is private, what nobody sees, and secrets.
func (s *Store) clean(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.Contains(text, "\x1b") {
		text = escapes.ReplaceAllString(text, "")
	}
	text = visible(text)
	text = withoutPrivate(text)
	if s.options.Clean != nil {
		text = s.options.Clean(text)
	}
	return text
}

// withoutPrivate is a text without what stands between <private> and </private>, or its end.
func withoutPrivate(text string) string {
	const tag = "<private>"
	for at := strings.IndexByte(text, '<'); at >= 0 && at+len(tag) <= len(text); {
		if strings.EqualFold(text[at:at+len(tag)], tag) {
			return text[:at] + private.ReplaceAllString(text[at:], "")
		}
		next := strings.IndexByte(text[at+1:], '<')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return text
}

// visible is a text without characters that are not seen, but for line breaks and tabs. A secret with one in its
// middle would not be known.
func visible(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return prose.IsHidden(r) && r != '\n' && r != '\t' }) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		if r != '\n' && r != '\t' && r != '<' && prose.Escaped(text, i) {
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// head is the beginning of a text, cleaned, and how many bytes of the text are left out.
func (s *Store) head(text string, most int) (string, int) {
	text = withoutPrivate(text)
	all := len(text)
	if len(text) > most+margin {
		text = whole(text[:most+margin])
	}
	text = strings.TrimSpace(s.clean(text))
	if len(text) <= most {
		return text, max(0, all-most-margin)
	}
	return whole(text[:most]), all - most
}

// ends are the first and the last lines of a text, cleaned.
func (s *Store) ends(text string) (string, int) {
	text = withoutPrivate(text)
	all := len(text)
	if all <= 2*margin {
		text = strings.TrimSpace(s.clean(text))
		if len(text) <= maxGiven {
			return text, 0
		}
		return firstLines(text) + "\n…\n" + lastLines(text), all - maxGiven
	}
	before, after := whole(text[:margin]), text[len(text)-margin:]
	for len(after) > 0 && !utf8.RuneStart(after[0]) {
		after = after[1:]
	}
	return firstLines(s.clean(before)) + "\n…\n" + lastLines(s.clean(after)), all - maxGiven
}

// firstLines is the beginning of a text, to the end of a line where one is near.
func firstLines(text string) string {
	text = whole(text[:min(len(text), maxGiven/2)])
	if i := strings.LastIndexByte(text, '\n'); i > len(text)/2 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

// lastLines is the end of a text, from the beginning of a line where one is near.
func lastLines(text string) string {
	text = text[max(0, len(text)-maxGiven/2):]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	if i := strings.IndexByte(text, '\n'); i >= 0 && i < len(text)/2 {
		text = text[i:]
	}
	return strings.TrimSpace(text)
}

// whole is a text without half a character at its end.
func whole(text string) string {
	for i := 0; i < utf8.UTFMax && len(text) > 0; i++ {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size > 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}
