package eval

import (
	"context"
	"time"

	"leanctx/knowledge"
)

// observation is one assertion of a round.
type observation struct {
	T        int    `json:"t"`
	Subject  string `json:"subject"`
	Relation string `json:"relation"`
	Object   string `json:"object"`
}

// final is what a key must look like in the end.
type final struct {
	Subject       string `json:"subject"`
	Relation      string `json:"relation"`
	Current       string `json:"current"`
	Versions      int    `json:"versions"`
	Confirmations int    `json:"last_run_confirmations"`
}

const (
	snapshotStream = "yago-snapshots/stream.jsonl.gz"
	snapshotFinal  = "yago-snapshots/expected_final.jsonl.gz"
	// workers remember at the same time, as the clients of a server do.
	workers = 32
)

// snapshots is yago-snapshots: rounds in which what holds is asserted again.
func snapshots() set {
	return onProject("yago-snapshots", snapshotStream, snapshotFinal, func(ctx context.Context, b *bench, p *project, g given[observation, final]) ([]Row, error) {
		for _, round := range b.rounds(g.facts) {
			if err := p.rememberAll(ctx, round, workers); err != nil {
				return nil, err
			}
		}
		if err := p.settle(); err != nil {
			return nil, err
		}
		t := newTally("exact")
		for _, f := range g.asked {
			if b.sampled(name{f.Relation, f.Subject}) {
				if err := p.checkFinal(ctx, t, f); err != nil {
					return nil, err
				}
			}
		}
		return []Row{t.done(p.meter)}, nil
	})
}

// rounds are the assertions of each t, in order.
func (b *bench) rounds(observations []observation) [][]knowledge.Assertion {
	var out [][]knowledge.Assertion
	for i, o := range observations {
		if i == 0 || o.T != observations[i-1].T {
			out = append(out, nil)
		}
		if b.sampled(name{o.Relation, o.Subject}) {
			last := &out[len(out)-1]
			*last = append(*last, knowledge.Assertion{Category: o.Relation, Key: o.Subject, Value: o.Object})
		}
	}
	return out
}

// checkFinal holds a key against what it must be in the end: its value, the
// number of its versions, how often the last one was confirmed.
func (p *project) checkFinal(ctx context.Context, t *tally, f final) error {
	start := time.Now()
	r, err := p.store.Recall(ctx, knowledge.Question{Category: f.Relation, Key: f.Subject})
	if err != nil {
		return err
	}
	t.times = append(t.times, time.Since(start))
	c, err := p.store.Timeline(ctx, knowledge.Span{Category: f.Relation, Key: f.Subject})
	if err != nil {
		return err
	}
	var last knowledge.Entry
	if len(c.Entries) > 0 {
		last = c.Entries[len(c.Entries)-1]
	}
	t.row.N++
	ok := sameSet(values(r), []string{f.Current}) && c.Total == f.Versions &&
		last.Value == f.Current && last.Mark == "CURRENT" && last.Confirmations == f.Confirmations
	t.check(ok, "[%s] %s: %q, %d versions, confirmed %dx, not %q, %d, %dx",
		f.Relation, f.Subject, values(r), c.Total, last.Confirmations, f.Current, f.Versions, f.Confirmations)
	return nil
}
