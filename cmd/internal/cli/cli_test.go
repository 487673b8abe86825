package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/cmd/internal/op"
	"leanctx/internal/refusal"
)

// said are the arguments of the table's rows below, as the operation got them.
type said struct {
	Value      string   `json:"value,omitempty" arg:"1" jsonschema:"what is so"`
	Category   string   `json:"category,omitempty" short:"c" jsonschema:"the room"`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"0 to 1"`
	Limit      int      `json:"limit,omitempty"`
	ValidFrom  string   `json:"valid_from,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Pinned     bool     `json:"pinned,omitempty"`
	Vote       string   `json:"vote,omitempty" arg:"2" enum:"up,down"`
	File       string   `json:"file,omitempty" flag:"output"`
}

type erased struct {
	Key string `json:"key" arg:"1"`
}

func (e *erased) NeedsConfirm() string { return "erasing cannot be undone" }

// echo is a result that shows the arguments.
type echo struct {
	Said  any      `json:"said"`
	Scope op.Scope `json:"-"`
}

func (e echo) Text() string {
	b, err := json.Marshal(e.Said)
	if err != nil {
		return err.Error()
	}
	text := string(b)
	if e.Scope.Project != "" || e.Scope.Agent != "" {
		text += " " + e.Scope.Project + " " + e.Scope.Agent
	}
	return text
}

type nothing struct{}

func table(*Globals) []*op.Tool {
	say := func(_ context.Context, sc op.Scope, s said) (echo, error) { return echo{s, sc}, nil }
	erase := func(_ context.Context, sc op.Scope, e erased) (echo, error) { return echo{e, sc}, nil }
	fail := func(context.Context, op.Scope, nothing) (echo, error) { return echo{}, errors.New("no space left") }
	look := func(_ context.Context, sc op.Scope, s struct {
		Task string `json:"task,omitempty" arg:"1"`
	}) (echo, error) {
		return echo{s, sc}, nil
	}
	return []*op.Tool{
		{Name: "ctx_knowledge", Command: "knowledge", Summary: "Facts. They last.", Operations: []op.Operation{
			op.New("remember", "Assert a fact.", op.Adds, say, "value").Shown("value", "JWT RS256", "category", "architecture").Guesses("store"),
			op.New("remind_done", "Finish a reminder.", op.Changes, say),
			op.New("remove", "Retract a fact.", op.Destroys, erase),
			op.New("fail", "Fail.", op.Reads, fail),
		}},
		{Name: "ctx_overview", Command: "overview", Summary: "The project.", Operations: []op.Operation{op.New("", "The project.", op.Reads, look)}},
	}
}

// run gives the command's answer, its messages and its error.
func run(t *testing.T, in string, args ...string) (string, string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	root := New(Options{
		In: strings.NewReader(in), Out: &out, Err: &errs, Version: "1.2.3", Tools: table, Args: args,
		Plain: []Plain{{Name: "mcp", Summary: "Serve.", Run: func(_ context.Context, g Globals) error {
			fmt.Fprintln(&out, "serving", g.Project)
			return nil
		}}},
	})
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), errs.String(), err
}

