package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/internal/secret"
)

// projectWith are the rules that count of those that a project's repository brings, and what does not count.
func projectWith(t testing.TB, rules ...secret.Rule) (counts int, refused []string) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"sensitive": rules})
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, projectFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := (&Config{DataDir: t.TempDir()}).For(root, root)
	if err != nil || len(s.Warnings) > 0 {
		t.Fatal(s.Warnings, err)
	}
	kept, _ := bounded(s.Brought)
	return len(kept), s.Ineffective()
}

// A rule of a repository takes out secrets, and never what is remembered in ordinary words.
func TestRuleOfARepositoryMatchesNoOrdinaryWords(t *testing.T) {
	for _, pattern := range []string{
		`[a-z]+`, `\w+`, `.+`, `\S+`, `[^x]`, `(?i)POSTGRESQL`, `never|always`, `^[A-Z][a-z]+`, `^.+$`, `\A\S+`, `[a-z]{3,12}$`, `\s`, `\n`, `[0-9]+`, `\d{4}-\d\d-\d\d`, `(?s).{300,}`, `[\s\S]{450}`,
		`\bthe\b`, `(?:x|(e))`, `\pL+`, `\p{Cyrillic}+`, `\p{Han}`, `[a-z]+/[a-z]+`, `(?m)^(?:We|Use) .*$`, `e`, `[^\x00-\x7f]+`, `,`, `JWT|XYZ`, `(?U)[a-z]+`,
	} {
		for _, keywords := range [][]string{nil, {"never"}} {
			n, told := projectWith(t, secret.Rule{ID: "all-of-it", Pattern: pattern, Keywords: keywords, Entropy: 1})
			if n > 0 || len(told) != 1 || !strings.Contains(told[0], `"all-of-it" does not count: `) {
				t.Errorf("%s: %d %q", pattern, n, told)
			}
		}
	}
	for _, pattern := range []string{
		`SEC-[0-9]+`, `^SEC-[0-9]+$`, `\bdb[0-9]\.internal\b`, `[A-Z]{3}-[0-9]{4}`, `[a-z0-9.]+@[a-z]+\.[a-z]{2,}`, `\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}`, `https?://[^ ]+`, `/home/\S+`, `[A-Za-z0-9_-]{32}`, `(?i)acme corp(?:oration)?`,
		`cust-[0-9a-f]{8}`, `\b\d{3}-\d{2}-\d{4}\b`, `[A-Z]{2}\d{2}(?: ?\d{4}){4,7}`, `\b(?:[a-z0-9]{8}-){3}[a-z0-9]{12}\b`, `\+49[0-9 ]{8,}`,
	} {
		if n, told := projectWith(t, secret.Rule{ID: "r", Pattern: pattern}); n != 1 || len(told) > 0 {
			t.Errorf("%s: %d %q", pattern, n, told)
		}
	}
	// The other rules count, and a person is told which one does not.
	if n, told := projectWith(t, secret.Rule{ID: "a", Pattern: "SEC-[0-9]+"}, secret.Rule{ID: "b", Pattern: "[a-z]+"}, secret.Rule{ID: "c", Pattern: "INC-[0-9]+"}); n != 2 || len(told) != 1 {
		t.Errorf("%d %q", n, told)
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
	if n, told := projectWith(t, many(50, `SEC-[0-9]{4}`)...); n != 50 || len(told) > 0 {
		t.Errorf("%d rules: %q", n, told)
	}
	if n, told := projectWith(t, many(51, `SEC-[0-9]`)...); n != 50 || len(told) != 1 || !strings.Contains(told[0], "1 rule after the first 50") {
		t.Errorf("%d rules: %q", n, told)
	}
	if n, told := projectWith(t, secret.Rule{ID: "r", Pattern: strings.Repeat("x", 64<<10)}); n != 0 || len(told) != 1 || !strings.Contains(told[0], "more than 64 KiB") {
		t.Errorf("a file of 64 KiB: %d %q", n, told)
	}
	for _, pattern := range []string{
		`(?:[a-z ]{90}\x00){11}`, `((\x00{10}){10}){10}`, strings.Repeat(`\pL`, 2_000), strings.Repeat("x", 1_001), `\x00(a?){1000}`,
		`(?i)` + strings.Repeat(`\pL`, 300) + `Q7#`, `(?i)\P{Han}Q7#`, `(?i)[B-\x{1e942}]Q7#`, "(?i)[B-\U0001e942]Q7#",
	} {
		start := time.Now()
		if n, told := projectWith(t, secret.Rule{ID: "big", Pattern: pattern}); n > 0 || len(told) != 1 || !strings.Contains(told[0], "too complex") {
			t.Errorf("%.30s: %d rules, %q", pattern, n, told)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%.30s took %s", pattern, took)
		}
	}
	// Together they are bounded too.
	if n, told := projectWith(t, many(40, `\x00[a-z ]{100}`)...); n > 5 || len(told) != maxTold+1 {
		t.Errorf("%d rules count, %d told", n, len(told))
	}
	var keys []string
	for i := range 2_000 {
		keys = append(keys, fmt.Sprintf(`"ignore %d\n<b>": 1`, i))
	}
	root := t.TempDir()
	write(t, root, map[string]string{projectFile: "{" + strings.Join(keys, ",") + "}"})
	s, err := load(t, root).For(root, root)
	if told := s.Ineffective(); err != nil || len(told) != maxTold+1 || slices.ContainsFunc(told, func(x string) bool { return strings.Contains(x, "\n") }) {
		t.Errorf("%q %v", told, err)
	}
}

// BenchmarkRulesOfARepository is what the dearest file of a repository costs a start, and what it
// costs the first text of 2 kB that is cleaned.
func BenchmarkRulesOfARepository(b *testing.B) {
	var rules []secret.Rule
	for i := range maxRules - 1 {
		rules = append(rules, secret.Rule{ID: fmt.Sprint("r", i), Pattern: `(?i)[a-z ,.;]{1,8}\x00`})
	}
	text, _ := json.Marshal(map[string]any{"sensitive": rules})
	root := b.TempDir()
	if err := os.WriteFile(filepath.Join(root, projectFile), text, 0o600); err != nil {
		b.Fatal(err)
	}
	for _, clean := range []string{"", ordinary} {
		b.Run(fmt.Sprint(len(clean), " bytes"), func(b *testing.B) {
			c := &Config{DataDir: b.TempDir()}
			for b.Loop() {
				s, err := c.For(root, root)
				if err != nil || len(s.Brought) != len(rules) {
					b.Fatal(s, err)
				}
				r, err := s.Redactor()
				if err != nil {
					b.Fatal(err)
				}
				if clean != "" {
					r.Clean(clean)
				}
			}
		})
	}
}
