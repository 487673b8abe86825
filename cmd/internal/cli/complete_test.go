package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// completed is what a shell gets for a command line that ends in the last of args. The number
// is cobra's, and tells what the shell does about files.
func completed(t *testing.T, known func(context.Context, Blank) []string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	root := New(Options{In: strings.NewReader(""), Out: &out, Err: &errs, Version: "1.2.3", Tools: table, Known: known})
	root.SetArgs(append([]string{"__complete"}, args...))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "|")
}

func TestComplete(t *testing.T) {
	known := func(ctx context.Context, b Blank) []string {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("a shell would wait for ever")
		}
		switch b {
		case Blank{Tool: "knowledge", Argument: "category"}:
			return []string{"auth\t3 facts", "db"}
		case Blank{Tool: "overview", Argument: "task"}:
			return []string{"t-1", "t-2"}
		}
		return nil
	}
	tests := []struct{ args, want string }{
		{"knowledge rem", "remember\tAssert a fact.|remind-done\tFinish a reminder.|remove\tRetract a fact.|:4"},
		{"knowledge nonsense ", ":4"},
		{"knowledge remember x --category ", "auth\t3 facts|db|:36"},
		{"knowledge remember x -c ", "auth\t3 facts|db|:36"},
		{"knowledge remember x --tags ", ":36"},
		{"knowledge remember x --output ", ":0"},
		{"knowledge remember x ", "up|down|:36"},
		{"knowledge remember --vote up ", ":36"},
		{"knowledge remember --value x ", "up|down|:36"},
		{"knowledge remember x up ", ":4"},
		{"knowledge fail ", ":4"},
		{"overview ", "t-1|t-2|:36"},
		{"overview --agent ", ":4"},
		{"completion bash ", ":4"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			if d := cmp.Diff(tt.want, completed(t, known, strings.Split(tt.args, " ")...)); d != "" {
				t.Error(d)
			}
		})
	}
	if got := completed(t, nil, "overview", ""); got != ":36" {
		t.Errorf("without anybody who knows: %s", got)
	}
}

// A shell evaluates what it was given as a completion when the key is pressed again. Of names that are no plain words none is
// offered, whoever made them.
func TestCompletionsArePlainWords(t *testing.T) {
	var names []string
	for r := range rune(0x3000) {
		names = append(names, "a"+string(r)+"b")
	}
	names = append(names, "$(touch x)a", "`x`", "-rf", "~root", "a\u200bb", "a\u202eb", "deploy/$(x)", "x=\u00a0y", "")
	offered := completed(t, func(context.Context, Blank) []string {
		out := []string{"plain\tvalue $(x) `y` \\ \x1b[0m end"}
		for _, n := range names {
			out = append(out, n+"\tabout it")
		}
		return out
	}, "knowledge", "remember", "x", "--category", "")
	if !strings.Contains(offered, "plain\tvalue (x) y  [0m end|") {
		t.Errorf("the description: %.100q", offered)
	}
	found := 0
	for line := range strings.SplitSeq(offered, "|") {
		name, _, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		found++
		for _, r := range name {
			if r < 0x80 && !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@+,", r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
				t.Errorf("%q is offered", name)
			}
		}
	}
	if found < 1000 {
		t.Errorf("%d are offered: names in other scripts are words too", found)
	}
	if got := completed(t, func(_ context.Context, b Blank) []string { return []string{"$(x)a", "$(x)b"} }, "knowledge", "remember", "x", "--category", "deploy/"); strings.Contains(got, "$") {
		t.Errorf("after a slash: %s", got)
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		out, errs, err := run(t, "", "completion", shell)
		if err != nil || errs != "" || len(out) < 1000 || !strings.Contains(out, "__complete") {
			t.Errorf("%s: %v, %s, %d bytes", shell, err, errs, len(out))
		}
	}
	if _, _, err := run(t, "", "completion", "zhs"); err == nil || !strings.Contains(err.Error(), `unknown command "zhs"`) {
		t.Errorf("got %v", err)
	}
	if _, _, err := run(t, "", "completion", "bash", "now"); err == nil {
		t.Error("an argument was taken")
	}
}