func TestArguments(t *testing.T) {
	const value = `{"value":"Uses JWT","category":"auth"}`
	tests := []struct {
		in   string
		args string // separated by |
		want string
	}{
		{"", "remember|Uses JWT|--category|auth", value},
		{"", "remember|--category|auth|Uses JWT", value},
		{"", "remember|--category=auth|Uses JWT", value},
		{"", "--json=false|knowledge|remember|-c|auth|--|Uses JWT", value},
		{"", "remember|--value|Uses JWT|--category|auth", value},
		{"", "remember|--category|lost|--category|auth|Uses JWT", value},
		{"Uses JWT\n", "remember|-|-c|auth", value},
		{"Uses JWT\r\n", "remember|-c|auth|-", value},
		{"two\nlines\n\n", "remember|-", `{"value":"two\nlines\n"}`},
		{"", "remember|--|-", `{"value":"-"}`},
		{"", "remember|--|--json", `{"value":"--json"}`},
		{"", "remember|--value=--json", `{"value":"--json"}`},
		{"", "remember|--value|--json", `{"value":"--json"}`},
		{"", "remember|--|-c", `{"value":"-c"}`},
		{"", "remember|x|--confidence|0.9|--limit|3", `{"value":"x","confidence":0.9,"limit":3}`},
		{"", "remember|x|--confidence|0", `{"value":"x","confidence":0}`},
		{"", "remember|x|--valid-from|2026-01-01", `{"value":"x","valid_from":"2026-01-01"}`},
		{"", "remember|x|--tags|a,b", `{"value":"x","tags":["a","b"]}`},
		{"", "remember|x|--tags|a,b|--tags|c", `{"value":"x","tags":["a,b","c"]}`},
		{"", "remember|--pinned|x", `{"value":"x","pinned":true}`},
		{"", "remember|--pinned=false|x", `{"value":"x"}`},
		{"", "remember|x|up", `{"value":"x","vote":"up"}`},
		{"", "remember|--value|x|up", `{"value":"x","vote":"up"}`},
		{"", "remember|x|--output|f.jsonl", `{"value":"x","output":"f.jsonl"}`},
		{"", "remember|x|--project|/p|--agent|cursor-1", `{"value":"x"} /p cursor-1`},
		{"", "remember|x|--json", `{"said":{"value":"x"}}`},
		{"", "remind-done|x", `{"value":"x"}`},
		{"", "remind_done|x", `{"value":"x"}`},
		{"", "remove|auth|--yes", `{"key":"auth"}`},
		{"", "remove|-y|auth", `{"key":"auth"}`},
		{"", "overview", `{}`},
		{"", "overview|fix auth", `{"task":"fix auth"}`},
		{"", "mcp|--project|/p", `serving /p`},
		{"", "--project|/p|mcp", `serving /p`},
		{"", "--version", `lean-ctx 1.2.3`},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			args := strings.Split(tt.args, "|")
			if r := args[0]; strings.HasPrefix(r, "rem") {
				args = append([]string{"knowledge"}, args...)
			}
			out, errs, err := run(t, tt.in, args...)
			if err != nil || errs != "" {
				t.Fatalf("got %v, %q", err, errs)
			}
			got := strings.ReplaceAll(strings.TrimSuffix(out, "\n"), `"file"`, `"output"`)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	tests := []struct{ args, problem, hint string }{
		{"knowledge|rember|x", `unknown command "rember" for lean-ctx knowledge`, "did you mean lean-ctx knowledge remember x?"},
		{"knowledge|store|x", `unknown command "store" for lean-ctx knowledge`, "did you mean lean-ctx knowledge remember x?"},
		{"knowlege|remember|x", `unknown command "knowlege" for lean-ctx`, "did you mean lean-ctx knowledge remember x?"},
		{"knowledges|remember|x y", `unknown command "knowledges" for lean-ctx`, `did you mean lean-ctx knowledge remember "x y"?`},
		{"knowledge|fail|x", "unexpected argument", "lean-ctx knowledge fail --help says what it takes"},
		{"fail|x|--categry|a", `unknown command "fail" for lean-ctx`, "did you mean lean-ctx knowledge fail"},
		{"knowledge|rember|--nope", `unknown command "rember" for lean-ctx knowledge`, "did you mean lean-ctx knowledge remember?"},
		{"--nope", "lean-ctx: unknown flag --nope", "lean-ctx --help lists the flags"},
		{"fail", `unknown command "fail" for lean-ctx`, "did you mean lean-ctx knowledge fail?"},
		{"knowledge|overview", `unknown command "overview" for lean-ctx knowledge`, "did you mean lean-ctx overview?"},
		{"zzzzzz", `unknown command "zzzzzz" for lean-ctx`, "lean-ctx --help lists the commands"},
		{"knowledge|remember|x|--categry|a", "lean-ctx knowledge remember: unknown flag --categry", "did you mean --category?"},
		{"knowledge|remember|x|--projet|a", "lean-ctx knowledge remember: unknown flag --projet", "did you mean --project?"},
		{"knowledge|remember|x|--valid_from|a", "lean-ctx knowledge remember: unknown flag --valid_from", "did you mean --valid-from?"},
		{"knowledge|remember|-5 degrees", "lean-ctx knowledge remember: unknown flag -5", "-- ends them, for a value that begins with -"},
		{"knowledge|remember|x|--category", "lean-ctx knowledge remember: flag needs an argument: --category", `lean-ctx knowledge remember "JWT RS256" --category architecture`},
		{"knowledge|remember", `remember needs <value>`, `lean-ctx knowledge remember "JWT RS256" --category architecture`},
		{"knowledge|remember|x|--confidence|high", `--confidence must be a number, not "high"`, `lean-ctx knowledge remember "JWT RS256" --category architecture`},
		{"knowledge|remember|x|sideways", `<vote> must be one of up, down, not "sideways"`, ""},
		{"knowledge|remember|x|up|y", `lean-ctx knowledge remember: unexpected argument "y"`, `put a value of several words in quotes: lean-ctx knowledge remember "JWT RS256"`},
		{"knowledge|fail|x", `lean-ctx knowledge fail: unexpected argument "x"`, ""},
		{"knowledge|remove|auth", "erasing cannot be undone. Repeat with --yes to confirm.", "lean-ctx knowledge remove auth --yes"},
		{"mcp|now", `lean-ctx mcp takes no argument, but got "now"`, ""},
		{"completion|bash|now", `lean-ctx completion bash takes no argument, but got "now"`, ""},
		{"store|x", `unknown command "store" for lean-ctx`, "did you mean lean-ctx remember x?"},
		{"store|x|--category|two words", `unknown command "store" for lean-ctx`, `did you mean lean-ctx remember x --category "two words"?`},
		{"--json|store|--category=a|x", `unknown command "store" for lean-ctx`, `did you mean lean-ctx remember --category=a x?`},
		{"store|x|--nope", `unknown command "store" for lean-ctx`, "did you mean lean-ctx remember x?"},
		{"store|auth/kind", `unknown command "store" for lean-ctx`, "did you mean lean-ctx remember auth/kind VALUE?"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			out, _, err := run(t, "", strings.Split(tt.args, "|")...)
			e, ok := errors.AsType[*refusal.HintError](err)
			if !ok || out != "" {
				t.Fatalf("got %v (%T), %q", err, err, out)
			}
			if !strings.Contains(e.Error(), tt.problem) || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("got  %s\nhint %s\nwant %s\nhint %s", e, e.Hint, tt.problem, tt.hint)
			}
		})
	}
}

