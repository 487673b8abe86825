package scratchpad

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
	expires int64 // in nanoseconds of Unix time; 0: never
	author  uint32
	urgency uint8
	m       *Message
	pages   *pages // instead of m
	page    uint32 // in pages
}

func (x *slip) expired(now int64) bool { return x.expires != 0 && x.expires <= now }

// message is the whole message.
func (x *slip) message() *Message {
	if x.m != nil {
		return x.m
	}
	m := &Message{Number: x.number}
	line, err := x.text()
	if err == nil {
		err = json.Unmarshal(line, m)
	}
	if err != nil {
		m.Text = "[unreadable: " + err.Error() + "]" // nobody sees it: see Source.Err; checksums were right else
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

func (m *Message) head() head { return head{m.Number, m.From, m.To, m.ToType, m.Priority, m.Expires} }

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
