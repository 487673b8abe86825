package op

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The types a parameter can have, as JSON schema names them.
const (
	TypeString  = "string"
	TypeNumber  = "number"
	TypeInteger = "integer"
	TypeBoolean = "boolean"
	TypeArray   = "array" // of strings
)

// in names the parameter for a caller: "to_agent", or in a shell --to-agent or, if it is
// given by position, <value>.
func (p Param) in(shell bool) string {
	switch {
	case !shell:
		return strconv.Quote(p.Name)
	case p.Arg > 0:
		return "<" + p.Flag + ">"
	}
	return "--" + p.Flag
}

// Limits of an argument, in bytes. An operation may have lower ones. They are looked at before anything reads the
// argument, so that no call takes long or fills the store with a name.
const (
	MaxArgument = 4 << 10
	MaxText     = 1 << 20 // of an argument with the tag long:"true"
	maxItems    = 1000    // of a list
)

// Param is one argument of an operation.
type Param struct {
	Name        string // in MCP and JSON
	Flag        string // on the command line
	Short       string // one letter, or empty
	Type        string
	Description string
	Enum        []string
	Required    bool
	Arg         int // position on the command line, from 1; 0: by flag only
	Aliases     []string
	Long        bool // a text, not a name or an address: MaxText bounds it instead of MaxArgument
	Unlisted    bool // a command takes it; MCP schemas leave it out, since no agent needs it
}

// Switch reports whether the parameter is true or false. One whose name is a text
// in another action of the tool has both as its values.
func (p Param) Switch() bool {
	return p.Type == TypeBoolean || slices.Equal(p.Enum, []string{"true", "false"})
}

var agentParam = Param{Name: agentName, Flag: agentName, Type: TypeString, Description: "your agent id, if you registered"}

// scopeParams are the arguments that every operation takes.
var scopeParams = [...]Param{
	{Name: "project", Flag: "project", Type: TypeString, Description: "path of the project (default: the server's)"},
	agentParam,
	{Name: "output", Flag: "output", Type: TypeString, Description: "form of the answer (default text)", Enum: []string{"text", "json"}},
}

const confirmName = "confirm"

// confirmParam is the argument of operations that may require confirmation.
var confirmParam = Param{Name: confirmName, Flag: "yes", Short: "y", Type: TypeBoolean, Description: "true where an action asks for it"}

// params reads the fields of an argument struct.
func params(t reflect.Type, required []string) ([]Param, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v is not a struct", t)
	}
	var out []Param
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		p, ok, err := param(f)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		p.Required = p.Required || slices.Contains(required, p.Name)
		out = append(out, p)
	}
	for _, name := range required {
		if !slices.ContainsFunc(out, func(p Param) bool { return p.Name == name }) {
			return nil, fmt.Errorf("%v has no argument %q", t, name)
		}
	}
	return out, nil
}

// param reads one field. ok is false if the field is no argument.
func param(f reflect.StructField) (p Param, ok bool, err error) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || name == "" {
		return p, false, nil
	}
	p = Param{
		Name: name, Flag: f.Tag.Get("flag"), Short: f.Tag.Get("short"),
		Required: !strings.Contains(options, "omit"),
	}
	if p.Flag == "" {
		p.Flag = strings.ReplaceAll(name, "_", "-")
	}
	if p.Type = typeOf(f.Type); p.Type == "" {
		return p, false, fmt.Errorf("argument %q: no parameter can be a %v", name, f.Type)
	}
	p.Long = f.Tag.Get("long") == "true"
	p.Unlisted = f.Tag.Get("mcp") == "-"
	p.Description, p.Enum, p.Aliases = f.Tag.Get("jsonschema"), split(f.Tag.Get("enum")), split(f.Tag.Get("alias"))
	if a := f.Tag.Get("arg"); a != "" {
		if p.Arg, err = strconv.Atoi(a); err != nil {
			return p, false, fmt.Errorf("argument %q: arg %q is not a position", name, a)
		}
	}
	return p, true, nil
}

// typeOf is the schema type of a field, or empty.
func typeOf(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		if t = t.Elem(); t.Kind() == reflect.Slice {
			return ""
		}
	}
	switch t.Kind() {
	case reflect.String:
		return TypeString
	case reflect.Bool:
		return TypeBoolean
	case reflect.Int, reflect.Int64:
		return TypeInteger
	case reflect.Float64:
		return TypeNumber
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return TypeArray
		}
	}
	return ""
}

// split splits at commas and trims, and leaves out empty parts.
func split(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
