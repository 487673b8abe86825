package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
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
	newline string
	unit    string // one step of indentation
}

const blanks = " \t\r\n"

var jsonError = formats.Regexp(`^hujson: line (\d+), column (\d+): (.*)$`)

// parseJSON reads a file. One with nothing but white space and comments is an empty object.
func parseJSON(data []byte) (*jsonFile, error) {
	if depth(data) > maxDepth {
		return nil, &FileError{Problem: fmt.Sprintf("not JSON: nested more than %d levels deep", maxDepth)}
	}
	f := &jsonFile{newline: newlineOf(data)}
	root, err := hujson.Parse(slices.Concat(data, []byte("\n"))) // it wants a line break after a comment at the end
	if err == nil {
		root.AfterExtra = root.AfterExtra[:len(root.AfterExtra)-1]
	} else if root, err = hujson.Parse(slices.Concat(data, []byte(f.newline+"{}"+f.newline))); err == nil {
		if isBlank(data) {
			root.BeforeExtra = nil
		}
	} else {
		_, err = hujson.Parse(data) // its place is that in the file
		e := &FileError{Problem: err.Error()}
		if m := jsonError().FindStringSubmatch(err.Error()); m != nil {
			e.Line, _ = strconv.Atoi(m[1])
			e.Column, _ = strconv.Atoi(m[2])
			e.Problem = "not JSON: " + m[3]
		}
		return nil, e
	}
	f.root = root
	if all := items(&f.root); len(all) > 1 {
		f.unit = lastIndent(data[:all[0].value.StartOffset])
	}
	f.unit = cmp.Or(f.unit, "  ")
	return f, nil
}

// maxDepth is the deepest nesting of a file. hujson has no limit, and its recursion would end the
// program.
const maxDepth = 10_000

// depth is how deep a file is nested. A quotation mark in a comment may make it wrong.
func depth(data []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[', c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']', c == '}':
			depth--
		}
	}
	return deepest
}

func (f *jsonFile) bytes() []byte { return f.root.Pack() }

// fold keeps the values of other keys unparsed, as they are in the file: a client may keep
// megabytes there.
func (f *jsonFile) fold(data []byte, kept ...string) {
	if o, ok := f.root.Value.(*hujson.Object); ok {
		for i := range o.Members {
			if v := &o.Members[i].Value; !slices.Contains(kept, memberName(&o.Members[i])) {
				v.Value = hujson.Literal(data[v.StartOffset:v.EndOffset])
			}
		}
	}
}

// memberName is the key of a member.
func memberName(m *hujson.ObjectMember) string {
	name, _ := m.Name.Value.(hujson.Literal)
	if bytes.IndexByte(name, '\\') < 0 { // it has no escapes
		return string(bytes.Trim(name, `"`))
	}
	return name.String()
}

// before is the file up to a value.
func (f *jsonFile) before(v *hujson.Value) []byte {
	f.root.UpdateOffsets()
	return f.root.Pack()[:v.StartOffset]
}

// problem is about a value, at its place in the file.
func (f *jsonFile) problem(v *hujson.Value, text string) error {
	before := f.before(v)
	return &FileError{Line: 1 + bytes.Count(before, []byte("\n")), Column: len(before) - bytes.LastIndexByte(before, '\n'), Problem: text}
}

// indent is the indentation of the line on which a value begins.
func (f *jsonFile) indent(v *hujson.Value) string {
	return lastIndent(f.before(v))
}

