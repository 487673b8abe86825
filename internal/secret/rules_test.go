package secret

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExtraRules(t *testing.T) {
	r := redactor(t, Rule{ID: "acme-badge", Pattern: `\bACME-(\d{6})\b`, Keywords: []string{"Acme-"}}, Rule{ID: "codename", Pattern: `(?i)project\s+bluebird`})
	got, _ := r.Clean("badge ACME-123456 of Project Bluebird; acme-12 is none")
	if want := "badge ACME-[REDACTED:acme-badge] of [REDACTED:codename]; acme-12 is none"; got != want {
		t.Errorf("got %q, not %q", got, want)
	}
	// A rule that would take its own marker apart.
	r = redactor(t, Rule{ID: "x1", Pattern: `[A-Z]+`})
	got, _ = r.Clean("ab CD [REDACTED:x1] [REDACTED:y] EF")
	if want := "ab [REDACTED:x1] [REDACTED:x1] [[REDACTED:x1]:y] [REDACTED:x1]"; got != want {
		t.Errorf("got %q, not %q", got, want)
	}
}

func TestBadExtraRulesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		rules []Rule
		says  string
	}{
		{[]Rule{{ID: "", Pattern: "a"}}, "its id must be"},
		{[]Rule{{ID: "Has Space", Pattern: "a"}}, "its id must be"},
		{[]Rule{{ID: "jwt", Pattern: "a"}}, "already a rule"},
		{[]Rule{{ID: "a", Pattern: "ab"}, {ID: "a", Pattern: "cd"}}, "already a rule"},
		{[]Rule{{ID: "a", Pattern: "("}}, "missing closing )"},
		{[]Rule{{ID: "a", Pattern: "x*"}}, "empty text"},
		{[]Rule{{ID: "a", Pattern: ""}}, "empty text"},
		{[]Rule{{ID: "a", Pattern: "(x)", Group: 2}}, "1 groups, not 2"},
		{[]Rule{{ID: "a", Pattern: "x", Keywords: []string{"k"}}}, "two ASCII"},
	} {
		_, err := New(tt.rules)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v, not %q", tt.rules, err, tt.says)
		}
	}
}

func TestEveryRuleCompilesAndNamesItself(t *testing.T) {
	rules := redactor(t).rules
	for i := range rules {
		m := &rules[i]
		m.expression()
		m.called.of(m.command)
		m.allowed.of(m.allow)
		m.allowedAll.of(m.allowAll)
		if mark := "[REDACTED:" + m.id + "]"; marker().FindString(mark) != mark {
			t.Errorf("bad id %q", m.id)
		}
		if len(m.triggers) == 0 && m.form != dotted {
			t.Errorf("%s has no trigger", m.id)
		}
		for _, w := range m.triggers {
			if len(w) < 2 || w != lowerASCII(w) || !ascii(w) {
				t.Errorf("%s: trigger %q", m.id, w)
			}
		}
	}
}

// A rule is tried if one of its triggers is in a text, wherever it stands.
func TestTriggerHasItsRuleTried(t *testing.T) {
	r := redactor(t, Rule{ID: "own", Pattern: `zq\d+`, Keywords: []string{"zq", "zqx"}})
	for i := range r.rules {
		for _, w := range r.rules[i].triggers {
			for _, text := range []string{w, "a" + w, w + "é", "secre" + w + w} {
				if !r.filter.rules(text, len(r.rules))[i] {
					t.Errorf("%s is not tried on %q", r.rules[i].id, text)
				}
			}
		}
	}
	if tried := r.filter.rules("nothing is there", len(r.rules)); slices.Contains(tried, true) {
		t.Error("rules are tried on a text without triggers")
	}
}

// TestEveryRuleFindsWhatItDescribes makes texts of the expressions themselves, so that a
// trigger or a guard which turns away what the expression would take shows.
func TestEveryRuleFindsWhatItDescribes(t *testing.T) {
	rules := redactor(t).rules
	for i := range rules {
		m := &rules[i]
		switch m.id {
		case "password-assignment", "netrc-password", "spoken-password", "redis-password", "session-cookie":
			continue // few texts that an expression makes look like passwords; TestSecretsInContext has some
		}
		if m.form == named {
			continue // it has no expression; TestRandomSecretsAreTaken is about it
		}
		text := rapid.StringMatching(strings.ReplaceAll(m.rule.body, following, ""))
		took := 0
		for seed := range 20 {
			body := text.Example(seed)
			if m.form == assigned {
				body = rapid.StringMatching(m.head).Example(seed) + " = \"" + body + "\""
			}
			if m.command != "" {
				body = rapid.StringMatching(m.command).Example(seed) + " " + body
			}
			body = "see: " + body + " here, " + strings.Join(m.triggers[:min(1, len(m.triggers))], "")
			took += min(len(m.find(body, lowerASCII(body), nil)), 1)
		}
		if took < 5 { // some of what an expression makes is too regular, or a name
			t.Errorf("%s: found %d of 20 (%s)", m.id, took, m.body)
		}
	}
}

// TestEvaluationTextsPassUnchanged runs over texts that people wrote, where they are at hand.
func TestEvaluationTextsPassUnchanged(t *testing.T) {
	dir := os.Getenv("LEAN_CTX_EVAL_DIR")
	if dir == "" {
		t.Skip("LEAN_CTX_EVAL_DIR is not set")
	}
	files, err := filepath.Glob(dir + "/*/*.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	deeper, _ := filepath.Glob(dir + "/*/*/*.jsonl.gz")
	r := redactor(t)
	texts := 0
	for _, name := range append(files, deeper...) {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(unzipped)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var row map[string]any
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			for _, v := range row {
				text, ok := v.(string)
				if !ok {
					continue
				}
				texts++
				if clean, rules := r.Clean(text); len(rules) > 0 {
					t.Errorf("%s: %v of %.80q: %.80q", filepath.Base(name), rules, text, clean)
				}
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
	t.Logf("%d texts", texts)
	if texts == 0 {
		t.Error("no texts in " + dir)
	}
}
