package jetstream_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// The network is gone at each point of a write, for longer than the write waits: nothing
// comes through any more, and no connection ends. What was acknowledged is there once, what was
// refused is not there, and what is in doubt is there once or not. With -long the network is
// gone for a minute, and a write waits its usual time.
func TestNetworkGoneAtEveryPointOfAWrite(t *testing.T) {
	wait, gone := 100*time.Millisecond, 0*time.Second
	if *long {
		wait, gone = 5*time.Second, time.Minute
	}
	const points = 16 // a write passes fewer pieces, so the last ones are not disturbed
	for n := 0; n < points; n += proctest.Stride {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			a := join(t, s.url(), func(_ *options, o *journal.Options) { o.LockTimeout = wait })
			b := join(t, s.url())
			for a.newest(t)["x"] == 0 { // its first write may take longer than it waits
				_, _ = a.Update(t.Context(), add("x"))
			}
			b.add(t, "x") // so that the write below is decided on an old state first
			want := b.newest(t)["x"]

			s.DropAfter(n)
			_, err := a.Update(t.Context(), add("x"))
			time.Sleep(gone)
			s.DropAfter(-1)
			s.Set(proctest.Pass)
			s.Cut()

			got := b.newest(t)["x"]
			t.Logf("after %d pieces: %v", n, err)
			switch {
			case err == nil:
				want++
			case errors.Is(err, journal.ErrInDoubt):
				want = max(want, min(got, want+1))
			case !errors.Is(err, journal.ErrOffline) && !errors.Is(err, journal.ErrLocked):
				t.Error(err)
			}
			if got != want {
				t.Errorf("%d commits, want %d: %v", got, want, err)
			}
			if mine := a.newest(t)["x"]; mine != got {
				t.Errorf("%d commits here, %d there", mine, got)
			}
		})
	}
}

// A server that is slow to answer is waited for, and not taken for one that is away.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, b := join(t, s.url()), join(t, s.url())
	s.Set(proctest.Slow)
	for _, h := range []*home{a, b} {
		_, err := h.Update(t.Context(), add("x"))
		for n := 0; n < 5 && errors.Is(err, journal.ErrOffline); n++ { // this machine, and not the server, may have been slow
			_, err = h.Update(t.Context(), add("x"))
		}
		if err != nil {
			t.Error(err)
		}
	}
	s.Set(proctest.Pass)
	if got := a.newest(t); got["x"] != 2 {
		t.Errorf("%v", got)
	}
}
