package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	goyaml "github.com/goccy/go-yaml"
	gotoml "github.com/pelletier/go-toml/v2"
)

const bom = "\ufeff"

// isBlank reports whether a file holds nothing but white space.
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
		m, _ = file.entry(nil).(map[string]any)
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

// textFile is a file of TOML or YAML, in which our entry is a block of lines. The libraries
// write the lines, and decode every edited file: the edit is refused if anything beside our
// entry has changed. They do not write whole files, since go-toml keeps no comments, and
// goccy/go-yaml does not keep every indentation.
type textFile struct {
	format format
	key    string // of the list of servers
	data   []byte
}

// split decodes a file into our entry and the text of the rest. Text, since that orders maps,
// and NaN equals NaN in it.
func (f textFile) split(data []byte) (entry any, rest string, err error) {
	m, err := decode(f.format, data)
	all, ok := m[f.key].(map[string]any)
	entry = all[server]
	if delete(all, server); len(all) == 0 && (ok || m[f.key] == nil) {
		delete(m, f.key)
	}
	return entry, fmt.Sprint(m), err
}

// maxTries is how many blocks of lines that look like our entry are looked at, and how many ends
// of one block.
const maxTries = 20

// without returns the file without our entry, given the two parts of the file that split returns.
// Lines that look like a table of the entry, or like its key, may be a part of a text. So a block
// of them is left out only if the file then says the same beside the entry.
func (f textFile) without(entry any, others string) ([]byte, error) {
	var remaining []byte
	lines := bytes.SplitAfter(f.data, []byte("\n"))
	for i, tries := 0, 0; i < len(lines); i++ {
		if end := f.block(lines[i:]); end > 0 && entry != nil && tries < maxTries {
			before := remaining
			if last := bytes.TrimSuffix(remaining, []byte(newlineOf(f.data))); f.format == toml && bytes.HasSuffix(last, []byte("\n")) {
				before = last // we wrote the empty line too
			}
			without := slices.Concat(before, bytes.Join(lines[i+end:], nil))
			tries++
			if left, now, err := f.split(without); err == nil && now == others {
				i, remaining, entry = i+end-1, before, left
				continue
			}
		}
		remaining = append(remaining, lines[i]...)
	}
	if entry != nil {
		return nil, &FileError{Problem: fmt.Sprintf("the entry %s.%s is not written as a block: take it out by hand", f.key, server)}
	}
	return remaining, nil
}

// block is how many lines at the beginning look like our entry: in TOML its tables, in YAML its
// key with the lines that are indented more. Blank lines and, in TOML, comments at its end are
// not of it. In TOML a line that begins with [ may be of a text or a list. It begins the next
// table only if the text before it can be decoded.
func (f textFile) block(lines [][]byte) (n int) {
	bare := strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "", "]", ".")
	ours := func(line []byte) bool {
		if f.format == yaml {
			return strings.HasPrefix(bare.Replace(string(line)), server+":")
		}
		return strings.HasPrefix(bare.Replace(string(line)), "["+f.key+"."+server+".")
	}
	indent := func(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }
	if !ours(lines[0]) {
		return 0
	}
	tries := 0
	for i, line := range lines {
		text := bytes.TrimLeft(line, " \t")
		switch {
		case isBlank(line), f.format == toml && text[0] == '#':
			continue
		case f.format == toml && text[0] == '[' && !ours(line):
			if _, err := decode(toml, bytes.Join(lines[:n], nil)); err == nil || tries == maxTries {
				return n
			}
			tries++
		case f.format == yaml && i > 0 && indent(line) <= indent(lines[0]):
			return n
		}
		n = i + 1
	}
	return n
}

// write returns the file with the entry on which decide decides, in the place of the one that is
// there: in TOML at the end, in YAML as the first of its parent. With the entry goes its parent in
// YAML, if that is empty then.
func (f textFile) write(decide func(have any) (entry string, change bool)) ([]byte, error) {
	have, others, err := f.split(f.data)
	if err != nil {
		return nil, err
	}
	entry, change := decide(have)
	if !change {
		return f.data, nil
	}
	remaining, err := f.without(have, others)
	if err != nil {
		return nil, err
	}
	if entry == "" {
		if m, err := decode(f.format, remaining); f.format == yaml && err == nil && m[f.key] == nil {
			remaining = regexp.MustCompile(`(?m)^`+f.key+`[ \t]*:[ \t]*\r?(?:\n|\z)`).ReplaceAll(remaining, nil)
		}
		return remaining, nil
	}
	at, indent := len(remaining), ""
	if f.format == yaml {
		if remaining, at, indent, err = parent(remaining, f.key); err != nil {
			return nil, err
		}
	}
	lines, err := f.lines(entry, indent)
	if err != nil {
		return nil, err
	}
	if f.format == toml && at > 0 {
		lines = "\n" + lines
	}
	if at > 0 && remaining[at-1] != '\n' {
		lines = "\n" + lines
	}
	lines = strings.ReplaceAll(lines, "\n", newlineOf(f.data))
	after := slices.Concat(remaining[:at], []byte(lines), remaining[at:])
	if found, now, err := f.split(after); err != nil || found == nil || now != others {
		return nil, &FileError{Problem: fmt.Sprintf("there is no safe place for an entry of %q", f.key)}
	}
	return after, nil
}

// lines are the lines of an entry.
func (f textFile) lines(entry, indent string) (string, error) {
	var x any
	if err := goyaml.Unmarshal([]byte(entry), &x); err != nil { // JSON is YAML, which tells whole numbers from others
		return "", err
	}
	var b bytes.Buffer
	if f.format == toml {
		fmt.Fprintf(&b, "[%s.%s]\n", f.key, server)
		e := gotoml.NewEncoder(&b)
		e.SetTablesInline(true)
		err := e.Encode(x)
		return b.String(), err
	}
	text, err := goyaml.Marshal(map[string]any{server: x})
	for line := range strings.Lines(string(text)) {
		b.WriteString(indent + line)
	}
	return b.String(), err
}

// parent returns the file with the parent of our entry, the place after it, and
// the indentation of its entries.
func parent(data []byte, key string) (_ []byte, at int, indent string, err error) {
	line := regexp.MustCompile(`(?m)^` + key + `[ \t]*:([ \t]*\{[ \t]*\})?([^\r\n]*)\r?(?:\n|\z)`).FindSubmatchIndex(data)
	if line == nil {
		data = slices.Clone(data)
		if len(data) > 0 && data[len(data)-1] != '\n' {
			data = append(data, newlineOf(data)...)
		}
		data = append(data, key+":"+newlineOf(data)...)
		return data, len(data), "  ", nil
	}
	if rest := bytes.TrimSpace(data[line[4]:line[5]]); len(rest) > 0 && rest[0] != '#' {
		return nil, 0, "", &FileError{Problem: fmt.Sprintf("%q is written on one line", key)}
	}
	at, indent = line[1], "  "
	if line[2] >= 0 { // without {}
		data, at = slices.Concat(data[:line[2]], data[line[3]:]), at-(line[3]-line[2])
	}
	if first := regexp.MustCompile(`\A(?:[ \t]*(?:#[^\n]*)?\r?\n)*( +)[^\s#]`).FindSubmatch(data[at:]); first != nil {
		indent = string(first[1])
	}
	return data, at, indent, nil
}
