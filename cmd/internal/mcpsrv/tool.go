package mcpsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
	"leanctx/internal/prose"
)

// maxResult is the length in characters up to which a client may show an answer whole. Most
// answers are far shorter; a long timeline or an export may need it.
const maxResult = 200_000

// description is a tool as clients see it.
func description(t *op.Tool) *mcp.Tool {
	return &mcp.Tool{
		Name:        t.Name,
		Title:       t.Title,
		Description: t.Description(),
		InputSchema: t.Schema(),
		Annotations: annotations(t),
		Meta:        meta(t),
	}
}

// annotations sets all four hints, since clients assume the worst for a missing one. The
// most harmful operation decides.
func annotations(t *op.Tool) *mcp.ToolAnnotations {
	effect := t.Effect()
	return &mcp.ToolAnnotations{
		ReadOnlyHint:    effect == op.Reads,
		IdempotentHint:  effect <= op.Adds,
		DestructiveHint: new(effect == op.Destroys),
		OpenWorldHint:   new(false),
	}
}

func meta(t *op.Tool) mcp.Meta {
	m := mcp.Meta{}
	if t.Name == "ctx_knowledge" || t.Name == reader { // the other answers are short
		m["anthropic/maxResultSizeChars"] = maxResult
	}
	if t.Hint != "" {
		m["anthropic/searchHint"] = t.Hint
	}
	return m
}

// handler runs one call of a tool.
func (s *Server) handler(t *op.Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		args, err := arguments(req.Params.Arguments)
		if err != nil {
			return failed(err), nil
		}
		a, err := t.Call(op.WithCaller(s.withProgress(ctx, req), s.callerOf(ctx, req)), "", args)
		text := ""
		if err == nil {
			text, err = a.RenderWithin(prose.MaxAnswer)
		}
		result := contentOf(text, a)
		if err != nil {
			result = failed(err)
		}
		if s.options.OnAnswer != nil {
			m := op.AnsweredCall{Answer: a, In: string(req.Params.Arguments)}
			for _, c := range result.Content {
				m.Out += c.(*mcp.TextContent).Text // all answers are text
			}
			s.options.OnAnswer(m)
		}
		return result, nil
	}
}

// callerOf is who calls a tool, with what tells the client's session: hooks of that session see the same call. Claude
// Code names the call in its metadata, and Codex the session.
func (s *Server) callerOf(ctx context.Context, req *mcp.CallToolRequest) op.Caller {
	c := s.caller(ctx, req)
	if c.Session == "" {
		return c
	}
	c.CallID, _ = req.Params.Meta["claudecode/toolUseId"].(string)
	c.Thread, _ = req.Params.Meta["threadId"].(string)
	c.Sum = op.CallSum(req.Params.Name, req.Params.Arguments)
	return c
}

// contentOf is the text and, in a content block of their own, the notices. So JSON stays
// JSON.
func contentOf(text string, a op.Answer) *mcp.CallToolResult {
	content := []mcp.Content{&mcp.TextContent{Text: text}}
	if len(a.Notices) > 0 {
		content = append(content, &mcp.TextContent{Text: "note: " + strings.Join(a.Notices, "\nnote: ")})
	}
	return &mcp.CallToolResult{Content: content}
}

func failed(err error) *mcp.CallToolResult {
	if err == context.Canceled { // Go's text would tell a model nothing
		err = errors.New("canceled: the client took the call back")
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: short(prose.Indent(op.ErrorText(err), ""))}}}
}

// short is the text of an error, bounded like an answer.
func short(text string) string {
	text, _ = prose.Fit(text, prose.MaxAnswer)
	return text
}

// arguments decodes the arguments of a call. It accepts an object in a string, since some
// models encode it twice. Numbers keep their digits.
func arguments(raw json.RawMessage) (map[string]any, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '"' {
		var inner string
		if err := json.Unmarshal(raw, &inner); err == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") {
			raw = []byte(inner)
		}
		if err := op.Bounded(raw); err != nil {
			return nil, fmt.Errorf("arguments: the object in the text %w", err)
		}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var args map[string]any
	if err := d.Decode(&args); err != nil {
		return nil, fmt.Errorf(`arguments must be an object such as {"action":"recall","query":"auth"}: %w`, err)
	}
	return args, nil
}

// withRecovery turns a panic of a handler into an error answer, so that the connection stays
// up.
func (s *Server) withRecovery(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			s.options.Logger.Error("panic", "method", method, "cause", cause, "stack", string(debug.Stack()))
			text := fmt.Sprintf("internal error in %s: %v; the server's log has the stack", method, cause)
			if method == "tools/call" {
				result, err = failed(fmt.Errorf("%s", text)), nil
				return
			}
			result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text}
		}()
		return next(ctx, method, req)
	}
}

// progressEvery is the shortest interval between two progress notifications.
const progressEvery = 200 * time.Millisecond

// withProgress sends the progress of a call to a client that gave a progress token. The end is
// always sent.
func (s *Server) withProgress(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return ctx
	}
	last, sent := time.Now(), 0
	return op.WithProgress(ctx, func(done, total int) {
		if done <= sent || done < total && time.Since(last) < progressEvery {
			return
		}
		last, sent = time.Now(), done
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(done), Total: float64(total),
		})
		if err != nil {
			s.options.Logger.Debug("progress was not sent", "error", err)
		}
	})
}
