package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/log"

	"leanctx/cmd/internal/op"
	"leanctx/tasks"
)

// taskHandler answers A2A requests from the task store. The server executes no task: agents of
// the project claim it from the store, and the client gets their updates.
//
// A context is a task and all tasks below it; its id is that of the topmost one. A
// message without a task makes one; with a context it makes one below that task. A message
// for a task that waits for its giver lets it go on.
type taskHandler struct {
	a2asrv.RequestHandler // the library's: it says that push notifications and an extended card are not supported
	server                *Server
	open                  func(context.Context, op.Scope) (*tasks.Store, error)
}

var _ a2asrv.RequestHandler = (*taskHandler)(nil)

// a2aRoutes mounts the bindings and the card.
func (s *Server) a2aRoutes(mount func(pattern string, h http.Handler), prefix string) {
	unsupported := a2asrv.NewHandler(nil, a2asrv.WithCapabilityChecks(new(a2a.AgentCapabilities)), a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	h := &taskHandler{RequestHandler: unsupported, server: s, open: s.o.Tasks}
	options := []a2asrv.TransportOption{a2asrv.WithTransportKeepAlive(pingEvery), a2asrv.WithTransportPanicHandler(func(cause any) error {
		s.logger.Error("panic", "route", "/a2a", "cause", cause)
		return a2a.NewError(a2a.ErrInternalError, "internal error; the server's log has the stack")
	})}
	rpc, restHandler := a2asrv.NewJSONRPCHandler(h, options...), a2asrv.NewRESTHandler(h, options...)
	otherRPC, otherREST := a2asrv.NewJSONRPCHandler(otherVersion{}), a2asrv.NewRESTHandler(otherVersion{})
	mount("POST /a2a", versioned(rpc, func(w http.ResponseWriter, r *http.Request) { otherRPC.ServeHTTP(w, anyMethod(r)) }))
	mount("/a2a/v1/", http.StripPrefix("/a2a/v1", versioned(restHandler, func(w http.ResponseWriter, r *http.Request) {
		r.Method, r.URL = http.MethodGet, &url.URL{Path: "/tasks/-"}
		otherREST.ServeHTTP(w, r)
	})))
	mount("GET "+a2asrv.WellKnownAgentCardPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		card, err := h.card(r, prefix)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		writeJSON(w, http.StatusOK, card)
	}))
}

// versioned sends requests of another protocol version elsewhere. One without a version
// is of 0.3.
func versioned(ours http.Handler, others http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(log.AttachLogger(r.Context(), slog.New(slog.DiscardHandler))) // it would log contents
		if v := cmp.Or(r.Header.Get(a2a.SvcParamVersion), r.URL.Query().Get(a2a.SvcParamVersion)); v != string(a2a.Version) {
			others(w, r)
			return
		}
		ours.ServeHTTP(w, r)
	})
}

// anyMethod is a JSON-RPC request by a method of 1.0, so that [otherVersion] answers it:
// methods of other versions have other names.
func anyMethod(r *http.Request) *http.Request {
	var call struct {
		ID json.RawMessage `json:"id"`
	}
	data, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(data, &call)
	}
	if err == nil && len(call.ID) > 0 {
		data = slices.Concat([]byte(`{"jsonrpc":"2.0","method":"GetTask","params":{},"id":`), call.ID, []byte("}"))
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	return r
}

