package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/meaning"
)

// chosen offers a store the encoder whose row is being made, and the instant
// one, which serves until the other is complete.
type chosen struct {
	meaning.Vectors
	b *bench
}

// Encoders implements meaning.Vectors.
func (c chosen) Encoders(wanted bool) []meaning.Encoding {
	name := c.b.encoder.Load()
	return slices.DeleteFunc(c.Vectors.Encoders(wanted), func(e meaning.Encoding) bool {
		return !e.Instant && (name == nil || e.Name != *name)
	})
}

// inquiry is what a set asks, and of what.
type inquiry struct {
	projects  []*project
	questions []string // all of them, strangers' too
	ask       func(ctx context.Context, t *tally) error
}

// rows asks in each mode with each encoder. Words need no encoder: their row is
// made once.
func (b *bench) rows(ctx context.Context, m *meter, q inquiry) (rows []Row, err error) {
	defer b.encoder.Store(nil)
	for i, e := range b.encoders(q.projects) {
		if e.kept != nil {
			err := b.prepare(ctx, e.kept, q)
			if errors.Is(err, ErrUnkept) {
				b.unkept = append(b.unkept, e.name)
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		for _, mode := range b.Modes {
			t := newTally(mode)
			if mode != lexical {
				t.row.Encoder = e.name
			} else if i > 0 {
				continue
			}
			if err := q.ask(ctx, t); err != nil {
				return nil, err
			}
			rows = append(rows, t.done(m))
		}
	}
	return rows, nil
}

// compared is an encoder that has rows; kept is nil of the instant one.
type compared struct {
	name string
	kept *Kept
}

// encoders are those that have rows, the instant one first.
func (b *bench) encoders(projects []*project) []compared {
	first := compared{}
	if len(projects) > 0 && projects[0].vectors != nil {
		for _, e := range projects[0].vectors.Encoders(false) {
			if e.Instant {
				first.name = e.Name
			}
		}
	}
	all := []compared{first}
	for _, k := range b.Encoders {
		if b.Semantic != nil {
			all = append(all, compared{k.Name(), k})
		}
	}
	return all
}

// prepare makes the vectors that an encoder lacks of the facts and questions.
func (b *bench) prepare(ctx context.Context, k *Kept, q inquiry) error {
	b.encoder.Store(new(k.Name()))
	told := time.Now()
	for i, text := range q.questions {
		if _, err := k.Encode(ctx, []string{text}); err != nil {
			return err
		}
		if b.Progress != nil && time.Since(told) > 10*time.Second {
			told = time.Now()
			b.Progress(fmt.Sprintf("  %s: %d of %d questions encoded", k.Name(), i+1, len(q.questions)))
		}
	}
	for i, p := range q.projects {
		if _, err := p.store.EmbeddingsReindex(ctx, knowledge.Reindexing{Wait: true}); err != nil {
			return err
		}
		if b.Progress != nil && time.Since(told) > 10*time.Second {
			told = time.Now()
			b.Progress(fmt.Sprintf("  %s: facts of %d of %d projects encoded", k.Name(), i+1, len(q.projects)))
		}
	}
	return nil
}
