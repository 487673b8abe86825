// Package project finds which project a path belongs to.
//
// # Identity
//
// The memory of a project survives a new path, remote or name. So a project is found by
// identity. From the start path upwards the first of these decides:
//
//   - A file .lean-ctx-id. The directory is a project of its own.
//   - A git work tree. The project is the repository, known by its common directory, so all
//     its work trees share memory (Worktrees "isolate" separates them). A submodule and a
//     bare repository are separate projects.
//   - Without either, the nearest directory that is a known project, else the path itself.
//
// projects.json maps places to hashes: 16 hex digits, the name of the project's directories.
//
// # Who decides
//
// A repository must not choose whose memory it gets. What it says of itself is a claim: its
// identity file, its history, its remote. A project is opened at a place where it is known, by
// its secret in the git common directory (see secretFile), or after a person has linked it. A
// repository that has moved is known by the secret, once all its places are gone. A directory
// that never was a repository is known then by its identity file, if it is the same directory. Anything else is a new
// project, and a notice names the ones that it looks like.
//
// Marks are regular files of this user or root. A git directory elsewhere must name this work
// tree. At a new place git itself must accept the repository, so safe.directory and
// safe.bareRepository hold. What another user has put above a directory is passed over.
//
// # The hash
//
// The hash is the beginning of SHA-256 of the place, with a counter if it is taken or belonged
// to a forgotten project. It never changes and is never reused. A random hash was rejected: a
// command that only reads could not find an unrecorded project. git runs only at a new place,
// for two seconds at most, and for a tenth of one where an operation only reads.
package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/refusal"
)

// Options are the settings of Open; nil and the zero value work.
type Options struct {
	Worktrees  string           // "share" (the default): the work trees of a repository are one project; "isolate": each its own
	Home       string           // the user's home directory, which is no project of what is below
	Git        string           // the git program; default "git"
	GitTimeout time.Duration    // default 2 s
	Now        func() time.Time // default time.Now
	Logger     *slog.Logger
}

// Registry maps projects to their hashes. It is safe for concurrent use, also by several
// processes.
type Registry struct {
	o    Options
	home string
	log  *journal.Log[*registry, change]

	answers sync.Map // of git, about repositories that are not known yet
	texts   texts    // of files that say which repository it is
}

// Project describes a project.
type Project struct {
	Hash         string    `json:"hash"` // 16 hex digits, for ever
	Name         string    `json:"name"` // the last component of Root
	Root         string    `json:"root"` // the requested work tree or directory, or else the first known one
	ID           string    `json:"id,omitempty"`
	Known        bool      `json:"known"` // it is recorded
	CreatedAt    time.Time `json:"created_at,omitzero"`
	Remote       string    `json:"remote,omitempty"` // host/path, without user and password
	FirstCommits []string  `json:"first_commits,omitempty"`
	Places       []Place   `json:"places,omitempty"`
	Former       []string  `json:"former,omitempty"`  // paths it was moved or unlinked from
	Notices      []string  `json:"notices,omitempty"` // for people: moves, replacements, similar projects
}

// Open opens the map in the data directory. It creates nothing until a project is recorded.
func Open(dataDir string, o *Options) (*Registry, error) {
	p := &Registry{}
	if o != nil {
		p.o = *o
	}
	switch p.o.Worktrees {
	case "":
		p.o.Worktrees = "share"
	case "share", "isolate":
	default:
		return nil, fmt.Errorf("worktrees is %q: it must be share or isolate", p.o.Worktrees)
	}
	if p.o.Home != "" {
		p.home = slashed(resolved(p.o.Home))
	}
	p.o.Git = cmp.Or(p.o.Git, "git")
	if p.o.GitTimeout <= 0 {
		p.o.GitTimeout = 2 * time.Second
	}
	if p.o.Now == nil {
		p.o.Now = time.Now
	}
	log, err := journal.Open(dataDir, machine{}, &journal.Options{
		Name: "projects", Schema: schema, Now: p.o.Now, Logger: p.o.Logger,
	})
	if err != nil {
		return nil, err
	}
	p.log = log
	return p, nil
}

