package cost

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"leanctx/internal/journal"
)

// errMoved says that another process folded meanwhile.
var errMoved = errors.New("receipts were folded by another process")

// fold adds the receipts that are not folded yet to the totals, and events to
// the same commit.
func (c *core) fold(ctx context.Context, events ...event) error {
	log, err := c.openLog()
	if err != nil {
		return err
	}
	for {
		done, err := c.foldOnce(ctx, log, events)
		if errors.Is(err, errMoved) {
			continue // somebody got on, so this ends
		}
		if err == nil {
			c.files.removeOld(done, c.opts.Now())
		}
		return err
	}
}

func (c *core) foldOnce(ctx context.Context, log *journal.Log[*state, event], extra []event) ([]tail, error) {
	var before map[string]int64
	if err := log.View(ctx, func(s *state, _ journal.Head) error {
		before = maps.Clone(s.read)
		return nil
	}); err != nil {
		return nil, err
	}
	tails, err := c.files.tails(before, "", true)
	if err != nil {
		return nil, err
	}
	events := append(c.folded(before, tails), extra...)
	if len(events) == 0 {
		return tails, nil
	}
	_, err = log.Update(ctx, func(s *state, _ time.Time) ([]event, error) {
		if !maps.Equal(s.read, before) {
			return nil, errMoved
		}
		return events, nil
	})
	return tails, err
}

// folded is the events of a fold.
func (c *core) folded(before map[string]int64, tails []tail) []event {
	var events []event
	var lines []line
	for _, t := range tails {
		if t.to != before[t.name] {
			events = append(events, event{Read: &mark{t.name, t.to}})
		}
		lines = append(lines, t.lines...)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if !slices.ContainsFunc(tails, func(t tail) bool { return t.name == name }) {
			events = append(events, event{Gone: name})
		}
	}
	sums := summed(lines)
	for _, project := range slices.Sorted(maps.Keys(sums)) {
		a := &added{Project: project, Entries: entries(sums[project])}
		if project == c.opts.ProjectHash {
			a.Root = c.opts.ProjectRoot
		}
		events = append(events, event{Add: a})
	}
	return events
}

// book is the project's costs as of now: the totals, what is not folded into
// them, and what this process has not written yet.
func (l *Ledger) book(ctx context.Context) (*book, error) {
	l.flush(noDeadline)
	log, err := l.openLog()
	if err != nil {
		return nil, err
	}
	for {
		b, seq, err := l.bookAt(ctx, log)
		if err != nil {
			return nil, err
		}
		moved := false
		err = log.View(ctx, func(_ *state, h journal.Head) error {
			moved = h.Seq != seq // a file may have been folded and removed between the two looks
			return nil
		})
		if err != nil || !moved {
			return b, err
		}
	}
}

func (l *Ledger) bookAt(ctx context.Context, log *journal.Log[*state, event]) (b *book, seq uint64, err error) {
	var read map[string]int64
	err = log.View(ctx, func(s *state, h journal.Head) error {
		seq, read, b = h.Seq, maps.Clone(s.read), newBook()
		if own := s.books[l.opts.ProjectHash]; own != nil {
			b = own.clone()
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	tails, err := l.files.tails(read, l.opts.ProjectHash, false)
	if err != nil {
		return nil, 0, err
	}
	for _, t := range tails {
		for r, c := range summed(t.lines)[l.opts.ProjectHash] {
			b.add(r, c)
		}
	}
	b.bound()
	return b, seq, nil
}
