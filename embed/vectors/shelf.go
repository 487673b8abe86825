package vectors

import (
	"hash/maphash"
	"maps"
	"slices"
	"sort"
)

// shelf is the vectors of one encoder in memory. A process that lives on finds
// them by ID, through slots; a command looks for replaced ones only.
type shelf struct {
	dim    int
	blocks []*block
	first  []int // the number of each block's first vector, counted over all
	n      int   // vectors, replaced ones included
	live   int   // vectors that count
	dead   []uint64
	seed   maphash.Seed
	slots  []uint64 // of an ID: a part of its hash, and number + 1 of its vector; open addressing; nil: none yet
}

// add puts a block behind the others; its vectors replace earlier ones of the
// same IDs, which settle or grow is to find where there are no slots. A block of
// another size than the first is left out: one name has one size, so either is a
// lie, and no cosine is better than a wrong one.
func (s *shelf) add(b *block) bool {
	if s.dim != 0 && s.dim != b.dim {
		return false
	}
	s.dim = b.dim
	s.blocks, s.first = append(s.blocks, b), append(s.first, s.n)
	from := s.n
	s.n += b.n
	s.dead = append(s.dead, make([]uint64, (s.n+63)/64-len(s.dead))...)
	switch {
	case s.slots == nil:
	case 2*s.n > len(s.slots):
		s.grow(s.n)
	default:
		for i := from; i < s.n; i++ {
			s.place(i)
		}
	}
	return true
}

// settle finds the vectors that later ones replaced, without slots: to fill
// those takes several times as long. Only IDs whose hash stands there twice are
// compared.
func (s *shelf) settle() {
	clear(s.dead)
	s.live = s.n
	seed := maphash.MakeSeed()
	again := s.twice(seed)
	if len(again) == 0 {
		return
	}
	newest, last := map[string]int{}, uint64(64*len(again)-1)
	for k, b := range s.blocks {
		for i := range b.n {
			id := b.idBytes(i)
			if bit := maphash.Bytes(seed, id) & last; again[bit/64]&(1<<(bit%64)) == 0 {
				continue
			}
			if old, replaced := newest[string(id)]; replaced {
				s.dead[old/64] |= 1 << (old % 64)
				s.live--
			}
			newest[string(id)] = s.first[k] + i
		}
	}
}

// twice is a bitmap of the hashes that several IDs have, or one ID several times;
// nil when there are none. It has an eighth of the bits by which they were found,
// and so a few hashes more.
func (s *shelf) twice(seed maphash.Seed) (again []uint64) {
	size := 512
	for size < 32*s.n {
		size *= 2
	}
	seen, last := make([]uint64, size/64), uint64(size-1)
	for i := 0; i < len(seen); i += page / 8 {
		seen[i] = 0
	}
	for _, b := range s.blocks {
		for i := range b.n {
			bit := maphash.Bytes(seed, b.idBytes(i)) & last
			at, mark := bit/64, uint64(1)<<(bit%64)
			if seen[at]&mark == 0 {
				seen[at] |= mark
				continue
			}
			if again == nil {
				again = make([]uint64, len(seen)/8)
			}
			bit &= uint64(64*len(again) - 1)
			again[bit/64] |= 1 << (bit % 64)
		}
	}
	return again
}

// page is a unit of memory, in bytes. New memory that is read before it is
// written to is one page of zeros for all; the write then changes the mapping
// under every thread, which costs ten times what a write at first does. So what
// will be written all over is written to once a page before.
const page = 4 << 10

// grow makes the slots anew, four for each of n vectors.
func (s *shelf) grow(n int) {
	size := 64
	for size < 4*n {
		size *= 2
	}
	s.slots, s.seed = make([]uint64, size), maphash.MakeSeed()
	s.live = 0
	for i := range s.n {
		if !s.isDead(i) {
			s.place(i)
		}
	}
}

// place puts a vector into its slot, and an earlier one of its ID to death.
func (s *shelf) place(number int) {
	b, i := s.at(number)
	at, slot, old := s.search(b.idBytes(i))
	if old >= 0 {
		s.dead[old/64] |= 1 << (old % 64)
		s.live--
	}
	s.slots[at] = slot | uint64(number+1)
	s.live++
}

// search gives the place of an ID among the slots, what stands there beside a
// number, and the number of its vector or -1.
func (s *shelf) search(id []byte) (at int, slot uint64, number int) {
	const numbers = 1<<32 - 1
	hash := maphash.Bytes(s.seed, id)
	slot = hash &^ numbers
	at = int(hash) & (len(s.slots) - 1)
	for s.slots[at] != 0 {
		if number := int(s.slots[at]&numbers) - 1; s.slots[at]&^numbers == slot {
			if b, i := s.at(number); string(b.idBytes(i)) == string(id) {
				return at, slot, number
			}
		}
		at = (at + 1) & (len(s.slots) - 1)
	}
	return at, slot, -1
}

// at gives a vector's block and its place there.
func (s *shelf) at(number int) (*block, int) {
	k := len(s.first) - 1
	if number < s.first[k] {
		k = sort.SearchInts(s.first, number+1) - 1
	}
	return s.blocks[k], number - s.first[k]
}

func (s *shelf) isDead(number int) bool { return s.dead[number/64]&(1<<(number%64)) != 0 }

// find gives the vector of a key, one that is not damaged; a nil shelf has
// none. The values are in memory, and there are slots: see [Index.whole].
func (s *shelf) find(k Key) (b *block, i int, ok bool) {
	if s == nil || s.n == 0 {
		return nil, 0, false
	}
	_, _, number := s.search([]byte(k.ID))
	if number < 0 {
		return nil, 0, false
	}
	b, i = s.at(number)
	return b, i, b.key(i).Text == k.Text && b.sound(i, b.row(i))
}

// add puts a block on the shelf of its encoder.
func (x *Index) add(b *block) { x.addAll([]*block{b}) }

// addAll puts blocks on their shelves, with room for all of them at once.
func (x *Index) addAll(blocks []*block) {
	n := map[string]int{}
	for _, b := range blocks {
		n[b.encoder] += b.n
	}
	for name, n := range n {
		if x.sets[name] == nil {
			x.sets[name] = &shelf{}
		}
		if s := x.sets[name]; x.lasting && s.slots == nil {
			s.grow(s.n + n)
		}
	}
	for _, b := range blocks {
		if !x.sets[b.encoder].add(b) {
			x.waste += b.size
		}
	}
	for name := range n {
		if s := x.sets[name]; s.slots == nil {
			s.settle()
		}
	}
}

// findable makes slots on every shelf, from now on.
func (x *Index) findable() {
	for _, s := range x.sets {
		if s.slots == nil {
			s.grow(s.n)
		}
	}
}

// entries counts the vectors of each encoder, by name.
func (x *Index) entries() []EncoderEntries {
	all := []EncoderEntries{}
	for _, name := range slices.Sorted(maps.Keys(x.sets)) {
		if s := x.sets[name]; s.live > 0 {
			all = append(all, EncoderEntries{Name: name, Dim: s.dim, Entries: s.live})
		}
	}
	return all
}

// crowded reports whether a rewrite is worth its while: many small blocks, or
// most of the vectors replaced.
func (x *Index) crowded() bool {
	blocks, n, live := 0, 0, 0
	for _, s := range x.sets {
		blocks, n, live = blocks+len(s.blocks), n+s.n, live+s.live
	}
	return blocks > 256+n/blockRows || n > 2*live+1000
}
