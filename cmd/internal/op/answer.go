package op

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"leanctx/internal/prose"
)

// Answer is what a call came to.
type Answer struct {
	Result  Result
	Notices []string // what was ignored or understood otherwise; a sentence each, without a full stop
	Output  string   // "text" or "json", as the caller asked
	Action  string   // the operation's name
	Scope   Scope    // where and for whom it was done; zero where the call came to no operation

	syntax prose.Syntax // the caller's
}

// suggesting is met by results and errors that tell what to type next.
type suggesting interface{ TextIn(prose.Syntax) string }

// Made is a call that a surface has answered, for those who count.
type Made struct {
	Tool, Action string
	Scope        Scope
	In, Out      string // the arguments as JSON, the answer as it was given
}

// Render is the result in the form that was asked for. The notices are left
// to the surface: beside the text for a model, on standard error for a person.
func (a Answer) Render() (string, error) {
	if a.Output == "json" {
		return a.JSON()
	}
	text := ""
	if r, ok := a.Result.(suggesting); ok {
		text = r.TextIn(a.syntax)
	} else {
		text = a.Result.Text()
	}
	return strings.TrimRight(text, "\n"), nil
}

// JSON is the result on one line, as it stands in the struct: no HTML
// escaping, times in RFC 3339, no line feed at the end. One line, because it
// is read by models that pay for spaces and by programs that do not care.
func (a Answer) JSON() (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(a.Result); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

type shellKey struct{}

// InShell says that the caller types commands: answers and errors then name
// commands and flags, else actions and arguments.
func InShell(ctx context.Context) context.Context { return context.WithValue(ctx, shellKey{}, true) }

func inShell(ctx context.Context) bool { return ctx.Value(shellKey{}) != nil }

// inSyntax is an error in the words of a shell.
type inSyntax struct {
	error
	text string
}

func (e inSyntax) Error() string { return e.text }
func (e inSyntax) Unwrap() error { return e.error }

// shell is the syntax of commands: lean-ctx knowledge restore "…".
func (t *Tool) shell(action string, pairs ...any) string {
	args := make(map[string]any, len(pairs)/2)
	var flags []string
	for i := 0; i+1 < len(pairs); i += 2 {
		name := pairs[i].(string)
		args[name] = pairs[i+1]
		if pairs[i+1] == true {
			flags = append(flags, "--"+strings.ReplaceAll(name, "_", "-"))
		} else {
			flags = append(flags, "--"+strings.ReplaceAll(name, "_", "-")+" "+shellWord(pairs[i+1]))
		}
	}
	if action == "" {
		return strings.Join(flags, " ")
	}
	return "lean-ctx " + t.commandLine(action, args)
}
