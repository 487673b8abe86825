package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"unsafe"

	"github.com/blevesearch/vellum"
	"github.com/blevesearch/vellum/levenshtein"
	zap "github.com/blevesearch/zapx/v17"

	"leanctx/knowledge/search/blocks"
	"leanctx/knowledge/words"
)

// Segment is one of bleve's segments as we read it: of its file only what a search needs, when it needs it.
// bleve's own reader wants all of it in memory, or mapped. It may be used by several goroutines at once.
type Segment struct {
	file   *blocks.File
	docs   int
	stored int // where the places of what is stored stand
	fields map[string][]*dictionary

	mu sync.Mutex // of what was read of dictionaries
}

// dictionary has the words of a field from first on, to the first of the next one.
type dictionary struct {
	first string
	place int // where its section stands
	words *vellum.FST
}

// ErrDamaged says that a file is not a segment that this build has written.
var ErrDamaged = errors.New("not a segment of this build")

// footer is what ends a segment's file. From the end: checksum, version, chunk mode (4 bytes each), sections,
// stored, facts (8 each), length of a writer's name (4).
type footer struct {
	docs, stored, sections uint64
	checksum               uint32
}

// chunkMode is how bleve divides the frequencies of a word: see chunks.
const chunkMode = 1026

func parseFooter(f []byte) (footer, error) {
	if len(f) != zap.FooterSize || binary.BigEndian.Uint32(f) != 0 ||
		binary.BigEndian.Uint32(f[28:]) != chunkMode || binary.BigEndian.Uint32(f[32:]) != zap.Version {
		return footer{}, ErrDamaged
	}
	return footer{
		docs: binary.BigEndian.Uint64(f[4:]), stored: binary.BigEndian.Uint64(f[12:]),
		sections: binary.BigEndian.Uint64(f[20:]), checksum: binary.BigEndian.Uint32(f[36:]),
	}, nil
}

