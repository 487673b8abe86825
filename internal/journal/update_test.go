package journal_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"leanctx/internal/journal"
)

// gate is a fault hook that stops the first operation of a kind until it is opened.
type gate struct {
	op, name string
	once     sync.Once
	reached  chan struct{}
	opened   chan error
}

func newGate(op, name string) *gate {
	return &gate{op: op, name: name, reached: make(chan struct{}), opened: make(chan error)}
}

func (g *gate) fault(op, name string) (err error) {
	if op == g.op && name == g.name {
		g.once.Do(func() {
			close(g.reached)
			err = <-g.opened
		})
	}
	return err
}

// together has n updates wait for one that is stopped at its fsync, so that
// they are the next batch. Each one's decide is given its number.
func together(t *testing.T, n int, decide func(i int, s counters) ([]event, error)) (*testLog, []error) {
	t.Helper()
	g := newGate("sync", "state.journal")
	l := open(t, t.TempDir(), &journal.Options{Fault: g.fault})
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = l.Update(t.Context(), add("first")) })
	<-g.reached
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					errs[i] = fmt.Errorf("panic: %v", r)
				}
			}()
			_, errs[i] = l.Update(t.Context(), func(s counters, _ time.Time) ([]event, error) { return decide(i, s) })
		})
		for l.Waiting() < i+1 {
			runtime.Gosched()
		}
	}
	g.opened <- nil
	wg.Wait()
	return l, errs
}

func TestWaitingCallersAreDecidedInOrderOnTheNewestState(t *testing.T) {
	const n = 20
	l, errs := together(t, n, func(i int, s counters) ([]event, error) {
		if s["x"] != i {
			return nil, fmt.Errorf("%d sees %d", i, s["x"])
		}
		return []event{{Key: "x", Add: 1}}, nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if s, h := view(t, l); s["x"] != n || h.Seq != n+1 {
		t.Errorf("%v at %d", s, h.Seq)
	}
}

func TestBatchWithRefusalsAndPanics(t *testing.T) {
	refused := errors.New("refused")
	l, errs := together(t, 12, func(i int, s counters) ([]event, error) {
		switch i % 4 {
		case 1:
			return nil, refused
		case 2:
			return nil, nil
		case 3:
			panic(i)
		}
		return []event{{Key: "x", Add: 1}}, nil
	})
	for i, err := range errs {
		want := []string{"<nil>", "refused", "<nil>", fmt.Sprintf("panic: %d", i)}[i%4]
		if fmt.Sprint(err) != want || i%4 == 1 && err != refused {
			t.Errorf("caller %d: %v, want %s", i, err, want)
		}
	}
	update(t, l, "x") // nothing is left locked
	if s, h := view(t, l); s["x"] != 4 || h.Seq != 5 {
		t.Errorf("%v at %d", s, h.Seq)
	}
}

func TestDecideThatEndsItsGoroutine(t *testing.T) {
	l := open(t, t.TempDir(), nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = l.Update(context.Background(), func(counters, time.Time) ([]event, error) {
			runtime.Goexit()
			return nil, nil
		})
	})
	wg.Wait()
	update(t, l, "x")
}

// brittle is a machine with a mistake.
type brittle struct{ machine }

func (m brittle) Fold(s counters, c journal.Commit[event]) counters {
	if c.Events[0].Key == "brittle" {
		panic("a mistake")
	}
	return m.machine.Fold(s, c)
}

// Who shares a batch with a commit that cannot be folded has an answer, and no success: nothing was written.
func TestFoldThatPanics(t *testing.T) {
	g := newGate("sync", "state.journal")
	l, err := journal.Open(t.TempDir(), brittle{}, &journal.Options{Fault: g.fault})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = l.Update(t.Context(), add("x")) })
	<-g.reached
	var failed atomic.Int32
	for i, key := range []string{"x", "brittle", "x", "x"} {
		wg.Go(func() {
			err := errors.New("panicked")
			defer func() {
				if recover() != nil || err != nil {
					failed.Add(1)
				}
			}()
			_, err = l.Update(t.Context(), add(key))
		})
		for l.Waiting() < i+1 {
			runtime.Gosched()
		}
	}
	g.opened <- nil
	wg.Wait()
	if n := failed.Load(); n != 4 {
		t.Errorf("%d of 4 failed", n)
	}
	update(t, l, "x") // nothing is left locked
	if s, h := view(t, l); s["x"] != 2 || h.Seq != 2 {
		t.Errorf("%v at %d", s, h.Seq)
	}
}

func TestFailedBatchFailsAllThatRestedOnIt(t *testing.T) {
	dir := t.TempDir()
	g := newGate("sync", "state.journal")
	var mu sync.Mutex
	fail := false
	l := open(t, dir, &journal.Options{Fault: func(op, name string) error {
		mu.Lock()
		defer mu.Unlock()
		if fail && op == "write" && name == "state.journal" {
			fail = false
			return syscall.ENOSPC
		}
		mu.Unlock()
		defer mu.Lock()
		return g.fault(op, name)
	}})
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = l.Update(t.Context(), add("first")) })
	<-g.reached
	refused := errors.New("there is one already")
	errs := make([]error, 3)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = l.Update(t.Context(), func(s counters, _ time.Time) ([]event, error) {
				if s["x"] > 0 {
					return nil, refused
				}
				return []event{{Key: "x", Add: 1}}, nil
			})
		})
		for l.Waiting() < i+1 {
			runtime.Gosched()
		}
	}
	mu.Lock()
	fail = true
	mu.Unlock()
	g.opened <- nil
	wg.Wait()
	for i, err := range errs {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("caller %d: %v, want no space: the x it saw was never written", i, err)
		}
	}
	for _, l := range []*testLog{l, open(t, dir, nil)} {
		if s, h := view(t, l); s["x"] != 0 || h.Seq != 1 {
			t.Errorf("%v at %d", s, h.Seq)
		}
	}
}

