package foreign

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"leanctx/formats"
)

// shortNote is the longest body, in bytes, that is one fact. A longer one gives
// a fact for each line of its lists and for each paragraph.
const shortNote = 600

var (
	markdownLine = formats.Regexp(`(?m)^(#{1,6} |[-*+] )`)
	instructions = formats.Regexp(`(?i)^(claude|agents|gemini)(\.local)?\.md$|^copilot-instructions\.md$|^\.?(cursor|windsurf)rules|\.mdc$|instructions\.md$`)
	ownBlock     = formats.Regexp(`(?s)<!-- lean-ctx:begin.*?<!-- lean-ctx:end -->`)
	observation  = formats.Regexp(`^\[([\pL][\pL\d _-]*)\]\s+(.+)$`)
	noteRelation = formats.Regexp(`^([\pL][\pL\d _-]*?)\s+\[\[([^\]]+)\]\]\s*(\(.*\))?$`)
	hashTag      = formats.Regexp(`(?:^|\s)#([\pL\d_/-]+)`)
)

func isMarkdown(name string, start []byte) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdc", ".markdown":
		return true
	}
	return bytes.HasPrefix(start, []byte("---\n")) || markdownLine().Match(start)
}

// frontMatter is what a note says of itself.
type frontMatter struct {
	Name, Title, Description, Type, Permalink, Status string
	Tags                                              any
	Metadata                                          struct{ Type string }
	Timestamp                                         string
	Generated                                         struct{ At string }
	StaleAfter                                        string `yaml:"stale_after"`
	Verified                                          []struct{ At string }
	Category                                          string `yaml:"leanctx_category"`
	Key                                               string `yaml:"leanctx_key"`
	ValidFrom                                         string `yaml:"leanctx_valid_from"`
	ValidUntil                                        string `yaml:"leanctx_valid_until"`
	Confidence                                        *float64
	LeanConfidence                                    *float64 `yaml:"leanctx_confidence"`
}

// What one Markdown file may hold: each line may be an item, which takes 1 kB while the file is read, and
// each cell of a table is parsed by itself.
const (
	maxLines = 100_000
	maxBars  = 200_000
)

// markdown reads one Markdown file: a note with front matter, or instructions.
func (b *builder) markdown(src []byte) error {
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	src = ownBlock().ReplaceAllFunc(src, func(block []byte) []byte {
		return bytes.Repeat([]byte("\n"), bytes.Count(block, []byte("\n"))) // the lines below keep their numbers
	})
	if line := conflict(src); line > 0 {
		return noteError(fmt.Sprintf("line %d: a conflict marker of Git: settle the conflict first", line))
	}
	var head frontMatter
	body, first, has, err := cutFrontMatter(src, &head)
	if err != nil {
		return noteError("front matter: " + strings.SplitN(err.Error(), "\n", 2)[0])
	}
	if n := bytes.Count(body, []byte("\n")); n > maxLines {
		return noteError(fmt.Sprintf("%d lines, more than %d: divide it", n, maxLines))
	}
	if n := bytes.Count(body, []byte("|")); n > maxBars {
		return noteError(fmt.Sprintf("%d cells of tables, more than %d: divide it", n, maxBars))
	}
	body = shallow(body)
	lines := b.lines(body, first)
	b.reads()
	kind := orElse(head.Type, head.Metadata.Type)
	switch {
	case path.Base(b.file) == "MEMORY.md":
		b.program("Claude Code's auto memory")
		b.texts("memory", "", b.notIndex(lines), nil)
	case has && head.Name != "" && slices.Contains([]string{"user", "feedback", "project", "reference"}, kind):
		b.program("Claude Code's auto memory")
		b.note(map[string]string{"feedback": "convention"}[kind], head, kind, body, lines, first)
	case head.Permalink != "", has && slices.ContainsFunc(lines, func(l line) bool { return observation().MatchString(l.text) }):
		b.program("basic-memory")
		b.observations(head, lines)
	case has && kind != "":
		b.program("Open Knowledge Format")
		b.note(head.Category, head, kind, body, lines, first)
	case instructions().MatchString(path.Base(b.file)):
		b.program(path.Base(b.file))
		b.texts("convention", "", lines, nil)
	default:
		b.program("Markdown")
		b.texts("note", "", lines, nil)
	}
	return nil
}

