package language

import (
	"slices"
	"strings"
)

// Purpose is what somebody is about to do.
type Purpose string

// The purposes.
const (
	Commit     Purpose = "commit"
	Branch     Purpose = "branch"
	Review     Purpose = "review"
	Test       Purpose = "test"
	Dependency Purpose = "dependency"
	Build      Purpose = "build"
	Format     Purpose = "format"
	Deploy     Purpose = "deploy"
	Release    Purpose = "release"
	Migrate    Purpose = "migrate"
	Ownership  Purpose = "ownership"
	Schedule   Purpose = "schedule"
)

// matters are the words of facts that are about a purpose.
var matters = map[Purpose][]string{
	Commit:     {"commit", "commits", "committing"},
	Branch:     {"branch", "branches", "branching"},
	Review:     {"pull-request", "pull-requests", "pr", "prs", "merge", "merging", "merges", "review", "reviews", "reviewer", "push", "pushing"},
	Test:       {"test", "tests", "testing", "pytest", "jest"},
	Dependency: {"dependency", "dependencies", "gem", "gems", "package", "packages", "package-manager", "library", "libraries", "npm", "pnpm", "pip", "licence", "license"},
	Build:      {"build", "builds", "building", "compile", "toolchain"},
	Format:     {"formatting", "formatter", "lint", "linting", "linter", "fmt", "prettier"},
	Deploy:     {"deploy", "deploys", "deployment", "deploying", "rollout", "production", "staging"},
	Release:    {"release", "releases", "releasing", "version", "tag", "publish", "changelog"},
	Migrate:    {"migration", "migrations", "migrate", "schema"},
	Schedule:   {"release", "releases", "version", "versions", "freeze", "deadline", "deadlines", "milestone", "milestones", "launch", "calendar", "schedule"},
	Ownership:  {"team", "teams", "people", "owner", "owners", "ownership", "roles", "responsible", "responsibilities"},
}

// Words are the words of facts that are about the purpose.
func (p Purpose) Words() []string { return matters[p] }

// verbs are the phrases of prompts that tell a purpose, as whole words.
var verbs = []struct {
	purpose Purpose
	phrases []string
}{
	{Commit, []string{"commit", "commit it", "check it in", "check this in"}},
	{Branch, []string{"branch", "create a branch", "new branch"}},
	{Review, []string{"push", "merge", "pull request", "open a pr", "send a pr", "make a pr", "pr", "land it", "ship it"}},
	{Test, []string{"test", "tests", "run the tests", "unit test", "e2e", "screenshot tests"}},
	{Dependency, []string{"add a package", "add a library", "add a dependency", "new dependency", "dependencies", "upgrade", "bump", "npm", "pip"}},
	{Build, []string{"build", "rebuild", "compile"}},
	{Format, []string{"format", "reformat", "lint", "run the linter"}},
	{Deploy, []string{"deploy", "roll out", "rollout", "to staging", "to production", "go live", "be live"}},
	{Release, []string{"release", "publish", "cut a version", "tag a version", "bump the version"}},
	{Schedule, []string{"until when", "by when", "when will", "when is the", "when do we", "when does", "deadline", "in time for", "next version", "next release", "this release", "still go into", "still be in", "still get into", "still make it", "code freeze"}},
	{Migrate, []string{"migration", "migrate", "add a column", "alter the table", "change the schema"}},
}

// topics are what else the items of a list call a purpose, which would say too little in a sentence.
var topics = map[string]Purpose{"who": Ownership, "style": Format, "setup": Build, "changelog": Release, "approval": Review, "approvals": Review}

// Listed are the purposes that a prompt names as topics of a list, as somebody does who asks for a page of rules.
func Listed(text string) (out []Purpose) {
	_, items := Topics(text)
	for _, item := range items {
		for _, w := range strings.FieldsFunc(strings.ToLower(item), func(r rune) bool { return notWord(r) || r == '.' }) {
			p, ok := topics[w]
			for q, words := range matters {
				if slices.Contains(words, w) {
					p, ok = q, true
				}
			}
			if ok && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// Purposes are what a prompt is about to do, in no certain order. What is pasted tells none.
func Purposes(text string) (out []Purpose) {
	padded := " " + strings.ToLower(strings.Join(strings.FieldsFunc(strings.Join(spoken(text), " "), func(r rune) bool { return notWord(r) || r == '.' }), " ")) + " "
	for _, v := range verbs {
		if slices.ContainsFunc(v.phrases, func(p string) bool { return strings.Contains(padded, " "+p+" ") }) {
			out = append(out, v.purpose)
		}
	}
	if !slices.Contains(out, Schedule) && Dated(padded) {
		out = append(out, Schedule)
	}
	return out
}
