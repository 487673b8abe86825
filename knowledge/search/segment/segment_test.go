package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	api "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

	"leanctx/internal/proctest"
	"leanctx/knowledge/search/blocks"
)

// bleves is a segment's file as bleve reads it.
func bleves(t *testing.T, path string) *zap.SegmentBase {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	body := data[:len(data)-zap.FooterSize]
	f, err := parseFooter(data[len(body):])
	if err != nil {
		t.Fatal(err)
	}
	s, err := zap.InitSegmentBase(body, f.checksum, chunkMode, f.docs, f.stored, f.sections, nil, new(api.Stats))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fields are those of the documents made up here.
var fields = []string{"title", "body"}

// made is a content of documents of made up words; each has a word in common with the others.
func made(from, to int) Content {
	c := Content{}
	r := rand.New(rand.NewPCG(1, uint64(from)))
	title, body := new(Collector), new(Collector)
	for n := range uint32(to - from) {
		name := fmt.Sprintf("doc-%05d", from+int(n))
		title.Add(n, name)
		title.Long(1)
		length := r.IntN(20)
		for range length {
			body.Add(n, fmt.Sprintf("w%d", r.IntN(1+r.IntN(3000))))
		}
		body.Add(n, "common")
		body.Add(n, "common")
		body.Long(length + 2)
		c.Stored = append(c.Stored, name+" stored")
	}
	c.Fields = []Field{title.Sort(), body.Sort()}
	return c
}

// partsOf are contents as parts.
func partsOf(contents ...Content) (parts []Part) {
	for i := range contents {
		parts = append(parts, &contents[i])
	}
	return parts
}

// contentOf reads all that a part has.
func contentOf(t *testing.T, p Part) (c Content) {
	t.Helper()
	err := p.identities(func(text string) error { c.Stored = append(c.Stored, text); return nil })
	if err != nil {
		t.Fatal(err)
	}
	c.Fields = make([]Field, len(fields))
	for i, name := range fields {
		words, err := p.words(i, name)
		if err != nil {
			t.Fatal(err)
		}
		f := &c.Fields[i]
		for {
			word, posts, ok, err := words.next()
			if err != nil {
				t.Fatal(err)
			}
			f.From = append(f.From, uint32(len(f.Posts)))
			if !ok {
				break
			}
			f.Terms, f.Posts = append(f.Terms, strings.Clone(word)), append(f.Posts, posts...)
		}
	}
	return c
}

// opened reads a segment's file.
func opened(t *testing.T, path string) *Segment {
	t.Helper()
	sums, size, err := Sums(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := blocks.New(path, 0, size, sums)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is written is read, whole and word by word, whether its dictionaries are divided or not.
func TestWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1")
	first, second := made(0, 5000), made(5000, 9000)
	if err := Write(t.Context(), path, fields, partsOf(first, second)); err != nil {
		t.Fatal(err)
	}
	s := opened(t, path)
	gone := roaring.BitmapOf(0, 17, 8999)
	got := contentOf(t, NewRest(s, nil))
	if s.Docs() != 9000 || !slices.Equal(got.Stored, slices.Concat(first.Stored, second.Stored)) {
		t.Fatalf("%d documents", s.Docs())
	}
	if n := len(s.fields["title"]); n != 3 {
		t.Errorf("9,000 words are in %d dictionaries", n)
	}
	all, some := NewView(s, 100, nil), NewView(s, 100, gone)
	for i, name := range fields {
		f := got.Fields[i]
		for _, term := range append(f.Terms[:len(f.Terms):len(f.Terms)], "", "zzz") {
			want := f.Of(term)
			var read, without []Posting
			err := errors.Join(
				all.Visit(term, name, nil, func(p Posting) { p.Doc -= 100; read = append(read, p) }),
				some.Visit(term, name, nil, func(p Posting) { p.Doc -= 100; without = append(without, p) }))
			n, err2 := some.Count(term, name)
			if err != nil || err2 != nil || !slices.Equal(read, want) {
				t.Fatalf("%s:%q: %v, want %v, %v", name, term, read, want, errors.Join(err, err2))
			}
			want = slices.DeleteFunc(slices.Clone(want), func(p Posting) bool { return gone.Contains(p.Doc) })
			if !slices.Equal(without, want) || n != len(want) {
				t.Fatalf("%s:%q without some: %v, %d, want %v", name, term, without, n, want)
			}
		}
	}
	var few []uint32
	if err := all.Visit("common", "body", []uint32{3, 100, 5000, 9099, 9100, 20_000}, func(p Posting) { few = append(few, p.Doc) }); err != nil || !slices.Equal(few, []uint32{100, 5000, 9099}) {
		t.Errorf("of some: %v, %v", few, err)
	}
}

// What is not a segment is no segment, and a file changed after it was written is told.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "1")
	if err := Write(t.Context(), path, fields, partsOf(made(0, 50))); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"empty": {}, "short": []byte("abc"), "cut": data[:len(data)-1], "not one": bytes.Repeat([]byte("x"), 200),
		"changed": append(append(bytes.Clone(data[:9]), data[9]^1), data[10:]...),
	} {
		other := filepath.Join(dir, name)
		if err := os.WriteFile(other, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Sums(other); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "changed" {
			continue // its end is good: the checksums tell
		}
		file, err := blocks.New(other, 0, len(bad), blocks.Sums(bad))
		if err == nil {
			_, err = Open(file)
		}
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, blocks.ErrDamaged) {
			t.Errorf("%s is opened: %v", name, err)
		}
	}
	if err := Write(t.Context(), path, fields, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a segment is written again: %v", err)
	}
}

