package op

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const referenceHead = "# Actions and commands\n\n" +
	"This page is generated from the table of operations. Every command also takes `--json`, `--project` and\n" +
	"`--agent`. Every MCP call also takes `project`, `agent` and `output` (`text` or `json`). `-` as a value reads\n" +
	"standard input. The commands of `agent`, `task` and `share` that act for an agent need `--agent ID` or\n" +
	"`LEAN_CTX_AGENT`, which the examples leave out.\n\n"

// REFERENCE.md shows the table of today.
func TestReferencePage(t *testing.T) {
	const page = "REFERENCE.md"
	want := referenceHead + reference(All(Stores{}))
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("%s is out of date: go test ./cmd/internal/op -run TestReferencePage -update", page)
	}
}

func TestReference(t *testing.T) {
	want := "### ctx_sample · `lean-ctx sample`\n\nA sample.\n\n" +
		`| action | arguments (needed in bold) | what it does |
|---|---|---|
| remember | **category**, **value**, key, confidence, weight, limit, budget, correct, pinned, tags, mode | Assert. |
| remove | **category**, **key**, erase, confirm | Retract. |
| feedback | **vote** | Vote. |
| import | **file**, dry_run | Read a file. |
| rooms |  | List. |

| argument | type | meaning |
|---|---|---|
| category | string | the room, or its name |
| value | string | what is believed |
| key | string | name within the category |
| confidence | number | 0..1 |
| weight | number |  |
| limit | integer |  |
| budget | integer |  |
| correct | boolean |  |
| pinned | boolean |  |
| tags | list |  |
| mode | string | how; one of auto, exact |
| erase | boolean |  |
| vote | string | one of up, down |
| file | string |  |
| dry_run | boolean |  |
` + "| confirm (`--yes`) | boolean | true where an action asks for it |\n" +
		"| project | string | path of the project (default: the server's) |\n" +
		"| agent | string | your agent id, if you registered |\n" +
		"| output | string | form of the answer (default text); one of text, json |\n" +
		"\n```sh\nlean-ctx sample remember \"JWT RS256\" --category architecture --key auth\nlean-ctx sample remove --category architecture --key auth\n```\n"
	if diff := cmp.Diff(want, reference([]*Tool{sampleTool()})); diff != "" {
		t.Error(diff)
	}
}

// reference is REFERENCE.md: every action of the tools with its arguments and an example.
func reference(tools []*Tool) string {
	var b strings.Builder
	for i, t := range tools {
		if i > 0 {
			b.WriteString("\n")
		}
		t.reference(&b)
	}
	return b.String()
}

func (t *Tool) reference(b *strings.Builder) {
	if t.Sibling != nil && t.Sibling.Command == t.Command {
		fmt.Fprintf(b, "### %s\n\n%s\nIt has no command of its own: in a shell its actions are those of `lean-ctx %s`.\n\n", t.Name, t.Summary, t.Command)
	} else {
		fmt.Fprintf(b, "### %s · `lean-ctx %s`\n\n%s\n\n", t.Name, t.Command, t.Summary)
	}
	b.WriteString("| action | arguments (needed in bold) | what it does |\n|---|---|---|\n")
	for _, o := range t.Operations {
		name := o.Name
		if name == "" {
			name = "–"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, cell(o.arguments()), cell(o.Summary))
	}
	b.WriteString("\n| argument | type | meaning |\n|---|---|---|\n")
	for _, p := range t.properties(func(*Operation, Param) bool { return true }) {
		meaning := t.meanings(p)
		if len(p.Enum) > 0 {
			meaning = strings.TrimPrefix(meaning+"; one of "+strings.Join(p.Enum, ", "), "; ")
		}
		name := p.Name
		if flag := strings.ReplaceAll(p.Name, "_", "-"); p.Flag != flag {
			name += " (`--" + p.Flag + "`)"
		}
		kind := p.Type
		if kind == TypeArray {
			kind = "list"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, kind, cell(meaning))
	}
	b.WriteString("\n```sh\n")
	for i := range t.Operations {
		o := &t.Operations[i]
		line := t.CommandLine(o)
		if line == "" && o.Example != nil {
			line = t.commandLine(o.Name, nil)
		}
		if line != "" {
			fmt.Fprintf(b, "lean-ctx %s\n", line)
		}
	}
	b.WriteString("```\n")
}

// arguments lists the operation's arguments, the required ones in bold.
func (o *Operation) arguments() string {
	var names []string
	for _, p := range o.Params {
		if p.Required {
			names = append(names, "**"+p.Name+"**")
		}
	}
	for _, p := range o.Params {
		if !p.Required {
			names = append(names, p.Name)
		}
	}
	if o.Confirms {
		names = append(names, confirmName)
	}
	return strings.Join(names, ", ")
}

// cell escapes a text for a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "/**", `/\*\*`, "<", `\<`).Replace(s)
}

// meanings are the descriptions of an argument, each after the operations that have it if there
// are several.
func (t *Tool) meanings(p Param) string {
	var texts []string
	owners := map[string][]string{}
	for _, o := range t.Operations {
		own, ok := o.Param(p.Name)
		if !ok {
			continue
		}
		if own.Description != "" && owners[own.Description] == nil {
			texts = append(texts, own.Description)
		}
		owners[own.Description] = append(owners[own.Description], o.Name)
	}
	switch len(texts) {
	case 0:
		return p.Description
	case 1:
		return texts[0]
	}
	for i, text := range texts {
		texts[i] = strings.Join(owners[text], "/") + ": " + text
	}
	return strings.Join(texts, "; ")
}
