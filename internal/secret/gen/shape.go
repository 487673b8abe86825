//go:build ignore

package main

import (
	"cmp"
	"fmt"
	"log"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// What gitleaks' generator puts around an identifier and a secret.
const (
	before = `[\w.-]{0,50}?`
	gap    = `(?:[ \t\w.-]{0,20})[\s'"]{0,3}`
	op     = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`
	tail   = `(?:[\x60'"\s;]|\\[nr]|$)`
)

// entry is one row of the table; a rule that is an alternative of two forms makes two.
type entry struct {
	upstream
	form     string // assigned, prefixed or anywhere
	head     string // assigned: the identifier
	body     string // assigned: the secret; else the whole expression
	triggers []string
	start    bool   // the match starts a word
	after    string // this stands before the match
	solid    int    // so many bytes of the match at least, none of them white space
}

// shape finds out of which form a rule is.
func shape(r upstream) []entry {
	if a, b, ok := strings.Cut(r.regex, tail+`|\b(`); ok {
		first, second := r, r
		first.regex, second.regex = a+tail, `\b(`+b
		return append(shape(first), shape(second)...)
	}
	e := entry{upstream: r}
	if head, body, ok := assigned(r.regex); ok {
		e.form, e.head, e.body = "assigned", head, body
		e.triggers, _ = leads(parsed(head))
		e.solid, _ = solid(parsed(body))
		if len(e.triggers) == 0 {
			log.Fatalf("%s: no literal in %s", r.id, head)
		}
		return []entry{e}
	}
	body := strings.TrimPrefix(r.regex, `(?i)`)
	fold := body != r.regex
	body, e.start = strings.CutPrefix(body, `\b`)
	// In prose a token is followed by a comma or a bracket as often as by a blank.
	if cut, ok := strings.CutSuffix(body, tail); ok {
		body = cut + `(?:[^0-9A-Za-z_]|$)`
	}
	// What lies between curl and its option costs minutes on a text full of the word.
	if command, option, ok := strings.Cut(body, `[ \t\n\r](?:-`); ok && strings.HasPrefix(command, `curl\b`) {
		body, e.after, e.start = `(?:-`+option, "curl", false
	}
	if fold {
		body = `(?i)` + body
	}
	e.body = body
	re := parsed(body)
	var ok bool
	if e.triggers, ok = leads(re); ok {
		e.form = "prefixed"
		if !slices.ContainsFunc(e.triggers, weak) {
			e.entropy = "" // nothing else looks like this, and a made-up one is no loss
		}
		e.solid, _ = solid(re)
		return []entry{e}
	}
	e.form, e.triggers, e.start, e.body = "anywhere", r.keywords, false, strings.Replace(r.regex, tail, `(?:[^0-9A-Za-z_]|$)`, 1)
	log.Printf("%-28s is looked for in the whole text: %.60s", r.id, r.regex)
	return []entry{e}
}

// weak reports whether ordinary words begin with the trigger.
func weak(trigger string) bool { return len(trigger) < 4 || !strings.ContainsAny(trigger, "_-.") }

// assigned takes `identifier = secret` apart.
func assigned(re string) (head, body string, ok bool) {
	fold := "(?i:%s)"
	rest, ok := strings.CutPrefix(re, `(?i)`+before)
	if !ok {
		if rest, ok = strings.CutPrefix(re, before+`(?i:`+before); !ok {
			return "", "", false
		}
		rest, fold = strings.Replace(rest, gap+`)`, gap, 1), "%s"
	}
	head, body, ok = strings.Cut(rest, gap+op+`(`)
	if !ok {
		return "", "", false
	}
	body, ok = strings.CutSuffix(body, `)`+tail)
	return "(?i:" + head + ")", fmt.Sprintf(fold, body), ok
}

func parsed(re string) *syntax.Regexp {
	p, err := syntax.Parse(re, syntax.Perl)
	if err != nil {
		log.Fatalf("%s: %v", re, err)
	}
	return p
}

// leads returns the literals, two to sixteen bytes each, with one of which every match begins.
func leads(re *syntax.Regexp) ([]string, bool) {
	words := prefixes(re)
	for i, w := range words {
		words[i] = strings.ToLower(w[:min(len(w), 16)])
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	var kept []string
	for _, w := range words {
		if len(w) < 2 {
			return nil, false
		}
		if len(words) > 24 {
			w = w[:min(len(w), 4)]
		}
		if !slices.ContainsFunc(kept, func(k string) bool { return strings.HasPrefix(w, k) }) {
			kept = append(kept, w)
		}
	}
	return kept, len(kept) > 0 && len(kept) <= 16
}

// prefixes enumerates what a match can begin with, as far as that is a short list.
func prefixes(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCapture:
		return prefixes(re.Sub[0])
	case syntax.OpEmptyMatch, syntax.OpWordBoundary:
		return []string{""}
	case syntax.OpQuest:
		return append([]string{""}, prefixes(re.Sub[0])...)
	case syntax.OpCharClass:
		var out []string
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
				if len(out) > 12 || c > unicode.MaxASCII {
					return nil
				}
				out = append(out, string(c))
			}
		}
		return out
	case syntax.OpAlternate:
		var out []string
		for _, s := range re.Sub {
			p := prefixes(s)
			if len(p) == 0 {
				return nil
			}
			out = append(out, p...)
		}
		return out
	case syntax.OpConcat:
		return product(re.Sub)
	}
	return nil
}

// product joins the prefixes of parts that follow each other, while they are few.
func product(parts []*syntax.Regexp) []string {
	out := []string{""}
	for _, s := range parts {
		p := prefixes(s)
		if len(p) == 0 || len(p)*len(out) > 48 {
			break
		}
		var next []string
		for _, a := range out {
			for _, b := range p {
				next = append(next, a+b)
			}
		}
		out = next
	}
	return out
}

// solid returns how many bytes at the start of every match are certainly not white space. whole
// says that no match can contain white space.
func solid(re *syntax.Regexp) (n int, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), !strings.ContainsAny(string(re.Rune), " \t\r\n")
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= ' ' && ' ' <= re.Rune[i+1] || re.Rune[i] <= '\n' && '\t' <= re.Rune[i+1] {
				return 0, false
			}
		}
		return 1, true
	case syntax.OpCapture:
		return solid(re.Sub[0])
	case syntax.OpRepeat:
		n, whole := solid(re.Sub[0])
		if !whole {
			return 0, false
		}
		return n * re.Min, true
	case syntax.OpPlus:
		return solid(re.Sub[0])
	case syntax.OpStar, syntax.OpQuest:
		_, whole := solid(re.Sub[0])
		return 0, whole
	case syntax.OpConcat:
		for _, s := range re.Sub {
			m, whole := solid(s)
			n += m
			if !whole {
				return n, false
			}
		}
		return n, true
	case syntax.OpAlternate:
		n, whole = solid(re.Sub[0])
		for _, s := range re.Sub[1:] {
			m, w := solid(s)
			n, whole = min(n, m), whole && w
		}
		return n, whole
	case syntax.OpWordBoundary, syntax.OpEmptyMatch:
		return 0, true
	}
	return 0, false
}

