package vectors_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/embed"
	"leanctx/embed/vectors"
)

// stopping is the built-in encoder until it has encoded left texts; then the
// context ends.
type stopping struct {
	vectors.Encoder
	left int
	stop func()
}

func (s *stopping) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	if s.left--; s.left < 0 {
		s.stop()
	}
	return s.Encoder.Encode(ctx, texts)
}

func vectorOf(t testing.TB, e vectors.Encoder, text string) []float32 {
	t.Helper()
	v, err := e.Encode(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

func TestFillGoesOnWhereItWas(t *testing.T) {
	dir := t.TempDir()
	var texts []vectors.Text
	for i := range 60 {
		texts = append(texts, vectors.Text{ID: fmt.Sprint("f-", i), Text: fmt.Sprintf("Service %d listens on port %d.", i, 8000+i)})
	}
	texts[31].Text = "PostgreSQL 16 is the primary data store."
	e := embed.Static()
	ctx, cancel := context.WithCancel(t.Context())
	n, err := vectors.Open(dir).Fill(ctx, &stopping{e, 25, cancel}, vectors.Changes{Texts: texts}, nil)
	if n != 25 || !errors.Is(err, context.Canceled) {
		t.Fatalf("filled %d, %v, want 25 and a context that ended", n, err)
	}
	var seen []int
	n, err = vectors.Open(dir).Fill(t.Context(), e, vectors.Changes{Texts: texts}, func(done, missing int) { seen = append(seen, done, missing) })
	if n != 35 || err != nil || len(seen) != 70 || seen[0] != 1 || seen[68] != 35 || seen[69] != 35 {
		t.Errorf("filled %d more, %v, progress %v, want 35 of 35", n, err, seen)
	}
	x := vectors.Open(dir)
	if n, err := x.Fill(t.Context(), e, vectors.Changes{Texts: texts}, nil); n != 0 || err != nil {
		t.Errorf("nothing was missing, and yet %d, %v", n, err)
	}
	hits, err := x.Scan(t.Context(), e.Name(), [][]float32{vectorOf(t, e, "the primary store is PostgreSQL")}, 3)
	if err != nil || len(hits) != 3 || hits[0].ID != "f-31" {
		t.Errorf("hits %v, %v", hits, err)
	}
}

// Two servers that fill at once do the work twice. What the write of one takes from the other's, the
// next fill adds.
func TestTwoFillAtOnce(t *testing.T) {
	dir := t.TempDir()
	e := embed.Static()
	var texts []vectors.Text
	for i := range 3000 {
		texts = append(texts, vectors.Text{ID: fmt.Sprintf("f-%016x", i), Text: fmt.Sprintf("fact number %d", i)})
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if _, err := vectors.Open(dir).Fill(t.Context(), e, vectors.Changes{Texts: texts}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n, err := vectors.Open(dir).Fill(t.Context(), e, vectors.Changes{Texts: texts}, nil); n == len(texts) || err != nil {
		t.Errorf("%d of %d were missing, %v", n, len(texts), err)
	}
	got, err := vectors.Open(dir).Entries()
	if err != nil {
		t.Error(err)
	}
	want := []vectors.EncoderEntries{{e.Name(), e.Dim(), len(texts)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
