package language

import (
	"path"
	"slices"
	"strings"
)

// Command is a shell command as it is read: what it does and what it names.
type Command struct {
	Words    string // its programs, arguments and options, without here-documents
	Paths    []string
	Purposes []Purpose
}

// Bounds of a command. What is behind them is text that the command is fed with.
const (
	maxCommand = 16 << 10
	maxWords   = 200
)

// runners run the command that follows them.
var runners = []string{"sudo", "doas", "env", "time", "nohup", "command", "exec", "nice", "xargs", "npx", "bunx", "stdbuf", "timeout", "then", "do", "else", "!"}

// interpreters are programs that say nothing of what they run.
var interpreters = []string{"python", "python3", "node", "ruby", "perl", "bash", "sh", "zsh", "php", "deno", "pwsh"}

// programs tell a purpose alone, or with the first argument that is no option.
var programs = map[string]map[string]Purpose{
	"git":        {"commit": Commit, "push": Review, "merge": Review, "rebase": Review, "switch": Branch, "checkout": Branch, "branch": Branch, "tag": Release},
	"gh":         {"pr": Review, "release": Release},
	"glab":       {"mr": Review, "release": Release},
	"hg":         {"commit": Commit, "push": Review, "merge": Review},
	"npm":        {"install": Dependency, "i": Dependency, "add": Dependency, "uninstall": Dependency, "update": Dependency, "test": Test, "t": Test, "publish": Release, "version": Release},
	"pnpm":       {"install": Dependency, "i": Dependency, "add": Dependency, "remove": Dependency, "up": Dependency, "update": Dependency, "test": Test, "publish": Release},
	"yarn":       {"add": Dependency, "remove": Dependency, "upgrade": Dependency, "test": Test, "publish": Release},
	"bun":        {"add": Dependency, "remove": Dependency, "test": Test, "install": Dependency},
	"pip":        {"install": Dependency, "uninstall": Dependency},
	"pip3":       {"install": Dependency, "uninstall": Dependency},
	"uv":         {"add": Dependency, "remove": Dependency, "pip": Dependency, "publish": Release},
	"poetry":     {"add": Dependency, "remove": Dependency, "update": Dependency, "publish": Release, "build": Build},
	"cargo":      {"add": Dependency, "update": Dependency, "test": Test, "nextest": Test, "build": Build, "fmt": Format, "clippy": Format, "publish": Release},
	"go":         {"get": Dependency, "mod": Dependency, "test": Test, "build": Build, "fmt": Format, "vet": Format},
	"bundle":     {"add": Dependency, "update": Dependency, "install": Dependency},
	"gem":        {"install": Dependency, "push": Release},
	"composer":   {"require": Dependency, "update": Dependency},
	"apt":        {"install": Dependency},
	"apt-get":    {"install": Dependency},
	"brew":       {"install": Dependency},
	"mvn":        {"test": Test, "verify": Test, "package": Build, "deploy": Release},
	"dotnet":     {"add": Dependency, "test": Test, "build": Build},
	"make":       {"test": Test, "check": Test, "lint": Format, "fmt": Format, "deploy": Deploy, "release": Release, "": Build},
	"cmake":      {"": Build},
	"ninja":      {"": Build},
	"bazel":      {"test": Test, "build": Build},
	"west":       {"build": Build},
	"docker":     {"build": Build, "push": Deploy},
	"kubectl":    {"apply": Deploy, "rollout": Deploy, "delete": Deploy},
	"helm":       {"install": Deploy, "upgrade": Deploy},
	"terraform":  {"apply": Deploy, "plan": Deploy},
	"fly":        {"deploy": Deploy},
	"vercel":     {"": Deploy},
	"kamal":      {"deploy": Deploy},
	"cap":        {"": Deploy},
	"pytest":     {"": Test},
	"tox":        {"": Test},
	"jest":       {"": Test},
	"vitest":     {"": Test},
	"playwright": {"test": Test},
	"rspec":      {"": Test},
	"phpunit":    {"": Test},
	"ctest":      {"": Test},
	"eslint":     {"": Format},
	"prettier":   {"": Format},
	"ruff":       {"": Format},
	"black":      {"": Format},
	"gofmt":      {"": Format},
	"rubocop":    {"": Format},
	"alembic":    {"": Migrate},
	"rake":       {"db:migrate": Migrate},
	"rails":      {"db:migrate": Migrate, "test": Test},
	"flyway":     {"": Migrate},
	"prisma":     {"migrate": Migrate},
	"twine":      {"": Release},
	"goreleaser": {"": Release},
}

