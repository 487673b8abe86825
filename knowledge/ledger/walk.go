package ledger

import (
	"iter"
	"maps"
	"slices"
	"sort"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/table"
)

// window is about how many bytes of facts are read from the snapshot at once.
const window = 256 << 10

// texts gives use the text of each fact from first to end that no commit since
// the snapshot has touched, good until use returns. It is read in passing and
// not kept. ok is false when use had enough, or when something cannot be read,
// which is noted.
func (b *base) texts(first, end int, use func(row int, text []byte) bool) (ok bool) {
	var data []byte
	for first < end {
		if b.changed[first] {
			first++
			continue
		}
		from, last := int64(0), first
		var to int64
		for ; last < end && to-from < window; last++ {
			at, size, _ := b.keys.Place(last)
			if last == first {
				from = at
			}
			to = at + int64(size)
		}
		if b.keys.Err() != nil {
			return false // places that cannot be relied on
		}
		data = slices.Grow(data[:0], int(to-from))[:to-from]
		if _, err := b.file.ReadAt(data, from); err != nil {
			b.fail(err)
			return false
		}
		for ; first < last; first++ {
			at, size, sum := b.keys.Place(first)
			if b.changed[first] {
				continue
			}
			text := data[at-from:][:size]
			if table.Sum(text) != sum {
				b.fail(damagedFact(at))
				return false
			}
			if !use(first, text) {
				return false
			}
		}
	}
	return true
}

// stream gives use the unchanged facts from first to end, by name.
func (b *base) stream(first, end int, use func(fact.ID, []*fact.Version) bool) (ok bool) {
	return b.texts(first, end, func(row int, text []byte) bool {
		vs, err := formats.DecodeFacts(text)
		if err != nil {
			b.fail(err)
			return false
		}
		return use(b.name(row), vs)
	})
}

// within yields the facts of a folded room with their versions, in no order; all
// facts where room is "". What is on disk is read in passing.
func (s *State) within(room string) iter.Seq2[fact.ID, []*fact.Version] {
	return func(yield func(fact.ID, []*fact.Version) bool) {
		if s.base != nil {
			first, end := 0, s.base.keys.Facts()
			if room != "" {
				first, end = s.base.keys.Room(room)
			}
			if !s.base.stream(first, end, yield) {
				return
			}
		}
		for n, vs := range s.all {
			if len(vs) > 0 && (room == "" || n.Category == room) && !yield(n, vs) {
				return
			}
		}
	}
}

// Each yields every version of every fact, in no order.
func (s *State) Each() iter.Seq2[fact.ID, *fact.Version] { return s.Within("") }

// Within yields every version of the facts of a room, in no order; of all facts
// where room is "".
func (s *State) Within(room string) iter.Seq2[fact.ID, *fact.Version] {
	return func(yield func(fact.ID, *fact.Version) bool) {
		for n, vs := range s.within(formats.FoldName(room)) {
			for _, v := range vs {
				if !yield(n, v) {
					return
				}
			}
		}
	}
}

// inOrder are the names of the facts in memory, in order.
func (s *State) inOrder() []fact.ID {
	names := slices.SortedFunc(maps.Keys(s.all), fact.ID.Compare)
	return slices.DeleteFunc(names, func(n fact.ID) bool { return len(s.all[n]) == 0 })
}

// merged goes through the facts after a name, all where it is nil, by name.
// memory is given the names of those in memory that are left, and takes the
// first; disk the text of each that is still on disk. ok is false when either
// had enough, or when something cannot be read, which is noted.
func (s *State) merged(after *fact.ID, memory func(rest []fact.ID) bool, disk func(n fact.ID, text []byte) bool) (ok bool) {
	rest, first := s.inOrder(), 0
	if after != nil {
		rest = rest[sort.Search(len(rest), func(i int) bool { return rest[i].Compare(*after) > 0 }):]
	}
	upTo := func(n *fact.ID) bool {
		for ; len(rest) > 0 && (n == nil || rest[0].Compare(*n) < 0); rest = rest[1:] {
			if !memory(rest) {
				return false
			}
		}
		return true
	}
	if b := s.base; b != nil {
		if after != nil {
			first = sort.Search(b.keys.Facts(), func(i int) bool { return b.name(i).Compare(*after) > 0 })
		}
		if !b.texts(first, b.keys.Facts(), func(row int, text []byte) bool {
			n := b.name(row)
			return upTo(&n) && disk(n, text)
		}) {
			return false
		}
	}
	return upTo(nil)
}

// Sorted yields the facts by name, with their versions.
func (s *State) Sorted() iter.Seq2[fact.ID, []*fact.Version] {
	return func(yield func(fact.ID, []*fact.Version) bool) {
		s.merged(nil, func(rest []fact.ID) bool { return yield(rest[0], s.all[rest[0]]) }, func(n fact.ID, text []byte) bool {
			vs, err := formats.DecodeFacts(text)
			if err != nil {
				s.base.fail(err)
				return false
			}
			return yield(n, vs)
		})
	}
}