// card is the agent card, with the addresses by which the client came.
func (h *taskHandler) card(r *http.Request, prefix string) (*a2a.AgentCard, error) {
	store, err := h.store(r.Context())
	if err != nil {
		return nil, err
	}
	info, err := store.Info(r.Context(), tasks.NoArgs{})
	if err != nil {
		return nil, err
	}
	card := new(a2a.AgentCard)
	data, err := json.Marshal(info.Card)
	if err == nil {
		err = json.Unmarshal(data, card)
	}
	if err != nil {
		return nil, err
	}
	scheme := "http"
	if h.server.o.TLS {
		scheme = "https"
	}
	base := scheme + "://" + r.Host + prefix
	card.SupportedInterfaces = []*a2a.AgentInterface{
		a2a.NewAgentInterface(base+"/a2a", a2a.TransportProtocolJSONRPC),
		a2a.NewAgentInterface(base+"/a2a/v1", a2a.TransportProtocolHTTPJSON),
	}
	card.Capabilities.Streaming = true
	if h.server.o.Tokens.open == nil {
		card.SecuritySchemes = a2a.NamedSecuritySchemes{"token": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer", Description: "a token of lean-ctx serve"}}
		card.SecurityRequirements = a2a.SecurityRequirementsOptions{{"token": nil}}
	}
	return card, nil
}

// store opens the tasks of the request's project, in the name of its caller.
func (h *taskHandler) store(ctx context.Context) (*tasks.Store, error) {
	g := op.GrantOf(ctx)
	return h.open(ctx, op.Scope{Project: g.Project, Effect: op.Changes, Grant: g, Caller: op.Caller{Kind: "agent", Name: cmp.Or(callerOf(ctx).Name, "a2a")}})
}

// writing is store for what changes something.
func (h *taskHandler) writing(ctx context.Context) (*tasks.Store, error) {
	if op.GrantOf(ctx).ReadOnly {
		return nil, &op.ForbiddenError{What: "this access is read-only"}
	}
	return h.store(ctx)
}

// a2aError is an error of the store in the words of the protocol.
func a2aError(err error) error {
	kind := a2a.ErrInternalError
	if _, ok := errors.AsType[*a2a.Error](err); ok {
		return err
	}
	switch op.Classify(err) {
	case op.Usage:
		kind = a2a.ErrInvalidParams
	case op.NotFound:
		kind = a2a.ErrTaskNotFound
	case op.Forbidden:
		kind = a2a.ErrUnauthorized
	case op.Conflict:
		kind = a2a.ErrUnsupportedOperation
	case op.Locked, op.Interrupted:
		kind = a2a.ErrServerError
	}
	return a2a.NewError(kind, err.Error())
}

// find is a task by its whole id.
func find(ctx context.Context, store *tasks.Store, id string) (tasks.Details, error) {
	d, err := store.Get(ctx, tasks.TaskRef{TaskID: id})
	if c := op.Classify(err); err != nil && c != op.Usage && c != op.NotFound {
		return d, a2aError(err)
	}
	if err != nil || d.ID != id { // the store takes the beginning of an id, too
		return d, a2a.NewError(a2a.ErrTaskNotFound, fmt.Sprintf("no task %.80q", id))
	}
	return d, nil
}

// GetTask implements [a2asrv.RequestHandler].
func (h *taskHandler) GetTask(ctx context.Context, q *a2a.GetTaskRequest) (*a2a.Task, error) {
	store, err := h.store(ctx)
	if err != nil {
		return nil, a2aError(err)
	}
	d, err := find(ctx, store, string(q.ID))
	if err != nil {
		return nil, err
	}
	return taskOf(d, q.HistoryLength, true)
}

// The sizes of pages that the specification allows.
const (
	defaultPage = 50
	maxPage     = 100
)

// ListTasks implements [a2asrv.RequestHandler]. Messages are only listed if the client
// says how many.
func (h *taskHandler) ListTasks(ctx context.Context, q *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	if q.PageSize < 0 || q.PageSize > maxPage {
		return nil, a2a.NewError(a2a.ErrInvalidParams, fmt.Sprintf("pageSize must be between 1 and %d", maxPage))
	}
	s := tasks.Selection{Context: q.ContextID, State: string(q.Status), Limit: cmp.Or(q.PageSize, defaultPage)}
	if s.State != "" && !slices.Contains(slices.Collect(maps.Values(states)), q.Status) {
		return nil, a2a.NewError(a2a.ErrInvalidParams, fmt.Sprintf("status %.40q is no state", s.State))
	}
	if q.StatusTimestampAfter != nil {
		s.Since = *q.StatusTimestampAfter
	}
	if q.PageToken != "" {
		var err error
		if s.After, err = readPlace(q.PageToken); err != nil {
			return nil, a2a.NewError(a2a.ErrInvalidParams, "pageToken is none of ours")
		}
	}
	store, err := h.store(ctx)
	if err != nil {
		return nil, a2aError(err)
	}
	p, err := store.Select(ctx, s)
	if err != nil {
		return nil, a2aError(err)
	}
	out := &a2a.ListTasksResponse{Tasks: []*a2a.Task{}, TotalSize: p.Total, PageSize: s.Limit}
	none := 0
	for _, d := range p.Tasks {
		t, err := taskOf(d, cmp.Or(q.HistoryLength, &none), q.IncludeArtifacts)
		if err != nil {
			return nil, err
		}
		out.Tasks = append(out.Tasks, t)
	}
	if p.Next != nil {
		out.NextPageToken = writePlace(p.Next)
	}
	return out, nil
}

// A page token is where the page before ended.

func writePlace(p *tasks.Place) string {
	return base64.RawURLEncoding.EncodeToString([]byte(p.At.Format(time.RFC3339Nano) + " " + p.ID))
}

func readPlace(token string) (*tasks.Place, error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return nil, err
	}
	at, id, _ := strings.Cut(string(data), " ")
	t, err := time.Parse(time.RFC3339Nano, at)
	return &tasks.Place{At: t, ID: id}, err
}