// Open reads where the parts of a segment stand. Whatever else is read of it may be an [ErrDamaged] or one of package
// blocks, and the libraries under this may panic over a file that has good checksums and was not written here.
func Open(file *blocks.File) (*Segment, error) {
	end, err := file.Bytes(file.Len()-zap.FooterSize, file.Len())
	if err != nil {
		return nil, err
	}
	f, err := parseFooter(end)
	if err != nil {
		return nil, err
	}
	s := &Segment{file: file, docs: int(f.docs), stored: int(f.stored), fields: map[string][]*dictionary{}}
	at := int(f.sections)
	n, at, err := s.uvarint(at)
	if err != nil {
		return nil, err
	}
	for i := range int(n) {
		b, err := file.Bytes(at+8*i, at+8*i+8)
		if err != nil {
			return nil, err
		}
		if err := s.field(int(binary.BigEndian.Uint64(b))); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// field reads where the parts of one field stand: the length of its name, the name, options, the number of
// sections, and the kind (2 bytes) and place (8) of each.
func (s *Segment) field(at int) error {
	n, at, err := s.uvarint(at)
	if err != nil {
		return err
	}
	name, err := s.file.Bytes(at, at+int(n))
	if err != nil {
		return err
	}
	if _, at, err = s.uvarint(at + int(n)); err != nil {
		return err
	}
	n, at, err = s.uvarint(at)
	if err != nil {
		return err
	}
	for i := range int(n) {
		b, err := s.file.Bytes(at+10*i, at+10*i+10)
		if err != nil {
			return err
		}
		if binary.BigEndian.Uint16(b) == zap.SectionInvertedTextIndex {
			field, first, _ := strings.Cut(string(name), partMark)
			if place := int(binary.BigEndian.Uint64(b[2:])); place > 0 {
				s.fields[field] = append(s.fields[field], &dictionary{first: first, place: place})
			}
		}
	}
	return nil
}

// uvarint reads a number and says where it ends.
func (s *Segment) uvarint(at int) (n uint64, end int, err error) {
	b, err := s.file.Bytes(at, at+binary.MaxVarintLen64)
	if err != nil {
		return 0, 0, err
	}
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, 0, fmt.Errorf("number at %d: %w", at, ErrDamaged)
	}
	return n, at + size, nil
}

// uvarints reads numbers that stand one after another.
func (s *Segment) uvarints(at int, into ...*uint64) (end int, err error) {
	for _, n := range into {
		if *n, at, err = s.uvarint(at); err != nil {
			return 0, err
		}
	}
	return at, nil
}

// holding is the dictionary that has a word if any has; nil where the field has none.
func (s *Segment) holding(term, field string) *dictionary {
	all := s.fields[field]
	i := sort.Search(len(all), func(i int) bool { return all[i].first > term })
	if len(all) == 0 {
		return nil
	}
	return all[max(0, i-1)]
}

// ranging are the dictionaries that have words from from on, to before end; nil ends nowhere.
func (s *Segment) ranging(field, from string, end []byte) []*dictionary {
	all := s.fields[field]
	i := sort.Search(len(all), func(i int) bool { return all[i].first > from })
	j := len(all)
	if end != nil {
		j = sort.Search(len(all), func(i int) bool { return all[i].first >= string(end) })
	}
	return all[max(0, i-1):max(0, i-1, j)]
}

// read reads a dictionary.
func (s *Segment) read(d *dictionary) (*vellum.FST, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.words != nil {
		return d.words, nil
	}
	var from, to, place uint64 // doc values, of which there are none, stand first
	if _, err := s.uvarints(d.place, &from, &to, &place); err != nil {
		return nil, err
	}
	n, begin, err := s.uvarint(int(place))
	if err != nil {
		return nil, err
	}
	b, err := s.file.Bytes(begin, begin+int(n))
	if err != nil {
		return nil, err
	}
	d.words, err = vellum.Load(b)
	return d.words, err
}

// Docs is how many documents it has, those that are left out since among them. They are numbered from 0.
func (s *Segment) Docs() int { return s.docs }

// Stored is what is stored of a document. It is part of the segment and not copied: a search may ask for very many. It
// stands first of what bleve stores, after the lengths of what is said about that, of that itself, and, within the
// first, of the text.
func (s *Segment) Stored(n uint32) (string, error) {
	if int(n) >= s.docs {
		return "", fmt.Errorf("document %d of %d: %w", n, s.docs, ErrDamaged)
	}
	b, err := s.file.Bytes(s.stored+8*int(n), s.stored+8*int(n)+8)
	if err != nil {
		return "", err
	}
	at := int(binary.BigEndian.Uint64(b))
	const often = 192 // bytes that most need
	if b, err = s.file.Bytes(at, at+often); err != nil {
		return "", err
	}
	about, n1 := binary.Uvarint(b)
	_, n2 := binary.Uvarint(b[max(0, n1):])
	start := max(0, n1) + max(0, n2)
	size, n3 := binary.Uvarint(b[start:])
	if n1 <= 0 || n2 <= 0 || n3 <= 0 {
		return "", fmt.Errorf("document %d: %w", n, ErrDamaged)
	}
	from, to := start+int(about), start+int(about)+int(size)
	if to > len(b) {
		if b, err = s.file.Bytes(at, at+to); err != nil {
			return "", err
		}
		if to > len(b) {
			return "", fmt.Errorf("document %d: %w", n, ErrDamaged)
		}
	}
	b = b[from:to]
	return unsafe.String(unsafe.SliceData(b), len(b)), nil // nobody writes there any more
}

// Look says where in a dictionary words like another stand.
type Look struct {
	term      string
	how       words.Likeness
	start     string // they begin with it
	automaton vellum.Automaton
}

// LookFor prepares a look for the words that are like a term.
func LookFor(term string, how words.Likeness) (Look, error) {
	l := Look{term: term, how: how, start: how.Start(term)}
	if how == words.Prefixed {
		return l, nil
	}
	builder, err := levenshtein.NewLevenshteinAutomatonBuilder(1, true)
	if err != nil {
		return l, err
	}
	l.automaton, err = builder.BuildDfa(term, 1)
	return l, err
}

// after is the least key greater than all that begin with prefix.
func after(prefix string) []byte {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}
