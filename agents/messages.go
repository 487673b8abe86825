package agents

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sort"
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
	Priority string    `json:"priority,omitempty"` // empty: normal
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

// The priorities. Critical and high messages are read first; a low one is only labelled.
const (
	priorityLow      = "low"
	priorityNormal   = "normal" // stored as nothing
	priorityHigh     = "high"
	priorityCritical = "critical"
)

func (m *message) urgency() int {
	switch m.Priority {
	case priorityHigh:
		return 1
	case priorityCritical:
		return 2
	}
	return 0
}

const (
	holdFor     = 7 * 24 * time.Hour // how long a broadcast waits for an inactive agent
	newsFor     = 24 * time.Hour     // a new agent sees the broadcasts of this time
	newsMost    = 100                // and at most this many of them
	maxFindings = 500                // the newest findings that are always kept
	tidyFrom    = 512                // tidy never runs below this many broadcasts
	maxPage     = 256 << 10          // bytes of text in one answer; a single message may have more
)

// messages holds the messages of one project. Broadcasts are one list in which each reader
// has a cursor. Direct messages wait in a list of the addressee, messages to a type in a
// list of the type. So a post costs the same with two readers or a thousand. Values in the
// lists and maps are never changed in place, so a clone stays as it was.
type messages struct {
	broadcasts []*message // by number
	direct     map[string][]*message
	typed      map[string][]*message
	findings   []*message // for consolidation, kept also after everybody has read them
	last       uint64     // the last message's number
	tidyAt     int        // number of broadcasts at which tidy runs next
}

func newMessageLists() *messages {
	return &messages{direct: map[string][]*message{}, typed: map[string][]*message{}, tidyAt: tidyFrom}
}

func (p *messages) clone() *messages {
	q := *p
	q.direct, q.typed = maps.Clone(p.direct), maps.Clone(p.typed)
	return &q
}

// put adds a message to the list of its readers.
func (p *messages) put(m *message) {
	switch {
	case m.To != "":
		p.direct[m.To] = append(p.direct[m.To], m)
	case m.ToType != "":
		p.typed[m.ToType] = append(p.typed[m.ToType], m)
	default:
		p.broadcasts = append(p.broadcasts, m)
	}
}

// after is the index of the first broadcast with a larger number.
func (p *messages) after(number uint64) int {
	return sort.Search(len(p.broadcasts), func(i int) bool { return p.broadcasts[i].Number > number })
}

// all yields every message, by number.
func (p *messages) all() iter.Seq[*message] {
	list := slices.Clone(p.broadcasts)
	for _, lists := range []map[string][]*message{p.direct, p.typed} {
		for _, l := range lists {
			list = append(list, l...)
		}
	}
	slices.SortFunc(list, func(a, b *message) int { return cmp.Compare(a.Number, b.Number) })
	return slices.Values(list)
}

// waiting counts the messages that somebody may not have read yet.
func (p *messages) waiting(now time.Time) (n int) {
	for m := range p.all() {
		if !m.expired(now) {
			n++
		}
	}
	return n
}

