package tasks

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// Many agents in one process read and claim through one store.
func TestConcurrent(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	var ids []string
	for i := range 8 {
		ids = append(ids, made(t, s, Draft{Title: fmt.Sprint("task ", i), ToAgent: "codex"}))
	}
	var won atomic.Int32
	var wg sync.WaitGroup
	for a := range 6 {
		wg.Go(func() {
			me := s.as(fmt.Sprintf("codex-%04x", a))
			for i := range ids {
				_, err := me.Claim(t.Context(), TaskClaim{ids[(i+a)%len(ids)]})
				if _, taken := errors.AsType[*TakenError](err); err != nil && !taken {
					t.Error(err)
				} else if !taken {
					won.Add(1)
				}
				if r, err := me.List(t.Context(), Query{State: "all"}); err != nil || r.Total != 8 {
					t.Errorf("%d tasks, %v", r.Total, err)
				}
				if _, err := me.Get(t.Context(), TaskRef{ids[0]}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if won.Load() != int32(len(ids)) {
		t.Errorf("%d tasks, %d claims that held", len(ids), won.Load())
	}
}
