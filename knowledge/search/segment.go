package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"
	index "github.com/blevesearch/bleve_index_api"
	api "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/blevesearch/vellum/levenshtein"
	zap "github.com/blevesearch/zapx/v17"
)

// segment is one of bleve's segments, wholly in memory: what happens to its file no longer matters to it.
type segment struct {
	*zap.SegmentBase
	deleted *roaring.Bitmap // by a later segment or a removal
}

var errSegment = errors.New("not a segment of this build")

// newSegment makes a segment of facts.
func newSegment(docs []index.Document) (*zap.SegmentBase, error) {
	for _, d := range docs {
		d.AddIDField()
	}
	made, _, err := new(zap.ZapPlugin).New(docs)
	if err != nil {
		return nil, err
	}
	base, ok := made.(*zap.SegmentBase)
	if !ok {
		return nil, errSegment
	}
	return base, nil
}

// openSegment reads a segment out of its file's bytes, whose checksum was found good. The footer, from its
// end: checksum, version, chunk mode (4 bytes each), sections, stored, facts (8 each), length of a writer's name (4).
func openSegment(data []byte) (*zap.SegmentBase, error) {
	if len(data) < zap.FooterSize {
		return nil, errSegment
	}
	f := data[len(data)-zap.FooterSize:]
	name := binary.BigEndian.Uint32(f)
	docs, stored := binary.BigEndian.Uint64(f[4:]), binary.BigEndian.Uint64(f[12:])
	sections, chunk := binary.BigEndian.Uint64(f[20:]), binary.BigEndian.Uint32(f[28:])
	version, crc := binary.BigEndian.Uint32(f[32:]), binary.BigEndian.Uint32(f[36:])
	if version != zap.Version || name != 0 {
		return nil, errSegment
	}
	body := data[:len(data)-zap.FooterSize]
	return zap.InitSegmentBase(body, crc, chunk, docs, stored, sections, nil, new(api.Stats))
}

// merge writes segments as one, without what was deleted, to path, and opens it.
func merge(segments []*segment, path string) (*zap.SegmentBase, error) {
	bases := make([]api.Segment, len(segments))
	drops := make([]*roaring.Bitmap, len(segments))
	for i, s := range segments {
		bases[i], drops[i] = s.SegmentBase, s.deleted
	}
	if _, _, err := new(zap.ZapPlugin).Merge(bases, drops, path, nil, nil); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return openSegment(data)
}

// live is how many facts of the segment are not deleted.
func (s *segment) live() int { return int(s.Count()) - int(s.deleted.GetCardinality()) }

// view is a segment being read by one search: bleve's dictionaries must not be shared.
type view struct {
	*segment
	offset uint32
	except *roaring.Bitmap
	dicts  map[string]api.TermDictionary
	list   api.PostingsList
	iter   api.PostingsIterator
	mine   []uint32
}

// dictionary is nil for a field that no fact of the segment has.
func (v *view) dictionary(field string) (api.TermDictionary, error) {
	if d, ok := v.dicts[field]; ok {
		return d, nil
	}
	d, err := v.Dictionary(field)
	if err != nil {
		return nil, err
	}
	if d.Cardinality() == 0 {
		d = nil
	}
	v.dicts[field] = d
	return d, nil
}

// postings is the facts that hold a term; none of them: false.
func (v *view) postings(term, field string) (found bool, err error) {
	d, err := v.dictionary(field)
	if err != nil || d == nil {
		return false, err
	}
	v.list, err = d.PostingsList([]byte(term), v.except, v.list)
	return err == nil && v.list.Count() > 0, err
}

func (v *view) count(term, field string) (int, error) {
	found, err := v.postings(term, field)
	if !found {
		return 0, err
	}
	return int(v.list.Count()), nil
}

// leap is how many postings may be read in the time that finding the next of a given fact takes.
const leap = 8

// visit gives the postings of a term. only, where it is not nil, are the segment's facts that matter, in order.
func (v *view) visit(term, field string, only []uint32, use func(posting)) error {
	found, err := v.postings(term, field)
	if !found {
		return err
	}
	v.iter = v.list.Iterator(true, true, false, v.iter)
	if only != nil && uint64(len(only))*leap < v.list.Count() {
		return v.visitOnly(only, use)
	}
	for {
		p, err := v.iter.Next()
		if err != nil || p == nil {
			return err
		}
		use(v.posting(p))
	}
}

func (v *view) visitOnly(only []uint32, use func(posting)) error {
	at := -1
	for _, d := range only {
		if int(d) <= at {
			continue // the iterator has gone past it: it does not hold the term
		}
		p, err := v.iter.Advance(uint64(d))
		if err != nil || p == nil {
			return err
		}
		at = int(p.Number())
		if at == int(d) {
			use(v.posting(p))
		}
	}
	return nil
}

func (v *view) posting(p api.Posting) posting {
	norm := p.Norm()
	return posting{v.offset + uint32(p.Number()), uint32(p.Frequency()), uint32(math.Round(1 / (norm * norm)))}
}

// similar gives the words of a field that are like term: those of a range of the dictionary that the automaton
// lets pass, nil all of them.
func (v *view) similar(term, field string, l looking, use func(string)) error {
	d, err := v.dictionary(field)
	if err != nil || d == nil {
		return err
	}
	words, ok := d.(interface {
		AutomatonIteratorOmitCount(api.Automaton, []byte, []byte) api.DictionaryIterator
	})
	if !ok {
		return errSegment
	}
	it := words.AutomatonIteratorOmitCount(l.automaton, []byte(l.start), after(l.start))
	for {
		e, err := it.Next()
		if err != nil {
			return err
		}
		if e == nil {
			return nil
		}
		if l.how.holds(term, e.Term) {
			use(strings.Clone(e.Term))
		}
	}
}

// looking says where in a dictionary words like another stand.
type looking struct {
	how       likeness
	start     string // they begin with it
	automaton api.Automaton
}

func lookFor(term string, how likeness) (looking, error) {
	l := looking{how: how, start: term}
	if how == prefixed {
		return l, nil
	}
	_, n := utf8.DecodeRuneInString(term)
	l.start = term[:n]
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

// numbersOf finds the facts of the ids that are not deleted.
func (s *segment) numbersOf(ids []string) (*roaring.Bitmap, error) {
	out := roaring.New()
	v := &view{segment: s, except: s.deleted, dicts: map[string]api.TermDictionary{}}
	for _, id := range ids {
		if err := v.visit(byID+id, exactField, nil, func(p posting) { out.Add(p.doc) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ident tells which fact n is. Its texts are part of the segment and not copied: a search may ask for very many.
func (s *segment) ident(n uint32) (ident, error) {
	b, err := s.DocID(uint64(n))
	if err != nil {
		return ident{}, err
	}
	text := unsafe.String(unsafe.SliceData(b), len(b)) // nobody writes into a segment
	id, rest, ok := strings.Cut(text, "\x00")
	cut := strings.LastIndexByte(rest, 0)
	if !ok || cut < 0 {
		return ident{}, fmt.Errorf("fact %d: %w", n, errIdent)
	}
	return ident{id, rest[:cut]}, nil
}

func (s *segment) identify(n uint32) (ident, [fieldCount]int, error) {
	b, err := s.DocID(uint64(n))
	if err != nil {
		return ident{}, [fieldCount]int{}, err
	}
	who, sizes, err := parseExternalID(string(b))
	if err != nil {
		return who, sizes, fmt.Errorf("fact %d: %w", n, err)
	}
	return who, sizes, nil
}
