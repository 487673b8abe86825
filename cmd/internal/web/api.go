package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"leanctx/cmd/internal/op"
)

// maxBody is in bytes.
const maxBody = 4 << 20

// bounded reads the body of a request, if it is JSON of a size and depth that can be
// decoded safely. A handler finds it whole.
func (s *Server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		var data []byte
		err := error(new(http.MaxBytesError))
		if r.ContentLength <= maxBody {
			data, err = io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
		}
		_, large := errors.AsType[*http.MaxBytesError](err)
		switch {
		case large:
			refuse(w, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body has more than %d bytes", maxBody))
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			refuse(w, http.StatusRequestTimeout, "timeout", "the body did not come in time")
			return
		case err != nil:
			refuse(w, http.StatusBadRequest, "usage", "the body cannot be read: "+err.Error())
			return
		}
		if m, ok := w.(*responseMeter); ok {
			m.unread = false
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // see logged
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if kind != "application/x-www-form-urlencoded" { // the page's forms
			err = op.Bounded(data)
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, "usage", "the body "+err.Error())
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(data))
		next.ServeHTTP(w, r)
	})
}

// call runs an operation by the names of its tool, with or without ctx_, and its action.
func (s *Server) call(ctx context.Context, tool, action string, args map[string]any) (op.Answer, error) {
	t := s.tool(tool)
	if t == nil {
		return op.Answer{}, &unknownToolError{tool}
	}
	return t.Call(ctx, action, args)
}

// callByPage is call for the page, which has some tools more.
func (s *Server) callByPage(ctx context.Context, tool, action string, args map[string]any) (op.Answer, error) {
	for _, t := range s.o.PageTools {
		if t.Name == tool {
			return t.Call(ctx, action, args)
		}
	}
	return s.call(ctx, tool, action, args)
}

type unknownToolError struct{ name string }

func (e *unknownToolError) Error() string { return fmt.Sprintf("unknown tool %.40q", e.name) }

func (s *Server) tool(name string) *op.Tool {
	for _, t := range s.o.Tools {
		if t.Name == name || strings.TrimPrefix(t.Name, "ctx_") == name {
			return t
		}
	}
	return nil
}

// answer is the body of an answer of /api.
type answer struct {
	Result  any      `json:"result,omitempty"` // as --json prints it
	Text    string   `json:"text,omitempty"`   // instead, with "output":"text"
	Notices []string `json:"notices,omitempty"`
}

// api answers POST /api/{tool}/{action}.
func (s *Server) api(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if len(data) > 0 && (err != nil || kind != "application/json") {
		refuse(w, http.StatusUnsupportedMediaType, "usage", "Content-Type must be application/json")
		return
	}
	args := map[string]any{}
	if d := json.NewDecoder(bytes.NewReader(data)); len(bytes.TrimSpace(data)) > 0 {
		d.UseNumber()
		if err := d.Decode(&args); err != nil {
			found := err.Error()
			if other, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				found = "found " + other.Value
			}
			refuse(w, http.StatusBadRequest, "usage", `the body must be an object of arguments such as {"query":"auth"}: `+found)
			return
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			refuse(w, http.StatusBadRequest, "usage", "more than one JSON value in the body")
			return
		}
	}
	tool, action := r.PathValue("tool"), r.PathValue("action")
	if args["output"] == nil {
		if args == nil {
			args = map[string]any{}
		}
		args["output"] = "json"
	}
	ctx := op.WithCaller(r.Context(), op.Caller{Kind: "tool", Name: callerOf(r.Context()).Name})
	a, err := s.call(ctx, tool, action, args)
	text := ""
	if err == nil {
		text, err = a.Render()
	}
	if s.o.OnAnswer != nil && a.Action != "" {
		out := text
		if err != nil {
			out = err.Error()
		}
		s.o.OnAnswer(op.AnsweredCall{Answer: a, In: string(data), Out: out})
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	body := answer{Notices: a.Notices}
	if a.Output == "json" {
		body.Result = json.RawMessage(text)
	} else {
		body.Text = text
	}
	writeJSON(w, http.StatusOK, body)
}

func (s *Server) notAllowed(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", http.MethodPost)
	refuse(w, http.StatusMethodNotAllowed, "usage", "operations are called by POST /api/{tool}/{action}")
}

// errorBody is an error as it is answered.
type errorBody struct {
	Error struct {
		Code     string         `json:"code"`
		Message  string         `json:"message"`
		Argument string         `json:"argument,omitempty"` // which one is wrong
		Example  map[string]any `json:"example,omitempty"`  // a call that is right
	} `json:"error"`
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	var b errorBody
	b.Error.Code, b.Error.Message = code, message
	writeJSON(w, status, b)
}

// fail answers with an error of an operation.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, code := statusOf(err)
	if status >= 500 {
		s.logger.Warn("a request failed", "route", route(r), "error", err)
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	var b errorBody
	b.Error.Code, b.Error.Message = code, err.Error()
	if u, ok := errors.AsType[*op.UsageError](err); ok {
		b.Error.Message, b.Error.Argument, b.Error.Example = u.Problem, u.Argument, u.Example
	}
	writeJSON(w, status, b)
}

// statusOf is what an error is in HTTP: the status, and a word for programs.
func statusOf(err error) (status int, code string) {
	if _, ok := errors.AsType[*unknownToolError](err); ok {
		return http.StatusNotFound, "not_found"
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return http.StatusInsufficientStorage, "full"
	}
	c := classes[op.Classify(err)]
	return c.status, c.code
}

// classes are what the classes of errors are in HTTP.
var classes = map[op.Class]struct {
	status int
	code   string
}{
	op.Failed: {http.StatusInternalServerError, "failed"}, op.Usage: {http.StatusBadRequest, "usage"},
	op.NotFound: {http.StatusNotFound, "not_found"}, op.Forbidden: {http.StatusForbidden, "forbidden"},
	op.Locked: {http.StatusServiceUnavailable, "locked"}, op.Unreadable: {http.StatusInternalServerError, "unreadable"},
	op.Interrupted: {http.StatusServiceUnavailable, "interrupted"}, op.Conflict: {http.StatusConflict, "conflict"},
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
		b.WriteString(`{"error":{"code":"failed","message":"the answer cannot be written as JSON"}}` + "\n")
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client is gone
}
