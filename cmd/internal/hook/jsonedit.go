package hook

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

// jsonFile is a JSON file with comments, as hujson's tree, which keeps every byte. We edit
// the tree. We rejected hujson's Patch: of several members with one name it takes the first,
// while clients take the last. It also drops comments beside a removed member, and does not
// indent new ones.
type jsonFile struct {
	mark    string // byte order mark
	root    hujson.Value
	newline string
	unit    string // one step of indentation
}

const blanks = " \t\r\n"

var jsonError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^hujson: line (\d+), column (\d+): (.*)$`) })

// parseJSON reads a file. An empty one is an empty object.
func parseJSON(data []byte) (*jsonFile, error) {
	f := &jsonFile{newline: newlineOf(data), unit: "  "}
	body, marked := bytes.CutPrefix(data, []byte(bom))
	if marked {
		f.mark = bom
	}
	if isBlank(data) {
		body = slices.Concat(body, []byte("{}"+f.newline))
	}
	root, err := hujson.Parse(body)
	if err != nil {
		e := &FileError{Problem: err.Error()}
		if m := jsonError().FindStringSubmatch(err.Error()); m != nil {
			e.Line, _ = strconv.Atoi(m[1])
			e.Column, _ = strconv.Atoi(m[2])
			e.Problem = "not JSON: " + m[3]
		}
		return nil, e
	}
	f.root = root
	if l := listOf(&f.root, ""); l.len() > 0 {
		if in, ok := indentOf(*l.extraBefore(0)); ok && in != "" {
			f.unit = in
		}
	}
	return f, nil
}

func (f *jsonFile) bytes() []byte { return append([]byte(f.mark), f.root.Pack()...) }

// position is the line and column of an offset.
func (f *jsonFile) position(at int) (line, column int) {
	before := string(f.root.Pack()[:at])
	return 1 + strings.Count(before, "\n"), len(before) - strings.LastIndexByte(before, '\n')
}

// list is an object or an array of the tree.
type list struct {
	base   string // indentation of the line on which it opens
	object *hujson.Object
	array  *hujson.Array
}

func listOf(v *hujson.Value, base string) list {
	o, _ := v.Value.(*hujson.Object)
	a, _ := v.Value.(*hujson.Array)
	return list{base, o, a}
}

func (l list) len() int {
	switch {
	case l.object != nil:
		return len(l.object.Members)
	case l.array != nil:
		return len(l.array.Elements)
	}
	return 0
}

func (l list) value(i int) *hujson.Value {
	if l.object != nil {
		return &l.object.Members[i].Value
	}
	return &l.array.Elements[i]
}

// extraBefore is the space and comments between item i and the item, or bracket, before it.
func (l list) extraBefore(i int) *hujson.Extra {
	switch {
	case i == l.len() && l.object != nil:
		return &l.object.AfterExtra
	case i == l.len():
		return &l.array.AfterExtra
	case l.object != nil:
		return &l.object.Members[i].Name.BeforeExtra
	}
	return &l.array.Elements[i].BeforeExtra
}

// indentOf is the indentation of an item, if the item begins a line.
func indentOf(before hujson.Extra) (string, bool) {
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]), len(line) < len(before)
}

// item is the list in item i.
func (l list) item(i int) list {
	base := l.base
	if in, ok := indentOf(*l.extraBefore(i)); ok {
		base = in
	}
	return listOf(l.value(i), base)
}

// find is the index of the last member with a name. Clients use the last one.
func (l list) find(name string) int {
	for i := l.len() - 1; i >= 0 && l.object != nil; i-- {
		if l.object.Members[i].Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

// member is the value of a name, or nil.
func (l list) member(name string) *hujson.Value {
	if i := l.find(name); i >= 0 {
		return l.value(i)
	}
	return nil
}

// lookup follows the keys as far as there are objects. missing are the keys that do not
// exist.
func (f *jsonFile) lookup(keys []string) (l list, missing []string, err error) {
	l, v, what := listOf(&f.root, ""), &f.root, "the file"
	for i := 0; ; i++ {
		if l.object == nil {
			e := &FileError{Problem: what + " is not an object"}
			e.Line, e.Column = f.position(v.StartOffset)
			return l, nil, e
		}
		if i == len(keys) {
			return l, nil, nil
		}
		at := l.find(keys[i])
		if at < 0 {
			return l, keys[i:], nil
		}
		l, v, what = l.item(at), l.value(at), strconv.Quote(keys[i])
	}
}

// insert adds an item at the end of a list, indented like the file. An item of an array has
// no name.
func (f *jsonFile) insert(l list, name string, value any) error {
	n, end := l.len(), l.extraBefore(l.len())
	comments := bytes.TrimRight(*end, blanks)
	shut := (*end)[len(comments):]
	in, lines, data := l.base+f.unit, true, compact(value)
	if n > 0 {
		if first, ok := indentOf(*l.extraBefore(0)); ok {
			in = first
		} else {
			lines = false
		}
	}
	lead := f.newline + in
	if lines {
		data = f.indented(data, in)
	} else if lead = " "; bytes.Contains(comments, []byte("//")) {
		lead = f.newline + l.base + " " // after a line comment a new line must begin
	}
	parsed, err := hujson.Parse(data)
	if err != nil {
		return err
	}
	if n == 0 && !bytes.Contains(shut, []byte("\n")) {
		shut = hujson.Extra(f.newline + l.base)
	}
	*end = slices.Clone(shut)
	item := hujson.Value{Value: parsed.Value}
	if n > 0 && l.value(n-1).AfterExtra != nil { // the file has a trailing comma
		item.AfterExtra = hujson.Extra{}
	}
	before := slices.Concat(comments, []byte(lead))
	if l.array != nil {
		item.BeforeExtra = before
		l.array.Elements = append(l.array.Elements, item)
		return nil
	}
	item.BeforeExtra = hujson.Extra(" ")
	l.object.Members = append(l.object.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: before, Value: hujson.String(name)}, Value: item})
	return nil
}

// indented is JSON over several lines.
func (f *jsonFile) indented(data []byte, in string) []byte {
	var b bytes.Buffer
	if json.Indent(&b, data, "", f.unit) != nil {
		return data // it was made by compact
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(f.newline+in))
}

// replace replaces a value.
func (f *jsonFile) replace(v *hujson.Value, data []byte) error {
	parsed, err := hujson.Parse(data)
	v.Value = parsed.Value
	return err
}

// remove removes item i of a list and the comma that is no longer needed. Comments before
// the item stay.
func (f *jsonFile) remove(l list, i int) {
	comma := l.value(l.len()-1).AfterExtra != nil
	comments := bytes.TrimRight(*l.extraBefore(i), blanks)
	if l.object != nil {
		l.object.Members = slices.Delete(l.object.Members, i, i+1)
	} else {
		l.array.Elements = slices.Delete(l.array.Elements, i, i+1)
	}
	after := l.extraBefore(i)
	if bytes.Contains(comments, []byte("//")) && !bytes.Contains((*after)[:len(*after)-len(bytes.TrimLeft(*after, blanks))], []byte("\n")) {
		comments = slices.Concat(comments, []byte(f.newline))
	}
	*after = slices.Concat(comments, *after)
	if n := l.len(); n > 0 {
		switch last := l.value(n - 1); {
		case comma && last.AfterExtra == nil:
			last.AfterExtra = hujson.Extra{}
		case !comma && last.AfterExtra != nil:
			*l.extraBefore(n) = slices.Concat(last.AfterExtra, *l.extraBefore(n))
			last.AfterExtra = nil
		}
	} else if isBlank(*l.extraBefore(0)) {
		*l.extraBefore(0) = nil
	}
}

// set writes an entry under keys and a name. In an entry of ours it changes only the members
// that we give; it replaces any other entry.
func (f *jsonFile) set(keys []string, name string, value any) error {
	l, missing, err := f.lookup(keys)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		for _, k := range slices.Backward(append(slices.Clone(missing[1:]), name)) {
			value = object{{k, value}}
		}
		return f.insert(l, missing[0], value)
	}
	i := l.find(name)
	if i < 0 {
		return f.insert(l, name, value)
	}
	given, _ := value.(object)
	have := l.item(i)
	if entry, _ := decoded(l.value(i)).(map[string]any); have.object == nil || !startsUs(entry) {
		return f.replace(l.value(i), f.indented(compact(value), have.base))
	}
	for _, p := range given {
		m := have.member(p.key)
		switch sub, isObject := p.value.(object); {
		case m == nil && isObject && len(sub) == 0, m != nil && (same(m, p.value) || userChoice(p.key)):
		case m == nil:
			err = f.insert(have, p.key, p.value)
		default:
			err = f.replace(m, compact(p.value))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// userChoice tells which members of an entry people set for themselves.
func userChoice(key string) bool {
	return slices.Contains([]string{"enabled", "disabled", "timeout", "tools", "env", "envs", "environment"}, key)
}

// unset removes an entry, also if it occurs several times.
func (f *jsonFile) unset(keys []string, name string) {
	l, missing, err := f.lookup(keys)
	for err == nil && len(missing) == 0 && l.find(name) >= 0 {
		f.remove(l, l.find(name))
	}
}

// prune removes an object or a list that is empty and has no comment.
func (f *jsonFile) prune(keys []string) {
	l, missing, err := f.lookup(keys[:len(keys)-1])
	if err != nil || len(missing) > 0 {
		return
	}
	if i := l.find(keys[len(keys)-1]); i >= 0 {
		if in := l.item(i); in.object == nil && in.array == nil || in.len() > 0 || !isBlank(*in.extraBefore(0)) {
			return
		}
		f.remove(l, i)
	}
}

// commandKeys are the members of a hook that contain a command line.
var commandKeys = []string{"command", "bash", "powershell"}

func isOwnHook(l list) bool {
	return slices.ContainsFunc(commandKeys, func(key string) bool {
		v := l.member(key)
		if v == nil {
			return false
		}
		s, _ := decoded(v).(string)
		return ownCommand().MatchString(s)
	})
}

// ownHook is the first hook of ours in the list of an event, in a group or not.
func ownHook(l list) (hook list, ok bool) {
	for i := range l.len() {
		x := l.item(i)
		if isOwnHook(x) {
			return x, true
		}
		if at := x.find("hooks"); at >= 0 {
			if hook, ok = ownHook(x.item(at)); ok {
				return hook, true
			}
		}
	}
	return list{}, false
}

// removeOwnHooks removes our hooks from the list of an event, and groups that are empty
// then.
func (f *jsonFile) removeOwnHooks(l list) {
	for i := l.len() - 1; i >= 0; i-- {
		x := l.item(i)
		if isOwnHook(x) {
			f.remove(l, i)
		} else if at := x.find("hooks"); at >= 0 {
			group := x.item(at)
			had := group.len()
			if f.removeOwnHooks(group); had > 0 && group.len() == 0 {
				f.remove(l, i)
			}
		}
	}
}

// addHook adds a hook to the list of an event. If ours is there, it only corrects the
// command, since the user may have chosen a longer timeout.
func (f *jsonFile) addHook(event string, entry object) error {
	l, missing, err := f.lookup([]string{"hooks"})
	if err != nil {
		return err
	}
	i := l.find(event)
	if len(missing) > 0 || i < 0 {
		return f.set([]string{"hooks"}, event, []any{entry})
	}
	found := l.item(i)
	if found.array == nil {
		e := &FileError{Problem: strconv.Quote(event) + " is not a list"}
		e.Line, e.Column = f.position(l.value(i).StartOffset)
		return e
	}
	have, ok := ownHook(found)
	if !ok {
		return f.insert(found, "", entry)
	}
	given := entry
	for _, p := range entry {
		if inner, ok := p.value.([]any); ok && p.key == "hooks" {
			given = inner[0].(object)
		}
	}
	for _, p := range given {
		if v := have.member(p.key); v != nil && slices.Contains(commandKeys, p.key) && !same(v, p.value) {
			if err := f.replace(v, compact(p.value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeHooks removes our hooks from the lists of all events, since an earlier version may
// have used others.
func (f *jsonFile) removeHooks() {
	if all, missing, err := f.lookup([]string{"hooks"}); err == nil && len(missing) == 0 {
		for i := range all.len() {
			f.removeOwnHooks(all.item(i))
		}
	}
}

// hasHook tells whether a file has a hook of ours for an event.
func hasHook(data []byte, event string) bool {
	f, err := parseJSON(data)
	if err != nil {
		return false
	}
	l, missing, err := f.lookup([]string{"hooks"})
	if err != nil || len(missing) > 0 || l.find(event) < 0 {
		return false
	}
	_, ok := ownHook(l.item(l.find(event)))
	return ok
}

// same compares a decoded value of a file with one of ours.
func same(v *hujson.Value, ours any) bool {
	var b any
	return json.Unmarshal(compact(ours), &b) == nil && reflect.DeepEqual(decoded(v), b)
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