// What we write is a segment of bleve's: it merges ours, and what comes of that is what we make of the same facts.
func TestBleveReadsOurSegments(t *testing.T) {
	dir := t.TempDir()
	// Of more documents the dictionaries are divided, which bleve knows nothing of.
	sets := []Content{made(0, 600), made(600, 601), made(601, 630)}
	var bases []api.Segment
	var drops []*roaring.Bitmap
	for i, c := range sets {
		path := filepath.Join(dir, string(rune('a'+i)))
		if err := Write(t.Context(), path, fields, partsOf(c)); err != nil {
			t.Fatal(err)
		}
		bases, drops = append(bases, bleves(t, path)), append(drops, nil)
	}
	merged := filepath.Join(dir, "merged")
	if _, _, err := new(zap.ZapPlugin).Merge(bases, drops, merged, nil, nil); err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(dir, "ours")
	if err := Write(t.Context(), ours, fields, partsOf(sets...)); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(dir, "again")
	if err := Write(t.Context(), again, fields, []Part{NewRest(opened(t, merged), nil)}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(ours)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(again); err != nil || !bytes.Equal(want, got) {
		t.Errorf("%d bytes of what bleve merged, %d of ours, %v", len(got), len(want), err)
	}
}

// A disk that is full ends the writing of a segment at once, with what the disk said.
func TestSegmentOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile(filepath.Join(t.TempDir(), "1.zap"), os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	w := &writer{file: full, bitmap: roaring.New()}
	c := made(0, 3000)
	if _, _, err := w.identities(t.Context(), partsOf(c)); err != nil {
		t.Fatal(err)
	}
	w.flush()
	words, _ := c.words(1, "")
	if _, err := w.field(t.Context(), []input{{cursor: words}}); err == nil || len(err.Error()) > 1000 {
		t.Errorf("%.200v", err)
	}
}

// What is left of several segments is one, byte for byte what is written of those documents at once.
func TestMergedAsWrittenAtOnce(t *testing.T) {
	dir := t.TempDir()
	sets := []Content{made(0, 5000), made(5000, 5001), made(5001, 9000)}
	gone := []*roaring.Bitmap{roaring.BitmapOf(0, 17, 4999), roaring.BitmapOf(0), nil}
	var parts, left []Part
	for i := range sets {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := Write(t.Context(), path, fields, partsOf(sets[i])); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, NewRest(opened(t, path), gone[i]))
		c := contentOf(t, NewRest(opened(t, path), gone[i]))
		if n := len(sets[i].Stored) - len(c.Stored); gone[i] != nil && uint64(n) != gone[i].GetCardinality() {
			t.Errorf("part %d lacks %d documents", i, n)
		}
		left = append(left, &c)
	}
	merged, once := filepath.Join(dir, "merged"), filepath.Join(dir, "once")
	if err := errors.Join(Write(t.Context(), merged, fields, parts), Write(t.Context(), once, fields, left)); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(once)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(merged); err != nil || !bytes.Equal(want, got) {
		t.Errorf("%d bytes of what was merged, %d of the same at once, %v", len(got), len(want), err)
	}
}

// A writer looks at its context often, and leaves no file when that ends.
func TestWriteEnds(t *testing.T) {
	c := made(0, 9000)
	path := filepath.Join(t.TempDir(), "1")
	for looks := 0; ; looks++ {
		err := Write(proctest.Countdown(t.Context(), looks), path, fields, partsOf(c))
		if err == nil {
			if looks < 6 { // of 9,000 documents and 9,000 titles it is three each
				t.Errorf("looked %d times", looks)
			}
			return
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("a file is left: %v", err)
		}
	}
}
