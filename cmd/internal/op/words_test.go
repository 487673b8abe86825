package op

import (
	"context"
	"errors"
	"testing"

	"leanctx/internal/prose"
)

func TestCommandLine(t *testing.T) {
	_, err := sampleTool().Call(t.Context(), "remember", nil)
	u, _ := errors.AsType[*UsageError](err)
	if want := `sample remember "JWT RS256" --category architecture --key auth`; u.CommandLine() != want {
		t.Errorf("got %s, want %s", u.CommandLine(), want)
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"auth": "auth", "a/b.go:12": "a/b.go:12", "": `""`, "two words": `"two words"`, "$x": `'$x'`, "it's $1": `'it'\''s $1'`, "ключ": `"ключ"`,
	} {
		if got := ShellWord(in); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	type odd struct {
		M map[string]string `json:"m"`
	}
	for name, make := range map[string]func(){
		"a type no parameter has": func() { New("x", "", Reads, see[odd]) },
		"a required stranger":     func() { New("x", "", Reads, see[ballot], "nothing") },
		"no struct":               func() { New("x", "", Reads, see[int]) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			make()
		})
	}
}

// tip is a result and an error that tell what to type next.
type tip struct{}

func (tip) Text() string  { return tip{}.TextIn(prose.MCP) }
func (tip) Error() string { return tip{}.Text() }
func (tip) TextIn(call prose.Syntax) string {
	return call("remember", "category", "a b", "value", prose.Quoted("JWT"), "correct", true) + " or " + call("", "dry_run", true) + " or " + call("ctx_other list")
}

// Answers and errors name commands in a shell, and actions elsewhere.
func TestCallersSyntax(t *testing.T) {
	tool := &Tool{Name: "ctx_sample", Command: "sample", Operations: []Operation{
		New("remember", "Assert.", Adds, func(context.Context, Scope, sample) (tip, error) { return tip{}, nil }),
		New("fail", "Fail.", Reads, func(context.Context, Scope, struct{}) (tip, error) { return tip{}, tip{} }),
	}}
	const actions = `action=remember category="a b" value="JWT" correct=true or dry_run=true or ctx_other action=list`
	const commands = `lean-ctx sample remember JWT --category "a b" --correct or --dry-run or lean-ctx other list`
	for want, ctx := range map[string]context.Context{actions: t.Context(), commands: InShell(t.Context())} {
		a, err := tool.Call(ctx, "remember", map[string]any{"category": "a", "value": "v"})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.Render(); err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		if _, err := tool.Call(ctx, "fail", nil); err == nil || err.Error() != want || !errors.As(err, new(tip)) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
