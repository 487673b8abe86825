package hook

import (
	"bytes"
	"regexp"
	"slices"
	"sync"

	"github.com/tailscale/hujson"
)

// own recognises the command of a hook that is ours, wherever the program was
// when it was written.
var own = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[\s"'/\\])lean-ctx(\.exe)?["']? hook `) })

// commandKeys are the members of a hook that hold a command line.
var commandKeys = []string{"command", "bash", "powershell"}

// address says where a hook stands in the list of an event.
type address struct {
	group int // index in the list
	hook  int // in the group's hooks; -1: the list holds hooks, not groups
}

// ours finds our hooks in a list.
func (t *text) ours(list *node) (found []address) {
	for i, x := range list.items {
		entry := t.nodeOf(x.value)
		if entry == nil || entry.array {
			continue
		}
		if isOwn(entry) {
			found = append(found, address{i, -1})
			continue
		}
		m := entry.member("hooks")
		if m == nil {
			continue
		}
		if inner := t.nodeOf(m.value); inner != nil && inner.array {
			for j, y := range inner.items {
				if h := t.nodeOf(y.value); h != nil && isOwn(h) {
					found = append(found, address{i, j})
				}
			}
		}
	}
	return found
}

func isOwn(hook *node) bool {
	return slices.ContainsFunc(commandKeys, func(key string) bool {
		m := hook.member(key)
		return m != nil && own().MatchString(stringOf(m.value))
	})
}

func stringOf(v *hujson.Value) string {
	l, ok := v.Value.(hujson.Literal)
	if !ok || l.Kind() != '"' {
		return ""
	}
	return l.String()
}

// hang puts a hook into the list of an event unless one of ours is there; then
// its command is made the one that it should be. The rest of such a hook is
// left as it is: a longer timeout may be somebody's choice.
func (t *text) hang(keys []string, entry any) (bool, error) {
	if t.blank() {
		t.replace(len(t.data), len(t.data), "{}"+t.newline())
	}
	above, name := keys[:len(keys)-1], keys[len(keys)-1]
	n, left, err := t.reach(above)
	if err != nil {
		return false, err
	}
	m := (*item)(nil)
	if len(left) == 0 {
		m = n.member(name)
	}
	if m == nil {
		t.made = append(t.made, slices.Clone(keys))
		return true, t.build(n, above, append(slices.Clone(left), name), []any{entry})
	}
	list := t.nodeOf(m.value)
	if list == nil || !list.array {
		e := &FileError{Problem: `"` + name + `" is no list`}
		e.Line, e.Column = position(t.data, t.body()+m.value.StartOffset)
		return false, e
	}
	found := t.ours(list)
	if len(found) == 0 {
		return true, t.insert(list, "", compact(entry))
	}
	return t.recommand(list, found[0], entry), nil
}

// recommand gives a hook of ours the command lines of entry.
func (t *text) recommand(list *node, at address, entry any) (changed bool) {
	hook := t.nodeOf(list.items[at.group].value)
	given := entry.(object)
	if at.hook >= 0 {
		hook = t.nodeOf(t.nodeOf(hook.member("hooks").value).items[at.hook].value)
		for _, p := range given {
			if p.key == "hooks" {
				given = p.value.([]any)[0].(object)
			}
		}
	}
	// From the last to the first, so that offsets stay true.
	for i := len(hook.items) - 1; i >= 0; i-- {
		m := hook.items[i]
		for _, p := range given {
			if p.key == m.name && slices.Contains(commandKeys, p.key) && !same(m.value, p.value) {
				t.replace(t.body()+m.value.StartOffset, m.end, string(compact(p.value)))
				changed = true
			}
		}
	}
	return changed
}

// unhang takes all our hooks out of the list of an event, and the groups that
// held nothing else.
func (t *text) unhang(keys []string) (bool, error) {
	changed := false
	for {
		list, left, err := t.reach(keys)
		if noHolder(err) {
			return changed, nil
		}
		if err != nil || len(left) > 0 || !list.array {
			return changed, err
		}
		found := t.ours(list)
		if len(found) == 0 {
			return changed, nil
		}
		changed = true
		at := found[len(found)-1]
		if at.hook < 0 {
			t.remove(list, at.group)
			continue
		}
		inner := t.nodeOf(t.nodeOf(list.items[at.group].value).member("hooks").value)
		if len(inner.items) == 1 {
			t.remove(list, at.group)
		} else {
			t.remove(inner, at.hook)
		}
	}
}

// unset takes an entry out, every time that it is there.
func (t *text) unset(keys []string, name string) (bool, error) {
	changed := false
	for {
		n, left, err := t.reach(keys)
		if noHolder(err) {
			return changed, nil
		}
		if err != nil || len(left) > 0 || n.array {
			return changed, err
		}
		i := slices.IndexFunc(n.items, func(x item) bool { return x.name == name })
		if i < 0 {
			return changed, nil
		}
		t.remove(n, i)
		changed = true
	}
}

// prune takes out what was made for our entries and holds nothing any more,
// the innermost first.
func (t *text) prune(made [][]string) error {
	for _, keys := range slices.SortedFunc(slices.Values(made), func(a, b []string) int { return len(b) - len(a) }) {
		n, left, err := t.reach(keys)
		if noHolder(err) {
			continue
		}
		if err != nil {
			return err
		}
		if len(left) == 0 && len(n.items) == 0 && len(bytes.TrimSpace(t.data[n.open+1:n.shut])) == 0 {
			if _, err := t.unset(keys[:len(keys)-1], keys[len(keys)-1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// read gives an entry as it stands, or nothing.
func (t *text) read(keys []string, name string) (map[string]any, error) {
	n, left, err := t.reach(keys)
	if err != nil || len(left) > 0 || n.array {
		return nil, err
	}
	m := n.member(name)
	if m == nil {
		return nil, nil
	}
	entry, _ := decoded(m.value).(map[string]any)
	return entry, nil
}