// position is how far an agent has read, as it is stored.
type position struct {
	Cursor uint64    `json:"cursor,omitempty"`       // broadcasts up to this number were read
	Ahead  []uint64  `json:"ahead,omitempty"`        // sorted; read although beyond the cursor, because urgent ones are read first
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

// post adds a new message and returns the position of its author. The author's cursor
// moves past it, because an agent that only writes would otherwise keep all its messages
// from being dropped.
func (p *messages) post(m *message, author position) position {
	if m.Number <= p.last {
		return author
	}
	p.last = m.Number
	if m.finding() {
		p.findings = append(p.findings, m)
		if n := len(p.findings); n >= 2*maxFindings {
			p.findings = slices.Clone(p.findings[n-maxFindings:])
		}
	}
	if m.toAll() && p.after(author.Cursor) == len(p.broadcasts) {
		author.Cursor, author.Ahead = m.Number, nil
	}
	p.put(m)
	return author
}

// newsCursor is the cursor of an agent that registers at an instant: it sees the
// broadcasts of the last day, at most a hundred.
func (p *messages) newsCursor(at time.Time) uint64 {
	from := at.Add(-newsFor)
	i := sort.Search(len(p.broadcasts), func(i int) bool { return p.broadcasts[i].At.After(from) })
	if i = max(i, len(p.broadcasts)-newsMost); i < len(p.broadcasts) {
		return p.broadcasts[i].Number - 1
	}
	return p.last
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

// tidy drops the oldest broadcasts once the list has doubled. It drops those that no new agent
// would see and that every agent who may return has read (seen). It also drops the expired ones
// right after them.
func (p *messages) tidy(seen uint64, now time.Time) {
	n := p.after(min(seen, p.newsCursor(now)))
	for n < len(p.broadcasts) && p.broadcasts[n].expired(now) {
		n++
	}
	p.broadcasts = slices.Clone(p.broadcasts[n:])
	p.tidyAt = max(tidyFrom, 2*len(p.broadcasts))
}

// unread yields the agent's unread messages with the index of their list: broadcasts, its
// own, its type's. Each list is sorted by number.
func (p *messages) unread(r reader, now time.Time) iter.Seq2[int, *message] {
	return func(yield func(int, *message) bool) {
		for i, list := range [][]*message{p.broadcasts[p.after(r.at.Cursor):], p.direct[r.id], p.typed[r.kind]} {
			for _, m := range list {
				if m.From != r.id && !m.expired(now) && (i > 0 || !r.at.read(m.Number)) && !yield(i, m) {
					return
				}
			}
		}
	}
}

func (p *messages) countUnread(r reader, now time.Time) (n int) {
	for range p.unread(r, now) {
		n++
	}
	return n
}

// page is what an agent reads next: critical messages, then high ones, then the rest in
// the order of posting. total is the number of unread messages.
func (p *messages) page(r reader, now time.Time, limit int) (page []*message, total int) {
	var found [3][3]int // by list and urgency
	for list, m := range p.unread(r, now) {
		total++
		if n := &found[list][m.urgency()]; *n < limit {
			*n++
			page = append(page, m)
		}
	}
	slices.SortFunc(page, func(x, y *message) int {
		return cmp.Or(cmp.Compare(y.urgency(), x.urgency()), cmp.Compare(x.Number, y.Number))
	})
	page = page[:min(len(page), limit)]
	bytes := 0
	for i, m := range page {
		if bytes += len(m.Text); bytes > maxPage && i > 0 {
			return page[:i], total
		}
	}
	return page, total
}

// reading is what an agent has been given, as the journal keeps it. It is not given again.
type reading struct {
	Upto     uint64   `json:"upto,omitempty"`  // broadcasts up to this number
	Ahead    []uint64 `json:"ahead,omitempty"` // all that are read beyond it
	Direct   []uint64 `json:"direct,omitempty"`
	Typed    []uint64 `json:"typed,omitempty"`
	Handoffs []string `json:"handoffs,omitempty"`
}

// reading is the record of giving a page, which may be empty. It also removes messages
// that nobody will see any more.
func (p *messages) reading(r reader, page []*message, now time.Time) *reading {
	at, x := r.at, &reading{Upto: r.at.Cursor}
	at.Ahead = slices.Clone(at.Ahead)
	for _, m := range page {
		switch {
		case m.To != "":
			x.Direct = append(x.Direct, m.Number)
		case m.ToType != "":
			x.Typed = append(x.Typed, m.Number)
		default:
			at.Ahead = append(at.Ahead, m.Number)
		}
	}
	for _, m := range p.direct[r.id] {
		if m.expired(now) {
			x.Direct = append(x.Direct, m.Number)
		}
	}
	for _, list := range [][]uint64{at.Ahead, x.Direct, x.Typed} {
		slices.Sort(list)
	}
	for _, m := range p.broadcasts[p.after(at.Cursor):] {
		if m.From != r.id && !m.expired(now) && !at.read(m.Number) {
			break
		}
		x.Upto = m.Number
	}
	for _, n := range at.Ahead {
		if n > x.Upto {
			x.Ahead = append(x.Ahead, n)
		}
	}
	return x
}

// read removes the messages that a reader was given, and returns its new position.
func (p *messages) read(r reader, x *reading) position {
	remove(p.direct, r.id, x.Direct)
	remove(p.typed, r.kind, x.Typed)
	return position{Cursor: max(r.at.Cursor, x.Upto), Ahead: x.Ahead}
}

// remove deletes messages from a list. numbers is sorted.
func remove(lists map[string][]*message, name string, numbers []uint64) {
	if len(numbers) == 0 {
		return
	}
	list := slices.DeleteFunc(slices.Clone(lists[name]), func(m *message) bool {
		_, read := slices.BinarySearch(numbers, m.Number)
		return read
	})
	if lists[name] = list; len(list) == 0 {
		delete(lists, name)
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
	if len(p.messages.broadcasts) >= p.messages.tidyAt {
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

// Message is a message in an answer.
type Message struct {
	Number   uint64    `json:"number"`
	From     string    `json:"from_agent"`
	To       string    `json:"to_agent,omitempty"` // an id or a type; empty: everybody
	Category string    `json:"category"`
	Priority string    `json:"priority"`
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
			Priority: cmp.Or(m.Priority, priorityNormal), Message: m.Text, At: m.At, any: m.ToType != "",
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
	if m.Priority != priorityNormal {
		marks = append(marks, m.Priority)
	}
	return fmt.Sprintf("  [%s] from %s (%s): %s", m.Category, m.From, strings.Join(marks, ", "), prose.Block(m.Message))
}
