package agents

import (
	"cmp"
	"slices"
	"time"
)

// message is one post on the scratchpad. Its first members are what a slip
// knows: see parseHead.
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

// expired tells whether a message's ttl has passed.
func (m *message) expired(now time.Time) bool { return !m.Expires.IsZero() && !now.Before(m.Expires) }

func (m *message) toAll() bool { return m.To == "" && m.ToType == "" }

// The priorities. Urgent messages are read before others, low ones are only
// marked.
const (
	priorityLow      = "low"
	priorityNormal   = "normal"
	priorityHigh     = "high"
	priorityCritical = "critical"
)

func urgency(priority string) uint8 {
	switch priority {
	case priorityHigh:
		return 1
	case priorityCritical:
		return 2
	}
	return 0
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
	if number <= p.cursor || len(p.ahead) == 0 {
		return number <= p.cursor
	}
	_, ahead := slices.BinarySearch(p.ahead, number)
	return ahead
}

// unread yields what an agent has not read, list by list, each by number.
func (p *project) unread(a *agent, now time.Time, yield func(list int, x *slip)) {
	at, author, nano := p.position(a, now), p.authors[a.ID], now.UnixNano()
	for i, list := range [][]slip{p.broadcasts[p.after(at.cursor):], p.direct[a.ID], p.typed[a.Type]} {
		for j := range list {
			x := &list[j]
			if x.author != author && !x.expired(nano) && (i > 0 || !at.read(x.number)) {
				yield(i, x)
			}
		}
	}
}

// unreadCount is how many messages an agent has not read.
func (p *project) unreadCount(a *agent, now time.Time) (n int) {
	p.unread(a, now, func(int, *slip) { n++ })
	return n
}

// maxPage is how many bytes of text one reading gives at most, unless a single
// message has more.
const maxPage = 256 << 10

// page is what an agent reads next: the critical, then the high ones, then in
// the order they were posted. total is how many there are.
func (p *project) page(a *agent, now time.Time, limit int) (page []*message, total int) {
	var found [3][3][]*message // list, urgency
	p.unread(a, now, func(list int, x *slip) {
		total++
		if l := &found[list][x.urgency]; len(*l) < limit {
			*l = append(*l, x.message())
		}
	})
	for _, urgencies := range found {
		for _, l := range urgencies {
			page = append(page, l...)
		}
	}
	slices.SortFunc(page, func(x, y *message) int {
		return cmp.Or(cmp.Compare(urgency(y.Priority), urgency(x.Priority)), cmp.Compare(x.Number, y.Number))
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
	author, nano := p.authors[a.ID], now.UnixNano()
	for _, x := range p.direct[a.ID] {
		if x.expired(nano) {
			r.Direct = append(r.Direct, x.number)
		}
	}
	for _, list := range [][]uint64{ahead, r.Direct, r.Typed} {
		slices.Sort(list)
	}
	at.ahead = ahead
	for _, x := range p.broadcasts[p.after(at.cursor):] {
		if x.author != author && !x.expired(nano) && !at.read(x.number) {
			break
		}
		r.Upto = x.number
	}
	for _, n := range ahead {
		if n > r.Upto {
			r.Ahead = append(r.Ahead, n)
		}
	}
	return r
}
