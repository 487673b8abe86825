package mcpsrv

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
)

// addPrompts registers the prompts, if there is a tool to make them with.
func (s *Server) addPrompts() {
	if s.tools[reader] == nil {
		return
	}
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: "wakeup", Title: "Wake up", Description: "Start with what is known about the project.",
		Arguments: []*mcp.PromptArgument{
			{Name: "task", Description: "what you are about to do"},
			{Name: "budget", Description: "size of the briefing in tokens"},
		},
	}, s.wakeup)
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: "handoff", Title: "Hand off", Description: "Leave the work so that another agent can go on with it.",
		Arguments: []*mcp.PromptArgument{
			{Name: "to_agent", Description: "who takes over: an agent id, or a type such as claude"},
			{Name: "message", Description: "what to tell them"},
		},
	}, s.handoff)
}

// briefing is the wake-up text under the line that says what it is.
func (s *Server) briefing(ctx context.Context, ss *mcp.ServerSession, args map[string]any) (string, error) {
	text, err := s.text(op.WithCaller(ctx, s.caller(ss)), "wakeup", args)
	if err != nil {
		return "", protocolError(err)
	}
	if text = headless(text); text == "" {
		text = "(nothing is remembered yet)"
	}
	return dataLine + "\n" + text, nil
}

func (s *Server) wakeup(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	args := map[string]any{}
	if b := req.Params.Arguments["budget"]; b != "" {
		args["budget"] = b
	}
	briefing, err := s.briefing(ctx, req.Session, args)
	if err != nil {
		return nil, err
	}
	text := briefing + "\n\nTake this as what was believed so far; recall more before you rely on it."
	if task := strings.TrimSpace(req.Params.Arguments["task"]); task != "" {
		text += "\nThe task: " + task
	}
	return message("What is known about the project", text), nil
}

func (s *Server) handoff(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	briefing, err := s.briefing(ctx, req.Session, nil)
	if err != nil {
		return nil, err
	}
	to := strings.TrimSpace(req.Params.Arguments["to_agent"])
	var b strings.Builder
	b.WriteString("Hand this work over")
	if to != "" {
		fmt.Fprintf(&b, " to %s", to)
	}
	b.WriteString(":\n1. Remember every decision, finding and blocker of this session that is not below: " +
		`ctx_knowledge {"action":"remember",…}, one fact a call.` + "\n2. Then say in at most ten lines: what is done, what is not, where to go on, what to beware of.\n")
	if s.tools["ctx_agent"] != nil {
		if to == "" {
			b.WriteString(`3. See who is here: ctx_agent {"action":"list"}, and choose who goes on.` + "\n")
			to = "…"
		} else {
			b.WriteString(`3. Register first if you have not: ctx_agent {"action":"register",…} gives the id that you pass as agent.` + "\n")
		}
		fmt.Fprintf(&b, "4. Send the ten lines as the message of ctx_agent {\"action\":\"handoff\",\"to_agent\":%q,\"message\":…}; "+
			"it moves your open tasks and claims, and gives the receiver your diary's end, your facts and your shared files.\n", to)
	} else {
		b.WriteString("3. This server has no ctx_agent tool, so remember that text too, under category \"handoff\".\n")
	}
	if m := strings.TrimSpace(req.Params.Arguments["message"]); m != "" {
		b.WriteString("Say also: " + m + "\n")
	}
	b.WriteString("\n" + briefing)
	return message("Hand off to another agent", b.String()), nil
}

func message(description, text string) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{
		Description: description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}
}
