package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"leanctx/cmd/internal/op"
	"leanctx/overview/project"
)

// projectTool is `lean-ctx project`: it shows which project was found, and corrects that.
func projectTool(s *stores) *op.Tool {
	c := projectCommands{s}
	return &op.Tool{
		Name: "project", Command: "project", Summary: "List the projects, and change which directory belongs to which.",
		Operations: []op.Operation{
			op.New("list", "List the projects that are known.", op.Reads, c.list),
			op.New("show", "Show a project: this one, or one by hash, name or path.", op.Reads, c.show),
			op.New("link", "Make a directory part of a project that is known.", op.Changes, c.link, "to").
				Shown("to", "my-app", "path", "."),
			op.New("unlink", "Make a directory a separate project.", op.Changes, c.unlink).ByPerson(),
			op.New("forget", "Take a project out of the map, and with --erase its memory off the disk.", op.Destroys, c.forget, "ref").
				Shown("ref", "my-app", "confirm", true).ByPerson(),
		},
	}
}

// projectCommands are the actions of `lean-ctx project`.
type projectCommands struct{ stores *stores }

type noArgs struct{}

type projectList struct {
	Projects []project.Project `json:"projects"`
}

func (l projectList) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Projects (%d):\n", len(l.Projects))
	width := 0
	for _, p := range l.Projects {
		width = max(width, len(p.Name))
	}
	for _, p := range l.Projects {
		fmt.Fprintf(&b, "  %-*s  %s  %s\n", width, p.Name, p.Hash, p.Root)
	}
	return b.String()
}

func (c projectCommands) list(ctx context.Context, sc op.Scope, _ noArgs) (projectList, error) {
	projects, _, err := c.stores.projectRegistry(sc)
	if err != nil {
		return projectList{}, err
	}
	list, err := projects.List(ctx)
	return projectList{append([]project.Project{}, list...)}, err
}

type projectRef struct {
	Ref string `json:"ref,omitempty" arg:"1" jsonschema:"hash (four digits are enough), name or path; this project if left out"`
}

// projectDetails is a project in full.
type projectDetails struct {
	project.Project
	Data string `json:"data"` // the directory of its facts
}

func (p projectDetails) Text() string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-13s %s\n", name, value)
		}
	}
	fmt.Fprintf(&b, "Project %s\n", p.Name)
	line("hash", p.Hash)
	line("root", p.Root)
	line("identity", p.ID)
	line("remote", p.Remote)
	line("first commit", strings.Join(p.FirstCommits, " "))
	for _, place := range p.Places {
		if place.Root != p.Root {
			line("also at", place.Root)
		}
	}
	for _, former := range p.Former {
		line("formerly at", former)
	}
	line("facts", p.Data)
	if !p.Known {
		line("", "(nothing is remembered here yet)")
	}
	return b.String()
}

func (c projectCommands) show(ctx context.Context, sc op.Scope, a projectRef) (projectDetails, error) {
	projects, dir, err := c.stores.projectRegistry(sc)
	if err != nil {
		return projectDetails{}, err
	}
	if a.Ref == "" {
		return c.details(projects.Lookup(ctx, dir))
	}
	return c.details(projects.Show(ctx, a.Ref))
}

// details describes a project and where its facts are.
func (c projectCommands) details(p project.Project, err error) (projectDetails, error) {
	if err != nil {
		return projectDetails{}, err
	}
	for _, n := range p.Notices {
		c.stores.warnOnce(n)
	}
	p.Notices = nil
	m, err := c.stores.membership(p.Hash)
	if err != nil {
		return projectDetails{}, err
	}
	return projectDetails{p, m.knowledgeDir()}, nil
}

type projectLink struct {
	To   string `json:"to" arg:"1" jsonschema:"the project: hash, name or path"`
	Path string `json:"path,omitempty" arg:"2" jsonschema:"the directory; the working directory if left out"`
}

