package source

import (
	"path"
	"regexp"
	"strings"

	"leanctx/formats"
)

// Language is the name of a language, as people write it; empty if a file's
// name does not tell it.
type Language string

// The languages whose definitions and imports are read.
const (
	Go         Language = "Go"
	TypeScript Language = "TypeScript"
	JavaScript Language = "JavaScript"
	Python     Language = "Python"
	Rust       Language = "Rust"
	Java       Language = "Java"
	Kotlin     Language = "Kotlin"
	C          Language = "C"
	CPP        Language = "C++"
	CSharp     Language = "C#"
	Ruby       Language = "Ruby"
	PHP        Language = "PHP"
)

// Languages of files that say how imports are resolved, and of prose.
const (
	goModule   Language = "Go module"
	nodeModule Language = "Node package"
	cargo      Language = "Cargo package"
	markdown   Language = "Markdown"
)

var byName = map[string]Language{
	"go.mod": goModule, "package.json": nodeModule, "Cargo.toml": cargo, "Makefile": "Make", "makefile": "Make", "GNUmakefile": "Make",
	"Dockerfile": "Docker", "Containerfile": "Docker", "CMakeLists.txt": "CMake", "Rakefile": Ruby, "Gemfile": Ruby, "SConstruct": Python,
}

var byExtension = map[string]Language{
	".go": Go, ".ts": TypeScript, ".tsx": TypeScript, ".mts": TypeScript, ".cts": TypeScript, ".js": JavaScript, ".jsx": JavaScript, ".mjs": JavaScript, ".cjs": JavaScript,
	".py": Python, ".pyi": Python, ".pyw": Python, ".rs": Rust, ".java": Java, ".kt": Kotlin, ".kts": Kotlin, ".cs": CSharp, ".php": PHP, ".phtml": PHP,
	".c": C, ".h": CPP, ".cc": CPP, ".cpp": CPP, ".cxx": CPP, ".hh": CPP, ".hpp": CPP, ".hxx": CPP, ".inl": CPP, ".ipp": CPP, ".rb": Ruby, ".rake": Ruby, ".gemspec": Ruby,
	".md": markdown, ".markdown": markdown, ".sh": "Shell", ".bash": "Shell", ".zsh": "Shell", ".sql": "SQL", ".html": "HTML", ".htm": "HTML",
	".css": "CSS", ".scss": "CSS", ".less": "CSS", ".json": "JSON", ".jsonc": "JSON", ".json5": "JSON", ".yaml": "YAML", ".yml": "YAML", ".toml": "TOML",
	".proto": "Protocol Buffers", ".rst": "Text", ".txt": "Text", ".adoc": "Text", ".s": "Assembly", ".asm": "Assembly", ".swift": "Swift", ".scala": "Scala",
	".vue": "Component", ".svelte": "Component",
}

// Of tells the language of a file by its name.
func Of(name string) Language {
	base := path.Base(name)
	if l, ok := byName[base]; ok {
		return l
	}
	return byExtension[strings.ToLower(path.Ext(base))]
}

// Code reports whether definitions are read from files of the language.
func (l Language) Code() bool { return l == Go || syntaxes[l] != nil }

// syntax is one row of the table: how a language writes comments, strings,
// definitions and imports.
type syntax struct {
	line   []string // begin a comment that ends with the line
	blocks []block
	quotes string // each begins and ends a string on one line
	inner  bool   // an indented comment may say what the file is for
	calls  bool   // a definition may look like a call: names and types are checked
	// The patterns. The last group that matched is the name; specs may read an
	// import in another way. nil: there is none.
	names, imports, pkg func() *regexp.Regexp
	specs               func(groups []string) []string
}

// block is a comment or a string that may have several lines.
type block struct {
	open, close string
	comment     bool // or a string that documents what it is in
	escapes     bool // a backslash takes the next byte's meaning
}

const (
	arguments = `\((?:[^();]|\([^()]*\))*\)` // parentheses two deep
	before    = `(?m)^[^"'=(;\n]*?\b`        // words before a keyword
	method    = `^[ \t]+(?:@\w+(?:\([^)\n]*\))?[ \t]+)*[\w.]+[\w<>\[\],.?& \t]*[ \t](\w+)[ \t]*(?:<[^<>()]*>)?` + arguments + `[^;{}=()"]*(?:[;{]|=>)`
)