// CancelTask implements [a2asrv.RequestHandler].
func (h *taskHandler) CancelTask(ctx context.Context, q *a2a.CancelTaskRequest) (*a2a.Task, error) {
	store, err := h.writing(ctx)
	if err != nil {
		return nil, a2aError(err)
	}
	if _, err := find(ctx, store, string(q.ID)); err != nil {
		return nil, err
	}
	_, err = store.Cancel(ctx, tasks.Cancellation{TaskID: string(q.ID)})
	if _, ok := errors.AsType[*tasks.TransitionError](err); ok {
		return nil, a2a.NewError(a2a.ErrTaskNotCancelable, err.Error())
	}
	if err != nil {
		return nil, a2aError(err)
	}
	d, err := find(ctx, store, string(q.ID))
	if err != nil {
		return nil, err
	}
	return taskOf(d, nil, true)
}

// SendMessage implements [a2asrv.RequestHandler]. Unless the client wants the task at once,
// the answer comes when the task has ended or waits for input, or when the server shuts down.
func (h *taskHandler) SendMessage(ctx context.Context, q *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	store, d, err := h.send(ctx, q)
	if err != nil {
		return nil, err
	}
	if q.Config == nil || !q.Config.ReturnImmediately {
		for next, err := range h.changes(ctx, store, d) {
			if err != nil {
				return nil, err
			}
			if d = next; waiting(d) {
				break
			}
		}
	}
	var most *int
	if q.Config != nil {
		most = q.Config.HistoryLength
	}
	return taskOf(d, most, true)
}

// SendStreamingMessage implements [a2asrv.RequestHandler].
func (h *taskHandler) SendStreamingMessage(ctx context.Context, q *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		store, d, err := h.send(ctx, q)
		if err != nil {
			yield(nil, err)
			return
		}
		h.stream(ctx, store, d, yield)
	}
}

// SubscribeToTask implements [a2asrv.RequestHandler].
func (h *taskHandler) SubscribeToTask(ctx context.Context, q *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		store, err := h.store(ctx)
		if err != nil {
			yield(nil, a2aError(err))
			return
		}
		d, err := find(ctx, store, string(q.ID))
		if err == nil && d.State.Final() {
			err = a2a.NewError(a2a.ErrUnsupportedOperation, fmt.Sprintf("task %s is %s, which is final", d.ID, d.State))
		}
		if err != nil {
			yield(nil, err)
			return
		}
		h.stream(ctx, store, d, yield)
	}
}