// lastIndent is the indentation of the last line of a text.
func lastIndent(text []byte) string {
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// item is an item of an object or a list.
type item struct {
	gap   *hujson.Extra // white space and comments before it
	value *hujson.Value // nil: the end of the object or the list
}

// items are the items of an object or a list, and its end.
func items(v *hujson.Value) (all []item) {
	switch x := v.Value.(type) {
	case *hujson.Object:
		for i := range x.Members {
			all = append(all, item{&x.Members[i].Name.BeforeExtra, &x.Members[i].Value})
		}
		return append(all, item{gap: &x.AfterExtra})
	case *hujson.Array:
		for i := range x.Elements {
			all = append(all, item{&x.Elements[i].BeforeExtra, &x.Elements[i]})
		}
		return append(all, item{gap: &x.AfterExtra})
	}
	return nil
}

// nameAt is the key of item i in an object, and in a list its index.
func nameAt(v *hujson.Value, i int) string {
	if o, ok := v.Value.(*hujson.Object); ok {
		return memberName(&o.Members[i])
	}
	return strconv.Itoa(i)
}

// find is the last member with a name, which is the one that clients use. Without one i is -1.
func find(v *hujson.Value, name string) (i int, value *hujson.Value) {
	if o, ok := v.Value.(*hujson.Object); ok {
		for i := range slices.Backward(o.Members) {
			if memberName(&o.Members[i]) == name {
				return i, &o.Members[i].Value
			}
		}
	}
	return -1, nil
}

// at follows a path as far as it leads. missing are the keys that do not exist.
func (f *jsonFile) at(keys []string) (v *hujson.Value, missing []string, err error) {
	v, name := &f.root, "the file"
	for n, key := range keys {
		if v.Value.Kind() != '{' {
			return nil, nil, f.problem(v, name+" is not an object")
		}
		_, next := find(v, key)
		if next == nil {
			return v, keys[n:], nil
		}
		v, name = next, strconv.Quote(key)
	}
	return v, nil, nil
}

// entry is the decoded value of a path, or nil.
func (f *jsonFile) entry(keys []string) (x any) {
	v, missing, err := f.at(keys)
	if err != nil || len(missing) > 0 {
		return nil
	}
	one := v.Clone()
	one.Standardize()
	_ = json.Unmarshal(one.Pack(), &x) // nil if a number is out of range
	return x
}

// set puts a value, given as JSON, at a path.
func (f *jsonFile) set(keys []string, value string) error {
	v, missing, err := f.at(keys)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		v.Value = f.parsed(value, f.indent(v)).Value
		return nil
	}
	for _, key := range slices.Backward(missing[1:]) {
		value = "{" + encoded(key) + ":" + value + "}"
	}
	f.add(v, missing[0], value)
	return nil
}

// parsed is a value of ours, over several lines.
func (f *jsonFile) parsed(value, indent string) hujson.Value {
	var b bytes.Buffer
	err := json.Indent(&b, []byte(value), indent, f.unit)
	parsed, e := hujson.Parse(bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(f.newline)))
	if err != nil || e != nil {
		panic("hook: no JSON: " + value)
	}
	return parsed
}

// patch adds or removes an item of an object or a list.
func patch(v *hujson.Value, op, name, value string) {
	pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	if err := v.Patch([]byte(`[{"op":"` + op + `","path":` + encoded(pointer) + `,"value":` + value + `}]`)); err != nil {
		panic("hook: " + err.Error()) // we have just seen the object or the list
	}
}

// add adds an item at the end of an object or a list, on a separate line. It gets a trailing
// comma if the item before had one. Comments at the end stay before it.
func (f *jsonFile) add(to *hujson.Value, name, value string) {
	outer, all := f.indent(to), items(to)
	n, inner, comma := len(all)-1, outer+f.unit, false
	gap := slices.Clone(*all[n].gap)
	if n > 0 {
		comma = all[n-1].value.AfterExtra != nil
		if in := f.indent(all[0].value); len(in) > len(outer) {
			inner = in
		}
	}
	patch(to, "add", name, string(f.parsed(value, inner).Pack()))
	all = items(to)
	comments := bytes.TrimRight(gap, blanks)
	*all[n].gap, *all[n+1].gap = slices.Concat(comments, []byte(f.newline+inner)), gap[len(comments):]
	if !bytes.Contains(gap[len(comments):], []byte("\n")) {
		*all[n+1].gap = hujson.Extra(f.newline + outer)
	}
	if to.Value.Kind() == '{' {
		all[n].value.BeforeExtra = hujson.Extra(" ")
	}
	if comma {
		all[n].value.AfterExtra = hujson.Extra{}
	}
}

// remove removes item i, and reports whether nothing is left. Comments around it stay.
func (f *jsonFile) remove(from *hujson.Value, i int) (empty bool) {
	all := items(from)
	comments := bytes.TrimRight(*all[i].gap, blanks)
	if bytes.Contains(comments, []byte("//")) { // such a comment ends with its line
		comments = slices.Concat(comments, []byte(f.newline))
	}
	gap := slices.Concat(comments, *all[i+1].gap)
	*all[i].gap, *all[i+1].gap = nil, nil // Patch would remove comments that it takes for the item's
	name, comma := nameAt(from, i), all[i].value.AfterExtra != nil
	if o, ok := from.Value.(*hujson.Object); ok {
		for _, other := find(from, name); other != nil; _, other = find(from, name) {
			name += "'" // of several with one name, Patch would take the first
		}
		o.Members[i].Name.Value = hujson.String(name)
	}
	patch(from, "remove", name, "null")
	all = items(from)
	switch {
	case i < len(all)-1:
	case i > 0 && comma: // the item before keeps the comma at the end
		last := all[i-1].value
		last.AfterExtra = append(hujson.Extra{}, last.AfterExtra...)
	case i > 0: // hujson writes a comma after a last item that has anything between it and its comma
		last := all[i-1].value
		gap, last.AfterExtra = slices.Concat(last.AfterExtra, gap), nil
	case isBlank(gap):
		gap, empty = nil, true
	}
	*all[i].gap = gap
	return empty
}

