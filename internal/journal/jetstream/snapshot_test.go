package jetstream_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// messages is how many commits of the log the server has.
func messages(t testing.TB, url string) uint64 {
	t.Helper()
	st, err := connect(t, url).Stream(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	return st.CachedInfo().State.Msgs
}

// objects are the names in the object store, and how many pieces it has.
func objects(t testing.TB, url string) (names []string, pieces int) {
	t.Helper()
	js := connect(t, url)
	st, err := js.Stream(t.Context(), "OBJ_leanctx-shop")
	if err != nil {
		t.Fatal(err)
	}
	info, err := st.Info(t.Context(), natsjs.WithSubjectFilter("$O.leanctx-shop.C.>"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range info.State.Subjects {
		pieces += int(n)
	}
	store, err := js.ObjectStore(t.Context(), "leanctx-shop")
	if err != nil {
		t.Fatal(err)
	}
	list, err := store.List(t.Context())
	if err != nil && !errors.Is(err, natsjs.ErrNoObjectsFound) {
		t.Fatal(err)
	}
	for _, o := range list {
		names = append(names, o.Name)
	}
	return names, pieces
}

func (h *home) adds(t testing.TB, n int) {
	t.Helper()
	for range n {
		h.add(t, "x")
	}
}

// shrink makes a snapshot at once.
func (h *home) shrink(t testing.TB) {
	t.Helper()
	if err := h.expunge(t, nil); err != nil {
		t.Fatal(err)
	}
}

func (h *home) has(t testing.TB, n int) {
	t.Helper()
	if got := h.newest(t); got["x"] != n {
		t.Errorf("%v, want %d", got, n)
	}
	if ws := h.Warnings(); len(ws) > 0 {
		t.Errorf("%v", ws)
	}
}

// A machine that is new, or lags, starts from the snapshot: it has the same commits as one that
// replayed all, and all go on together.
func TestStartsFromASnapshot(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, lagging, compacted := join(t, s.url()), join(t, s.url()), join(t, s.url())
	a.adds(t, 5)
	lagging.has(t, 5)
	compacted.has(t, 5)
	if err := compacted.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	for round := 1; round <= 2; round++ {
		a.adds(t, 25)
		a.shrink(t)
		a.adds(t, 2)
		if got := messages(t, s.url()); got != 3 {
			t.Errorf("%d commits in the stream, want that of the snapshot and 2", got)
		}
		homes := []*home{a, lagging, compacted, join(t, s.url())}
		for _, h := range homes {
			h.has(t, 5+27*round)
			if at := h.head(t); at.Sum != a.head(t).Sum || at.Repairs > 0 {
				t.Errorf("%+v, want %+v", at, a.head(t))
			}
		}
	}
	lagging.add(t, "x")
	lagging.close()
	lagging.open(t, s.url())
	for _, h := range []*home{a, lagging, compacted} {
		h.add(t, "x")
		h.close()
		h.open(t, s.url())
	}
	for _, h := range []*home{a, lagging, compacted} {
		h.has(t, 63)
	}
	if names, pieces := objects(t, s.url()); len(names) != 1 || pieces != 1 {
		t.Errorf("%q, %d pieces", names, pieces)
	}
}

// What a member wrote may make a state that cannot be read from a snapshot. Then none takes the place of
// the last good one and of the commits, on the server or in a copy: each machine has the state, also a new
// one and one whose copy was damaged.
func TestUnreadableSnapshotReplacesNothing(t *testing.T) {
	t.Parallel()
	for _, good := range []bool{true, false} {
		s := serve(t)
		a, damaged := join(t, s.url()), join(t, s.url())
		a.adds(t, 5)
		if damaged.has(t, 5); good {
			a.shrink(t)
		}
		before := messages(t, s.url())
		a.add(t, "unreadable")
		if err := a.expunge(t, nil); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Error(err)
		}
		a.add(t, "x")
		if n := messages(t, s.url()); n != before+2 {
			t.Errorf("%d commits in the stream, want %d", n, before+2)
		}
		if !good { // the copy needs the first commits
			damaged.damage(t)
		}
		damaged.close()
		damaged.open(t, s.url())
		fresh := join(t, s.url())
		for _, h := range []*home{a, damaged, fresh} {
			if got := h.newest(t); got["x"] != 6 || got["unreadable"] != 1 {
				t.Errorf("%v", got)
			}
			h.close()
			h.open(t, s.url())
			if got := h.newest(t); got["x"] != 6 || got["unreadable"] != 1 {
				t.Errorf("opened again: %v", got)
			}
		}
	}
}

// A log in a server makes snapshots when there are enough commits, and leaves the other logs alone.
func TestServerMakesSnapshots(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url(), func(so *options, o *journal.Options) { so.Each, o.LongLived = 20, true })
	other, err := journal.Open(t.TempDir(), machine{}, &journal.Options{Remote: a.stream.Log("other")})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Update(t.Context(), add("x")); err != nil {
		t.Fatal(err)
	}
	a.adds(t, 50)
	for messages(t, s.url()) > 30 { // the test's own time limit ends this
		time.Sleep(time.Millisecond)
	}
	join(t, s.url()).has(t, 50)
	if err := fetch(t, other); err != nil {
		t.Error(err)
	}
	if err := other.View(t.Context(), func(now counters, h journal.Head) error {
		if now["x"] != 1 {
			t.Errorf("%v", now)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// refusing is a log whose snapshots are refused.
type refusing struct {
	journal.Remote
	first chan struct{} // closed at the first
	saves *atomic.Int64
}

func (r refusing) Save(_ context.Context, m journal.Mark, _ []byte) (journal.Mark, error) {
	if r.saves.Add(1) == 1 {
		close(r.first)
	}
	return m, journal.ErrConflict
}

// A server whose snapshot was refused since another machine makes one does not make the next at once.
func TestSnapshotThatIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := refusing{first: make(chan struct{}), saves: new(atomic.Int64)}
	join(t, s.url(), func(so *options, _ *journal.Options) { so.Each = 5 })
	a := &home{dir: t.TempDir()}
	connection := join(t, s.url()).stream
	a.open(t, s.url(), func(_ *options, o *journal.Options) {
		r.Remote = connection.Log("counters")
		o.Remote, o.LongLived = r, true
	})
	a.adds(t, 5)
	<-r.first
	a.adds(t, 20)
	a.close() // it waits for the background
	if n := r.saves.Load(); n != 1 {
		t.Errorf("%d snapshots were made, want 1", n)
	}
}

var errBroken = errors.New("broken off")

// A maker that is killed after any message does no harm, and the next one tidies up. With -long it is
// killed after each, else after some.
func TestMakerKilled(t *testing.T) {
	const points = 120 // a maker passes fewer pieces, so the last ones are not disturbed
	stride := 5 * (1 + proctest.Stride)
	if *long {
		stride = 1
	}
	for _, former := range []bool{false, true} {
		for n := 0; n < points; n += stride {
			t.Run(fmt.Sprintf("after %d, former %v", n, former), func(t *testing.T) {
				t.Parallel()
				s := serveSmall(t)
				maker := join(t, s.url())
				a, lagging := &home{dir: t.TempDir()}, &home{dir: t.TempDir()}
				a.open(t, s.nats.URL()) // not through the proxy
				lagging.open(t, s.nats.URL())
				a.add(t, strings.Repeat("large", smallPayload/8)) // a snapshot has two pieces
				a.adds(t, 3)
				if former {
					a.shrink(t)
				}
				lagging.has(t, 3)
				a.adds(t, 4)
				maker.has(t, 7)
				ctx, kill := context.WithCancel(t.Context())
				defer kill()
				go func() {
					select {
					case <-s.Dropped:
						kill()
					case <-ctx.Done():
					}
				}()
				s.DropAfter(n)
				t.Log(maker.Expunge(ctx, nil)) // on a busy machine it passes more pieces than on a free one
				maker.close()
				a.add(t, "x")
				for _, h := range []*home{a, lagging, join(t, s.nats.URL())} {
					h.has(t, 8)
				}
				a.shrink(t)
				for _, h := range []*home{a, lagging, join(t, s.nats.URL())} {
					h.has(t, 8)
				}
				if names, pieces := objects(t, s.nats.URL()); len(names) != 1 || pieces != 2 || messages(t, s.nats.URL()) != 1 {
					t.Errorf("%q, %d pieces, %d messages", names, pieces, messages(t, s.nats.URL()))
				}
			})
		}
	}
}

// One file operation after another fails, once or from then on as for a process that is killed,
// while a copy starts from a snapshot. What it was can be read, and then it has everything. With
// -long each operation fails, else some.
func TestStartFailsAtEachFileOperation(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	empty, lines, snapshot, both := join(t, s.url()), join(t, s.url()), join(t, s.url()), join(t, s.url())
	a.adds(t, 3)
	both.has(t, 3)
	compact := func(h *home) {
		if err := h.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	compact(both)
	a.adds(t, 2)
	for _, h := range []*home{lines, snapshot, both} {
		h.has(t, 5)
	}
	compact(snapshot)
	a.adds(t, 7)
	a.shrink(t)
	a.add(t, "x")
	stride := 4 * proctest.Stride
	if *long {
		stride = 1
	}
	for name, h := range map[string]*home{"empty": empty, "journal": lines, "snapshot": snapshot, "snapshot and journal": both} {
		h.close()
		for _, once := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, once %v", name, once), func(t *testing.T) {
				for at, done := rand.IntN(stride), false; !done; at += stride {
					c := &home{dir: filepath.Join(t.TempDir(), "copy")}
					if _, err := os.Stat(h.dir); err == nil {
						copyDir(t, h.dir, c.dir)
					}
					n, was := 0, ""
					fault := func(op, name string) error {
						if n++; n-1 == at || !once && n-1 > at {
							was = cmp.Or(was, op+" of "+name)
							return errBroken
						}
						return nil
					}
					c.open(t, s.url(), func(_ *options, o *journal.Options) { o.Fault = fault })
					err := fetch(t, c)
					if done = n <= at; !done && err != nil && !errors.Is(err, errBroken) {
						t.Errorf("%s: %v", was, err)
					}
					want := func(when string, got int) {
						old := 5
						if name == "empty" {
							old = 0
						}
						if got != 13 && got != 12 && got != old {
							t.Errorf("after %s, %s: %d", was, when, got)
						}
					}
					want("at once", c.copied(t)["x"])
					c.close()
					c.open(t, "nats://127.0.0.1:1", func(so *options, _ *journal.Options) { so.Wait = 0 }) // away
					want("offline", c.copied(t)["x"])
					if ws := c.Warnings(); len(ws) > 0 {
						t.Errorf("after %s: %v", was, ws)
					}
					c.close()
					for range 2 {
						c.open(t, s.url())
						c.has(t, 13)
						if at := c.head(t); at.Sum != a.head(t).Sum || at.Repairs > 0 {
							t.Errorf("after %s: %+v", was, at)
						}
						compact(c)
						c.close()
					}
				}
			})
		}
	}
}

// A copy that ends where the server was set back, and others went on and made a snapshot, is
// reported. Nothing is overwritten.
func TestSetBackAndSnapshot(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	a.adds(t, 2)
	backup := t.TempDir()
	s.restart(t, func() { copyDir(t, s.dir, backup) })
	a.adds(t, 2)
	s.restart(t, func() { copyDir(t, backup, s.dir) })
	b := join(t, s.url())
	for range 6 {
		b.add(t, "y")
	}
	b.shrink(t)
	b.add(t, "y")
	for range 2 {
		if _, err := a.update(t, add("x")); !errors.Is(err, journal.ErrDiverged) {
			t.Errorf("%v", err)
		}
	}
	if got := a.copied(t); got["x"] != 4 || got["y"] > 0 {
		t.Errorf("the copy: %v", got)
	}
	if got := join(t, s.url()).newest(t); got["x"] != 2 || got["y"] != 7 {
		t.Errorf("the stream: %v", got)
	}
}

// stuck is a log whose snapshots never come, and a view that does not wait for long.
type stuck struct{ journal.Remote }

func (stuck) Wait() time.Duration { return 50 * time.Millisecond }

func (stuck) Load(ctx context.Context, _ journal.Mark) ([]byte, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", journal.ErrOffline, ctx.Err())
}

// A view that has no time left while its copy is made anew warns that the copy is old.
func TestViewThatCannotWaitForASnapshotWarns(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	a.adds(t, 4)
	a.shrink(t)
	b := &home{dir: t.TempDir()}
	b.open(t, s.url(), func(_ *options, o *journal.Options) { o.Remote = stuck{a.stream.Log("counters")} })
	if got := b.copied(t); len(got) > 0 {
		t.Errorf("%v", got)
	}
	if ws := b.Warnings(); len(ws) != 1 || ws[0].Kind != journal.Offline || !strings.Contains(ws[0].Text, "this copy is empty") {
		t.Errorf("%v", ws)
	}
}

// hooked calls a function after a snapshot was stored.
type hooked struct {
	journal.Remote
	saved func(journal.Mark)
}

func (h hooked) Save(ctx context.Context, m journal.Mark, text []byte) (journal.Mark, error) {
	m, err := h.Remote.Save(ctx, m, text)
	if err == nil {
		h.saved(m)
	}
	return m, err
}

// The server is set back right after it has stored a snapshot. No commit is taken out that only
// this snapshot had.
func TestSetBackBeforeTrim(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	a.adds(t, 4)
	backup := t.TempDir()
	s.restart(t, func() { copyDir(t, s.dir, backup) })
	a.has(t, 4)
	maker, times := &home{dir: a.dir}, 0
	maker.open(t, s.url(), func(_ *options, o *journal.Options) {
		log := a.stream.Log("counters")
		o.Remote = hooked{log, func(m journal.Mark) {
			if times++; times > 1 {
				return
			}
			s.restart(t, func() { copyDir(t, backup, s.dir) })
			for _, err := a.stream.Status(t.Context()); err != nil; _, err = a.stream.Status(t.Context()) {
				time.Sleep(time.Millisecond) // until the connection is made anew
			}
			if err := log.Trim(t.Context(), m, nil); !errors.Is(err, journal.ErrConflict) && !errors.Is(err, journal.ErrOffline) {
				t.Error(err)
			}
		}}
	})
	for { // the connection is made anew
		if err := maker.Expunge(t.Context(), nil); err == nil {
			break
		} else if !errors.Is(err, journal.ErrOffline) && !errors.Is(err, journal.ErrConflict) {
			t.Fatal(err)
		}
		join(t, s.url()).has(t, 4)
	}
	join(t, s.url()).has(t, 4)
	if times != 2 || messages(t, s.url()) != 1 {
		t.Errorf("%d snapshots, %d messages", times, messages(t, s.url()))
	}
}

// Without a snapshot nothing is taken out.
func TestNothingIsTrimmedWithoutASnapshot(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	a.adds(t, 4)
	if err := a.stream.Log("counters").Trim(t.Context(), journal.Mark{}, nil); !errors.Is(err, journal.ErrConflict) {
		t.Error(err)
	}
	if n := messages(t, s.url()); n != 4 {
		t.Errorf("%d messages are left of 4", n)
	}
}

// The server was set back, and messages of other logs stand where this copy's last commit was.
func TestSetBackUnderOtherLogs(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	a.add(t, "x")
	backup := t.TempDir()
	s.restart(t, func() { copyDir(t, s.dir, backup) })
	a.adds(t, 5)
	s.restart(t, func() { copyDir(t, backup, s.dir) })
	b := join(t, s.url())
	other, err := journal.Open(t.TempDir(), machine{}, &journal.Options{Remote: b.stream.Log("other")})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for range 8 {
		if _, err := other.Update(t.Context(), add("x")); err != nil {
			t.Fatal(err)
		}
	}
	b.add(t, "y")
	if _, err := a.update(t, add("x")); !errors.Is(err, journal.ErrDiverged) {
		t.Errorf("%v", err)
	}
}

// Several machines make snapshots at once, while others write and new ones come.
func TestManyMakers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const homes, each = 4, 12
	var wg sync.WaitGroup
	for i := range homes {
		h := join(t, s.url(), func(so *options, o *journal.Options) { so.Settle = 10 * time.Second })
		wg.Go(func() {
			for n := range each {
				h.add(t, "x")
				if n%3 == i%3 {
					if err := h.expunge(t, nil); err != nil && !errors.Is(err, journal.ErrConflict) {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	last := join(t, s.url())
	last.has(t, homes*each)
	last.shrink(t)
	if names, pieces := objects(t, s.url()); len(names) != 1 || pieces != 1 || messages(t, s.url()) != 1 {
		t.Errorf("%q, %d pieces, %d messages", names, pieces, messages(t, s.url()))
	}
}

// The answer to a publish is lost, and then a snapshot takes the commit out of the stream. It is
// there once, whatever the answer to the writer.
func TestLostAnswerAndSnapshot(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, b := join(t, s.url()), join(t, s.url())
	direct := &home{dir: b.dir}
	direct.open(t, s.nats.URL()) // not through the proxy
	a.add(t, "x")
	decided := false
	_, err := a.update(t, func(counters, time.Time) ([]event, error) {
		if !decided {
			decided = true
			s.Set(proctest.DropAnswers)
			go func() {
				<-s.Dropped
				for direct.newest(t)["x"] < 2 { // the request had gone through
					time.Sleep(time.Millisecond)
				}
				direct.adds(t, 3)
				direct.shrink(t)
				s.Set(proctest.Pass)
				s.Cut()
			}()
		}
		return []event{{Key: "x"}}, nil
	})
	if !errors.Is(err, journal.ErrInDoubt) {
		t.Errorf("%v", err)
	}
	a.has(t, 5)
	a.add(t, "x")
	direct.has(t, 6)
	if d, err := journal.Detach(t.Context(), a.stream.Named, time.Minute, a.dir); err != nil || d.InDoubt > 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// A snapshot of a newer program, and one that is damaged, are refused.
func TestSnapshotsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url(), func(_ *options, o *journal.Options) { o.Schema = 2 })
	a.adds(t, 3)
	lagging := join(t, s.url())
	lagging.has(t, 3)
	a.adds(t, 3)
	a.shrink(t)
	for name, h := range map[string]*home{"new": join(t, s.url()), "lagging": lagging} {
		if err := fetch(t, h); !errors.Is(err, journal.ErrNewer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := lagging.copied(t); got["x"] != 3 {
		t.Errorf("%v", got)
	}
	m, _, err := a.stream.Log("counters").Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := a.stream.Fetch(t.Context(), m.Name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(text); i += 1 + len(text)/40*proctest.Stride {
		damaged := slices.Clone(text)
		damaged[i] ^= 1
		other := fmt.Sprintf("snapshot/counters/%d-%d-%d-newest%06d", m.Seq, m.Place, m.Size, i) // a small letter comes after the others
		if err := a.stream.Put(t.Context(), other, damaged); err != nil {
			t.Fatal(err)
		}
		h := join(t, s.url(), func(_ *options, o *journal.Options) { o.Schema = 2 })
		if err := h.Fetch(t.Context()); err == nil || errors.Is(err, journal.ErrOffline) {
			if got := h.copied(t); err != nil || got["x"] != 6 {
				t.Errorf("byte %d of %d: %v, %v", i, len(text), err, got)
			}
		}
	}
}

// An import of many facts is one commit. To decide it may take longer than a write waits for
// others, and it is sent all the same.
func TestLargeCommitMayTakeLong(t *testing.T) {
	const wait = 100 * time.Millisecond
	srv := serve(t)
	a := join(t, srv.url())
	a.add(t, "x")
	a.close()
	a.open(t, srv.url(), func(_ *options, o *journal.Options) { o.LockTimeout = wait })
	if _, err := a.Update(t.Context(), func(counters, time.Time) ([]event, error) {
		<-time.After(2 * wait)
		return []event{{Key: "y", Pad: strings.Repeat("large ", 8<<20/6)}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if b := join(t, srv.url()); b.newest(t)["y"] != 1 {
		t.Errorf("another machine has %v", b.copied(t))
	}
}

// delayed is a log that takes its time to load a snapshot, or to publish a large commit.
type delayed struct {
	journal.Remote
	by time.Duration
}

func (d delayed) Load(ctx context.Context, m journal.Mark) ([]byte, error) {
	<-time.After(d.by)
	return d.Remote.Load(ctx, m)
}

func (d delayed) Publish(ctx context.Context, last uint64, commit []byte) (uint64, error) {
	if len(commit) > 1<<20 {
		<-time.After(d.by)
	}
	return d.Remote.Publish(ctx, last, commit)
}

// A write that must fetch a snapshot first, which takes longer than it may wait for others, is done.
func TestWriteAfterALongFetch(t *testing.T) {
	t.Parallel()
	const wait = 500 * time.Millisecond
	s := serve(t)
	a, b := join(t, s.url()), join(t, s.url())
	a.add(t, "x")
	a.close()
	b.adds(t, 4)
	b.shrink(t)
	b.adds(t, 2)
	a.open(t, s.url(), func(_ *options, o *journal.Options) {
		o.LockTimeout, o.Remote = wait, delayed{b.stream.Log("counters"), 2 * wait}
	})
	a.add(t, "x")
	b.has(t, 8)
}

// waiting is how many writes wait for their turn, in all tests.
func waiting() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "/journal.token.takeUnless(")
}

// A write that waited in one batch with a large one, which took long, is done too. One whose caller
// has gone meanwhile is not.
func TestWriteBehindALargeOne(t *testing.T) {
	const wait = time.Second
	s := serve(t)
	other := join(t, s.url())
	a := &home{dir: t.TempDir()}
	a.open(t, s.url(), func(_ *options, o *journal.Options) {
		o.LockTimeout, o.Remote = wait, delayed{other.stream.Log("counters"), 2 * wait}
	})
	a.add(t, "x")
	deciding, queued := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	var once sync.Once
	go func() { // until it has decided, the others line up
		_, err := a.Update(t.Context(), func(counters, time.Time) ([]event, error) {
			once.Do(func() { close(deciding) })
			<-queued
			return []event{{Key: "x"}}, nil
		})
		first <- err
	}()
	<-deciding
	gone, leave := context.WithCancel(t.Context())
	defer leave()
	results := make([]chan error, 3)
	for i := range results {
		results[i] = make(chan error, 1)
		ctx, e := t.Context(), event{Key: "y"}
		switch i {
		case 0:
			e.Pad = strings.Repeat("large ", 2<<20/6)
		case 2:
			ctx = gone
		}
		go func() {
			_, err := a.Update(ctx, func(counters, time.Time) ([]event, error) {
				if i == 0 {
					leave()
				}
				return []event{e}, nil
			})
			results[i] <- err
		}()
		for waiting() <= i {
			time.Sleep(time.Millisecond)
		}
	}
	close(queued)
	for i, done := range append(results, first) {
		if err := <-done; (i == 2) != errors.Is(err, context.Canceled) || i != 2 && err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if got := other.newest(t); got["y"] != 2 {
		t.Errorf("%v", got)
	}
}

// patient is a log that publishes a large commit when a smaller one before it was answered.
type patient struct {
	journal.Remote
	answered chan struct{}
	late     *bool
}

func (p patient) Publish(ctx context.Context, last uint64, commit []byte) (uint64, error) {
	if len(commit) > 1<<20 {
		select {
		case <-p.answered:
		case <-time.After(5 * time.Second):
			*p.late = true
		}
	}
	return p.Remote.Publish(ctx, last, commit)
}

// A write is answered when it is published, not when those behind it are.
func TestWriteBeforeALargeOne(t *testing.T) {
	s := serve(t)
	other := join(t, s.url())
	a, late, answered := &home{dir: t.TempDir()}, false, make(chan struct{})
	a.open(t, s.url(), func(_ *options, o *journal.Options) {
		o.Remote = patient{other.stream.Log("counters"), answered, &late}
	})
	a.add(t, "x")
	deciding, queued := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	var once sync.Once
	write := func(decide func(counters, time.Time) ([]event, error)) {
		if _, err := a.Update(t.Context(), decide); err != nil {
			t.Error(err)
		}
	}
	wg.Go(func() {
		write(func(counters, time.Time) ([]event, error) {
			once.Do(func() { close(deciding) })
			<-queued
			return nil, nil
		})
	})
	<-deciding
	for i, do := range []func(){
		func() { write(add("y")) }, // it leads: it publishes the others too
		func() { write(add("y")); close(answered) },
		func() {
			write(func(counters, time.Time) ([]event, error) {
				return []event{{Key: "y", Pad: strings.Repeat("large ", 2<<20/6)}}, nil
			})
		},
	} {
		wg.Go(do)
		for waiting() <= i {
			time.Sleep(time.Millisecond)
		}
	}
	close(queued)
	wg.Wait()
	if late {
		t.Error("a write was not answered before the one behind it was published")
	}
}

// A large commit is kept in an object. It goes with the commit; what others keep there stays.
func TestLargeCommitsGoToo(t *testing.T) {
	t.Parallel()
	s := serveSmall(t)
	a, lagging := join(t, s.url()), join(t, s.url())
	a.add(t, "x")
	lagging.has(t, 1)
	if err := a.stream.Put(t.Context(), "0123456789", []byte("a shared file")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a.write(t, func(counters, time.Time) ([]event, error) { return []event{{Key: "x", Pad: largePad}}, nil })
	}
	join(t, s.url()).has(t, 3)
	if names, _ := objects(t, s.url()); len(names) != 3 {
		t.Errorf("%q", names)
	}
	a.shrink(t) // the last one stays, and its object
	if names, _ := objects(t, s.url()); len(names) != 3 {
		t.Errorf("%q", names)
	}
	a.add(t, "x")
	a.shrink(t)
	if names, _ := objects(t, s.url()); len(names) != 2 || !slices.Contains(names, "0123456789") {
		t.Errorf("%q", names)
	}
	lagging.has(t, 4)
	join(t, s.url()).has(t, 4)
}

// A shared file that is there is not stored again: if that broke off, the file could be gone. One
// whose pieces are gone is.
func TestPutOfWhatIsThere(t *testing.T) {
	t.Parallel()
	s := serveSmall(t)
	a := join(t, s.url())
	pieces, err := connect(t, s.url()).Stream(t.Context(), "OBJ_leanctx-shop")
	if err != nil {
		t.Fatal(err)
	}
	put := func(text string) (last uint64) {
		t.Helper()
		if err := a.stream.Put(t.Context(), "0123456789", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := a.stream.Fetch(t.Context(), "0123456789"); err != nil || string(got) != text {
			t.Errorf("%d bytes, want %d: %v", len(got), len(text), err)
		}
		info, err := pieces.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.LastSeq
	}
	for _, text := range []string{largePad, "", largePad + "and more"} {
		first := put(text)
		if again := put(text); again != first {
			t.Errorf("%d bytes were stored again", len(text))
		}
	}
	if err := pieces.DeleteMsg(t.Context(), put(largePad)-1); err != nil { // the last is the object itself
		t.Fatal(err)
	}
	put(largePad)
}

// The next snapshot removes what broken uploads of earlier ones left. What may become an object stays,
// and so does what another log has.
func TestPiecesOfBrokenUploads(t *testing.T) {
	t.Parallel()
	s := serveSmall(t)
	a := join(t, s.url())
	js := connect(t, s.url())
	store, err := js.ObjectStore(t.Context(), "leanctx-shop")
	if err != nil {
		t.Fatal(err)
	}
	a.adds(t, 2)
	a.shrink(t)
	a.add(t, "x")
	if err := a.stream.Put(t.Context(), "0123456789", []byte(largePad)); err != nil {
		t.Fatal(err)
	}
	_, want := objects(t, s.url()) // the next snapshot has one piece too
	for name, stays := range map[string]bool{
		"snapshot/counters/1-1-9-A": false,
		"snapshot/counters/3-0-9-A": false,
		"snapshot/counters/3-9-9-A": true, // of the same commit, and by its name after the one that is made
		"snapshot/other/1-1-9-A":    true,
		"commit/counters/2-A":       false,
		"commit/counters/3-A":       true,
		"0123456789":                true, // somebody stores the same file
	} {
		piece := base64.URLEncoding.EncodeToString([]byte(name + "/AAAA"))
		for range 2 {
			if _, err := js.Publish(t.Context(), "$O.leanctx-shop.C."+piece, []byte("a piece")); err != nil {
				t.Fatal(err)
			}
			if stays {
				want++
			}
		}
	}
	// The client's own Put has pieces under an id that is no name.
	if _, err := store.PutBytes(t.Context(), "snapshot/counters/1-1-9-B", []byte("no snapshot")); err != nil {
		t.Fatal(err)
	}
	a.shrink(t)
	if names, pieces := objects(t, s.url()); len(names) != 2 || pieces != want {
		t.Errorf("%q, %d pieces, want %d", names, pieces, want)
	}
	if text, err := a.stream.Fetch(t.Context(), "0123456789"); err != nil || string(text) != largePad {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	join(t, s.url()).has(t, 3)
	a.add(t, "x")
	a.shrink(t)
	if _, pieces := objects(t, s.url()); pieces != want-4 {
		t.Errorf("%d pieces after the next one, want %d", pieces, want-4)
	}
}

// Commits that somebody took out of the stream, and that no snapshot has, are reported as that.
func TestCommitsThatAreNowhere(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, b := join(t, s.url()), join(t, s.url())
	b.add(t, "x")
	a.newest(t)
	b.adds(t, 3)
	stream, err := connect(t, s.url()).Stream(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context(), natsjs.WithPurgeKeep(1)); err != nil {
		t.Fatal(err)
	}
	_, err = a.update(t, add("x"))
	if !errors.Is(err, journal.ErrDiverged) || !strings.HasSuffix(err.Error(), "nor in a snapshot. Nothing is written") {
		t.Errorf("%v", err)
	}
}

// damaged is a machine that was closed and lost commits of its copy. The log is trimmed to its
// half, and other has all of it.
func damaged(t *testing.T) (s *server, lost, other *home) {
	t.Helper()
	s = serve(t)
	lost, other = join(t, s.url()), join(t, s.url())
	other.adds(t, 4)
	other.shrink(t)
	lost.has(t, 4)
	other.adds(t, 4)
	lost.has(t, 8)
	lost.close()
	lost.damage(t)
	return s, lost, other
}

// A copy that lost commits never becomes a snapshot. It is made anew from one.
func TestDamagedCopyOfATrimmedLog(t *testing.T) {
	for name, compacts := range map[string]bool{"fetches": false, "compacts first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, a, _ := damaged(t)
			a.open(t, s.url())
			if compacts {
				if err := a.Compact(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			a.shrink(t) // it is made of what the server has
			join(t, s.url()).has(t, 8)
			for range 2 {
				if got := a.newest(t); got["x"] != 8 {
					t.Errorf("%v", got)
				}
				a.close()
				a.open(t, s.url())
			}
			a.shrink(t)
			join(t, s.url()).has(t, 8)
		})
	}
}

// What was expunged is not in the server's files: neither in commits, nor in former snapshots, nor
// in large commits. All is taken out, or what holds the text.
func TestExpungedBytes(t *testing.T) {
	const secret = "Zwetschgendatschi"
	for name, holds := range map[string]func([]byte) bool{
		"all":  nil,
		"some": func(commit []byte) bool { return bytes.Contains(commit, []byte(secret)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveSmall(t)
			a := join(t, s.url())
			put := func(key, pad string) {
				a.write(t, func(counters, time.Time) ([]event, error) { return []event{{Key: key, Pad: pad}}, nil })
			}
			put("x", "")
			a.shrink(t)
			put(secret, "")
			put("x", secret+largePad)
			put("x", secret)
			put("x", "")
			for range 2 { // the state has the key
				a.shrink(t)
				put("x", "")
			}
			put(secret, "")
			if !inFiles(t, s.dir, secret) {
				t.Fatal("the test looks in the wrong place")
			}
			put("forget", "")
			if err := a.expunge(t, holds); err != nil {
				t.Fatal(err)
			}
			if inFiles(t, s.dir, secret) {
				t.Error("it is still there")
			}
			join(t, s.url()).has(t, 6)
		})
	}
}

// inFiles reports whether some file below a directory has a text. A server that runs may take a
// file away meanwhile.
func inFiles(t testing.TB, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		var data []byte
		if err == nil && !e.IsDir() {
			data, err = os.ReadFile(path)
		}
		if bytes.Contains(data, []byte(text)) {
			found = true
			t.Logf("in %s", path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A process that reads between the two switches of a start sees the copy as it was, and afterwards
// what the copy is then.
func TestReadsWhileACopyIsSwitched(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, lagging := join(t, s.url()), join(t, s.url())
	a.adds(t, 3)
	lagging.has(t, 3)
	a.adds(t, 4)
	a.shrink(t)
	reader, starter, looked := &home{dir: lagging.dir}, &home{dir: lagging.dir}, false
	reader.open(t, "nats://127.0.0.1:1", func(so *options, _ *journal.Options) { so.Wait = 0 })
	starter.open(t, s.url(), func(_ *options, o *journal.Options) {
		o.Fault = func(op, name string) error {
			if op == "rename" && name == "state.json" {
				looked = true
				if got := reader.copied(t)["x"]; got != 3 {
					t.Errorf("between the switches: %d", got)
				}
			}
			return nil
		}
	})
	starter.has(t, 7)
	if got := reader.copied(t)["x"]; got != 7 || !looked {
		t.Errorf("after them: %d, looked between them: %v", got, looked)
	}
}

// Who is late with a snapshot leaves nothing on the server. It may hold what was erased meanwhile.
func TestLateSnapshotIsTakenAway(t *testing.T) {
	t.Parallel()
	const secret = "Zwetschgendatschi"
	s := serve(t)
	a := join(t, s.url())
	a.adds(t, 2)
	log := a.stream.Log("counters")
	for n := 2; n <= 3; n++ { // the first snapshot, and one that replaces another
		a.shrink(t)
		if m, err := log.Save(t.Context(), journal.Mark{Seq: 1, Place: 1}, []byte(secret)); err != nil || m.Seq != uint64(n) {
			t.Errorf("%+v, %v", m, err)
		}
		if names, pieces := objects(t, s.url()); len(names) != 1 || pieces != 1 || inFiles(t, s.dir, secret) {
			t.Errorf("%q, %d pieces", names, pieces)
		}
		join(t, s.url()).has(t, n)
		a.add(t, "x")
	}
}

// A write in doubt that the server has, and that another machine erases, leaves this disk too.
func TestErasedWriteInDoubt(t *testing.T) {
	t.Parallel()
	const secret = "Zwetschgendatschi"
	s := serve(t)
	a, b := join(t, s.url()), join(t, s.url())
	a.add(t, "x")
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	_, err := a.Update(ctx, func(counters, time.Time) ([]event, error) {
		s.Set(proctest.DropAnswers)
		go func() { <-s.Dropped; giveUp() }()
		return []event{{Key: secret}}, nil
	})
	if !errors.Is(err, journal.ErrInDoubt) {
		t.Fatal(err)
	}
	if err := a.Purge(t.Context()); err != nil || !inFiles(t, a.dir, secret) {
		t.Errorf("what may be needed is gone: %v", err)
	}
	s.Set(proctest.Pass)
	s.Cut()
	for b.newest(t)[secret] == 0 { // the request had gone through
		time.Sleep(time.Millisecond)
	}
	b.add(t, "forget")
	if got := a.newest(t); got[secret] > 0 {
		t.Fatal(got)
	}
	if err := a.Purge(t.Context()); err != nil || inFiles(t, a.dir, secret) {
		t.Errorf("it is still there: %v", err)
	}
}

// unmarked knows no snapshot, as a server of a cluster that lags.
type unmarked struct{ journal.Remote }

func (u unmarked) Newest(ctx context.Context) (m journal.Mark, each uint64, err error) {
	_, each, err = u.Remote.Newest(ctx)
	return m, each, err
}

// A copy that lost commits is not emptied before what it starts from is here.
func TestDamagedCopyWithoutAMark(t *testing.T) {
	t.Parallel()
	s, a, b := damaged(t)
	a.open(t, s.url(), func(so *options, o *journal.Options) {
		so.Wait = 0
		o.Remote = unmarked{b.stream.Log("counters")}
	})
	if err := fetch(t, a); !errors.Is(err, journal.ErrDiverged) {
		t.Error(err)
	}
	a.close()
	a.open(t, "nats://127.0.0.1:1", func(so *options, _ *journal.Options) { so.Wait = 0 })
	if got := a.copied(t); got["x"] != 7 {
		t.Errorf("%v", got)
	}
	a.close()
	a.open(t, s.url())
	if got := a.newest(t); got["x"] != 8 {
		t.Errorf("%v", got)
	}
}

// A start that is killed between its two switches leaves the copy as it was.
func TestStartKilledBetweenTheSwitches(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, lagging := join(t, s.url()), join(t, s.url())
	a.adds(t, 3)
	lagging.has(t, 3)
	a.adds(t, 4)
	a.shrink(t)
	killed, switched := &home{dir: lagging.dir}, false
	killed.open(t, s.url(), func(_ *options, o *journal.Options) {
		o.Fault = func(op, name string) error {
			if switched {
				return errBroken
			}
			switched = op == "rename" && (name == "state.journal" || name == "state.json")
			return nil
		}
	})
	if err := fetch(t, killed); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	killed.close()
	lagging.close()
	lagging.open(t, s.url())
	if got := lagging.copied(t)["x"]; got != 3 && got != 7 {
		t.Errorf("%d", got)
	}
	lagging.has(t, 7)
	if at := lagging.head(t); at.Sum != a.head(t).Sum || at.Repairs > 0 {
		t.Errorf("%+v", at)
	}
}

// watched is a remote log that notes where fetches begin, and goes away after some commits.
type watched struct {
	journal.Remote
	begins *[]uint64
	most   int
}

func (w watched) Fetch(ctx context.Context, from uint64, take func(uint64, []byte) error) error {
	*w.begins = append(*w.begins, from)
	n := 0
	return w.Remote.Fetch(ctx, from, func(place uint64, commit []byte) error {
		if n++; w.most > 0 && n > w.most {
			return journal.ErrOffline
		}
		return take(place, commit)
	})
}

// A server that is lost while a damaged copy is made anew leaves the copy as it was.
func TestServerLostWhileACopyIsMadeAnew(t *testing.T) {
	t.Parallel()
	s, a, b := damaged(t)
	var begins []uint64
	a.open(t, s.url(), func(so *options, o *journal.Options) {
		so.Wait = 0
		o.Remote = watched{b.stream.Log("counters"), &begins, 3}
	})
	if err := a.Fetch(t.Context()); !errors.Is(err, journal.ErrOffline) {
		t.Error(err)
	}
	if got := a.copied(t); got["x"] != 7 {
		t.Errorf("the copy has %v, want the 7 that are intact", got)
	}
	a.close()
	a.open(t, s.url())
	if got := a.newest(t); got["x"] != 8 {
		t.Errorf("%v", got)
	}
}

// A process that was killed before it noted the place of its last commit costs the next one no look
// at the whole log.
func TestPlaceThatWasNotNoted(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	a.adds(t, 5)
	head := filepath.Join(a.dir, "state.head")
	noted, err := os.ReadFile(head)
	if err != nil {
		t.Fatal(err)
	}
	a.adds(t, 2)
	a.close()
	if err := os.WriteFile(head, noted, 0o600); err != nil {
		t.Fatal(err)
	}
	var begins []uint64
	again := &home{dir: a.dir}
	connection := join(t, s.url()).stream
	again.open(t, s.url(), func(_ *options, o *journal.Options) {
		o.Remote = watched{Remote: connection.Log("counters"), begins: &begins}
	})
	again.add(t, "x")
	again.has(t, 8)
	if begins[0] != 5 || slices.Contains(begins[1:], 5) {
		t.Errorf("fetches began at %v, want 5 and then later", begins)
	}
}

// One file operation after another fails, once or from then on, while a damaged copy is made anew.
// What is intact can be read, and a copy that lacks a commit never passes for a whole one. With
// -long each operation fails, else some.
func TestRenewalFailsAtEachFileOperation(t *testing.T) {
	t.Parallel()
	stride := 4 * proctest.Stride
	if *long {
		stride = 1
	}
	for name, change := range map[string]func(t *testing.T, h *home, url string){
		"a commit": func(*testing.T, *home, string) {},
		"a commit, and it was compacted": func(t *testing.T, h *home, _ string) {
			h.open(t, "nats://127.0.0.1:1", func(so *options, _ *journal.Options) { so.Wait = 0 })
			if err := h.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.close()
		},
		"the journal": func(t *testing.T, h *home, url string) {
			h.open(t, url)
			h.newest(t)
			if err := h.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.close()
			if err := os.Remove(journalOf(h)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for _, once := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, once %v", name, once), func(t *testing.T) {
				t.Parallel()
				s, h, other := damaged(t)
				change(t, h, s.url())
				for at, done := rand.IntN(stride), false; !done; at += stride {
					c := &home{dir: filepath.Join(t.TempDir(), "copy")}
					copyDir(t, h.dir, c.dir)
					n, was := 0, ""
					c.open(t, s.url(), func(_ *options, o *journal.Options) {
						o.Fault = func(op, name string) error {
							if n++; n-1 == at || !once && n-1 > at {
								was = cmp.Or(was, op+" of "+name)
								return errBroken
							}
							return nil
						}
					})
					err := fetch(t, c)
					if done = n <= at; !done && err != nil && !errors.Is(err, errBroken) {
						t.Errorf("%s: %v", was, err)
					}
					c.close()
					c.open(t, "nats://127.0.0.1:1", func(so *options, _ *journal.Options) { so.Wait = 0 }) // away
					if got := c.copied(t)["x"]; got != 7 && got != 8 {
						t.Errorf("after %s, offline: %d", was, got)
					}
					c.close()
					for range 2 {
						c.open(t, s.url())
						if got := c.newest(t)["x"]; got != 8 {
							t.Errorf("after %s: %d", was, got)
						}
						if at := c.head(t); at.Sum != other.head(t).Sum || at.Repairs > 0 {
							t.Errorf("after %s: %+v", was, at)
						}
						c.close()
					}
				}
			})
		}
	}
}

// A machine that was long away leaves with what the snapshot has, and what came since.
func TestLeaveAfterASnapshot(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, b := join(t, s.url()), join(t, s.url())
	a.add(t, "x")
	b.adds(t, 4)
	b.shrink(t)
	b.adds(t, 2)
	if d, err := journal.Detach(t.Context(), a.stream.Named, time.Minute, a.dir); err != nil || d.Old != nil {
		t.Fatal(d, err)
	}
	alone, err := journal.Open(a.dir, machine{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if h, err := alone.Update(t.Context(), add("x")); err != nil || h.Seq != 8 {
		t.Errorf("%+v, %v", h, err)
	}
}

// A machine whose copy has lost commits leaves with all of them, also when the team has no snapshot yet.
func TestLeaveWithADamagedCopy(t *testing.T) {
	for name, compacts := range map[string]bool{"a journal": false, "a snapshot": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			a := join(t, s.url())
			a.adds(t, 4)
			a.close()
			a.damage(t)
			a.open(t, s.url())
			if compacts { // the snapshot lacks the commit
				if err := a.Compact(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			join(t, s.url()).add(t, "y")
			if d, err := journal.Detach(t.Context(), a.stream.Named, time.Minute, a.dir); err != nil || d.Old != nil {
				t.Fatal(d, err)
			}
			a.close()
			alone, err := journal.Open(a.dir, machine{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer alone.Close()
			if h, err := alone.Update(t.Context(), add("x")); err != nil || h.Seq != 6 || h.Repairs > 0 {
				t.Errorf("%+v, %v", h, err)
			}
			if err := alone.View(t.Context(), func(now counters, _ journal.Head) error {
				if now["x"] != 5 || now["y"] != 1 {
					t.Errorf("%v", now)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A copy with a damaged header is still a copy. A process that knows no team does not write it. The
// machine leaves with what the others wrote meanwhile, or is told that this may be missing. What it
// keeps can be written, also if the header is damaged once more.
func TestLeaveWithADamagedHeader(t *testing.T) {
	for _, compacts := range []bool{false, true} {
		for what, told := range map[string]bool{"": false, `{"journal"`: false, `"at"`: false, `counters"`: true, `"remote"`: true} {
			t.Run(fmt.Sprintf("%q, compacted %v", what, compacts), func(t *testing.T) {
				t.Parallel()
				s := serve(t)
				a := join(t, s.url())
				a.adds(t, 4)
				if compacts { // then J.prev names the log too
					if err := a.Compact(t.Context()); err != nil {
						t.Fatal(err)
					}
					a.add(t, "x")
				}
				a.close()
				damage := func() {
					t.Helper()
					text, err := os.ReadFile(journalOf(a))
					if err != nil {
						t.Fatal(err)
					}
					text[max(bytes.Index(text, []byte(what)), 0)] ^= 1
					if err := os.WriteFile(journalOf(a), text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				damage()
				damaged, err := os.ReadFile(journalOf(a))
				if err != nil {
					t.Fatal(err)
				}
				alone, err := journal.Open(a.dir, machine{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer alone.Close()
				if what != `"remote"` {
					if _, err := alone.Update(t.Context(), add("x")); !errors.Is(err, journal.ErrElsewhere) {
						t.Error(err)
					}
					if err := os.WriteFile(journalOf(a), damaged, 0o600); err != nil { // it was repaired
						t.Fatal(err)
					}
				}
				b := join(t, s.url())
				b.add(t, "x")
				last := b.head(t).Seq
				told := told && !compacts
				d, err := journal.Detach(t.Context(), b.stream.Named, time.Minute, a.dir)
				if err != nil || (d.Old != nil) != told {
					t.Fatal(d, err)
				}
				if told {
					last-- // it has what it had
				}
				for range 2 {
					last++
					alone, err := journal.Open(a.dir, machine{}, nil)
					if err != nil {
						t.Fatal(err)
					}
					if h, err := alone.Update(t.Context(), add("x")); err != nil || h.Seq != last || h.Repairs > 0 {
						t.Errorf("%+v, %v", h, err)
					}
					if err := alone.Close(); err != nil {
						t.Error(err)
					}
					what = `{"journal"`
					damage()
				}
			})
		}
	}
}
