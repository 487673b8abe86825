package source

import "strings"

// comment passes over one comment and keeps it.
func (x *lexer) comment() bool {
	from := x.pos
	if !x.passComment() {
		return false
	}
	if x.fresh { // one behind code speaks of that line alone
		x.keep(from)
	}
	return true
}

// passComment passes over one comment.
func (x *lexer) passComment() bool {
	rest := x.src[x.pos:]
	switch {
	case x.hash() && rest[0] == '#':
		if x.lang == PHP && strings.HasPrefix(rest, "#[") {
			return false
		}
		x.lineComment()
	case x.hash() && x.lang != PHP:
		return x.lang == Ruby && x.fresh && x.rubyComment(rest)
	case strings.HasPrefix(rest, "//"):
		x.lineComment()
	case strings.HasPrefix(rest, "/*"):
		x.blockComment()
	default:
		return false
	}
	return true
}

// rubyComment passes over a block comment, or what follows the program.
func (x *lexer) rubyComment(rest string) bool {
	switch {
	case strings.HasPrefix(rest, "__END__"):
		x.pos = len(x.src)
	case strings.HasPrefix(rest, "=begin") && (x.pos == 0 || x.src[x.pos-1] == '\n'):
		x.pos = x.after("\n=end")
		x.toLineEnd()
	default:
		return false
	}
	return true
}

// hash reports whether # begins a comment.
func (x *lexer) hash() bool { return x.lang == Python || x.lang == Ruby || x.lang == PHP }

func (x *lexer) lineComment() {
	from := x.pos
	x.toLineEnd()
	if x.lang == PHP { // the end of PHP ends a comment too
		if i := strings.Index(x.src[from:x.pos], "?>"); i >= 0 {
			x.pos = from + i
		}
	}
	if x.lang == C || x.lang == CPP {
		for x.pos < len(x.src) && strings.HasSuffix(strings.TrimSuffix(x.src[from:x.pos], "\r"), `\`) {
			x.pos++
			x.toLineEnd()
		}
	}
}

func (x *lexer) blockComment() {
	x.pos += 2
	if x.lang != Rust && x.lang != Kotlin {
		x.pos = x.after("*/")
		return
	}
	for depth := 1; depth > 0 && x.pos < len(x.src); {
		switch rest := x.src[x.pos:]; {
		case strings.HasPrefix(rest, "*/"):
			depth--
			x.pos += 2
		case strings.HasPrefix(rest, "/*"):
			depth++
			x.pos += 2
		default:
			x.pos++
		}
	}
}

// remark is one comment, or several lines of them.
type remark struct {
	body string
	main bool // it may say what the file is for: it stands in no body
}

// keep adds the comment that ends here to its group.
func (x *lexer) keep(from int) {
	body, n := x.src[from:x.pos], len(x.groups)
	blocks := strings.HasPrefix(body, "/*") || n > 0 && strings.HasPrefix(x.groups[n-1].body, "/*")
	if n > 0 && x.last >= 0 && !blocks && strings.Count(x.src[x.last:from], "\n") < 2 {
		if g := &x.groups[n-1]; len(g.body) < commentMost {
			g.body += "\n" + body
		}
	} else if n < groupsMost {
		x.groups = append(x.groups, remark{body, x.speaks(from, body)})
	}
	x.last = x.pos
}

// speaks reports whether a comment is about the file or something that it
// defines: one at the margin, and where definitions stand in others, one that is
// made for tools that read them.
func (x *lexer) speaks(from int, body string) bool {
	if from == 0 || x.src[from-1] == '\n' || from == len("\ufeff") {
		return true
	}
	switch x.lang {
	case Ruby:
		return true
	case Java, Kotlin, CSharp, PHP:
		return strings.HasPrefix(body, "/**") || strings.HasPrefix(body, "///")
	}
	return false
}

// What is kept of comments before one token.
const (
	commentMost = 4 << 10 // bytes of a group that are joined
	groupsMost  = 8
)

// taken are the comments since they were last taken.
func (x *lexer) taken() []remark {
	g := x.groups
	x.groups, x.last = nil, -1
	return g
}
