package replica

import (
	"context"
	"crypto/ed25519"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
	"leanctx/knowledge/state"
)

var long = flag.Bool("long", false, "also take in 100 MB of log")

// written is a log of n assertions of one replica, of which each tenth is about a fact
// that is there.
func written(t testing.TB, dir string, n int) (bytes int) {
	t.Helper()
	var lines []*Line
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	first := &Line{ID: "9c41e07d-1", At: at, Op: opKey, Public: encodeKey(publicOf(key))}
	if err := first.encode(key); err != nil {
		t.Fatal(err)
	}
	lines = append(lines, first)
	for i := range n {
		l := &Line{
			ID: fmt.Sprintf("9c41e07d-%d", i+2), At: at.Add(time.Duration(i) * time.Second), By: "cursor-a3f8", Op: opAssert, Category: fmt.Sprintf("room-%d", i%20),
			Key: fmt.Sprintf("component-%d", i-i%10/9*(i%100)), Value: fmt.Sprintf("the component %d listens on port %d and keeps its state in PostgreSQL", i, 1000+i),
			Confidence: new(0.9), Source: fmt.Sprintf("src/part%d.ts:12", i), SourceKind: "agent", Session: "s1",
		}
		if err := l.encode(key); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	text := join(lines)
	if err := os.MkdirAll(filepath.Join(dir, logDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, logDir, "9c41e07d.jsonl"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return len(text)
}

func BenchmarkTakeIn10000Lines(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		written(b, dir, 10_000)
		s, err := knowledge.Open(filepath.Join(dir, "store"), nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Trust(context.Background(), s, dir, "9c41e07d"); err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		if _, err := Sync(context.Background(), s, Options{Root: dir}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(begin).Seconds(), "s/takein")
		begin = time.Now()
		if _, err := Sync(context.Background(), s, Options{Root: dir}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(begin).Microseconds())/1000, "ms/nothing-new")
		_ = s.Close()
	}
}

// A year of a busy team stays small.
func TestAYearOfABusyTeamIsUnder10MB(t *testing.T) {
	if n := written(t, t.TempDir(), 20_000); n > 10_000_000 {
		t.Errorf("20,000 lines take %d bytes", n)
	} else {
		t.Logf("20,000 lines take %.1f MB", float64(n)/1e6)
	}
}

// A log of 100 MB is taken in. It takes a minute, so it is only run with -long.
func TestLogOf100MBIsTakenIn(t *testing.T) {
	n := 2_000
	if *long {
		n = 330_000
	}
	dir := t.TempDir()
	size := written(t, dir, n)
	s, err := knowledge.Open(filepath.Join(dir, "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := Trust(t.Context(), s, dir, "9c41e07d"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	r, err := Sync(context.Background(), s, Options{Root: dir})
	if err != nil || r.TakenIn != n {
		t.Errorf("of %d lines %d were taken in: %v", n, r.TakenIn, err)
	}
	t.Logf("%d MB in %v", size>>20, time.Since(begin))
}

// What a stranger's lines cost does not grow with the square of their number. Here each is about the
// same as the next one, and the last is about a fact of this store.
func TestManyLinesOfAStrangerAreNotLookedAt(t *testing.T) {
	dir := t.TempDir()
	s, err := knowledge.Open(filepath.Join(dir, "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "arch", Key: "db", Value: "PostgreSQL 16"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Sync(t.Context(), s, Options{Root: dir}); err != nil {
		t.Fatal(err)
	}
	var lines []*Line
	add := func(l *Line) {
		l.ID, l.At = fmt.Sprintf("deadbeef-%d", len(lines)+1), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		if err := l.encode(nil); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	end := func(i int) formats.RelationEnd {
		if i == 0 {
			return formats.RelationEnd{Name: formats.Name{Category: "arch", Key: "db"}}
		}
		return formats.RelationEnd{Name: formats.Name{Category: "x", Key: fmt.Sprint("k", i)}}
	}
	const n = 4000
	for i := n; i > 0; i-- {
		add(&Line{Op: opRelate, Relation: &formats.Relation{From: end(i), To: end(i - 1), Kind: "related_to", Count: 1}})
	}
	for i := range n {
		add(&Line{Op: opAssert, Category: "arch", Key: "db", Value: fmt.Sprint("MySQL ", i), SourceKind: "agent"})
		add(&Line{Op: opRename, Category: "y", Key: fmt.Sprint("k", i), To: &formats.Name{Category: "y", Key: fmt.Sprint("k", i+1)}})
	}
	if err := os.WriteFile(filepath.Join(dir, logDir, "deadbeef.jsonl"), join(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		r, err := Sync(ctx, s, Options{Root: dir})
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "lines were not looked at") || r.TakenIn > mostEntries+mostVersions+mostMoves {
			t.Errorf("%d taken in, %q", r.TakenIn, r.Warnings)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Fatal("the lines of a stranger take more than 30 s")
	}
}

// Of what strangers wrote so much is read, and what was taken in is indexed at once, so that no hook reads it
// all. Whatever stands in files before it, the key of a colleague is found.
func TestLinesOfStrangersHaveABudget(t *testing.T) {
	dir := t.TempDir()
	s, err := knowledge.Open(filepath.Join(dir, "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	written(t, dir, 10)
	var b strings.Builder
	for i := range 30 { // files that come before that of the colleague
		b.Reset()
		for j := range 100 {
			l := &Line{ID: fmt.Sprintf("%08x-%d", i, j+1), At: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Op: opAssert, Category: "x", Key: fmt.Sprint(i, "-", j), Value: strings.Repeat("v", 5000)}
			if err := l.encode(nil); err != nil {
				t.Fatal(err)
			}
			b.Write(l.text)
			b.WriteByte('\n')
		}
		if err := os.WriteFile(filepath.Join(dir, logDir, fmt.Sprintf("%08x.jsonl", i)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Sync(t.Context(), s, Options{Root: dir})
	if size := r.TakenIn * 5000; err != nil || size > maxOutside || size < maxOutside/4 || !strings.Contains(r.Text(), "lines were not looked at") {
		t.Fatalf("%v %s", err, r.Text())
	}
	if !index.Exists(filepath.Join(s.Dir(), "index")) {
		t.Error("there is no index")
	}
	if _, err := Trust(t.Context(), s, dir, "9c41e07d"); err != nil {
		t.Fatal(err)
	}
	if r, err = Sync(t.Context(), s, Options{Root: dir}); err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(st *state.State, _ time.Time) error {
		for i := range 9 {
			if vs := st.Versions(fact.IDOf(fmt.Sprintf("room-%d", i), fmt.Sprintf("component-%d", i))); len(vs) != 1 || vs[0].TakenIn {
				t.Errorf("%d: %+v", i, vs)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
