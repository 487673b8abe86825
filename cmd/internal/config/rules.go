package config

import (
	_ "embed"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/secret"
)

// What a repository brings is bounded: anybody may have written it. The user's own file is not.
const (
	maxProjectFile = 64 << 10 // bytes
	maxRules       = 50
	maxSteps       = 500 // of all expressions together: each may be tried at each byte of a text
)

// ordinary is prose as it is stored about projects, its lines joined to one. A rule of a repository
// that matches in it would take out what was remembered, and not only secrets. It is tried
// before the first text is cleaned, so it is short.
var ordinary = strings.ReplaceAll(ordinaryLines, "\n", " ") + "\r\n\t"

//go:embed ordinary.txt
var ordinaryLines string

// Redactor takes secrets out by the built-in rules, the user's own and those of the project's file.
// The latter are read when a text is first cleaned: a hook that only tells pays nothing for them.
func (s Settings) Redactor() (*secret.Redactor, error) {
	r := secret.BuiltIn()
	if len(s.Sensitive) > 0 {
		var err error
		if r, err = secret.New(s.Sensitive); err != nil {
			return nil, err
		}
	}
	if len(s.Brought) > 0 {
		r = r.WithRepository(func() []secret.RepositoryRule {
			rules, _ := bounded(s.Brought)
			return rules
		})
	}
	return r, nil
}

// Ineffective says what of the project's file does not count. Anybody may have written it: it is for
// a person, never for a model.
func (s Settings) Ineffective() []string {
	_, refused := bounded(s.Brought)
	for i := range refused {
		refused[i] = s.broughtBy + ": " + refused[i]
	}
	all := slices.Concat(s.Repository, refused)
	if n := len(all) - maxTold; n > 0 {
		all = append(all[:maxTold], fmt.Sprintf("%s: %d more", s.broughtBy, n))
	}
	return all
}

// bounded are the rules of a repository that count, and why others do not.
func bounded(rules []secret.Rule) (kept []secret.RepositoryRule, refused []string) {
	if n := len(rules) - maxRules; n > 0 {
		refused = append(refused, fmt.Sprintf("%s after the first %d do not count", prose.Count(n, "rule"), maxRules))
		rules = rules[:maxRules]
	}
	left := maxSteps
	for _, r := range rules {
		re, n, why := readRule(r, left)
		if why != "" {
			refused = append(refused, fmt.Sprintf("the rule %q does not count: %s", prose.Line(prose.Clip(r.ID, 64)), why))
			continue
		}
		left -= n
		keep := secret.RepositoryRule{Pattern: re, Entropy: r.Entropy}
		for _, k := range r.Keywords {
			keep.Keywords = append(keep.Keywords, strings.ToLower(strings.TrimSpace(k)))
		}
		kept = append(kept, keep)
	}
	return kept, refused
}

// readRule compiles a rule of a repository that has no more than some instructions, or says why it
// does not count.
func readRule(r secret.Rule, left int) (re *regexp.Regexp, cost int, why string) {
	const complexity = "the rules of a repository are too complex"
	// Before it is read: a class of two bytes, such as \pL, takes kilobytes, and milliseconds where
	// case is ignored. A secret is ASCII.
	if len(r.Pattern) > 4*left || strings.ContainsFunc(r.Pattern, func(c rune) bool { return c >= utf8.RuneSelf }) ||
		strings.Contains(r.Pattern, `\p`) || strings.Contains(r.Pattern, `\P`) || strings.Contains(r.Pattern, `\x{`) {
		return nil, 0, complexity
	}
	tree, err := syntax.Parse(r.Pattern, syntax.Perl)
	if err != nil {
		return nil, 0, "its pattern is no regular expression"
	}
	if cost = args.Steps(tree, left+1); cost > left {
		return nil, 0, complexity
	}
	if re, err = regexp.Compile(r.Pattern); err != nil || re.MatchString("") {
		return nil, 0, "its pattern matches the empty text"
	}
	unanchor(tree)
	if anywhere, err := regexp.Compile(tree.String()); err != nil || anywhere.MatchString(ordinary) {
		return nil, 0, "it matches ordinary words"
	}
	return re, cost, ""
}

// unanchor has an expression match wherever it stands in a text, since any word may stand at its beginning.
func unanchor(x *syntax.Regexp) {
	switch x.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		x.Op = syntax.OpEmptyMatch
	}
	for _, sub := range x.Sub {
		unanchor(sub)
	}
}
