package transcript

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// claude reads the transcripts of Claude Code: ~/.claude/projects/DIRECTORY/SESSION.jsonl. Those of subagents are files
// of their own, agent-ID.jsonl.
func claude() *client {
	return &client{
		name: "claude-code", line: claudeLine, folder: ".claude/projects", below: "projects",
		matches: func(rel string) bool { return strings.HasSuffix(rel, ".jsonl") && strings.Contains(rel, "/") },
	}
}

type claudeEntry struct {
	Type        string `json:"type"`
	UUID        string `json:"uuid"`
	SessionID   string `json:"sessionId"`
	AgentID     string `json:"agentId"`
	Timestamp   string `json:"timestamp"`
	CWD         string `json:"cwd"`
	GitBranch   string `json:"gitBranch"`
	Version     string `json:"version"`
	IsSidechain bool   `json:"isSidechain"`
	IsMeta      bool   `json:"isMeta"`
	IsSummary   bool   `json:"isCompactSummary"`
	Entry       string `json:"entrypoint"`   // how the client was run: cli, sdk-cli (claude -p), sdk-ts
	Prompt      string `json:"promptSource"` // sdk: a program gave the prompt
	Message     struct {
		Model   string         `json:"model"`
		Content jsontext.Value `json:"content"`
		Usage   struct {
			Input   int `json:"input_tokens"`
			Read    int `json:"cache_read_input_tokens"`
			Created int `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

func claudeLine(r *reading, line []byte) {
	var e claudeEntry
	if decode(line, &e) != nil || e.Type == "" {
		r.counts.Skipped++
		return
	}
	if e.Type != "user" && e.Type != "assistant" || e.UUID == "" {
		r.counts.Skipped++
		return
	}
	at := instant(e.Timestamp)
	s := Session{ID: e.SessionID, Dir: e.CWD, Branch: e.GitBranch, Version: e.Version, Began: at}
	if e.AgentID != "" && e.IsSidechain {
		s.ID, s.Parent = e.AgentID, e.SessionID
	}
	s.Subagent = e.IsSidechain
	if name := strings.TrimSuffix(path.Base(strings.ReplaceAll(r.path, `\`, "/")), ".jsonl"); s.Parent == "" && name == e.SessionID {
		s.ID = name
	}
	s.Context = e.Message.Usage.Input + e.Message.Usage.Read + e.Message.Usage.Created
	r.begin(s)
	switch {
	case e.Type == "assistant" && e.Message.Model != "<synthetic>":
		claudeAnswer(r, &e)
	case e.Type == "user" && !e.IsMeta && !e.IsSummary:
		claudeUser(r, &e)
	}
}

// claudeAnswer reads what the agent said, and the tools that it calls.
func claudeAnswer(r *reading, e *claudeEntry) {
	at := instant(e.Timestamp)
	var text []string
	for _, b := range blocks(e.Message.Content) {
		switch b.Type {
		case "text":
			text = append(text, b.Text)
		case "tool_use":
			c := newCall(b.ID, b.Name, b.Input)
			c.At = at
			r.call(c)
		}
	}
	r.give(Turn{ID: e.UUID, At: at, Role: Agent, Text: strings.Join(text, "\n")})
}

// claudeUser reads what the user said, and what tools gave.
func claudeUser(r *reading, e *claudeEntry) {
	at := instant(e.Timestamp)
	var text []string
	for _, b := range blocks(e.Message.Content) {
		switch b.Type {
		case "text":
			if s := said(b.Text); s != "" {
				text = append(text, s)
			}
		case "tool_result":
			claudeResult(r, e, &b)
		}
	}
	said := strings.Join(text, "\n")
	if m := slashCommand().FindStringSubmatch(said); m != nil {
		if said = ""; strings.TrimSpace(m[2]) != "" {
			said = m[1] + " " + strings.TrimSpace(m[2])
		}
	}
	role := User
	if strings.HasPrefix(e.Entry, "sdk") || e.Prompt == "sdk" && (e.Entry == "" || e.Entry == "cli") {
		role = Program
	}
	r.give(Turn{ID: e.UUID, At: at, Role: role, Text: said})
}

// claudeResult reads what a tool gave.
func claudeResult(r *reading, e *claudeEntry, b *block) {
	text := textOf(b.Content)
	if c := r.waiting(b.ToolUseID); c != nil {
		ok := !b.IsError
		if c.OK = &ok; b.IsError && strings.HasPrefix(text, "The user doesn't want to proceed") {
			c.OK = nil // it was not run
		}
		if m := taskNumber().FindStringSubmatch(text); m != nil && c.Todos != nil && !c.Todos.All && c.Todos.Items[0].ID == "" {
			c.Todos.Items[0].ID = m[1]
		}
	}
	r.result(b.ToolUseID, text, instant(e.Timestamp))
}

// slashCommand matches a command of the client: its name, and what the user wrote after it.
var slashCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^\s*<command-name>(.*?)</command-name>(?:.*<command-args>(.*?)</command-args>)?`)
})

var taskNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Task #(\w+) `) })
