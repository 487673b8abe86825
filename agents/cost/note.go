package cost

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"
)

const (
	flushAfter    = 500 * time.Millisecond // from the first receipt in the queue to the write
	maxTexts      = 1 << 20                // bytes of text that wait to be counted
	maxQueue      = 16384                  // receipts that wait; more are dropped: the disk stands still
	closeCounting = 200 * time.Millisecond // how long Close counts; the rest is estimated
)

// noDeadline lets a flush count everything.
var noDeadline = time.Time{}

// pending is a receipt in the queue.
type pending struct {
	line
	in, out string // still to be counted
}

func (p *pending) size() int { return len(p.in) + len(p.out) }

// queue is what was noted and not yet written.
type queue struct {
	wake chan struct{} // says that the queue is not empty any more
	keep bool          // texts are kept until they are counted

	mu     sync.Mutex
	list   []pending
	texts  int // bytes of text, in the list and in the block being counted
	closed bool
}

// Note takes a receipt. It never blocks and never fails; after Close it does
// nothing.
func (l *Ledger) Note(r Receipt) {
	r.Agent = cmp.Or(r.Agent, l.actor.Agent, l.actor.Client)
	r.Session = cmp.Or(r.Session, l.actor.Session)
	r.Project = cmp.Or(r.Project, l.opts.ProjectHash)
	if r.At.IsZero() {
		r.At = l.opts.Now()
	}
	l.queue.add(pending{r.line(), r.In, r.Out})
}

func (q *queue) add(p pending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.list) >= maxQueue {
		return
	}
	if !q.keep || q.texts+p.size() > maxTexts {
		p.in, p.out = "", ""
	}
	q.texts += p.size()
	q.list = append(q.list, p)
	select {
	case q.wake <- struct{}{}:
	default: // it is awake already
	}
}

func (q *queue) take() []pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list = nil
	return list
}

// counted gives back the room that a text took.
func (q *queue) counted(bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.texts -= bytes
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.list = true, nil
}

// run writes the queue down while a server lives.
func (c *core) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.queue.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(flushAfter):
		}
		if c.flush(noDeadline) {
			c.tryFold(ctx)
		}
	}
}

// flush writes down what is in the queue, and tells whether it is time to fold.
// After the deadline texts are not counted any more.
func (c *core) flush(deadline time.Time) (folds bool) {
	c.flushing.Lock()
	defer c.flushing.Unlock()
	list := c.queue.take()
	if len(list) == 0 {
		return false
	}
	block := []byte("\n") // ends a line that somebody's kill left torn
	for i := range list {
		p := &list[i]
		if p.size() > 0 && (deadline.IsZero() || time.Now().Before(deadline)) {
			c.measure(p)
		}
		c.queue.counted(p.size())
		block = p.appendTo(block)
	}
	folds, err := c.files.append(day(c.opts.Now()), block)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.opts.Logger.Warn("receipts were lost", "count", len(list), "error", err)
	}
	return folds
}

// measure counts the tokens of a receipt whose texts are at hand.
func (c *core) measure(p *pending) {
	p.Estimated = false
	if p.in != "" || p.BytesIn == 0 {
		p.In = c.count.Count(p.in)
	} else {
		p.Estimated = true
	}
	if p.out != "" || p.BytesOut == 0 {
		p.Out = c.count.Count(p.out)
	} else {
		p.Estimated = true
	}
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
