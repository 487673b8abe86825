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

// corpus is a set of documents remembered, each group in a project of its own.
type corpus struct {
	groups map[string]*project
	ids    map[string]map[name]string // of the documents of a group
	judged map[string]grades
	asked  []textQuery
}

// documents is a set of documents, queries and judgements in a folder.
func documents(title, folder string) set {
	files := []string{path.Join(folder, "corpus.jsonl.gz"), path.Join(folder, "queries.jsonl.gz"), path.Join(folder, "qrels.tsv.gz")}
	run := func(ctx context.Context, b *bench) (rows []Row, err error) {
		docs, err := records[document](b.data, files[0])
		if err != nil {
			return nil, err
		}
		c := corpus{groups: map[string]*project{}, ids: map[string]map[name]string{}}
		defer func() {
			for _, p := range c.groups {
				err = closed(err, p)
			}
		}()
		if c.asked, err = records[textQuery](b.data, files[1]); err != nil {
			return nil, err
		}
		if c.judged, err = judgements(b.data, files[2]); err != nil {
			return nil, err
		}
		strangers, err := b.strangers(files[1])
		if err != nil {
			return nil, err
		}
		var m meter
		if err := c.remember(ctx, b, &m, docs); err != nil {
			return nil, err
		}
		for _, mode := range b.Modes {
			t := newTally(mode)
			for _, q := range c.asked {
				if b.sampled(name{key: q.ID}) {
					if err := c.ask(ctx, t, q); err != nil {
						return nil, err
					}
				}
			}
			if err := askStrangers(ctx, t, c.projects(), strangers); err != nil {
				return nil, err
			}
			rows = append(rows, t.done(&m))
		}
		return rows, nil
	}
	return set{title, files, run}
}

// projects are those of the groups, in a fixed order.
func (c *corpus) projects() []*project {
	var out []*project
	for _, group := range slices.Sorted(maps.Keys(c.groups)) {
		out = append(out, c.groups[group])
	}
	return out
}

func (c *corpus) remember(ctx context.Context, b *bench, m *meter, docs []document) error {
	for _, d := range docs {
		p := c.groups[d.Group]
		if p == nil {
			var err error
			if p, err = b.open(m); err != nil {
				return err
			}
			c.groups[d.Group], c.ids[d.Group] = p, map[name]string{}
		}
		r, err := p.remember(ctx, knowledge.Assertion{Category: cmp.Or(d.Title, "document"), Key: d.ID, Value: d.Text})
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

// ask puts a query to its group. A query without a relevant document cannot be
// answered and does not count.
func (c *corpus) ask(ctx context.Context, t *tally, q textQuery) error {
	relevant, p := c.judged[q.ID], c.groups[q.Group]
	if len(relevant) == 0 || p == nil {
		return nil
	}
	start := time.Now()
	r, err := p.store.Recall(ctx, knowledge.Question{Query: q.Text, Limit: 10, Mode: t.row.Mode})
	if err != nil {
		return err
	}
	t.times = append(t.times, time.Since(start))
	t.row.Encoder = cmp.Or(t.row.Encoder, r.Encoder)
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
