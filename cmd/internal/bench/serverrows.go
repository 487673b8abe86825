package bench

import (
	"context"
	"errors"
	"time"

	"leanctx/knowledge"
)

const serverBudget = 2 * time.Second

func serverRows() []row {
	all := []row{
		{groupServer, rememberBare, Micros, floorAppend, false, rememberAlone},
		{groupServer, remember, Micros, floorAppend, true, func(ctx context.Context, b *bed) (Cell, error) {
			s, err := b.warm(ctx)
			if err != nil {
				return Cell{}, err
			}
			return b.remember(ctx, s)
		}},
	}
	for _, r := range recalls() {
		w := inServer(r.name, func(ctx context.Context, b *bed, s *knowledge.Store, i int) error {
			q := r.ask(b.questions, i)
			answer, err := s.Recall(ctx, q)
			if err == nil {
				b.judge(r, q, len(answer.Facts) == 0)
			}
			return err
		}, r.scan)
		w.chart = r.chart
		all = append(all, w)
	}
	word := func(q questions, i int) string { return pick(q.rare, i) }
	wakeup := inServer("wakeup", func(ctx context.Context, _ *bed, s *knowledge.Store, _ int) error {
		_, err := s.Wakeup(ctx, knowledge.Moment{})
		return err
	}, word)
	wakeup.chart = true
	return append(all, wakeup,
		inServer("timeline of a room", func(ctx context.Context, _ *bed, s *knowledge.Store, _ int) error {
			_, err := s.Timeline(ctx, knowledge.Span{Category: rooms[len(rooms)-1]})
			return err
		}, word),
		inServer("timeline of a fact", func(ctx context.Context, b *bed, s *knowledge.Store, i int) error {
			k := pick(b.questions.keys, i)
			c, err := s.Timeline(ctx, knowledge.Span{Category: k.Category, Key: k.Key})
			if err == nil && len(c.Entries) == 0 {
				b.unexpected("no timeline of " + k.Category + "/" + k.Key)
			}
			return err
		}, word),
		inServer("rooms", func(ctx context.Context, _ *bed, s *knowledge.Store, _ int) error {
			_, err := s.Rooms(ctx, knowledge.Nothing{})
			return err
		}, word),
		inServer("status", func(ctx context.Context, _ *bed, s *knowledge.Store, _ int) error {
			_, err := s.Status(ctx, knowledge.Nothing{})
			return err
		}, word),
		row{groupServer, "recall, a rare word, over MCP", Micros, floorScan, false, overMCP},
	)
}

// inServer is a row of something that an open store does, beside a scan.
func inServer(name string, do func(context.Context, *bed, *knowledge.Store, int) error, text func(questions, int) string) row {
	return row{groupServer, name, Micros, floorScan, false, func(ctx context.Context, b *bed) (Cell, error) {
		s, err := b.warm(ctx)
		if err != nil {
			return Cell{}, err
		}
		run := stretch(func(ctx context.Context, i int) error { return do(ctx, b, s, i) })
		scan := b.scan(func(i int) string { return text(b.questions, i) })
		return turns(ctx, b.effort(usualInServer, serverBudget), run, scan)
	}}
}

// remember remembers fact after fact, beside as many bytes in a bare file.
func (b *bed) remember(ctx context.Context, s *knowledge.Store) (c Cell, err error) {
	a, err := b.appender()
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	do := func(ctx context.Context, _ int) (time.Duration, error) {
		next := b.corpus.next().assertion()
		start := time.Now()
		_, err := s.Remember(ctx, next)
		return time.Since(start), err
	}
	e := b.effort(usualInServer, serverBudget)
	e.before = 32 // until all rules about secrets that these texts need are compiled
	return turns(ctx, e, do, a.floor)
}

// rememberAlone is remember in a server that nobody has asked anything yet, so
// that it has no index to keep in step: what the index costs is the difference.
func rememberAlone(ctx context.Context, b *bed) (c Cell, err error) {
	if err := b.cool(); err != nil {
		return c, err
	}
	s, err := knowledge.Open(b.store, &knowledge.Options{LongLived: true})
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return b.remember(ctx, s)
}

// overMCP is a call to a real server, wire and all.
func overMCP(ctx context.Context, b *bed) (c Cell, err error) {
	if err := b.cool(); err != nil {
		return c, err
	}
	s, err := b.serve(ctx, b.data)
	if err != nil {
		return c, err
	}
	defer func() { err = s.end(err) }()
	run := stretch(func(_ context.Context, i int) error {
		return s.recall(knowledge.Question{Query: pick(b.questions.rare, i)})
	})
	scan := b.scan(func(i int) string { return pick(b.questions.rare, i) })
	return turns(ctx, b.effort(usualInServer, serverBudget), run, scan)
}