// Close closes the map.
func (p *Registry) Close() error { return p.log.Close() }

// Look is what the files said of a path at one time. What is asked of a look costs no second one,
// and its answers agree.
type Look struct{ seen *observation }

// Look looks at a path. An empty path is the working directory. The path must be a directory.
func (p *Registry) Look(path string) (Look, error) {
	s, err := p.observe(path)
	return Look{s}, err
}

// Resolve finds the project of a look, and records news about it: the project itself, a move, an
// added remote.
func (p *Registry) Resolve(ctx context.Context, l Look) (Project, error) {
	return p.resolve(ctx, p.place(l.seen), true)
}

// Find is Resolve for an operation that only reads: it records nothing. An unrecorded project (Known
// is false) has the hash that Resolve would give it.
func (p *Registry) Find(ctx context.Context, l Look) (Project, error) {
	return p.resolve(ctx, p.place(l.seen), false)
}

// Lookup finds the project of a path, and records nothing.
func (p *Registry) Lookup(ctx context.Context, path string) (Project, error) {
	l, err := p.Look(path)
	if err != nil {
		return Project{}, err
	}
	return p.Find(ctx, l)
}

// placed is what is seen at a path, as this registry records it.
func (p *Registry) placed(path string) (*observation, error) {
	l, err := p.Look(path)
	if err != nil {
		return nil, err
	}
	return p.place(l.seen), nil
}

func (p *Registry) resolve(ctx context.Context, s *observation, record bool) (Project, error) {
	s.learn = record
	var v resolution
	for {
		if s.foreign && !s.ranGit { // no place is so well known that another user may have it
			if err := p.askGit(ctx, s); err != nil {
				return Project{}, err
			}
		}
		if err := p.log.View(ctx, func(a *registry, _ journal.Head) error {
			v = a.decide(s)
			return nil
		}); err != nil {
			return Project{}, err
		}
		if !v.needsGit && record && len(v.changes) > 0 {
			err := p.update(ctx, func(a *registry, now time.Time) ([]change, error) {
				s.now = now
				if v = a.decide(s); v.needsGit {
					return nil, nil // the state changed: ask, without the lock
				}
				return v.changes, nil
			})
			if err != nil {
				return Project{}, err
			}
		}
		if !v.needsGit {
			if record {
				p.keepSecret(s, v.record)
			}
			return v.project(s), nil
		}
		if err := p.askGit(ctx, s); err != nil {
			return Project{}, err
		}
	}
}

// keepSecret puts a project's secret into its repository. Where that cannot be written, the
// project is not followed when it moves.
func (p *Registry) keepSecret(s *observation, r *record) {
	if err := s.writeSecret(r.Secret); err != nil && p.o.Logger != nil {
		p.o.Logger.Debug("the secret of a project is not in its repository", "git_dir", s.secretDir, "error", err)
	}
}

// project returns the project of an observation.
func (v resolution) project(s *observation) Project {
	out := v.record.project()
	out.Root, out.Name, out.Notices = s.root, projectName(s.root), v.notices
	if s.refusal != "" {
		out.Notices = append(slices.Clone(v.notices), s.refusal)
	}
	if v.created && !s.learn {
		out.Known, out.CreatedAt = false, time.Time{}
	}
	return out
}

// update commits changes and rewrites projects.json, so that people can read the current
// state. The file is small and rarely changes.
func (p *Registry) update(ctx context.Context, decide func(*registry, time.Time) ([]change, error)) error {
	if _, err := p.log.Update(ctx, decide); err != nil {
		return err
	}
	if err := p.log.Compact(ctx); err != nil && p.o.Logger != nil {
		p.o.Logger.Warn("projects.json was not rewritten; what it lacks is in the journal beside it", "error", err)
	}
	return nil
}