func TestOtherErrorsArePassedOn(t *testing.T) {
	_, _, err := run(t, "", "knowledge", "fail")
	if err == nil || err.Error() != "no space left" {
		t.Errorf("got %v", err)
	}
}

func TestHelp(t *testing.T) {
	out, _, err := run(t, "", "knowledge", "remember", "--help")
	if err != nil {
		t.Fatal(err)
	}
	example, usage := strings.Index(out, `lean-ctx knowledge remember "JWT RS256" --category architecture`), strings.Index(out, "lean-ctx knowledge remember <value> [vote] [flags]")
	if example < 0 || usage < example {
		t.Errorf("the example should stand before the usage:\n%s", out)
	}
	for _, want := range []string{"-c, --category string", "--valid-from string", "--json", "(required)", "(up, down)", "--project"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, args := range [][]string{{}, {"--help"}, {"help"}, {"knowledge"}, {"help", "knowledge"}} {
		out, errs, err := run(t, "", args...)
		if err != nil || errs != "" || !strings.Contains(out, "Commands:") {
			t.Errorf("%v: %v\n%s%s", args, err, out, errs)
		}
	}
	if out, _, _ := run(t, ""); !strings.Contains(out, "Commands:\n  remember     Assert a fact.\n  knowledge    Facts.\n  overview     The project.\n  mcp          Serve.\n  completion   ") {
		t.Errorf("the commands do not stand in the order of the table:\n%s", out)
	}
}

func TestStdinGivesUpWithTheContext(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); r.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if Terminal(r) || Terminal(&bytes.Buffer{}) {
		t.Error("a pipe was taken for a terminal")
	}
}
