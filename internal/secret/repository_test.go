package secret

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// with is a Redactor with one rule of a repository.
func with(pattern string) *Redactor {
	return BuiltIn().WithRepository(func() []RepositoryRule { return []RepositoryRule{{Pattern: regexp.MustCompile(pattern)}} })
}

// What a person says keeps its words, whatever a repository's rule matches.
func TestRuleOfARepositoryTakesNoWords(t *testing.T) {
	for _, text := range []string{
		"never push to main", "do not deploy on fridays, ask Ann first", "only Ann may merge; always ask", "use GitHub and PostgreSQL 16 on port 5432", "never\u00a0push v2 to main",
		"1 never 2", "no: 3 times is too much", "JavaScriptEverywhere", "pin node to v20.11.1 and never v22.0.0", "run make test_v2_all before a push", "max_connections=100 max_retries=3", "go 1.26.0, react@18.2.0 and node-v20.1.2-rc.1",
		"frozen until 2026-12-24, then from 2027-01", "since 2026-12-24T08:00:00Z", "use port=5432 and level=3", "build:v2_release and step_10", "никогда не пишем2", "绝不推送到main2",
	} {
		words := strings.Fields(text)
		for i := range words {
			for j := i + 1; j <= len(words); j++ {
				match := regexp.QuoteMeta(strings.Join(words[i:j], " "))
				for _, pattern := range []string{match, "(" + match + ")", `(?s).*` + match, match + `.*`, `\b` + match[:1]} {
					if _, err := regexp.Compile(pattern); err != nil {
						continue
					}
					if got, _ := with(pattern).Clean(text); got != text {
						t.Errorf("%s: %q became %q", pattern, text, got)
					}
				}
			}
		}
	}
}

// A team's secrets are taken out whole, and the marker has no word of the rule's author.
func TestRuleOfARepositoryTakesOutSecrets(t *testing.T) {
	const mark = "[REDACTED:repository]"
	for _, tt := range []struct{ pattern, text, want string }{
		{`SEC-[0-9]+`, "see SEC-123456 for it", "see " + mark + " for it"},
		{`SEC-([0-9]{3})`, "see SEC-123456, then SEC-654321", "see " + mark + ", then " + mark},
		{`\bdb[0-9]\.internal\b`, "host=db1.internal", "host=" + mark},
		{`[a-z0-9.]+@[a-z]+\.[a-z]{2,}`, "ask ann@corp.com", "ask " + mark},
		{`https?://[^ ]+`, "see https://wiki.corp/x", "see " + mark},
		{`/home/\S+`, "in /home/ann/x", "in " + mark},
		{`[A-Z]{2}\d{2}(?: ?\d{4}){4,7}`, "pay DE12 3456 7890 1234 5678 now", "pay " + mark + " now"},
		{`\+49[0-9 ]{8,}[0-9]`, "call +49 170 1234567 first", "call " + mark + " first"},
		{`tok_\w+`, "tok_qWxZrTkpLkJhGz", mark},
		{`[a-z-]+\.corp\.internal`, "at vault.corp.internal.", "at " + mark + "."},
	} {
		got, found := with(tt.pattern).Clean(tt.text)
		if got != tt.want || slices.ContainsFunc(found, func(id string) bool { return id != "repository" }) {
			t.Errorf("%s: got %q %v, want %q", tt.pattern, got, found, tt.want)
		}
		if again, _ := with(tt.pattern).Clean(got); again != got {
			t.Errorf("%s: %q is not left as it is: %q", tt.pattern, got, again)
		}
	}
	// A built-in rule names what it finds itself.
	if got, _ := with(`AKIA\w+`).Clean("the key is AKIAQ3EGRZ7TQJ5WXK2M"); strings.Contains(got, "repository") || !strings.Contains(got, "[REDACTED:aws") {
		t.Error(got)
	}
}
