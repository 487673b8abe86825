package hook

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	gotoml "github.com/pelletier/go-toml/v2"

	"leanctx/cmd/internal/hook/probe"
)

// theirs is the text of an entry of our name that starts something else than an
// entry of ours, of whatever version: somebody wrote it by hand. It is empty if
// there is none.
func (s step) theirs(data []byte) string {
	t := &text{data: slices.Clone(data)}
	if len(s.wants) == 0 || s.wants[0].name != server || t.blank() {
		return ""
	}
	w := s.wants[0]
	if s.format == jsonc {
		n, left, err := t.reach(w.keys)
		if err != nil || len(left) > 0 {
			return ""
		}
		m := n.member(server)
		if m == nil {
			return ""
		}
		if entry, _ := decoded(m.value).(map[string]any); startsUs(entry, w.value) {
			return ""
		}
		return string(t.data[t.body()+m.value.StartOffset : m.end])
	}
	entry, err := s.entry(t.data)
	if entry == nil || err != nil || startsUs(entry, w.value) {
		return ""
	}
	if cut, err := t.cutBlock(place{keys: w.keys, format: s.format}); err != nil || !cut {
		return ""
	}
	return t.done[0].Took
}

// startsUs tells whether an entry starts what ours does, wherever the program
// was when it was written.
func startsUs(entry map[string]any, ours any) bool {
	start, ok := probe.Of(entry)
	if !ok {
		return false
	}
	var wanted map[string]any
	if json.Unmarshal(compact(ours), &wanted) == nil {
		if w, _ := probe.Of(wanted); w.String() == start.String() {
			return true
		}
	}
	program, ok := strings.CutSuffix(start.String(), " mcp")
	name := program[strings.LastIndexAny(program, `/\`)+1:]
	return ok && strings.TrimSuffix(name, ".exe") == server
}

// unsetAddress takes out of an entry how another server than ours is reached:
// beside a command of ours it would count for some clients.
func (t *text) unsetAddress(entry []string) (changed bool, err error) {
	for _, key := range []string{"type", "transport", "url", "serverUrl", "httpUrl", "uri", "headers"} {
		did, err := t.unset(entry, key)
		if err != nil {
			return changed, err
		}
		changed = changed || did
	}
	return changed, nil
}

// beside is a step without our server's entry.
func (s step) beside() step {
	s.wants = slices.DeleteFunc(slices.Clone(s.wants), func(w want) bool { return w.name == server })
	return s
}

// clear takes out of a text what is ours. An entry that ours replaced comes
// back; one of our name that we did not write stays.
func (s step) clear(t *text, was *change) (changed bool, err error) {
	switch {
	case was != nil && was.Theirs != "":
		if changed, err = s.putBack(t, was.Theirs); err != nil {
			return changed, err
		}
		s = s.beside()
	case was == nil && s.theirs(t.data) != "":
		s = s.beside()
	}
	did, err := s.take(t)
	return changed || did, err
}

// putBack makes an entry that ours replaced stand in its place again. Where
// there is none of ours any more, there is no such place.
func (s step) putBack(t *text, theirs string) (bool, error) {
	w := s.wants[0]
	if s.format == jsonc {
		n, left, err := t.reach(w.keys)
		if noHolder(err) || err == nil && len(left) > 0 {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		m := n.member(server)
		if m == nil {
			return false, nil
		}
		t.replace(t.body()+m.value.StartOffset, m.end, theirs)
		return true, nil
	}
	had := len(t.done)
	if cut, err := t.cutBlock(place{keys: w.keys, format: s.format}); err != nil || !cut {
		return false, err
	}
	at, ours := t.done[had].At, t.done[had].Took
	if s.format == yaml {
		theirs = reindented(theirs, indentOf(ours))
	}
	if at > t.body() && t.data[at-1] != '\n' {
		theirs = t.newline() + theirs
	}
	if at < len(t.data) && !strings.HasSuffix(theirs, "\n") {
		theirs += t.newline()
	}
	t.replace(at, at, theirs)
	if entry, err := s.entry(t.data); err != nil || entry == nil {
		return false, &FileError{Problem: "there is no safe place for the entry that ours replaced; it was:\n" + strings.TrimSpace(theirs)}
	}
	return true, nil
}

func indentOf(block string) string { return block[:len(block)-len(strings.TrimLeft(block, " "))] }

// reindented is a block of lines at another depth.
func reindented(block, in string) string {
	old := indentOf(block)
	var b strings.Builder
	for line := range strings.Lines(block) {
		if rest, ok := strings.CutPrefix(line, old); ok && strings.TrimSpace(line) != "" {
			line = in + rest
		}
		b.WriteString(line)
	}
	return b.String()
}

// choice is the value of what people set in an entry, which it keeps when it is
// written anew.
type choice struct{ value any }

// MarshalJSON writes the value.
func (c choice) MarshalJSON() ([]byte, error) { return json.Marshal(c.value) }

// toml is the value as a line of TOML, with its key.
func (c choice) toml(key string) string {
	var b bytes.Buffer
	e := gotoml.NewEncoder(&b)
	e.SetTablesInline(true)
	if e.Encode(map[string]any{key: c.value}) != nil {
		return "" // it was read from TOML, and can be written
	}
	return b.String()
}

// yamlName is a key as YAML has it.
func yamlName(key string) string {
	if strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return key
	}
	return string(compact(key))
}

// withChoices is an entry with what people set in the one that it replaces: of
// one that starts us all that we do not give, of another what is no matter of
// how a server is reached.
func withChoices(entry object, have map[string]any) object {
	kept, us := slices.Clone(entry), startsUs(have, entry)
	for _, key := range slices.Sorted(maps.Keys(have)) {
		c := choice{have[key]}
		if _, err := json.Marshal(c); err != nil {
			continue // no value of a configuration: not a number
		}
		i := slices.IndexFunc(kept, func(p pair) bool { return p.key == key })
		switch {
		case i >= 0 && ownChoice(key):
			kept[i].value = c
		case i < 0 && (us || ownChoice(key)):
			kept = append(kept, pair{key, c})
		}
	}
	return kept
}
