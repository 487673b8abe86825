package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"leanctx/agents"
)

// What agents do to each other costs the same beside any number of facts. With
// a thousand agents and a hundred thousand messages it is measured by the
// benchmarks of package agents, which need not post these one by one.
const (
	postRead   = "post, and read by another"
	claim      = "claim"
	floorThree = "three times append and fsync"
)

func crewRows() []row {
	return []row{
		{groupCrew, postRead, Micros, floorThree, false, func(ctx context.Context, b *bed) (Cell, error) {
			return b.crew(ctx, 3, func(ctx context.Context, c *crew, _ int) error {
				if _, err := c.one.Post(ctx, agents.Posting{Message: "the login page has lost its colours"}); err != nil {
					return err
				}
				got, err := c.other.Read(ctx, agents.Reading{})
				if err == nil && len(got.Messages) != 1 {
					b.unexpected(fmt.Sprintf("%d messages were read", len(got.Messages)))
				}
				return err
			})
		}},
		{groupCrew, claim, Micros, floorAppend, false, func(ctx context.Context, b *bed) (Cell, error) {
			return b.crew(ctx, 1, func(ctx context.Context, c *crew, i int) error {
				_, err := c.one.Claim(ctx, agents.Wish{Path: fmt.Sprintf("src/%d.ts", i+1)})
				return err
			})
		}},
	}
}

// crew is two agents, each with a store of its own on the same directory, as
// two processes have.
type crew struct{ one, other *agents.Store }

// crew measures what two agents do, beside a number of fsyncs.
func (b *bed) crew(ctx context.Context, fsyncs int, do func(context.Context, *crew, int) error) (c Cell, err error) {
	dir := b.data + "-crew"
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	join := func(kind string) (*agents.Store, func() error, error) {
		s, err := agents.Open(dir, &agents.Options{ProjectRoot: b.project, ProjectHash: "0123456789abcdef", LongLived: true})
		if err != nil {
			return nil, nil, err
		}
		r, err := s.Register(ctx, agents.Registration{AgentType: kind})
		return s.As(agents.Actor{Agent: r.AgentID}), s.Close, err
	}
	w := new(crew)
	for kind, to := range map[string]**agents.Store{"cursor": &w.one, "claude": &w.other} {
		s, end, err := join(kind)
		if end != nil {
			defer end()
		}
		if err != nil {
			return c, err
		}
		*to = s
	}
	a, err := appending(b.input+".floor", filepath.Join(dir, "registry.journal"))
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	floor := func(ctx context.Context, i int) (sum time.Duration, err error) {
		for range fsyncs {
			took, err := a.floor(ctx, i)
			if err != nil {
				return 0, err
			}
			sum += took
		}
		return sum, nil
	}
	run := stretch(func(ctx context.Context, i int) error { return do(ctx, w, i) })
	return turns(ctx, b.effort(usualInServer, serverBudget), run, floor)
}
