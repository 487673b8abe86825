package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leanctx/internal/journal"
)

// pad makes a commit about as long as that of a fact.
var pad = strings.Repeat("what is believed ", 30)

func padded(key string) func(counters, time.Time) ([]event, error) {
	return func(counters, time.Time) ([]event, error) { return []event{{Key: key, Add: 1, Pad: pad}}, nil }
}

// grown returns a log of n commits in one snapshot, and some after it.
func grown(b *testing.B, n int) *testLog {
	b.Helper()
	l := open(b, b.TempDir(), nil)
	for from := 0; from < n; from += 1000 {
		_, err := l.Update(b.Context(), func(counters, time.Time) (es []event, _ error) {
			for i := from; i < min(n, from+1000); i++ {
				es = append(es, event{Key: fmt.Sprintf("fact-%d", i), Add: 1, Pad: pad})
			}
			return es, nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Compact(b.Context()); err != nil {
		b.Fatal(err)
	}
	update(b, l, "x")
	return l
}

// bareAppend appends a line to a file and syncs it.
func bareAppend(b *testing.B) func() {
	b.Helper()
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	line := []byte(strings.Repeat("x", 620) + "\n") // as long as an update's
	return func() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBareAppendFsync(b *testing.B) {
	step := bareAppend(b)
	for b.Loop() {
		step()
	}
}

// BenchmarkUpdate takes turns with a bare append and fsync of as many bytes. On a shared disk
// one means nothing without the other. "×bare" is how many times as long an update takes,
// "commit-ns" what it takes.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("commits=%d", n), func(b *testing.B) {
			l, bare := grown(b, n), bareAppend(b)
			var took, floor time.Duration
			for b.Loop() {
				t0 := time.Now()
				bare()
				t1 := time.Now()
				if _, err := l.Update(b.Context(), padded("x")); err != nil {
					b.Fatal(err)
				}
				floor += t1.Sub(t0)
				took += time.Since(t1)
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "commit-ns")
			b.ReportMetric(took.Seconds()/floor.Seconds(), "×bare")
		})
	}
}

// BenchmarkUpdateParallel is group commit: callers that wait share an fsync.
func BenchmarkUpdateParallel(b *testing.B) {
	for _, callers := range []int{4, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			var syncs atomic.Int64
			l := open(b, b.TempDir(), &journal.Options{Fault: func(op, name string) error {
				if op == "sync" && name == "state.journal" {
					syncs.Add(1)
				}
				return nil
			}})
			b.SetParallelism(callers / 2)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := l.Update(context.Background(), padded("x")); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/float64(max(1, syncs.Load())), "commits/fsync")
		})
	}
}

// BenchmarkUpdateManyLogs is eight writers that do not know of each other.
// "wait-ms" is the longest that an update took, "share" how many updates the one
// with the fewest made for one of the busiest.
func BenchmarkUpdateManyLogs(b *testing.B) {
	const logs = 8
	dir := b.TempDir()
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(b.N))
	counts := make([]int, logs)
	waits := make([]time.Duration, logs)
	b.ResetTimer()
	for i := range logs {
		l := open(b, dir, &journal.Options{LockTimeout: time.Minute})
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				begin := time.Now()
				if _, err := l.Update(context.Background(), padded("x")); err != nil {
					b.Error(err)
					return
				}
				counts[i]++
				waits[i] = max(waits[i], time.Since(begin))
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(slices.Max(waits).Milliseconds()), "wait-ms")
	b.ReportMetric(float64(slices.Min(counts))/float64(max(1, slices.Max(counts))), "share")
}

func BenchmarkView(b *testing.B) {
	l := grown(b, 100_000)
	for b.Loop() {
		if err := l.View(b.Context(), func(counters, journal.Head) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFollow is a view in another log after each update.
func BenchmarkFollow(b *testing.B) {
	dir := b.TempDir()
	l, other := open(b, dir, nil), open(b, dir, nil)
	update(b, l, "x")
	for b.Loop() {
		b.StopTimer()
		update(b, l, "x")
		b.StartTimer()
		if err := other.View(b.Context(), func(counters, journal.Head) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen reads a journal of 10,000 commits.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	l := open(b, dir, nil)
	var wg sync.WaitGroup
	for range 500 { // together, for speed
		wg.Go(func() {
			for range 20 {
				if _, err := l.Update(b.Context(), padded("x")); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.SetBytes(l.Stats().JournalBytes)
	for b.Loop() {
		l, err := journal.Open(dir, machine{}, nil)
		if err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
}
