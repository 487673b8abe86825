package hook

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/pelletier/go-toml/v2/unstable"
)

// addTable puts a TOML table at the end.
func (t *text) addTable(container string, entry object) {
	nl := t.newline()
	var b strings.Builder
	if len(t.data) > t.body() {
		if t.data[len(t.data)-1] != '\n' {
			b.WriteString(nl)
		}
		b.WriteString(nl)
	}
	fmt.Fprintf(&b, "[%s.%s]%s", container, server, nl)
	for _, p := range entry {
		if c, ok := p.value.(choice); ok {
			b.WriteString(strings.ReplaceAll(c.toml(p.key), "\n", nl))
			continue
		}
		// JSON's strings and lists of strings are TOML's as well.
		fmt.Fprintf(&b, "%s = %s%s", p.key, compact(p.value), nl)
	}
	t.replace(len(t.data), len(t.data), b.String())
}

// addMapping puts a YAML mapping first into its container.
func (t *text) addMapping(container string, entry object) error {
	nl := t.newline()
	key, err := t.yamlKey(container)
	if err != nil {
		return err
	}
	in, at := "  ", len(t.data)
	head := ""
	switch {
	case key == nil:
		if at > t.body() && t.data[at-1] != '\n' {
			head = nl
		}
		head += container + ":" + nl
		t.made = append(t.made, []string{container})
	default:
		line := t.offsetOfLine(key.Key.GetToken().Position.Line)
		at = t.lineEnd(line)
		if m, ok := key.Value.(*ast.MappingNode); ok && m.IsFlowStyle {
			if len(m.Values) > 0 {
				return &FileError{Problem: fmt.Sprintf("%q is written on one line", container)}
			}
			if i := bytes.LastIndex(t.data[line:at], []byte("{}")); i >= 0 {
				from := len(bytes.TrimRight(t.data[:line+i], " \t"))
				t.replace(from, line+i+2, "")
				at = t.lineEnd(line)
			}
		} else if first := firstOf(key.Value); first != nil {
			in = strings.Repeat(" ", first.Key.GetToken().Position.Column-1)
		}
		if at > 0 && t.data[at-1] != '\n' {
			head = nl
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s%s:%s", head, in, server, nl)
	for _, p := range entry {
		fmt.Fprintf(&b, "%s  %s: %s%s", in, yamlName(p.key), compact(p.value), nl) // JSON is YAML
	}
	t.replace(at, at, b.String())
	return nil
}

func firstOf(n ast.Node) *ast.MappingValueNode {
	if values := valuesOf(n); len(values) > 0 {
		return values[0]
	}
	return nil
}

func valuesOf(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// yamlKey is a key of the top level, or nothing.
func (t *text) yamlKey(name string) (*ast.MappingValueNode, error) {
	f, err := parser.ParseBytes(lineFeeds(t.data[t.body():]), 0)
	if err != nil {
		return nil, err
	}
	if len(f.Docs) > 1 {
		return nil, &FileError{Problem: "the file holds several documents"}
	}
	for _, d := range f.Docs {
		for _, v := range valuesOf(d.Body) {
			if v.Key.GetToken().Value == name {
				return v, nil
			}
		}
	}
	return nil, nil
}

// lineFeeds is a text with plain line feeds: the parser of YAML counts lines by
// them, and not always by others.
func lineFeeds(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }

// dropKey takes the line of a YAML key out that has no value.
func (t *text) dropKey(name string) error {
	key, err := t.yamlKey(name)
	if err != nil || key == nil || key.Value.Type() != ast.NullType {
		return err
	}
	line := t.offsetOfLine(key.Key.GetToken().Position.Line)
	t.replace(line, t.lineEnd(line), "")
	return nil
}

// offsetOfLine is where a line, counted from 1, begins.
func (t *text) offsetOfLine(line int) int {
	at := t.body()
	for ; line > 1; line-- {
		at = t.lineEnd(at)
	}
	return at
}

// tableLines is where the table of our entry and the tables below it stand,
// with one blank line before them. What stands between them and the next table
// is that one's.
func (t *text) tableLines(container string) (from, to int, err error) {
	p := unstable.Parser{}
	p.Reset(t.data[t.body():])
	from = -1
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			continue
		}
		var keys []string
		at := 0
		for it := e.Key(); it.Next(); {
			if keys == nil {
				at = t.lineStart(t.body() + int(it.Node().Raw.Offset))
			}
			keys = append(keys, string(it.Node().Data))
		}
		mine := len(keys) >= 2 && keys[0] == container && keys[1] == server
		switch {
		case from < 0 && mine:
			from, to = at, len(t.data)
		case from >= 0 && !mine && to == len(t.data):
			to = at
		case from >= 0 && mine && to < len(t.data):
			return 0, 0, nil // in several parts
		}
	}
	if from < 0 || p.Error() != nil {
		return 0, 0, p.Error()
	}
	return t.withBlank(from), t.content(from, to), nil
}

// content is where the last line of a part ends that says something.
func (t *text) content(from, to int) int {
	for to > from {
		start := t.lineStart(to - 1)
		if line := bytes.TrimSpace(t.data[start:to]); len(line) > 0 && line[0] != '#' {
			break
		}
		to = start
	}
	return to
}

// withBlank takes the blank line before a line with it.
func (t *text) withBlank(from int) int {
	if from > t.body() {
		if before := t.lineStart(from - 1); len(bytes.TrimSpace(t.data[before:from])) == 0 {
			return before
		}
	}
	return from
}

// mappingLines is where our entry stands in a YAML mapping.
func (t *text) mappingLines(container string) (from, to int, err error) {
	key, err := t.yamlKey(container)
	if err != nil || key == nil {
		return 0, 0, err
	}
	if m, ok := key.Value.(*ast.MappingNode); ok && m.IsFlowStyle {
		return 0, 0, nil
	}
	for _, v := range valuesOf(key.Value) {
		tok := v.Key.GetToken()
		if tok.Value != server {
			continue
		}
		from = t.offsetOfLine(tok.Position.Line)
		for to = t.lineEnd(from); to < len(t.data); to = t.lineEnd(to) {
			line := t.data[to:t.lineEnd(to)]
			in := len(line) - len(bytes.TrimLeft(line, " "))
			if len(bytes.TrimSpace(line)) > 0 && in < tok.Position.Column {
				break
			}
		}
		return from, t.content(from, to), nil
	}
	return 0, 0, nil
}