// noteError says why one Markdown file cannot be read. Others beside it can be.
type noteError string

func (e noteError) Error() string { return string(e) }

// conflict is the line at which a conflict begins that Git left in a text, 0 for none. What stands
// in fenced code tells of conflicts.
func conflict(src []byte) int {
	fence, begin, middle, n := []byte(nil), 0, false, 0
	for line := range bytes.Lines(src) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		mark := bytes.TrimSpace(line)
		switch {
		case fence != nil:
			if bytes.HasPrefix(mark, fence) {
				fence = nil
			}
		case bytes.HasPrefix(mark, []byte("```")), bytes.HasPrefix(mark, []byte("~~~")):
			fence = mark[:3]
		case bytes.HasPrefix(line, []byte("<<<<<<< ")):
			begin, middle = n, false
		case begin > 0 && string(line) == "=======":
			middle = true
		case middle && bytes.HasPrefix(line, []byte(">>>>>>> ")):
			return begin
		}
	}
	return 0
}

// cutFrontMatter divides a file. first is the number of the body's first line.
func cutFrontMatter(src []byte, into *frontMatter) (body []byte, first int, has bool, err error) {
	rest, ok := bytes.CutPrefix(src, []byte("---\n"))
	if !ok {
		return src, 1, false, nil
	}
	head, body, ok := bytes.Cut(rest, []byte("\n---"))
	if !ok {
		return src, 1, false, nil
	}
	_, body, _ = bytes.Cut(body, []byte("\n"))
	if err := formats.UnmarshalYAML(head, into); err != nil {
		return nil, 0, false, err
	}
	return body, 1 + bytes.Count(src[:len(src)-len(body)], []byte("\n")), true, nil
}

// line is one statement of a text: an item of a list, a paragraph, a row.
type line struct {
	heading string // the innermost heading above it
	text    string
	below   []string // the code that belongs to it
	shows   bool     // its text ends with code that it introduced
	item    bool     // of a list
	led     bool     // it begins with the statement that introduces it
	code    bool     // it is code that belongs to its heading alone
	from    int      // the number of its first line
	to      int      // and of its last
}

// with is a value with the code that belongs to the statement.
func (l line) with(value string) string {
	return strings.Join(append([]string{value}, l.below...), "\n")
}

// lines reads the statements of a text, of which number is the first line.
func (b *builder) lines(src []byte, number int) []line {
	w := &walker{b: b, src: src, number: number}
	for at, c := range src {
		if c == '\n' {
			w.feeds = append(w.feeds, at)
		}
	}
	w.blocks(document(src), "")
	return w.out
}

// nesting is what stands before the text of a line in quotations and lists.
var nesting = formats.Regexp(`(?m)^(?:[ \t>]|[-+*][ \t]|[0-9]{1,9}[.)][ \t])+`)

// maxNesting is the longest, in bytes: to parse a text costs the square of its depth.
const maxNesting = 100

// shallow is a text in which lines that are nested deeper are left as text of their own.
func shallow(src []byte) []byte {
	return nesting().ReplaceAllFunc(src, func(before []byte) []byte {
		if len(before) > maxNesting {
			return nil
		}
		return before
	})
}

func document(src []byte) ast.Node { return goldmark.DefaultParser().Parse(text.NewReader(src)) }

type walker struct {
	b       *builder
	src     []byte
	number  int
	feeds   []int // where the line feeds are
	heading string
	section int // how many statements there are above the heading
	out     []line

	paragraphs parser.Parser // for plain; nil until the first table
}

