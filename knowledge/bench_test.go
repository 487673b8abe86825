package knowledge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/internal/proctest"
	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/transfer"
)

// subjects is n facts as lines of records.
func subjects(n int) string {
	var b strings.Builder
	rooms := []string{"architecture", "deployment", "testing", "api", "data", "frontend", "security", "decision"}
	for i := range n {
		fmt.Fprintf(&b, `{"category":%q,"key":"component %d","value":"service %d talks to queue %d over port %d and is owned by team %d","confidence":%.2f,"timestamp":"2026-05-%02dT08:00:00Z"}`+"\n",
			rooms[i%len(rooms)], i, i, i*7%1000, 1024+i%40000, i%23, .5+float64(i%50)/100, 1+i%28)
	}
	return b.String()
}

// filled is a store of n facts in one snapshot.
func filled(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	s := named(t, dir)
	if _, err := transfer.Import(t.Context(), s, transfer.Incoming{Data: strings.NewReader(subjects(n))}); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// median is the middle one of some durations, in µs.
func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2]) / float64(time.Microsecond)
}

func subject(i int) Assertion {
	return Assertion{Category: "bench", Key: fmt.Sprint("key ", i), Value: fmt.Sprintf("service %d talks to queue %d over port 5432 and is owned by team seven", i, i*7)}
}

// journalled is how many bytes a commit of one subject takes in the journal.
func journalled(b *testing.B, s *Store) int64 {
	sizes := [2]int64{}
	for i := range sizes {
		if _, err := s.Remember(b.Context(), subject(-1-i)); err != nil {
			b.Fatal(err)
		}
		sizes[i] = s.Condition().Journal.JournalBytes
	}
	return sizes[1] - sizes[0]
}

// BenchmarkRemember is a durable remember in a running server, taken in turn
// with its floor: as many bytes appended to a bare file and fsynced.
func BenchmarkRemember(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) {
			dir := filled(b, n)
			s, err := Open(dir, &Options{LongLived: true})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			floor, err := os.OpenFile(filepath.Join(b.TempDir(), "floor"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			defer floor.Close()
			line := make([]byte, journalled(b, s))
			var remember, bare []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if _, err := s.Remember(b.Context(), subject(i)); err != nil {
					b.Fatal(err)
				}
				remember = append(remember, time.Since(start))
				start = time.Now()
				if _, err := floor.Write(line); err != nil {
					b.Fatal(err)
				}
				if err := floor.Sync(); err != nil {
					b.Fatal(err)
				}
				bare = append(bare, time.Since(start))
			}
			r, f := median(remember), median(bare)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(r, "µs/remember")
			b.ReportMetric(f, "µs/bare-append+fsync")
			b.ReportMetric(r/f, "×floor")
			b.ReportMetric(float64(len(line)), "bytes")
		})
	}
}

// BenchmarkRecall is a recall by words in a running server.
func BenchmarkRecall(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) {
			s := named(b, filled(b, n))
			ask := func(i int) {
				r, err := s.Recall(b.Context(), Question{Query: fmt.Sprintf("queue %d port", i%1000)})
				if err != nil || len(r.Facts) == 0 {
					b.Fatalf("%s, %v", r.Text(), err)
				}
			}
			ask(0) // makes the index
			for i := 1; b.Loop(); i++ {
				ask(i)
			}
		})
	}
}

// BenchmarkWakeup is a briefing of 10,000 facts.
func BenchmarkWakeup(b *testing.B) {
	s := named(b, filled(b, 10_000))
	for b.Loop() {
		if _, err := briefing.Wakeup(b.Context(), s, briefing.Query{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is what a command pays before its first answer.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1_000, 20_000} {
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) {
			dir := filled(b, n)
			for b.Loop() {
				s, err := Open(dir, nil)
				if err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The briefing of 10,000 facts is the same bytes each time, in each process,
// whatever was read meanwhile.
func TestBriefingSameBytes(t *testing.T) {
	t.Parallel()
	dir := filled(t, pick(1_000, 30_000))
	s := named(t, dir)
	ask := func(budget int) string {
		w, err := briefing.Wakeup(t.Context(), s, briefing.Query{Budget: budget, AsOf: "2026-06-01"})
		if err != nil {
			t.Fatal(err)
		}
		return w.Text()
	}
	want := ask(2000)
	if n := strings.Count(want, "|"); n < 50 || len(want) > 4*2000+200 {
		t.Fatalf("%d pairs, %d bytes: %s", n, len(want), want)
	}
	for i := range proctest.Rounds(40) {
		if got := ask(2000); got != want {
			t.Fatalf("run %d:\n%s\nwant\n%s", i, got, want)
		}
		if i%10 == 0 {
			if _, err := s.Recall(t.Context(), Question{Query: fmt.Sprint("queue ", i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	j := task{Job: "wakeup", Dir: dir, Count: 2000}
	for i, got := range together(t, j, j, j) {
		if strings.TrimSuffix(got, "\n") != want {
			t.Errorf("process %d:\n%s\nwant\n%s", i, got, want)
		}
	}
}