// A view that begins during the fsync shows how it ended.
func TestViewWaitsForTheFsync(t *testing.T) {
	for _, outcome := range []error{nil, syscall.EIO} {
		g := newGate("sync", "state.journal")
		l := open(t, t.TempDir(), &journal.Options{Fault: g.fault})
		var wg sync.WaitGroup
		var err error
		wg.Go(func() { _, err = l.Update(t.Context(), add("x")) })
		<-g.reached
		for range 3 {
			wg.Go(func() {
				if s, h := view(t, l); (s["x"] == 1) != (outcome == nil) || (h.Seq == 1) != (outcome == nil) {
					t.Errorf("fsync: %v, and a view sees %v at %d", outcome, s, h.Seq)
				}
			})
		}
		g.opened <- outcome
		wg.Wait()
		s, _ := view(t, l)
		if !errors.Is(err, outcome) || (s["x"] == 1) != (outcome == nil) {
			t.Errorf("fsync: %v, update: %v, then %v", outcome, err, s)
		}
	}
}

// TestAnotherProcessSeesATailReplaced is the reader of the package doc who saw
// a commit whose fsync failed, and then another one of the same length.
func TestAnotherProcessSeesATailReplaced(t *testing.T) {
	dir := t.TempDir()
	g := newGate("sync", "state.journal")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := open(t, dir, &journal.Options{Fault: g.fault, Now: func() time.Time { return now }})
	reader := open(t, dir, nil)
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = l.Update(t.Context(), add("x")) })
	<-g.reached
	if s, _ := view(t, reader); s["x"] != 1 {
		t.Errorf("a reader without a lock sees what is written: %v", s)
	}
	g.opened <- syscall.EIO
	wg.Wait()
	update(t, l, "y")
	if s, _ := view(t, reader); s["x"] != 0 || s["y"] != 1 {
		t.Errorf("the tail was replaced: %v", s)
	}
}

func TestLeavingTheQueue(t *testing.T) {
	g := newGate("sync", "state.journal")
	l := open(t, t.TempDir(), &journal.Options{Fault: g.fault, LockTimeout: time.Nanosecond})
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = l.Update(t.Context(), add("first")) })
	<-g.reached
	if _, err := l.Update(t.Context(), add("x")); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("too late: %v", err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := l.Update(ctx, add("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("left: %v", err)
	}
	if err := l.View(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("left: %v", err)
	}
	g.opened <- nil
	wg.Wait()
	if s, h := view(t, l); h.Seq != 1 {
		t.Errorf("%v at %d", s, h.Seq)
	}
}

func TestClosed(t *testing.T) {
	g := newGate("sync", "state.journal")
	dir := t.TempDir()
	l := open(t, dir, &journal.Options{Fault: g.fault, LongLived: true})
	var wg sync.WaitGroup
	var answered error
	wg.Go(func() { _, answered = l.Update(t.Context(), add("x")) })
	<-g.reached
	for range 3 {
		wg.Go(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	g.opened <- nil
	wg.Wait()
	if s, _ := view(t, open(t, dir, nil)); answered != nil || s["x"] != 1 {
		t.Errorf("close did not wait: %v, %v", answered, s)
	}
	_, err := l.Update(t.Context(), add("x"))
	errs := []error{err, l.Compact(t.Context()), l.Purge(t.Context()), l.View(t.Context(), nil)}
	for _, err := range errs {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("after close: %v", err)
		}
	}
	if l.Stats().JournalBytes != 0 {
		t.Error("stats of a closed log")
	}
}

func TestWhatCannotBeEncodedIsRefused(t *testing.T) {
	type odd struct{ F any }
	l, err := journal.Open(t.TempDir(), oddMachine{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = l.Update(t.Context(), func(struct{}, time.Time) ([]any, error) { return []any{odd{func() {}}}, nil })
	if err == nil {
		t.Error("a function was written")
	}
	if _, err = l.Update(t.Context(), func(struct{}, time.Time) ([]any, error) { return []any{"x\ny\u2028"}, nil }); err != nil {
		t.Error(err)
	}
}

// oddMachine has events of any kind.
type oddMachine struct{}

func (oddMachine) New() struct{}                                   { return struct{}{} }
func (oddMachine) Fold(s struct{}, _ journal.Commit[any]) struct{} { return s }
func (oddMachine) Clone(s struct{}) struct{}                       { return s }
func (oddMachine) Encode(w io.Writer, _ struct{}, h journal.Header) error {
	_, err := fmt.Fprintf(w, `{"schema": 1, "checksum": "00000000", "seq": %d, "counters": [1]}`, h.Seq)
	return err
}
func (oddMachine) Decode([]byte) (s struct{}, err error) { return s, nil }
