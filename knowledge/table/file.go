package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

const (
	magic      = "lcxkeys5"
	sumAt      = len(magic) // the four bytes here are the checksum of those after, to the header's end
	summedFrom = sumAt + 4
	countsAt   = summedFrom + 68
	sumsAt     = countsAt + 4*sections
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
)

var sizes = [sections]int{timesSize, traitSize, factSize, keySize, slotSize, aliasSize, 1, 1, wordSize, 1, roomSize, oddSize}

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
	section [sections]lazy

	words []string
	odd   []time.Time
	rooms []byte

	mu  sync.Mutex
	err error
}

// lazy is a section, read when it is needed, as bytes or as text.
type lazy struct {
	sync.Mutex
	data atomic.Pointer[[]byte]
	text atomic.Pointer[string]
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
	for i := range secWords {
		t.section[i].data.Store(new(data[t.at[i]:t.at[i+1]]))
	}
	return t, t.small(bytes.NewReader(data))
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
		if of[i], err = t.read(f, i); err != nil {
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
	return nil
}

func (t *Table) read(f io.ReaderAt, section int) ([]byte, error) {
	data := make([]byte, t.at[section+1]-t.at[section])
	if _, err := f.ReadAt(data, t.at[section]); err != nil && (err != io.EOF || section < sections-1) {
		return nil, err
	}
	if Sum(data) != le.Uint32(t.header[sumsAt+4*section:]) {
		return nil, errDamaged
	}
	return data, nil
}

// load is a section's bytes; zeros, and an error in the table, when they cannot
// be had.
func (t *Table) load(section int) []byte {
	if data := t.section[section].data.Load(); data != nil {
		return *data
	}
	return t.loadNow(section)
}

func (t *Table) loadNow(section int) []byte {
	s := &t.section[section]
	s.Lock()
	defer s.Unlock()
	if data := s.data.Load(); data != nil {
		return *data
	}
	data, err := t.reopen(section)
	if err != nil {
		data = make([]byte, t.at[section+1]-t.at[section])
		t.mu.Lock()
		t.err = err
		t.mu.Unlock()
	}
	s.data.Store(&data)
	return data
}

// Load reads what was not needed yet. A table that is to be used for long is
// loaded before another one takes its name.
func (t *Table) Load() {
	for i := range secWords {
		t.load(i)
	}
}

// text is a section of text.
func (t *Table) text(section int) string {
	s := &t.section[section]
	if text := s.text.Load(); text != nil {
		return *text
	}
	data := t.load(section)
	text := unsafe.String(unsafe.SliceData(data), len(data)) // nobody writes there any more
	s.text.Store(&text)
	return text
}

func (t *Table) reopen(section int) ([]byte, error) {
	f, err := os.Open(t.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	header := make([]byte, HeaderSize)
	if _, err := f.ReadAt(header, 0); err != nil || !bytes.Equal(header, t.header) {
		return nil, errStale
	}
	return t.read(f, section)
}

// Err tells why what the table said is not to be used; nil when it is.
func (t *Table) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// cut is the text whose offset and length stand in b.
func cut(text string, b []byte) string {
	at, n := le.Uint32(b), le.Uint32(b[4:])
	return text[at : at+n]
}

func (t *Table) name(b []byte) string { return cut(t.text(secNames), b) }

func (t *Table) id(b []byte) string { return cut(t.text(secIDs), b) }
