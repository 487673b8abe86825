// Package table is the key table of a fact file: where in the file each fact
// stands, and of every version what is needed to mask, count and order it
// without its text. With it a command reads the facts it is asked for and none
// of the others.
//
// A table belongs to one snapshot, which its header names, and is a cache: one
// that is missing, damaged or of another snapshot is as if absent. What it says
// of a fact's place comes with a checksum of the text that stands there.
//
// # Format
//
// All numbers are little endian. The header has a magic with the format's
// version, the checksum of the rest of the header, the snapshot, where its facts
// begin and end, the number of records of each section, and the checksums of
// those that are read whole. The sections follow, in the order of their numbers
// below. Records are of fixed size and are used where they lie: nothing is parsed
// when a table of 100,000 facts is opened. Maps, gob and JSON were rejected for
// that.
//
// A command asks about a few hundred of 100,000 facts. So the sections whose size
// grows with the facts are read a page at a time, when a page is first needed,
// and each page has a checksum, in the last section. That, and the small ones
// before it, are read when the table is opened. A page is 4 KiB or a little less,
// so that records do not go over its end. Pages of 32 KiB, as the text index has
// them, were rejected: a few hundred look-ups at random are in nearly all of them,
// and to get memory from the system costs more than all else that is done to a
// page. Pages that are asked for in order are read many at once.
//
// The file may be replaced at any time. That is noticed by the header, when the
// file is opened to read a page of it, and by the checksums. It stays open until
// all is read or the table is no longer used; not so on Windows, where an open
// file cannot be replaced.
package table

import (
	"fmt"
	"iter"
	"sort"
	"strings"
	"time"
)

// Snapshot names a snapshot.
type Snapshot struct {
	Seq, Generation uint64
	Size            int64
	Checksum        string // as it stands in the file, 8 digits
}

// Rest returns the place of the facts in the snapshot, and the checksum of all
// that is not between from and to.
func (t *Table) Rest() (from, to int64, sum uint32) {
	b := t.header[summedFrom+32:]
	return int64(le.Uint64(b)), int64(le.Uint64(b[8:])), le.Uint32(b[16:])
}

// Settled is the end of the last earlier period of any version: about times
// after it a [Sketch] tells all there is to tell.
func (t *Table) Settled() time.Time {
	at, _ := t.timeAt(t.header[summedFrom+52:])
	return at
}

// touched is the last time that any version was recorded or confirmed.
func (t *Table) touched() []byte { return t.header[summedFrom+60:] }

// Facts is how many facts there are. They are numbered in the order of names.
func (t *Table) Facts() int { return t.count(secFacts) }

// VersionCount is how many versions there are. Those of a fact come one after
// another, in the order of the file.
func (t *Table) VersionCount() int { return t.count(secTimes) }

func (t *Table) fact(n int) []byte { return t.bytes(secFacts, n*factSize, factSize) }

// Name returns the folded category and key of a fact.
func (t *Table) Name(fact int) (category, key string) {
	b := t.fact(fact)
	return t.words[le.Uint32(b)], t.name(b[4:])
}

// Place returns where in the snapshot a fact's versions stand, as one text,
// and its checksum.
func (t *Table) Place(fact int) (at int64, size int, sum uint32) {
	b := t.fact(fact)
	return int64(le.Uint64(b[12:])), int(le.Uint32(b[20:])), le.Uint32(b[24:])
}

// Versions returns the numbers of a fact's versions, [first, end).
func (t *Table) Versions(fact int) (first, end int) {
	b := t.fact(fact)
	first = int(le.Uint32(b[28:]))
	return first, first + int(le.Uint32(b[32:]))
}

// Find returns the fact of a name, folded.
func (t *Table) Find(category, key string) (fact int, ok bool) {
	low, high := 0, t.Facts()
	for low < high {
		mid := int(uint(low+high) >> 1)
		c, k := t.Name(mid)
		switch d := strings.Compare(c, category); {
		case d < 0 || d == 0 && k < key:
			low = mid + 1
		case d == 0 && k == key:
			return mid, true
		default:
			high = mid
		}
	}
	return 0, false
}

