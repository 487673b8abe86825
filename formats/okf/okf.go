// Package okf writes the facts of a room as a Markdown file that people read and
// edit, and reads it back. The file follows the Open Knowledge Format 0.2, whose
// specification is GoogleCloudPlatform/knowledge-catalog okf/SPEC.md: front
// matter with a type, then prose. It decides nothing; it imports nothing of ours.
//
// A fact is one item: "- **key**: value". Further lines of a value are indented
// by two spaces. The front matter lists each fact with the id of its version and
// a checksum of its value. So an edited item is recognised. A key or value that
// plain text cannot hold is written as a JSON string.
//
// The same room gives the same bytes.
package okf

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml"
)

// Version is the version of the Open Knowledge Format that index.md names.
const Version = "0.2"

// Room is a category with its facts.
type Room struct {
	Category string
	At       time.Time // of the state that the file shows
	Facts    []Fact
	Missing  []Fact // read only: listed in the front matter, but there is no item
}

// Fact is one current value.
type Fact struct {
	Key    string
	Value  string
	ID     string // of its version when the file was written; empty for a new item
	Edited bool   // read only: the item differs from what was written, or is new
	Line   int    // read only: 1 is the first
}

type header struct {
	Type      string              `yaml:"type"`
	Generated struct{ At string } `yaml:"generated"`
	Category  *string             `yaml:"leanctx_category"`
	Facts     []entry             `yaml:"leanctx_facts"`
}

type entry struct {
	Key string `yaml:"key"`
	ID  string `yaml:"id"`
	Sum string `yaml:"sum"`
}

const kind = "room"

// mistake says which line of a file is not as Write makes it.
func mistake(line int, problem string) error { return fmt.Errorf("line %d: %s", line, problem) }

// Write prints a room.
func Write(w io.Writer, r Room) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "---\ntype: %s\ntitle: %s\ngenerated: {by: lean-ctx, at: %s}\nleanctx_category: %[2]s\nleanctx_facts:\n", kind, quoted(r.Category), quoted(r.At.UTC().Format(time.RFC3339)))
	for _, f := range r.Facts {
		fmt.Fprintf(b, "- {key: %s, id: %s, sum: %s}\n", quoted(f.Key), quoted(f.ID), sum(written(f.Value)))
	}
	fmt.Fprintf(b, "---\n\n# %s\n\n", strings.Join(strings.Fields(r.Category), " "))
	for _, f := range r.Facts {
		fmt.Fprintf(b, "- **%s**: %s\n", keyText(f.Key), strings.ReplaceAll(written(f.Value), "\n", "\n  "))
	}
	return b.Flush()
}

// quoted is a text as JSON, which is YAML too. The encoder of the YAML library
// writes some control characters so that its decoder does not read them.
func quoted(text string) string {
	out, _ := json.Marshal(text) // a string always has a form
	return string(out)
}

var itemLine = regexp.MustCompile(`^[-*] \*\*(.+?)\*\*:(?: (.*))?$`)

// sum tells an edited value from an unchanged one. It begins with a letter, so that YAML
// never takes it for a number.
func sum(value string) string {
	return fmt.Sprintf("c%08x", crc32.Checksum([]byte(value), crc32.MakeTable(crc32.Castagnoli)))
}

// written is a value as the file shows it.
func written(value string) string {
	if plainText(value) {
		return value
	}
	return strconv.Quote(value)
}

// plainText reports whether an item can hold a value as it is.
func plainText(value string) bool {
	for line := range strings.SplitSeq(value, "\n") {
		if line != strings.TrimRightFunc(line, unicode.IsSpace) {
			return false
		}
	}
	return value != "" && value == strings.TrimSpace(value) && value[0] != '"' && !strings.ContainsFunc(value, func(r rune) bool {
		return r != '\n' && !unicode.IsPrint(r)
	}) && !strings.Contains(value, "\n\n")
}

func keyText(key string) string {
	if strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.Contains(key, "**") || strings.HasPrefix(key, `"`) {
		return strings.ReplaceAll(strconv.Quote(key), "**", `\x2a\x2a`)
	}
	return key
}

