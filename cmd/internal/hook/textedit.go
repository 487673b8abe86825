package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	goyaml "github.com/goccy/go-yaml"
	gotoml "github.com/pelletier/go-toml/v2"
)

// TOML, YAML and Markdown are edited as lines, since go-toml keeps no comments, and
// goccy/go-yaml does not keep every indentation. The library decodes every edited file. If
// anything beside our entry has changed, the edit is refused.

const bom = "\ufeff"

// isBlank tells whether a file holds nothing but white space.
func isBlank(data []byte) bool {
	return len(bytes.TrimSpace(bytes.TrimPrefix(data, []byte(bom)))) == 0
}

// newlineOf is the line ending of a file.
func newlineOf(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// decode decodes a file of any format.
func decode(f format, data []byte) (m map[string]any, err error) {
	data = bytes.TrimPrefix(data, []byte(bom))
	switch f {
	case jsonc:
		file, err := parseJSON(data)
		if err != nil {
			return nil, err
		}
		m, _ = decoded(&file.root).(map[string]any)
		return m, nil
	case toml:
		err = gotoml.Unmarshal(data, &m)
		if e, ok := errors.AsType[*gotoml.DecodeError](err); ok {
			line, column := e.Position()
			return nil, &FileError{Line: line, Column: column, Problem: "not TOML: " + strings.TrimPrefix(e.Error(), "toml: ")}
		}
		return m, err
	}
	// The library may miscount lines that end in CR LF.
	d := goyaml.NewDecoder(bytes.NewReader(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))))
	if err = d.Decode(&m); errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err == nil && !errors.Is(d.Decode(new(any)), io.EOF) {
		return nil, &FileError{Problem: "the file holds several documents"}
	}
	if e, ok := errors.AsType[goyaml.Error](err); ok {
		x := &FileError{Problem: "not YAML: " + e.GetMessage()}
		if tok := e.GetToken(); tok != nil && tok.Position != nil {
			x.Line, x.Column = tok.Position.Line, tok.Position.Column
		}
		return nil, x
	}
	return m, err
}

// under follows the keys of a decoded file.
func under(m map[string]any, keys []string) map[string]any {
	for _, k := range keys {
		m, _ = m[k].(map[string]any)
	}
	return m
}

// block is our entry in a file of TOML or YAML.
type block struct {
	format format
	parent string // the key that holds it
}

