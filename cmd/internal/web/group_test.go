package web

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// writers have so many clients remember facts, and give how long it took.
func (f *fixture) writers(t testing.TB, round string, clients, total int) time.Duration {
	t.Helper()
	var (
		next atomic.Int64
		wg   sync.WaitGroup
	)
	start := time.Now()
	for range clients {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(total); i = next.Add(1) {
				body := fmt.Sprintf(`{"category":%q,"key":"k%d","value":"%s, number %d of one of %d"}`, round, i, round, i, clients)
				if status, text := f.post(t, "/api/knowledge/remember", body); status != http.StatusOK {
					t.Errorf("%d %s", status, text)
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// Clients that write at once share the syncs of the disk, here one of 20 ms: while it writes
// for some, the others line up and are written together.
func TestManyClientsShareASync(t *testing.T) {
	var syncs atomic.Int64
	f := serve(t, func(_ *Options, o *storeOptions) {
		o.facts.Fault = func(op, name string) error {
			if op == "sync" && strings.HasSuffix(name, ".journal") {
				syncs.Add(1)
				time.Sleep(20 * time.Millisecond) // stands for a disk
			}
			return nil
		}
	})
	f.writers(t, "first", 1, 1) // opens the store
	for clients, share := range map[int]int64{16: 4, 64: 8} {
		before, writes := syncs.Load(), clients*4
		f.writers(t, fmt.Sprint("round", clients), clients, writes)
		if n := syncs.Load() - before; n*share > int64(writes) {
			t.Errorf("%d clients: %d syncs for %d writes, want a %dth at most", clients, n, writes, share)
		}
	}
}

// How the rate of writes grows with the clients, on this machine's disk and on one whose sync
// takes longer:
//
//	go test ./cmd/internal/web -run xxx -bench BenchmarkWriters -benchtime 1x
func BenchmarkWriters(b *testing.B) {
	for _, disk := range []time.Duration{0, 2 * time.Millisecond, 10 * time.Millisecond} {
		b.Run(fmt.Sprint("disk+", disk), func(b *testing.B) {
			f := serve(b, func(_ *Options, o *storeOptions) {
				o.facts.Fault = func(op, name string) error {
					if op == "sync" && disk > 0 {
						time.Sleep(disk)
					}
					return nil
				}
			})
			f.writers(b, "warm", 16, 200)
			http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 100
			for b.Loop() {
				rate := func(round string, clients, total int) float64 {
					return float64(total) / f.writers(b, round, clients, total).Seconds()
				}
				one := rate("one", 1, 100)
				b.ReportMetric(one, "write1/s")
				b.ReportMetric(rate("sixteen", 16, 1000)/one, "x16")
				b.ReportMetric(rate("many", 64, 2000)/one, "x64")
			}
		})
	}
}
