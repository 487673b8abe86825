package secret

import (
	"slices"
	"strings"
	"testing"
)

// The rules are those given, or the built-in ones; nothing to redact names no
// rule, and without rules nothing gets through.
func TestLazy(t *testing.T) {
	own, err := New([]Rule{{ID: "ours", Pattern: `ours-[0-9]{6}`}})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Lazy{NewLazy(own), NewLazy(nil)} {
		if clean, rules, err := l.Redact(""); clean != "" || len(rules) != 0 || err != nil {
			t.Errorf("nothing: %q, %v, %v", clean, rules, err)
		}
		if clean, rules := l.Mark("plain text"); clean != "plain text" || len(rules) != 0 {
			t.Errorf("plain text: %q, %v", clean, rules)
		}
	}
	if clean, rules := NewLazy(own).Mark("it is ours-123456."); strings.Contains(clean, "123456") || !slices.Equal(rules, []string{"ours"}) {
		t.Errorf("%q, %v", clean, rules)
	}
	broken := &Lazy{func() (*Redactor, error) { return New([]Rule{{ID: "bad", Pattern: "("}}) }}
	if clean, _, err := broken.Redact("secret"); err == nil || clean != "" {
		t.Errorf("without rules: %q, %v", clean, err)
	}
	if clean, rules := broken.Mark("secret"); !strings.HasPrefix(clean, "[REDACTED: ") || strings.HasSuffix(clean, "secret") || !slices.Equal(rules, []string{"all"}) {
		t.Errorf("without rules: %q, %v", clean, rules)
	}
}
