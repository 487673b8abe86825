package agents

import (
	"cmp"
	"fmt"
	"maps"
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
	maxNews     = 100                // and at most this many of them
	maxFindings = 500                // the newest findings that are always kept
	tidyFrom    = 512                // tidy never runs below this many messages
)

// recipient is who gets a message: one agent, or any one agent of a type. The zero value is
// everybody.
type recipient struct {
	name string // an id or a type
	any  bool   // a type
}

func (m *message) recipient() recipient {
	return recipient{cmp.Or(m.To, m.ToType), m.To == "" && m.ToType != ""}
}

// messages holds the messages of one project that somebody may not have read yet, in a list by
// number for each recipient. A broadcast stays until every agent's cursor has passed it. A direct
// message stays until it is read, one to a type until one agent of the type has read it. Messages
// and the entries of a list are never changed in place, so a shallow clone stays as it was.
type messages struct {
	to       map[recipient][]*message
	findings []*message // for consolidation, kept also after everybody has read them
	last     uint64     // the last message's number
	tidyAt   int        // number of broadcasts at which tidy runs next
	bytes    int        // of the texts of the broadcasts
	bytesAt  int        // at so many tidy runs next
}

// newMessages holds what a snapshot has.
func newMessages(list, findings []*message, last uint64) *messages {
	p := &messages{to: map[recipient][]*message{}, findings: findings, last: last}
	for _, m := range list {
		p.to[m.recipient()] = append(p.to[m.recipient()], m)
	}
	p.tidied()
	return p
}

func (p *messages) clone() *messages {
	c := *p
	c.to = maps.Clone(p.to)
	return &c
}

// tidied says when tidy runs next.
func (p *messages) tidied() {
	p.bytes = textBytes(p.broadcasts())
	p.tidyAt, p.bytesAt = max(tidyFrom, 2*len(p.broadcasts())), p.bytes+tidyBytes
}

// broadcasts lists the messages to everybody.
func (p *messages) broadcasts() []*message { return p.to[recipient{}] }

// all lists the messages in the order of posting.
func (p *messages) all() []*message {
	return slices.SortedFunc(func(yield func(*message) bool) {
		for _, list := range p.to {
			for _, m := range list {
				if !yield(m) {
					return
				}
			}
		}
	}, byNumber)
}

func byNumber(a, b *message) int { return cmp.Compare(a.Number, b.Number) }

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

func (r reader) own() recipient   { return recipient{name: r.id} }
func (r reader) typed() recipient { return recipient{r.kind, true} }

// post adds a new message and returns the position of its author. If the author has read
// everything, its cursor moves past the message. Otherwise the messages of an agent that only
// writes could never be dropped.
func (p *messages) post(m *message, author position) position {
	if m.Number <= p.last {
		return author
	}
	if all := p.broadcasts(); m.toAll() && (len(all) == 0 || all[len(all)-1].Number <= author.Cursor) {
		author.Cursor, author.Ahead = m.Number, nil
	}
	p.last = m.Number
	if m.finding() {
		p.findings = append(p.findings, m)
		if len(p.findings) >= 2*maxFindings || textBytes(p.findings) > maxFindingBytes {
			p.findings = newest(p.findings)
		}
	}
	p.to[m.recipient()] = append(p.to[m.recipient()], m)
	if m.toAll() {
		p.bytes += len(m.Text)
	}
	return author
}

// newsCursor is the cursor of an agent that registers at an instant: it sees the
// broadcasts of the last day, at most a hundred.
func (p *messages) newsCursor(at time.Time) uint64 {
	from, cursor, n := at.Add(-newsFor), p.last, 0
	for _, m := range slices.Backward(p.broadcasts()) {
		if n++; n > maxNews || !m.At.After(from) {
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
	first, _ := slices.BinarySearchFunc(p.broadcasts(), seen+1, numbered)
	p.to[recipient{}] = slices.Clone(p.broadcasts()[first:])
	p.tidied()
}

func numbered(m *message, number uint64) int { return cmp.Compare(m.Number, number) }

// unread lists the reader's unread messages in the order of posting.
func (p *messages) unread(r reader, now time.Time) (out []*message) {
	first, _ := slices.BinarySearchFunc(p.broadcasts(), r.at.Cursor+1, numbered)
	for _, list := range [][]*message{p.broadcasts()[first:], p.to[r.own()], p.to[r.typed()]} {
		for _, m := range list {
			if m.From != r.id && !m.expired(now) && !(m.toAll() && r.at.read(m.Number)) {
				out = append(out, m)
			}
		}
	}
	slices.SortFunc(out, byNumber)
	return out
}

// page is the part of the unread messages that one answer gives.
func page(unread []*message, limit int) []*message {
	bytes := 0
	for i, m := range unread[:min(len(unread), limit)] {
		if bytes += len(prose.Block(m.Text)) + 100; bytes > prose.MaxGiven && i > 0 {
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
	for _, m := range p.to[r.own()] {
		if m.expired(now) {
			x.Direct = append(x.Direct, m.Number)
		}
	}
	for _, m := range p.to[r.typed()] {
		if m.expired(now) {
			x.Typed = append(x.Typed, m.Number)
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
	p.remove(r.own(), x.Direct)
	p.remove(r.typed(), x.Typed)
	return position{Cursor: max(r.at.Cursor, x.Upto), Ahead: x.Ahead}.within(p.last)
}

// remove removes messages of a recipient by their numbers.
func (p *messages) remove(to recipient, numbers []uint64) {
	if len(numbers) == 0 {
		return
	}
	numbers = slices.Sorted(slices.Values(numbers))
	left := slices.DeleteFunc(slices.Clone(p.to[to]), func(m *message) bool {
		_, read := slices.BinarySearch(numbers, m.Number)
		return read
	})
	if p.to[to] = left; len(left) == 0 {
		delete(p.to, to)
	}
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
	if len(p.messages.broadcasts()) >= p.messages.tidyAt || p.messages.bytes >= p.messages.bytesAt {
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
