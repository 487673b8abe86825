package app

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
)

// What decides whom the memory is shared with, who reaches it over a network, what is taken off the disk, what is
// redacted and what is kept is a person's. Each command that is no call of the shared table is named here, whatever it
// says that it does: it is a person's, or says why an agent may run it.
func TestWhatIsAPersonsToDo(t *testing.T) {
	const reads = "it only reads"
	reasons := map[string]string{
		"compact": "it rewrites files as they are", "connect": "people have agents set it up; it gives an agent no token", "disconnect": "connect undoes it", "doctor": "with --fix it mends files; --start is a person's",
		"embeddings install": "people have agents set it up", "session import": "it takes in what clients kept", "cost reset": "counts of tokens",
		"project link": "it looks at the caller itself", "sync": "it looks at the caller itself", "sync trust": "it looks at the caller itself", "sync untrust": "it looks at the caller itself",
		"import": "what it takes in is an agent's import", "embeddings reset": "vectors are made again", "embeddings reindex": "vectors are made again",
		"project list": reads, "project show": reads, "sync status": reads, "sync replicas": reads, "sensitive list": reads, "sensitive test": reads, "session list": reads, "session show": reads, "session grep": reads,
		"embeddings status": reads, "version": reads, "team status": reads, "briefings": reads,
	}
	persons := []string{
		"project unlink", "project forget", "sensitive add", "team join", "team leave", "team serve", "serve", "session erase", "session off", "session on",
	}
	home(t)
	t.Setenv("CLAUDECODE", "1")
	r := new(run)
	all := r.tools(new(cli.Globals))
	shared := slices.Concat(shell{r.stores, nil}.tools(), []*op.Tool{op.TokenReport(r.stores.table())})
	for _, tool := range all {
		if slices.ContainsFunc(shared, func(s *op.Tool) bool { return s.Name == tool.Name }) {
			continue
		}
		for _, o := range tool.Operations {
			name := strings.TrimSpace(tool.Command + " " + o.Name)
			if person := slices.Contains(persons, name); person == (reasons[name] != "") {
				t.Errorf("may an agent run %q?", name)
			}
		}
	}
	for _, line := range []string{
		"project unlink", "project forget my-app --erase --yes", "sensitive add words [A-Za-z]+", "team join nats://127.0.0.1:1", "team leave", "session erase --all --yes", "session erase s-12345678", "session off", "session on", "doctor --start claude-code",
		"serve --addr 127.0.0.1:0", "serve --open --addr 127.0.0.1:0", "serve --addr 127.0.0.1:0 --token-file t.json", "serve --addr 0.0.0.0:0 --insecure --token-file t.json", "serve --read-only --addr 127.0.0.1:0",
		"team serve --addr 127.0.0.1:0", "team serve --addr 0.0.0.0:0 --insecure", "connect --url http://127.0.0.1:7337 claude-code", "connect --url http://127.0.0.1:7337/p/0123456789abcdef/mcp claude-code",
	} {
		for _, by := range []string{"CLAUDECODE", config.AgentVar, "--agent"} {
			t.Setenv("CLAUDECODE", "")
			t.Setenv(config.AgentVar, "")
			args := strings.Fields(line)
			if by == "--agent" {
				args = append(args, by, "codex-1")
			} else {
				t.Setenv(by, "codex-1")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // a server that starts serves until then
			var out, errs strings.Builder
			code := Main(ctx, args, strings.NewReader(""), &out, &errs)
			cancel()
			if code == 0 || !strings.Contains(errs.String(), "is for a person") {
				t.Errorf("%s by %s: %d %s%s", line, by, code, out.String(), errs.String())
			}
		}
	}
}
