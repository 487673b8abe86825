package tree

import (
	"os"
	"strings"
)

// pattern is one line of an ignore file.
type pattern struct {
	glob     string
	negated  bool // !
	dirOnly  bool // ended with a slash
	anchored bool // has a slash before its end: it is matched against the whole path
	plain    bool // has no wildcards
}

// ignoreMost is how much of an ignore file is read.
const ignoreMost = 1 << 20

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

// parsePattern reads one line after gitignore(5).
func parsePattern(line string) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimSpaces(line)
	if rest, found := strings.CutPrefix(line, "!"); found {
		p.negated, line = true, rest
	}
	if strings.HasSuffix(line, "/") {
		p.dirOnly, line = true, line[:len(line)-1]
	}
	p.anchored = strings.Contains(line, "/")
	p.glob = strings.TrimPrefix(line, "/")
	p.plain = !strings.ContainsAny(p.glob, `*?[\`)
	return p, p.glob != ""
}

// trimSpaces drops spaces at the end, but not one behind a backslash.
func trimSpaces(line string) string {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	return line
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
	if p.plain {
		return subject == p.glob
	}
	g := globber{p.glob, stepsMost}
	return g.match(0, subject)
}

// stepsMost bounds the work on one name: a pattern of many stars could take
// longer than the universe.
const stepsMost = 20_000

// globber matches a glob after git: * and ? do not match a slash, ** between
// slashes matches any directories.
type globber struct {
	glob  string
	steps int
}

// match matches what follows byte i of the glob against s.
func (g *globber) match(i int, s string) bool {
	for ; i < len(g.glob); i++ {
		if g.steps--; g.steps < 0 {
			return false
		}
		c := g.glob[i]
		if c == '*' {
			return g.star(i, s)
		}
		if s == "" {
			return false
		}
		switch c {
		case '?':
			if s[0] == '/' {
				return false
			}
		case '[':
			rest, ok := class(g.glob[i:], s[0])
			if !ok || s[0] == '/' {
				return false
			}
			i = len(g.glob) - len(rest) - 1
		case '\\':
			if i++; i == len(g.glob) || g.glob[i] != s[0] {
				return false
			}
		default:
			if c != s[0] {
				return false
			}
		}
		s = s[1:]
	}
	return s == ""
}

// star matches from byte i on, where one or more stars stand.
func (g *globber) star(i int, s string) bool {
	from := i
	for i < len(g.glob) && g.glob[i] == '*' {
		i++
	}
	between := (from == 0 || g.glob[from-1] == '/') && (i == len(g.glob) || g.glob[i] == '/')
	if i-from >= 2 && between {
		if i == len(g.glob) {
			return s != ""
		}
		for {
			if g.match(i+1, s) {
				return true
			}
			slash := strings.IndexByte(s, '/')
			if slash < 0 {
				return false
			}
			s = s[slash+1:]
		}
	}
	for n := 0; ; n++ {
		if g.match(i, s[n:]) {
			return true
		}
		if n == len(s) || s[n] == '/' || g.steps < 0 {
			return false
		}
	}
}

// class matches one byte against [a-z], [!a] or [[:digit:]]; it gives the glob behind it.
func class(glob string, c byte) (rest string, ok bool) {
	i, negated, found := 1, false, false
	if i < len(glob) && (glob[i] == '!' || glob[i] == '^') {
		negated = true
		i++
	}
	for first := true; ; first = false {
		if i >= len(glob) {
			return "", false
		}
		if glob[i] == ']' && !first {
			break
		}
		if name, n := posix(glob[i:]); n > 0 {
			found = found || inPosix(name, c)
			i += n
			continue
		}
		lo := glob[i]
		if lo == '\\' && i+1 < len(glob) {
			i++
			lo = glob[i]
		}
		hi := lo
		if i+2 < len(glob) && glob[i+1] == '-' && glob[i+2] != ']' {
			i += 2
			hi = glob[i]
		}
		found = found || lo <= c && c <= hi
		i++
	}
	return glob[i+1:], found != negated
}

func posix(s string) (name string, n int) {
	if !strings.HasPrefix(s, "[:") {
		return "", 0
	}
	i := strings.Index(s[2:], ":]")
	if i < 0 {
		return "", 0
	}
	return s[2 : 2+i], 2 + i + 2
}

func inPosix(name string, c byte) bool {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	switch name {
	case "alpha":
		return lower || upper
	case "digit":
		return digit
	case "alnum":
		return lower || upper || digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r'
	case "punct":
		return c > ' ' && c < 0x7f && !lower && !upper && !digit
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	}
	return false
}