// unquoted reads what written or keyText made.
func unquoted(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	return strconv.Unquote(text)
}

// IsRoom reports whether a file claims to be a room that Write made.
func IsRoom(text []byte) bool {
	head, _, ok := cut(text)
	return ok && bytes.Contains(head, []byte("\nleanctx_category:"))
}

// cut divides a file into its front matter, with the lines that enclose it, and
// the rest.
func cut(text []byte) (head, body []byte, ok bool) {
	if !bytes.HasPrefix(text, []byte("---\n")) {
		return nil, text, false
	}
	n := bytes.Index(text, []byte("\n---\n"))
	if n < 0 {
		return nil, text, false
	}
	return text[:n+5], text[n+5:], true
}

// Parse reads a file that Write made and people edited. Headings and blank lines
// may be anywhere. Everything else that is no item is an error that names the line.
func Parse(text []byte) (Room, error) {
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\uFEFF")), []byte("\r\n"), []byte("\n"))
	head, body, ok := cut(text)
	if !ok {
		return Room{}, mistake(1, "no front matter between two lines of ---")
	}
	var h header
	if err := yaml.Unmarshal(head[4:len(head)-4], &h); err != nil {
		return Room{}, mistake(2, "front matter: "+strings.SplitN(err.Error(), "\n", 2)[0])
	}
	if h.Type != kind || h.Category == nil || strings.TrimSpace(*h.Category) == "" {
		return Room{}, mistake(2, "the front matter has no type: room and leanctx_category")
	}
	r := Room{Category: *h.Category}
	r.At, _ = time.Parse(time.RFC3339, h.Generated.At)
	at := bytes.Count(head, []byte("\n"))
	for line := range strings.SplitSeq(string(body), "\n") {
		at++
		line = strings.TrimRight(line, " \t")
		last := len(r.Facts) - 1
		if m := itemLine.FindStringSubmatch(line); m != nil {
			key, err := unquoted(m[1])
			if err != nil {
				return Room{}, mistake(at, "a key with wrong quotes")
			}
			r.Facts = append(r.Facts, Fact{Key: key, Value: m[2], Line: at})
			continue
		}
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case last >= 0 && strings.HasPrefix(line, "  "):
			r.Facts[last].Value += "\n" + line[2:]
		default:
			return Room{}, mistake(at, fmt.Sprintf("neither an item (- **key**: value) nor indented below one: %.60q", line))
		}
	}
	if err := r.compare(h.Facts); err != nil {
		return Room{}, err
	}
	return r, nil
}

// compare finds what was edited since the file was written.
func (r *Room) compare(before []entry) error {
	used := make([]bool, len(before))
	for i := range r.Facts {
		f := &r.Facts[i]
		f.Value = strings.TrimSpace(f.Value)
		f.Edited = true
		for j, e := range before {
			if used[j] || e.Key != f.Key {
				continue
			}
			if same := e.Sum == sum(f.Value); same || f.ID == "" && !r.several(e.Key) {
				f.ID, f.Edited, used[j] = e.ID, !same, true
				break
			}
		}
		if f.Edited && (r.several(f.Key) || slices.ContainsFunc(before, func(e entry) bool { return e.Key == f.Key && e.ID != f.ID })) {
			return mistake(f.Line, fmt.Sprintf("%.60s has several values: change them with remember", f.Key))
		}
		value, err := unquoted(f.Value)
		if err != nil {
			return mistake(f.Line, "a value with wrong quotes")
		}
		if f.Value = value; value == "" {
			return mistake(f.Line, "an item without a value; to take it back, remove the fact")
		}
	}
	for j, e := range before {
		if !used[j] {
			r.Missing = append(r.Missing, Fact{Key: e.Key, ID: e.ID})
		}
	}
	return nil
}

// several reports whether a key has more than one item.
func (r *Room) several(key string) bool {
	n := 0
	for _, f := range r.Facts {
		if f.Key == key {
			n++
		}
	}
	return n > 1
}
