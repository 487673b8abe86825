package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"leanctx/agents/handoff"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
)

// handOver commits the promise and keeps it.
func (s *Store) handOver(ctx context.Context, h *handoff.Handoff, find func(*project, moment) error) error {
	if s.opts.Tasks != nil {
		tasks, err := s.opts.Tasks.OpenTasks(ctx, h.From)
		if err != nil {
			return err
		}
		h.Tasks = tasks
	}
	err := s.update(ctx, func(p *project, m moment) ([]event, error) {
		if err := find(p, m); err != nil {
			return nil, err
		}
		h.Number, h.At = p.handed+1, m.now
		h.ID = fmt.Sprintf("h-%d", h.Number)
		return []event{{By: h.From, Handoff: new(*h)}}, nil
	})
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // what was begun is not left half
	err = s.moveTasks(ctx, h)
	if err != nil && !errors.Is(err, journal.ErrInDoubt) {
		if off := s.callOff(ctx, h); off == nil {
			return err
		}
	}
	if err == nil {
		err = s.settle(ctx, h)
	}
	if err != nil {
		return fmt.Errorf("the handoff to %s is on record and will be completed by whoever uses agents or tasks next: %w", h.To, err)
	}
	return nil
}

// moveTasks has the tasks' store do its part. Done again it moves nothing more.
func (s *Store) moveTasks(ctx context.Context, h *handoff.Handoff) error {
	if s.opts.Tasks == nil {
		return nil
	}
	tasks, err := s.opts.Tasks.Reassign(ctx, h.From, h.To, "handed off by "+h.From+": "+prose.Clip(h.Summary, 200))
	if err != nil {
		return err
	}
	for _, id := range tasks {
		if !slices.Contains(h.Tasks, id) {
			h.Tasks = append(h.Tasks, id)
		}
	}
	return nil
}

// settle is the commit that makes a promise a handoff.
func (s *Store) settle(ctx context.Context, h *handoff.Handoff) error {
	return s.update(ctx, func(p *project, m moment) ([]event, error) {
		was := p.handoffs[h.ID]
		if was == nil || was.State != handoff.Pending {
			return nil, nil
		}
		return p.complete(h, m), nil
	})
}

// complete is the commit that moves the claims and gives the bundle.
func (p *project) complete(h *handoff.Handoff, m moment) []event {
	h.State, h.Claims = handoff.Done, nil
	var events []event
	token := p.fence
	for _, l := range p.leases.Of(h.From) {
		if l.Expired(m.now) {
			continue
		}
		token++
		x := l.HandedTo(h.To, token, m.now)
		events = append(events, event{Claim: x})
		h.Claims = append(h.Claims, handoff.Moved{Path: x.Path, Token: x.Token})
	}
	if a := p.agents[h.From]; a != nil && a.Status != statusFinished {
		x := *a
		x.Status, x.Message = statusIdle, handedOff+h.To
		events = append(events, event{Agent: &x})
	}
	return append(events, event{Handoff: new(*h)})
}

// handedOff is what the status of an agent says that passed its work on.
const handedOff = "handed off to "

// back makes an agent active again that passed its work on and takes up more.
func (p *project) back(a *agent) []event {
	if a.Status != statusIdle || !strings.HasPrefix(a.Message, handedOff) {
		return nil
	}
	x := *a
	x.Status, x.Message = statusActive, ""
	return []event{{By: a.ID, Agent: &x}}
}

// callOff takes a promise back.
func (s *Store) callOff(ctx context.Context, h *handoff.Handoff) error {
	return s.update(ctx, func(p *project, _ moment) ([]event, error) {
		if p.handoffs[h.ID] == nil {
			return nil, nil
		}
		x := *h
		x.State = handoff.Off
		return []event{{Handoff: &x}}, nil
	})
}

// begin is what a call does first: it notes that the caller is at work, and
// goes on with the handoffs whose process was killed. One that cannot be
// completed yet is told of, and keeps nobody from working.
func (s *Store) begin(ctx context.Context) error {
	var pending []*handoff.Handoff
	var x sign
	err := s.view(ctx, func(p *project, m moment) error {
		x = s.sign(p, m)
		pending = p.handoffs.Pending()
		return nil
	})
	if err != nil {
		return err
	}
	s.noted(s.touch(ctx, x))
	if err := s.keep(ctx, pending); err != nil {
		s.notices.Add("%v", err)
	}
	return nil
}

// Settle completes the handoffs whose process was killed half-way, so that
// whoever looks at tasks next sees them with their new agent. It is one look
// at the state when there are none. A handoff that another process
// works on now is left to it. The error names each that cannot be
// completed yet.
func (s *Store) Settle(ctx context.Context) error {
	var pending []*handoff.Handoff
	err := s.view(ctx, func(p *project, _ moment) error {
		pending = p.handoffs.Pending()
		return nil
	})
	if err != nil {
		return err
	}
	return s.keep(ctx, pending)
}

// keep keeps promises, each unless another process does so now.
func (s *Store) keep(ctx context.Context, pending []*handoff.Handoff) error {
	var errs []error
	for _, h := range pending {
		if _, err := s.live.Alone(h.From, func() error { return s.goOn(ctx, h) }); err != nil {
			errs = append(errs, fmt.Errorf("the handoff of %s to %s was interrupted and is not complete yet: %w", h.From, h.To, err))
		}
	}
	return errors.Join(errs...)
}

// goOn keeps a promise unless somebody did so before the lock was had. It
// never takes one back: the tasks may have moved already.
func (s *Store) goOn(ctx context.Context, h *handoff.Handoff) error {
	open := false
	err := s.view(ctx, func(p *project, _ moment) error {
		was := p.handoffs[h.ID]
		open = was != nil && was.State == handoff.Pending
		return nil
	})
	if err != nil || !open {
		return err
	}
	if err := s.moveTasks(ctx, h); err != nil {
		return err
	}
	return s.settle(ctx, h)
}
