package mcpsrv

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
	"leanctx/internal/prose"
)

const mimeText = "text/plain"

// reader is the tool behind prompts and resources. It is the read-only one, so that they
// cannot write.
const reader = "ctx_recall"

// source is a resource and the action behind it. Where the URI ends with a category, that is
// an argument of the call.
type source struct {
	uri, name, title, description, action string
}

// inCategory ends the URI of a resource of each category.
const inCategory = "{category}"

var sources = [...]source{
	{"leanctx://briefing", "briefing", "Wake-up briefing", "What matters most of what is known about the project, in a few lines.", "wakeup"},
	{"leanctx://facts/" + inCategory, "facts", "Facts of a category", "The facts of one category that hold now.", "recall"},
	{"leanctx://timeline/" + inCategory, "timeline", "Timeline of a category", "Every version of the facts of one category, oldest first.", "timeline"},
}

// addResources registers the resources, if the tool behind them exists.
func (s *Server) addResources() {
	if s.tools[reader] == nil {
		return
	}
	for _, src := range sources {
		if strings.HasSuffix(src.uri, inCategory) {
			s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
				URITemplate: src.uri, Name: src.name, Title: src.title, Description: src.description, MIMEType: mimeText,
			}, s.read)
			continue
		}
		s.mcp.AddResource(&mcp.Resource{
			URI: src.uri, Name: src.name, Title: src.title, Description: src.description, MIMEType: mimeText,
		}, s.read)
	}
}

// source finds the resource of a URI, and the category in it, which may be percent-encoded
// or not.
func (s *Server) source(uri string) (src source, category string, ok bool) {
	for _, src := range sources {
		prefix, parted := strings.CutSuffix(src.uri, inCategory)
		category, ours := strings.CutPrefix(uri, prefix)
		if plain, err := url.PathUnescape(category); err == nil {
			category = plain
		}
		if ours && parted == (strings.TrimSpace(category) != "") {
			return src, category, s.tools[reader] != nil
		}
	}
	return source{}, "", false
}

// withEncodedCategory percent-encodes the category of a URI, since the SDK's templates match no other.
// The answer has the URI of the request.
func (s *Server) withEncodedCategory(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		p, ok := req.GetParams().(*mcp.ReadResourceParams)
		if !ok || p == nil {
			return next(ctx, method, req)
		}
		uri := p.URI
		if src, category, ok := s.source(uri); ok && category != "" {
			p.URI = strings.TrimSuffix(src.uri, inCategory) + strings.ReplaceAll(url.QueryEscape(category), "+", "%20")
		}
		result, err := next(ctx, method, req)
		if r, ok := result.(*mcp.ReadResourceResult); ok && err == nil {
			r.Contents[0].URI = uri
		}
		return result, err
	}
}

// read answers with a resource.
func (s *Server) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	text, err := s.text(op.WithCaller(ctx, s.caller(ctx, req)), req.Params.URI)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: mimeText, Text: text}}}, nil
}

// text runs the action behind a resource.
func (s *Server) text(ctx context.Context, uri string) (string, error) {
	src, category, ok := s.source(uri)
	if !ok {
		return "", mcp.ResourceNotFoundError(uri)
	}
	var args map[string]any
	if category != "" {
		args = map[string]any{"category": category, "limit": 200}
	}
	a, err := s.tools[reader].Call(ctx, src.action, args)
	if err != nil {
		return "", protocolError(err)
	}
	text := strings.TrimRight(a.Result.Text(), "\n")
	if len(text) <= prose.MaxAnswer {
		return text, nil
	}
	if text, err = a.RenderWithin(prose.MaxAnswer); err != nil {
		return "", protocolError(err)
	}
	return text, nil
}

// maxPromptArgument is how many bytes an argument of a prompt may have.
const maxPromptArgument = 4 << 10

// bounded refuses arguments of a prompt that would fill what a model reads.
func bounded(args map[string]string) error {
	for name, text := range args {
		if len(text) > maxPromptArgument {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%s has %s bytes, at most %s are taken", prose.ShortLine(name), prose.Number(len(text)), prose.Number(maxPromptArgument))}
		}
	}
	return nil
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

// withBody is a result that can also give its text without the heading.
type withBody interface{ Body() string }

// briefing is the briefing under the line that says that it is data.
func (s *Server) briefing(ctx context.Context, req request, args map[string]any) (string, error) {
	a, err := s.tools[reader].Call(op.WithCaller(ctx, s.caller(ctx, req)), "wakeup", args)
	if err != nil {
		return "", protocolError(err)
	}
	text := "(nothing is remembered yet)"
	if r, ok := a.Result.(withBody); ok && r.Body() != "" {
		text = r.Body()
	}
	return dataLine + "\n" + text, nil
}

func (s *Server) wakeup(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	if err := bounded(req.Params.Arguments); err != nil {
		return nil, err
	}
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
	if err := bounded(req.Params.Arguments); err != nil {
		return nil, err
	}
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
	if to == "" {
		b.WriteString(`3. See who is here: ctx_agent {"action":"list"}, and choose who continues.` + "\n")
		to = "…"
	} else {
		b.WriteString(`3. Register first if you have not: ctx_agent {"action":"register",…} gives the id that you pass as agent.` + "\n")
	}
	fmt.Fprintf(&b, "4. Send the ten lines as the message of ctx_agent {\"action\":\"handoff\",\"to_agent\":%q,\"message\":…}; "+
		"it moves your open tasks and claims, and gives the receiver your diary's end, your facts and your shared files.\n", to)
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
