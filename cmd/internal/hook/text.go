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

// textFile is a file of TOML or YAML, in which our entry is a block of lines. The libraries
// write the lines, and decode every edited file: the edit is refused if anything beside our
// entry has changed. They do not write whole files, since go-toml keeps no comments, and
// goccy/go-yaml does not keep every indentation.
type textFile struct {
	format format
	mark   string // byte order mark
	data   []byte
}

func parseText(format format, data []byte) (*textFile, error) {
	f := &textFile{format: format, data: data}
	if body, marked := bytes.CutPrefix(data, []byte(bom)); marked {
		f.mark, f.data = bom, body
	}
	_, err := decode(format, data)
	return f, err
}

func (f *textFile) bytes() []byte { return append([]byte(f.mark), f.data...) }

// entry is our entry, or nil. Its path is the key of the list of servers, and our name.
func (f *textFile) entry(keys []string) (any, error) {
	m, err := decode(f.format, f.data)
	if err != nil || m[keys[0]] == nil {
		return nil, err
	}
	all, ok := m[keys[0]].(map[string]any)
	if !ok {
		return nil, &FileError{Problem: fmt.Sprintf("%q is not a table", keys[0])}
	}
	return all[server], nil
}

// rest is the content of a file without our entry, as text. That orders maps, and NaN equals
// NaN in it.
func (f *textFile) rest(data []byte, keys []string) string {
	m, err := decode(f.format, data)
	if err != nil {
		return err.Error()
	}
	all, ok := m[keys[0]].(map[string]any)
	if delete(all, server); len(all) == 0 && (ok || m[keys[0]] == nil) {
		delete(m, keys[0])
	}
	return fmt.Sprint(m)
}

// mostLines is the longest entry that we look for.
const mostLines = 100

// cut returns the file without our entry. Only a parser can tell an entry from a text that
// looks like one. So it tries each line that may begin the entry, the last one first, with as
// few lines after it as will do: without them, the file must say the same but for the entry.
func (f *textFile) cut(keys []string) ([]byte, error) {
	lines, others := bytes.SplitAfter(f.data, []byte("\n")), f.rest(f.data, keys)
	first, bare := server+":", strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "", "]", ".")
	if f.format == toml {
		first = "[" + keys[0] + "." + server + "." // its own table, or one in it
	}
	for from, line := range slices.Backward(lines) {
		if !strings.HasPrefix(bare.Replace(string(line)), first) {
			continue
		}
		for to := from + 1; to <= min(from+mostLines, len(lines)); to++ {
			after := &textFile{format: f.format, data: slices.Concat(bytes.Join(lines[:from], nil), bytes.Join(lines[to:], nil))}
			if entry, err := after.entry(keys); err != nil || entry != nil || f.rest(after.data, keys) != others {
				continue
			}
			if from > 0 && f.format == toml && isBlank(lines[from-1]) { // we wrote the blank line too
				return slices.Concat(bytes.Join(lines[:from-1], nil), bytes.Join(lines[to:], nil)), nil
			}
			return after.data, nil
		}
	}
	return nil, &FileError{Problem: fmt.Sprintf("the entry %s.%s is not written as a block: take it out by hand", keys[0], server)}
}

// set writes an entry, given as JSON, and removes the one that is there: in TOML at the end,
// in YAML as the first of its parent.
func (f *textFile) set(keys []string, value string) error {
	have, err := f.entry(keys)
	if err != nil {
		return err
	}
	rest := f.data
	if have != nil {
		if rest, err = f.cut(keys); err != nil {
			return err
		}
	}
	at, indent := len(rest), ""
	if f.format == yaml {
		if rest, at, indent, err = parent(rest, keys[0]); err != nil {
			return err
		}
	}
	lines, err := f.lines(keys, value, indent)
	if err != nil {
		return err
	}
	nl := newlineOf(f.data)
	if f.format == toml && at > 0 {
		lines = "\n" + lines
	}
	if at > 0 && rest[at-1] != '\n' {
		lines = "\n" + lines
	}
	after := &textFile{f.format, f.mark, slices.Concat(rest[:at], []byte(strings.ReplaceAll(lines, "\n", nl)), rest[at:])}
	if entry, err := after.entry(keys); err != nil || entry == nil || f.rest(after.data, keys) != f.rest(f.data, keys) {
		return &FileError{Problem: fmt.Sprintf("there is no safe place for an entry of %q", keys[0])}
	}
	*f = *after
	return nil
}

// lines are the lines of an entry.
func (f *textFile) lines(keys []string, value, indent string) (string, error) {
	var entry any
	if err := goyaml.Unmarshal([]byte(value), &entry); err != nil { // JSON is YAML, which tells whole numbers from others
		return "", err
	}
	var b bytes.Buffer
	if f.format == toml {
		fmt.Fprintf(&b, "[%s.%s]\n", keys[0], server)
		e := gotoml.NewEncoder(&b)
		e.SetTablesInline(true)
		err := e.Encode(entry)
		return b.String(), err
	}
	text, err := goyaml.Marshal(map[string]any{server: entry})
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

// unset removes our entry, and in YAML its parent if that is empty then.
func (f *textFile) unset(keys []string) error {
	rest, err := f.cut(keys)
	if err != nil {
		return err
	}
	if m, err := decode(f.format, rest); f.format == yaml && err == nil && m[keys[0]] == nil {
		rest = regexp.MustCompile(`(?m)^`+keys[0]+`[ \t]*:[ \t]*\r?(?:\n|\z)`).ReplaceAll(rest, nil)
	}
	f.data = rest
	return nil
}
