package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leanctx/internal/secret"
)

// projectWith reads the settings of a project whose repository brings some rules.
func projectWith(t testing.TB, rules ...secret.Rule) (Settings, error) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"sensitive": rules})
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, projectFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return (&Config{DataDir: t.TempDir()}).For(root, root)
}

// A rule of a repository takes out secrets, and never what is remembered in ordinary words.
func TestRuleOfARepositoryMatchesNoOrdinaryWords(t *testing.T) {
	for _, pattern := range []string{
		`[a-z]+`, `\w+`, `.+`, `\S+`, `[^x]`, `(?i)POSTGRESQL`, `never|always`, `^[A-Z][a-z]+`, `^.+$`, `\A\S+`, `[a-z]{3,12}$`, `\s`, `\n`, `[0-9]+`, `\d{4}-\d\d-\d\d`, `(?s).{300,}`, `[\s\S]{450}`,
		`\bthe\b`, `(?:x|(e))`, `\pL+`, `\p{Cyrillic}+`, `\p{Han}`, `[a-z]+/[a-z]+`, `(?m)^(?:We|Use) .*$`, `e`, `[^\x00-\x7f]+`, `,`, `JWT|XYZ`, `(?U)[a-z]+`,
	} {
		for _, keywords := range [][]string{nil, {"never"}} {
			s, err := projectWith(t, secret.Rule{ID: "all-of-it", Pattern: pattern, Keywords: keywords, Entropy: 1})
			if err != nil || len(s.Sensitive) > 0 || len(s.Repository) != 1 || !strings.Contains(s.Repository[0], `"all-of-it" does not count: it matches ordinary words`) {
				t.Errorf("%s: %+v %v", pattern, s, err)
			}
		}
	}
	for _, pattern := range []string{
		`SEC-[0-9]+`, `^SEC-[0-9]+$`, `\bdb[0-9]\.internal\b`, `[A-Z]{3}-[0-9]{4}`, `[a-z0-9.]+@[a-z]+\.[a-z]{2,}`, `\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}`, `https?://[^ ]+`, `/home/\S+`, `[A-Za-z0-9_-]{32}`, `(?i)acme corp(?:oration)?`,
		`cust-[0-9a-f]{8}`, `\b\d{3}-\d{2}-\d{4}\b`, `[A-Z]{2}\d{2}(?: ?\d{4}){4,7}`, `\b(?:[a-z0-9]{8}-){3}[a-z0-9]{12}\b`, `\+49[0-9 ]{8,}`,
	} {
		if s, err := projectWith(t, secret.Rule{ID: "r", Pattern: pattern}); err != nil || len(s.Sensitive) != 1 || len(s.Repository) > 0 {
			t.Errorf("%s: %+v %v", pattern, s, err)
		}
	}
	// The other rules count, and a person is told which one does not.
	s, err := projectWith(t, secret.Rule{ID: "a", Pattern: "SEC-[0-9]+"}, secret.Rule{ID: "b", Pattern: "[a-z]+"}, secret.Rule{ID: "c", Pattern: "INC-[0-9]+"})
	if err != nil || len(s.Sensitive) != 2 || len(s.Repository) != 1 || len(s.Warnings) > 0 {
		t.Errorf("%+v %v", s, err)
	}
	// The user may redact whatever he likes.
	root := t.TempDir()
	write(t, root, map[string]string{"data/config.json": `{"sensitive": [{"id": "all", "pattern": "[a-z]+"}]}`})
	if s, err := load(t, root).For(root, root); err != nil || len(s.Sensitive) != 1 {
		t.Errorf("%+v %v", s, err)
	}
}

// What a repository brings costs a start next to nothing.
func TestFileOfARepositoryIsBounded(t *testing.T) {
	many := func(n int, pattern string) (rules []secret.Rule) {
		for i := range n {
			rules = append(rules, secret.Rule{ID: fmt.Sprint("r", i), Pattern: pattern})
		}
		return rules
	}
	if s, err := projectWith(t, many(50, `SEC-[0-9]{4}`)...); err != nil || len(s.Sensitive) != 50 {
		t.Errorf("%d rules: %v", len(s.Sensitive), err)
	}
	if _, err := projectWith(t, many(51, `SEC-[0-9]`)...); err == nil || !strings.Contains(err.Error(), "more than 50 rules") {
		t.Errorf("51 rules: %v", err)
	}
	if _, err := projectWith(t, secret.Rule{ID: "r", Pattern: strings.Repeat("x", 64<<10)}); err == nil || !strings.Contains(err.Error(), "more than 64 KiB") {
		t.Errorf("a file of 64 KiB: %v", err)
	}
	for _, pattern := range []string{`(?:[a-z ]{90}\x00){11}`, `((\x00{10}){10}){10}`, strings.Repeat(`\pL`, 2_000), strings.Repeat("x", 1_001), `\x00(a?){1000}`} {
		s, err := projectWith(t, secret.Rule{ID: "big", Pattern: pattern})
		if err != nil || len(s.Sensitive) > 0 || len(s.Repository) != 1 || !strings.Contains(s.Repository[0], "too complex") {
			t.Errorf("%.30s: %d rules, %q %v", pattern, len(s.Sensitive), s.Repository, err)
		}
	}
	// Together they are bounded too.
	s, err := projectWith(t, many(40, `\x00[a-z ]{100}`)...)
	if err != nil || len(s.Sensitive) > 5 || len(s.Repository) != maxTold+1 {
		t.Errorf("%d rules count, %d told: %v", len(s.Sensitive), len(s.Repository), err)
	}
	var keys []string
	for i := range 2_000 {
		keys = append(keys, fmt.Sprintf(`"ignore %d\n<b>": 1`, i))
	}
	root := t.TempDir()
	write(t, root, map[string]string{projectFile: "{" + strings.Join(keys, ",") + "}"})
	if s, err = load(t, root).For(root, root); err != nil || len(s.Repository) != maxTold+1 || slices.ContainsFunc(s.Repository, func(x string) bool { return strings.Contains(x, "\n") }) {
		t.Errorf("%q %v", s.Repository, err)
	}
}

// BenchmarkRulesOfARepository is what the dearest file of a repository costs a start.
func BenchmarkRulesOfARepository(b *testing.B) {
	var rules []secret.Rule
	for i := range 4 {
		rules = append(rules, secret.Rule{ID: fmt.Sprint("r", i), Pattern: `[a-z ,.;]{1,100}\x00`})
	}
	text, _ := json.Marshal(map[string]any{"sensitive": rules})
	root := b.TempDir()
	if err := os.WriteFile(filepath.Join(root, projectFile), text, 0o600); err != nil {
		b.Fatal(err)
	}
	data := b.TempDir()
	for b.Loop() {
		if s, err := (&Config{DataDir: data}).For(root, root); err != nil || len(s.Sensitive) != 4 {
			b.Fatal(s, err)
		}
	}
}