var (
	cComment  = block{open: "/*", close: "*/", comment: true}
	threefold = block{open: `"""`, close: `"""`, escapes: true}
	slashes   = []string{"//"}

	script = &syntax{
		line: slashes, blocks: []block{cComment, {open: "`", close: "`", escapes: true}}, quotes: `"'/`, calls: true,
		names: formats.Regexp(`(?m)^[ \t]*(?:export[ \t]+)?(?:(?:default|declare|abstract|async)[ \t]+)*(?:function\b[ \t]*\*?|class|interface|(?:const[ \t]+)?enum|type|namespace|module)[ \t]+([\w$]+)` +
			`|^(?:export[ \t]+)?(?:declare[ \t]+)?(?:const|let|var)[ \t]+([\w$]+)|^(?:module\.)?exports\.([\w$]+)[ \t]*=` +
			`|^[ \t]+(?:(?:public|private|protected|static|async|get|set|override|abstract|readonly)[ \t]+)*\*?([\w$]+)[ \t]*(?:<[^<>()]*>)?` + arguments + `[ \t]*(?::[^{};=\n]*)?\{`),
		imports: formats.Regexp(`(?m)^[ \t]*(?:import|export)\b(?:[\w\s,*${}]*?\bfrom)?\s*["']([^"'\n]+)["']|\b(?:require|import)\s*\(\s*["']([^"'\n]+)["']`),
	}
	native = &syntax{
		line: slashes, blocks: []block{cComment}, quotes: `"'`, calls: true,
		names: formats.Regexp(`(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)\n]*\))?[ \t]+\S` +
			`|^[^"'=(;\n]*?\b(?:class|struct|union|enum)[ \t]+(?:\w+[ \t]+)*?(\w+)(?:[ \t]+final)?\s*(?::[^;{}()]*)?\{` +
			`|^[A-Za-z_][\w \t*&:<>,]*?[\s*&:]~?(\w+)[ \t]*` + arguments + `[^;{}()="]*[;{]` +
			`|^[ \t]+[\w:<>,*& \t]*[ \t*&]~?(\w+)[ \t]*` + arguments + `[^;{}()="]*\{`),
		imports: formats.Regexp(`(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]`),
		pkg:     formats.Regexp(`(?m)^[ \t]*(?:inline[ \t]+)?namespace[ \t]+([\w:]+)`),
	}
)