// send makes a task of a message, or adds the message to its task.
func (h *taskHandler) send(ctx context.Context, q *a2a.SendMessageRequest) (*tasks.Store, tasks.Details, error) {
	store, err := h.writing(ctx)
	if err != nil {
		return nil, tasks.Details{}, a2aError(err)
	}
	text, err := readMessage(q)
	if err != nil {
		return nil, tasks.Details{}, err
	}
	m, id := q.Message, string(q.Message.TaskID)
	if id == "" {
		id, err = h.create(ctx, store, m, text)
	} else {
		err = proceed(ctx, store, m, text)
	}
	if err != nil {
		return nil, tasks.Details{}, a2aError(err)
	}
	d, err := find(ctx, store, id)
	return store, d, err
}

// create makes a task of a message. Its first line is the title.
func (h *taskHandler) create(ctx context.Context, store *tasks.Store, m *a2a.Message, text string) (id string, err error) {
	d := tasks.Draft{MessageID: m.ID}
	d.Title, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	d.Title = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) { // the description keeps them
			return ' '
		}
		return r
	}, d.Title))
	if utf8.RuneCountInString(d.Title) > tasks.MaxTitle {
		d.Title = string([]rune(d.Title)[:tasks.MaxTitle-1]) + "…"
	}
	if d.Title != strings.TrimSpace(text) {
		d.Description = text
	}
	for _, t := range m.ReferenceTasks {
		d.References = append(d.References, string(t))
	}
	d.ToAgent, _ = m.Metadata[toAgent].(string)
	if m.ContextID != "" {
		top, err := find(ctx, store, m.ContextID)
		if err != nil || top.Context != m.ContextID {
			return "", a2a.NewError(a2a.ErrInvalidParams, "contextId is none that this server gave: leave it out for a new context")
		}
		d.Parent = m.ContextID
	}
	made, err := store.Create(ctx, d)
	if op.Classify(err) == op.NotFound {
		err = a2a.NewError(a2a.ErrInvalidParams, "message.metadata."+toAgent+": "+err.Error())
	}
	return made.Task.ID, err
}

// toAgent is the metadata of a message that names who should do the task.
const toAgent = "to_agent"

// proceed adds a message to its task.
func proceed(ctx context.Context, store *tasks.Store, m *a2a.Message, text string) error {
	d, err := find(ctx, store, string(m.TaskID))
	if err != nil {
		return err
	}
	if m.ContextID != "" && m.ContextID != d.Context {
		return a2a.NewError(a2a.ErrInvalidParams, fmt.Sprintf("contextId is not that of task %s", d.ID))
	}
	_, err = store.Continue(ctx, tasks.Comment{TaskID: d.ID, Message: text}, m.ID)
	return err
}

// readMessage is the text of a message that we can take.
func readMessage(q *a2a.SendMessageRequest) (string, error) {
	invalid := func(text string) (string, error) { return "", a2a.NewError(a2a.ErrInvalidParams, text) }
	m := q.Message
	switch {
	case m == nil:
		return invalid("message is missing")
	case m.ID == "":
		return invalid("message.messageId is missing")
	case m.Role != a2a.MessageRoleUser:
		return invalid("message.role must be ROLE_USER: agents of the project answer in its task store")
	case len(m.Parts) == 0:
		return invalid("message.parts is empty")
	}
	if c := q.Config; c != nil {
		if c.PushConfig != nil {
			return "", a2a.ErrPushNotificationNotSupported
		}
		if len(c.AcceptedOutputModes) > 0 && !slices.ContainsFunc(c.AcceptedOutputModes, isText) {
			return "", a2a.NewError(a2a.ErrUnsupportedContentType, "answers are text/plain, which acceptedOutputModes lacks")
		}
	}
	var texts []string
	for _, p := range m.Parts {
		if p == nil {
			return invalid("message.parts holds null")
		}
		text, ok := p.Content.(a2a.Text)
		if !ok || p.MediaType != "" && !isText(p.MediaType) {
			return "", a2a.NewError(a2a.ErrUnsupportedContentType, "message.parts must be text")
		}
		texts = append(texts, string(text))
	}
	text := strings.Join(texts, "\n\n")
	if strings.TrimSpace(text) == "" {
		return invalid("the message has no text")
	}
	return text, nil
}

