package op

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Schema is the tool's input as a JSON schema: one flat object with an explicit
// type on every node, the action an enum and all else optional. Several model
// APIs refuse a whole session for oneOf, anyOf or allOf at the top, for a list
// of types, or for a missing "properties", so none occurs. It has the arguments
// that are taught; there is no additionalProperties, since [Tool.Call] takes the
// others too. The properties stand in the order of use and the bytes never vary.
func (t *Tool) Schema() json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	if !t.Actionless() {
		names := make([]string, len(t.Operations))
		for i, o := range t.Operations {
			names[i] = o.Name
		}
		fmt.Fprintf(&b, `%q:%s`, actionName, compact(node{Type: TypeString, Enum: names}))
		required = append(required, actionName)
	}
	for _, p := range t.properties((*Operation).shows) {
		if p.Name == "output" { // for programs, which know it
			continue
		}
		if words, ok := t.Words[p.Name]; ok {
			p.Description = words
		} else if p.Name == "project" || p.Name == agentName { // seven tools have them
			p.Description = ""
		}
		if b.Bytes()[b.Len()-1] != '{' {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%q:%s`, p.Name, compact(p.node()))
		if t.Actionless() && p.Required {
			required = append(required, p.Name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		fmt.Fprintf(&b, `,"required":%s`, compact(required))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// node is one property of the schema.
type node struct {
	Type        string   `json:"type"`
	Description string   `json:"description,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Items       *node    `json:"items,omitempty"`
}

func (p Param) node() node {
	n := node{Type: p.Type, Description: p.Description, Enum: p.Enum}
	if p.Type == TypeArray {
		n.Items = &node{Type: TypeString}
	}
	return n
}

// anyParam is for [Tool.properties]: every parameter of every operation.
func anyParam(*Operation, Param) bool { return true }

// properties are the parameters that shows chooses, one of each name.
func (t *Tool) properties(shows func(*Operation, Param) bool) []Param {
	var all []Param
	confirms := false
	for i := range t.Operations {
		o := &t.Operations[i]
		confirms = confirms || o.Confirms && shows(o, confirmParam)
		for _, p := range o.Params {
			if shows(o, p) && !slices.ContainsFunc(all, func(q Param) bool { return q.Name == p.Name }) {
				all = append(all, t.merged(p.Name, shows))
			}
		}
	}
	if confirms {
		all = append(all, confirmParam)
	}
	return append(all, scopeParams[:]...)
}

// merged is one property for what several operations call by one name. A
// description that they share stands alone; others say whose they are. The
// enum is advertised only where all of them have one.
func (t *Tool) merged(name string, shows func(*Operation, Param) bool) Param {
	var out Param
	var texts []string              // distinct descriptions, in order
	owners := map[string][]string{} // who says so
	enums := true
	for i := range t.Operations {
		o := &t.Operations[i]
		p, ok := o.Param(name)
		if !ok || !shows(o, p) {
			continue
		}
		if out.Name == "" {
			out = p
			out.Enum = nil
		}
		enums = enums && len(p.Enum) > 0
		for _, e := range p.Enum {
			if !slices.Contains(out.Enum, e) {
				out.Enum = append(out.Enum, e)
			}
		}
		if p.Description != "" && !slices.Contains(texts, p.Description) {
			texts = append(texts, p.Description)
		}
		owners[p.Description] = append(owners[p.Description], o.Name)
	}
	if !enums {
		out.Enum = nil
	}
	if len(texts) > 1 {
		for i, text := range texts {
			texts[i] = strings.Join(owners[text], "/") + ": " + text
		}
	}
	out.Description = strings.Join(texts, "; ")
	return out
}

// Description is what MCP clients show a model: the summary, and a line for
// each action that is taught with its arguments, those it needs before the
// semicolon. Actions that are only named answer a call that lacks something with
// an example.
func (t *Tool) Description() string {
	var b strings.Builder
	b.WriteString(t.Summary)
	if !slices.ContainsFunc(t.Operations, func(o Operation) bool { return o.Name != "" && o.taught != nil }) {
		return b.String()
	}
	b.WriteString("\nActions (needed; optional), others explain themselves:")
	for i := range t.Operations {
		if o := &t.Operations[i]; o.taught != nil {
			fmt.Fprintf(&b, "\n%s%s %s", o.Name, o.signature(), o.Summary)
		}
	}
	return b.String()
}

// signature is "(category, value; key, confidence)".
func (o *Operation) signature() string {
	var need, may []string
	for _, p := range o.Params {
		switch {
		case p.Required:
			need = append(need, p.Name)
		case o.shows(p):
			may = append(may, p.Name)
		}
	}
	s := strings.Join(need, ", ")
	if len(may) > 0 {
		s += "; " + strings.Join(may, ", ")
	}
	return "(" + s + ")"
}
