package source

import (
	"encoding/json"
	"path"
	"strings"

	"leanctx/formats"
)

// plain reads what is no code: module files for what imports are resolved
// with, prose for its title, and nothing of the rest.
func (r *reader) plain(src string) {
	switch r.out.Language {
	case goModule:
		r.out.Package = setting(src, "module ")
	case cargo:
		_, rest, _ := strings.Cut(src, "[package]")
		r.out.Package = strings.ReplaceAll(setting(rest, "name"), "-", "_")
	case nodeModule:
		var p struct{ Name, Description string }
		if json.Unmarshal([]byte(src), &p) == nil {
			r.out.Package = p.Name
			r.describe(p.Description)
		}
	case markdown:
		r.title(src)
	default:
		r.leading(src)
	}
}

// setting is the value of the first line that begins with a name.
func setting(src, name string) string {
	for line := range strings.Lines(src) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), name); ok {
			rest, _, _ = strings.Cut(rest, "//")
			rest, _, _ = strings.Cut(rest, "#")
			return strings.Trim(rest, " =\t\r\n\"'")
		}
	}
	return ""
}

// title takes the first heading of Markdown for what the file is about, and
// the other headings for words.
func (r *reader) title(src string) {
	fenced := false
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || !strings.HasPrefix(line, "#") {
			continue
		}
		line = unlinked(strings.TrimSpace(strings.TrimLeft(line, "#")))
		if r.out.Doc == "" {
			r.describe(strings.ToValidUTF8(line, "?"))
		}
		r.terms.add(line, weighProse)
	}
}

// link is a link or a picture in Markdown.
var link = formats.Regexp(`(!?)\[([^\[\]]*)\]\([^)]*\)`)

// unlinked is a line of Markdown without pictures and addresses.
func unlinked(line string) string {
	line = link().ReplaceAllStringFunc(line, func(l string) string {
		if l[0] == '!' {
			return ""
		}
		return link().ReplaceAllString(l, "$2")
	})
	return strings.TrimSpace(line)
}

// leading takes in the comment lines that a script or configuration begins
// with.
func (r *reader) leading(src string) {
	var lines []string
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		if line == "" && len(lines) == 0 || strings.HasPrefix(line, "#!") {
			continue
		}
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "--") && !strings.HasPrefix(line, ";") || len(lines) > 20 {
			break
		}
		lines = append(lines, line)
	}
	r.remark(strings.Join(lines, "\n"), true)
}

// generated reports whether a program wrote the file.
func generated(l Language, name, src string) bool {
	base := path.Base(name)
	if lockFiles[base] || strings.HasSuffix(base, ".lock") || strings.Contains(base, ".min.") || strings.HasSuffix(base, ".map") ||
		strings.HasSuffix(base, ".pb.go") || strings.HasSuffix(base, "_pb2.py") || strings.HasSuffix(base, ".snap") {
		return true
	}
	head := src[:min(len(src), 3000)]
	for line := range strings.Lines(head) {
		if i := strings.Index(line, "ode generated "); i > 0 && i < 8 && strings.Contains(line[i:], "DO NOT EDIT") {
			return true
		}
		if strings.Contains(line, "@generated") && commented(line) {
			return true
		}
	}
	script := l == JavaScript || l == TypeScript || l == "CSS"
	return script && len(src) > 4000 && len(src)/(strings.Count(src, "\n")+1) > 400
}

func commented(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && strings.IndexByte("/#*;-", line[0]) >= 0
}

var lockFiles = map[string]bool{
	"go.sum": true, "go.work.sum": true, "package-lock.json": true, "npm-shrinkwrap.json": true, "pnpm-lock.yaml": true, "yarn.lock": true, "bun.lockb": true,
	"Cargo.lock": true, "poetry.lock": true, "Pipfile.lock": true, "composer.lock": true, "Gemfile.lock": true, "packages.lock.json": true, "uv.lock": true, "flake.lock": true,
}