// ReadCommand takes a shell command apart. Any text will do: one with quotes that never end is read to its end.
func ReadCommand(text string) (c Command) {
	var all []string
	for _, simple := range simpleCommands(strings.ToValidUTF8(text[:min(len(text), maxCommand)], " ")) {
		for len(simple) > 1 && (slices.Contains(runners, simple[0]) || assigns(simple[0]) || strings.HasPrefix(simple[0], "-")) {
			simple = simple[1:]
		}
		if len(simple) == 0 {
			continue
		}
		program, verb := path.Base(simple[0]), ""
		if program == "python" || program == "python3" { // python -m pytest
			if i := slices.Index(simple, "-m"); i >= 0 && i+1 < len(simple) {
				program = simple[i+1]
			}
		}
		if i := slices.IndexFunc(simple[1:], func(w string) bool { return !strings.HasPrefix(w, "-") }); i >= 0 {
			verb = simple[1+i]
		}
		purpose, ok := programs[program][verb]
		if !ok {
			purpose = programs[program][""]
		}
		if purpose != "" && !slices.Contains(c.Purposes, purpose) {
			c.Purposes = append(c.Purposes, purpose)
		}
		if slices.Contains(interpreters, path.Base(simple[0])) {
			simple[0] = ""
		}
		for i, w := range simple {
			if i > 0 && isPath(w) {
				c.Paths = append(c.Paths, w)
			}
		}
		all = append(all, slices.DeleteFunc(simple, func(w string) bool { return w == "" })...)
	}
	c.Words = strings.Join(all[:min(len(all), maxWords)], " ")
	return c
}

// assigns reports whether a word gives a variable its value.
func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// isPath reports whether a word names a file: it has a slash or an extension, and is no address and no option.
func isPath(word string) bool {
	if strings.HasPrefix(word, "-") || strings.ContainsAny(word, " \t\n*?\"'`$=<>|:@") || len(word) > 300 {
		return false
	}
	ext := path.Ext(word)
	return strings.Contains(word, "/") || len(ext) > 1 && len(ext) <= 6 && len(ext) < len(word) && strings.Trim(ext[1:], "0123456789") != ""
}

// simpleCommands cuts a text into its commands, each into words, as a shell does. Here-documents are left out. A quote that
// never ends takes the rest of the text.
func simpleCommands(text string) (out [][]string) {
	var current []string
	var word strings.Builder
	began := false
	endWord := func() {
		if began {
			current = append(current, word.String())
		}
		word.Reset()
		began = false
	}
	endCommand := func() {
		if endWord(); len(current) > 0 {
			out = append(out, current)
		}
		current = nil
	}
	var documents []string // the ends of here-documents whose text begins at the next line
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			if i+1 < len(text) {
				if i++; text[i] != '\n' {
					word.WriteByte(text[i])
					began = true
				}
			}
		case '\'', '"', '`':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				end = len(text) - i - 1
			}
			word.WriteString(text[i+1 : i+1+end])
			began = true
			i += end + 1
		case ' ', '\t', '\r', '(', ')':
			endWord()
		case '\n':
			endCommand()
			for _, end := range documents {
				i = afterDocument(text, i, end)
			}
			documents = nil
		case ';', '&', '|':
			endCommand()
		case '<':
			if strings.HasPrefix(text[i:], "<<") && !strings.HasPrefix(text[i:], "<<<") {
				endWord()
				name := strings.TrimLeft(text[i+2:], "- ")
				name = strings.TrimLeft(name, `'"\`)
				end := strings.IndexFunc(name, func(r rune) bool {
					return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
				})
				if end < 0 {
					end = len(name)
				}
				if end > 0 {
					documents = append(documents, name[:end])
				}
				i = len(text) - len(name) + end - 1
				if i+1 < len(text) && (text[i+1] == '\'' || text[i+1] == '"') {
					i++
				}
				continue
			}
			endWord()
		case '>':
			endWord()
		default:
			word.WriteByte(c)
			began = true
		}
	}
	endCommand()
	return out
}

// afterDocument is where the line ends that ends a here-document, which begins after the line feed at i.
func afterDocument(text string, i int, end string) int {
	for i < len(text)-1 {
		line, _, _ := strings.Cut(text[i+1:], "\n")
		i += 1 + len(line)
		if strings.TrimSpace(line) == end {
			break
		}
	}
	return min(i, len(text)-1)
}
