package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"leanctx/cmd/internal/config"
	"leanctx/embed"
	"leanctx/embed/vectors"
	"leanctx/knowledge"
)

// modelIdle is how long a model stays in memory that nobody uses: it takes more
// than all else of a server together.
const modelIdle = 5 * time.Minute

// models is the sentence transformer of this process, one for all projects. It
// is loaded when a text is to be encoded and freed when it was idle.
type models struct {
	dir    string
	auto   bool // download one when it is first needed
	live   bool // a server: it may download
	logger *slog.Logger
	child  embed.Child

	mu       sync.Mutex
	model    *embed.Model
	users    int
	last     time.Time
	idle     *time.Timer
	failed   string // the folder of the model that could not be loaded
	why      error
	fetching bool
	fetched  error
	stop     context.CancelFunc // of the download
	work     sync.WaitGroup
}

// current is the installed model that can be used; the error says why there is
// none.
func (m *models) current() (dir, name string, err error) {
	dir, manifest, err := embed.Current(m.dir)
	if err != nil {
		return "", "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed == dir {
		return "", "", m.why
	}
	return dir, manifest.Name, nil
}

// use calls f with the model of this name, which is loaded if it is not.
func (m *models) use(name string, f func(embed.Encoder) error) error {
	model, err := m.take(name)
	if err != nil {
		return err
	}
	defer m.leave()
	return f(model)
}

func (m *models) take(name string) (*embed.Model, error) {
	dir, installed, err := m.current()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.model != nil && m.model.Name() != installed && m.users == 0 {
		m.free()
	}
	if m.model == nil {
		model, err := embed.OpenModel(dir, nil)
		if err != nil {
			m.failed, m.why = dir, err
			m.logger.Warn("the model cannot be used", "error", err)
			return nil, err
		}
		m.model = model
	}
	if m.model.Name() != name {
		return nil, fmt.Errorf("model %s: another one is in use now", name)
	}
	m.users++
	return m.model, nil
}

func (m *models) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users--
	m.last = time.Now()
	if m.idle == nil {
		m.idle = time.AfterFunc(modelIdle, m.rest)
	}
}

// rest frees the model if it was idle for long enough.
func (m *models) rest() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.idle = nil
	if left := modelIdle - time.Since(m.last); m.users > 0 || left > 0 {
		m.idle = time.AfterFunc(max(left, time.Second), m.rest)
		return
	}
	m.free()
}

// free is called under the lock, with no users.
func (m *models) free() {
	if m.model != nil {
		_ = m.model.Close() // nothing is lost with it
		m.model = nil
	}
}

func (m *models) close() {
	m.mu.Lock()
	if m.stop != nil {
		m.stop()
	}
	m.mu.Unlock()
	m.work.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.idle != nil {
		m.idle.Stop()
	}
	if m.users == 0 {
		m.free()
	}
}

// fetch begins to download a model, once, where that is allowed and there is
// none.
func (m *models) fetch() {
	if !m.auto || !m.live {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fetching || m.fetched != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	m.fetching, m.stop = true, stop
	m.work.Go(func() {
		defer stop()
		done, err := embed.Download(ctx, m.dir, &embed.DownloadOptions{Child: m.child})
		m.mu.Lock()
		defer m.mu.Unlock()
		m.fetching, m.fetched = false, err
		if err != nil {
			m.logger.Warn("no model was downloaded", "error", err)
		} else {
			m.logger.Info("a model was downloaded", "model", done.Name)
		}
	})
}

// transformers are the models of this process, found where the configuration
// says.
func (s *stores) transformers(c *config.Config) *models {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded == nil {
		s.loaded = &models{dir: c.ModelsDir, auto: c.AutoDownload, live: s.lasting, logger: s.logger, child: worker()}
	}
	return s.loaded
}

// worker runs what may end a process in another one of this program.
func worker() embed.Child {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	return embed.Exec(exe, workerName)
}

// meaning joins encoders and vectors to the facts of one project.
type meaning struct {
	index  *vectors.Index
	models *models
	path   string
}

func newMeaning(dir string, m *models) *meaning {
	return &meaning{index: vectors.Open(dir, &vectors.Options{LongLived: m.live}), models: m, path: filepath.Join(dir, "embeddings.json")}
}

// with calls f with the encoder of this name.
func (m *meaning) with(name string, f func(embed.Encoder) error) error {
	static, err := embed.Static()
	if err != nil {
		return err
	}
	if static.Name() == name {
		return f(static)
	}
	return m.models.use(name, f)
}

// Encode implements knowledge.Semantic.
func (m *meaning) Encode(ctx context.Context, encoder, text string) (v []float32, err error) {
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

func (m *meaning) Learn(ctx context.Context, encoder string, texts []knowledge.Meant, progress func(done, missing int)) (n int, err error) {
	list := make([]vectors.Text, len(texts))
	for i, t := range texts {
		list[i] = vectors.Text(t)
	}
	err = m.with(encoder, func(e embed.Encoder) error {
		n, err = m.index.Fill(ctx, e, list, progress)
		return err
	})
	return n, err
}

func (m *meaning) Near(ctx context.Context, encoder string, n knowledge.Nearby) ([]knowledge.Near, error) {
	if n.Among != nil {
		return m.among(ctx, encoder, n)
	}
	hits, err := m.index.Scan(ctx, vectors.Query{Encoder: encoder, Vector: n.Vector, Limit: n.Limit, Allowed: func(k vectors.Key) bool { return n.Allowed == nil || n.Allowed(k.ID) }})
	if err != nil {
		return nil, err
	}
	var out []knowledge.Near
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
			out = append(out, knowledge.Near{ID: h.ID, Cosine: h.Cosine})
		}
	}
	order(out)
	return out[:min(len(out), n.Limit)], nil
}