// blocks collects the statements below a node. lead stands before each: the
// text of the item that they explain.
func (w *walker) blocks(parent ast.Node, lead string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			w.heading, w.section = strings.ToValidUTF8(beginning(w.inline(n), maxLead), ""), len(w.out)
		case *ast.Paragraph, *ast.TextBlock:
			if !w.table(n, lead) {
				w.statement(n, lead, parent.Kind() == ast.KindListItem)
			}
		case *ast.List, *ast.Blockquote:
			own := lead
			if last := len(w.out) - 1; last >= 0 && n.PreviousSibling() != nil && n.PreviousSibling().Kind() != ast.KindHeading && strings.HasSuffix(w.out[last].text, ":") {
				if intro := w.lead(last); intro != "" {
					own = intro + " "
				}
			}
			w.blocks(n, own)
		case *ast.ListItem:
			w.blocks(n, lead)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			w.code(n)
		case *ast.HTMLBlock:
			w.b.leave("blocks of HTML", 1)
		}
	}
}

// maxLead is the longest text, in bytes, that is repeated with each item of a list or each row of a table.
const maxLead = 200

// lead takes the sentence that introduces a list from the end of a statement. It is repeated
// with each item, unless it is long: then it is empty, and the statement stays.
func (w *walker) lead(last int) string {
	l := &w.out[last]
	cut := strings.LastIndex(l.text, ". ")
	if len(l.text)-max(0, cut) > maxLead {
		return ""
	}
	if cut < 0 {
		lead := l.text
		w.out = w.out[:last]
		return lead
	}
	lead := l.text[cut+2:]
	l.text = l.text[:cut+1]
	return lead
}

func (w *walker) statement(n ast.Node, lead string, item bool) {
	from, to := w.at(n)
	if t := w.inline(n); t != "" {
		w.out = append(w.out, line{heading: w.heading, text: lead + t, item: item, led: lead != "", from: from, to: to})
	}
}

// code belongs to the statement that it follows. Below a heading it is a statement of its own.
func (w *walker) code(n ast.Node) {
	var code strings.Builder
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		code.Write(s.Value(w.src))
	}
	text := strings.TrimSpace(code.String())
	if text == "" {
		return
	}
	from, to := w.at(n)
	last := len(w.out) - 1
	if last < w.section || !follows(n) {
		w.out = append(w.out, line{heading: w.heading, text: text, code: true, from: from, to: to})
		return
	}
	if l := &w.out[last]; strings.HasSuffix(l.text, ":") && !l.shows && len(l.below) == 0 {
		l.text, l.shows = l.text+" "+text, true
	} else {
		l.below = append(l.below, text)
	}
	w.out[last].to = to
}

// follows reports whether code stands below a statement, or below code that does. What is below a
// list or a table is not the last item's or row's.
func follows(n ast.Node) bool {
	before := n.PreviousSibling()
	if before == nil {
		return false
	}
	return slices.Contains([]ast.NodeKind{ast.KindParagraph, ast.KindTextBlock, ast.KindFencedCodeBlock, ast.KindCodeBlock}, before.Kind())
}

// table tells each row of a table as a statement: its first cell, then the others. A table is
// the end of a paragraph, with a line of dashes below the names of its columns. It is read
// here, since goldmark's extension would cost each start of the program 0.8 ms.
func (w *walker) table(n ast.Node, lead string) bool {
	lines, h := n.Lines(), 0
	for h+1 < lines.Len() && !isDelimiter(w.cells(lines.At(h+1)), len(w.cells(lines.At(h)))) {
		h++
	}
	if h+1 >= lines.Len() {
		return false
	}
	first, _ := w.at(n)
	if h > 0 {
		var before strings.Builder
		for _, l := range lines.Sliced(0, h) {
			before.Write(l.Value(w.src))
		}
		w.out = append(w.out, line{heading: w.heading, text: lead + w.plain(before.String()), led: lead != "", from: first, to: first + h - 1})
	}
	head := w.cells(lines.At(h))
	for i, name := range head {
		if head[i] = w.plain(name); len(head[i]) > maxLead {
			w.out = append(w.out, line{heading: w.heading, text: lead + head[i], led: lead != "", from: first + h, to: first + h})
			head[i] = ""
		}
	}
	for i := h + 2; i < lines.Len(); i++ {
		var rest []string
		cells := append(w.cells(lines.At(i)), "")
		for i, c := range cells[1:min(len(cells), len(head))] {
			if c = w.plain(c); c == "" {
				continue
			}
			if len(head) > 2 && head[i+1] != "" {
				c = head[i+1] + " " + c
			}
			rest = append(rest, c)
		}
		if len(rest) > 0 {
			w.out = append(w.out, line{heading: w.heading, text: lead + w.plain(cells[0]) + ": " + strings.Join(rest, ", "), item: true, led: lead != "", from: first + i, to: first + i})
		}
	}
	return true
}

