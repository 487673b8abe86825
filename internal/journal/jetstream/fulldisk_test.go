package jetstream_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream/natsserver"
)

// A server whose disk has no room left refuses writes with an answer, and goes on when there is
// room. What it acknowledged is there.
func TestDiskNearlyFull(t *testing.T) {
	t.Parallel()
	var free atomic.Uint64
	free.Store(1 << 30)
	fillAndFree(t, t.TempDir(), &natsserver.Options{Free: func(string) (uint64, uint64, error) { return free.Load(), 1 << 40, nil }},
		func() { free.Store(1 << 20) }, func() { free.Store(1 << 30) })
}

// The same with a disk that is really full, and was full before the server noticed.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := smallDisk(t, dir, 8<<20); err != nil {
		t.Skipf("SKIPPED, a small disk cannot be mounted here: %v", err)
	}
	filler := filepath.Join(dir, "filler")
	fillAndFree(t, filepath.Join(dir, "streams"), &natsserver.Options{}, func() {
		f, err := os.Create(filler)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := io.Copy(f, zeros{}); err == nil {
			t.Fatal("the disk does not become full")
		}
	}, func() {
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	})
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func fillAndFree(t *testing.T, dir string, o *natsserver.Options, fill, free func()) {
	t.Helper()
	o.Addr, o.Dir = "127.0.0.1:0", dir
	n, err := natsserver.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	a, b := join(t, n.URL()), join(t, n.URL())
	want := counters{}
	write := func(key string, wait time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		_, err := a.Update(ctx, func(counters, time.Time) ([]event, error) {
			return []event{{Key: key, Pad: strings.Repeat("x", 8<<10)}}, nil
		})
		if err == nil {
			want[key]++
		}
		return err
	}
	if err := write("before", time.Minute); err != nil {
		t.Fatal(err)
	}
	fill()
	const soon = 300 * time.Millisecond                                                          // a write of the server that fails has no answer
	for err = write("full", soon); !errors.Is(err, journal.ErrFull); err = write("full", soon) { // it is noticed soon
		if err != nil && !errors.Is(err, journal.ErrInDoubt) && !errors.Is(err, journal.ErrOffline) && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if got := b.newest(t); got["before"] != 1 || got["full"] < want["full"] {
		t.Errorf("while it is full: %v, want %v", got, want)
	}
	if err := a.stream.Report(t.Context(), 1); !errors.Is(err, journal.ErrFull) {
		t.Errorf("a report to a full server: %v", err)
	}
	free()
	for err = write("after", time.Minute); err != nil; err = write("after", time.Minute) {
		if !errors.Is(err, journal.ErrFull) && !errors.Is(err, journal.ErrOffline) {
			t.Fatal(err)
		}
	}
	for _, h := range []*home{a, b} {
		if got := h.newest(t); got["before"] != 1 || got["after"] != 1 || got["full"] < want["full"] {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
