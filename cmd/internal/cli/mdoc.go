package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mdoc is a manual page in the making, in the language of mdoc(7).
type mdoc struct{ strings.Builder }

// pageWidth is how long a line of the source may be: mandoc asks for 80.
const pageWidth = 76

func (p *mdoc) line(lines ...string) {
	for _, l := range lines {
		p.WriteString(l + "\n")
	}
}

// macro is a line of a macro and its words. Those of ours are names in lower
// case, so none is read as a macro of its own.
func (p *mdoc) macro(words ...string) { p.line("." + strings.Join(words, " ")) }

// text is paragraphs of prose, filled and set apart by empty lines; a line
// that is indented stands as it is. Every sentence begins a line, as the
// formatter wants it to know where one ends.
func (p *mdoc) text(s string) {
	literal, empty := false, false
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		indented := strings.HasPrefix(line, "  ")
		if indented != literal {
			if literal {
				p.line(".Ed")
			} else {
				p.line(".Bd -literal -offset indent")
			}
			literal, empty = indented, false
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			empty = true
			continue
		case literal:
			p.line(escape(line))
			continue
		case empty:
			p.line(".Pp")
		}
		empty = false
		p.prose(line)
	}
	if literal {
		p.line(".Ed")
	}
}

// prose is one line of text, broken after each sentence and where it is long.
func (p *mdoc) prose(s string) {
	var at string
	words := strings.Fields(s)
	for i, w := range words {
		w = escape(w)
		if at != "" && len(at)+1+len(w) > pageWidth {
			p.line(guard(at))
			at = ""
		}
		if at != "" {
			at += " "
		}
		at += w
		if i+1 < len(words) && ends(w, words[i+1]) {
			p.line(guard(at))
			at = ""
		}
	}
	if at != "" {
		p.line(guard(at))
	}
}

// ends reports whether a word is a sentence's last, by what comes after it.
func ends(word, next string) bool {
	r, _ := utf8.DecodeRuneInString(next)
	word = strings.TrimRight(word, `)]"'`)
	return !unicode.IsLower(r) && word != "" && strings.ContainsAny(word[len(word)-1:], ".!?")
}

// guard keeps a line from being read as one that begins with a macro.
func guard(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}

// escape makes of a text what the formatter prints as that text: a hyphen that
// can be copied, and letters that are not ASCII by their number.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r > unicode.MaxASCII:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func lowerFirst(s string) string { return first(s, unicode.ToLower) }
func upperFirst(s string) string { return first(s, unicode.ToUpper) }

// first changes the first letter, unless the first word is no plain one: an
// abbreviation, a name of the program's.
func first(s string, change func(rune) rune) string {
	r, n := utf8.DecodeRuneInString(s)
	word, _, _ := strings.Cut(s[n:], " ")
	if n == 0 || strings.ContainsFunc(word, func(r rune) bool { return unicode.IsUpper(r) || strings.ContainsRune("_/.", r) }) {
		return s
	}
	return string(change(r)) + s[n:]
}
