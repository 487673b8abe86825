package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"leanctx/cmd/internal/op"
)

// flag is a parameter as a flag. It keeps the typed text: op checks values, and words the
// errors, for all surfaces.
type flag struct {
	param op.Param
	texts []string
}

func (f *flag) addTo(set *pflag.FlagSet) {
	p := f.param
	added := set.VarPF(f, p.Flag, f.short(set), usage(p))
	if p.Switch() {
		added.NoOptDefVal = "true"
	}
}

// alsoTo adds the flag under its other names, which the help leaves out. It is called after
// all flags have their own names.
func (f *flag) alsoTo(set *pflag.FlagSet) {
	for _, name := range f.param.Aliases {
		if name = strings.ReplaceAll(name, "_", "-"); set.Lookup(name) == nil {
			set.VarPF(f, name, "", usage(f.param)).Hidden = true
		}
	}
}

// short is the one-letter form, if no other flag of the command has it.
func (f *flag) short(set *pflag.FlagSet) string {
	s := f.param.Short
	if len(s) != 1 || s == "h" || set.ShorthandLookup(s) != nil {
		return ""
	}
	return s
}

// usage is a line of the help.
func usage(p op.Param) string {
	text, notes := p.Description, []string(nil)
	if len(p.Enum) > 0 && !p.Switch() {
		notes = append(notes, strings.Join(p.Enum, ", "))
	}
	if about, rest, found := strings.Cut(text, " (default"); found && strings.HasSuffix(rest, ")") {
		text, notes = about, append(notes, "default"+strings.TrimSuffix(rest, ")"))
	}
	if p.Required {
		notes = append(notes, "required")
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, "; ") + ")"
	}
	return text
}

// Set takes one occurrence of the flag.
func (f *flag) Set(s string) error {
	f.texts = append(f.texts, s)
	return nil
}

// String is the value of the flag.
func (f *flag) String() string { return strings.Join(f.texts, ",") }

// Type is the word that stands for the value in the help.
func (f *flag) Type() string {
	switch {
	case f.param.Switch():
		return "bool"
	case f.param.Type == op.TypeArray:
		return "list"
	}
	return f.param.Type
}

func (f *flag) given() bool { return len(f.texts) > 0 }

// value is what the operation gets. A list may be given by several flags; otherwise the
// last flag counts.
func (f *flag) value() any {
	last := f.texts[len(f.texts)-1]
	if f.param.Type != op.TypeArray || len(f.texts) == 1 {
		return last
	}
	list := make([]any, len(f.texts))
	for i, s := range f.texts {
		list[i] = s
	}
	return list
}
