package web

import (
	"fmt"
	"net/http"
	"runtime"
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
				status, text := f.post(t, "/api/knowledge/remember", body)
				for status == http.StatusServiceUnavailable { // locked: the machine was busy for longer than a writer waits
					status, text = f.post(t, "/api/knowledge/remember", body)
				}
				if status != http.StatusOK {
					t.Errorf("%d %s", status, text)
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// Clients that write at once share the syncs of the disk: while it syncs for one, the others
// line up, and are then written together.
func TestManyClientsShareASync(t *testing.T) {
	var (
		syncs   atomic.Int64
		hold    atomic.Bool
		wg      sync.WaitGroup
		release = make(chan struct{})
	)
	f := serve(t, func(_ *Options, o *storeOptions) {
		o.facts.Fault = func(op, name string) error {
			if op == "sync" && strings.HasSuffix(name, ".journal") {
				syncs.Add(1)
				if hold.CompareAndSwap(true, false) {
					<-release
				}
			}
			return nil
		}
	})
	f.writers(t, "opening", 1, 1)
	const clients = 16
	before := syncs.Load()
	hold.Store(true)
	wg.Go(func() { f.writers(t, "first", 1, 1) })
	for hold.Load() {
		runtime.Gosched()
	}
	wg.Go(func() { f.writers(t, "others", clients-1, clients-1) })
	for updating() < clients {
		runtime.Gosched()
	}
	close(release)
	wg.Wait()
	if n := syncs.Load() - before; n != 2 {
		t.Errorf("%d syncs for %d writes, want one for the first and one for all the others", n, clients)
	}
}

// updating is how many goroutines write or wait for their turn to.
func updating() int {
	stacks := make([]byte, 8<<20)
	all := string(stacks[:runtime.Stack(stacks, true)])
	return strings.Count(all, "/journal.token.takeUnless(") + strings.Count(all, "/journal.(*Log[...]).serve(")
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