// isText reports whether a media type or range includes text/plain or is another text.
func isText(mode string) bool {
	kind, _, err := mime.ParseMediaType(mode)
	return err == nil && (kind == "*/*" || strings.HasPrefix(kind, "text/")) || mode == "text"
}

// waiting reports whether a task has ended or waits for its giver.
func waiting(d tasks.Details) bool { return d.State.Final() || d.State.Interrupted() }

// changes gives a task whenever it is another one than before, until the client goes, its
// token is revoked or the server shuts down. The first is the one that is given.
func (h *taskHandler) changes(ctx context.Context, store *tasks.Store, d tasks.Details) iter.Seq2[tasks.Details, error] {
	return func(yield func(tasks.Details, error) bool) {
		tick := time.NewTicker(h.server.limits.poll)
		defer tick.Stop()
		ctx, end := h.server.ending(ctx)
		defer end()
		for yield(d, nil) {
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				next, err := find(ctx, store, d.ID)
				if err != nil {
					yield(d, err)
					return
				}
				if !next.UpdatedAt.Equal(d.UpdatedAt) {
					d = next
					break
				}
			}
		}
	}
}

// stream gives a task and then what happens to it, until it ends or begins to wait for
// its giver.
func (h *taskHandler) stream(ctx context.Context, store *tasks.Store, d tasks.Details, yield func(a2a.Event, error) bool) {
	first, err := taskOf(d, nil, true)
	if !yield(first, err) || err != nil || waiting(d) && d.State.Final() {
		return
	}
	seen := d
	for next, err := range h.changes(ctx, store, d) {
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range events(seen, next) {
			if !yield(e, nil) {
				return
			}
		}
		if !next.UpdatedAt.Equal(seen.UpdatedAt) && waiting(next) {
			return
		}
		seen = next
	}
}

// events are what happened to a task between two looks, in its order.
func events(was, is tasks.Details) []a2a.Event {
	type datedEvent struct {
		at time.Time
		e  a2a.Event
	}
	var list []datedEvent
	of := a2a.TaskInfo{TaskID: a2a.TaskID(is.ID), ContextID: is.Context}
	state := was.State
	for i, h := range is.History[min(len(was.History), len(is.History)):] {
		state = h.To
		list = append(list, datedEvent{h.At, &a2a.TaskStatusUpdateEvent{TaskID: of.TaskID, ContextID: of.ContextID, Status: status(is, h, len(was.History)+i)}})
	}
	for i, m := range is.Thread[min(len(was.Thread), len(is.Thread)):] {
		at := m.At
		list = append(list, datedEvent{m.At, &a2a.TaskStatusUpdateEvent{TaskID: of.TaskID, ContextID: of.ContextID, Status: a2a.TaskStatus{
			State: states[state], Timestamp: &at, Message: message(is, m, len(was.Thread)+i),
		}}})
	}
	for i, a := range is.Artifacts[min(len(was.Artifacts), len(is.Artifacts)):] {
		list = append(list, datedEvent{a.At, &a2a.TaskArtifactUpdateEvent{TaskID: of.TaskID, ContextID: of.ContextID, LastChunk: true, Artifact: artifact(is, a, len(was.Artifacts)+i)}})
	}
	// What one commit did has one time. Then the result comes before the state that ends the task.
	slices.SortStableFunc(list, func(a, b datedEvent) int { return cmp.Or(a.at.Compare(b.at), final(a.e)-final(b.e)) })
	out := make([]a2a.Event, len(list))
	for i, t := range list {
		out[i] = t.e
	}
	return out
}

func final(e a2a.Event) int {
	if s, ok := e.(*a2a.TaskStatusUpdateEvent); ok && s.Status.State.Terminal() {
		return 1
	}
	return 0
}

