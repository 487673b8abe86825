package table

import (
	"bytes"
	"strconv"
	"time"

	"leanctx/formats"
)

// lines reads a version as this build writes one, a member a line, at a sixth of what reading it as any JSON costs. It
// takes only what a table needs, and leaves whatever is unusual to the other way: aliases, earlier periods, escapes, a
// member that is missing or in another place. That one stands twice was not looked for: a snapshot that this program did
// not write has no good checksum.
type lines struct {
	fact  formats.Fact
	words map[string]string

	until, recordedUntil, retrieved, archived time.Time
	lastText                                  [40]byte
	lastTime                                  time.Time
	lastSize                                  int
}

// members are those that a table needs, in their order in a file, as lines begin.
var members = [...]string{
	`"id": `, `"category": `, `"key": `, `"confidence": `, `"last_confirmed": `, `"retrieval_count": `, `"last_retrieved": `,
	`"valid_from": `, `"valid_until": `, `"confirmation_count": `, `"feedback_up": `, `"feedback_down": `, `"archetype": `,
	`"recorded_from": `, `"recorded_until": `, `"aliases": `, `"pinned": `, `"archived_at": `,
}

const earlier = `"earlier_periods": `

// read gives the version, good until the next is read.
func (l *lines) read(text []byte) (f *formats.Fact, ok bool) {
	const indent = "      "
	l.fact = formats.Fact{}
	next := 0
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			end = len(text)
		}
		line := text[:end]
		text = text[min(end+1, len(text)):]
		line, ok = bytes.CutPrefix(line, []byte(indent))
		if !ok || len(line) == 0 || line[0] == ' ' || line[0] == ']' { // braces, and what stands inside a member
			continue
		}
		if bytes.HasPrefix(line, []byte(earlier)) {
			return nil, false
		}
		if next == len(members) || !bytes.HasPrefix(line, []byte(members[next])) {
			continue
		}
		if !l.member(next, bytes.TrimSuffix(line[len(members[next]):], []byte(","))) {
			return nil, false
		}
		next++
	}
	return &l.fact, next == len(members)
}

// member takes the value of one.
func (l *lines) member(which int, value []byte) (ok bool) {
	f := &l.fact
	switch members[which] {
	case `"id": `:
		f.ID, ok = plainText(value)
	case `"category": `:
		f.Category, ok = l.word(value)
	case `"key": `:
		f.Key, ok = plainText(value)
	case `"archetype": `:
		f.Archetype, ok = l.word(value)
	case `"confidence": `:
		var err error
		f.Confidence, err = strconv.ParseFloat(string(value), 64)
		ok = err == nil
	case `"retrieval_count": `:
		ok = number(value, &f.RetrievalCount)
	case `"confirmation_count": `:
		ok = number(value, &f.ConfirmationCount)
	case `"feedback_up": `:
		ok = number(value, &f.FeedbackUp)
	case `"feedback_down": `:
		ok = number(value, &f.FeedbackDown)
	case `"last_confirmed": `:
		ok = l.time(value, &f.LastConfirmed)
	case `"valid_from": `:
		ok = l.time(value, &f.ValidFrom)
	case `"recorded_from": `:
		ok = l.time(value, &f.RecordedFrom)
	case `"last_retrieved": `:
		f.LastRetrieved, ok = l.maybe(value, &l.retrieved)
	case `"valid_until": `:
		f.ValidUntil, ok = l.maybe(value, &l.until)
	case `"recorded_until": `:
		f.RecordedUntil, ok = l.maybe(value, &l.recordedUntil)
	case `"archived_at": `:
		f.ArchivedAt, ok = l.maybe(value, &l.archived)
	case `"aliases": `:
		ok = string(value) == "[]"
	case `"pinned": `:
		f.Pinned = string(value) == "true"
		ok = f.Pinned || string(value) == "false"
	}
	return ok
}

func quoted(value []byte) ([]byte, bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

func plainText(value []byte) (string, bool) {
	text, ok := quoted(value)
	return string(text), ok
}

// word is a text of which there are few different ones.
func (l *lines) word(value []byte) (string, bool) {
	text, ok := quoted(value)
	if !ok {
		return "", false
	}
	if s, known := l.words[string(text)]; known {
		return s, true
	}
	s := string(text)
	if l.words == nil {
		l.words = map[string]string{}
	}
	if len(l.words) < 4096 {
		l.words[s] = s
	}
	return s, true
}

func number(value []byte, into *int) bool {
	n, err := strconv.Atoi(string(value))
	*into = n
	return err == nil
}

// time reads a time. Most of a fact's are the same.
func (l *lines) time(value []byte, into *time.Time) bool {
	text, ok := quoted(value)
	if !ok {
		return false
	}
	if len(text) == l.lastSize && l.lastSize > 0 && string(text) == string(l.lastText[:l.lastSize]) {
		*into = l.lastTime
		return true
	}
	var t time.Time
	if err := t.UnmarshalText(text); err != nil {
		return false
	}
	*into = t.UTC()
	if y := into.Year(); y < 1 || y > 9999 {
		return false
	}
	if l.lastSize = 0; len(text) <= len(l.lastText) {
		l.lastSize, l.lastTime = copy(l.lastText[:], text), *into
	}
	return true
}

func (l *lines) maybe(value []byte, into *time.Time) (*time.Time, bool) {
	if string(value) == "null" {
		return nil, true
	}
	return into, l.time(value, into)
}
