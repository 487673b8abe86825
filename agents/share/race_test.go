package share

import (
	"fmt"
	"sync"
	"testing"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// Each agent has a store of its own on one directory, as processes have. One agent of a type
// gets what is for any of them. An agent that asks twice at once gets a share once.
func TestPullAtOnce(t *testing.T) {
	b := newBed(t)
	b.write("a.md", "text")
	const rounds, askers = 10, 6
	known := agents{ids: []string{cursor}}
	for i := range askers {
		known.ids = append(known.ids, fmt.Sprintf("claude-%04x", i))
	}
	for round := range rounds {
		b.push(cursor, "claude", "for one", "a.md")
		b.push(cursor, "", "for all", "a.md")
		var mu sync.Mutex
		got := map[string]int{}
		var work sync.WaitGroup
		for _, id := range known.ids[1:] {
			for range 2 {
				work.Go(func() {
					s, err := Open(b.dir, &b.o)
					if err != nil {
						t.Error(err)
						return
					}
					defer s.Close()
					who := known
					who.self = id
					r, err := proctest.Again(journal.ErrLocked, func() (Received, error) { return s.As(who).Pull(t.Context(), PullArgs{Content: true}) })
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					for _, x := range r.Shares {
						got[x.Message]++
						got[id+x.Message]++
					}
				})
			}
		}
		work.Wait()
		if got["for one"] != 1 || got["for all"] != askers {
			t.Errorf("round %d: %v", round, got)
		}
		for _, id := range known.ids[1:] {
			if got[id+"for all"] != 1 {
				t.Errorf("%s: %v", id, got)
			}
		}
	}
}

func FuzzPush(f *testing.F) {
	for _, p := range []string{"a.md", "../a.md", "/etc/passwd", "a/../../b", `..\a`, "a\x00b", "a,b", "./a.md//", "NUL", "C:a"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		b := newBed(t)
		b.write("a.md", "text")
		o, err := b.as(cursor).Push(t.Context(), Offer{Paths: []string{path}})
		if err == nil && (len(o.Files) != 1 || o.Files[0].Path != "a.md") {
			t.Fatalf("%q shared %+v", path, o.Files)
		}
	})
}
