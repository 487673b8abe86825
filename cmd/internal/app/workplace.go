package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/overview/project"
)

// A call finds its project in the first of these: its project argument or --project,
// LEAN_CTX_PROJECT_ROOT, the root that an MCP client offers, the client's own variable, the
// working directory. Clients start servers in the home directory. So the home directory and the
// root of the file system are a project only for who names them.

// workplace is where a call works.
type workplace struct {
	dir   string   // where its project is looked for; empty: one of several, which the call must name
	named bool     // a person, or the call, named it
	all   []string // the directories of the session; empty: it is in one
}

// workplace finds where a call works. It looks at no project.
func (s *stores) workplace(sc op.Scope) (workplace, error) {
	own := s.ownPlace(sc)
	if sc.Project == "" {
		return own, nil
	}
	dir, err := s.config.Path(sc.Project)
	return workplace{dir: dir, named: true, all: own.all}, err
}

// ownPlace is where a call works if it names no project.
func (s *stores) ownPlace(sc op.Scope) workplace {
	w := sc.Caller.Workspace
	here := workplace{dir: s.config.Project, named: s.config.Named}
	switch {
	case w == nil:
		return here
	case sc.Grant != nil && sc.Grant.Project != "":
		return workplace{dir: sc.Grant.Project, named: true}
	case here.named:
		return here
	}
	if w.Bound != nil {
		if bound := w.Bound.Bind(""); bound != "" {
			return workplace{dir: bound, named: true}
		}
	}
	client := config.ClientRoots()
	roots := w.Roots
	if len(roots) == 0 {
		roots = client
	}
	if len(roots) == 0 {
		return here
	}
	if len(roots) == 1 {
		return workplace{dir: roots[0]}
	}
	several := workplace{all: roots}
	if len(client) != 1 {
		client = []string{s.config.Project}
	}
	if slices.ContainsFunc(roots, func(root string) bool { return relativeTo(root, client[0]) != "" }) {
		several.dir = client[0]
	}
	return several
}

// callerDir is where a call works, so that a source may be named from there: a command's working
// directory, or the directory that a client has open. A page works nowhere.
func (w projectStores) callerDir() (dir string) {
	var err error
	switch {
	case !w.longLived:
		dir, err = os.Getwd()
	case w.scope.Caller.Workspace != nil:
		dir, err = w.dir(w.scope)
	}
	if err != nil {
		return "" // it is gone, or not known
	}
	return dir
}

// missing is the error of a call that must name its project.
func (w workplace) missing() error {
	return refusal.Argument("project", "several directories are open in this session: name one with project: %s", strings.Join(w.all, ", "))
}

// unnamed refuses a project that nobody meant: the home directory, or all of a file system.
func (w workplace) unnamed(s *stores, p project.Project) error {
	if w.named || !s.everything(p.Root) {
		return nil
	}
	return refusal.Argument("project", "%s is no project unless it is named: work in a directory of a project, or name one with project (--project, %s)", filepath.FromSlash(p.Root), config.ProjectVar)
}

// everything reports whether a root is the home directory, or all of a file system.
func (s *stores) everything(root string) bool {
	root = filepath.FromSlash(root)
	if filepath.Dir(root) == root {
		return true
	}
	home, err := s.config.Home()
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	return root == home
}

// servable keeps a call over a server from naming any directory as its project: it would be told what
// lies there. The home directory and the root of a file system are none. A directory that is no known
// project must lie in one of the caller's own, or be the first that a session of this machine's user
// names where it has none.
func (s *stores) servable(ctx context.Context, sc op.Scope, projects *project.Registry, found project.Project) error {
	g := sc.Grant
	if g == nil && sc.Caller.Workspace == nil || sc.Project == "" || g != nil && sc.Project == g.Project {
		return nil
	}
	if s.everything(found.Root) {
		return &op.ForbiddenError{What: found.Root + " is no project over a server: name a directory in it"}
	}
	if found.Known {
		return nil
	}
	var own []project.Project
	if sc.Caller.Workspace != nil {
		own = s.ownProjects(ctx, sc, projects)
	} else if g.Project != "" {
		if p, err := projects.Lookup(ctx, g.Project); err == nil {
			own = append(own, p)
		}
	}
	if slices.ContainsFunc(own, func(p project.Project) bool { return !s.everything(p.Root) && relativeTo(p.Root, found.Root) != "" }) ||
		len(own) == 0 && sc.Caller.Workspace != nil && (g == nil || !g.NoFiles) {
		return nil
	}
	return &op.ForbiddenError{What: found.Root + " is not this session's, and no known project: a person makes it one with a first fact there (lean-ctx remember)"}
}

