package embed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"leanctx/embed/vectors"
)

// modelIdle is how long an unused model stays in memory. It needs more memory than the rest
// of a server.
const modelIdle = 5 * time.Minute

// Models are the encoders of a process, for all its projects: the one that is built in, and
// the installed model. The model is loaded when a text must be encoded, and freed after it was
// idle. Models are [vectors.Encoders]. Their fields are set before the first use.
type Models struct {
	Dir          string
	AutoDownload bool // a model may be downloaded when it is first needed
	LongLived    bool // in a server; a command downloads nothing
	Logger       *slog.Logger
	Child        Child // see [InstallOptions]

	mu     sync.Mutex
	model  *Model
	users  int
	idle   *time.Timer // frees the model
	failed time.Time   // when the model that could not be loaded was installed
	why    error

	download sync.Once
	work     sync.WaitGroup
	stop     context.CancelFunc // of the download
}

// current is the installed model. The error says why there is none.
func (m *Models) current() (dir string, installed *Manifest, err error) {
	dir, installed, err = Current(m.Dir)
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

// Usable implements [vectors.Encoders].
func (m *Models) Usable(wanted bool) (all []vectors.Encoding) {
	_, installed, err := m.current()
	if err == nil {
		all = append(all, vectors.Encoding{Name: installed.Name})
	} else if wanted && errors.Is(err, ErrNoModel) && m.AutoDownload && m.LongLived {
		m.download.Do(m.fetch)
	}
	return append(all, vectors.Encoding{Name: Static().Name(), Instant: true})
}

// Status implements [vectors.Encoders].
func (m *Models) Status() vectors.Status {
	s := vectors.Status{AutoDownload: m.AutoDownload}
	switch _, installed, err := m.current(); {
	case err == nil:
		s.Model, s.Why = "present", installed.Name+" is installed"
	case errors.Is(err, ErrNoModel):
		s.Model, s.Why = "built-in", "no other model is installed in "+m.Dir
	default:
		s.Model, s.Why = "broken", "built in; "+err.Error()
	}
	return s
}

// With implements [vectors.Encoders].
func (m *Models) With(name string, f func(vectors.Encoder) error) error {
	if static := Static(); static.Name() == name {
		return f(static)
	}
	model, err := m.acquire(name)
	if err != nil {
		return err
	}
	defer m.release()
	return f(model)
}

// acquire loads the model, if need be, and keeps it loaded until release is called.
func (m *Models) acquire(name string) (*Model, error) {
	dir, installed, err := m.current()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.model != nil && m.model.Name() != installed.Name {
		m.free()
	}
	if m.model == nil {
		model, err := OpenModel(dir)
		if err != nil {
			m.failed, m.why = installed.Tested, err
			m.Logger.Warn("the model cannot be used", "error", err)
			return nil, err
		}
		m.model = model
	}
	if m.model.Name() != name {
		return nil, fmt.Errorf("model %s: another one is in use now", name)
	}
	if m.idle != nil {
		m.idle.Stop()
	}
	m.users++
	return m.model, nil
}

func (m *Models) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users--; m.users > 0 {
		return
	}
	m.idle = time.AfterFunc(modelIdle, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.free()
	})
}

// free is called under the lock. A model in use is not freed: its last user sets the timer.
func (m *Models) free() {
	if m.model != nil && m.users == 0 {
		_ = m.model.Close() // nothing is lost with it
		m.model = nil
	}
}

// fetch downloads a model in the background.
func (m *Models) fetch() {
	ctx, stop := context.WithCancel(context.Background())
	m.mu.Lock()
	m.stop = stop
	m.mu.Unlock()
	m.work.Go(func() {
		done, err := Download(ctx, m.Dir, &DownloadOptions{Child: m.Child})
		if err != nil {
			m.Logger.Warn("no model was downloaded", "error", err)
		} else {
			m.Logger.Info("a model was downloaded", "model", done.Name)
		}
	})
}

// Close stops a download and frees the model.
func (m *Models) Close() error {
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
	m.free()
	return nil
}
