package agents

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// message is one message, as it is stored.
type message struct {
	Number   uint64    `json:"number"`
	From     string    `json:"from_agent"`
	To       string    `json:"to_agent,omitempty"` // an id
	ToType   string    `json:"to_type,omitempty"`  // any one of this type; both empty: everybody
	Expires  time.Time `json:"expires_at,omitzero"`
	Category string    `json:"category"`
	Private  bool      `json:"private,omitempty"`
	Text     string    `json:"message"`
	At       time.Time `json:"timestamp"`
}

func (m *message) expired(now time.Time) bool { return !m.Expires.IsZero() && !now.Before(m.Expires) }

func (m *message) toAll() bool { return m.To == "" && m.ToType == "" }

// ref is the permanent name of the message: message:17.
func (m *message) ref() string { return "message:" + strconv.FormatUint(m.Number, 10) }

// finding reports whether consolidation may make a fact of the message.
func (m *message) finding() bool {
	return !m.Private && slices.Contains([]string{"finding", "decision", "insight", "blocker"}, m.Category)
}

const (
	holdFor     = 7 * 24 * time.Hour // how long a broadcast waits for an inactive agent
	newsFor     = 24 * time.Hour     // a new agent sees the broadcasts of this time
	newsMost    = 100                // and at most this many of them
	maxFindings = 500                // the newest findings that are always kept
	tidyFrom    = 512                // tidy never runs below this many messages
	maxPage     = 256 << 10          // bytes of text in one answer; a single message may have more
)

// messages holds the messages of one project that somebody may not have read yet, in one list
// by number. A broadcast stays until every agent's cursor has passed it. A direct message stays
// until it is read, one to a type until one agent of the type has read it. Messages are never
// changed in place, so a clone stays as it was.
type messages struct {
	list     []*message
	findings []*message // for consolidation, kept also after everybody has read them
	last     uint64     // the last message's number
	tidyAt   int        // number of broadcasts at which tidy runs next
}

// waiting counts the messages that have not expired.
func (p *messages) waiting(now time.Time) (n int) {
	for _, m := range p.list {
		if !m.expired(now) {
			n++
		}
	}
	return n
}

// position is how far an agent has read, as it is stored.
type position struct {
	Cursor uint64    `json:"cursor,omitempty"`       // broadcasts up to this number were read
	Ahead  []uint64  `json:"ahead,omitempty"`        // sorted; read although beyond the cursor: in the store that the agent was copied from
	Missed time.Time `json:"missed_before,omitzero"` // older broadcasts may have been dropped unread
}

func (at position) read(number uint64) bool {
	_, ahead := slices.BinarySearch(at.Ahead, number)
	return ahead || number <= at.Cursor
}

// reader is an agent and its position.
type reader struct {
	id, kind string
	at       position
}

// gets reports whether a message is for the reader, who has not read it.
func (r reader) gets(m *message) bool {
	switch {
	case m.From == r.id:
		return false
	case m.toAll():
		return !r.at.read(m.Number)
	}
	return m.To == r.id || m.To == "" && m.ToType == r.kind
}

// lastBroadcast is the number of the last message to everybody, 0 if there is none.
func (p *messages) lastBroadcast() uint64 {
	for _, m := range slices.Backward(p.list) {
		if m.toAll() {
			return m.Number
		}
	}
	return 0
}

// post adds a new message and returns the position of its author. If the author has read
// everything, its cursor moves past the message. Otherwise the messages of an agent that only
// writes could never be dropped.
func (p *messages) post(m *message, author position) position {
	if m.Number <= p.last {
		return author
	}
	if m.toAll() && p.lastBroadcast() <= author.Cursor {
		author.Cursor, author.Ahead = m.Number, nil
	}
	p.last = m.Number
	if m.finding() {
		p.findings = append(p.findings, m)
		if n := len(p.findings); n >= 2*maxFindings {
			p.findings = slices.Clone(p.findings[n-maxFindings:])
		}
	}
	p.list = append(p.list, m)
	return author
}

// newsCursor is the cursor of an agent that registers at an instant: it sees the
// broadcasts of the last day, at most a hundred.
func (p *messages) newsCursor(at time.Time) uint64 {
	from, cursor, n := at.Add(-newsFor), p.last, 0
	for _, m := range slices.Backward(p.list) {
		if !m.toAll() {
			continue
		}
		if n++; n > newsMost || !m.At.After(from) {
			break
		}
		cursor = m.Number - 1
	}
	return cursor
}

// positionAt is the position at now of an agent that was last active at `last`. After an
// absence longer than broadcasts wait, the agent continues like a new one, and Missed says
// before when broadcasts may be gone.
func (p *messages) positionAt(at position, last, now time.Time) position {
	if now.Sub(last) > holdFor {
		if floor := p.newsCursor(now); floor > at.Cursor {
			return position{floor, nil, now.Add(-newsFor)}
		}
	}
	return at
}

// tidy drops, once the list has doubled, the broadcasts that no new agent would see and that
// every agent who may return has read (seen).
func (p *messages) tidy(seen uint64, now time.Time) {
	seen = min(seen, p.newsCursor(now))
	p.list = slices.DeleteFunc(slices.Clone(p.list), func(m *message) bool { return m.toAll() && m.Number <= seen })
	p.tidyAt = max(tidyFrom, 2*len(p.list))
}

