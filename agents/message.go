package agents

import (
	"cmp"
	"slices"
	"time"
)

// message is one post on the scratchpad.
type message struct {
	Number   uint64    `json:"number"`
	From     string    `json:"from_agent"`
	To       string    `json:"to_agent,omitempty"` // an id
	ToType   string    `json:"to_type,omitempty"`  // any one of this type; both empty: everybody
	Category string    `json:"category"`
	Priority string    `json:"priority,omitempty"` // empty: normal
	Private  bool      `json:"private,omitempty"`
	Text     string    `json:"message"`
	At       time.Time `json:"timestamp"`
	Expires  time.Time `json:"expires_at,omitzero"`
}

func (m *message) expired(now time.Time) bool { return !m.Expires.IsZero() && !now.Before(m.Expires) }

// The priorities. Urgent messages are read before others, low ones are only
// marked.
const (
	priorityLow      = "low"
	priorityNormal   = "normal"
	priorityHigh     = "high"
	priorityCritical = "critical"
)

func (m *message) urgency() int {
	return slices.Index([]string{priorityHigh, priorityCritical}, m.Priority) + 1
}

// maxFindings is how many findings are kept for consolidation at least; the
// oldest go first.
const maxFindings = 500

// promotes tells whether consolidation may make a fact of a message.
func (m *message) promotes() bool {
	return !m.Private && slices.Contains([]string{"finding", "decision", "insight", "blocker"}, m.Category)
}

// position is how far an agent has read at an instant. For one that was away
// longer than broadcasts wait, missed says before when some may be gone.
type position struct {
	cursor uint64
	ahead  []uint64
	missed time.Time
}

func (p *project) position(a *agent, now time.Time) position {
	at := position{a.Cursor, a.Ahead, a.Missed}
	if now.Sub(a.Active) > holdFor {
		if floor := p.news(now); floor > a.Cursor {
			at = position{floor, nil, now.Add(-newsFor)}
		}
	}
	return at
}

func (p position) read(number uint64) bool {
	_, ahead := slices.BinarySearch(p.ahead, number)
	return ahead || number <= p.cursor
}

// toRead tells whether a message from a list that an agent reads is for it.
func (a *agent) toRead(m *message, now time.Time) bool { return m.From != a.ID && !m.expired(now) }

// unread yields what an agent has not read, list by list, each by number.
func (p *project) unread(a *agent, now time.Time, yield func(list int, m *message)) {
	at := p.position(a, now)
	for _, m := range p.broadcasts[p.after(at.cursor):] {
		if a.toRead(m, now) && !at.read(m.Number) {
			yield(0, m)
		}
	}
	for i, list := range [][]*message{p.direct[a.ID], p.typed[a.Type]} {
		for _, m := range list {
			if a.toRead(m, now) {
				yield(i+1, m)
			}
		}
	}
}

// unreadCount is how many messages an agent has not read.
func (p *project) unreadCount(a *agent, now time.Time) (n int) {
	p.unread(a, now, func(int, *message) { n++ })
	return n
}

// maxPage is how many bytes of text one reading gives at most, unless a single
// message has more.
const maxPage = 256 << 10

// page is what an agent reads next: the critical, then the high ones, then in
// the order they were posted. total is how many there are.
func (p *project) page(a *agent, now time.Time, limit int) (page []*message, total int) {
	var found [3][3][]*message // list, urgency
	p.unread(a, now, func(list int, m *message) {
		total++
		if l := &found[list][m.urgency()]; len(*l) < limit {
			*l = append(*l, m)
		}
	})
	for _, urgencies := range found {
		for _, l := range urgencies {
			page = append(page, l...)
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

// reading is the event by which an agent has read a page.
func (p *project) reading(a *agent, page []*message, now time.Time) *reading {
	at := p.position(a, now)
	r := &reading{Upto: at.cursor}
	ahead := slices.Clone(at.ahead)
	for _, m := range page {
		switch {
		case m.To != "":
			r.Direct = append(r.Direct, m.Number)
		case m.ToType != "":
			r.Typed = append(r.Typed, m.Number)
		default:
			ahead = append(ahead, m.Number)
		}
	}
	for _, list := range [][]uint64{ahead, r.Direct, r.Typed} {
		slices.Sort(list)
	}
	at.ahead = ahead
	rest := p.broadcasts[p.after(at.cursor):]
	for len(rest) > 0 && (!a.toRead(rest[0], now) || at.read(rest[0].Number)) {
		r.Upto, rest = rest[0].Number, rest[1:]
	}
	for _, n := range ahead {
		if n > r.Upto {
			r.Ahead = append(r.Ahead, n)
		}
	}
	return r
}
