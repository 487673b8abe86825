package index

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"leanctx/knowledge/search/blocks"
	"leanctx/knowledge/search/segment"
)

// mappingVersion names the analyzer, the fields and the files; change it with any of them. Generations of
// another version are not read.
const mappingVersion = 4

// generation is an index on disk that nobody writes any more.
type generation struct {
	number   uint64
	dir      string
	header   header
	segments []kept // as the header has them
}

// kept is a segment of a generation.
type kept struct {
	*segment.Segment
	deleted *roaring.Bitmap
}

// identify tells which fact n is and how long its fields are.
func (s kept) identify(n uint32) (who Ident, sizes [FieldCount]int, err error) {
	text, err := s.Stored(n)
	if err == nil {
		who, sizes, err = parseExternalID(text)
	}
	if err != nil {
		err = fmt.Errorf("fact %d: %w", n, err)
	}
	return who, sizes, err
}

// numbersOf finds the facts of the ids that are not deleted.
func (s kept) numbersOf(ids []string) (*roaring.Bitmap, error) {
	out := roaring.New()
	v := segment.NewView(s.Segment, 0, s.deleted)
	for _, id := range ids {
		if err := v.Visit(byID+id, exactField, nil, func(p segment.Posting) { out.Add(p.Doc) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func generationName(n uint64) string { return fmt.Sprintf("%d-m%d", n, mappingVersion) }

// parseGeneration takes a directory's name apart.
func parseGeneration(name string) (n uint64, mapping int, ok bool) {
	number, m, found := strings.Cut(name, "-m")
	n, err := strconv.ParseUint(number, 10, 64)
	mapping, err2 := strconv.Atoi(m)
	return n, mapping, found && err == nil && err2 == nil
}

// generations lists those of this build's mapping, newest first, and the greatest number of any mapping.
func generations(dir string) (numbers []uint64, greatest uint64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	for _, e := range entries {
		if n, m, ok := parseGeneration(e.Name()); ok {
			greatest = max(greatest, n)
			if m == mappingVersion {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	slices.Reverse(numbers)
	return numbers, greatest, nil
}

// openNewest opens the newest good generation, nil where there is none. One that goes away while it is being
// read has been replaced by a newer one, so the directory is read again.
func openNewest(dir string) (*generation, []error) {
	var problems []error
	for range 4 {
		numbers, _, err := generations(dir)
		if err != nil {
			return nil, append(problems, err)
		}
		vanished := false
		for _, n := range numbers {
			g, err := openGeneration(dir, n)
			if err == nil {
				return g, problems
			}
			vanished = vanished || errors.Is(err, fs.ErrNotExist)
			problems = append(problems, err)
		}
		if !vanished {
			break
		}
	}
	return nil, problems
}

// openGeneration opens a generation. Its segments are read, and each block of them checked, as searches need it.
func openGeneration(dir string, n uint64) (g *generation, err error) {
	g = &generation{number: n, dir: filepath.Join(dir, generationName(n))}
	defer func() {
		if p := recover(); p != nil {
			g, err = nil, fmt.Errorf("%s: %w: %v", g.dir, ErrDamaged, p)
		}
	}()
	if g.header, err = readHeader(g.dir); err != nil {
		return nil, err
	}
	for _, f := range g.header.Segments {
		path := filepath.Join(g.dir, f.Name)
		file, err := blocks.New(path, 0, f.Size, f.sums())
		if err != nil {
			return nil, err
		}
		deleted := roaring.New()
		if _, err := deleted.FromBuffer(f.Deleted); err != nil && len(f.Deleted) > 0 {
			return nil, fmt.Errorf("%s: %w", g.dir, err)
		}
		s, err := segment.Open(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		g.segments = append(g.segments, kept{s, deleted})
	}
	return g, nil
}

// sortedIDs is the ids of a set, in order.
func sortedIDs(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
