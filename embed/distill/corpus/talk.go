package main

import (
	_ "embed"
	"math/rand/v2"
	"strings"
)

// words holds the templates and the word lists, one list a line: `name: a | b`.
//
//go:embed talk.txt
var words string

// talk makes sentences out of talk.txt: templates with {slots}, filled at random
// from the lists, always the same ones. It stands in for conversations, of which
// documentation has none: small talk, what somebody did, felt and plans, the
// question after it, and questions about a project.
func talk() []string {
	lists := map[string][]string{}
	for line := range strings.Lines(words) {
		if name, items, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			for item := range strings.SplitSeq(items, " | ") {
				lists[name] = append(lists[name], strings.TrimSpace(item))
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	var out []string
	for _, kind := range []string{"turn", "told", "asked", "project"} {
		for range 12000 {
			templates := lists[kind]
			out = append(out, fill(templates[r.IntN(len(templates))], lists, r))
		}
	}
	return out
}

// fill replaces each {slot}, also those inside what a slot was filled with.
func fill(s string, lists map[string][]string, r *rand.Rand) string {
	for {
		before, rest, ok := strings.Cut(s, "{")
		if !ok {
			return strings.ToUpper(s[:1]) + s[1:]
		}
		name, after, _ := strings.Cut(rest, "}")
		items := lists[name]
		s = before + items[r.IntN(len(items))] + after
	}
}
