package hook

import (
	"path/filepath"
	"slices"
	"strings"
)

// steps are what a client wants in a scope. It wants nothing in a scope that
// it does not have. A project's file that is the user's as well, because the
// project is the home directory, is the user's.
func (c *client) steps(p Place, scope Scope) []step {
	if scope != Project {
		return c.every(p, scope)
	}
	if sameDir(p.Root, p.Home) {
		p.Root = p.Home
	}
	users := c.every(p, User)
	return slices.DeleteFunc(c.every(p, scope), func(s step) bool {
		return slices.ContainsFunc(users, func(u step) bool { return u.path == s.path })
	})
}

// serves tells whether the first of steps is the one of the server.
func serves(steps []step) bool {
	return len(steps) > 0 && len(steps[0].wants) > 0 && steps[0].wants[0].name == server
}

// every is what a client wants in a scope, whoever's file it is.
func (c *client) every(p Place, scope Scope) []step {
	at, ok := c.servers[scope]
	if !ok {
		return nil
	}
	keys := make([]string, len(at.keys))
	for i, k := range at.keys {
		keys[i] = strings.ReplaceAll(k, "{project}", filepath.ToSlash(p.Root))
	}
	at.keys = keys
	first := step{client: c.name, scope: scope, path: p.path(at.file), format: at.format, secret: scope != Project}
	first.wants = []want{{keys: keys, name: server, value: c.entry(p.Command)}}
	steps := []step{first}
	if file, ok := c.hooks.files[scope]; ok {
		steps = c.hooks.add(steps, p, file)
	}
	if c.rule.file != "" && scope == Project {
		steps = append(steps, step{client: c.name, scope: scope, path: p.path(c.rule.file), format: whole, text: c.rule.text(c.name)})
	}
	return steps
}

// add appends the steps of hooks to the one of the server; hooks that stand in
// its file become part of it.
func (h *hooks) add(steps []step, p Place, file string) []step {
	s := step{client: steps[0].client, scope: steps[0].scope, path: p.path(file), format: h.format, hooks: true, secret: steps[0].secret, run: h.run}
	switch {
	case h.run && p.system() == "windows":
		return steps // it does not know scripts of this kind
	case h.format == whole && len(h.events) == 0:
		s.text = h.text(event{}, p.Command)
		return append(steps, s)
	case h.format == whole:
		for _, e := range h.events {
			one := s
			one.path, one.text = filepath.Join(s.path, e.theirs), h.text(e, p.Command)
			steps = append(steps, one)
		}
		return steps
	}
	for _, x := range h.root {
		s.wants = append(s.wants, want{name: x.key, value: x.value, needs: true})
	}
	for _, e := range h.events {
		s.wants = append(s.wants, want{keys: []string{"hooks", e.theirs}, value: h.entry(e, p.Command)})
	}
	if s.path == steps[0].path {
		steps[0].wants, steps[0].hooks = append(steps[0].wants, s.wants...), true
		return steps
	}
	return append(steps, s)
}