// header matches the first line of our entry, in any spelling.
func (b block) header() *regexp.Regexp {
	name := `["']?` + server + `["']?`
	if b.format == yaml {
		return regexp.MustCompile(`(?m)^( +)` + name + `[ \t]*:.*(?:\n|\z)`)
	}
	return regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*["']?` + b.parent + `["']?[ \t]*\.[ \t]*` + name + `[ \t]*[\].].*(?:\n|\z)`)
}

// lines returns the places where our entry may be, the last first. Only a parser can tell an
// entry from a text that looks like one, so the caller tries each.
func (b block) lines(data []byte) (spans [][2]int) {
	header := b.header()
	for _, at := range slices.Backward(header.FindAllSubmatchIndex(data, -1)) {
		to := at[1]
		for to < len(data) {
			line := data[to:lineEnd(data, to)]
			text := bytes.TrimSpace(line)
			if b.format == yaml && len(text) > 0 && len(line)-len(bytes.TrimLeft(line, " ")) <= at[3]-at[2] ||
				b.format == toml && bytes.HasPrefix(text, []byte("[")) && !header.Match(line) {
				break
			}
			to += len(line)
		}
		spans = append(spans, [2]int{at[0], lastContent(data, at[1], to)})
	}
	return spans
}

// lineEnd is the end of the line at an offset, with its line feed.
func lineEnd(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(data)
}

// lastContent is the end of the last line that is neither blank nor a comment. Such lines at
// the end belong to the next entry.
func lastContent(data []byte, from, to int) int {
	for to > from {
		start := max(from, bytes.LastIndexByte(data[:to-1], '\n')+1)
		if line := bytes.TrimSpace(data[start:to]); len(line) > 0 && line[0] != '#' {
			break
		}
		to = start
	}
	return to
}

// withBlank is the start of a line, or of the blank line before it.
func withBlank(data []byte, from int) int {
	if from > 0 {
		if before := bytes.LastIndexByte(data[:from-1], '\n') + 1; len(bytes.TrimSpace(data[before:from])) == 0 {
			return before
		}
	}
	return from
}

// entry is our entry in a decoded file, or nil.
func (b block) entry(m map[string]any) (map[string]any, error) {
	if m[b.parent] == nil {
		return nil, nil
	}
	all, ok := m[b.parent].(map[string]any)
	if !ok {
		return nil, &FileError{Problem: fmt.Sprintf("%q is not a table", b.parent)}
	}
	entry, ok := all[server].(map[string]any)
	if all[server] != nil && !ok {
		entry = map[string]any{}
	}
	return entry, nil
}

// same tells whether two files have the same content beside our entry. It compares the
// printed form, which orders maps and in which NaN equals NaN.
func (b block) same(before, after []byte) bool {
	rest := func(data []byte) (string, error) {
		m, err := decode(b.format, data)
		if all, ok := m[b.parent].(map[string]any); ok {
			if delete(all, server); len(all) == 0 {
				delete(m, b.parent)
			}
		} else if m[b.parent] == nil {
			delete(m, b.parent)
		}
		return fmt.Sprint(m), err
	}
	x, errX := rest(before)
	y, errY := rest(after)
	return errX == nil && errY == nil && x == y
}

// put writes our entry into a file.
func (b block) put(data []byte, want object) ([]byte, error) {
	before, err := decode(b.format, data)
	if err != nil {
		return nil, err
	}
	have, err := b.entry(before)
	if err != nil {
		return nil, err
	}
	if have != nil {
		if agrees(have, want) {
			return data, nil
		}
		if startsUs(have) {
			if after, ok := b.update(data, have, want); ok {
				return after, nil
			}
		}
		if data, _, _, err = b.cut(data); err != nil {
			return nil, err
		}
	}
	after, err := b.insert(data, want)
	if err != nil {
		return nil, err
	}
	m, err := decode(b.format, after)
	if have, _ := b.entry(m); err != nil || have == nil || !b.same(data, after) {
		return nil, &FileError{Problem: fmt.Sprintf("there is no safe place for an entry of %q", b.parent)}
	}
	return after, nil
}

// agrees tells whether an entry equals ours, apart from members that users choose.
func agrees(have map[string]any, want object) bool {
	return !slices.ContainsFunc(want, func(p pair) bool {
		v, ok := have[p.key]
		return !userChoice(p.key) && (!ok || fmt.Sprint(v) != fmt.Sprint(p.value))
	})
}

// pairLine is a line of an entry. JSON's strings, numbers and lists of strings
// are TOML and YAML too, its objects YAML.
func (b block) pairLine(indent string, p pair, nl string) string {
	if m, ok := p.value.(map[string]string); ok && b.format == toml {
		var pairs []string
		for _, k := range slices.Sorted(maps.Keys(m)) {
			pairs = append(pairs, k+" = "+string(compact(m[k])))
		}
		return indent + p.key + " = { " + strings.Join(pairs, ", ") + " }" + nl
	}
	if b.format == yaml {
		return indent + p.key + ": " + string(compact(p.value)) + nl
	}
	return indent + p.key + " = " + string(compact(p.value)) + nl
}

// update corrects the values in the lines of our entry. It keeps other lines, which users
// may have added.
func (b block) update(data []byte, have map[string]any, want object) ([]byte, bool) {
	nl := newlineOf(data)
	for _, span := range b.lines(data) {
		head := lineEnd(data, span[0])
		text, indent := string(data[head:span[1]]), ""
		if b.format == yaml {
			indent = text[:len(text)-len(strings.TrimLeft(text, " "))]
		}
		for _, p := range want {
			_, ok := have[p.key]
			switch line := regexp.MustCompile(`(?m)^([ \t]*` + p.key + `[ \t]*[=:][ \t]*)("[^"\n]*"|'[^'\n]*'|\[[^\]\n]*\]|[^"'\[\s#]+)`); {
			case agrees(have, object{p}) || userChoice(p.key):
			case !ok:
				text = b.pairLine(indent, p, nl) + text
			default:
				if at := line.FindStringSubmatchIndex(text); at != nil {
					text = text[:at[4]] + string(compact(p.value)) + text[at[5]:]
				}
			}
		}
		after := slices.Concat(data[:head], []byte(text), data[span[1]:])
		m, err := decode(b.format, after)
		if entry, _ := b.entry(m); err == nil && entry != nil && agrees(entry, want) && b.same(data, after) {
			return after, true
		}
	}
	return nil, false
}

// insert adds our entry: in TOML as a table at the end, in YAML as the first mapping of its
// parent.
func (b block) insert(data []byte, want object) ([]byte, error) {
	nl := newlineOf(data)
	var text strings.Builder
	if len(data) > 0 && data[len(data)-1] != '\n' {
		text.WriteString(nl)
	}
	if b.format == toml {
		if !isBlank(data) {
			text.WriteString(nl)
		}
		fmt.Fprintf(&text, "[%s.%s]%s", b.parent, server, nl)
		for _, p := range want {
			text.WriteString(b.pairLine("", p, nl))
		}
		return append(slices.Clone(data), text.String()...), nil
	}
	indent, at := "  ", len(data)
	if line := regexp.MustCompile(`(?m)^` + b.parent + `[ \t]*:[ \t]*(\{[ \t]*\})?([^\r\n]*)\r?(?:\n|\z)`).FindSubmatchIndex(data); line != nil {
		if rest := bytes.TrimSpace(data[line[4]:line[5]]); len(rest) > 0 && rest[0] != '#' {
			return nil, &FileError{Problem: fmt.Sprintf("%q is written on one line", b.parent)}
		}
		at = line[1]
		if first := regexp.MustCompile(`\A(?:[ \t]*(?:#[^\n]*)?\r?\n)*( +)[^\s#]`).FindSubmatch(data[at:]); first != nil {
			indent = string(first[1])
		}
		if line[2] >= 0 { // replace {}
			from := len(bytes.TrimRight(data[:line[2]], " \t"))
			data = slices.Concat(data[:from], data[line[3]:])
			at -= line[3] - from
		}
		text.Reset()
		if at > 0 && data[at-1] != '\n' {
			text.WriteString(nl)
		}
	} else {
		text.WriteString(b.parent + ":" + nl)
	}
	text.WriteString(indent + server + ":" + nl)
	for _, p := range want {
		text.WriteString(b.pairLine(indent+"  ", p, nl))
	}
	return slices.Concat(data[:at], []byte(text.String()), data[at:]), nil
}

// cut removes our entry, and returns its lines and their place. lines is empty if there is
// no entry.
func (b block) cut(data []byte) (rest []byte, at int, lines string, err error) {
	m, err := decode(b.format, data)
	if err != nil {
		return nil, 0, "", err
	}
	if entry, err := b.entry(m); entry == nil || err != nil {
		return data, 0, "", err
	}
	for _, span := range b.lines(data) {
		from := span[0]
		if b.format == toml {
			from = withBlank(data, from)
		}
		rest := slices.Concat(data[:from], data[span[1]:])
		m, err := decode(b.format, rest)
		if entry, _ := b.entry(m); err == nil && entry == nil && b.same(data, rest) {
			return rest, from, string(data[from:span[1]]), nil
		}
	}
	return nil, 0, "", &FileError{Problem: fmt.Sprintf("the entry %s.%s is not written as a block: take it out by hand", b.parent, server)}
}

// swap replaces our entry by the one that it had replaced.
func (b block) swap(data []byte, theirs string) ([]byte, error) {
	rest, at, ours, err := b.cut(data)
	if err != nil || ours == "" {
		return data, err
	}
	nl := newlineOf(data)
	if b.format == yaml {
		theirs = reindent(theirs, indentation(ours))
	}
	if at > 0 && data[at-1] != '\n' {
		theirs = nl + theirs
	}
	if at < len(rest) && !strings.HasSuffix(theirs, "\n") {
		theirs += nl
	}
	after := slices.Concat(rest[:at], []byte(theirs), rest[at:])
	m, err := decode(b.format, after)
	if entry, _ := b.entry(m); err != nil || entry == nil || !b.same(data, after) {
		return nil, &FileError{Problem: "there is no safe place for the entry that ours replaced; it was:\n" + strings.TrimSpace(theirs)}
	}
	return after, nil
}

func indentation(lines string) string { return lines[:len(lines)-len(strings.TrimLeft(lines, " "))] }

// reindent changes the indentation of a block.
func reindent(lines, indent string) string {
	old := indentation(lines)
	var b strings.Builder
	for line := range strings.Lines(lines) {
		if rest, ok := strings.CutPrefix(line, old); ok && strings.TrimSpace(line) != "" {
			line = indent + rest
		}
		b.WriteString(line)
	}
	return b.String()
}

// dropParent removes the line of the parent if the parent is empty.
func (b block) dropParent(data []byte) []byte {
	if m, err := decode(b.format, data); err != nil || m[b.parent] != nil || b.format != yaml {
		return data
	}
	return regexp.MustCompile(`(?m)^`+b.parent+`[ \t]*:[ \t]*\r?(?:\n|\z)`).ReplaceAll(data, nil)
}

const (
	adviceBegin = "<!-- lean-ctx:begin v1 -->"
	adviceEnd   = "<!-- lean-ctx:end -->"
)

// adviceLines is the place of our block in AGENTS.md.
func adviceLines(data []byte) (from, to int, ok bool) {
	from = bytes.Index(data, []byte(adviceBegin))
	if from < 0 {
		return 0, 0, false
	}
	n := bytes.Index(data[from:], []byte(adviceEnd))
	if n < 0 {
		return 0, 0, false
	}
	return from, lineEnd(data, from+n), true
}

// putAdvice writes our block into AGENTS.md.
func putAdvice(data []byte) []byte {
	nl := newlineOf(data)
	text := []byte(strings.ReplaceAll(adviceBegin+"\n"+strings.TrimSpace(advice)+"\n"+adviceEnd+"\n", "\n", nl))
	if from, to, ok := adviceLines(data); ok {
		return slices.Concat(data[:from], text, data[to:])
	}
	switch {
	case len(data) == 0:
	case bytes.HasSuffix(data, []byte("\n")):
		text = slices.Concat([]byte(nl), text)
	default:
		text = slices.Concat([]byte(nl+nl), text)
	}
	return slices.Concat(data, text)
}

// removeAdvice removes our block from AGENTS.md.
func removeAdvice(data []byte) []byte {
	if from, to, ok := adviceLines(data); ok {
		return slices.Concat(data[:withBlank(data, from)], data[to:])
	}
	return data
}
