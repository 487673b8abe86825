package knowledge

import (
	"context"
	"strings"
	"time"

	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Naming lists texts that may name files. They are the key, value and sources of facts that bear
// on a task, most facts at most. All such gotchas and patterns are added. Without a task it
// takes what matters most. To look there for names is not to read it: no retrieval is counted,
// and no reminder is met.
func (s *Store) Naming(ctx context.Context, task string, most int) ([]string, error) {
	q := Question{Query: task, Limit: most}
	if err := q.check(); err != nil {
		return nil, err
	}
	var r Recalled
	var err error
	if q.Query != "" {
		r, err = s.search(ctx, q)
	} else {
		r, err = s.list(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, f := range r.Facts {
		texts = append(texts, naming(f.Version))
	}
	if q.Query == "" { // a search finds lessons by itself
		err = s.View(ctx, func(st *state.State, _ time.Time) error {
			for _, v := range st.Lessons() {
				texts = append(texts, naming(v))
			}
			return nil
		})
	}
	return texts, err
}

// naming is all of a version that may name a file.
func naming(v *fact.Version) string {
	parts := []string{v.Key, v.Value}
	for _, src := range v.Sources {
		parts = append(parts, src.Ref)
	}
	return strings.Join(parts, "\n")
}
