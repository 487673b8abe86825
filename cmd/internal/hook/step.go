package hook

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// step is what one client wants of one file.
type step struct {
	client string
	scope  Scope
	path   string
	format format
	wants  []want
	hooks  bool   // they stand in it
	text   string // of a whole file
	secret bool   // a file of the user's: nobody else reads it
	run    bool   // a program
}

// want is one thing that should stand in a file.
type want struct {
	keys  []string // what holds it
	name  string   // its own key; empty: it is a hook in the list that keys lead to
	value any
	needs bool // the file needs it beside our entries; it is not ours
}

// put makes what a step wants stand in a text, and reports whether anything
// had to be done.
func (s step) put(t *text) (changed bool, err error) {
	if s.format == marked {
		return t.putAdvice(), nil
	}
	if s.format == whole {
		if string(t.data) == s.text {
			return false, nil
		}
		if !t.blank() && !isOurs(t.data) {
			return false, &FileError{Problem: "is there, and is not ours"}
		}
		t.replace(0, len(t.data), s.text)
		return true, nil
	}
	for _, w := range s.wants {
		did := false
		switch {
		case s.format != jsonc:
			did, err = t.setBlock(place{keys: w.keys, format: s.format}, w.value.(object))
		case w.needs:
			did, err = t.need(w)
		case w.name == "":
			did, err = t.hang(w.keys, w.value)
		default:
			did, err = t.set(w.keys, w.name, w.value)
		}
		if err != nil {
			return changed, err
		}
		changed = changed || did
	}
	return changed, nil
}

// need gives a file a member that it cannot do without, unless it has one.
func (t *text) need(w want) (bool, error) {
	if !t.blank() {
		n, _, err := t.reach(nil)
		if err != nil {
			return false, err
		}
		if n.member(w.name) != nil {
			return false, nil
		}
	}
	return t.set(nil, w.name, w.value)
}

// take takes out of a text all that is ours, and reports whether there was
// anything.
func (s step) take(t *text) (changed bool, err error) {
	if t.blank() {
		return false, nil
	}
	if s.format == marked {
		return t.takeAdvice(), nil
	}
	for _, w := range s.wants {
		did := false
		switch {
		case w.needs:
		case s.format != jsonc:
			did, err = t.cutBlock(place{keys: w.keys, format: s.format})
		case w.name == "":
			did, err = t.unhangAll(w.keys[:1])
		default:
			did, err = t.unset(w.keys, w.name)
		}
		if err != nil {
			return changed, err
		}
		changed = changed || did
	}
	return changed, nil
}

// unhangAll takes our hooks out of the lists of all events: an earlier version
// may have asked for others.
func (t *text) unhangAll(keys []string) (changed bool, err error) {
	n, left, err := t.reach(keys)
	if noHolder(err) {
		return false, nil
	}
	if err != nil || len(left) > 0 || n.array {
		return false, err
	}
	for _, x := range n.items {
		did, err := t.unhang(append(slices.Clone(keys), x.name))
		if err != nil {
			return changed, err
		}
		changed = changed || did
	}
	return changed, nil
}

// holders are what holds the entries of a step.
func (s step) holders() (all [][]string) {
	for _, w := range s.wants {
		for i := len(w.keys); i > 0; i-- {
			all = append(all, w.keys[:i])
		}
	}
	return all
}

// leavesAlone checks that an edit changed nothing but what is ours: both texts
// without it have to say the same.
func (s step) leavesAlone(before, after []byte) error {
	unsafe := &FileError{Problem: "there is no safe place for our entry"}
	if more, err := s.put(&text{data: slices.Clone(after)}); err != nil || more {
		return unsafe // it is not where it can be read
	}
	if s.format != jsonc {
		return nil // blocks were checked when they were put in
	}
	a, errA := s.rest(slices.Clone(before))
	b, errB := s.rest(slices.Clone(after))
	if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
		return unsafe
	}
	return nil
}

func (s step) rest(data []byte) (any, error) {
	t := &text{data: data}
	if t.blank() {
		return map[string]any{}, nil
	}
	if _, err := s.take(t); err != nil {
		return nil, err
	}
	if err := t.prune(s.holders()); err != nil {
		return nil, err
	}
	for _, w := range s.wants {
		if w.needs {
			if _, err := t.unset(nil, w.name); err != nil {
				return nil, err
			}
		}
	}
	v, err := t.parseJSON()
	if err != nil {
		return nil, err
	}
	return decoded(v), nil
}

// empty tells whether a text says nothing beside what the file needs.
func (s step) empty(data []byte) bool {
	t := &text{data: slices.Clone(data)}
	if t.blank() || s.format == whole || s.format == marked {
		return t.blank()
	}
	if s.format != jsonc {
		m, err := meaning(s.format, t.data[t.body():])
		return err == nil && len(m) == 0 && !bytes.Contains(t.data, []byte("#"))
	}
	rest, err := s.rest(t.data)
	m, ok := rest.(map[string]any)
	return err == nil && ok && len(m) == 0 && !bytes.Contains(t.data, []byte("/"))
}

// snippet is what to paste where a file cannot be edited.
func (s step) snippet() string {
	if s.format == whole {
		return s.text
	}
	t := new(text)
	if _, err := s.put(t); err != nil {
		return fmt.Sprint(err) // an empty text can be edited
	}
	return strings.TrimSuffix(string(t.data), "\n")
}

// entry is our server's entry as it stands in the file, or nothing.
func (s step) entry(data []byte) (map[string]any, error) {
	t := &text{data: data}
	if t.blank() || s.format == whole {
		return nil, nil
	}
	for _, w := range s.wants {
		switch {
		case w.name != server:
		case s.format == jsonc:
			return t.read(w.keys, w.name)
		default:
			all, err := meaning(s.format, data[t.body():])
			if err != nil {
				return nil, err
			}
			return blockEntry(all, w.keys[0])
		}
	}
	return nil, nil
}
