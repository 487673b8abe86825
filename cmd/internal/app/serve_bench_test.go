package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leanctx/cmd/internal/op"
)

// load has clients do something until so much was done, and gives the rate and how long
// each took.
func load(clients, total int, do func(i int) error) (rate float64, took []time.Duration, err error) {
	var (
		next atomic.Int64
		wg   sync.WaitGroup
		mu   sync.Mutex
	)
	took = make([]time.Duration, total)
	start := time.Now()
	for range clients {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < total; i = int(next.Add(1)) - 1 {
				at := time.Now()
				if e := do(i); e != nil {
					mu.Lock()
					err = e
					mu.Unlock()
				}
				took[i] = time.Since(at)
			}
		})
	}
	wg.Wait()
	rate = float64(total) / time.Since(start).Seconds()
	slices.Sort(took)
	return rate, took, err
}

// What HTTP costs, beside a bare handler in the same run:
//
//	go test ./cmd/internal/app -run xxx -bench BenchmarkServe -benchtime 1x
//
// recall at 16 in flight must have 60% of the throughput that the bare handler and the recall's
// own time allow. Its slowest hundredth may take 10 times the median at most. remember at 16
// and 64 in flight is to have 4 and 8 times the rate of one client.
func BenchmarkServe(b *testing.B) {
	dir := b.TempDir()
	project := filepath.Join(dir, "my-app")
	if err := os.Mkdir(project, 0o700); err != nil {
		b.Fatal(err)
	}
	b.Setenv("LEAN_CTX_DATA_DIR", filepath.Join(dir, "data"))
	b.Setenv("LEAN_CTX_PROJECT_ROOT", project)
	var facts strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&facts, `{"category":"room%d","key":"key%d","value":"the service number %d listens on port %d"}`+"\n", i%20, i, i, 1000+i)
	}
	file := filepath.Join(dir, "facts.jsonl")
	if err := os.WriteFile(file, []byte(facts.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	if code := Main(b.Context(), []string{"knowledge", "import", file}, strings.NewReader(""), io.Discard, os.Stderr); code != 0 {
		b.Fatal("import")
	}
	a := serveHTTP(b, serveArgs{})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	post := func(url, body string) error {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+a.token)
		answer, err := client.Do(req)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode != 200 {
			err = fmt.Errorf("%s: %s", answer.Status, data)
		}
		return err
	}
	question := func(i int) string { return fmt.Sprintf(`{"query":"service number %d"}`, i%2000) }
	typical := bytes.Repeat([]byte("x"), 4000)
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(typical)
	}))
	defer bare.Close()
	recall := a.run.stores.tools()[1]
	own := func(i int) error {
		c, err := recall.Call(op.WithCaller(context.Background(), op.Caller{Kind: "tool"}), "recall", map[string]any{"query": fmt.Sprintf("service number %d", i%2000)})
		if err == nil {
			_, err = c.JSON()
		}
		return err
	}
	must := func(clients, total int, do func(int) error) (float64, []time.Duration) {
		rate, took, err := load(clients, total, do)
		if err != nil {
			b.Fatal(err)
		}
		return rate, took
	}
	for b.Loop() {
		for range 2 { // the first round is to warm up
			handler, _ := must(16, 4000, func(i int) error { return post(bare.URL, question(i)) })
			direct, _ := must(16, 1000, own)
			served, took := must(16, 1000, func(i int) error { return post(a.url+"/api/recall/recall", question(i)) })
			allowed := 1 / (1/handler + 1/direct)
			b.ReportMetric(handler, "bare/s")
			b.ReportMetric(direct, "recall/s")
			b.ReportMetric(served, "served/s")
			b.ReportMetric(100*served/allowed, "%allowed")
			b.ReportMetric(float64(took[len(took)*99/100])/float64(took[len(took)/2]), "p99/p50")
		}
		n := 0
		write := func(clients, total int) float64 {
			n++
			rate, _ := must(clients, total, func(i int) error {
				return post(a.url+"/api/knowledge/remember", fmt.Sprintf(`{"category":"w%d","key":"k%d","value":"written by %d clients, number %d"}`, n, i, clients, i))
			})
			return rate
		}
		write(16, 200)
		one, sixteen, many := write(1, 150), write(16, 1500), write(64, 3000)
		b.ReportMetric(one, "write1/s")
		b.ReportMetric(sixteen/one, "x16")
		b.ReportMetric(many/one, "x64")
	}
}

// What a thousand clients take that listen to events and are told nothing.
func BenchmarkIdleListeners(b *testing.B) {
	dir := b.TempDir()
	b.Setenv("LEAN_CTX_DATA_DIR", filepath.Join(dir, "data"))
	b.Setenv("LEAN_CTX_PROJECT_ROOT", dir)
	a := serveHTTP(b, serveArgs{})
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range 1000 {
			c, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			fmt.Fprintf(c, "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", a.token)
			line := make([]byte, 12)
			if _, err := io.ReadFull(c, line); err != nil || !strings.HasSuffix(string(line), " 200") {
				b.Fatalf("%q, %v", line, err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		// The clients' ends are in this process too.
		b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/1e6, "MB")
	}
}
