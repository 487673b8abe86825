package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"leanctx/cmd/internal/op"
)

// afterHint are the words with which a sentence goes on after a command that it names.
var afterHint = strings.Fields("or and settles shows brings imports lists when says makes replaces starts deletes sets takes puts is must has first")

// commandHints are the commands that a text tells its reader to type, each as its words.
func commandHints(text string) (hints [][]string) {
	for at := 0; ; {
		i := strings.Index(text[at:], "lean-ctx ")
		if i < 0 {
			return hints
		}
		at += i + len("lean-ctx ")
		if i := at - len("lean-ctx ") - 1; i >= 0 && strings.ContainsRune("/-_.`'", rune(text[i])) && text[i] != '`' {
			continue // a path
		}
		rest := text[at:]
		if strings.HasPrefix(text[max(0, at-len("lean-ctx ")-1):], "`") {
			rest, _, _ = strings.Cut(rest, "`")
		}
		label, _, isLabel := strings.Cut(rest, ": ")
		if isLabel && !strings.ContainsAny(label, "\n.,()?") || strings.HasPrefix(rest, "0.") {
			continue // "lean-ctx recall: unknown flag", and a version
		}
		if words := hintWords(rest); len(words) > 0 {
			hints = append(hints, words)
		}
	}
}

// hintWords reads words as a shell does, up to where the sentence goes on.
func hintWords(text string) (words []string) {
	var b strings.Builder
	quote, open, quoted, escaped := rune(0), false, false, false
	flush := func() bool {
		w := b.String()
		b.Reset()
		if !open {
			return true
		}
		open = false
		if !quoted && (slices.Contains(afterHint, w) || strings.HasPrefix(w, "(")) {
			return false
		}
		end := false
		if !quoted {
			bare := strings.TrimRight(w, "?.,;:)")
			end, w = bare != w, bare
		}
		quoted = false
		if w != "" || end == false {
			words = append(words, w)
		}
		return !end
	}
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped, open, quoted = true, true, true
		case r == '"' || r == '\'':
			quote, open, quoted = r, true, true
		case r == '\n':
			flush()
			return words
		case r == ' ':
			if !flush() {
				return words
			}
		default:
			b.WriteRune(r)
			open = true
		}
	}
	flush()
	return words
}

// typed are commands that wait for a server or for input: that they are understood is looked at, and no more.
var typed = []string{"serve", "mcp", "team", "connect", "disconnect", "embeddings", "hook", "doctor"}

// tryCommand fails if a command that a text named is not understood.
func tryCommand(t *testing.T, from string, words []string) {
	t.Helper()
	// "did you mean lean-ctx knowledge remove?" names a command, with what was typed behind it.
	bare := len(strings.Fields(from)) <= 2 && len(words) <= 2
	line := "lean-ctx " + strings.Join(words, " ")
	if strings.ContainsAny(line, "…<>") {
		t.Errorf("%s: what cannot be typed: %s", from, line)
		return
	}
	if problem := unparsed(words); problem != "" && !slices.Contains(words, "--help") && !bare && (slices.Contains(typed, words[0]) || !strings.HasSuffix(problem, "missing")) {
		t.Errorf("%s: %s: %s", from, line, problem)
		return
	}
	if slices.Contains(typed, words[0]) || bare {
		return
	}
	if code, _, errs := do(t, "", words...); code == 2 {
		t.Errorf("%s: %s: %s", from, line, errs)
	}
}

