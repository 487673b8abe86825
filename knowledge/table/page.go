package table

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	pageMost  = 4 << 10 // bytes; whole records, so that one is damaged or is not
	aheadMost = 64      // pages read at once, of a section read from one end to the other
)

// pageSize is that of the pages of a section.
func pageSize(section int) int { return pageMost / sizes[section] * sizes[section] }

// pageCount is how many pages a section of so many bytes has.
func pageCount(section, size int) int { return (size + pageSize(section) - 1) / pageSize(section) }

// section is one that is read a page at a time.
type section struct {
	sums  []byte // the checksum of each page
	pages atomic.Pointer[pages]

	mu   sync.Mutex // who reads
	next int        // the page after the one read last
	once int        // pages to read at once
}

// pages are those of a section. What was read of them stays as it was.
type pages struct {
	data []byte // of pages not yet read: zeros
	have []atomic.Bool
	left int         // how many are not yet read
	all  atomic.Bool // none is
}

// complete reports whether all of a section has been read.
func (s *section) complete() bool {
	p := s.pages.Load()
	return p != nil && p.all.Load()
}

// allOf is a section that is there.
func allOf(data []byte) *pages {
	p := &pages{data: data}
	p.all.Store(true)
	return p
}

// bytes are those of a section from at on, good for ever; zeros, and an error in the table, where they cannot be had.
func (t *Table) bytes(number, at, n int) []byte {
	p := t.section[number].pages.Load()
	if p == nil || !p.all.Load() {
		p = t.fetch(number, at, at+n)
	}
	return p.data[at : at+n : at+n]
}

// whole is all of a section.
func (t *Table) whole(section int) []byte {
	return t.bytes(section, 0, int(t.at[section+1]-t.at[section]))
}

// fetch reads what is missing of a section from one place to another.
func (t *Table) fetch(number, from, to int) *pages {
	s, size := &t.section[number], pageSize(number)
	p := s.pages.Load()
	if p == nil {
		p = s.begin(int(t.at[number+1] - t.at[number]))
	}
	for page := from / size; page*size < to; page++ {
		if !p.have[page].Load() {
			t.read(number, page, (to+size-1)/size)
			break
		}
	}
	return p
}

// begin takes memory for a section. It is not touched before it is read into.
func (s *section) begin(size int) *pages {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pages.Load(); p != nil {
		return p
	}
	n := len(s.sums) / sumSize
	p := &pages{data: make([]byte, size), have: make([]atomic.Bool, n), left: n}
	p.all.Store(n == 0)
	s.pages.Store(p)
	return p
}

// read reads the pages from first on that are missing, to end, and more of them where they are read in order.
func (t *Table) read(number, first, end int) {
	s := &t.section[number]
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pages.Load()
	if first == s.next {
		s.once = min(2*s.once, aheadMost)
	} else {
		s.once = 1
	}
	end = min(max(end, first+s.once), len(p.have))
	for first < end {
		last := first
		for last < end && !p.have[last].Load() {
			last++
		}
		if last > first {
			t.fill(number, p, first, last)
		}
		first = last + 1
	}
	s.next = end
}

// fill reads pages that are all missing. They are not seen by anyone before they are found good, or are zeros.
func (t *Table) fill(number int, p *pages, first, last int) {
	size, sums := pageSize(number), t.section[number].sums
	data := p.data[first*size : min(last*size, len(p.data))]
	err := t.readAt(data, t.at[number]+int64(first*size))
	for page := first; page < last && err == nil; page++ {
		if Sum(p.data[page*size:min((page+1)*size, len(p.data))]) != le.Uint32(sums[page*sumSize:]) {
			err = errDamaged
		}
	}
	if err != nil {
		clear(data)
		t.fail(err)
	}
	for page := first; page < last; page++ {
		p.have[page].Store(true)
	}
	p.left -= last - first
	p.all.Store(p.left == 0)
}

// kept reports whether a file that pages are read of stays open. Where an open file cannot be replaced it does not.
const kept = runtime.GOOS != "windows"

// readAt reads from the file, if it still has this table.
func (t *Table) readAt(data []byte, at int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		f, err := os.Open(t.path)
		if err != nil {
			return err
		}
		t.file = f
		header := make([]byte, HeaderSize)
		if _, err := f.ReadAt(header, 0); err != nil || !bytes.Equal(header, t.header) {
			t.close()
			return errStale
		}
	}
	_, err := t.file.ReadAt(data, at)
	if !kept {
		t.close()
	}
	return err
}

func (t *Table) close() {
	if t.file != nil {
		_ = t.file.Close() // it was only read
		t.file = nil
	}
}

func (t *Table) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
}

// Load reads what was not needed yet, and closes the file. A table that is to be used for long is loaded before
// another one takes its name.
func (t *Table) Load() {
	for i := range secWords {
		t.whole(i)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.close()
}

// text is a piece of a section of text, whose place and length stand in b.
func (t *Table) text(section int, b []byte) string {
	text := t.bytes(section, int(le.Uint32(b)), int(le.Uint32(b[4:])))
	return unsafe.String(unsafe.SliceData(text), len(text)) // nobody writes there any more
}

func (t *Table) name(b []byte) string { return t.text(secNames, b) }

func (t *Table) id(b []byte) string { return t.text(secIDs, b) }

// cut is the piece of a text whose place and length stand in b.
func cut(text string, b []byte) string {
	at, n := le.Uint32(b), le.Uint32(b[4:])
	return text[at : at+n]
}