func (c projectCommands) link(ctx context.Context, sc op.Scope, a projectLink) (projectDetails, error) {
	if !sc.ByPerson() { // a repository may have told an agent to, also through a pipe
		return projectDetails{}, &op.ForbiddenError{What: "a person says which directory belongs to which project: type it at a terminal"}
	}
	projects, dir, err := c.at(sc, a.Path)
	if err != nil {
		return projectDetails{}, err
	}
	return c.details(projects.Link(ctx, dir, a.To))
}

type projectPath struct {
	Path string `json:"path,omitempty" arg:"1" jsonschema:"the directory; the working directory if left out"`
}

func (c projectCommands) unlink(ctx context.Context, sc op.Scope, a projectPath) (projectDetails, error) {
	projects, dir, err := c.at(sc, a.Path)
	if err != nil {
		return projectDetails{}, err
	}
	return c.details(projects.Unlink(ctx, dir))
}

type projectForget struct {
	Ref   string `json:"ref" arg:"1" jsonschema:"hash, name or path"`
	Erase bool   `json:"erase,omitempty" jsonschema:"remove its memory from the disk too"`
}

// NeedsConfirm implements [op.Confirmer]: nobody finds the memory of a project that no
// directory belongs to.
func (f projectForget) NeedsConfirm() string {
	if f.Erase {
		return "erasing a project removes its facts and shared files"
	}
	return "this project's memory will no longer be reachable"
}

type forgotten struct {
	project.Project
	Data   string `json:"data"`   // where its facts are, or were
	Agents string `json:"agents"` // where its agents are, beside those of other projects; they stay
	Erased bool   `json:"erased"`
}

func (f forgotten) Text() string {
	if f.Erased {
		return fmt.Sprintf("Forgot project %s (%s) and erased its memory; diaries, messages and tasks of its agents are left in %s", f.Name, f.Hash, f.Agents)
	}
	return fmt.Sprintf("Forgot project %s (%s); its memory is left in %s", f.Name, f.Hash, f.Data)
}

func (c projectCommands) forget(ctx context.Context, sc op.Scope, a projectForget) (forgotten, error) {
	projects, _, err := c.stores.projectRegistry(sc)
	if err != nil {
		return forgotten{}, err
	}
	p, err := projects.Show(ctx, a.Ref)
	if err != nil {
		return forgotten{}, err
	}
	m, err := c.stores.membership(p.Hash)
	if err != nil {
		return forgotten{}, err
	}
	if a.Erase { // first: if it fails, it can be repeated while the project is in the map
		if err := c.erase(p.Hash); err != nil {
			return forgotten{}, err
		}
	}
	p, err = projects.Forget(ctx, p.Hash)
	return forgotten{Project: p, Data: m.knowledgeDir(), Agents: filepath.Join(c.stores.config.DataDir, "agents"), Erased: a.Erase}, err
}

// erase removes what is kept of a project alone.
func (c projectCommands) erase(hash string) error {
	// Through the root, so that nothing outside is removed, whatever the map says.
	root, err := os.OpenRoot(c.stores.config.DataDir)
	if err != nil {
		return err
	}
	defer root.Close()
	data := path.Join("knowledge", hash)
	names, err := fs.Glob(root.FS(), path.Join("logs", "briefings", hash+"-*"))
	for _, name := range append(names, data, data+".known", path.Join("agents", "shared", hash), path.Join("overview", hash), path.Join("sessions", hash), path.Join(teamsDir, hash)) {
		if to, e := root.Readlink(name); e == nil {
			err = errors.Join(err, fmt.Errorf("%s is a link to %s: remove both, and repeat this", filepath.Join(c.stores.config.DataDir, name), to))
			continue
		}
		err = errors.Join(err, root.RemoveAll(name))
	}
	return err
}

// at returns the map, and the given path or the project's.
func (c projectCommands) at(sc op.Scope, given string) (*project.Registry, string, error) {
	projects, dir, err := c.stores.projectRegistry(sc)
	if err != nil || given == "" {
		return projects, dir, err
	}
	dir, err = c.stores.config.Path(given)
	return projects, dir, err
}
