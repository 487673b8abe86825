package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"leanctx/formats"
)

// jsonFile is a JSON file with comments, as hujson's tree, which keeps every byte. Items are
// added and removed by hujson's Patch. We mend what Patch leaves to its caller: line breaks,
// indentation, comments beside a removed item, and a comma that it would leave at the end.
type jsonFile struct {
	root    hujson.Value
	mark    string // byte order mark
	newline string
	unit    string // one step of indentation
}

const blanks = " \t\r\n"

var jsonError = formats.Regexp(`^hujson: line (\d+), column (\d+): (.*)$`)

// parseJSON reads a file. One with nothing but white space and comments is an empty object.
func parseJSON(data []byte) (*jsonFile, error) {
	f := &jsonFile{newline: newlineOf(data), unit: "  "}
	body, marked := bytes.CutPrefix(data, []byte(bom))
	if marked {
		f.mark = bom
	}
	if isBlank(data) {
		body = slices.Concat(body, []byte("{}"+f.newline))
	}
	root, err := hujson.Parse(slices.Concat(body, []byte("\n"))) // it wants a line break after a comment at the end
	if err != nil {
		_, err = hujson.Parse(body) // its place is that in the file
		e := &FileError{Problem: err.Error()}
		if m := jsonError().FindStringSubmatch(err.Error()); m != nil {
			e.Line, _ = strconv.Atoi(m[1])
			e.Column, _ = strconv.Atoi(m[2])
			e.Problem = "not JSON: " + m[3]
		}
		return nil, e
	}
	root.AfterExtra = root.AfterExtra[:len(root.AfterExtra)-1]
	f.root = root
	if all, _ := items(&f.root); len(all) > 0 {
		if in, ok := indentOf(all[0]); ok && in != "" {
			f.unit = in
		}
	}
	return f, nil
}

func (f *jsonFile) bytes() []byte { return append([]byte(f.mark), f.root.Pack()...) }

// problem is about a value, at its place in the file.
func (f *jsonFile) problem(v *hujson.Value, text string) error {
	before := string(f.root.Pack()[:v.StartOffset])
	return &FileError{Line: 1 + strings.Count(before, "\n"), Column: len(before) - strings.LastIndexByte(before, '\n'), Problem: text}
}

// items are the items of an object or an array, and what stands before its end. Those of an
// array have no name; what stands before each is before its name.
func items(v *hujson.Value) (all []hujson.ObjectMember, end hujson.Extra) {
	switch l := v.Value.(type) {
	case *hujson.Object:
		return l.Members, l.AfterExtra
	case *hujson.Array:
		for _, e := range l.Elements {
			m := hujson.ObjectMember{Name: hujson.Value{BeforeExtra: e.BeforeExtra}, Value: e}
			all = append(all, m)
		}
		return all, l.AfterExtra
	}
	return nil, nil
}

// setItems is the inverse of items.
func setItems(v *hujson.Value, all []hujson.ObjectMember, end hujson.Extra) {
	switch l := v.Value.(type) {
	case *hujson.Object:
		l.Members, l.AfterExtra = all, end
	case *hujson.Array:
		l.Elements, l.AfterExtra = nil, end
		for _, m := range all {
			m.Value.BeforeExtra = m.Name.BeforeExtra
			l.Elements = append(l.Elements, m.Value)
		}
	}
}

// indentOf is the indentation of an item, if the item begins a line.
func indentOf(item hujson.ObjectMember) (string, bool) {
	before := item.Name.BeforeExtra
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]), len(line) < len(before)
}

// find is the index of the last member with a name, which is the one that clients use.
func find(v *hujson.Value, name string) int {
	all, _ := items(v)
	for i := len(all) - 1; i >= 0; i-- {
		if l, ok := all[i].Name.Value.(hujson.Literal); ok && l.String() == name {
			return i
		}
	}
	return -1
}

// at follows a path as far as it leads. missing are the keys that do not exist. in is the
// indentation of the line on which the value begins.
func (f *jsonFile) at(keys []string) (v *hujson.Value, in string, missing []string, err error) {
	v, name := &f.root, "the file"
	for i, key := range keys {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, "", nil, f.problem(v, name+" is not an object")
		}
		at := find(v, key)
		if at < 0 {
			return v, in, keys[i:], nil
		}
		if own, ok := indentOf(o.Members[at]); ok {
			in = own
		}
		v, name = &o.Members[at].Value, strconv.Quote(key)
	}
	return v, in, nil, nil
}

// entry is the decoded value of a path, or nil.
func (f *jsonFile) entry(keys []string) (any, error) {
	v, _, missing, err := f.at(keys)
	if err != nil || len(missing) > 0 {
		return nil, err
	}
	return decoded(v), nil
}

// set puts a value, given as JSON, at a path.
func (f *jsonFile) set(keys []string, value string) error {
	v, in, missing, err := f.at(keys)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		v.Value = f.parsed(value, in)
		return nil
	}
	for _, key := range slices.Backward(missing[1:]) {
		value = "{" + encoded(key) + ":" + value + "}"
	}
	f.insert(v, in, missing[0], value)
	return nil
}

