package tasks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// filled is a store of n tasks in one snapshot. All but a number of them (open) finished long
// ago. Another project has half as many.
func filled(t testing.TB, n, open int) string {
	t.Helper()
	dir := t.TempDir()
	for _, project := range []string{hash, "00000000000000ff"} {
		s, err := Open(dir, &Options{ProjectHash: project})
		if err != nil {
			t.Fatal(err)
		}
		list := make([]Task, n)
		for i := range list {
			at := epoch.Add(time.Duration(i) * time.Minute)
			list[i] = Task{
				ID: fmt.Sprintf("t-%06x", i*7919), State: Completed, Assignee: fmt.Sprintf("claude-%04x", i%40), CreatedBy: "cursor-a3f8",
				Title: fmt.Sprintf("Fix the middleware that handles case %d", i), CreatedAt: at, UpdatedAt: at.Add(time.Hour), Messages: 2,
			}
			if i%(n/open) == 0 {
				list[i].State = Working
			}
		}
		fill(t, s, list...)
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		n, open = n/2, open/2
	}
	return dir
}

// median is the middle one of some durations, in µs.
func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2]) / float64(time.Microsecond)
}

// BenchmarkCreate is a durable create in a running server, taken in turn with
// its floor: as many bytes appended to a bare file and fsynced.
func BenchmarkCreate(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			s := open(b, filled(b, n, 50), nil).as("cursor-a3f8")
			floor, err := os.OpenFile(filepath.Join(b.TempDir(), "floor"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			defer floor.Close()
			d := Draft{Title: "Fix auth middleware", Description: "Tokens expire too soon, see the log of yesterday."}
			made(b, s, d)
			before := s.log.Stats().JournalBytes
			made(b, s, d)
			line := make([]byte, s.log.Stats().JournalBytes-before)
			var create, bare []time.Duration
			for b.Loop() {
				start := time.Now()
				made(b, s, d)
				between := time.Now()
				if _, err := floor.Write(line); err != nil {
					b.Fatal(err)
				}
				if err := floor.Sync(); err != nil {
					b.Fatal(err)
				}
				create, bare = append(create, between.Sub(start)), append(bare, time.Since(between))
			}
			b.ReportMetric(median(create), "µs/create")
			b.ReportMetric(median(bare), "µs/fsync")
			b.ReportMetric(median(create)/median(bare), "fsyncs/create")
		})
	}
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		for name, q := range map[string]Query{"recent": {}, "all": {State: "all"}, "of an agent": {State: "all", AgentID: "claude-0007"}} {
			b.Run(fmt.Sprintf("tasks=%d/%s", n, name), func(b *testing.B) {
				s := open(b, filled(b, n, 50), nil)
				for b.Loop() {
					if r, err := s.List(b.Context(), q); err != nil || len(r.Tasks) == 0 || r.Text() == "" {
						b.Fatal(r.Total, err)
					}
				}
			})
		}
	}
}

// BenchmarkCold is what a command pays: open, list, close. Its floor is
// reading the file.
func BenchmarkCold(b *testing.B) {
	dir := filled(b, 10_000, 50)
	do := map[string]func() error{
		"read the file": func() error { _, err := os.ReadFile(filepath.Join(dir, "tasks.json")); return err },
		"open":          func() error { return cold(dir, func(*Store) error { return nil }) },
		"list": func() error {
			return cold(dir, func(s *Store) error { _, err := s.List(b.Context(), Query{}); return err })
		},
		"get": func() error {
			return cold(dir, func(s *Store) error { _, err := s.Get(b.Context(), TaskRef{"t-001eef"}); return err })
		},
	}
	for name, f := range do {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func cold(dir string, f func(*Store) error) error {
	s, err := Open(dir, &Options{ProjectHash: hash})
	if err != nil {
		return err
	}
	defer s.Close()
	return f(s)
}
