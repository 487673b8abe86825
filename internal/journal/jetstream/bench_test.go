package jetstream_test

import (
	"flag"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"leanctx/internal/journal"
)

var long = flag.Bool("long", false, "run the long rounds")

// One commit through a server on this machine, next to a bare publish that the
// same server acknowledges with a sync.
func BenchmarkUpdate(b *testing.B) {
	s := serve(b)
	h := join(b, s.url())
	h.add(b, "x")
	js := bare(b, s.url())
	b.Run("publish", func(b *testing.B) {
		for b.Loop() {
			if _, err := js.Publish(b.Context(), "bare.x", make([]byte, 150)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("update", func(b *testing.B) {
		for b.Loop() {
			h.add(b, "x")
		}
	})
}

func bare(t testing.TB, url string) natsjs.JetStream {
	js := connect(t, url)
	if _, err := js.CreateStream(t.Context(), natsjs.StreamConfig{Name: "bare", Subjects: []string{"bare.>"}, Storage: natsjs.FileStorage}); err != nil {
		t.Fatal(err)
	}
	return js
}

// A read of a long-lived log with and without a team.
func BenchmarkView(b *testing.B) {
	s := serve(b)
	h := join(b, s.url(), func(_ *options, o *journal.Options) { o.LongLived = true })
	h.add(b, "x")
	alone, err := journal.Open(b.TempDir(), machine{}, &journal.Options{LongLived: true})
	if err != nil {
		b.Fatal(err)
	}
	defer alone.Close()
	if _, err := alone.Update(b.Context(), add("x")); err != nil {
		b.Fatal(err)
	}
	for name, l := range map[string]*testLog{"alone": alone, "team": h.testLog} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := l.View(b.Context(), func(counters, journal.Head) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A new machine fetches all commits: 2,000, or 100,000 with -long.
func TestCatchUp(t *testing.T) {
	n := 500 // far more than are requested one by one
	if *long {
		n = 100_000
	}
	s := serve(t)
	h := join(t, s.url())
	fill(t, h, n)
	start := time.Now()
	if got := join(t, s.url()).newest(t); got["x"] != n {
		t.Errorf("%v", got)
	}
	t.Logf("%d commits in %v", n, time.Since(start))
}

// fill publishes commits without deciding each: their lines are those of a log
// that was written on one machine.
func fill(t *testing.T, h *home, n int) {
	t.Helper()
	js := connect(t, h.url)
	for i, body := range linesOf(t, n) {
		if _, err := js.PublishAsync("leanctx.shop.counters", body); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 999 {
			<-js.PublishAsyncComplete()
		}
	}
	<-js.PublishAsyncComplete()
}

// 32 writers on 8 machines: what each waits, in one log. The wait of the
// unluckiest commit is compared with the median.
func TestNoWriterStarves(t *testing.T) {
	if !*long {
		t.Skip("a figure: -long")
	}
	s := serve(t)
	const homes, writers, each = 8, 4, 20
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	for range homes {
		first := join(t, s.url())
		for w := range writers {
			h := first
			if w > 0 { // a process of its own: its own log on the same files
				h = &home{dir: first.dir}
				h.open(t, s.url())
			}
			wg.Go(func() {
				for range each {
					start := time.Now()
					if _, err := h.Update(t.Context(), add("x")); err != nil {
						t.Error(err)
					}
					mu.Lock()
					took = append(took, time.Since(start))
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	if got := join(t, s.url()).newest(t); got["x"] != homes*writers*each {
		t.Errorf("%v", got)
	}
	slices.Sort(took)
	median, longest := took[len(took)/2], took[len(took)-1]
	t.Logf("median %v, longest %v: %s times", median, longest, strconv.FormatFloat(float64(longest)/float64(median), 'f', 1, 64))
}
