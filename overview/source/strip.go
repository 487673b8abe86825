package source

import "strings"

// comment is one comment, or several lines of them, and where it begins.
type comment struct {
	at   int
	body string
	main bool // it may say what the file is for
}

const (
	maxComment = 4 << 10 // bytes of comment lines that are joined
	maxString  = 2 << 10 // bytes of a string on one line
)

// beforeRegexp has the characters that may precede a regular expression of JavaScript. After
// any other character a slash means division.
const beforeRegexp = "\x00(=,:[!&|?{};"

// stripper goes through a file once.
type stripper struct {
	*syntax
	src     string
	code    []byte // as long as src; comments and long strings are spaces in it
	remarks []comment
	first   bool // nothing but space since the last line feed
	prev    byte // the last byte that is no space
}

func strip(s *syntax, src string) *stripper {
	p := &stripper{syntax: s, src: src, code: []byte(src), first: true}
	for i := 0; i < len(src); {
		i = p.step(i)
	}
	return p
}

// step passes over the comment, the string or the byte at i.
func (p *stripper) step(i int) int {
	rest, first := p.src[i:], p.first
	c, prev := rest[0], p.prev
	if c > ' ' {
		p.prev = c
	}
	p.first = c == '\n' || first && (c == ' ' || c == '\t' || c == '\r')
	if c >= 'a' && c <= 'z' && c != 'r' || c == ' ' {
		return i + 1 // it begins nothing; most bytes are such
	}
	for _, b := range p.blocks {
		if strings.HasPrefix(rest, b.open) {
			n, _ := closing(rest[len(b.open):], b.close, b.escapes)
			return p.skip(i, i+len(b.open)+n, b.comment && (first || c == '\n'))
		}
	}
	for _, mark := range p.line {
		if strings.HasPrefix(rest, mark) {
			line, _, _ := strings.Cut(rest, "\n")
			return p.skip(i, i+len(line), first)
		}
	}
	if strings.IndexByte(p.quotes, c) >= 0 && (c != '/' || strings.IndexByte(beforeRegexp, prev) >= 0) {
		line, _, _ := strings.Cut(rest[1:min(len(rest), maxString)], "\n")
		if n, ok := closing(line, rest[:1], true); ok {
			return i + 1 + n
		}
	}
	return i + 1 // also a quote that nothing closes on its line: a lifetime, an apostrophe
}

// closing is where the mark ends that closes s; without one, the end of s.
func closing(s, mark string, escapes bool) (end int, ok bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], mark):
			return i + len(mark), true
		}
	}
	return len(s), false
}

// skip makes spaces of a comment or a long string, line feeds included. It keeps
// the text as a remark if keep is set. Comment lines without an empty line
// between them are one remark.
func (p *stripper) skip(from, to int, keep bool) int {
	for i := from; i < to; i++ {
		p.code[i] = ' '
	}
	if !keep {
		return to
	}
	body := p.src[from:to]
	if n := len(p.remarks); n > 0 && p.joins(&p.remarks[n-1], from) {
		last := &p.remarks[n-1]
		last.body = p.src[last.at:to]
		return to
	}
	margin := from == 0 || p.src[from-1] == '\n' || body[0] == '\n'
	made := strings.HasPrefix(body, "/**") || strings.HasPrefix(body, "///") || body[0] == '"' || body[0] == '\'' // for documentation
	p.remarks = append(p.remarks, comment{from, body, margin || made || p.inner})
	return to
}

// joins reports whether a comment line at from continues a remark.
func (p *stripper) joins(last *comment, from int) bool {
	end := last.at + len(last.body)
	isLine := func(i int) bool { return p.src[i] == '#' || strings.HasPrefix(p.src[i:], "//") }
	return isLine(last.at) && isLine(from) && len(last.body) < maxComment && strings.TrimSpace(p.src[end:from]) == "" && strings.Count(p.src[end:from], "\n") < 2
}