// stay keeps a call over MCP, and a command in an agent's shell, in the projects of its session. Another one it may read if both
// allow the search across projects, and write if the user's configuration says so. Where the
// session has no project, the first one that is named is the session's. other: it is another one.
func (s *stores) stay(ctx context.Context, sc op.Scope, projects *project.Registry, found project.Project) (other bool, err error) {
	w := sc.Caller.Workspace
	shell := w == nil && sc.Caller.Kind == knowledge.KindAgent && (sc.Project != "" || s.config.Named)
	if !shell && (w == nil || sc.Project == "" || sc.Grant != nil && sc.Project == sc.Grant.Project) {
		return false, nil
	}
	var own []project.Project
	if shell {
		own = s.shellProjects(ctx, projects)
	} else {
		own = s.ownProjects(ctx, sc, projects)
	}
	if len(own) == 0 {
		if w != nil && w.Bound != nil && w.Bound.Bind(found.Root) != found.Root { // another call was first
			return false, &op.ForbiddenError{What: "this session works in " + w.Bound.Bind("")}
		}
		return false, nil
	}
	if slices.ContainsFunc(own, func(p project.Project) bool { return p.Hash == found.Hash }) {
		return false, nil
	}
	settings, err := s.config.For(own[0].Root, own[0].Root)
	if err != nil {
		return false, err
	}
	theirs, err := s.config.For(found.Root, found.Root)
	if err != nil {
		return false, err
	}
	name := fmt.Sprintf("project %s (%s) is not this session's, which works in %s", found.Name, found.Root, own[0].Root)
	switch {
	case !settings.CrossProjectSearch || !theirs.CrossProjectSearch:
		return true, &op.ForbiddenError{What: name + `: "cross_project_search" is off`}
	case sc.Effect != op.Reads && !(settings.CrossProjectWrite && theirs.CrossProjectWrite):
		return true, &op.ForbiddenError{What: name + `: only the user can allow writing there, with "cross_project_write": true in ` + s.config.UserFile()}
	}
	op.Note(ctx, name)
	return true, nil
}

// shellProjects is the project of a shell's working directory, if it is known: what an agent names by --project or
// in its environment, a client's variable too, is not its own for that.
func (s *stores) shellProjects(ctx context.Context, projects *project.Registry) (own []project.Project) {
	dir, err := os.Getwd()
	if err != nil {
		return nil // it is gone
	}
	if p, err := projects.Lookup(ctx, dir); err == nil && p.Known && !s.everything(p.Root) {
		own = append(own, p)
	}
	return own
}

// ownProjects are the projects of a session.
func (s *stores) ownProjects(ctx context.Context, sc op.Scope, projects *project.Registry) (own []project.Project) {
	place := s.ownPlace(sc)
	dirs := place.all
	if place.dir != "" {
		dirs = append([]string{place.dir}, dirs...)
	}
	for _, dir := range dirs {
		p, err := projects.Lookup(ctx, dir)
		if err == nil && place.unnamed(s, p) == nil {
			own = append(own, p)
		}
	}
	return own
}

// maxNear is how many projects near an empty one are named.
const maxNear = 3

// whenEmpty has an answer without a fact say why there is none, and one without a firm fact what was said in sessions.
func (s *stores) whenEmpty(_ context.Context, sc op.Scope, q *knowledge.Question) error {
	q.Nothing = func(ctx context.Context) { s.sayEmpty(ctx, sc) }
	if mayReadSessions(sc) {
		q.Said = func(ctx context.Context, text string) []knowledge.Said { return s.said(ctx, sc, text, false) }
	}
	return nil
}

// sayEmpty says of a project without a fact that nothing is remembered of it, and which projects are
// near: the question may be about one of them.
func (s *stores) sayEmpty(ctx context.Context, sc op.Scope) {
	p, err := s.project(ctx, sc)
	if err != nil || p.at.in() {
		return // the operation itself says what is wrong
	}
	for _, name := range []string{"knowledge.json", "knowledge.journal"} {
		if _, err := os.Stat(filepath.Join(p.at.knowledgeDir(), name)); err == nil {
			return
		}
	}
	text := "nothing is remembered of " + filepath.FromSlash(p.Root) + " yet"
	settings, _, err := s.settings(sc)
	if err != nil || !settings.CrossProjectSearch || sc.Grant.Restricted() {
		op.Note(ctx, text)
		return
	}
	projects, _, err := s.projectRegistry(sc)
	if err != nil {
		return
	}
	near, err := projects.Near(ctx, p.Root)
	if err != nil || len(near) == 0 {
		op.Note(ctx, text)
		return
	}
	var names []string
	for _, n := range near[:min(len(near), maxNear)] {
		root := filepath.FromSlash(n.Root)
		where := root
		if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
			where += ", which is gone: if it moved here, `lean-ctx project link " + n.Hash + "`"
		}
		names = append(names, fmt.Sprintf("%s (%s)", n.Name, where))
	}
	op.Note(ctx, text+"; near it are "+strings.Join(names, ", ")+": project names one")
}
