package overview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
	"leanctx/overview/tree"
)

// Memory gives an overview the facts of a project.
type Memory interface {
	// Naming returns texts (facts, their sources, gotchas) for a task, or the most
	// important ones without a task. The files that they name count as relevant.
	Naming(ctx context.Context, task string) ([]string, error)
	// Briefing is the body of the briefing for a piece of work; it may be empty.
	Briefing(ctx context.Context, w Work) (string, error)
}

// Work describes what the caller is about to do.
type Work struct {
	Task   string   // as it was given; may be empty
	Files  []string // the files below the requested path, or else the best files for the task
	Budget int      // the most tokens of the briefing
}

// MapOptions are the settings of NewMap; nil and the zero value work.
type MapOptions struct {
	Cache    string                // the directory of the cache, which may be deleted at any time; empty: none is kept
	Memory   Memory                // may be nil
	Redactor *secret.Redactor      // takes secrets out of what is told and cached; default the built-in rules
	Git      string                // the git program; default "git"
	Progress func(done, total int) // of reading files; never called twice at once; may be nil
	Now      func() time.Time
	Logger   *slog.Logger
}

// Map finds the files of a project that matter. It is safe for concurrent use, also by
// several processes.
type Map struct {
	root    string
	options MapOptions

	maxTotal int64 // bytes that are read; see [maxTotal]
	maxTime  time.Duration
	reading  time.Duration // see [maxReading]
	opened   int64         // files that the last call opened; for tests
}

// NewMap makes the map of the project at root, an absolute path. It reads nothing.
func NewMap(root string, o *MapOptions) *Map {
	m := &Map{root: root, maxTotal: maxTotal, maxTime: maxTime, reading: maxReading}
	if o != nil {
		m.options = *o
	}
	if m.options.Now == nil {
		m.options.Now = time.Now
	}
	m.options.Redactor = cmp.Or(m.options.Redactor, secret.BuiltIn())
	m.options.Logger = cmp.Or(m.options.Logger, slog.New(slog.DiscardHandler))
	return m
}

// Inquiry asks for an overview.
type Inquiry struct {
	Task   string `json:"task,omitempty" arg:"1" long:"true" jsonschema:"what you are about to do, in a sentence; without it, the most central files are listed"`
	Path   string `json:"path,omitempty" jsonschema:"only what is in this directory of the project; or, as an absolute path, another project"`
	Budget int    `json:"budget,omitempty" jsonschema:"most tokens of the answer, estimated as bytes/4 (default 2000)"`
}

const (
	defaultMapBudget = 2000 // tokens
	bytesPerToken    = 4
	briefingShare    = 0.4 // of the budget, at most
	recentCommits    = 300 // for the recency of files
)

// maxTime is how long an overview may take. A whole disk would take far longer.
const maxTime = time.Minute

var errTooLong = errors.New("it took too long")

// Overview sorts the project's files by how much they matter for a task, and
// adds the briefing. The same tree, state and day give the same answer.
func (m *Map) Overview(ctx context.Context, q Inquiry) (Overview, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.maxTime, errTooLong)
	defer cancel()
	o, err := m.overview(ctx, q)
	if err != nil && errors.Is(context.Cause(ctx), errTooLong) {
		return Overview{}, &refusal.HintError{Problem: fmt.Sprintf("%s has too many files for an overview within %s", m.root, m.maxTime), Hint: "name a directory that is a project"}
	}
	return o, err
}

func (m *Map) overview(ctx context.Context, q Inquiry) (Overview, error) {
	if q.Budget < 0 {
		return Overview{}, refusal.Argument("budget", "budget %d is negative", q.Budget)
	}
	dir, err := m.requested(q.Path)
	if err != nil {
		return Overview{}, err
	}
	known := make(chan *stored, 1)
	go func() { known <- m.cached() }()
	found, err := tree.List(ctx, m.root, &tree.Options{Git: m.options.Git, Logger: m.options.Logger})
	if err != nil {
		return Overview{}, err
	}
	entries, history, err := m.entries(ctx, found, <-known)
	if err != nil {
		return Overview{}, err
	}
	q.Task = strings.TrimSpace(q.Task)
	budget := cmp.Or(q.Budget, defaultMapBudget)
	o := Overview{Root: filepath.Join(m.root, filepath.FromSlash(dir)), Task: q.Task, Note: found.Note}
	listable := slices.DeleteFunc(slices.Clone(entries), func(e *entry) bool { return e.Skip })
	r := ranking{clean: m.clean, entries: listable, task: q.Task, touched: recency(listable, history.Touched), commits: history.Commits, dir: dir, memory: m.naming(ctx, q.Task)}
	order := r.rank()
	if slices.ContainsFunc(found.Separate, func(other string) bool { return strings.HasPrefix(dir+"/", other) }) {
		o.note("another repository, or installed packages: not looked into as a part of this project")
	}
	if n := r.unopened(); n > 0 {
		o.note("too much to read: %s known by name alone", prose.Count(n, "file"))
	}
	if q.Task != "" && !r.matched && len(order) > 0 {
		o.note("no file matches the task; these are the most central ones")
	}
	if m.options.Memory != nil {
		w := Work{Task: q.Task, Files: r.workFiles(order), Budget: max(1, int(float64(budget)*briefingShare))}
		if o.Briefing, err = m.options.Memory.Briefing(ctx, w); err != nil {
			return Overview{}, fmt.Errorf("the briefing: %w", err)
		}
	}
	o.fill(&r, order, budget*bytesPerToken-len(o.Briefing))
	o.skip(entries, dir, found.Separate)
	for i, d := range o.Skipped.Directories {
		o.Skipped.Directories[i] = m.clean(d)
	}
	return o, nil
}

