package app

import (
	"context"
	"fmt"
	"strings"

	"leanctx/cmd/internal/op"
	"leanctx/internal/prose"
	"leanctx/internal/secret"
)

// sensitiveTool is `lean-ctx sensitive`: what must not be stored, beside the
// built-in rules.
func sensitiveTool(s *stores) *op.Tool {
	c := ruleCommands{s}
	return &op.Tool{
		Name: "sensitive", Command: "sensitive", Summary: "The rules by which secrets are redacted before anything is stored.",
		Operations: []op.Operation{
			op.New("add", "Add a rule of your own to your configuration.", op.Changes, c.add, "id", "pattern").
				Shown("id", "ticket", "pattern", "SEC-[0-9]{6}").ByPerson(),
			op.New("list", "List the rules of your own.", op.Reads, c.list),
			op.New("test", "Show what would be stored of a text.", op.Reads, c.test, "text").
				Shown("text", "see SEC-123456"),
		},
	}
}

// ruleCommands are the actions of `lean-ctx sensitive`.
type ruleCommands struct{ stores *stores }

type newRule struct {
	ID       string   `json:"id" arg:"1" jsonschema:"its name, which replaces the secret in the text"`
	Pattern  string   `json:"pattern" arg:"2" long:"true" jsonschema:"a regular expression (RE2); its first group, or all of it, is the secret"`
	Keywords []string `json:"keywords,omitempty" jsonschema:"words; a text without any of them is not searched"`
}

type ruleAdded struct {
	secret.Rule
	File string `json:"file"`
}

func (r ruleAdded) Text() string { return fmt.Sprintf("Added rule %s to %s", r.ID, r.File) }

func (c ruleCommands) add(_ context.Context, _ op.Scope, a newRule) (ruleAdded, error) {
	r := secret.Rule{ID: a.ID, Pattern: a.Pattern, Keywords: a.Keywords}
	return ruleAdded{r, c.stores.config.UserFile()}, c.stores.config.AddRule(r)
}

type ruleList struct {
	Rules []secret.Rule `json:"rules"`
}

func (l ruleList) Text() string {
	if len(l.Rules) == 0 {
		return "No rules of your own. The built-in ones are always at work; add one with: lean-ctx sensitive add ticket 'TICKET-[0-9]+'"
	}
	width := 0
	for _, r := range l.Rules {
		width = max(width, len(r.ID))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Rules beside the built-in ones (%d):\n", len(l.Rules))
	for _, r := range l.Rules {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, r.ID, r.Pattern)
	}
	return b.String()
}

func (c ruleCommands) list(_ context.Context, sc op.Scope, _ struct{}) (ruleList, error) {
	settings, _, err := c.stores.settings(sc)
	rules := append([]secret.Rule{}, settings.Sensitive...)
	for _, r := range settings.Brought { // anybody may have written them
		rules = append(rules, secret.Rule{ID: prose.Line(prose.Clip(r.ID, 64)), Pattern: prose.Line(r.Pattern)})
	}
	return ruleList{rules}, err
}

type sample struct {
	Text string `json:"text" arg:"1" long:"true" jsonschema:"the text, or - for standard input"`
}

type tested struct {
	Clean string   `json:"text"`
	Found []string `json:"found"` // the rules
}

func (t tested) Text() string { return t.Clean }

func (c ruleCommands) test(_ context.Context, sc op.Scope, a sample) (tested, error) {
	settings, _, err := c.stores.settings(sc)
	if err != nil {
		return tested{}, err
	}
	r, err := settings.Redactor()
	if err != nil {
		return tested{}, err
	}
	clean, found := r.Clean(a.Text)
	return tested{clean, append([]string{}, found...)}, nil
}
