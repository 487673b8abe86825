package replica_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leanctx/knowledge/replica"
	"leanctx/knowledge/state"
)

// apart are assertions of different values of one fact, each by a replica that had not read the others.
func apart(n int, about string) string {
	var b strings.Builder
	for i := range n {
		id := fmt.Sprintf("%08x", 0xa000+i)
		b.WriteString(replica.Claims(id, 1, replica.Line{Op: "assert", Key: about, Value: fmt.Sprintf("value number %d of it", i), By: "a7"}, nil))
	}
	return b.String()
}

// However many values strangers assert apart, of a fact of theirs or of one of this store, a sync takes
// its time once, and they open no disputes among themselves.
func TestValuesOfStrangersApartAreFolded(t *testing.T) {
	for _, about := range []string{"lang", "db"} {
		m := attacked(t)
		m.put("deadbeef.jsonl", apart(500, about))
		began := time.Now()
		r := m.mustTry(t)
		took := time.Since(began)
		if t.Log(about, took); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
		if v := m.version(t, about); v == nil || v.TakenIn != (about == "lang") || len(r.Disputes) > 0 || m.openDisputes(t) > 0 {
			t.Errorf("%v: %s", v, r.Text())
		}
	}
}

func (m *machine) openDisputes(t testing.TB) (n int) {
	err := m.store.View(t.Context(), func(st *state.State, now time.Time) error {
		n = len(state.OpenDisputes(st, st.Disputed, now))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A command that is ended ends while it folds.
func TestEndedSyncEnds(t *testing.T) {
	m := attacked(t)
	m.put("deadbeef.jsonl", apart(400, "db"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	_, err := replica.Sync(&leaving{Context: ctx, cancel: cancel}, m.store, replica.Options{Root: m.root})
	if took := time.Since(began); !errors.Is(err, context.Canceled) || took > 2*time.Second {
		t.Errorf("%v after %v", err, took)
	}
}

// leaving is a caller who goes when he was asked a few times whether he is still there.
type leaving struct {
	context.Context
	cancel func()
	asked  atomic.Int32
}

func (c *leaving) Err() error {
	if c.asked.Add(1) == 3 {
		c.cancel()
	}
	return c.Context.Err()
}