// isDelimiter reports whether cells are the line below the names of that number of columns.
func isDelimiter(cells []string, columns int) bool {
	return len(cells) > 0 && len(cells) == columns && !slices.ContainsFunc(cells, func(c string) bool { return !strings.Contains(c, "-") || strings.Trim(c, ":-") != "" })
}

// cells divides a row of a table. A line without a bar is none.
func (w *walker) cells(row text.Segment) (cells []string) {
	all := strings.TrimSpace(string(row.Value(w.src)))
	if !strings.Contains(all, "|") {
		return nil
	}
	all = strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(all, `\|`, "\x00"), "|"), "|")
	for c := range strings.SplitSeq(all, "|") {
		cells = append(cells, strings.TrimSpace(strings.ReplaceAll(c, "\x00", "|")))
	}
	return cells
}

// plain is a paragraph without Markdown's marks. Nothing else is looked for: in a cell, what
// begins with > is no quotation, and what begins with - or # neither item nor heading.
func (w *walker) plain(paragraph string) string {
	if w.paragraphs == nil {
		w.paragraphs = parser.NewParser(parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 0)),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...))
	}
	src := []byte(paragraph)
	return (&walker{b: w.b, src: src}).inline(w.paragraphs.Parse(text.NewReader(src)))
}

// inline is the text of a block without Markdown's marks; code keeps its
// back-ticks, a link its target.
func (w *walker) inline(n ast.Node) string {
	var b strings.Builder
	var walk func(ast.Node)
	walk = func(n ast.Node) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			switch c := c.(type) {
			case *ast.Text:
				b.Write(c.Value(w.src))
				if c.SoftLineBreak() || c.HardLineBreak() {
					b.WriteByte(' ')
				}
			case *ast.CodeSpan:
				b.WriteByte('`')
				walk(c)
				b.WriteByte('`')
			case *ast.Link:
				walk(c)
				if target := string(c.Destination); !strings.HasPrefix(target, "#") && target != w.inline(c) {
					fmt.Fprintf(&b, " (%s)", target)
				}
			case *ast.AutoLink:
				b.Write(c.URL(w.src))
			case *ast.RawHTML, *ast.Image:
			default:
				walk(c)
			}
		}
	}
	walk(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

// at is the first and last line of a block.
func (w *walker) at(n ast.Node) (from, to int) {
	start, end := n.Pos(), n.Pos()
	if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
		start, end = n.Lines().At(0).Start, n.Lines().At(n.Lines().Len()-1).Stop-1
	}
	count := func(offset int) int {
		before, _ := slices.BinarySearch(w.feeds, offset)
		return w.number + before
	}
	return count(start), count(end)
}

// texts adds each statement as a fact. prefix begins their keys.
func (b *builder) texts(category, prefix string, lines []line, tags []string) {
	for _, l := range lines {
		key, value, labeled := slug(orElse(prefix, l.heading), l.text), l.text, false
		if l.code {
			key, labeled = slug(orElse(prefix, orElse(l.heading, l.text))), true
		} else if label, rest, ok := strings.Cut(l.text, ": "); ok && !l.led && rest != "" && len(strings.Fields(label)) <= 4 && !strings.ContainsAny(label, ".!?`") {
			key, value, labeled = slug(orElse(prefix, l.heading), label), rest, true
		}
		b.add(formats.Record{Category: category, Key: key, Value: l.with(value), Source: b.source(l), Tags: tags}, l.from, labeled)
	}
}

// reads says that the sources of a file's records name the file.
func (b *builder) reads() {
	if b.file != "" {
		b.m.Files = append(b.m.Files, b.file)
	}
}

// source names the lines of a file.
func (b *builder) source(l line) string {
	switch {
	case b.file == "":
		return ""
	case l.to > l.from:
		return fmt.Sprintf("%s:%d-%d", b.file, l.from, l.to)
	}
	return fmt.Sprintf("%s:%d", b.file, l.from)
}

