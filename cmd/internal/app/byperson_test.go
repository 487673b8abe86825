package app

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
)

// What decides whom the memory is shared with, what is taken off the disk, what is redacted and what is kept is a
// person's. Each command that changes something, and is no call of the shared table, is named here: it is a
// person's, or says why an agent may run it.
func TestWhatIsAPersonsToDo(t *testing.T) {
	reasons := map[string]string{
		"compact": "it rewrites files as they are", "connect": "people have agents set it up", "disconnect": "connect undoes it", "doctor": "with --fix it mends files",
		"embeddings install": "people have agents set it up", "session import": "it takes in what clients kept", "cost reset": "counts of tokens",
		"project link": "it looks at the caller itself", "sync": "it looks at the caller itself", "sync trust": "it looks at the caller itself", "sync untrust": "it looks at the caller itself",
		"import": "what it takes in is an agent's import", "embeddings reset": "vectors are made again", "embeddings reindex": "vectors are made again",
	}
	home(t)
	t.Setenv("CLAUDECODE", "1")
	persons := []string{"project unlink", "project forget", "sensitive add", "team join", "team leave", "session erase", "session off", "session on"}
	var r run
	s := newStores(&config.Config{}, func(string) {})
	r.stores = s
	for _, tool := range []*op.Tool{projectTool(s), sensitiveTool(s), sessionTool(s), teamTool(&r), embeddingsTool(s), compactTool(s), syncTool(s)} {
		for _, o := range tool.Operations {
			name := strings.TrimSpace(tool.Command + " " + o.Name)
			person := slices.Contains(persons, name)
			if o.Effect != op.Reads && !person && reasons[name] == "" {
				t.Errorf("may an agent run %s?", name)
			}
		}
	}
	for _, line := range []string{
		"project unlink", "project forget my-app --erase --yes", "sensitive add words [A-Za-z]+", "team join nats://127.0.0.1:1", "team leave", "session erase --all --yes", "session erase s-12345678", "session off", "session on",
	} {
		code, _, errs := do(t, "", strings.Fields(line)...)
		if code == 0 || !strings.Contains(errs, "is for a person") {
			t.Errorf("%s: %d %s", line, code, errs)
		}
	}
	t.Setenv("CLAUDECODE", "")
	t.Setenv(config.AgentVar, "codex-1")
	if code, _, errs := do(t, "", "project", "unlink"); code == 0 || !strings.Contains(errs, "is for a person") {
		t.Errorf("%d %s", code, errs)
	}
}

// A server that an agent starts prints nothing that logs in at the page, and is not open to everybody.
func TestAgentsServerLogsNobodyIn(t *testing.T) {
	home(t)
	t.Setenv("CLAUDECODE", "1")
	if code, _, errs := do(t, "", "serve", "--open", "--addr", "127.0.0.1:0"); code == 0 || !strings.Contains(errs, "is for a person") {
		t.Errorf("%d %s", code, errs)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var out, errs strings.Builder
	if code := Main(ctx, []string{"serve", "--addr", "127.0.0.1:0"}, strings.NewReader(""), &out, &errs); code != 0 || !strings.Contains(out.String(), "Serving at") || strings.Contains(out.String(), "token=") {
		t.Errorf("%d %s%s", code, out.String(), errs.String())
	}
}