// clean is a text without its secrets.
func (m *Map) clean(text string) string {
	text, _ = m.options.Redactor.Clean(text)
	return text
}

// note adds a part to the sentence on what is unusual.
func (o *Overview) note(format string, a ...any) {
	o.Note = strings.TrimPrefix(o.Note+"; "+fmt.Sprintf(format, a...), "; ")
}

// Holds reports whether an absolute path lies in the project, whether it exists or not.
func (m *Map) Holds(path string) bool {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	rel, err := filepath.Rel(m.root, path)
	return err == nil && filepath.IsLocal(rel)
}

// requested is the directory or file that path names, relative to the root with
// slashes; empty for the root itself.
func (m *Map) requested(p string) (string, error) {
	if p == "" {
		return "", nil
	}
	rel := filepath.FromSlash(p)
	if filepath.IsAbs(rel) {
		real, err := filepath.EvalSymlinks(rel)
		if err != nil {
			return "", refusal.NotFound("no such file or directory: %s", p)
		}
		if rel, err = filepath.Rel(m.root, real); err != nil {
			return "", refusal.Argument("path", "path %s is outside the project %s", p, m.root)
		}
	}
	rel = filepath.Clean(rel)
	if !filepath.IsLocal(rel) {
		return "", refusal.Argument("path", "path %s is outside the project %s", p, m.root)
	}
	if _, err := os.Lstat(filepath.Join(m.root, rel)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", refusal.NotFound("no such file or directory in the project: %s", p)
		}
		return "", refusal.Argument("path", "path %s cannot be used: %v", p, err)
	}
	if rel == "." {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// cached is the content of the cache.
func (m *Map) cached() *stored {
	s, err := loadCache(cacheFile(m.options.Cache, m.root))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.options.Logger.Debug("the overview does without its cache", "error", err)
	}
	return s
}

// entries are the entries of all files, and the last commits. New entries are stored in the
// cache; if that fails, the files are read again next time.
func (m *Map) entries(ctx context.Context, found *tree.Tree, known *stored) (entries []*entry, h tree.History, err error) {
	root, err := os.OpenRoot(m.root)
	if err != nil {
		return nil, h, err
	}
	defer root.Close()
	s := &scanner{root: root, clean: m.clean, now: m.options.Now, progress: m.options.Progress, maxTotal: m.maxTotal, reading: m.reading}
	old := make(map[string]*entry, len(known.Entries))
	for _, e := range known.Entries {
		old[e.Path] = e
	}
	entries, news, err := s.scan(ctx, found.Files, old)
	if err != nil {
		return nil, h, err
	}
	m.opened = s.opened.Load()
	if found.Git && found.Head != "" && found.Head != known.Head {
		history, err := tree.Recent(ctx, m.root, found.Head, recentCommits, &tree.Options{Git: m.options.Git})
		if err == nil {
			known.Head, known.History, news = found.Head, history, true
		} else if ctx.Err() != nil {
			return nil, h, ctx.Err()
		}
	}
	if news && m.options.Cache != "" {
		known.Entries = entries
		known.withoutSecrets(m.clean)
		if err := saveCache(cacheFile(m.options.Cache, m.root), known); err != nil {
			m.options.Logger.Debug("the cache of the overview was not written", "error", err)
		}
	}
	if !found.Git || found.Head == "" {
		return entries, h, nil
	}
	return entries, known.History, nil
}

// recency is how recently files were touched: by commits where there are any, else by
// the order of their times.
func recency(entries []*entry, touched map[string]int) []float64 {
	out := make([]float64, len(entries))
	if touched != nil {
		for i, e := range entries {
			if n, ok := touched[e.Path]; ok {
				out[i] = 1 / (1 + float64(n)/10)
			}
		}
		return out
	}
	newest := int64(math.MinInt64)
	for _, e := range entries {
		newest = max(newest, e.ModTime)
	}
	for i, e := range entries {
		days := float64(newest-e.ModTime) / float64(24*time.Hour)
		out[i] = 1 / (1 + days/7)
	}
	return out
}

// naming are the texts that may name files. If they cannot be read, the overview goes
// without.
func (m *Map) naming(ctx context.Context, task string) []string {
	if m.options.Memory == nil {
		return nil
	}
	texts, err := m.options.Memory.Naming(ctx, task)
	if err != nil {
		m.options.Logger.Debug("the overview does without the facts that name files", "error", err)
	}
	return texts
}

// under reports whether a file is the requested path or below it.
func under(name, dir string) bool {
	return dir == "" || name == dir || strings.HasPrefix(name, dir) && name[len(dir)] == '/'
}