// List returns the recorded projects, sorted by name, root and hash.
func (p *Registry) List(ctx context.Context) ([]Project, error) {
	var out []Project
	err := p.log.View(ctx, func(a *registry, _ journal.Head) error {
		for _, r := range a.records {
			out = append(out, r.project())
		}
		return nil
	})
	slices.SortFunc(out, func(a, b Project) int {
		return strings.Compare(a.Name+"\x00"+a.Root+"\x00"+a.Hash, b.Name+"\x00"+b.Root+"\x00"+b.Hash)
	})
	return out, err
}

// Near lists the recorded projects near a root, the nearest first: those above and below it, those
// of the same name, and those beside it.
func (p *Registry) Near(ctx context.Context, root string) ([]Project, error) {
	all, err := p.List(ctx)
	distance := func(o Project) int {
		switch {
		case strings.HasPrefix(o.Root, root+"/"), strings.HasPrefix(root, strings.TrimSuffix(o.Root, "/")+"/"):
			return 0
		case o.Name == projectName(root):
			return 1
		case path.Dir(o.Root) == path.Dir(root):
			return 2
		}
		return 3
	}
	all = slices.DeleteFunc(all, func(o Project) bool { return o.Root == root || o.Root == "" || distance(o) == 3 })
	slices.SortStableFunc(all, func(a, b Project) int { return distance(a) - distance(b) })
	return all, err
}

// Show returns the project that ref names. ref is a hash or four or more of its first digits,
// an identity, a path, or a name that only one project has. A path where a project was, and
// another is now, names none.
func (p *Registry) Show(ctx context.Context, ref string) (Project, error) {
	var out Project
	err := p.log.View(ctx, func(a *registry, _ journal.Head) error {
		r, err := a.named(ref)
		if err == nil {
			out = r.project()
		}
		return err
	})
	if !looksLikePath(ref) {
		return out, err
	}
	switch found, lookErr := p.Lookup(ctx, ref); {
	case lookErr != nil: // nothing is there now
	case err == nil && found.Hash != out.Hash:
		return Project{}, refusal.NotFound("%q is not the place of project %s any more: give its hash", ref, out.Hash)
	case isNotFound(err) && found.Known:
		return found, nil
	}
	return out, err
}

