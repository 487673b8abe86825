package op

import (
	"fmt"
	"strings"
)

// Reference is REFERENCE.md: every action of the tools with its arguments and an example.
func Reference(tools []*Tool) string {
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
	for _, p := range t.properties(anyParam) {
		meaning := p.Description
		if words := t.Words[p.Name]; words != "" {
			meaning = words
		}
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
