package hook

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

// node is a JSON object or array, and where it stands.
type node struct {
	open, shut int // the brackets
	items      []item
	comma      bool // one after the last item
	array      bool
}

// item is a member of an object or an element of an array. The offsets are
// those of the whole text.
type item struct {
	name       string
	start, end int // from the name, or value, to the end of the value
	after      int // where the comma stands, or would
	value      *hujson.Value
}

var jsonPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^hujson: line (\d+), column (\d+): (.*)$`) })

// parseJSON reads a text with its comments. What is wrong has its place.
func (t *text) parseJSON() (*hujson.Value, error) {
	v, err := hujson.Parse(t.data[t.body():])
	if err == nil {
		return &v, nil
	}
	e := &FileError{Problem: err.Error()}
	if m := jsonPlace().FindStringSubmatch(err.Error()); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Column, _ = strconv.Atoi(m[2])
		e.Problem = "not JSON: " + m[3]
	}
	return nil, e
}

// nodeOf is an object or array of the text, or nothing.
func (t *text) nodeOf(v *hujson.Value) *node {
	base := t.body()
	n := &node{open: base + v.StartOffset, shut: base + v.EndOffset - 1}
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			m := &c.Members[i]
			name := m.Name.Value.(hujson.Literal).String()
			n.items = append(n.items, item{name, base + m.Name.StartOffset, base + m.Value.EndOffset, base + m.Value.EndOffset + len(m.Value.AfterExtra), &m.Value})
		}
		n.comma = len(c.Members) > 0 && c.Members[len(c.Members)-1].Value.AfterExtra != nil
	case *hujson.Array:
		n.array = true
		for i := range c.Elements {
			e := &c.Elements[i]
			n.items = append(n.items, item{"", base + e.StartOffset, base + e.EndOffset, base + e.EndOffset + len(e.AfterExtra), e})
		}
		n.comma = len(c.Elements) > 0 && c.Elements[len(c.Elements)-1].AfterExtra != nil
	default:
		return nil
	}
	return n
}

// member is the last one of a name, the one that counts.
func (n *node) member(name string) *item {
	for i := len(n.items) - 1; i >= 0 && !n.array; i-- {
		if n.items[i].name == name {
			return &n.items[i]
		}
	}
	return nil
}

// reach goes down the keys as far as they are there. left are those that are
// not.
func (t *text) reach(keys []string) (n *node, left []string, err error) {
	root, err := t.parseJSON()
	if err != nil {
		return nil, nil, err
	}
	v := root
	for i := 0; ; i++ {
		if n = t.nodeOf(v); n == nil || n.array && (i == 0 || i < len(keys)) {
			what := "the file"
			if i > 0 {
				what = strconv.Quote(keys[i-1])
			}
			e := &FileError{Problem: what + " is no object", shape: true}
			e.Line, e.Column = position(t.data, t.body()+v.StartOffset)
			return nil, nil, e
		}
		if i == len(keys) {
			return n, nil, nil
		}
		m := n.member(keys[i])
		if m == nil {
			return n, keys[i:], nil
		}
		v = m.value
	}
}

// unit is one step of the text's indentation.
func (t *text) unit(root *node) string {
	if len(root.items) > 0 {
		if in := t.indent(root.items[0].start); in != "" && t.lineStart(root.items[0].start) > root.open {
			return in
		}
	}
	return "  "
}

// insert puts an item at the end of n, in the manner of the text.
func (t *text) insert(n *node, key string, value []byte) error {
	root, _, err := t.reach(nil)
	if err != nil {
		return err
	}
	unit, nl := t.unit(root), t.newline()
	base := t.indent(n.open)
	inline := len(n.items) > 0 && t.lineStart(n.items[0].start) <= n.open
	in := base + unit
	if !inline && len(n.items) > 0 {
		in = t.indent(n.items[0].start)
	}
	var b bytes.Buffer
	if key != "" {
		b.Write(compact(key))
		b.WriteString(": ")
	}
	if inline {
		b.Write(value)
	} else if err := json.Indent(&b, value, in, unit); err != nil {
		return err
	}
	put := strings.ReplaceAll(b.String(), "\n", nl)
	sep := nl + in
	if inline {
		sep = " "
	}
	t.place(n, sep+put, nl+base)
	return nil
}

// place puts a text, which begins with white space, behind the last item of n
// and the comments that follow it.
func (t *text) place(n *node, put, shut string) {
	from := n.open + 1
	if len(n.items) > 0 {
		last := n.items[len(n.items)-1]
		from = last.end
		if n.comma {
			from, put = last.after+1, put+","
		} else {
			t.replace(last.end, last.end, ",")
			from++
			n.shut++
		}
	}
	rest := t.data[from:n.shut]
	at := from + len(bytes.TrimRight(rest, " \t\r\n"))
	if strings.HasPrefix(put, " ") && bytes.Contains(t.data[from:at], []byte("//")) {
		put = shut + put // on a line of its own: the one before ends in a comment
	}
	if len(n.items) == 0 && !bytes.Contains(t.data[at:n.shut], []byte("\n")) {
		put += shut
	}
	t.replace(at, at, put)
}

// remove takes item i of n out, with the comma that it no longer needs.
// Comments stay.
func (t *text) remove(n *node, i int) {
	x := n.items[i]
	start := len(bytes.TrimRight(t.data[:x.start], " \t\r\n"))
	if rest := t.data[x.end:t.lineEnd(x.end)]; strings.Contains(lastLine(t.data[:start]), "//") && len(bytes.Trim(rest, ", \t\r\n")) > 0 {
		start = x.start // the line feed ends a comment, and must not let it swallow what follows
	}
	last := i == len(n.items)-1
	if !last || n.comma {
		t.replace(x.after, x.after+1, "")
	}
	t.replace(start, x.end, "")
	if last && !n.comma && i > 0 {
		before := n.items[i-1].after
		t.replace(before, before+1, "")
	}
	if len(n.items) > 1 {
		return
	}
	end := n.shut - (x.end - start)
	if n.comma {
		end--
	}
	if len(bytes.TrimSpace(t.data[n.open+1:end])) == 0 {
		t.replace(n.open+1, end, "")
	}
}

func lastLine(b []byte) string { return string(b[bytes.LastIndexByte(b, '\n')+1:]) }

// set makes a value stand under keys and a name, and reports whether anything
// had to be done. Of an entry that is there already only the members that we
// give are touched.
func (t *text) set(keys []string, name string, value any) (bool, error) {
	if t.blank() {
		t.replace(len(t.data), len(t.data), "{}"+t.newline())
	}
	n, left, err := t.reach(keys)
	if err != nil {
		return false, err
	}
	if len(left) > 0 {
		return true, t.build(n, keys, append(slices.Clone(left), name), value)
	}
	if n.array {
		e := &FileError{Problem: strconv.Quote(keys[len(keys)-1]) + " is no object"}
		e.Line, e.Column = position(t.data, n.open)
		return false, e
	}
	m := n.member(name)
	if m == nil {
		return true, t.insert(n, name, compact(value))
	}
	given, ok := value.(object)
	if sub := t.nodeOf(m.value); ok && sub != nil && !sub.array {
		at, other := append(slices.Clone(keys), name), false
		if entry, _ := decoded(m.value).(map[string]any); !startsUs(entry, value) {
			if other, err = t.unsetAddress(at); err != nil {
				return other, err
			}
		}
		did, err := t.mend(at, given)
		return other || did, err
	}
	if same(m.value, value) {
		return false, nil
	}
	t.replace(m.start+len(compact(name)), m.end, ": "+string(compact(value)))
	return true, nil
}

// mend gives the members of an entry that is there the values they should have.
func (t *text) mend(keys []string, given object) (changed bool, err error) {
	for _, p := range given {
		n, _, err := t.reach(keys)
		if err != nil {
			return changed, err
		}
		m := n.member(p.key)
		switch sub, isObject := p.value.(object); {
		case m == nil && isObject && len(sub) == 0, m != nil && same(m.value, p.value), m != nil && ownChoice(p.key):
			continue
		case m == nil:
			err = t.insert(n, p.key, compact(p.value))
		default:
			t.replace(t.body()+m.value.StartOffset, m.end, string(compact(p.value)))
		}
		if changed = true; err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// ownChoice tells which members of an entry people set for themselves.
func ownChoice(key string) bool {
	return slices.Contains([]string{"enabled", "disabled", "timeout", "tools", "env", "envs", "environment"}, key)
}

// build makes what is missing on the way and the value at its end.
func (t *text) build(n *node, keys, left []string, value any) error {
	have := len(keys) + 1 - len(left)
	for i := range left[:len(left)-1] {
		t.made = append(t.made, slices.Clone(keys[:have+i+1]))
	}
	for i := len(left) - 1; i > 0; i-- {
		value = object{{left[i], value}}
	}
	return t.insert(n, left[0], compact(value))
}