// literal is the row as Go source.
func (e entry) literal() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{id: %q, form: %s, triggers: %#v, body: %s", e.id, e.form, e.triggers, quote(e.body))
	if e.head != "" {
		fmt.Fprintf(&b, ", head: %s", quote(e.head))
	}
	if e.start {
		b.WriteString(", start: true")
	}
	if e.after != "" {
		fmt.Fprintf(&b, ", after: %q", e.after)
	}
	if e.solid > 0 {
		fmt.Fprintf(&b, ", solid: %d", e.solid)
	}
	if e.entropy != "" {
		fmt.Fprintf(&b, ", entropy: %s", e.entropy)
	}
	if e.group != "" {
		fmt.Fprintf(&b, ", group: %s", e.group)
	}
	if e.id == "generic-api-key" {
		b.WriteString(", broad: 2")
	}
	if len(e.allow) > 0 {
		fmt.Fprintf(&b, ", allow: %s", quote(strings.Join(e.allow, "|")))
	}
	if len(e.allowAll) > 0 {
		fmt.Fprintf(&b, ", allowAll: %s", quote(strings.Join(e.allowAll, "|")))
	}
	return b.String() + "},"
}

func quote(s string) string {
	if strings.Contains(s, "`") {
		return fmt.Sprintf("%q", s)
	}
	return "`" + s + "`"
}
