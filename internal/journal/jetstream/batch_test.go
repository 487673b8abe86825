package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// publishing is a log of which a test sees each publish first.
type publishing struct {
	journal.Remote
	before func(ctx context.Context) error
}

func (p publishing) Publish(ctx context.Context, last uint64, commit []byte) (uint64, error) {
	if err := p.before(ctx); err != nil {
		return 0, err
	}
	return p.Remote.Publish(ctx, last, commit)
}

// errNotSent is any error that says that the write was not done.
var errNotSent = errors.New("not sent")

// The caller who leads a batch goes, or its commit is in doubt. The other writes of the batch are done.
// If the server did not answer in time, or the copy cannot be written, they are refused at once.
func TestLeaderOfABatch(t *testing.T) {
	for name, tt := range map[string]struct {
		leader, other func(ctx context.Context, leave func()) error // what happens to the publish of each
		want, rest    error
		full          bool // the copy's disk, once the leader's commit is published
	}{
		"goes while its commit is sent": {
			leader: func(ctx context.Context, leave func()) error {
				leave()
				<-ctx.Done()
				return fmt.Errorf("%w: %w", journal.ErrOffline, ctx.Err())
			},
			want: context.Canceled,
		},
		"goes, and nothing says that the server did not answer": {
			leader: func(ctx context.Context, leave func()) error {
				leave()
				<-ctx.Done()
				return context.Cause(ctx)
			},
			want: context.Canceled,
		},
		"runs out of time": {
			leader: func(ctx context.Context, leave func()) error {
				leave()
				<-ctx.Done()
				return fmt.Errorf("fetching: %w", context.DeadlineExceeded)
			},
			want: context.DeadlineExceeded,
		},
		"goes when it was served": {
			other: func(ctx context.Context, leave func()) error {
				leave()
				return ctx.Err()
			},
		},
		"is in doubt": {
			leader: func(context.Context, func()) error { return journal.ErrInDoubt },
			want:   journal.ErrInDoubt,
		},
		"has no answer": {
			leader: func(ctx context.Context, _ func()) error {
				<-ctx.Done()
				return journal.ErrInDoubt
			},
			want: journal.ErrInDoubt,
			rest: journal.ErrOffline,
		},
		"cannot write the copy": {
			want: journal.ErrInDoubt,
			rest: errNotSent,
			full: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			connection := join(t, s.url())
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			publishes := 0
			a := &home{dir: t.TempDir()}
			a.open(t, s.url(), func(_ *options, o *journal.Options) {
				if tt.rest != nil {
					o.LockTimeout = 3 * time.Second
				}
				o.Fault = func(op, name string) error {
					if tt.full && publishes > 0 && op == "write" && name == "state.journal" {
						return syscall.ENOSPC
					}
					return nil
				}
				o.Remote = publishing{connection.stream.Log("counters"), func(ctx context.Context) error {
					switch publishes++; {
					case publishes == 1 && tt.leader != nil:
						return tt.leader(ctx, leave)
					case publishes == 2 && tt.other != nil:
						return tt.other(ctx, leave)
					}
					return nil
				}}
			})
			deciding, queued := make(chan struct{}), make(chan struct{})
			results := make([]chan error, 3)
			for i := range results {
				results[i] = make(chan error, 1)
				of, decide := t.Context(), add("x")
				switch i {
				case 0: // the others line up meanwhile
					var once sync.Once
					decide = func(counters, time.Time) ([]event, error) {
						once.Do(func() { close(deciding) })
						<-queued
						return nil, nil
					}
				case 1:
					of = ctx
				}
				go func() {
					_, err := a.Update(of, decide)
					results[i] <- err
				}()
				if i == 0 {
					<-deciding
				}
				for waiting() < i {
					time.Sleep(time.Millisecond)
				}
			}
			close(queued)
			for i, want := range []error{nil, tt.want, tt.rest} {
				err := <-results[i]
				if want == errNotSent && err != nil && !errors.Is(err, journal.ErrInDoubt) {
					continue
				}
				if !errors.Is(err, want) {
					t.Errorf("write %d: %v, want %v", i, err, want)
				}
			}
		})
	}
}

// A write during another machine's large commit, which takes longer to fetch than it may wait for a
// lock, is done.
func TestWriteAfterALargeCommitOnASlowLine(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, b := join(t, s.url()), &home{dir: t.TempDir()}
	a.add(t, "x")
	b.open(t, s.nats.URL()) // not through the proxy
	b.write(t, func(counters, time.Time) ([]event, error) {
		return []event{{Key: "x", Pad: strings.Repeat("large ", 8<<20/6)}}, nil
	})
	a.close()
	a.open(t, s.url(), func(so *options, o *journal.Options) { so.Wait, o.LockTimeout = 0, time.Second })
	s.Set(proctest.Slow) // 64 KiB each 20 ms at most: the commit takes 2.5 s
	_, err := a.Update(t.Context(), add("x"))
	for n := 0; n < 3 && errors.Is(err, journal.ErrOffline); n++ { // a busy machine may need as long to connect
		_, err = a.Update(t.Context(), add("x"))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Set(proctest.Pass)
	b.has(t, 3)
}
