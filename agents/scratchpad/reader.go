package scratchpad

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

const (
	HoldFor = 7 * 24 * time.Hour // a broadcast waits so long for an agent that is silent
	newsFor = 24 * time.Hour     // how far back a newcomer sees broadcasts
)

const newsMost = 100 // how many of them at most

// Position is how far somebody has read, as it is stored.
type Position struct {
	Cursor uint64    `json:"cursor,omitempty"`       // broadcasts up to this number were read
	Ahead  []uint64  `json:"ahead,omitempty"`        // and these beyond it, in order
	Missed time.Time `json:"missed_before,omitzero"` // broadcasts of before it may be gone unread
}

// Reader is who reads.
type Reader struct {
	ID, Type string
	At       Position
}

func (at *Position) read(number uint64) bool {
	if number <= at.Cursor || len(at.Ahead) == 0 {
		return number <= at.Cursor
	}
	_, ahead := slices.BinarySearch(at.Ahead, number)
	return ahead
}

// Since is the position at an instant of one that was last there at another:
// who was away for longer than broadcasts wait goes on with the news, as a
// newcomer does, and Missed says before when some may be gone.
func (p *Pad) Since(at Position, last, now time.Time) Position {
	if now.Sub(last) > HoldFor {
		if floor := p.News(now); floor > at.Cursor {
			return Position{floor, nil, now.Add(-newsFor)}
		}
	}
	return at
}

// News is the cursor of one that is new at an instant: it sees the broadcasts
// of the last day.
func (p *Pad) News(at time.Time) uint64 {
	from := at.Add(-newsFor)
	i := sort.Search(len(p.broadcasts), func(i int) bool { return p.broadcasts[i].message().At.After(from) })
	if i = max(i, len(p.broadcasts)-newsMost); i < len(p.broadcasts) {
		return p.broadcasts[i].number - 1
	}
	return p.last
}

// unread yields what a reader has not read, list by list, each by number.
func (p *Pad) unread(r Reader, now time.Time, yield func(list int, x *slip)) {
	author, nano := p.authors[r.ID], now.UnixNano()
	for i, list := range [][]slip{p.broadcasts[p.after(r.At.Cursor):], p.direct[r.ID], p.typed[r.Type]} {
		for j := range list {
			x := &list[j]
			if x.author != author && !x.expired(nano) && (i > 0 || !r.At.read(x.number)) {
				yield(i, x)
			}
		}
	}
}

// Unread is how many messages somebody has not read.
func (p *Pad) Unread(r Reader, now time.Time) (n int) {
	p.unread(r, now, func(int, *slip) { n++ })
	return n
}

// maxPage is how many bytes of text one reading gives at most, unless a single
// message has more.
const maxPage = 256 << 10

// Page is what somebody reads next: the critical, then the high ones, then in
// the order they were posted. total is how many there are.
func (p *Pad) Page(r Reader, now time.Time, limit int) (page []*Message, total int) {
	var found [3][3][]*Message // list, urgency
	p.unread(r, now, func(list int, x *slip) {
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
	slices.SortFunc(page, func(x, y *Message) int {
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

// Reading is what somebody was given, for good, as the journal keeps it.
type Reading struct {
	Upto   uint64   `json:"upto,omitempty"`  // broadcasts up to this number
	Ahead  []uint64 `json:"ahead,omitempty"` // all that are read beyond it
	Direct []uint64 `json:"direct,omitempty"`
	Typed  []uint64 `json:"typed,omitempty"`
}

// Reading is what has been given with a page, which may be empty. Messages
// that nobody will be shown any more go with it.
func (p *Pad) Reading(r Reader, page []*Message, now time.Time) Reading {
	at, x := r.At, Reading{Upto: r.At.Cursor}
	ahead := slices.Clone(at.Ahead)
	for _, m := range page {
		switch {
		case m.To != "":
			x.Direct = append(x.Direct, m.Number)
		case m.ToType != "":
			x.Typed = append(x.Typed, m.Number)
		default:
			ahead = append(ahead, m.Number)
		}
	}
	author, nano := p.authors[r.ID], now.UnixNano()
	for _, s := range p.direct[r.ID] {
		if s.expired(nano) {
			x.Direct = append(x.Direct, s.number)
		}
	}
	for _, list := range [][]uint64{ahead, x.Direct, x.Typed} {
		slices.Sort(list)
	}
	at.Ahead = ahead
	for _, s := range p.broadcasts[p.after(at.Cursor):] {
		if s.author != author && !s.expired(nano) && !at.read(s.number) {
			break
		}
		x.Upto = s.number
	}
	for _, n := range ahead {
		if n > x.Upto {
			x.Ahead = append(x.Ahead, n)
		}
	}
	return x
}
