package op

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Schema is the tool's input as a JSON schema: one flat object, an explicit type on every
// node, the action an enum, all else optional. Several model APIs refuse a whole session
// because of oneOf, anyOf or allOf at the top, a list of types, or missing "properties".
// Every argument is in it, since some clients send none that a schema does not have: those of
// the described operations with their words and values, the others with their type alone. It
// has no additionalProperties, since [Tool.Call] corrects what it can. The bytes are always
// the same.
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
	for _, p := range t.schemaProperties() {
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

// schemaProperties are the properties of the schema, the described ones first.
func (t *Tool) schemaProperties() []Param {
	all := t.properties((*Operation).shows)
	for i := range all {
		all[i].Description = t.Words[all[i].Name]
	}
	described := len(all)
	for _, p := range t.properties(func(*Operation, Param) bool { return true }) {
		if i := slices.IndexFunc(all[:described], func(q Param) bool { return q.Name == p.Name }); i < 0 {
			p.Description = ""
			p.Enum = nil
			all = append(all, p)
		}
	}
	for i := range all {
		if all[i].Name == "output" { // models need no JSON
			all[i].Enum = nil
		}
	}
	return all
}

// properties are the parameters that shows accepts, merged by name.
func (t *Tool) properties(shows func(*Operation, Param) bool) []Param {
	var all []Param
	confirms := false
	for i := range t.Operations {
		o := &t.Operations[i]
		confirms = confirms || o.Confirms && shows(o, confirmParam)
		for _, p := range o.Params {
			if p.Unlisted {
				continue
			}
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

// merged is one property for all parameters of a name, with the description of the first. There
// is an enum only if all parameters have one.
func (t *Tool) merged(name string, shows func(*Operation, Param) bool) (out Param) {
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
	}
	if !enums {
		out.Enum = nil
	}
	return out
}

// Description is the description that models see: the summary, and a line for each
// described action with its arguments, the required ones before the semicolon. An action
// that is only named in the schema answers an incomplete call with an example.
func (t *Tool) Description() string {
	var b strings.Builder
	b.WriteString(t.Summary)
	if !slices.ContainsFunc(t.Operations, func(o Operation) bool { return o.Name != "" && o.described != nil }) {
		return b.String()
	}
	b.WriteString("\nActions (needed; optional):")
	for i := range t.Operations {
		if o := &t.Operations[i]; o.described != nil {
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