// unread lists the reader's unread messages in the order of posting.
func (p *messages) unread(r reader, now time.Time) (out []*message) {
	for _, m := range p.list {
		if r.gets(m) && !m.expired(now) {
			out = append(out, m)
		}
	}
	return out
}

// page is the part of the unread messages that one answer gives.
func page(unread []*message, limit int) []*message {
	bytes := 0
	for i, m := range unread[:min(len(unread), limit)] {
		if bytes += len(m.Text); bytes > maxPage && i > 0 {
			return unread[:i]
		}
	}
	return unread[:min(len(unread), limit)]
}

// reading is what an agent has been given, as the journal keeps it. It is not given again.
type reading struct {
	Upto     uint64   `json:"upto,omitempty"`  // broadcasts up to this number
	Ahead    []uint64 `json:"ahead,omitempty"` // all that are read beyond it
	Direct   []uint64 `json:"direct,omitempty"`
	Typed    []uint64 `json:"typed,omitempty"`
	Handoffs []string `json:"handoffs,omitempty"`
}

// reading is the record of giving the first n unread messages. It also removes the reader's
// expired direct messages.
func (p *messages) reading(r reader, unread []*message, n int, now time.Time) *reading {
	x := &reading{Upto: p.last}
	for i, m := range unread {
		switch {
		case i >= n && m.toAll():
			x.Upto = min(x.Upto, m.Number-1)
		case i >= n || m.toAll():
		case m.To != "":
			x.Direct = append(x.Direct, m.Number)
		default:
			x.Typed = append(x.Typed, m.Number)
		}
	}
	for _, m := range p.list {
		if m.To == r.id && m.expired(now) {
			x.Direct = append(x.Direct, m.Number)
		}
	}
	for _, n := range r.at.Ahead {
		if n > x.Upto {
			x.Ahead = append(x.Ahead, n)
		}
	}
	return x
}

// read removes the messages that a reader was given, and returns its new position.
func (p *messages) read(r reader, x *reading) position {
	if gone := slices.Concat(x.Direct, x.Typed); len(gone) > 0 {
		slices.Sort(gone)
		p.list = slices.DeleteFunc(slices.Clone(p.list), func(m *message) bool {
			_, read := slices.BinarySearch(gone, m.Number)
			return read && (m.To == r.id || m.To == "" && m.ToType == r.kind)
		})
	}
	return position{Cursor: max(r.at.Cursor, x.Upto), Ahead: x.Ahead}
}

// post adds a new message to the project.
func (p *project) post(m *message) {
	author := agent{}
	if a := p.agents[m.From]; a != nil {
		author = *a
	}
	author.position = p.messages.post(m, author.position)
	if author.ID != "" {
		p.agents[author.ID] = &author
	}
	if len(p.messages.list) >= p.messages.tidyAt {
		p.messages.tidy(p.seen(m), m.At)
	}
}

// seen is the last broadcast that every agent has read when m is posted. Agents that
// finished or were away longer than broadcasts wait do not count. One clock alone cannot
// declare an agent away: another agent must have been active that much later.
func (p *project) seen(m *message) uint64 {
	seen, latest := uint64(math.MaxUint64), time.Time{}
	for _, a := range p.agents {
		if a.ID != m.From && a.Active.After(latest) && !a.Active.After(m.At) {
			latest = a.Active
		}
	}
	for _, a := range p.agents {
		if a.Status != statusFinished && latest.Sub(a.Active) <= holdFor {
			seen = min(seen, a.Cursor)
		}
	}
	return seen
}

// read removes what one agent was given.
func (p *project) read(id string, r *reading) {
	old := p.agents[id]
	if old == nil {
		return
	}
	a := *old
	a.position = p.messages.read(reader{id, a.Type, a.position}, r)
	p.agents[id] = &a
	for _, h := range r.Handoffs {
		delete(p.handoffs, h)
	}
}

// reader is an agent and its position at now.
func (p *project) reader(a *agent, now time.Time) reader {
	return reader{a.ID, a.Type, p.messages.positionAt(a.position, a.Active, now)}
}

// unread counts the agent's unread messages.
func (p *project) unread(a *agent, now time.Time) int {
	return len(p.messages.unread(p.reader(a, now), now))
}

// Message is a message in an answer.
type Message struct {
	Number   uint64    `json:"number"`
	From     string    `json:"from_agent"`
	To       string    `json:"to_agent,omitempty"` // an id or a type; empty: everybody
	Category string    `json:"category"`
	Private  bool      `json:"private,omitempty"`
	Message  string    `json:"message"`
	At       time.Time `json:"timestamp"`
	any      bool
}

// shownMessages converts a page for an answer.
func shownMessages(page []*message) []Message {
	out := make([]Message, len(page))
	for i, m := range page {
		out[i] = Message{
			Number: m.Number, From: m.From, To: cmp.Or(m.To, m.ToType), Category: m.Category, Private: m.Private,
			Message: m.Text, At: m.At, any: m.ToType != "",
		}
	}
	return out
}

// line is the message in full.
func (m Message) line(now time.Time) string {
	marks := []string{prose.Ago(now, m.At)}
	switch {
	case m.Private:
		marks = append(marks, "private")
	case m.any:
		marks = append(marks, "to any "+m.To)
	case m.To != "":
		marks = append(marks, "to you")
	}
	return fmt.Sprintf("  [%s] from %s (%s): %s", m.Category, m.From, strings.Join(marks, ", "), prose.Block(m.Message))
}
