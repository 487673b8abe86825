package tasks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/prose"
)

// pollEvery is how often Follow looks: a look at a file nobody wrote to costs
// one stat and eight bytes.
const pollEvery = 500 * time.Millisecond

// Follow calls line for everything that is done with the project's tasks from
// now on, in the order it was done, whoever does it. It returns nil when ctx
// ends, else the error of line or of the store.
func (s *Store) Follow(ctx context.Context, line func(string) error) error {
	_, last, err := s.since(ctx, time.Time{}, true)
	tick := time.NewTicker(s.poll)
	defer tick.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var news []happening
		if news, last, err = s.since(ctx, last, false); ctx.Err() != nil {
			return nil
		}
		for _, n := range news {
			if err = line(n.text); err != nil {
				return err
			}
		}
	}
	return err
}

// happening is one thing that was done.
type happening struct {
	at   time.Time
	text string
}

// since lists what was done after an instant, and gives the instant to go on
// from. With skip it only gives the instant.
func (s *Store) since(ctx context.Context, last time.Time, skip bool) (list []happening, head time.Time, err error) {
	err = s.viewAt(ctx, func(b *board, h journal.Head) error {
		head = h.At
		if skip || !head.After(last) {
			return nil
		}
		for _, x := range b.projects[s.opts.ProjectHash] {
			if !x.UpdatedAt.After(last) {
				continue
			}
			t, err := x.open()
			if err != nil {
				return err
			}
			list = append(list, t.news(x.Task, last)...)
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b happening) int { return a.at.Compare(b.at) })
	if head.Before(last) { // the store was cut back or is gone
		head = last
	}
	return list, head, err
}

// news is what was done with one task after an instant.
func (t *thread) news(of Task, last time.Time) (list []happening) {
	add := func(at time.Time, what, text string) {
		if !at.After(last) {
			return
		}
		if text != "" {
			text = ": " + prose.Brief(text)
		}
		list = append(list, happening{at, fmt.Sprintf("%s %s %s%s", at.Local().Format(time.TimeOnly), of.named(), what, text)})
	}
	for _, h := range t.History {
		add(h.At, h.what(), h.Why)
	}
	for _, m := range t.Messages {
		add(m.At, "message by "+prose.Brief(m.By), m.Text)
	}
	for _, a := range t.Artifacts {
		add(a.At, "artifact "+prose.Brief(a.Name)+" by "+prose.Brief(a.By), "")
	}
	return list
}
