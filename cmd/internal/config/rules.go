package config

import (
	_ "embed"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

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
// that matches in it would take out what was remembered, and not only secrets. It is tried at each
// start, so it is short.
var ordinary = strings.ReplaceAll(ordinaryLines, "\n", " ") + "\r\n\t"

//go:embed ordinary.txt
var ordinaryLines string

// bounded are the rules of a repository that count. Why another one does not is told.
func (s *Settings) bounded(c *Config, path string, rules []secret.Rule) (kept []secret.Rule, err error) {
	if len(rules) > maxRules {
		return nil, tooMuch(path, fmt.Sprintf("%d rules", maxRules))
	}
	left := maxSteps
	for _, r := range rules {
		refuse := func(why string) {
			s.warn(path, "the rule %q does not count: %s", prose.Line(prose.Clip(r.ID, 64)), why)
		}
		if len(r.Pattern) > 4*left { // before it is read: a class of two bytes takes kilobytes
			refuse("the rules of a repository are too complex")
			continue
		}
		tree, err := syntax.Parse(r.Pattern, syntax.Perl)
		if err != nil {
			return nil, check(path, []secret.Rule{r})
		}
		n := args.Steps(tree, left+1)
		if n > left {
			refuse("the rules of a repository are too complex")
			continue
		}
		if c.matchesOrdinary(r.Pattern, tree) {
			refuse("it matches ordinary words")
			continue
		}
		left -= n
		kept = append(kept, r)
	}
	return kept, check(path, kept)
}

// matchesOrdinary reports whether an expression matches ordinary words. It is found out once.
func (c *Config) matchesOrdinary(pattern string, tree *syntax.Regexp) bool {
	if known, ok := c.ordinary.Load(pattern); ok {
		return known.(bool)
	}
	unanchor(tree)
	re, err := regexp.Compile(tree.String())
	matches := err != nil || re.MatchString(ordinary)
	c.ordinary.Store(pattern, matches)
	return matches
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