func looksLikePath(ref string) bool {
	return strings.ContainsAny(ref, `/\`) || ref == "." || ref == ".." || filepath.IsAbs(ref)
}

// Root is the directory whose configuration counts for a path: the top of the work tree that
// git accepts, or of a known project in no repository. Without either it is empty.
func (p *Registry) Root(ctx context.Context, l Look) (string, error) {
	s := p.place(l.seen)
	var r *record
	if err := p.log.View(ctx, func(a *registry, _ journal.Head) error {
		r, _ = a.find(s)
		return nil
	}); err != nil {
		return "", err
	}
	switch {
	case s.gitRoot == "" && r == nil:
		return "", nil
	case s.gitRoot == "":
		return filepath.FromSlash(s.root), nil
	case r != nil && !s.foreign:
		return s.gitRoot, nil
	}
	if p.accepts(ctx, s) {
		return s.gitRoot, nil
	}
	return "", nil
}

// Link makes the place of a path part of the recorded project that ref names (see Show). Only a
// person may call it: it is how a claim is confirmed. The facts of its former project stay
// under the former hash, and a notice says so.
func (p *Registry) Link(ctx context.Context, path, ref string) (Project, error) {
	s, err := p.placed(path)
	if err != nil {
		return Project{}, err
	}
	s.learn = true
	if err := p.askGit(ctx, s); err != nil {
		return Project{}, err
	}
	out, err := p.Show(ctx, ref)
	if err != nil {
		return Project{}, err
	}
	var linked *record
	err = p.update(ctx, func(a *registry, now time.Time) ([]change, error) {
		s.now = now
		to, err := a.named(out.Hash)
		if err != nil {
			return nil, err
		}
		from, _ := a.at(s)
		if from != nil && from.Hash == to.Hash {
			next := to.with(s, to.placeOf(s))
			out = next.project()
			if next.equal(to) {
				return nil, nil
			}
			return []change{{Put: next}}, nil
		}
		var changes []change
		var notices []string
		if from != nil {
			changes = append(changes, change{Put: from.without(s)})
			notices = []string{fmt.Sprintf("what was remembered here before stays in project %s", from.Hash)}
		}
		next := to.with(s, to.placeOf(s))
		if next.Secret == "" && s.secretDir != "" {
			next.Secret = newSecret()
		}
		linked = next
		next.Unlinked = slices.DeleteFunc(slices.Clone(next.Unlinked), func(k string) bool { return k == s.key() })
		if i := next.placeOf(s); from != nil && i >= 0 {
			next.Places[i].LinkedFrom = from.Hash
		}
		out = next.project()
		out.Notices = notices
		return append(changes, change{Put: next}), nil
	})
	if err == nil && linked != nil {
		p.keepSecret(s, linked)
	}
	return out, err
}

// FirstCommits lists the first commits of the repository that a path is in, if they are known:
// those of a shallow clone are not.
func (p *Registry) FirstCommits(ctx context.Context, path string) ([]string, error) {
	s, err := p.placed(path)
	if err != nil {
		return nil, err
	}
	err = p.askGit(ctx, s)
	return s.firstCommits, err
}

// Unlink removes the place of a path from its project, which keeps its memory. The path is
// again the project that it was before [Registry.Link], or a new one. It does not return to
// the former project by itself.
func (p *Registry) Unlink(ctx context.Context, path string) (Project, error) {
	s, err := p.placed(path)
	if err != nil {
		return p.unlinkGone(ctx, path, err)
	}
	return p.take(ctx, s, path)
}

// unlinkGone removes a place that no longer exists.
func (p *Registry) unlinkGone(ctx context.Context, path string, cause error) (Project, error) {
	root, err := absolute(path)
	if err != nil {
		return Project{}, errors.Join(cause, err)
	}
	out, err := p.take(ctx, &observation{Place: Place{Root: root}, root: root}, path)
	if isNotFound(err) {
		return Project{}, cause
	}
	return out, err
}

func (p *Registry) take(ctx context.Context, s *observation, path string) (Project, error) {
	var out Project
	err := p.update(ctx, func(a *registry, _ time.Time) ([]change, error) {
		r, i := a.at(s)
		if r == nil {
			return nil, notRecorded(path)
		}
		gone := *s
		gone.Place = r.Places[i]
		next := r.without(&gone)
		if key := gone.key(); !slices.Contains(next.Unlinked, key) {
			next.Unlinked = append(slices.Clone(next.Unlinked), key)
		}
		out = next.project()
		changes := []change{{Put: next}}
		if from := a.records[gone.LinkedFrom]; from != nil {
			back := *s
			back.Place = gone.Place
			back.LinkedFrom = ""
			changes = append(changes, change{Put: from.with(&back, from.placeOf(&back))})
			out.Notices = []string{fmt.Sprintf("%s is project %s again", path, from.Hash)}
		}
		return changes, nil
	})
	return out, err
}

// Forget removes a project (see Show) from the map. Its data stay until the caller removes
// them. No other project ever gets its hash.
func (p *Registry) Forget(ctx context.Context, ref string) (Project, error) {
	found, err := p.Show(ctx, ref)
	if err != nil {
		return Project{}, err
	}
	err = p.update(ctx, func(a *registry, now time.Time) ([]change, error) {
		if a.records[found.Hash] == nil {
			return nil, notRecorded(ref)
		}
		return []change{{Forget: found.Hash}}, nil
	})
	return found, err
}
