package scratchpad

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sort"
	"time"
)

// Pad is the messages of one project. What its maps and lists point at is never
// changed in place, so that a clone stays as it was.
type Pad struct {
	broadcasts []slip // by number
	direct     map[string][]slip
	typed      map[string][]slip
	findings   []*Message        // what was posted for consolidation, kept when everybody has read it
	last       uint64            // the last message's number
	tidyAt     int               // how many broadcasts there are when it is looked which may go
	authors    map[string]uint32 // what slips call who wrote; no part of the file
}

// TidyFrom is how many broadcasts there are at least before any of them go.
const TidyFrom = 512

// New is an empty pad.
func New() *Pad {
	return &Pad{direct: map[string][]slip{}, typed: map[string][]slip{}, authors: map[string]uint32{}, tidyAt: TidyFrom}
}

// Clone is a pad that stays as it is when the other one changes.
func (p *Pad) Clone() *Pad {
	q := *p
	q.direct, q.typed, q.authors = maps.Clone(p.direct), maps.Clone(p.typed), maps.Clone(p.authors)
	return &q
}

// Resume gives a pad that was filled what stands beside its messages in the
// file: the last message's number, and the findings.
func (p *Pad) Resume(last uint64, findings []*Message) {
	p.last, p.findings, p.tidyAt = last, findings, max(TidyFrom, 2*len(p.broadcasts))
}

// Last is the last message's number.
func (p *Pad) Last() uint64 { return p.last }

// Findings are the messages of which consolidation may make facts, the oldest
// first, also when everybody has read them. They must not be changed.
func (p *Pad) Findings() []*Message { return p.findings }

// after is the place of the first broadcast with a larger number.
func (p *Pad) after(number uint64) int {
	return sort.Search(len(p.broadcasts), func(i int) bool { return p.broadcasts[i].number > number })
}

// Post adds a message that is new, and returns the position of its author, who
// need not read it. Without this one who only writes would hold all it wrote.
func (p *Pad) Post(m *Message, author Position) Position {
	if m.Number <= p.last {
		return author
	}
	p.last = m.Number
	if m.promotes() {
		p.findings = append(p.findings, m)
		if n := len(p.findings); n >= 2*maxFindings {
			p.findings = slices.Clone(p.findings[n-maxFindings:])
		}
	}
	if m.toAll() && p.after(author.Cursor) == len(p.broadcasts) {
		author.Cursor, author.Ahead = m.Number, nil
	}
	p.keep(m)
	return author
}

// Read takes out what a reader was given, and returns its position then.
func (p *Pad) Read(r Reader, x Reading) Position {
	take(p.direct, r.ID, x.Direct)
	take(p.typed, r.Type, x.Typed)
	return Position{Cursor: max(r.At.Cursor, x.Upto), Ahead: x.Ahead}
}

// take takes messages out of a list, in which they stand by number.
func take(lists map[string][]slip, name string, numbers []uint64) {
	if len(numbers) == 0 {
		return
	}
	list := slices.DeleteFunc(slices.Clone(lists[name]), func(x slip) bool {
		_, read := slices.BinarySearch(numbers, x.number)
		return read
	})
	if len(list) == 0 {
		delete(lists, name)
		return
	}
	lists[name] = list
}

// Crowded tells whether the broadcasts have doubled since [Pad.Tidy] last went
// through them.
func (p *Pad) Crowded() bool { return len(p.broadcasts) >= p.tidyAt }

// Tidy drops the oldest broadcasts that nobody is to see any more: those up to
// the cursor seen, which all who may come back have passed, that no newcomer is
// to see, and expired ones right after them.
func (p *Pad) Tidy(seen uint64, now time.Time) {
	n := p.after(min(seen, p.News(now)))
	for n < len(p.broadcasts) && p.broadcasts[n].expired(now.UnixNano()) {
		n++
	}
	p.broadcasts = slices.Clone(p.broadcasts[n:])
	p.tidyAt = max(TidyFrom, 2*len(p.broadcasts))
}

// Len is how many messages stand on the pad.
func (p *Pad) Len() (n int) {
	for list := range p.lists {
		n += len(list)
	}
	return n
}

// Waiting is how many of them somebody may still be to see.
func (p *Pad) Waiting(now time.Time) (n int) {
	nano := now.UnixNano()
	for list := range p.lists {
		for i := range list {
			if !list[i].expired(nano) {
				n++
			}
		}
	}
	return n
}

// lists yields them all, in any order.
func (p *Pad) lists(yield func([]slip) bool) {
	for _, some := range []iter.Seq[[]slip]{slices.Values([][]slip{p.broadcasts}), maps.Values(p.direct), maps.Values(p.typed)} {
		for list := range some {
			if !yield(list) {
				return
			}
		}
	}
}

// All yields every message that stands on the pad, by number.
func (p *Pad) All() iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		for x := range p.slips() {
			if !yield(x.message()) {
				return
			}
		}
	}
}

func (p *Pad) slips() iter.Seq[*slip] {
	all := slices.Concat(slices.Collect(p.lists)...)
	slices.SortFunc(all, func(a, b slip) int { return cmp.Compare(a.number, b.number) })
	return func(yield func(*slip) bool) {
		for i := range all {
			if !yield(&all[i]) {
				return
			}
		}
	}
}

// keep files a message under those who are to read it.
func (p *Pad) keep(m *Message) {
	h := m.head()
	x := p.slip(h)
	x.m = m
	p.file(h, x)
}

// slip is one without its message.
func (p *Pad) slip(h head) slip {
	x := slip{number: h.number, author: p.author(h.from), urgency: urgency(h.priority)}
	if !h.expires.IsZero() {
		x.expires = h.expires.UnixNano()
	}
	return x
}

// author is what slips call somebody: a number from 1.
func (p *Pad) author(name string) uint32 {
	n, known := p.authors[name]
	if !known {
		n = uint32(len(p.authors) + 1)
		p.authors[name] = n
	}
	return n
}

// file puts a slip where those look who are to read its message.
func (p *Pad) file(h head, x slip) {
	switch {
	case h.to != "":
		p.direct[h.to] = append(p.direct[h.to], x)
	case h.toType != "":
		p.typed[h.toType] = append(p.typed[h.toType], x)
	default:
		p.broadcasts = append(p.broadcasts, x)
	}
}
