package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// However much agents post, by whatever names, hooks and calls read a registry of a bounded size; who posts too much is told
// so, and can go on when it was read.
func TestWhatWaitsIsBounded(t *testing.T) {
	b := newFixture(t)
	s := b.open()
	reader := join(t, s, "claude", "")
	flood := join(t, s, "cursor", "")
	long := strings.Repeat("m ", maxText/2)
	n, err := 0, error(nil)
	for ; err == nil && n < 1000; n++ {
		_, err = flood.Post(t.Context(), PostArgs{Message: long, Category: "finding"})
	}
	if err == nil || !strings.Contains(err.Error(), "wait to be read") || n > maxWaitingBytes/maxText+1 {
		t.Fatal(n, err)
	}
	for i := range 10 { // by other names
		other := join(t, s, "codex", fmt.Sprint(i))
		for range maxWaitingBytes / maxText {
			_, err = other.Post(t.Context(), PostArgs{Message: long, ToAgent: "nobody"})
		}
	}
	if err == nil || !strings.Contains(err.Error(), "of this project wait") {
		t.Fatal(err)
	}
	var size int64
	for _, name := range []string{"registry.json", "registry.journal"} {
		if info, err := os.Stat(filepath.Join(b.dir, name)); err == nil {
			size += info.Size()
		}
	}
	if size > 2*(maxAllBytes+maxFindingBytes+tidyBytes) {
		t.Errorf("%d bytes", size)
	}
	b.clock.pass(holdFor + time.Hour)
	post(t, flood, PostArgs{Message: "go on"})
	for len(read(t, reader).Messages) > 0 {
		continue
	}
}

// What everybody has read is not kept for its number alone.
func TestReadMessagesLeaveTheRegistry(t *testing.T) {
	b := newFixture(t)
	s := b.open()
	from, to := join(t, s, "cursor", ""), join(t, s, "claude", "")
	for range 200 {
		post(t, from, PostArgs{Message: strings.Repeat("m ", maxText/8), Category: "finding"})
		read(t, to)
		b.clock.pass(30 * time.Minute)
	}
	if err := s.view(t.Context(), func(p *project, _ time.Time) error {
		if n := textBytes(p.messages.broadcasts()); n > 3*tidyBytes {
			t.Errorf("%d bytes of broadcasts", n)
		}
		if n := textBytes(p.messages.findings); n > maxFindingBytes {
			t.Errorf("%d bytes of findings", n)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// Handoffs that nobody receives are bounded too.
func TestHandoffsThatWaitAreBounded(t *testing.T) {
	b := newFixture(t)
	a := join(t, b.open(), "cursor", "")
	for i := range maxHandoffs {
		if _, err := a.Handoff(t.Context(), HandoffArgs{ToAgent: "nobody", Message: fmt.Sprint("part ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Handoff(t.Context(), HandoffArgs{ToAgent: "nobody", Message: "one more"}); err == nil || !strings.Contains(err.Error(), "wait to be received") {
		t.Error(err)
	}
}
