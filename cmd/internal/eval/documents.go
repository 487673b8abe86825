package eval

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"time"

	"leanctx/knowledge"
)

// document is a text that questions in words should find.
type document struct {
	ID    string `json:"_id"`
	Group string `json:"group"` // the project it belongs to
	Title string `json:"title"`
	Text  string `json:"text"`
}

type textQuery struct {
	ID    string `json:"_id"`
	Group string `json:"group"`
	Text  string `json:"text"`
}

// corpus is a set of documents, and what is asked about them.
type corpus struct {
	docs   []document
	asked  []textQuery
	judged map[string]grades
	keyed  bool // the key of a document is its identifier, else there is none

	groups map[string]*project
	ids    map[string]map[name]string // of the documents of a group
}

// documents is a set of documents, queries and judgements in a folder.
func documents(title, folder string) set {
	files := []string{path.Join(folder, "corpus.jsonl.gz"), path.Join(folder, "queries.jsonl.gz"), path.Join(folder, "qrels.tsv.gz")}
	read := func(b *bench) (*corpus, error) {
		docs, err := records[document](b.data, files[0])
		if err != nil {
			return nil, err
		}
		asked, err := records[textQuery](b.data, files[1])
		if err != nil {
			return nil, err
		}
		judged, err := judgements(b.data, files[2])
		return &corpus{docs: docs, asked: asked, judged: judged, keyed: true}, err
	}
	return set{title, files, func(ctx context.Context, b *bench) ([]Row, error) { return b.onCorpus(ctx, read, files[1]) }}
}

// onCorpus runs a set of documents; own is the file that its questions are in.
func (b *bench) onCorpus(ctx context.Context, read func(*bench) (*corpus, error), own string) (rows []Row, err error) {
	c, err := read(b)
	if err != nil {
		return nil, err
	}
	strangers, err := b.strangers(own)
	if err != nil {
		return nil, err
	}
	c.asked = slices.DeleteFunc(c.asked, func(q textQuery) bool {
		return len(c.judged[q.ID]) == 0 || !b.sampled(name{key: q.ID}) // what cannot be answered does not count
	})
	if b.Small {
		c.shrink()
		strangers = spread(strangers, smallStrangers)
	}
	c.groups, c.ids = map[string]*project{}, map[string]map[name]string{}
	defer func() {
		for _, p := range c.groups {
			err = closed(err, p)
		}
	}()
	var m meter
	if err := c.remember(ctx, b, &m); err != nil {
		return nil, err
	}
	q := inquiry{projects: c.projects(), questions: slices.Clone(strangers)}
	for _, x := range c.asked {
		q.questions = append(q.questions, x.Text)
	}
	q.ask = func(ctx context.Context, t *tally) error {
		for _, x := range c.asked {
			if err := c.ask(ctx, t, x); err != nil {
				return err
			}
		}
		return askStrangers(ctx, t, q.projects, strangers)
	}
	return b.rows(ctx, &m, q)
}

// What is left of a set of documents that is made small: so little that a slow
// encoder is done with it in three minutes.
const (
	smallFacts     = 300
	smallQuestions = 100
	smallStrangers = 40
)

// shrink leaves the first documents, and of the questions that they answer
// whole some, evenly spread.
func (c *corpus) shrink() {
	c.docs = c.docs[:min(smallFacts, len(c.docs))]
	left := map[string]bool{}
	for _, d := range c.docs {
		left[d.ID] = true
	}
	c.asked = spread(slices.DeleteFunc(c.asked, func(q textQuery) bool {
		for id := range c.judged[q.ID] {
			if !left[id] {
				return true
			}
		}
		return false
	}), smallQuestions)
}

// projects are those of the groups, in a fixed order.
func (c *corpus) projects() []*project {
	var out []*project
	for _, group := range slices.Sorted(maps.Keys(c.groups)) {
		out = append(out, c.groups[group])
	}
	return out
}

func (c *corpus) remember(ctx context.Context, b *bench, m *meter) error {
	for _, d := range c.docs {
		p := c.groups[d.Group]
		if p == nil {
			var err error
			if p, err = b.open(m); err != nil {
				return err
			}
			c.groups[d.Group], c.ids[d.Group] = p, map[name]string{}
		}
		a := knowledge.Assertion{Category: cmp.Or(d.Title, "document"), Value: d.Text}
		if c.keyed {
			a.Key = d.ID
		}
		r, err := p.remember(ctx, a)
		if err != nil {
			return err
		}
		c.ids[d.Group][name{r.Category, r.Key}] = d.ID
	}
	for _, p := range c.groups {
		if err := p.settle(); err != nil {
			return err
		}
	}
	return nil
}

// ask puts a query to its group.
func (c *corpus) ask(ctx context.Context, t *tally, q textQuery) error {
	relevant, p := c.judged[q.ID], c.groups[q.Group]
	if p == nil {
		return nil
	}
	start := time.Now()
	r, err := p.store.Recall(ctx, knowledge.Question{Query: q.Text, Limit: 10, Mode: t.row.Mode})
	if err != nil {
		return err
	}
	t.times = append(t.times, time.Since(start))
	nothing := 0.0
	if len(r.Facts) == 0 {
		nothing = 1
	}
	found := make([]string, len(r.Facts))
	for i, f := range r.Facts {
		found[i] = c.ids[q.Group][name{f.Category, f.Key}]
	}
	t.row.N++
	t.add(&t.row.R1, recallAt(1, found, relevant))
	t.add(&t.row.R5, recallAt(5, found, relevant))
	t.add(&t.row.R10, recallAt(10, found, relevant))
	t.add(&t.row.Hit10, hitAt(10, found, relevant))
	t.add(&t.row.MRR10, reciprocalRank(10, found, relevant))
	t.add(&t.row.NDCG10, ndcgAt(10, found, relevant))
	t.add(&t.row.GivenUp, nothing)
	return nil
}
