package journal

import (
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkManyWait has sixteen want the lock again and again, each holding it
// for 5 ms, and reports how long they waited: fair would be 75 ms for everyone.
func BenchmarkManyWait(b *testing.B) {
	const hold = 5 * time.Millisecond
	root, err := os.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	fsys := rootFiles{root: root}
	var (
		mu    sync.Mutex
		waits []time.Duration
		wg    sync.WaitGroup
	)
	over := false
	begin := func() bool { // takes one of the turns that are to be had
		mu.Lock()
		defer mu.Unlock()
		over = over || !b.Loop() // which is not asked again once it has said no
		return !over
	}
	for range 16 {
		wg.Go(func() {
			k := &fileLock{dir: "bench", name: "lock"}
			defer k.close()
			for begin() {
				from := time.Now()
				err := k.hold(b.Context(), fsys, from.Add(time.Minute), func() error {
					mu.Lock()
					waits = append(waits, time.Since(from))
					mu.Unlock()
					time.Sleep(hold)
					return nil
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	slices.Sort(waits)
	for name, part := range map[string]float64{"p50-ms": .5, "p99-ms": .99, "max-ms": 1} {
		b.ReportMetric(waits[int(part*float64(len(waits)-1))].Seconds()*1000, name)
	}
}
