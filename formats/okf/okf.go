// Package okf writes the facts of a room as a Markdown file that people read and
// edit, and reads it back. The file follows the Open Knowledge Format 0.2, whose
// specification is GoogleCloudPlatform/knowledge-catalog okf/SPEC.md: front
// matter with a type, then prose. It decides nothing; it imports nothing of ours.
//
// A fact is one item: "- **key**: value". Further lines of a value are indented
// by two spaces. The front matter lists each fact with the id of its version, a
// checksum of its value, and when it is true. So an edited item is recognised. A
// checksum of the whole file ([Seal]) tells whether anybody changed anything. A key
// or value that plain text cannot hold is written as a JSON string.
//
// The same room gives the same bytes.
package okf

import (
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

	"leanctx/formats"
)

// Version is the version of the Open Knowledge Format that index.md names.
const Version = "0.2"

// Room is a category with its facts.
type Room struct {
	Category string
	At       time.Time // of the state that the file shows
	Facts    []Fact
	Missing  []Fact    // read only: listed in the front matter, but there is no item
	Mistakes []Mistake // read only: lines that are no part of a room
	Loose    bool      // read only: beside the items there is other text than what Write makes
}

// Mistake is a line that is not as [Write] makes it.
type Mistake struct {
	Line    int // 1 is the first
	Problem string
}

func (m Mistake) Error() string { return fmt.Sprintf("line %d: %s", m.Line, m.Problem) }

// Fact is one current value.
type Fact struct {
	Key    string
	Value  string
	ID     string // of its version when the file was written; empty for a new item
	From   string // when it began to be true, RFC 3339; empty for a new or an edited item
	Until  string // when it ends to be true; empty where that is open
	Edited bool   // read only: the item differs from what was written, or is new
	Line   int    // read only: 1 is the first

	Several bool // read only: the file has, or had, other values of the key
}

type header struct {
	Type      string              `yaml:"type"`
	Generated struct{ At string } `yaml:"generated"`
	Category  *string             `yaml:"leanctx_category"`
	Facts     []entry             `yaml:"leanctx_facts"`
}

type entry struct {
	Key   string `yaml:"key"`
	ID    string `yaml:"id"`
	Sum   string `yaml:"sum"`
	From  string `yaml:"from"`
	Until string `yaml:"until"`
}

const kind = "room"

// Write prints a room, with its seal.
func Write(w io.Writer, r Room) error {
	var entries []entry
	for _, f := range r.Facts {
		entries = append(entries, entry{f.Key, f.ID, sum(written(f.Value)), f.From, f.Until})
	}
	b := bytes.NewBufferString(frontMatter(r.Category, r.At.UTC().Format(time.RFC3339), entries) + "\n" + heading(r.Category) + "\n\n")
	for _, f := range r.Facts {
		fmt.Fprintf(b, "- **%s**: %s\n", keyText(f.Key), strings.ReplaceAll(written(f.Value), "\n", "\n  "))
	}
	_, err := w.Write(Seal(b.Bytes()))
	return err
}

// frontMatter is the front matter of a room, without its seal.
func frontMatter(category, at string, facts []entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntype: %s\ntitle: %s\ngenerated: {by: lean-ctx, at: %s}\nleanctx_category: %[2]s\nleanctx_facts:\n", kind, quoted(category), quoted(at))
	for _, e := range facts {
		fmt.Fprintf(&b, "- {key: %s, id: %s, sum: %s", quoted(e.Key), quoted(e.ID), e.Sum)
		if e.From != "" {
			fmt.Fprintf(&b, ", from: %s", quoted(e.From))
		}
		if e.Until != "" {
			fmt.Fprintf(&b, ", until: %s", quoted(e.Until))
		}
		b.WriteString("}\n")
	}
	b.WriteString("---\n")
	return b.String()
}

// heading is the only heading that Write makes in a room.
func heading(category string) string { return "# " + strings.Join(strings.Fields(category), " ") }

