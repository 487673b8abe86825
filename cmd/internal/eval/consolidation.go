package eval

import (
	"context"
	"slices"
	"strings"
	"time"

	"leanctx/knowledge"
)

// statement is a fact of the stream, in words and taken apart.
type statement struct {
	Text     string `json:"text"`
	Subject  string `json:"subject"`
	Relation string `json:"relation"`
	Object   string `json:"object"`
}

func (s statement) name() name { return name{s.Relation, s.Subject} }

type question struct {
	Question string   `json:"question"`
	Answers  []string `json:"answers"`
	Hops     string   `json:"hops"`
}

// stream is what the replayed statements should have made of the store.
type stream struct {
	latest   map[name]statement
	versions map[name]int // value changes + 1
}

// consolidation is factconsolidation, questions of a single hop of which the
// answer is a current object.
func consolidation(size string) set {
	facts, questions := "factconsolidation/facts_"+size+".jsonl.gz", "factconsolidation/questions_"+size+".jsonl.gz"
	return onProject("factconsolidation-"+size, facts, questions, func(ctx context.Context, b *bench, p *project, g given[statement, question]) ([]Row, error) {
		s, err := p.replay(ctx, g.facts)
		if err != nil {
			return nil, err
		}
		strangers, err := b.strangers(questions)
		if err != nil {
			return nil, err
		}
		single := slices.DeleteFunc(s.single(g.asked), func(q question) bool { return !b.sampled(name{key: q.Question}) })
		q := inquiry{projects: []*project{p}, questions: slices.Clone(strangers)}
		for _, x := range single {
			q.questions = append(q.questions, x.Question)
		}
		q.ask = func(ctx context.Context, t *tally) error {
			if err := s.checkVersions(ctx, p, t); err != nil {
				return err
			}
			for _, x := range single {
				if err := s.ask(ctx, p, t, x); err != nil {
					return err
				}
			}
			return askStrangers(ctx, t, q.projects, strangers)
		}
		return b.rows(ctx, p.meter, q)
	})
}

// replay remembers the statements in their order.
func (p *project) replay(ctx context.Context, statements []statement) (stream, error) {
	s := stream{map[name]statement{}, map[name]int{}}
	for _, f := range statements {
		if _, err := p.remember(ctx, knowledge.Assertion{Category: f.Relation, Key: f.Subject, Value: f.Text}); err != nil {
			return s, err
		}
		if last, ok := s.latest[f.name()]; !ok || last.Text != f.Text {
			s.versions[f.name()]++
		}
		s.latest[f.name()] = f
	}
	return s, p.settle()
}

// single picks the questions whose answer is current: of a key, that is, whose
// subject the question names. (Two of the 32k set want a value that a later
// statement replaced.)
func (s stream) single(asked []question) []question {
	return slices.DeleteFunc(slices.Clone(asked), func(q question) bool {
		if q.Hops != "single" {
			return true
		}
		for _, f := range s.latest {
			if slices.Contains(q.Answers, f.Object) && strings.Contains(q.Question, f.Subject) {
				return false
			}
		}
		return true
	})
}

// checkVersions holds the number of versions of every key against the stream.
func (s stream) checkVersions(ctx context.Context, p *project, t *tally) error {
	for n, want := range s.versions {
		c, err := p.store.Timeline(ctx, knowledge.Span{Category: n.category, Key: n.key})
		if err != nil {
			return err
		}
		t.check(c.Total == want, "[%s] %s: %d versions, not %d", n.category, n.key, c.Total, want)
	}
	return nil
}

// ask puts one question and judges what comes back.
func (s stream) ask(ctx context.Context, p *project, t *tally, q question) error {
	start := time.Now()
	r, err := p.store.Recall(ctx, knowledge.Question{Query: q.Question, Limit: 5, Mode: t.row.Mode})
	if err != nil {
		return err
	}
	t.times = append(t.times, time.Since(start))
	t.row.N++
	rank := 0
	for i, f := range r.Facts {
		if holds(f.Value, q.Answers) {
			rank = i + 1
			break
		}
	}
	var first, five, stale, reciprocal, nothing float64
	if rank > 0 {
		five, reciprocal = 1, 1/float64(rank)
	}
	if rank == 1 {
		first = 1
	} else {
		t.note("%q: %v is not the first answer, but number %d", q.Question, q.Answers, rank)
	}
	if len(r.Facts) == 0 {
		nothing = 1
	} else {
		f := r.Facts[0]
		if s.latest[name{f.Category, f.Key}].Text != f.Value {
			stale = 1
			t.note("%q: the first answer is outdated: %s", q.Question, f.Value)
		}
	}
	t.add(&t.row.R1, first)
	t.add(&t.row.R5, five)
	t.add(&t.row.MRR10, reciprocal)
	t.add(&t.row.Stale, stale)
	t.add(&t.row.GivenUp, nothing)
	return nil
}

// holds reports whether a text contains one of the answers.
func holds(text string, answers []string) bool {
	for _, a := range answers {
		if strings.Contains(text, a) {
			return true
		}
	}
	return false
}

// closed closes a project and gives the first error.
func closed(err error, p *project) error {
	if e := p.close(); err == nil {
		return e
	}
	return err
}