// Room returns the numbers of the facts of a category, folded: [first, end).
func (t *Table) Room(category string) (first, end int) {
	least := func(after bool) int {
		return sort.Search(t.Facts(), func(n int) bool {
			c := t.words[le.Uint32(t.fact(n))]
			return c > category || c == category && !after
		})
	}
	return least(false), least(true)
}

// Aliased yields the versions that go by another name, folded, and seldom one
// that does not: their hashes are the same.
func (t *Table) Aliased(name string) iter.Seq[int] {
	return func(yield func(int) bool) {
		all, key := t.whole(secAliases), hash(name)
		for i := sort.Search(len(all)/aliasSize, func(n int) bool { return le.Uint64(all[n*aliasSize:]) >= key }); i < len(all)/aliasSize; i++ {
			b := all[i*aliasSize:]
			if le.Uint64(b) != key || !yield(int(le.Uint32(b[8:]))) {
				return
			}
		}
	}
}

// How far After looks: as far as costs less than a look at the slots, and, while
// those are still on disk, less than to read one of their pages.
const (
	reach    = 16
	reachFar = 8192
)

// After returns the version with an id, of which it is thought likely that it
// is one of the next after version: then it is found without a look at the
// slots. A version of -1 says nothing.
func (t *Table) After(version int, id string) (int, bool) {
	if key, plain := keyOf(id); plain && version >= 0 {
		first, far := version+1, reach
		if !t.section[secSlots].complete() {
			far = reachFar
		}
		end := min(first+far, t.VersionCount())
		for keys := t.bytes(secKeys, first*keySize, max(0, end-first)*keySize); len(keys) > 0; keys = keys[keySize:] {
			if n := end - len(keys)/keySize; le.Uint64(keys) == key && t.plain(n) {
				return n, true
			}
		}
	}
	return t.ByID(id)
}

// ByID returns the version with an id.
func (t *Table) ByID(id string) (version int, ok bool) {
	key, plain := keyOf(id)
	last := t.count(secSlots) - 1
	if last < 0 {
		return 0, false
	}
	for i := slotOf(key) & last; ; i = (i + 1) & last {
		b := t.bytes(secSlots, i*slotSize, slotSize)
		n := int(le.Uint32(b[8:])) - 1
		if n < 0 {
			return 0, false
		}
		if le.Uint64(b) == key && t.plain(n) == plain && (plain || t.id(t.trait(n)) == id) {
			return n, true
		}
	}
}

func (t *Table) times(version int) []byte { return t.bytes(secTimes, version*timesSize, timesSize) }

func (t *Table) trait(version int) []byte { return t.bytes(secTraits, version*traitSize, traitSize) }

func (t *Table) plain(version int) bool { return le.Uint32(t.times(version))&flagPlain != 0 }

// keyOf is the number under which an id stands among the slots. That of a
// plain id, as we make them, is its digits: then the id need not be compared.
// Of any other it is a hash, FNV-1a.
func keyOf(id string) (key uint64, plain bool) {
	if digits, ok := strings.CutPrefix(id, "f-"); ok && len(digits) == 16 {
		if key, ok = parseHex(digits); ok {
			return key, true
		}
	}
	return hash(id), false
}

func hash(s string) uint64 {
	key := uint64(14695981039346656037)
	for i := range len(s) {
		key = (key ^ uint64(s[i])) * 1099511628211
	}
	return key
}

func parseHex(digits string) (n uint64, ok bool) {
	for i := range len(digits) {
		switch c := digits[i]; {
		case c >= '0' && c <= '9':
			n = n<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | uint64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// slotOf spreads keys over the slots.
func slotOf(key uint64) int { return int(key * 0x9e3779b97f4a7c15 >> 33) }

// FactOf returns the fact that a version belongs to.
func (t *Table) FactOf(version int) int {
	return int(le.Uint32(t.times(version)[4:]))
}

// Rooms yields the folded name of each category and how it was spelled first.
func (t *Table) Rooms() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for b := t.rooms; len(b) > 0; b = b[roomSize:] {
			if !yield(t.words[le.Uint32(b)], t.words[le.Uint32(b[4:])]) {
				return
			}
		}
	}
}

func (t *Table) String() string {
	return fmt.Sprintf("key table of %d facts at commit %d", t.Facts(), t.of.Seq)
}
