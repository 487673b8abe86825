package agents

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// slip is a message in a list of what is to be read, with what it takes to see
// whether somebody is to read it: lists of many thousands are looked through
// in one go. Of a message that came from the file the rest is decoded only
// when it is asked for, for a command that reads fifty should not have to decode
// a hundred thousand.
type slip struct {
	number  uint64
	expires int64  // in nanoseconds of Unix time; 0: never
	author  uint32 // 0: not an agent
	urgency uint8
	m       *message
	pages   *pages // instead of m
	page    uint32 // in pages
}

func (x *slip) expired(now int64) bool { return x.expires != 0 && x.expires <= now }

// message is the whole message.
func (x *slip) message() *message {
	if x.m != nil {
		return x.m
	}
	m := &message{Number: x.number}
	line, err := x.text()
	if err == nil {
		err = json.Unmarshal(line, m)
	}
	if err != nil {
		m.Text = "[unreadable: " + err.Error() + "]" // nobody sees it: see state.check; checksums were right else
	}
	return m
}

// text is the message as JSON, as it stands in the file if it comes from there.
func (x *slip) text() ([]byte, error) {
	if x.m != nil {
		return json.Marshal(x.m)
	}
	return x.pages.line(x.page)
}

// head is what a slip must know of a message.
type head struct {
	number                     uint64
	from, to, toType, priority string
	expires                    time.Time
}

func (m *message) head() head { return head{m.Number, m.From, m.To, m.ToType, m.Priority, m.Expires} }

// parseHead reads the first members of a message, in the order in which they
// are written. ok is false when they are not quite like that.
func parseHead(line []byte) (h head, ok bool) {
	s := members{rest: bytes.TrimPrefix(line, []byte("{")), ok: len(line) > 0 && line[0] == '{'}
	h.number = s.number("number")
	h.from, h.to, h.toType, h.priority = s.text("from_agent"), s.text("to_agent"), s.text("to_type"), s.text("priority")
	if at := s.text("expires_at"); at != "" {
		t, err := time.Parse(time.RFC3339Nano, at)
		h.expires, s.ok = t, s.ok && err == nil
	}
	return h, s.ok && h.number > 0 && bytes.HasPrefix(s.rest, []byte(`"category":`))
}

// members reads members of an object one after the other.
type members struct {
	rest []byte
	ok   bool
}

func (s *members) number(name string) uint64 {
	digits, rest, found := bytes.Cut(s.rest, []byte(","))
	digits, named := bytes.CutPrefix(digits, []byte(`"`+name+`":`))
	n, err := strconv.ParseUint(string(digits), 10, 64)
	s.ok = s.ok && found && named && err == nil
	s.rest = rest
	return n
}

// text reads a string without escapes; "" if the next member is another one.
func (s *members) text(name string) string {
	rest, found := bytes.CutPrefix(s.rest, []byte(`"`+name+`":"`))
	if !found {
		return ""
	}
	value, rest, found := bytes.Cut(rest, []byte(`",`))
	s.ok = s.ok && found && bytes.IndexByte(value, '\\') < 0
	s.rest = rest
	return string(value)
}

// Where a scratchpad stands in the file, as Encode writes it. No string can
// hold these: line feeds in it are escaped.
const (
	boardBegin = "\n      \"scratchpad\": ["
	boardEnd   = "\n      ]"
)

// lift takes the scratchpads out of a file, and leaves empty lists.
func lift(data []byte) (rest []byte, boards [][]byte) {
	for {
		i := bytes.Index(data, []byte(boardBegin))
		if i < 0 {
			return append(rest, data...), boards
		}
		i += len(boardBegin)
		rest, data = append(rest, data[:i]...), data[i:]
		n := 0
		if !bytes.HasPrefix(data, []byte("]")) {
			n = max(bytes.Index(data, []byte(boardEnd)), 0)
		}
		boards, data = append(boards, data[:n]), data[n:]
	}
}

// fill files the messages of a scratchpad, a line each.
func (p *project) fill(board []byte) error {
	pg := new(pages)
	for line := range bytes.SplitSeq(board, []byte("\n")) {
		line = bytes.TrimSuffix(bytes.TrimSpace(line), []byte(","))
		if len(line) == 0 {
			continue
		}
		if h, ok := parseHead(line); ok {
			x := p.slip(h)
			x.pages, x.page = pg, uint32(len(pg.lines))
			pg.lines = append(pg.lines, line)
			p.file(h, x)
			continue
		}
		m := new(message)
		if err := json.Unmarshal(line, m); err != nil {
			return err
		}
		p.keep(m)
	}
	return nil
}

// keep files a message under those who are to read it.
func (p *project) keep(m *message) {
	h := m.head()
	x := p.slip(h)
	x.m = m
	p.file(h, x)
}

// slip is one without its message.
func (p *project) slip(h head) slip {
	x := slip{number: h.number, author: p.authors[h.from], urgency: urgency(h.priority)}
	if !h.expires.IsZero() {
		x.expires = h.expires.UnixNano()
	}
	return x
}

// file puts a slip where those look who are to read its message.
func (p *project) file(h head, x slip) {
	switch {
	case h.to != "":
		p.direct[h.to] = append(p.direct[h.to], x)
	case h.toType != "":
		p.typed[h.toType] = append(p.typed[h.toType], x)
	default:
		p.broadcasts = append(p.broadcasts, x)
	}
}
