package source

import (
	"path"
	"strings"
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

// Languages of files that say how imports are meant, and of prose.
const (
	goModule   Language = "Go module"
	nodeModule Language = "Node package"
	tsConfig   Language = "TypeScript configuration"
	cargo      Language = "Cargo package"
	markdown   Language = "Markdown"
)

// Of tells the language of a file by its name.
func Of(name string) Language {
	base := path.Base(name)
	if l, ok := byName(base); ok {
		return l
	}
	return byExtension(strings.ToLower(path.Ext(base)))
}

func byName(base string) (Language, bool) {
	switch base {
	case "go.mod":
		return goModule, true
	case "package.json":
		return nodeModule, true
	case "Cargo.toml":
		return cargo, true
	case "Makefile", "makefile", "GNUmakefile":
		return "Make", true
	case "Dockerfile", "Containerfile":
		return "Docker", true
	case "Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "config.ru":
		return Ruby, true
	case "SConstruct", "SConscript", "wscript":
		return Python, true
	case "CMakeLists.txt":
		return "CMake", true
	}
	if strings.HasSuffix(base, ".json") && (strings.HasPrefix(base, "tsconfig") || strings.HasPrefix(base, "jsconfig")) {
		return tsConfig, true
	}
	return "", false
}

func byExtension(ext string) Language {
	switch ext {
	case ".go":
		return Go
	case ".ts", ".tsx", ".mts", ".cts":
		return TypeScript
	case ".js", ".jsx", ".mjs", ".cjs":
		return JavaScript
	case ".py", ".pyi", ".pyw":
		return Python
	case ".rs":
		return Rust
	case ".java":
		return Java
	case ".kt", ".kts":
		return Kotlin
	case ".c":
		return C
	case ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inl", ".ipp":
		return CPP
	case ".cs":
		return CSharp
	case ".rb", ".rake", ".gemspec":
		return Ruby
	case ".php", ".phtml":
		return PHP
	case ".md", ".markdown":
		return markdown
	}
	return otherText(ext)
}

// otherText are languages of which only the name is told.
func otherText(ext string) Language {
	switch ext {
	case ".sh", ".bash", ".zsh":
		return "Shell"
	case ".sql":
		return "SQL"
	case ".html", ".htm":
		return "HTML"
	case ".css", ".scss", ".less":
		return "CSS"
	case ".json", ".jsonc", ".json5":
		return "JSON"
	case ".yaml", ".yml":
		return "YAML"
	case ".toml":
		return "TOML"
	case ".proto":
		return "Protocol Buffers"
	case ".rst", ".txt", ".adoc":
		return "Text"
	case ".s", ".asm":
		return "Assembly"
	case ".swift":
		return "Swift"
	case ".scala":
		return "Scala"
	case ".vue", ".svelte":
		return "Component"
	}
	return ""
}

// Code reports whether definitions are read from files of the language.
func (l Language) Code() bool {
	switch l {
	case Go, TypeScript, JavaScript, Python, Rust, Java, Kotlin, C, CPP, CSharp, Ruby, PHP:
		return true
	}
	return false
}
