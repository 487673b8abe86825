package app

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"leanctx/embed"
	"leanctx/embed/vectors"
	"leanctx/knowledge/meaning"
)

// vectored joins encoders and vectors to the facts of one project.
type vectored struct {
	index  *vectors.Index
	models *models
	path   string
}

func newVectored(dir string, m *models) *vectored {
	return &vectored{index: vectors.Open(dir, &vectors.Options{LongLived: m.live}), models: m, path: filepath.Join(dir, "embeddings.json")}
}

// with calls f with the encoder of this name.
func (m *vectored) with(name string, f func(embed.Encoder) error) error {
	static, err := embed.Static()
	if err != nil {
		return err
	}
	if static.Name() == name {
		return f(static)
	}
	return m.models.use(name, f)
}

// Encode implements meaning.Semantic.
func (m *vectored) Encode(ctx context.Context, encoder string, questions []string) (all [][]float32, err error) {
	if static, err := embed.Static(); err == nil && static.Name() == encoder {
		questions = slices.DeleteFunc(slices.Clone(questions), func(text string) bool {
			known, err := embed.Knows(text)
			return err != nil || !known
		})
	}
	if len(questions) == 0 {
		return nil, nil
	}
	err = m.with(encoder, func(e embed.Encoder) error {
		all, err = e.Encode(ctx, questions)
		return err
	})
	return all, err
}

// Of implements meaning.Semantic.
func (m *vectored) Of(ctx context.Context, encoder string, texts []meaning.Text) ([][]float32, error) {
	if static, err := embed.Static(); err == nil && static.Name() == encoder {
		list := make([]string, len(texts))
		for i, t := range texts {
			list[i] = t.Text
		}
		return static.Encode(ctx, list)
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i], _ = m.index.Vector(encoder, vectors.Text(t))
	}
	return out, nil
}

// Near implements meaning.Semantic.
func (m *vectored) Near(ctx context.Context, encoder string, questions [][]float32, limit int) ([]meaning.Near, error) {
	hits, err := m.index.Scan(ctx, vectors.Query{Encoder: encoder, Vectors: questions, Limit: limit})
	out := make([]meaning.Near, len(hits))
	for i, h := range hits {
		out[i] = meaning.Near{ID: h.ID, Cosine: h.Cosine}
	}
	return out, err
}

// Learn implements meaning.Semantic.
func (m *vectored) Learn(ctx context.Context, encoder string, texts []meaning.Text, progress func(done, missing int)) (n int, err error) {
	err = m.with(encoder, func(e embed.Encoder) error {
		n, err = m.index.Fill(ctx, e, textsOf(texts), progress)
		return err
	})
	return n, err
}

// Lacking implements meaning.Semantic.
func (m *vectored) Lacking(encoder string, texts []meaning.Text) int {
	return len(m.index.Missing(encoder, textsOf(texts)))
}

// Pairs implements meaning.Semantic.
func (m *vectored) Pairs(ctx context.Context, encoder string, p meaning.Pairing) ([]meaning.Pair, error) {
	all, err := m.index.Pairs(ctx, vectors.Pairing{Encoder: encoder, Texts: textsOf(p.Texts), First: p.First, Least: p.Least, Limit: p.Limit, Allowed: p.Allowed})
	out := make([]meaning.Pair, len(all))
	for i, x := range all {
		out[i] = meaning.Pair(x)
	}
	return out, err
}

func textsOf(texts []meaning.Text) []vectors.Text {
	list := make([]vectors.Text, len(texts))
	for i, t := range texts {
		list[i] = vectors.Text(t)
	}
	return list
}

// Encoders implements meaning.Vectors.
func (m *vectored) Encoders(wanted bool) (all []meaning.Encoding) {
	_, installed, err := m.models.current()
	if err == nil {
		all = append(all, meaning.Encoding{Name: installed.Name})
	} else if wanted && errors.Is(err, embed.ErrNoModel) {
		m.models.fetch()
	}
	if static, err := embed.Static(); err == nil {
		all = append(all, meaning.Encoding{Name: static.Name(), Instant: true})
	}
	return all
}

// Facts implements meaning.Vectors.
func (m *vectored) Facts(encoder string) int {
	return m.index.Count(encoder, func(id string) bool { return !meaning.IsQuestions(id) })
}

// Report implements meaning.Vectors.
func (m *vectored) Report() meaning.VectorReport {
	status := m.index.Status()
	r := meaning.VectorReport{AutoDownload: m.models.auto, Path: m.path}
	for _, e := range status.Encoders {
		r.Entries = append(r.Entries, meaning.VectorEntries{Encoder: e.Name, Entries: e.Entries})
	}
	switch _, installed, err := m.models.current(); {
	case err == nil:
		r.Model, r.Why = "present", installed.Name+" is installed"
	case errors.Is(err, embed.ErrNoModel):
		r.Model, r.Why = "built-in", "no other model is installed in "+m.models.dir
	default:
		r.Model, r.Why = "broken", "built in; "+err.Error()
	}
	if status.Newer {
		r.Why += "; a newer version wrote the vectors, they are left alone"
	}
	return r
}

// Drop implements meaning.Vectors.
func (m *vectored) Drop(ids []string) error {
	if ids == nil {
		return m.index.Reset()
	}
	return m.index.Forget(ids...)
}
