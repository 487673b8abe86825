package search

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	api "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

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

// asBatch reads a segment's file.
func asBatch(t *testing.T, path string) *batch {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := blocks.New(path, 0, len(data), blocks.Sums(data))
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSegment(file, roaring.New())
	if err != nil {
		t.Fatal(err)
	}
	b, err := thaw(s, s.deleted)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What we write is a segment of bleve's: it merges ours, and what comes of that is what we make of the same facts.
func TestBleveReadsOurSegments(t *testing.T) {
	dir := t.TempDir()
	common := madeUps(0, 600) // of more, the dictionaries are divided, which bleve knows nothing of
	for i := range common {
		common[i].Value += " common common"
	}
	sets := [][]Doc{common, madeUps(600, 601), madeUps(601, 630), {{ID: "bare"}}}
	var bases []api.Segment
	var drops []*roaring.Bitmap
	for i, docs := range sets {
		path := filepath.Join(dir, string(rune('a'+i)))
		if err := writeSegment(path, []*batch{newBatch(docs)}); err != nil {
			t.Fatal(err)
		}
		bases, drops = append(bases, bleves(t, path)), append(drops, nil)
	}
	merged := filepath.Join(dir, "merged")
	if _, _, err := new(zap.ZapPlugin).Merge(bases, drops, merged, nil, nil); err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(dir, "ours")
	if err := writeSegment(ours, []*batch{newBatch(sets[0]), newBatch(slices.Concat(sets[1:]...))}); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(dir, "again")
	if err := writeSegment(again, []*batch{asBatch(t, merged)}); err != nil {
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

// Large additions answer as small ones do, before and after they are written, whatever is replaced or removed.
func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	docs := madeUps(0, 2*batchSize+500)
	changed := madeUps(40_000, 40_000+1200)
	for i := range changed {
		changed[i].ID = docs[i*17].ID
	}
	few := slices.Clone(docs[100:150])
	for i := range few {
		few[i].Value += " gateway latency"
	}
	memory, x := mustOpen(t, ""), mustOpen(t, dir)
	mustAdd(t, x, slices.Concat(docs[:10], docs)...) // some of them twice
	for _, d := range docs {
		mustAdd(t, memory, d)
	}
	check := func() { t.Helper(); same(t, memory, x) }
	check()
	for _, d := range append(changed, few...) {
		mustAdd(t, memory, d)
	}
	mustAdd(t, x, changed...)
	mustAdd(t, x, few...)
	check()
	for _, y := range []*Index{memory, x} {
		if err := y.Remove([]string{docs[3].ID, docs[17].ID, few[1].ID, "unknown"}); err != nil {
			t.Fatal(err)
		}
	}
	check()
	if x.Pending() != memory.Pending() {
		t.Errorf("%d pending, want %d", x.Pending(), memory.Pending())
	}
	if err := x.Sync(t.Context(), Generation{At: at(1), Epoch: "e"}, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := x.Since(); !ok || x.Pending() != 0 {
		t.Fatalf("%d pending, a generation: %v", x.Pending(), ok)
	}
	check()
	same(t, memory, mustOpen(t, dir))
	// And upon a generation.
	more := madeUps(50_000, 52_000)
	mustAdd(t, x, more...)
	for _, d := range more {
		mustAdd(t, memory, d)
	}
	check()
	if err := x.Sync(t.Context(), Generation{At: at(2), Epoch: "e"}, forbidden(t)); err != nil {
		t.Fatal(err)
	}
	check()
	same(t, memory, mustOpen(t, dir))
}

// A disk that is full ends the writing of a segment at once, with what the disk said.
func TestSegmentOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile(filepath.Join(t.TempDir(), "1.zap"), os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	w := &writer{file: full, bitmap: roaring.New()}
	batches := []*batch{newBatch(madeUps(0, 3000))}
	w.identities(batches)
	w.flush()
	if _, err := w.field(batches, fieldValue); err == nil || len(err.Error()) > 1000 {
		t.Errorf("%.200v", err)
	}
}