// among compares a few texts. Those of the instant encoder need no file.
func (m *meaning) among(ctx context.Context, encoder string, n knowledge.Nearby) ([]knowledge.Near, error) {
	if static, err := embed.Static(); err == nil && static.Name() == encoder {
		out, err := m.spot(ctx, encoder, n.Vector, n.Among)
		order(out)
		return out, err
	}
	var out []knowledge.Near
	for _, t := range n.Among {
		if v, ok := m.index.Vector(encoder, vectors.Text(t).Key()); ok && len(v) == len(n.Vector) {
			out = append(out, knowledge.Near{ID: t.ID, Cosine: cosine(v, n.Vector)})
		}
	}
	order(out)
	return out, nil
}

// spot encodes texts and keeps nothing. It is for the instant encoder; of
// another nothing is found.
func (m *meaning) spot(ctx context.Context, encoder string, query []float32, texts []knowledge.Meant) ([]knowledge.Near, error) {
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
	out := make([]knowledge.Near, len(texts))
	for i, v := range vectors {
		out[i] = knowledge.Near{ID: texts[i].ID, Cosine: cosine(v, query)}
	}
	return out, nil
}

func order(list []knowledge.Near) {
	slices.SortFunc(list, func(a, b knowledge.Near) int {
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

// Encoders implements knowledge.Vectors.
func (m *meaning) Encoders(wanted bool) (all []knowledge.Encoding) {
	_, name, err := m.models.current()
	if err == nil {
		all = append(all, knowledge.Encoding{Name: name})
	} else if wanted && errors.Is(err, embed.ErrNoModel) {
		m.models.fetch()
	}
	if static, err := embed.Static(); err == nil {
		all = append(all, knowledge.Encoding{Name: static.Name(), Instant: true})
	}
	return all
}

// Report implements knowledge.Vectors.
func (m *meaning) Report() knowledge.VectorReport {
	status := m.index.Status()
	r := knowledge.VectorReport{AutoDownload: m.models.auto, Path: m.path}
	for _, e := range status.Encoders {
		r.Entries = append(r.Entries, knowledge.VectorEntries{Encoder: e.Name, Entries: e.Entries})
	}
	switch _, name, err := m.models.current(); {
	case err == nil:
		r.Model, r.Why = "present", name+" is installed; built in until its backlog is empty"
	case errors.Is(err, embed.ErrNoModel):
		r.Model, r.Why = "missing", "built in; no model is installed in "+m.models.dir
	default:
		r.Model, r.Why = "broken", "built in; "+err.Error()
	}
	if status.Newer {
		r.Why += "; a newer version wrote the vectors, they are left alone"
	}
	return r
}

// Drop implements knowledge.Vectors.
func (m *meaning) Drop(ids []string) error {
	if ids == nil {
		return m.index.Reset()
	}
	return m.index.Forget(ids...)
}
