package eval

import (
	"context"
	"slices"
	"time"

	"leanctx/knowledge"
)

// speedFiles are two streams of statements and a file of dated facts.
func speedFiles() []string {
	return []string{"factconsolidation/facts_6k.jsonl.gz", "factconsolidation/facts_32k.jsonl.gz", asOfFacts}
}

// speed remembers every fact of factconsolidation and yago11k, one after
// another, in one project: what a commit costs as the project grows. Once as a
// server does, with snapshots and an index kept in the background and a look for
// similar facts after each commit, and once as a command does, without; so the
// second row tells what the first one pays for the index.
func speed() set {
	run := func(ctx context.Context, b *bench) (rows []Row, err error) {
		all, err := b.everything()
		if err != nil {
			return nil, err
		}
		for _, as := range []struct {
			mode string
			opts knowledge.Options
		}{
			{"server", knowledge.Options{LongLived: true}},
			{"command", knowledge.Options{}},
		} {
			var m meter
			start := time.Now()
			if err := b.rememberEach(ctx, &m, &as.opts, all); err != nil {
				return nil, err
			}
			row := newTally(as.mode).done(&m)
			row.Seconds = time.Since(start).Seconds()
			rows = append(rows, row)
		}
		return rows, nil
	}
	return set{"speed", speedFiles(), run}
}

// everything is what speed remembers, in order.
func (b *bench) everything() ([]knowledge.Assertion, error) {
	var all []knowledge.Assertion
	for _, file := range speedFiles()[:2] {
		statements, err := records[statement](b.data, file)
		if err != nil {
			return nil, err
		}
		for _, s := range statements {
			all = append(all, knowledge.Assertion{Category: s.Relation, Key: s.Subject, Value: s.Text})
		}
	}
	facts, err := records[dated](b.data, asOfFacts)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		if !f.upsideDown() {
			all = append(all, f.assertion())
		}
	}
	return slices.DeleteFunc(all, func(a knowledge.Assertion) bool { return !b.sampled(name{a.Category, a.Key}) }), nil
}

func (b *bench) rememberEach(ctx context.Context, m *meter, o *knowledge.Options, all []knowledge.Assertion) (err error) {
	p, err := b.openAs(m, o)
	if err != nil {
		return err
	}
	defer func() { err = closed(err, p) }()
	if o.LongLived {
		// A server that was asked anything has its index open. Without this it
		// would open it by itself some seconds into the run.
		if _, err := p.store.Recall(ctx, knowledge.Question{Query: "anything"}); err != nil {
			return err
		}
	}
	for _, a := range all {
		if _, err := p.remember(ctx, a); err != nil {
			return err
		}
	}
	return p.settle()
}
