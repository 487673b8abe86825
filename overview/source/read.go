package source

import (
	"slices"
	"strings"

	"leanctx/internal/language"
)

// File is what was read of one file. It holds no part of the file's text
// beyond its own few strings.
type File struct {
	Language  Language
	Generated bool     // by a program, or minified
	Package   string   // package, namespace, or what a module file names
	Imports   []string // as they are written, in a form that depends on the language; see Read
	Names     []string // the main definitions, in the order of the file, maxNames at most
	More      int      // definitions beside those
	Doc       string   // the first sentence of its leading comment, without secrets, maxDoc bytes at most
	Terms     []Term   // sorted by hash
}

// What is kept of a file.
const (
	maxNames   = 12
	maxDoc     = 140 // bytes
	maxImports = 400
	maxTerms   = 400
	maxProse   = 300 // words of comments, after which no further comment is taken in
	proseBytes = 4 << 10
	lateDoc    = 3 // definitions before a comment that is not about the file
)

// Read reads a file of the given name. Text that is not UTF-8, does not
// compile or breaks off is read as far as it goes. clean takes the secrets out of a text; it
// may be nil. No string of the result holds one.
//
// Imports are written so that they can be resolved without the file:
//
//   - Go: "path".
//   - TypeScript and JavaScript: "specifier".
//   - Python: "module", or "module:name" for from-imports, with leading dots.
//   - Rust: "mod:name" and "a::b::c".
//   - Java and Kotlin: "a.b.C" and "a.b.*".
//   - C and C++: the included path.
//   - C#: a namespace.
//   - Ruby: "./path" for require_relative, "path" for require.
//   - PHP: `A\B\C`, and "./path" for included files.
func Read(name, src string, clean func(string) string) *File {
	src = strings.TrimPrefix(src, "\ufeff")
	if strings.HasPrefix(src, "#!") {
		_, src, _ = strings.Cut(src, "\n")
	}
	if clean == nil {
		clean = func(s string) string { return s }
	}
	r := &reader{out: &File{Language: Of(name)}, terms: newTerms(), clean: clean}
	r.terms.path(name)
	switch l := r.out.Language; {
	case generated(l, name, src):
		r.out.Generated = true
		return r.out
	case l == Go:
		r.golang(name, src)
	case syntaxes[l] != nil:
		r.syntax(syntaxes[l], src)
	default:
		r.plain(src)
	}
	r.out.Terms = r.terms.list()
	r.withoutSecrets()
	return r.out
}

// withoutSecrets cleans the strings of the file but its description, which was cleaned
// before it was cut. Almost no file has a secret there, so all are tried at once.
func (r *reader) withoutSecrets() {
	all := r.out.Package + "\n" + strings.Join(r.out.Names, "\n") + "\n" + strings.Join(r.out.Imports, "\n")
	if r.clean(all) == all {
		return
	}
	r.out.Package = r.clean(r.out.Package)
	for _, list := range [][]string{r.out.Names, r.out.Imports} {
		for i, s := range list {
			list[i] = r.clean(s)
		}
	}
}

// describe takes the first sentence of a text for the file's description. Secrets are
// taken out first: the half of one would not be found.
func (r *reader) describe(text string) {
	r.out.Doc = sentence(r.clean(Clip(text, proseBytes)))
}

// reader gathers what a file says.
type reader struct {
	out   *File
	terms *terms
	prose int // words of comments so far
	clean func(string) string
}

// define notes a definition.
func (r *reader) define(name string) {
	name = strings.TrimPrefix(name, "$")
	if name == "" || name == "_" || len(name) > 200 || slices.Contains(r.out.Names, name) {
		return
	}
	r.terms.add(name, weighName)
	if len(r.out.Names) < maxNames {
		r.out.Names = append(r.out.Names, strings.ToValidUTF8(strings.Clone(name), "?"))
	} else {
		r.out.More++
	}
}

// imports notes an import.
func (r *reader) imports(spec string) {
	if spec == "" || len(spec) > 500 || len(r.out.Imports) >= maxImports || strings.ContainsAny(spec, "\x00\n") {
		return
	}
	if !slices.Contains(r.out.Imports, spec) {
		r.out.Imports = append(r.out.Imports, strings.Clone(spec))
	}
}

// remark records a comment. The first main comment becomes the file's description,
// unless it is one word, or comes after several definitions: then it describes one of them.
func (r *reader) remark(comment string, main bool) {
	clean := tidy(comment)
	if clean == "" || boilerplate(clean) {
		return
	}
	if main && len(r.out.Names) < lateDoc && r.out.Doc == "" && strings.ContainsAny(clean, " .\n") {
		r.describe(clean)
	}
	if r.prose < maxProse {
		r.prose += r.terms.add(Clip(clean, proseBytes), weighProse)
	}
}

// tidy takes the marks out of a comment, and what follows its text.
func tidy(comment string) string {
	comment = strings.TrimSuffix(strings.Trim(strings.TrimSpace(comment), `"'`), "*/")
	var b strings.Builder
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "//go:") || strings.HasPrefix(line, "// +build") || strings.HasPrefix(line, "=begin") || strings.HasPrefix(line, "=end") {
			continue
		}
		line = strings.TrimSpace(strings.TrimLeft(line, "/*#!-=~;<>| \t"))
		if bare := strings.TrimRight(line, "/*#-=~ \t"); len(line)-len(bare) > 2 { // a heading in a frame
			line = bare
		}
		if strings.HasPrefix(line, "@") || strings.HasPrefix(line, `\param`) {
			break
		}
		if i := strings.Index(line, "summary>"); i >= 0 && i < 3 {
			line = strings.TrimSpace(line[i+len("summary>"):])
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return strings.TrimSpace(strings.ToValidUTF8(b.String(), "?"))
}

// boilerplate reports whether a comment speaks of the law or to a tool,
// or is code that was taken out.
func boilerplate(clean string) bool {
	low := strings.ToLower(clean[:min(len(clean), 400)])
	for _, s := range []string{"copyright", "spdx-license", "licensed under", "all rights reserved", "(c) 20"} {
		if strings.Contains(low, s) {
			return true
		}
	}
	for _, s := range []string{"eslint", "tslint", "prettier", "jshint", "pylint", "noqa", "type:", "mypy", "rubocop", "frozen_string_literal", "encoding:",
		"coding:", "vim:", "nolint", "todo", "fixme", "export ", "cgo ", "istanbul", "@ts-", "region", "endregion", "-*-", "$schema", "import \"c\"", "pragma"} {
		if strings.HasPrefix(low, s) {
			return true
		}
	}
	first, _, _ := strings.Cut(low, "\n")
	head, _, _ := strings.Cut(first, " ")
	code := slices.Contains([]string{"const", "let", "var"}, head) && strings.Contains(first, "=") || strings.HasSuffix(first, ";") || strings.HasSuffix(first, "{") || strings.HasSuffix(first, "}")
	return code || strings.TrimLeft(low, "-=*#_~+. \n") == ""
}

// sentence is the first sentence of a text, on one line.
func sentence(clean string) string {
	clean, _, _ = strings.Cut(clean, "\n\n")
	clean = language.FirstSentence(strings.Join(strings.Fields(clean), " "), 0)
	return Clip(strings.TrimRight(clean, ".:; "), maxDoc)
}

// Clip shortens a text to n bytes, at a word if one ends near.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n-len("…")]
	if i := strings.LastIndexByte(s, ' '); i > n/2 {
		s = s[:i]
	}
	return strings.ToValidUTF8(strings.TrimRight(s, " ,;:"), "") + "…"
}
