package jetstream_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"
)

// What a snapshot of many commits costs and saves, and what it costs to expunge some of them.
func TestSnapshotFigures(t *testing.T) {
	if !*long {
		t.Skip("a figure: -long")
	}
	took := func(what string, do func()) {
		start := time.Now()
		do()
		t.Logf("%s: %v", what, time.Since(start).Round(time.Millisecond))
	}
	size := func(s *server) string {
		js := connect(t, s.url())
		var sizes [2]uint64
		for i, name := range []string{"shop", "OBJ_leanctx-shop"} {
			st, err := js.Stream(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			info, err := st.Info(t.Context(), natsjs.WithSubjectFilter("none"))
			if err != nil {
				t.Fatal(err)
			}
			sizes[i] = info.State.Bytes
		}
		return fmt.Sprintf("%d KiB of commits, %d KiB of objects", sizes[0]>>10, sizes[1]>>10)
	}
	s := serve(t)
	h := join(t, s.url())
	const n = 100_000
	fill(t, h, n)
	took("a new machine replays all", func() { h.has(t, n) })
	t.Log(size(s))
	took("a snapshot", func() {
		if err := h.Expunge(t.Context(), func([]byte) bool { return false }); err != nil {
			t.Fatal(err)
		}
	})
	m, _, err := h.stream.Log("counters").Newest(t.Context())
	if err == nil {
		err = h.stream.Log("counters").Trim(t.Context(), m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Log(size(s))
	took("a new machine starts from it", func() { join(t, s.url()).has(t, n) })

	s = serve(t)
	h = join(t, s.url())
	fill(t, h, 10_000)
	h.has(t, 10_000)
	seen := 0
	took("10 of 10,000 commits are expunged", func() {
		if err := h.Expunge(t.Context(), func(c []byte) bool { seen++; return seen%1000 == 0 && bytes.Contains(c, []byte("x")) }); err != nil {
			t.Fatal(err)
		}
	})
}
