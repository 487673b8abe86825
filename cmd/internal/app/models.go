package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"leanctx/embed"
	"leanctx/embed/vectors"
	"leanctx/knowledge/meaning"
)

// modelIdle is how long an unused model stays in memory. It needs more memory than the rest
// of a server.
const modelIdle = 5 * time.Minute

// models is the sentence transformer of this process, one for all projects. It is loaded
// when a text must be encoded, and freed after it was idle.
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
	failed   time.Time // when the model that could not be loaded was installed
	why      error
	fetching bool
	fetched  error
	stop     context.CancelFunc // of the download
	work     sync.WaitGroup
}

// current is the installed model. The error says why there is none.
func (m *models) current() (dir string, installed *embed.Manifest, err error) {
	dir, installed, err = embed.Current(m.dir)
	if err != nil {
		return "", nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.why != nil && m.failed.Equal(installed.Tested) {
		return "", nil, m.why // until it is installed again
	}
	return dir, installed, nil
}

// Usable implements meaning.Encoders.
func (m *models) Usable(wanted bool) (all []meaning.Encoding) {
	_, installed, err := m.current()
	if err == nil {
		all = append(all, meaning.Encoding{Name: installed.Name})
	} else if wanted && errors.Is(err, embed.ErrNoModel) {
		m.fetch()
	}
	return append(all, meaning.Encoding{Name: embed.Static().Name(), Instant: true})
}

// Status implements meaning.Encoders.
func (m *models) Status() meaning.Status {
	s := meaning.Status{AutoDownload: m.auto}
	switch _, installed, err := m.current(); {
	case err == nil:
		s.Model, s.Why = "present", installed.Name+" is installed"
	case errors.Is(err, embed.ErrNoModel):
		s.Model, s.Why = "built-in", "no other model is installed in "+m.dir
	default:
		s.Model, s.Why = "broken", "built in; "+err.Error()
	}
	return s
}

// With implements meaning.Encoders.
func (m *models) With(name string, f func(vectors.Encoder) error) error {
	if static := embed.Static(); static.Name() == name {
		return f(static)
	}
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
	if m.model != nil && m.model.Name() != installed.Name && m.users == 0 {
		m.free()
	}
	if m.model == nil {
		model, err := embed.OpenModel(dir)
		if err != nil {
			m.failed, m.why = installed.Tested, err
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

// fetch starts the download of a model, once, if downloads are allowed and no model is
// installed.
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

// transformers are the models of this process, in the configured directory.
func (s *stores) transformers() *models {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded == nil {
		s.loaded = &models{dir: s.config.ModelsDir, auto: s.config.AutoDownload, live: s.longLived, logger: s.logger, child: worker()}
	}
	return s.loaded
}

// worker runs a function that may end its process in a child process.
func worker() embed.Child {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	return embed.Exec(exe, workerName)
}
