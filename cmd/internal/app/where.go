package app

import (
	"context"
	"path/filepath"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/overview/project"
)

// settings are what the configuration says about the project of a call, and
// the directory in it that the call was made from.
func (s *stores) settings(sc op.Scope) (config.Settings, string, error) {
	c, err := s.config()
	if err != nil {
		return config.Settings{}, "", err
	}
	dir := c.Project
	if sc.Project != "" {
		if dir, err = c.Path(sc.Project); err != nil {
			return config.Settings{}, "", err
		}
	}
	settings, err := c.For(dir)
	for _, w := range settings.Warnings {
		s.warnOnce(w)
	}
	return settings, dir, err
}

// warnOnce says a thing once: a server reads the configuration many times.
func (s *stores) warnOnce(text string) {
	if _, said := s.said.LoadOrStore(text, true); !said {
		s.warn(text)
	}
}

// projectRegistry is the map of projects as the project of a call wants it, and the
// directory of the call.
func (s *stores) projectRegistry(sc op.Scope) (*project.Registry, string, error) {
	settings, dir, err := s.settings(sc)
	if err != nil {
		return nil, "", err
	}
	c, err := s.config()
	if err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.projects[settings.Worktrees]; p != nil {
		return p, dir, nil
	}
	p, err := project.Open(c.DataDir, &project.Options{Worktrees: settings.Worktrees, Logger: s.logger})
	if err != nil {
		return nil, "", err
	}
	s.projects[settings.Worktrees] = p
	return p, dir, nil
}

// resolve tells which project a call is about, and records what is new about
// it.
func (s *stores) resolve(ctx context.Context, sc op.Scope) (project.Project, error) {
	projects, dir, err := s.projectRegistry(sc)
	if err != nil {
		return project.Project{}, err
	}
	p, err := projects.Resolve(ctx, dir)
	return s.noticed(sc, p, err)
}

// lookup is resolve for what only reads: it leaves no trace of a project of
// which nothing is remembered, and works where nothing can be written. What is
// new about a known one is still recorded, as well as it goes: a repository is
// followed to another place by its first commit, which is often made after the
// first thing was remembered.
func (s *stores) lookup(ctx context.Context, sc op.Scope) (project.Project, error) {
	projects, dir, err := s.projectRegistry(sc)
	if err != nil {
		return project.Project{}, err
	}
	p, err := projects.Lookup(ctx, dir)
	if err == nil && p.Known {
		if learned, err := projects.Resolve(ctx, dir); err == nil {
			p = learned
		}
	}
	return s.noticed(sc, p, err)
}

func (s *stores) noticed(sc op.Scope, p project.Project, err error) (project.Project, error) {
	if err == nil {
		s.placed.Store(sc.Project, p)
	}
	for _, n := range p.Notices {
		s.warnOnce(n)
	}
	return p, err
}

// knowledgeDir is where the facts of a project are kept.
func (s *stores) knowledgeDir(hash string) (string, error) {
	c, err := s.config()
	if err != nil {
		return "", err
	}
	return filepath.Join(c.DataDir, "knowledge", hash), nil
}
