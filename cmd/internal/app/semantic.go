package app

import (
	"cmp"
	"context"
	"errors"
	"math"
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
func (m *vectored) Encode(ctx context.Context, encoder, text string) (v []float32, err error) {
	if static, err := embed.Static(); err == nil && static.Name() == encoder {
		if known, err := embed.Knows(text); err != nil || !known {
			return nil, err
		}
	}
	err = m.with(encoder, func(e embed.Encoder) error {
		vectors, err := e.Encode(ctx, []string{text})
		if err == nil {
			v = vectors[0]
		}
		return err
	})
	return v, err
}

func (m *vectored) Learn(ctx context.Context, encoder string, texts []meaning.Meant, progress func(done, missing int)) (n int, err error) {
	err = m.with(encoder, func(e embed.Encoder) error {
		n, err = m.index.Fill(ctx, e, textsOf(texts), progress)
		return err
	})
	return n, err
}

// Lacking implements meaning.Semantic.
func (m *vectored) Lacking(encoder string, texts []meaning.Meant) int {
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

func textsOf(texts []meaning.Meant) []vectors.Text {
	list := make([]vectors.Text, len(texts))
	for i, t := range texts {
		list[i] = vectors.Text(t)
	}
	return list
}

func (m *vectored) Near(ctx context.Context, encoder string, n meaning.Nearby) ([]meaning.Near, error) {
	if n.Among != nil {
		return m.among(ctx, encoder, n)
	}
	hits, err := m.index.Scan(ctx, vectors.Query{Encoder: encoder, Vectors: [][]float32{n.Vector}, Limit: n.Limit, Allowed: n.Allowed})
	if err != nil {
		return nil, err
	}
	var out []meaning.Near
	tail, err := m.spot(ctx, encoder, n.Vector, n.Tail)
	if err != nil {
		return nil, err
	}
	fresh := map[string]bool{}
	for _, x := range tail {
		fresh[x.ID] = true
		if n.Allowed == nil || n.Allowed(x.ID) {
			out = append(out, x)
		}
	}
	for _, h := range hits {
		if !fresh[h.ID] {
			out = append(out, meaning.Near{ID: h.ID, Cosine: h.Cosine})
		}
	}
	order(out)
	return out[:min(len(out), n.Limit)], nil
}

// Ahead implements meaning.Semantic. A scan takes little enough to be done when
// its answer is needed.
func (*vectored) Ahead(context.Context, string, []float32) meaning.Ahead { return nothingAhead{} }

type nothingAhead struct{}

func (nothingAhead) Close() {}

// among compares a few texts. Those of the instant encoder need no file.
func (m *vectored) among(ctx context.Context, encoder string, n meaning.Nearby) ([]meaning.Near, error) {
	if static, err := embed.Static(); err == nil && static.Name() == encoder {
		out, err := m.spot(ctx, encoder, n.Vector, n.Among)
		order(out)
		return out, err
	}
	var out []meaning.Near
	for _, t := range n.Among {
		if v, ok := m.index.Vector(encoder, vectors.Text(t)); ok && len(v) == len(n.Vector) {
			out = append(out, meaning.Near{ID: t.ID, Cosine: cosine(v, n.Vector)})
		}
	}
	order(out)
	return out, nil
}

// spot encodes texts and keeps nothing. It is for the instant encoder; of
// another nothing is found.
func (m *vectored) spot(ctx context.Context, encoder string, query []float32, texts []meaning.Meant) ([]meaning.Near, error) {
	static, err := embed.Static()
	if err != nil || static.Name() != encoder || len(texts) == 0 {
		return nil, err
	}
	list := make([]string, len(texts))
	for i, t := range texts {
		list[i] = t.Text
	}
	vectors, err := static.Encode(ctx, list)
	if err != nil {
		return nil, err
	}
	out := make([]meaning.Near, len(texts))
	for i, v := range vectors {
		out[i] = meaning.Near{ID: texts[i].ID, Cosine: cosine(v, query)}
	}
	return out, nil
}

func order(list []meaning.Near) {
	slices.SortFunc(list, func(a, b meaning.Near) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.ID, b.ID))
	})
}

// cosine of two unit vectors. Products are rounded before they are added, so
// that it is the same on every machine; the last digits are cut off, since one
// of the two may have been kept as whole numbers.
func cosine(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(float64(x) * float64(b[i]))
	}
	return math.Round(sum*1e6) / 1e6
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