// sealLine is the last line of the front matter of a sealed file.
var sealLine = regexp.MustCompile(`(?m)^leanctx_checksum: (c[0-9a-f]{8})\n`)

// Seal adds a checksum of a text to its front matter.
func Seal(text []byte) []byte {
	head, body, _ := cut(text)
	return fmt.Appendf(nil, "%sleanctx_checksum: %s\n---\n%s", head[:len(head)-len("---\n")], sum(sealed(text)), body)
}

// Sealed reports whether a text is still the one that [Seal] gave. Line ends and blanks at its end
// do not count: Git and editors change them. found is false for a text without a seal.
func Sealed(text []byte) (same, found bool) {
	text = plainLines(text)
	head, body, _ := cut(text)
	at := sealLine.FindSubmatchIndex(head)
	if at == nil {
		return false, false
	}
	return string(head[at[2]:at[3]]) == sum(sealed(slices.Concat(head[:at[0]], head[at[1]:], body))), true
}

// sealed is what the checksum of a text is about.
func sealed(text []byte) string { return strings.TrimRightFunc(string(text), unicode.IsSpace) }

// plainLines is a text without a byte order mark, and with line feeds alone.
func plainLines(text []byte) []byte {
	return bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\uFEFF")), []byte("\r\n"), []byte("\n"))
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
func IsRoom(text []byte) bool { return claims(text, "\nleanctx_category:") }

// IsIndex reports whether a file claims to be the index of a directory of rooms.
func IsIndex(text []byte) bool { return claims(text, "\nokf_version:") }

func claims(text []byte, line string) bool {
	head, _, ok := cut(plainLines(text))
	return ok && bytes.Contains(head, []byte(line))
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
// may be anywhere. Everything else that is no item is one of the mistakes. The error, a
// [Mistake], is for a file that cannot be read at all.
func Parse(text []byte) (Room, error) {
	text = plainLines(text)
	head, body, ok := cut(text)
	if !ok {
		return Room{}, Mistake{1, "no front matter between two lines of ---"}
	}
	h, err := parseHead(head[4 : len(head)-4])
	if err != nil {
		return Room{}, Mistake{2, "front matter: " + strings.SplitN(err.Error(), "\n", 2)[0]}
	}
	if h.Type != kind || h.Category == nil || strings.TrimSpace(*h.Category) == "" {
		return Room{}, Mistake{2, "the front matter has no type: room and leanctx_category"}
	}
	r := Room{Category: *h.Category}
	r.At, _ = time.Parse(time.RFC3339, h.Generated.At)
	r.Loose = frontMatter(r.Category, h.Generated.At, h.Facts) != string(sealLine.ReplaceAll(head, nil))
	at, headings := bytes.Count(head, []byte("\n")), 0
	var more strings.Builder // the further lines of the last item's value
	end := func() {
		if last := len(r.Facts) - 1; more.Len() > 0 {
			r.Facts[last].Value += more.String()
			more.Reset()
		}
	}
	for line := range strings.SplitSeq(string(body), "\n") {
		at++
		line = strings.TrimRight(line, " \t")
		last := len(r.Facts) - 1
		if m := itemLine.FindStringSubmatch(line); m != nil {
			key, err := unquoted(m[1])
			if err != nil {
				r.mistake(at, "a key with wrong quotes")
				continue
			}
			end()
			r.Facts = append(r.Facts, Fact{Key: key, Value: m[2], Line: at})
			continue
		}
		switch {
		case line == "":
		case strings.HasPrefix(line, "# "), line == heading(r.Category):
			headings++
			r.Loose = r.Loose || headings > 1 || line != strings.TrimRight(heading(r.Category), " ")
		case last >= 0 && strings.HasPrefix(line, "  "):
			more.WriteString("\n" + line[2:])
		default:
			r.mistake(at, fmt.Sprintf("neither an item (- **key**: value) nor indented below one: %.60q", line))
		}
	}
	end()
	r.compare(h.Facts)
	slices.SortStableFunc(r.Mistakes, func(a, b Mistake) int { return a.Line - b.Line })
	return r, nil
}

// maxFacts is the most facts of a room that are listed in its front matter, and maxMistakes the most mistakes
// that are named.
const (
	maxFacts    = 50_000
	maxMistakes = 1_000
)

// parseHead parses the front matter. Write gives each fact a line: those are parsed one by one, since all
// together take 30 kB of memory each.
func parseHead(head []byte) (h header, err error) {
	const list = "\nleanctx_facts:\n"
	before, rest, ok := strings.Cut("\n"+string(head), list)
	if !ok {
		return h, formats.UnmarshalYAML(head, &h)
	}
	var facts []string
	for ok = false; strings.HasPrefix(rest, "- {"); ok = true {
		line, after, _ := strings.Cut(rest, "\n")
		if facts, rest = append(facts, line), after; len(facts) > maxFacts {
			return h, fmt.Errorf("it lists more than %d facts", maxFacts)
		}
	}
	if !ok {
		return h, formats.UnmarshalYAML(head, &h)
	}
	if err := formats.UnmarshalYAML([]byte(before+"\n"+rest), &h); err != nil {
		return h, err
	}
	for _, line := range facts {
		var one []entry
		if err := formats.UnmarshalYAML([]byte(line), &one); err != nil {
			return h, err
		}
		h.Facts = append(h.Facts, one...)
	}
	return h, nil
}

func (r *Room) mistake(line int, problem string) {
	if len(r.Mistakes) >= maxMistakes {
		return
	}
	r.Mistakes = append(r.Mistakes, Mistake{line, problem})
}

// compare finds what was edited since the file was written. Of several values under a key, those
// that are as they were find themselves again. If as many others are left as the file had, they
// are the changed ones, in their order. Else nobody knows which was changed: they are new, and the
// former ones are missing.
func (r *Room) compare(before []entry) {
	items, entries := map[string][]*Fact{}, map[string][]entry{}
	for _, e := range before {
		entries[e.Key] = append(entries[e.Key], e)
	}
	for i := range r.Facts {
		f := &r.Facts[i]
		f.Value = strings.TrimSpace(f.Value)
		f.Edited = true
		items[f.Key] = append(items[f.Key], f)
	}
	var missing []entry
	for key := range entries {
		same, left := items[key], entries[key]
		several := len(same) > 1 || len(left) > 1
		for _, f := range same {
			f.Several = several
			if i := slices.IndexFunc(left, func(e entry) bool { return e.Sum == sum(f.Value) }); i >= 0 {
				e := left[i]
				f.ID, f.From, f.Until, f.Edited, left = e.ID, e.From, e.Until, false, slices.Delete(slices.Clone(left), i, i+1)
			}
		}
		changed := slices.DeleteFunc(slices.Clone(same), func(f *Fact) bool { return !f.Edited })
		if len(changed) == len(left) {
			for i, f := range changed {
				f.ID = left[i].ID
			}
			left = nil
		}
		missing = append(missing, left...)
	}
	for key, same := range items {
		for _, f := range same {
			f.Several = f.Several || len(same) > 1 && entries[key] == nil
		}
	}
	for _, e := range before { // in the order of the file
		if slices.Contains(missing, e) {
			r.Missing = append(r.Missing, Fact{Key: e.Key, ID: e.ID})
		}
	}
	r.Facts = slices.DeleteFunc(r.Facts, func(f Fact) bool {
		value, err := unquoted(f.Value)
		switch {
		case err != nil:
			r.mistake(f.Line, "a value with wrong quotes")
		case value == "":
			r.mistake(f.Line, "an item without a value; to take it back, remove the fact")
		}
		return err != nil || value == ""
	})
	for i := range r.Facts {
		r.Facts[i].Value, _ = unquoted(r.Facts[i].Value)
	}
}
