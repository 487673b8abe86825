package table

import (
	_ "embed"
	"fmt"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// extract gives the sentences of one source.
func extract(kind, path string) ([]string, error) {
	var out []string
	var err error
	switch kind {
	case "go":
		err = walk(path, ".go", func(text string) { out = append(out, goComments(text)...) })
	case "md":
		err = walk(path, ".md", func(text string) { out = append(out, paragraphs(text)...) })
	case "py":
		err = walk(path, ".py", func(text string) { out = append(out, python(text)...) })
	case "wordnet":
		for _, part := range []string{"noun", "verb", "adj", "adv"} {
			err = walk(path, "data."+part, func(text string) { out = append(out, wordnet(text)...) })
			if err != nil {
				break
			}
		}
	case "talk":
		out = talk()
	default:
		err = fmt.Errorf("source kind %q is not known", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", filepath.Base(path), err)
	}
	return out, nil
}

// goComments gives the sentences of a Go file's comments.
func goComments(text string) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil // a file that is meant not to parse
	}
	var out []string
	for _, group := range file.Comments {
		if s := group.Text(); !strings.Contains(s, "opyright") {
			out = append(out, paragraphs(s)...)
		}
	}
	return out
}

// docString and function find what a Python file says: a doc string, and a short function whole.
var (
	docString = regexp.MustCompile(`(?s)"""(.+?)"""`)
	function  = regexp.MustCompile(`(?m)^( *)def [a-zA-Z].*\n(?:\s+.*\n){1,14}`)
)

// python gives doc strings as sentences and as what somebody would type to find
// them, and short functions whole on one line.
func python(text string) []string {
	var out []string
	for _, m := range docString.FindAllStringSubmatch(text, -1) {
		found := paragraphs(m[1])
		out = append(out, found...)
		if len(found) > 0 {
			out = append(out, asQuery(found[0]))
		}
	}
	for _, m := range function.FindAllString(text, -1) {
		if code := strings.Join(strings.Fields(m), " "); strings.Contains(m, `"""`) && len(code) < 500 {
			out = append(out, code)
		}
	}
	return out
}

// asQuery turns the first sentence of a doc string into words for a search.
func asQuery(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
	words = words[:min(len(words), 9)]
	heads := []string{"python ", "how to ", "", "python how to "}
	tails := []string{"", " in python", "", ""}
	i := len(s) % len(heads)
	return heads[i] + strings.Join(words, " ") + tails[i]
}

// wordnet gives, of each line of a WordNet data file, the word with its
// definition, and each example on its own. Names, animals (lexicographer file
// 05) and plants (20) are left out: there are so many that little else would be left.
func wordnet(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		head, gloss, ok := strings.Cut(line, " | ")
		fields := strings.Fields(head)
		if !ok || len(fields) < 5 || strings.HasPrefix(line, "  ") {
			continue
		}
		if fields[1] == "05" || fields[1] == "20" || fields[4] != strings.ToLower(fields[4]) {
			continue
		}
		parts := strings.Split(strings.TrimSpace(gloss), `"`)
		word := strings.ReplaceAll(fields[4], "_", " ")
		out = append(out, word+": "+strings.Trim(parts[0], "; "))
		for i := 1; i < len(parts); i += 2 {
			if len(strings.Fields(parts[i])) >= 4 {
				out = append(out, parts[i])
			}
		}
	}
	return out
}

var (
	sentenceEnd = regexp.MustCompile(`([.!?:])\s+([A-Z])`)
	link        = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

// paragraphs gives the plain sentences of prose: 4 to 60 words, mostly letters.
func paragraphs(text string) []string {
	var out []string
	for block := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(block, "\t") || strings.HasPrefix(block, "```") || strings.HasPrefix(block, "|") {
			continue
		}
		flat := strings.Join(strings.Fields(link.ReplaceAllString(block, "$1")), " ")
		for s := range strings.SplitSeq(sentenceEnd.ReplaceAllString(flat, "$1\n$2"), "\n") {
			s = strings.Trim(s, " #*->`")
			if prose(s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// prose tells sentences from tables, code and notices.
func prose(s string) bool {
	words := len(strings.Fields(s))
	if words < 4 || words > 60 || len(s) > 400 {
		return false
	}
	letters := 0
	for _, r := range s {
		if r > 0x2fff {
			return false
		}
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		}
	}
	low := strings.ToLower(s)
	return letters*10 >= len(s)*8 && !strings.Contains(low, "licen") && !strings.Contains(low, "generated")
}

// talkText holds the templates and the word lists, one list a line: `name: a | b`.
//
//go:embed talk.txt
var talkText string

// talk makes sentences out of talk.txt: templates with {slots}, filled at random
// from the lists, always the same ones. It stands in for conversations, of which
// documentation has none: small talk, what somebody did, felt and plans, the
// question after it, and questions about a project.
func talk() []string {
	lists := map[string][]string{}
	for line := range strings.Lines(talkText) {
		if name, items, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			for item := range strings.SplitSeq(items, " | ") {
				lists[name] = append(lists[name], strings.TrimSpace(item))
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	var out []string
	for _, kind := range []string{"turn", "told", "asked", "project"} {
		for range 12000 {
			templates := lists[kind]
			out = append(out, fill(templates[r.IntN(len(templates))], lists, r))
		}
	}
	return out
}

// fill replaces each {slot}, also those inside what a slot was filled with.
func fill(s string, lists map[string][]string, r *rand.Rand) string {
	for {
		before, rest, ok := strings.Cut(s, "{")
		if !ok {
			return strings.ToUpper(s[:1]) + s[1:]
		}
		name, after, _ := strings.Cut(rest, "}")
		items := lists[name]
		s = before + items[r.IntN(len(items))] + after
	}
}
