package hook

import (
	"slices"
)

// Briefs tells whether the hooks of a client bring the briefing to its model.
// says is what the client calls itself to an MCP server. In doubt they do not:
// a briefing that comes twice is better than none. Codex is in doubt always,
// since it skips hooks that were not approved.
func (p Place) Briefs(says string) bool {
	all := clients()
	i := slices.IndexFunc(all, func(c client) bool { return c.says != "" && c.says == says })
	return i >= 0 && slices.ContainsFunc([]Scope{User, Project, Local}, func(s Scope) bool { return all[i].briefs(p, s) })
}

func (c *client) briefs(p Place, scope Scope) bool {
	file, ok := c.hooks.files[scope]
	if !ok {
		return false
	}
	f, err := readFile(p.path(file))
	if err != nil || f.new {
		return false
	}
	if c.hooks.format == whole {
		return isOurs(f.data)
	}
	t := &text{data: f.data}
	if off, err := t.switchedOff(); err != nil || off {
		return false
	}
	if c.plugin != "" && t.enables(c.plugin) {
		return true
	}
	return slices.ContainsFunc(c.hooks.events, func(e event) bool {
		if e.ours != SessionStart {
			return false
		}
		list, left, err := t.reach([]string{"hooks", e.theirs})
		return err == nil && len(left) == 0 && len(t.ours(list)) > 0
	})
}

// enables tells whether the file enables a plugin.
func (t *text) enables(plugin string) bool {
	n, left, err := t.reach([]string{"enabledPlugins"})
	if err != nil || len(left) > 0 || n.array {
		return false
	}
	m := n.member(plugin)
	return m != nil && decoded(m.value) == true
}

// switchedOff tells whether the file says that no hooks are to be run.
func (t *text) switchedOff() (bool, error) {
	n, _, err := t.reach(nil)
	if err != nil {
		return false, err
	}
	m := n.member("disableAllHooks")
	return m != nil && decoded(m.value) == true, nil
}
