package tree

import (
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

// pattern is one line of an ignore file.
type pattern struct {
	glob       string
	expression *regexp.Regexp // nil: the glob has no wildcards, or is a suffix
	suffix     bool           // *.log, by far the commonest form: glob is .log
	negated    bool           // !
	dirOnly    bool           // ended with a slash
	anchored   bool           // has a slash before its end: it is matched against the whole path
}

// ignoreMost is the size of the largest ignore file that is read.
const ignoreMost = 128 << 10 // bytes

// readRules reads an ignore file; one that is not there, or no file, has no rules.
func readRules(name string) []pattern {
	if name == "" {
		return nil
	}
	info, err := os.Lstat(name)
	if err != nil || info.IsDir() || info.Size() > ignoreMost {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return parseRules(strings.TrimPrefix(string(data), "\ufeff"))
}

func parseRules(text string) []pattern {
	var out []pattern
	for line := range strings.SplitSeq(text, "\n") {
		if p, ok := parsePattern(strings.TrimSuffix(line, "\r")); ok {
			out = append(out, p)
		}
	}
	return out
}

// parsePattern reads one line after gitignore(5). A pattern that git would never match is
// left out.
func parsePattern(line string) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anchored = strings.Contains(line, "/")
	p.glob = strings.TrimPrefix(line, "/")
	const signs = `*?[\`
	if rest, found := strings.CutPrefix(p.glob, "*"); found && !p.anchored && rest != "" && !strings.ContainsAny(rest, signs) {
		p.glob, p.suffix = rest, true
	} else if strings.ContainsAny(p.glob, signs) {
		text, closed := expression(bytewise(p.glob))
		var err error
		if p.expression, err = regexp.Compile(text); err != nil || !closed {
			return p, false
		}
	}
	return p, p.glob != ""
}

// matches reports whether the pattern names a path, relative to the directory
// of its file, whose last part is base.
func (p *pattern) matches(name, base string, isDir bool) bool {
	if p.dirOnly && !isDir {
		return false
	}
	subject := base
	if p.anchored {
		subject = name
	}
	switch {
	case p.suffix:
		return strings.HasSuffix(subject, p.glob)
	case p.expression == nil:
		return subject == p.glob
	}
	return p.expression.MatchString(bytewise(subject))
}

// bytewise is s with a character for each byte: git compares bytes.
func bytewise(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return s
	}
	characters := make([]rune, len(s))
	for i := range len(s) {
		characters[i] = rune(s[i])
	}
	return string(characters)
}

// expression is a glob of git as a regular expression, whose time is linear in the name: *
// and ? do not match a slash, ** between slashes matches any directories. ok is false where
// a bracket or a backslash has no end.
func expression(glob string) (text string, ok bool) {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(glob); {
		rest := glob[i:]
		first := i == 0 || glob[i-1] == '/'
		stars := len(rest) - len(strings.TrimLeft(rest, "*"))
		switch {
		case first && stars >= 2 && len(rest) == stars:
			b.WriteString(`.+`)
			i += stars
		case first && stars >= 2 && rest[stars] == '/':
			b.WriteString(`(?:.*/)?`)
			i += stars + 1
		case stars > 0:
			b.WriteString(`[^/]*`)
			i += stars
		case rest[0] == '?':
			b.WriteString(`[^/]`)
			i++
		case rest[0] == '[':
			class, n := bracket(rest)
			if n == 0 {
				return "", false
			}
			b.WriteString(class)
			i += n
		default:
			if rest[0] == '\\' {
				if rest = rest[1:]; rest == "" {
					return "", false
				}
				i++
			}
			n := len(rest) - len(strings.TrimLeftFunc(rest[1:], func(c rune) bool { return !strings.ContainsRune(`*?[\`, c) }))
			b.WriteString(regexp.QuoteMeta(rest[:n]))
			i += n
		}
	}
	return b.String() + `$`, true
}

// bracket is the class of a regular expression for [a-z], [!a] or [[:digit:]] at the
// beginning of a glob. n is its length in the glob, 0 if it has no end.
func bracket(glob string) (class string, n int) {
	class, n = "[", 1
	if strings.HasPrefix(glob[n:], "!") || strings.HasPrefix(glob[n:], "^") {
		class, n = "[^/", n+1
	}
	for from := n; n < len(glob); n++ {
		switch c := glob[n]; {
		case c == ']' && n > from:
			return class + "]", n + 1
		case strings.HasPrefix(glob[n:], "[:") && strings.Contains(glob[n+2:], ":]"):
			end := n + 2 + strings.Index(glob[n+2:], ":]") + 2
			class, n = class+glob[n:end], end-1
		case c == '\\' && n+1 < len(glob):
			n++
			class += literal(glob[n])
		case c == '-' && n > from:
			class += "-"
		default:
			class += literal(glob[n])
		}
	}
	return "", 0
}

// literal is a character of a class without a meaning.
func literal(c byte) string {
	if c == '-' {
		return `\-`
	}
	return regexp.QuoteMeta(string([]byte{c}))
}