// notIndex drops the lines of an index that only point to a file which is read too.
func (b *builder) notIndex(lines []line) []line {
	return slices.DeleteFunc(lines, func(l line) bool {
		for name := range b.files {
			if name != "MEMORY.md" && strings.Contains(l.text, "("+name+")") {
				b.leave("lines of the index", 1)
				return true
			}
		}
		return false
	})
}

// note adds a file that is one subject: one fact when it is short, else a fact
// for each of its statements.
func (b *builder) note(category string, head frontMatter, kind string, body []byte, lines []line, first int) {
	category = orElse(category, kind)
	title := orElse(head.Title, orElse(head.Name, strings.TrimSuffix(path.Base(b.file), ".md")))
	tags := tagList(head.Tags)
	whole := line{from: first, to: first + bytes.Count(bytes.TrimRight(body, "\n"), []byte("\n"))}
	if len(body) > shortNote && head.Key == "" {
		b.texts(category, title, lines, tags)
		return
	}
	var texts []string
	for _, l := range lines {
		texts = append(texts, l.with(l.text))
	}
	r := formats.Record{Category: category, Key: orElse(head.Key, slug(title)), Value: orElse(strings.Join(texts, "\n"), head.Description),
		Source: b.source(whole), Tags: tags, Questions: head.Description,
		ValidFrom: instant(head.ValidFrom), ValidUntil: instant(head.ValidUntil), Timestamp: instant(orElse(head.Generated.At, head.Timestamp)),
		Confirmations: len(head.Verified), Confidence: head.LeanConfidence}
	if len([]rune(r.Questions)) > 300 || r.Questions == r.Value {
		r.Questions = ""
	}
	if head.Status == "deprecated" && r.ValidUntil == nil {
		b.leave("deprecated notes", 1)
		return
	}
	b.add(r, whole.from, true)
}

// observations adds the lines of a basic-memory note.
func (b *builder) observations(head frontMatter, lines []line) {
	title := orElse(head.Title, strings.TrimSuffix(path.Base(b.file), ".md"))
	tags := tagList(head.Tags)
	targets := map[string][]string{}
	var kinds []string
	var others []line
	for _, l := range lines {
		if m := noteRelation().FindStringSubmatch(l.text); m != nil && l.item {
			if targets[m[1]] == nil {
				kinds = append(kinds, m[1])
			}
			targets[m[1]] = append(targets[m[1]], m[2])
			continue
		}
		m := observation().FindStringSubmatch(l.text)
		if m == nil || !l.item || m[1] == "x" {
			others = append(others, l)
			continue
		}
		own := slices.Clone(tags)
		for _, t := range hashTag().FindAllStringSubmatch(m[2], -1) {
			if len(own) < 20 && !slices.Contains(own, t[1]) {
				own = append(own, t[1])
			}
		}
		value := strings.TrimSpace(hashTag().ReplaceAllString(m[2], ""))
		b.add(formats.Record{Category: m[1], Key: slug(title, value), Value: l.with(value), Tags: own, Source: b.source(l)}, l.from, false)
	}
	category := orElse(head.Type, "note")
	for _, kind := range kinds {
		b.add(formats.Record{Category: category, Key: title + " " + kind, Value: strings.Join(targets[kind], ", "), Tags: tags, Source: b.file}, 0, true)
	}
	b.texts(category, title, others, tags)
}

// tagList reads tags as a list or as one text divided by commas.
func tagList(v any) (tags []string) {
	switch v := v.(type) {
	case string:
		for t := range strings.SplitSeq(v, ",") {
			tags = append(tags, strings.TrimSpace(t))
		}
	case []any:
		for _, t := range v {
			tags = append(tags, strings.TrimSpace(fmt.Sprint(t)))
		}
	}
	tags = slices.DeleteFunc(tags, func(t string) bool { return t == "" })
	return tags[:min(20, len(tags))]
}

// beginning is that of a text, at most so many bytes.
func beginning(text string, most int) string { return text[:min(len(text), most)] }