// states are the states of a task in A2A.
var states = map[tasks.State]a2a.TaskState{
	tasks.Created: a2a.TaskStateSubmitted, tasks.Working: a2a.TaskStateWorking,
	tasks.InputRequired: a2a.TaskStateInputRequired, tasks.AuthRequired: a2a.TaskStateAuthRequired,
	tasks.Completed: a2a.TaskStateCompleted, tasks.Failed: a2a.TaskStateFailed,
	tasks.Canceled: a2a.TaskStateCanceled, tasks.Rejected: a2a.TaskStateRejected,
}

// taskOf is a task as A2A has it, with its last messages; nil: all of them.
func taskOf(d tasks.Details, most *int, artifacts bool) (*a2a.Task, error) {
	t := &a2a.Task{ID: a2a.TaskID(d.ID), ContextID: d.Context}
	if n := len(d.History); n > 0 {
		t.Status = status(d, d.History[n-1], n-1)
	}
	t.Status.State = states[d.State]
	t.History = append(t.History, &a2a.Message{
		ID: cmp.Or(d.MessageID, d.ID+"-0"), TaskID: t.ID, ContextID: t.ContextID, Role: a2a.MessageRoleUser,
		Parts: a2a.ContentParts{a2a.NewTextPart(cmp.Or(d.Description, d.Title))},
	})
	for i, m := range d.Thread {
		t.History = append(t.History, message(d, m, i))
	}
	if most != nil {
		if *most < 0 {
			return nil, a2a.NewError(a2a.ErrInvalidParams, "historyLength is negative")
		}
		t.History = t.History[len(t.History)-min(*most, len(t.History)):]
	}
	if artifacts {
		for i, a := range d.Artifacts {
			t.Artifacts = append(t.Artifacts, artifact(d, a, i))
		}
	}
	t.Metadata = map[string]any{"title": d.Title}
	if d.Assignee != "" {
		t.Metadata["assignee"] = d.Assignee
	}
	return t, nil
}

// status is a transition as a status. Its reason is the message.
func status(d tasks.Details, h tasks.Transition, i int) a2a.TaskStatus {
	at := h.At
	s := a2a.TaskStatus{State: states[h.To], Timestamp: &at}
	if h.Why != "" {
		s.Message = message(d, tasks.Message{ID: fmt.Sprintf("%s-s%d", d.ID, i), By: h.By, At: h.At, Text: h.Why}, i)
	}
	return s
}

// message is a message of a task's thread. What its giver says is the user's.
func message(d tasks.Details, m tasks.Message, i int) *a2a.Message {
	role := a2a.MessageRoleAgent
	if m.By == d.CreatedBy || m.By == d.StandsIn {
		role = a2a.MessageRoleUser
	}
	return &a2a.Message{
		ID: cmp.Or(m.ID, fmt.Sprintf("%s-%d", d.ID, i+1)), TaskID: a2a.TaskID(d.ID), ContextID: d.Context, Role: role,
		Parts: a2a.ContentParts{a2a.NewTextPart(m.Text)}, Metadata: map[string]any{"by": m.By, "at": m.At},
	}
}

func artifact(d tasks.Details, a tasks.Artifact, i int) *a2a.Artifact {
	return &a2a.Artifact{
		ID: a2a.ArtifactID(fmt.Sprintf("%s-a%d", d.ID, i+1)), Name: a.Name,
		Parts: a2a.ContentParts{a2a.NewTextPart(a.Text)}, Metadata: map[string]any{"by": a.By, "at": a.At},
	}
}

// otherVersion answers requests of protocol versions that we do not speak. Every method ends
// in GetTask.
type otherVersion struct{ a2asrv.RequestHandler }

func (otherVersion) GetTask(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error) {
	return nil, a2a.NewError(a2a.ErrVersionNotSupported, "this server speaks A2A "+string(a2a.Version)+": send the header "+a2a.SvcParamVersion+": "+string(a2a.Version)).
		WithErrorInfoMeta(map[string]string{"supported": string(a2a.Version)})
}