// scenarios is a story of commands whose answers name other commands. $1 is what the pattern before it found.
func hintScenarios(t *testing.T, project string) [][]string {
	t.Helper()
	write := func(name, text string) string {
		path := filepath.Join(project, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bad := write("bad facts.jsonl", `{"category":"a","key":"b","value":"c"}`+"\nnonsense\n")
	plan := write("my plan.md", "# Phase\n- [ ] one\n- [ ] two\n")
	k := func(words ...string) []string { return append([]string{"knowledge"}, words...) }
	agent := func(id string, words ...string) []string { return append(words, "--agent", id) }
	return [][]string{
		agent("codex-1acc", k("remember", "arch/db", `MySQL "8" costs $5, it's a\b`, "--confidence", "0.95")...),
		agent("codex-1acc", k("remember", "arch/db", `MySQL "8" costs $5, it's a\b`)...),
		agent("claude-2bdd", k("remember", "arch/db", "PostgreSQL 16 instead")...), // a contradiction
		agent("codex-1acc", k("remember", "odd/dash", "--", "-x\nof two lines")...),
		agent("claude-2bdd", k("remember", "odd/dash", "yes")...),
		{"remember", "odd room/with blank", "one", "--source", "user"},
		agent("codex-1acc", k("remember", "odd room/with blank", "two")...), // a dispute
		agent("codex-1acc", k("remove", "odd room/with blank")...),
		agent("codex-1acc", k("remember", "a/b", "red")...), agent("claude-2bdd", k("remember", "a/b", "blue")...),
		agent("codex-1acc", k("remember", "a/b", "red")...), agent("claude-2bdd", k("remember", "a/b", "blue")...), // back and forth
		k("disputes"), k("health"), k("questions"), k("status"), k("why", "arch/db"), k("why", "arch/dbb"), k("timeline", "arch", "--limit", "1"),
		{"remember", "infra/queue", "we use RabbitMQ as the message queue"}, {"remember", "jobs/broker", "we replaced RabbitMQ with Kafka as the message queue"},
		{"remember", "perf/limit", "never cache the login page"}, {"remember", "cache/login", "always cache the login page"},
		k("health"),
		k("remember", "plan/x", "later", "--valid-from", "2199-01-01"), k("remember", "plan/x", "later", "--valid-until", "2199-02-01"),
		{"recall", "message queue", "--limit", "1"}, {"recall", "--category", "arhc"}, {"recall", "--as-of", "1999"}, {"recall", "nothing like it"},
		k("import", bad), k("import", plan), k("import", "--merge", "skip-existing", bad), k("export", "--output", filepath.Join(project, "out.json")),
		k("remind", "look at it", "--keyword", "queue"), {"recall", "queue"}, k("reminders"), k("check"), k("undo"), k("briefings"), k("embeddings-status"),
		k("remove", "arch/db", "--erase"), k("relate", "arch/db", "perf/limit", "--kind", "nonsense"), k("restore"), k("consolidate"),
		{"search", "queue", "--limit", "1"}, {"wakeup"}, {"overview"}, {"status"},
		{"agent", "register", "cursor"}, {"agent", "list"}, {"agent", "diary", "x"}, {"agent", "claim", "a.go"}, {"agent", "read"}, {"agent", "handoff", "codex"},
		{"task", "create", "mend it"}, {"task", "list"}, {"task", "next"}, {"task", "import", plan}, {"task", "export"}, {"task", "info"}, {"task", "update", "t-000000", "done"},
		{"share", "list"}, {"share", "push", bad}, {"share", "pull"}, {"share", "clear"}, {"cost", "report"}, {"cost", "reset"},
		{"project", "show"}, {"project", "list"}, {"project", "link", "nothing"}, {"project", "forget", "nothing"}, {"team", "status"}, {"team", "leave"}, {"sync"},
		{"sensitive", "list"}, {"sensitive", "test", "x"}, {"embeddings", "list"}, {"embeddings", "install"}, {"connect", "nothing"}, {"doctor"}, {"compact"}, {"version"},
		{"delete", "a/b"}, {"edit"}, {"forget"}, {"import"}, {"rember"}, {"recall", "--limt", "3"}, {"remember", "-5 degrees"}, {"token-report"},
		{"serve", "--addr", "0.0.0.0:1"}, {"sync", "trust", "nothing"}, {"sync", "untrust", "nothing"}, {"sync", "replicas"},
	}
}

// Whatever command an answer, an error or a hint names can be typed as it stands.
func TestEveryNamedCommandCanBeTyped(t *testing.T) {
	project := filepath.Join(home(t), "my-app")
	seen := map[string]bool{}
	look := func(from, text string) {
		for _, words := range commandHints(text) {
			if line := fmt.Sprint(words); !seen[line] {
				seen[line] = true
				tryCommand(t, from, words)
			}
		}
	}
	for _, words := range hintScenarios(t, project) {
		_, out, errs := do(t, "", words...)
		look(strings.Join(words, " "), out+"\n"+errs)
	}
	for _, tool := range op.All(op.Stores{}) { // each without its arguments, and with an unknown one
		if tool.Name == op.RecallName {
			continue
		}
		for _, o := range tool.Operations {
			words := []string{tool.Command}
			if o.Name != "" {
				words = append(words, strings.ReplaceAll(o.Name, "_", "-"))
			}
			if o.Name == "embeddings_reindex" || o.Name == "embeddings_reset" {
				continue
			}
			_, _, errs := do(t, "", words...)
			look(strings.Join(words, " "), errs)
			_, _, errs = do(t, "", append(words, "--nothing-like-this")...)
			look(strings.Join(words, " ")+" --nothing-like-this", errs)
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d commands were named", len(seen))
	}
}

// actionHint is the beginning of a call that an answer over MCP names, and jsonHint one in JSON.
var (
	actionHint = regexp.MustCompile(`action=[a-z_]+`)
	jsonHint   = regexp.MustCompile(`Example: (\{.*\})`)
)

// actionHints are the calls that a text names, as the arguments of the tool. Where the text names another tool, it
// stands before them.
func actionHints(text string) (hints []string) {
	for _, at := range actionHint.FindAllStringIndex(text, -1) {
		args := map[string]string{}
		for rest := text[at[0]:]; ; {
			name, value, ok := strings.Cut(rest, "=")
			if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }) {
				break
			}
			if quoted, err := strconv.QuotedPrefix(value); err == nil {
				args[name], _ = strconv.Unquote(quoted)
				rest = value[len(quoted):]
			} else {
				end := strings.IndexAny(value+" ", " \n),;")
				args[name], rest = strings.TrimRight(value[:end], ".?"), value[end:]
			}
			rest, ok = strings.CutPrefix(rest, " ")
			if !ok {
				break
			}
		}
		data, _ := json.Marshal(args)
		before := strings.Fields(text[:at[0]])
		if len(before) > 0 && strings.HasPrefix(strings.TrimLeft(before[len(before)-1], "("), "ctx_") { // of another tool
			hints = append(hints, strings.TrimLeft(before[len(before)-1], "(")+"\x00"+string(data))
			continue
		}
		hints = append(hints, string(data))
	}
	for _, m := range jsonHint.FindAllStringSubmatch(text, -1) {
		hints = append(hints, m[1])
	}
	return hints
}

// And so can every call that an answer over MCP names.
func TestEveryNamedCallCanBeMade(t *testing.T) {
	project := filepath.Join(home(t), "my-app")
	if err := os.CopyFS(project, fstest.MapFS{"src/auth.ts": {Data: []byte("1")}, "src/middleware.ts": {Data: []byte("2")}}); err != nil { // the files of the examples
		t.Fatal(err)
	}
	c := dial(t, serving(t), "")
	seen := map[string]bool{}
	look := func(tool, from, text string) {
		for _, args := range actionHints(text) {
			tool := tool
			if other, rest, ok := strings.Cut(args, "\x00"); ok {
				tool, args = other, rest
			}
			if seen[tool+args] {
				continue
			}
			seen[tool+args] = true
			if answer := c.call(tool, args); strings.HasPrefix(answer, "!") && strings.Contains(answer, "Example: ") || strings.Contains(args, "…") {
				t.Errorf("%s: %s: %s", from, args, answer)
			}
		}
	}
	tools := map[string]*op.Tool{}
	for _, tool := range op.All(op.Stores{}) {
		tools[tool.Command] = tool
	}
	for _, words := range hintScenarios(t, project) {
		if i := slices.Index([]string{"remember", "recall", "search", "wakeup", "status"}, words[0]); i >= 0 {
			words = append([]string{"knowledge"}, words...)
		}
		tool, args := tools[words[0]], map[string]any{}
		if tool == nil || len(words) < 2 || tool.Name == op.RecallName {
			continue
		}
		o, ok := tool.Operation(strings.ReplaceAll(words[1], "-", "_"))
		if !ok {
			continue
		}
		args["action"] = o.Name
		place := 1
		for i := 2; i < len(words); i++ {
			if name, flag := strings.CutPrefix(words[i], "--"); flag {
				if name == "" {
					continue
				}
				if args[strings.ReplaceAll(name, "-", "_")] = true; i+1 < len(words) {
					args[strings.ReplaceAll(name, "-", "_")] = words[i+1]
					i++
				}
				continue
			}
			if room, key, ok := strings.Cut(words[i], "/"); ok && place == 1 && args["category"] == nil && !filepath.IsAbs(words[i]) {
				args["category"], args["key"], place = room, key, 1
				if p, there := o.Param("category"); there && p.Arg == 1 {
					place = 3
				}
				continue
			}
			for _, p := range o.Params {
				if p.Arg == place {
					args[p.Name] = words[i]
				}
			}
			place++
		}
		data, _ := json.Marshal(args)
		look(tool.Name, string(data), c.call(tool.Name, string(data)))
	}
	for _, tool := range op.All(op.Stores{}) {
		for _, o := range tool.Operations {
			for _, args := range []string{fmt.Sprintf(`{"action":%q}`, o.Name), fmt.Sprintf(`{"action":%q,"limit":"many","value":7,"agent":"x"}`, o.Name+"x")} {
				if o.Name != "embeddings_reindex" && o.Name != "embeddings_reset" {
					look(tool.Name, args, c.call(tool.Name, args))
				}
			}
		}
	}
	if len(seen) < 40 {
		t.Errorf("only %d calls were named", len(seen))
	}
}
