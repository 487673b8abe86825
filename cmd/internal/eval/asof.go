package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"leanctx/knowledge"
)

// dated is a fact that was true from the beginning of a year to the end of
// another.
type dated struct {
	Subject  string `json:"subject"`
	Relation string `json:"relation"`
	Object   string `json:"object"`
	From     *int   `json:"from"`
	Until    *int   `json:"until"` // nil: open, or not known
}

func (d dated) name() name { return name{d.Relation, d.Subject} }

func (d dated) from() int {
	if d.From == nil {
		return 1
	}
	return *d.From
}

func (d dated) until() int {
	if d.Until == nil {
		return math.MaxInt
	}
	return *d.Until
}

// upsideDown facts end before they begin.
func (d dated) upsideDown() bool { return d.from() > d.until() }

// assertion writes the years out as days: a year ends where the next begins.
func (d dated) assertion() knowledge.Assertion {
	a := knowledge.Assertion{Category: d.Relation, Key: d.Subject, Value: d.Object}
	if d.From != nil {
		a.ValidFrom = fmt.Sprintf("%04d-01-01", *d.From)
	}
	if d.Until != nil {
		a.ValidUntil = fmt.Sprintf("%04d-01-01", *d.Until+1)
	}
	return a
}

type asOfQuery struct {
	Subject  string   `json:"subject"`
	Relation string   `json:"relation"`
	AsOf     int      `json:"as_of"`
	Expect   []string `json:"expect"`
}

const (
	asOfFacts   = "yago11k/facts.jsonl.gz"
	asOfQueries = "yago11k/asof_queries.jsonl.gz"
)

// asOf is yago11k: facts with periods, then what was true in a year.
func asOf() set {
	return onProject("yago11k", asOfFacts, asOfQueries, func(ctx context.Context, b *bench, p *project, g given[dated, asOfQuery]) ([]Row, error) {
		t := newTally("exact")
		if err := b.rememberDated(ctx, p, t, g.facts); err != nil {
			return nil, err
		}
		for _, q := range g.asked {
			if b.sampled(name{q.Relation, q.Subject}) {
				if err := p.askAsOf(ctx, t, q); err != nil {
					return nil, err
				}
			}
		}
		return []Row{t.done(p.meter)}, nil
	})
}

// rememberDated remembers the facts of keys whose facts do not overlap; those
// upside down must be refused, whatever their key.
func (b *bench) rememberDated(ctx context.Context, p *project, t *tally, facts []dated) error {
	disjoint := disjointKeys(facts)
	for _, f := range facts {
		var err error
		switch {
		case f.upsideDown():
			err = p.refused(ctx, t, f)
		case disjoint[f.name()] && b.sampled(f.name()):
			_, err = p.remember(ctx, f.assertion())
		}
		if err != nil {
			return err
		}
	}
	return p.settle()
}

// disjointKeys are the keys of which no two facts overlap. The year in which
// one ends and the next begins belongs to both in the data, and no question is
// about it; facts upside down do not count.
func disjointKeys(facts []dated) map[name]bool {
	of := map[name][]dated{}
	for _, f := range facts {
		if !f.upsideDown() {
			of[f.name()] = append(of[f.name()], f)
		}
	}
	out := map[name]bool{}
	for n := range maps.Keys(of) {
		list := of[n]
		slices.SortFunc(list, func(a, b dated) int { return cmp.Or(a.from()-b.from(), cmp.Compare(a.until(), b.until())) })
		out[n] = true
		for i := range len(list) - 1 {
			if list[i].until() > list[i+1].from() {
				out[n] = false
			}
		}
	}
	return out
}

// refused holds a fact that ends before it begins against the store, which must
// name the argument, and change nothing.
func (p *project) refused(ctx context.Context, t *tally, f dated) error {
	span := knowledge.Span{Category: f.Relation, Key: f.Subject}
	before, err := p.store.Timeline(ctx, span)
	if err != nil {
		return err
	}
	_, err = p.store.Remember(ctx, f.assertion())
	bad, clear := errors.AsType[*knowledge.ArgumentError](err)
	clear = clear && (bad.Argument == "valid_until" || bad.Argument == "valid_from")
	after, e := p.store.Timeline(ctx, span)
	if e != nil {
		return e
	}
	t.check(clear && before.Total == after.Total, "[%s] %s from %d until %d: not refused as it should be: %v", f.Relation, f.Subject, f.from(), f.until(), err)
	return nil
}

// askAsOf asks what was true in the middle of a year.
func (p *project) askAsOf(ctx context.Context, t *tally, q asOfQuery) error {
	start := time.Now()
	r, err := p.store.Recall(ctx, knowledge.Question{Category: q.Relation, Key: q.Subject, AsOf: fmt.Sprintf("%04d-07-01", q.AsOf)})
	if err != nil {
		return err
	}
	t.times = append(t.times, time.Since(start))
	t.row.N++
	t.check(sameSet(values(r), q.Expect), "[%s] %s as of %d: %q, not %q", q.Relation, q.Subject, q.AsOf, values(r), q.Expect)
	return nil
}

func values(r knowledge.Recalled) []string {
	out := make([]string, 0, len(r.Facts))
	for _, f := range r.Facts {
		out = append(out, f.Value)
	}
	return out
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
