package hook

import (
	"errors"
	"fmt"
	"strings"

	goyaml "github.com/goccy/go-yaml"
	gotoml "github.com/pelletier/go-toml/v2"
)

// meaning is what a TOML or YAML text says.
func meaning(f format, data []byte) (map[string]any, error) {
	var m map[string]any
	if f == toml {
		err := gotoml.Unmarshal(data, &m)
		if e, ok := errors.AsType[*gotoml.DecodeError](err); ok {
			line, column := e.Position()
			return nil, &FileError{Line: line, Column: column, Problem: "not TOML: " + strings.TrimPrefix(e.Error(), "toml: ")}
		}
		return m, err
	}
	err := goyaml.Unmarshal(lineFeeds(data), &m)
	if e, ok := errors.AsType[goyaml.Error](err); ok {
		x := &FileError{Problem: "not YAML: " + e.GetMessage()}
		if tok := e.GetToken(); tok != nil && tok.Position != nil {
			x.Line, x.Column = tok.Position.Line, tok.Position.Column
		}
		return nil, x
	}
	return m, err
}

// blockEntry is our entry in a text of blocks, or nothing.
func blockEntry(all map[string]any, container string) (map[string]any, error) {
	at, ok := all[container]
	if !ok || at == nil {
		return nil, nil
	}
	m, ok := at.(map[string]any)
	if !ok {
		return nil, &FileError{Problem: fmt.Sprintf("%q is no table", container)}
	}
	entry, _ := m[server].(map[string]any)
	return entry, nil
}

// setBlock makes the block of our entry stand in a text, and reports whether
// anything had to be done.
func (t *text) setBlock(at place, entry object) (bool, error) {
	container := at.keys[0]
	before, err := meaning(at.format, t.data[t.body():])
	if err != nil {
		return false, err
	}
	have, err := blockEntry(before, container)
	if err != nil {
		return false, err
	}
	if have != nil {
		if agrees(have, entry) {
			return false, nil
		}
		if _, err := t.cutBlock(at); err != nil {
			return false, err
		}
		entry = withChoices(entry, have)
		if before, err = meaning(at.format, t.data[t.body():]); err != nil {
			return false, err
		}
	}
	if at.format == toml {
		t.addTable(container, entry)
	} else if err := t.addMapping(container, entry); err != nil {
		return false, err
	}
	after, err := meaning(at.format, t.data[t.body():])
	if err != nil || !differsByOurs(before, after, container) {
		return false, &FileError{Problem: fmt.Sprintf("there is no safe place for an entry of %q", container)}
	}
	return true, nil
}

// agrees tells whether an entry says what ours does. What people choose for
// themselves does not count.
func agrees(have map[string]any, entry object) bool {
	for _, p := range entry {
		v, ok := have[p.key]
		if !ok && ownChoice(p.key) || ok && ownChoice(p.key) {
			continue
		}
		if !ok || fmt.Sprint(v) != fmt.Sprint(p.value) {
			return false
		}
	}
	return true
}

// differsByOurs tells whether all that after says beside our entry is what
// before said. The printed form orders maps and makes no numbers unequal to
// themselves.
func differsByOurs(before, after map[string]any, container string) bool {
	m, ok := after[container].(map[string]any)
	if !ok || m[server] == nil {
		return false
	}
	delete(m, server)
	if len(m) == 0 && isEmpty(before[container]) {
		delete(after, container)
		before = copyWithout(before, container)
	}
	return fmt.Sprintf("%#v", after) == fmt.Sprintf("%#v", before) || fmt.Sprint(after) == fmt.Sprint(before)
}

func isEmpty(v any) bool {
	m, ok := v.(map[string]any)
	return v == nil || ok && len(m) == 0
}

func copyWithout(m map[string]any, key string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// cutBlock takes the block of our entry out, and reports whether it was there.
func (t *text) cutBlock(at place) (bool, error) {
	before, err := meaning(at.format, t.data[t.body():])
	if err != nil {
		return false, err
	}
	if have, err := blockEntry(before, at.keys[0]); have == nil || err != nil {
		return false, err
	}
	refused := &FileError{Problem: fmt.Sprintf("the entry %s.%s is not written as a block: take it out by hand", at.keys[0], server)}
	var from, to int
	if at.format == toml {
		from, to, err = t.tableLines(at.keys[0])
	} else {
		from, to, err = t.mappingLines(at.keys[0])
	}
	if err != nil {
		return false, err
	}
	if from == to {
		return false, refused
	}
	t.replace(from, to, "")
	after, err := meaning(at.format, t.data[t.body():])
	if err != nil || !differsByOurs(after, before, at.keys[0]) {
		return false, refused
	}
	return true, nil
}