// parsed is a value of ours, over several lines.
func (f *jsonFile) parsed(value, in string) hujson.ValueTrimmed {
	var b bytes.Buffer
	err := json.Indent(&b, []byte(value), in, f.unit)
	parsed, e := hujson.Parse(bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(f.newline)))
	if err != nil || e != nil {
		panic("hook: no JSON: " + value)
	}
	return parsed.Value
}

// insert adds an item at the end of an object or an array, on a line of its own. Comments
// that are there stay before it.
func (f *jsonFile) insert(to *hujson.Value, in, name, value string) {
	all, end := items(to)
	comments := bytes.TrimRight(end, blanks)
	if end = end[len(comments):]; !bytes.Contains(end, []byte("\n")) {
		end = hujson.Extra(f.newline + in)
	}
	inner := in + f.unit
	item := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{BeforeExtra: hujson.Extra(" ")}}
	if n := len(all); n > 0 {
		if own, ok := indentOf(all[0]); ok {
			inner = own
		}
		if all[n-1].Value.AfterExtra != nil { // the file has a trailing comma
			item.Value.AfterExtra = hujson.Extra{}
		}
	}
	item.Name.BeforeExtra = slices.Concat(comments, []byte(f.newline+inner))
	item.Value.Value = f.parsed(value, inner)
	setItems(to, append(all, item), end)
}

// remove removes item i. Comments before it stay.
func (f *jsonFile) remove(from *hujson.Value, i int) {
	all, end := items(from)
	trailing := all[len(all)-1].Value.AfterExtra != nil
	comments := bytes.TrimRight(all[i].Name.BeforeExtra, blanks)
	all = slices.Delete(all, i, i+1)
	after := &end
	if i < len(all) {
		after = &all[i].Name.BeforeExtra
	}
	if bytes.Contains(comments, []byte("//")) { // such a comment ends with its line
		comments = slices.Concat(comments, []byte(f.newline))
	}
	*after = slices.Concat(comments, *after)
	if n := len(all); n > 0 && trailing {
		all[n-1].Value.AfterExtra = slices.Concat(hujson.Extra{}, all[n-1].Value.AfterExtra)
	} else if n > 0 {
		end = slices.Concat(all[n-1].Value.AfterExtra, end)
		all[n-1].Value.AfterExtra = nil
	} else if isBlank(end) {
		end = nil
	}
	setItems(from, all, end)
}

// unset removes what is at a path, and the objects around it that are empty then and have no
// comment.
func (f *jsonFile) unset(keys []string) error {
	for n := len(keys) - 1; n >= 0; n-- {
		holder, _, missing, err := f.at(keys[:n])
		if err != nil || len(missing) > 0 {
			return err
		}
		for i := find(holder, keys[n]); i >= 0; i = find(holder, keys[n]) {
			f.remove(holder, i)
		}
		if all, end := items(holder); len(all) > 0 || !isBlank(end) {
			break
		}
	}
	return nil
}

// isOwnCommand reports whether a value is the command of a hook of ours.
func isOwnCommand(v *hujson.Value) bool {
	l, ok := v.Value.(hujson.Literal)
	return ok && l.Kind() == '"' && ownCommand().MatchString(l.String())
}

// addHook adds a hook to the list of an event. If ours is there, it only corrects the
// command, since the user may have chosen a longer timeout.
func (f *jsonFile) addHook(event, entry, line string) error {
	list, in, missing, err := f.at([]string{"hooks", event})
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return f.set([]string{"hooks", event}, "["+entry+"]")
	}
	if _, ok := list.Value.(*hujson.Array); !ok {
		return f.problem(list, strconv.Quote(event)+" is not a list")
	}
	found := false
	for v := range list.All() {
		if isOwnCommand(v) {
			v.Value, found = hujson.String(line), true
		}
	}
	if !found {
		f.insert(list, in, "", entry)
	}
	return nil
}

// removeHooks removes our hooks from the lists of all events, since an earlier version may
// have used others.
func (f *jsonFile) removeHooks() error {
	hooks, _, missing, err := f.at([]string{"hooks"})
	if err != nil || len(missing) > 0 || !f.removeOwn(hooks) {
		return nil // after an error there are no hooks
	}
	return f.unset([]string{"hooks"})
}

// removeOwn removes our hooks below a value, with the groups, the lists and the events that
// have no other hook. It reports whether the value is one of those.
func (f *jsonFile) removeOwn(v *hujson.Value) (ours bool) {
	all, _ := items(v)
	for i := len(all) - 1; i >= 0; i-- {
		inner := &all[i].Value
		if isOwnCommand(inner) {
			return true
		}
		if f.removeOwn(inner) {
			name, _ := all[i].Name.Value.(hujson.Literal)
			f.remove(v, i)
			left, end := items(v)
			ours = name.String() == "hooks" || len(left) == 0 && isBlank(end)
		}
	}
	return ours
}

// decoded is the decoded value, or nil.
func decoded(v *hujson.Value) (x any) {
	c := v.Clone()
	c.Standardize()
	if json.Unmarshal(c.Pack(), &x) != nil {
		return nil
	}
	return x
}
