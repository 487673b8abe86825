package mcpsrv

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
)

const mimeText = "text/plain"

// reader is the tool behind prompts and most resources. It is the read-only one, so that
// they cannot write.
const reader = "ctx_recall"

// source is a resource and the call behind it. The last part of the URI is an argument of
// the call, if the URI has one.
type source struct {
	uri, name, title, description string

	tool, action string
	argument     string // the name of that argument
	args         map[string]any
	ages         bool // the text has ages, so it changes with time
}

var sources = [...]source{
	{uri: "leanctx://briefing", name: "briefing", title: "Wake-up briefing", tool: reader, action: "wakeup",
		description: "What matters most of what is known about the project, in a few lines."},
	{uri: "leanctx://facts/{category}", name: "facts", title: "Facts of a category", tool: reader, action: "recall", argument: "category",
		description: "The facts of one category that hold now.", args: map[string]any{"limit": 200}},
	{uri: "leanctx://timeline/{category}", name: "timeline", title: "Timeline of a category", tool: reader, action: "timeline", argument: "category",
		description: "Every version of the facts of one category, oldest first.", args: map[string]any{"limit": 200}},
	{uri: "leanctx://inbox/{agent}", name: "inbox", title: "Inbox of an agent", tool: op.InboxName, argument: "agent_id", ages: true,
		description: "What an agent has not read yet; reading it here leaves it unread."},
	{uri: "leanctx://tasks", name: "tasks", title: "Tasks", tool: "ctx_task", action: "list", ages: true,
		description: "The tasks of the project, open ones first.", args: map[string]any{"limit": 200}},
}

// addResources registers the resources whose tools exist.
func (s *Server) addResources() {
	for _, src := range sources {
		if s.tools[src.tool] == nil {
			continue
		}
		if !strings.Contains(src.uri, "{") {
			s.mcp.AddResource(&mcp.Resource{
				URI: src.uri, Name: src.name, Title: src.title, Description: src.description, MIMEType: mimeText,
			}, s.read(src))
			continue
		}
		s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: src.uri, Name: src.name, Title: src.title, Description: src.description, MIMEType: mimeText,
		}, s.read(src))
	}
}

// encoding accepts categories in URIs that are not percent-encoded, with slashes, spaces or
// other letters. The SDK's templates do not match these. The answer has the URI of the
// request.
func encoding(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		p, ok := req.GetParams().(*mcp.ReadResourceParams)
		if !ok || p == nil {
			return next(ctx, method, req)
		}
		uri := p.URI
		p.URI = encoded(uri)
		result, err := next(ctx, method, req)
		if r, ok := result.(*mcp.ReadResourceResult); ok && err == nil {
			for _, c := range r.Contents {
				c.URI = uri
			}
		}
		return result, err
	}
}

// encoded percent-encodes the last part of a URI of ours, unless it is encoded.
func encoded(uri string) string {
	for _, src := range sources {
		prefix, _, parted := strings.Cut(src.uri, "{")
		last, ours := strings.CutPrefix(uri, prefix)
		if !parted || !ours {
			continue
		}
		if plain, err := url.PathUnescape(last); err == nil {
			last = plain
		}
		return prefix + strings.ReplaceAll(url.QueryEscape(last), "+", "%20")
	}
	return uri
}

// read runs the call behind a resource.
func (s *Server) read(src source) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		args, ok := src.call(req.Params.URI)
		if !ok {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		a, err := s.tools[src.tool].Call(op.WithCaller(ctx, s.caller(ctx, req)), src.action, args)
		if err != nil {
			return nil, protocolError(err)
		}
		text := strings.TrimRight(a.Result.Text(), "\n")
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: mimeText, Text: text}}}, nil
	}
}

// call returns the arguments of the call for a URI. ok is false if the URI is not of this
// source.
func (src source) call(uri string) (args map[string]any, ok bool) {
	args = make(map[string]any, len(src.args)+1)
	maps.Copy(args, src.args)
	prefix, _, parted := strings.Cut(src.uri, "{")
	if !parted {
		return args, uri == src.uri
	}
	last, ok := strings.CutPrefix(uri, prefix)
	last, err := url.PathUnescape(last)
	args[src.argument] = last
	return args, ok && err == nil && strings.TrimSpace(last) != ""
}

// protocolError is an error of a method whose result has no isError.
func protocolError(err error) error {
	code := int64(jsonrpc.CodeInternalError)
	switch op.Classify(err) {
	case op.Usage, op.NotFound:
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: err.Error()}
}

// addPrompts registers the prompts, if the tool behind them exists.
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

// headed is a result that also gives its text without the heading.
type headed interface{ Body() string }

// briefing is the briefing under the line that says that it is data.
func (s *Server) briefing(ctx context.Context, req request, args map[string]any) (string, error) {
	a, err := s.tools[reader].Call(op.WithCaller(ctx, s.caller(ctx, req)), "wakeup", args)
	if err != nil {
		return "", protocolError(err)
	}
	text := "(nothing is remembered yet)"
	if r, ok := a.Result.(headed); ok && r.Body() != "" {
		text = r.Body()
	}
	return dataLine + "\n" + text, nil
}

func (s *Server) wakeup(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	args := map[string]any{}
	if b := req.Params.Arguments["budget"]; b != "" {
		args["budget"] = b
	}
	briefing, err := s.briefing(ctx, req, args)
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
	briefing, err := s.briefing(ctx, req, nil)
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