var syntaxes = map[Language]*syntax{
	JavaScript: script,
	TypeScript: script,
	C:          native,
	CPP:        native,
	Python: {
		line: []string{"#"}, blocks: []block{{`"""`, `"""`, true, true}, {"'''", "'''", true, true}}, quotes: `"'`,
		names:   formats.Regexp(`(?m)^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=[^=]`),
		imports: formats.Regexp(`(?m)(?:^|[;:])[ \t]*(?:import[ \t]+([\w., \t]+)|from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n;]+))`),
		specs:   pythonSpecs,
	},
	Rust: {
		line: slashes, blocks: []block{cComment, {open: `r#"`, close: `"#`}}, quotes: `"`,
		names: formats.Regexp(`(?m)^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:(?:(?:default|async|unsafe|const|extern(?:[ \t]+"[^"\n]*")?)[ \t]+)*(?:fn|struct|enum|union|trait|type|macro_rules!)[ \t]+(\w+)` +
			`|(?:const|static)[ \t]+(?:mut[ \t]+)?(\w+)[ \t]*:|mod[ \t]+(\w+)\s*\{)`),
		imports: formats.Regexp(`(?m)^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:use[ \t]+([^;]+)|mod[ \t]+(\w+))[ \t]*;`),
		specs: func(groups []string) []string {
			if groups[2] != "" {
				return []string{"mod:" + groups[2]}
			}
			return usePaths(groups[1], "::")
		},
	},
	Java: {
		line: slashes, blocks: []block{cComment, threefold}, quotes: `"'`, calls: true,
		names:   formats.Regexp(before + `(?:class|interface|enum|record)[ \t]+(\w+)|` + method),
		imports: formats.Regexp(`(?m)^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+\*?)[ \t]*;`),
		pkg:     formats.Regexp(`(?m)^[ \t]*package[ \t]+([\w.]+)`),
	},
	Kotlin: {
		line: slashes, blocks: []block{cComment, threefold}, quotes: `"'`,
		names:   formats.Regexp(before + `(?:class|interface|object)[ \t]+(\w+)|` + before + `fun[ \t]+(?:<[^<>]*>[ \t]*)?(?:[\w.<>?, ]+\.)?(\w+)[ \t]*\(|^[ \t]*(?:const[ \t]+)?va[lr][ \t]+(\w+)`),
		imports: formats.Regexp(`(?m)^import[ \t]+([\w.]+\*?)`),
		pkg:     formats.Regexp(`(?m)^[ \t]*package[ \t]+([\w.]+)`),
	},
	CSharp: {
		line: append([]string{"#"}, slashes...), blocks: []block{cComment, threefold, {open: `@"`, close: `"`}}, quotes: `"'`, calls: true,
		names:   formats.Regexp(before + `(?:class|struct|interface|enum|record(?:[ \t]+(?:struct|class))?)[ \t]+(\w+)|` + method),
		imports: formats.Regexp(`(?m)^[ \t]*(?:global[ \t]+)?using[ \t]+(?:static[ \t]+)?(?:\w+[ \t]*=[ \t]*)?([\w.]+)[ \t]*;`),
		pkg:     formats.Regexp(`(?m)^[ \t]*namespace[ \t]+([\w.]+)`),
	},
	Ruby: {
		line: []string{"#"}, blocks: []block{{open: "\n=begin", close: "\n=end", comment: true}}, quotes: `"'`, inner: true,
		names:   formats.Regexp(`(?m)^[ \t]*(?:private[ \t]+)?def[ \t]+(?:\w+\.)?(\w+)|^[ \t]*(?:class|module)[ \t]+(?:[A-Z]\w*::)*([A-Z]\w*)`),
		imports: formats.Regexp(`(?m)^[ \t]*(?:(?:require|load|autoload)\b[^"'\n]*["']([^"'\n]+)|require_relative[ \t(]+["']([^"'\n]+))`),
		specs: func(groups []string) []string {
			if groups[2] != "" {
				return []string{"./" + groups[2]}
			}
			return groups[1:2]
		},
	},
	PHP: {
		line: slashes, blocks: []block{cComment}, quotes: `"'`,
		names: formats.Regexp(`(?mi)^[ \t]*(?:<\?php[ \t]+)?(?:(?:abstract|final|readonly)[ \t]+)*(?:class|interface|trait|enum)[ \t]+(\w+)` +
			`|^[ \t]*(?:(?:public|protected|private|static|abstract|final)[ \t]+)*function[ \t]+&?[ \t]*(\w+)`),
		imports: formats.Regexp(`(?m)^use[ \t]+(?:(?:function|const)[ \t]+)?([^;("']+);|\b(?:require|include)(?:_once)?\b[^;"'\n]*["']([^"'\n]+)["']`),
		pkg:     formats.Regexp(`(?m)^(?:<\?php[ \t]+)?namespace[ \t]+([\w\\]+)`),
		specs: func(groups []string) []string {
			if groups[2] != "" {
				return []string{"./" + strings.TrimLeft(groups[2], "./")}
			}
			return usePaths(groups[1], `\`)
		},
	},
}

// notNames are words before parentheses that name no function.
var notNames = wordSet("if for while switch return catch sizeof defined using lock do else try super this await function new throw operator requires " +
	"alignas decltype noexcept static_assert typeof asm base where constructor foreach synchronized fixed unless elsif __attribute__ __declspec")

// notTypes are words that begin a statement and no definition of a method.
var notTypes = wordSet("return throw new else await yield case goto delete assert using")

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

func pythonSpecs(groups []string) (specs []string) {
	module := groups[2]
	if module != "" {
		specs = append(specs, module)
	}
	for name := range strings.SplitSeq(strings.Trim(groups[1]+groups[3], " \t()\\"), ",") {
		name, _, _ = strings.Cut(strings.Trim(name, " \t\r\n()\\"), " ")
		switch {
		case name == "" || name == "*":
		case module != "":
			specs = append(specs, module+":"+name)
		default:
			specs = append(specs, name)
		}
	}
	return specs
}

const maxUse = 4 << 10 // bytes of one import

var useGroup = formats.Regexp(`([^{},]*)\{([^{}]*)\}`)

// usePaths are the paths of a use of Rust or PHP: a::{b, c::d as e}. It takes
// the innermost braces apart until there are none.
func usePaths(spec, separator string) (paths []string) {
	spec = strings.Join(strings.Fields(spec[:min(len(spec), maxUse)]), " ")
	for range 10 {
		spec = useGroup().ReplaceAllStringFunc(spec, func(group string) string {
			prefix, inner, _ := strings.Cut(strings.TrimSuffix(group, "}"), "{")
			parts := strings.Split(inner, ",")
			for i, p := range parts {
				parts[i] = prefix + strings.TrimSpace(p)
			}
			return strings.Join(parts, ",")
		})
	}
	for path := range strings.SplitSeq(spec, ",") {
		path, _, _ = strings.Cut(strings.TrimSpace(path), " as ")
		path = strings.TrimSuffix(strings.TrimSuffix(path, "*"), "self")
		paths = append(paths, strings.TrimPrefix(strings.TrimSuffix(path, separator), separator))
	}
	return paths
}
