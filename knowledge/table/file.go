package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"time"
)

const (
	magic      = "lcxkeys6"
	sumAt      = len(magic) // the four bytes here are the checksum of those after, to the header's end
	summedFrom = sumAt + 4
	countsAt   = summedFrom + 68
	sumsAt     = countsAt + 4*sections // of the sections that are read whole
	// HeaderSize is how many bytes of a table [Names] needs.
	HeaderSize = 192
)

// The sections, and the size of a record of each.
const (
	secTimes   = iota // of every version, what tells whether it holds
	secTraits         // of every version, the rest
	secFacts          //
	secKeys           // of every version, the key of its id: see keyOf
	secSlots          // a hash of the versions' ids
	secAliases        // hashes of folded aliases, in order, each with a version
	secNames          // text of the keys
	secIDs            // text of the ids
	secWords          // places of words in the text after
	secText           // text of the words: of what there is little and often the same
	secRooms          //
	secOdd            // times that are no number of nanoseconds
	secSums           // of each page of the sections before secWords, its checksum
	sections
)

const (
	timesSize = 48
	traitSize = 56
	factSize  = 40
	keySize   = 8
	slotSize  = 12
	aliasSize = 12
	wordSize  = 8
	roomSize  = 8
	oddSize   = 12
	sumSize   = 4
)

var sizes = [sections]int{timesSize, traitSize, factSize, keySize, slotSize, aliasSize, 1, 1, wordSize, 1, roomSize, oddSize, sumSize}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the checksum that the table uses, of the text of facts too.
func Sum(text []byte) uint32 { return crc32.Checksum(text, castagnoli) }

var (
	errDamaged = errors.New("the key table is damaged")
	errStale   = errors.New("the key table is of another snapshot")
)

var le = binary.LittleEndian

// Table is a key table, read only and safe for concurrent use.
type Table struct {
	of      Snapshot
	path    string
	header  []byte
	at      [sections + 1]int64 // where each section begins
	section [secWords]section

	words []string
	odd   []time.Time
	rooms []byte

	mu   sync.Mutex
	file *os.File // while pages of it are read
	err  error
}

// Names returns the snapshot that a table's first bytes say it is of. It does
// not check the table.
func Names(start []byte) (Snapshot, bool) {
	if len(start) < HeaderSize || string(start[:len(magic)]) != magic {
		return Snapshot{}, false
	}
	b := start[summedFrom:]
	return Snapshot{
		Seq: le.Uint64(b), Generation: le.Uint64(b[8:]), Size: int64(le.Uint64(b[16:])), Checksum: string(b[24:32]),
	}, true
}

// Open opens the table in a file. It fails when there is no good table of that
// snapshot, as far as can be told without reading all of it.
func Open(path string, of Snapshot) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &Table{of: of, path: path, header: make([]byte, HeaderSize)}
	if _, err := f.ReadAt(t.header, 0); err != nil {
		return nil, errDamaged
	}
	if err := t.layout(); err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() != t.at[sections] {
		return nil, errDamaged
	}
	return t, t.small(f)
}

// New is the table that [Build] made, without a file.
func New(data []byte, of Snapshot) (*Table, error) {
	if len(data) < HeaderSize {
		return nil, errDamaged
	}
	t := &Table{of: of, header: data[:HeaderSize]}
	if err := t.layout(); err != nil {
		return nil, err
	}
	if int64(len(data)) != t.at[sections] {
		return nil, errDamaged
	}
	if err := t.small(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	for i := range secWords {
		t.section[i].pages.Store(allOf(data[t.at[i]:t.at[i+1]]))
	}
	return t, nil
}

// layout checks the header and finds the sections.
func (t *Table) layout() error {
	if found, ok := Names(t.header); !ok || le.Uint32(t.header[sumAt:]) != Sum(t.header[summedFrom:]) {
		return errDamaged
	} else if found != t.of {
		return errStale
	}
	t.at[0] = HeaderSize
	for i := range sections {
		t.at[i+1] = t.at[i] + int64(t.count(i))*int64(sizes[i])
	}
	return nil
}

func (t *Table) count(section int) int { return int(le.Uint32(t.header[countsAt+4*section:])) }

// small reads the sections that are always needed.
func (t *Table) small(f io.ReaderAt) error {
	var of [sections][]byte
	for i := secWords; i < sections; i++ {
		var err error
		if of[i], err = t.readWhole(f, i); err != nil {
			return err
		}
	}
	text := string(of[secText])
	for b := of[secWords]; len(b) > 0; b = b[wordSize:] {
		t.words = append(t.words, cut(text, b))
	}
	for b := of[secOdd]; len(b) > 0; b = b[oddSize:] {
		t.odd = append(t.odd, time.Unix(int64(le.Uint64(b)), int64(le.Uint32(b[8:]))).UTC())
	}
	t.rooms = of[secRooms]
	sums := of[secSums]
	for i := range secWords {
		size := sumSize * pageCount(i, int(t.at[i+1]-t.at[i]))
		if size > len(sums) {
			return errDamaged
		}
		t.section[i].sums, sums = sums[:size:size], sums[size:]
	}
	return nil
}

// readWhole reads a section that is not read by pages.
func (t *Table) readWhole(f io.ReaderAt, section int) ([]byte, error) {
	data := make([]byte, t.at[section+1]-t.at[section])
	if _, err := f.ReadAt(data, t.at[section]); err != nil && (err != io.EOF || section < sections-1) {
		return nil, err
	}
	if Sum(data) != le.Uint32(t.header[sumsAt+4*(section-secWords):]) {
		return nil, errDamaged
	}
	return data, nil
}

// Err tells why what the table said is not to be used; nil when it is.
func (t *Table) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}
