package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"leanctx/agents/lease"
	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// try is a claim or release as a process saw it.
type try struct {
	Number  int    `json:"number"`
	Path    string `json:"path"`
	Release bool   `json:"release"`
	Token   uint64 `json:"token"` // given; 0: refused
	Call    int64  `json:"call"`
	Return  int64  `json:"return"` // 0: it has only begun
}

// claim tries for paths and now and then lets go of one.
func (j job) claim(ctx context.Context, s *Store) error {
	enc := json.NewEncoder(os.Stdout)
	for i := range j.Count {
		t := try{Number: j.Number, Path: fmt.Sprintf("src/%d.go", (i*7+j.Number*13)%50), Call: time.Now().UnixNano()}
		if err := enc.Encode(t); err != nil { // what it is about to do: it may be killed
			return err
		}
		c, err := proctest.Again(journal.ErrLocked, func() (Claimed, error) { return s.Claim(ctx, ClaimArgs{Path: t.Path}) })
		if _, held := errors.AsType[*HeldError](err); err != nil && !held {
			return err
		}
		t.Token, t.Return = c.Token, time.Now().UnixNano()
		if err := enc.Encode(t); err != nil {
			return err
		}
		if c.Token == 0 || i%3 == 0 {
			continue
		}
		t.Release, t.Call, t.Return = true, time.Now().UnixNano(), 0
		if err := enc.Encode(t); err != nil {
			return err
		}
		if _, err := proctest.Again(journal.ErrLocked, func() (Released, error) { return s.Release(ctx, ReleaseArgs{Path: t.Path}) }); err != nil {
			return err
		}
		t.Return = time.Now().UnixNano()
		if err := enc.Encode(t); err != nil {
			return err
		}
	}
	return nil
}

// lock is what porcupine believes of one path.
type lock struct {
	holder int // -1: nobody
	token  uint64
}

var claims = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[string][]porcupine.Operation{}
		for _, o := range history {
			by[o.Input.(try).Path] = append(by[o.Input.(try).Path], o)
		}
		var out [][]porcupine.Operation
		for _, h := range by {
			out = append(out, h)
		}
		return out
	},
	Init: func() any { return lock{-1, 0} },
	Step: func(state, input, _ any) (bool, any) {
		l, t := state.(lock), input.(try)
		switch {
		case t.Release:
			return l.holder == t.Number && l.token == t.Token, lock{-1, l.token}
		case t.Token == 0:
			return l.holder != -1 && l.holder != t.Number, l
		case l.holder == t.Number:
			return t.Token == l.token, l // renewed
		}
		return l.holder == -1 && t.Token > l.token, lock{t.Number, t.Token}
	},
	Equal: func(a, b any) bool { return a == b },
}

// Sixteen processes want fifty paths, and some are killed: never two have one,
// and tokens grow.
func TestProcessesClaim(t *testing.T) {
	b := newFixture(t)
	b.opts.Now = time.Now
	j := job{Do: "claim", Dir: b.dir, Root: b.root, Count: 100, Of: 16}
	s := b.open()
	talkers(t, s, j.Of)
	var wg sync.WaitGroup
	tried, begun := make([][]try, j.Of), make([]*try, j.Of)
	for n := range j.Of {
		k := j
		k.Number = n
		c := proctest.Command(t, k)
		var errs bytes.Buffer
		c.Stderr = &errs
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for dec := json.NewDecoder(out); ; {
				x := new(try)
				if dec.Decode(x) != nil {
					break
				}
				if begun[n] = x; x.Return != 0 {
					tried[n], begun[n] = append(tried[n], *x), nil
				}
				if n%5 == 3 && len(tried[n]) == 5*n {
					_ = c.Process.Kill()
				}
			}
			if err := c.Wait(); err != nil && n%5 != 3 {
				t.Errorf("process %d: %v: %s", n, err, &errs)
			}
		})
	}
	wg.Wait()
	var history []porcupine.Operation
	for n, list := range tried {
		if x := begun[n]; x != nil && happened(t, s, x) {
			list = append(list, *x)
		}
		for _, x := range list {
			history = append(history, porcupine.Operation{ClientId: n, Input: x, Call: x.Call, Return: x.Return})
		}
	}
	uniqueTokens(t, history)
	if !porcupine.CheckOperations(claims, history) {
		t.Errorf("the history of %d claims is not linearizable", len(history))
	}
}

// happened tells whether what a killed process had begun was done: it let go
// of nothing afterwards.
func happened(t *testing.T, s *Store, x *try) (done bool) {
	t.Helper()
	x.Return = time.Now().UnixNano()
	_ = s.view(t.Context(), func(p *project, _ time.Time) error {
		l := p.leases[lease.Key(x.Path)]
		mine := l != nil && l.Holder == fmt.Sprintf("talker-%04x", x.Number)
		if done = mine; mine && !x.Release {
			x.Token = l.Token
		} else if x.Release {
			done = !mine
		}
		return nil
	})
	return done
}

func uniqueTokens(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	given := map[uint64]int{}
	for _, o := range history {
		x := o.Input.(try)
		if by, ok := given[x.Token]; ok && by != x.Number && x.Token > 0 {
			t.Errorf("token %d was given to %d and %d", x.Token, by, x.Number)
		}
		given[x.Token] = x.Number
	}
	if len(given) < 50 {
		t.Errorf("only %d leases were given", len(given))
	}
}
