package journal

import (
	"context"
	"sync"
	"time"
)

// waiter is one call of Update. Its decide always runs in the goroutine that
// made the call, so that a panic ends that one and no other.
type waiter[S, E any] struct {
	decide func(S, time.Time) ([]E, error)
	turn   chan turn[S]     // the leader says: decide now
	answer chan decision[E] // and is told
	done   chan struct{}    // closed when head and err are set
	head   Head
	err    error
}

type turn[S any] struct {
	state S
	now   time.Time
}

type decision[E any] struct {
	events  []E
	err     error
	aborted bool // decide panicked, or ended its goroutine
}

func newWaiter[S, E any](decide func(S, time.Time) ([]E, error)) *waiter[S, E] {
	return &waiter[S, E]{
		decide: decide,
		turn:   make(chan turn[S]),
		answer: make(chan decision[E], 1),
		done:   make(chan struct{}),
	}
}

// serve decides and tells the leader, also if decide does not return.
func (w *waiter[S, E]) serve(t turn[S]) {
	d := decision[E]{aborted: true}
	defer func() { w.answer <- d }()
	d.events, d.err = w.decide(t.state, t.now)
	d.aborted = false
}

// ask has the waiter decide. The leader's own runs here.
func (w *waiter[S, E]) ask(t turn[S], own bool) decision[E] {
	if own {
		w.serve(t)
	} else {
		w.turn <- t
	}
	return <-w.answer
}

func (w *waiter[S, E]) finish(head Head, err error) {
	w.head, w.err = head, err
	close(w.done)
}

// queue is the calls that wait, in the order they came.
type queue[S, E any] struct {
	mu   sync.Mutex
	list []*waiter[S, E]
}

func (q *queue[S, E]) add(w *waiter[S, E]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, w)
}

// withdraw takes a waiter out, unless a leader has it already.
func (q *queue[S, E]) withdraw(w *waiter[S, E]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, x := range q.list {
		if x == w {
			q.list = append(q.list[:i:i], q.list[i+1:]...)
			return true
		}
	}
	return false
}

func (q *queue[S, E]) takeAll() []*waiter[S, E] {
	q.mu.Lock()
	defer q.mu.Unlock()
	ws := q.list
	q.list = nil
	return ws
}

// putBack returns waiters that a leader could not serve.
func (q *queue[S, E]) putBack(ws []*waiter[S, E]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(ws[:len(ws):len(ws)], q.list...)
}

// wait waits until a leader has served w, or leads.
func (l *Log[S, E]) wait(ctx context.Context, w *waiter[S, E]) error {
	l.queue.add(w)
	deadline := time.Now().Add(l.o.LockTimeout)
	late := time.NewTimer(l.o.LockTimeout)
	defer late.Stop()
	ended, timer := ctx.Done(), late.C
	for {
		select {
		case t := <-w.turn:
			w.serve(t)
		case <-w.done:
			return w.err
		case l.lead <- struct{}{}:
			return l.leadBatch(ctx, w, deadline)
		case <-ended:
			if l.queue.withdraw(w) {
				return context.Cause(ctx)
			}
			ended, timer = nil, nil // a leader has it: the outcome is near, and must be known
		case <-timer:
			select {
			case l.lead <- struct{}{}: // late, and yet one try is due
				return l.leadBatch(ctx, w, deadline)
			default:
			}
			if l.queue.withdraw(w) {
				return l.d.errorf(l.d.n.lock, ErrLocked, "another write of this process does not end; try again")
			}
			ended, timer = nil, nil
		}
	}
}