// unset removes what is at a path below a value, and what is empty around it then. It reports
// whether nothing is left of the value.
func (f *jsonFile) unset(v *hujson.Value, keys []string) (empty bool) {
	for i, value := find(v, keys[0]); i >= 0; i, value = find(v, keys[0]) {
		if len(keys) > 1 && !f.unset(value, keys[1:]) {
			break
		}
		empty = f.remove(v, i)
	}
	return empty
}

// isOwnCommand reports whether a value is the command of a hook of ours.
func isOwnCommand(v *hujson.Value) bool {
	l, ok := v.Value.(hujson.Literal)
	return ok && l.Kind() == '"' && ownCommand().MatchString(l.String())
}

// hooksOf is the list of an event. It is missing if a key on the path to it does not exist.
func (f *jsonFile) hooksOf(event string) (list *hujson.Value, missing bool, err error) {
	list, keys, err := f.at([]string{"hooks", event})
	missing = len(keys) > 0
	if err == nil && !missing && list.Value.Kind() != '[' {
		err = f.problem(list, strconv.Quote(event)+" is not a list")
	}
	return list, missing, err
}

// addHook adds a hook to the list of an event. If ours is there, it only corrects the
// command, since the user may have chosen a longer timeout.
func (f *jsonFile) addHook(h ownHook) error {
	list, missing, err := f.hooksOf(h.event)
	switch {
	case err != nil:
		return err
	case missing:
		return f.set([]string{"hooks", h.event}, "["+h.entry+"]")
	}
	if !h.correct(list) {
		f.add(list, "-", h.entry)
	}
	return nil
}

// hasExactly tells whether our hooks in a file are as we write them, with nothing added: in a file
// of a repository others may have put a variable or a directory beside our command.
func (f *jsonFile) hasExactly(hooks []ownHook) bool {
	wanted, found := 0, 0
	for _, h := range hooks {
		entry := f.parsed(h.entry, "")
		wanted += ownCommands(&entry)
		list, missing, err := f.hooksOf(h.event)
		if err != nil || missing {
			return false
		}
		for _, x := range items(list) {
			if x.value != nil && sameJSON(x.value, &entry) {
				found += ownCommands(x.value)
				break
			}
		}
	}
	_, all := find(&f.root, "hooks")
	return found == wanted && all != nil && ownCommands(all) == wanted
}

// sameJSON tells whether two values say the same, whatever the white space and the order of members.
func sameJSON(a, b *hujson.Value) bool {
	x, y := a.Clone(), b.Clone()
	x.Standardize()
	y.Standardize()
	var p, q any
	return json.Unmarshal(x.Pack(), &p) == nil && json.Unmarshal(y.Pack(), &q) == nil && reflect.DeepEqual(p, q)
}

// ownCommands counts the commands of hooks of ours below a value.
func ownCommands(v *hujson.Value) (n int) {
	if isOwnCommand(v) {
		return 1
	}
	for _, x := range items(v) {
		if x.value != nil {
			n += ownCommands(x.value)
		}
	}
	return n
}

// correct corrects the commands of our hooks below a value, and reports whether there are any.
func (h ownHook) correct(v *hujson.Value) (found bool) {
	for i, x := range items(v) {
		switch {
		case x.value == nil: // the end
		case isOwnCommand(x.value):
			line := h.line
			if nameAt(v, i) == "powershell" {
				line = h.powerShell
			}
			x.value.Value, found = hujson.Literal(encoded(line)), true
		case h.correct(x.value):
			found = true
		}
	}
	return found
}

// removeHooks removes our hooks from the lists of all events, since an earlier version may have
// used others.
func (f *jsonFile) removeHooks() {
	if i, all := find(&f.root, "hooks"); i >= 0 && f.removeOwn(all) {
		f.remove(&f.root, i)
	}
}

// removeOwn removes our hooks below a value, with the groups, the lists and the events that
// have no other hook. It reports whether the value is one of those.
func (f *jsonFile) removeOwn(v *hujson.Value) (ours bool) {
	for i, x := range slices.Backward(items(v)) {
		switch {
		case x.value == nil: // the end
		case isOwnCommand(x.value):
			return true
		case f.removeOwn(x.value):
			last := nameAt(v, i) == "hooks"
			ours = f.remove(v, i) || last
		}
	}
	return ours
}
