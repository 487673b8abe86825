package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"leanctx/agents"
	"leanctx/tasks"
)

func rpc(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params)
}

func version(v string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("A2A-Version", v) }
}

// reply is a JSON-RPC answer.
type reply struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    []struct {
			Reason   string
			Metadata map[string]string
		}
	}
}

func (f *fixture) rpc(t *testing.T, method, params string) reply {
	t.Helper()
	_, body := f.do(t, f.request(t, http.MethodPost, "/a2a", rpc(method, params), nil))
	if _, data, ok := strings.Cut(body, "data: "); ok { // a method that streams
		body = data
	}
	var r reply
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

// task is the task of an answer.
func (r reply) task(t *testing.T) a2a.Task {
	t.Helper()
	var wrapped struct{ Task *a2a.Task }
	if r.Error != nil {
		t.Fatalf("error %+v", *r.Error)
	}
	if err := json.Unmarshal(r.Result, &wrapped); err != nil {
		t.Fatal(err)
	}
	if wrapped.Task != nil {
		return *wrapped.Task
	}
	var bare a2a.Task
	if err := json.Unmarshal(r.Result, &bare); err != nil {
		t.Fatal(err)
	}
	return bare
}

func send(text, more string) string {
	return fmt.Sprintf(`{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":%q}]%s},"configuration":{"returnImmediately":true}}`, text, more)
}

func (f *fixture) update(t *testing.T, u tasks.Update) {
	t.Helper()
	if _, err := f.tasks[f.server.o.Own.Root].As(tasks.Actor{Client: "claude"}).Update(t.Context(), u); err != nil {
		t.Fatal(err)
	}
}

// A message makes a task, and later ones continue it until it is final.
func TestA2AConversation(t *testing.T) {
	f := serve(t, nil)
	made := f.rpc(t, "SendMessage", send("Fix auth\nIt drops the token.", `,"metadata":{"to_agent":"claude"}`)).task(t)
	if made.Status.State != a2a.TaskStateSubmitted || made.ContextID != string(made.ID) || made.Metadata["title"] != "Fix auth" || made.Metadata["assignee"] != "claude" {
		t.Errorf("made %+v", made)
	}
	if h := made.History; len(h) != 1 || h[0].ID != "m-1" || h[0].Role != a2a.MessageRoleUser || h[0].Parts[0].Text() != "Fix auth\nIt drops the token." {
		t.Errorf("history %+v", h)
	}
	id := string(made.ID)
	f.update(t, tasks.Update{TaskID: id, State: "InputRequired", Message: "which one?"})
	waits := f.rpc(t, "GetTask", fmt.Sprintf(`{"id":%q}`, id)).task(t)
	if s := waits.Status; s.State != a2a.TaskStateInputRequired || s.Message == nil || s.Message.Parts[0].Text() != "which one?" || s.Message.Role != a2a.MessageRoleAgent || s.Timestamp == nil {
		t.Errorf("status %+v", s)
	}
	on := f.rpc(t, "SendMessage", send("the first", fmt.Sprintf(`,"taskId":%q,"contextId":%q`, id, id))).task(t)
	if on.Status.State != a2a.TaskStateWorking || len(on.History) != 2 {
		t.Errorf("continued %+v", on)
	}
	for most, want := range map[string]int{`0`: 0, `1`: 1, `5`: 2} {
		if got := f.rpc(t, "GetTask", fmt.Sprintf(`{"id":%q,"historyLength":%s}`, id, most)).task(t); len(got.History) != want {
			t.Errorf("historyLength %s gives %d", most, len(got.History))
		}
	}
	child := f.rpc(t, "SendMessage", send("And the docs", fmt.Sprintf(`,"contextId":%q,"referenceTaskIds":[%q]`, id, id))).task(t)
	if child.ContextID != id || child.ID == made.ID {
		t.Errorf("in the same context: %+v", child)
	}
	canceled := f.rpc(t, "CancelTask", fmt.Sprintf(`{"id":%q}`, id)).task(t)
	if canceled.Status.State != a2a.TaskStateCanceled {
		t.Errorf("canceled %+v", canceled.Status)
	}
	for _, c := range []struct {
		method, params string
		code           int
	}{
		{"CancelTask", fmt.Sprintf(`{"id":%q}`, id), -32002},
		{"SendMessage", send("more", fmt.Sprintf(`,"taskId":%q`, id)), -32004},
		{"SubscribeToTask", fmt.Sprintf(`{"id":%q}`, id), -32004},
		{"GetTask", `{"id":"t-000000"}`, -32001},
		{"GetTask", fmt.Sprintf(`{"id":%q}`, id[:5]), -32001}, // no beginning of an id
		{"GetTask", `{"id":"../../etc"}`, -32001},
		{"GetTask", `{"id":""}`, -32001},
		{"GetTask", fmt.Sprintf(`{"id":%q,"historyLength":-1}`, id), -32602},
		{"GetTask", `[]`, -32602},
		{"CancelTask", `{"id":"t-000000"}`, -32001},
		{"SendMessage", send("x", `,"taskId":"t-000000"`), -32001},
		{"SendMessage", send("x", `,"contextId":"mine"`), -32602},
		{"SendMessage", send("x", fmt.Sprintf(`,"contextId":%q`, child.ID)), -32602}, // no topmost task
		{"SendMessage", send("x", fmt.Sprintf(`,"taskId":%q,"contextId":"other"`, child.ID)), -32602},
		{"SendMessage", send("  ", ""), -32602},
		{"SendMessage", send(strings.Repeat("x", tasks.MaxText+1), ""), -32602},
		{"SendMessage", `{}`, -32602},
		{"SendMessage", `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`, -32602},
		{"SendMessage", `{"message":{"role":"ROLE_USER","parts":[{"text":"x"}]}}`, -32602},
		{"SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}`, -32602},
		{"SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[null]}}`, -32602},
		{"SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"AAAA"}]}}`, -32005},
		{"SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"acceptedOutputModes":["image/png"]}}`, -32005},
		{"SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"taskPushNotificationConfig":{"url":"http://localhost/"}}}`, -32003},
		{"CreateTaskPushNotificationConfig", `{"taskId":"t-000000","url":"http://localhost/"}`, -32003},
		{"ListTaskPushNotificationConfigs", `{"taskId":"t-000000"}`, -32003},
		{"GetExtendedAgentCard", `{}`, -32004},
		{"ListTasks", `{"pageSize":101}`, -32602},
		{"ListTasks", `{"pageSize":-1}`, -32602},
		{"ListTasks", `{"pageToken":"x"}`, -32602},
		{"ListTasks", `{"status":"TASK_STATE_DANCING"}`, -32602},
		{"message/send", `{}`, -32601},
	} {
		r := f.rpc(t, c.method, c.params)
		if r.Error == nil || r.Error.Code != c.code {
			t.Errorf("%s %.120s: %s, error %+v, want %d", c.method, c.params, r.Result, r.Error, c.code)
		}
	}
}

// A client of another version is told which one is spoken, whatever it asks.
func TestA2AVersions(t *testing.T) {
	f := serve(t, nil)
	for _, v := range []string{"", "0.3", "2.0"} {
		for _, body := range []string{rpc("message/send", `{"message":{"kind":"message"}}`), rpc("tasks/get", `{"id":"x"}`), rpc("message/stream", `{}`), rpc("SendMessage", send("x", ""))} {
			_, text := f.do(t, f.request(t, http.MethodPost, "/a2a", body, version(v)))
			var r reply
			_, text, _ = strings.Cut("data: "+text, "data: ")
			if err := json.Unmarshal([]byte(text), &r); err != nil || r.Error == nil || r.Error.Code != -32009 || string(r.ID) != "7" || len(r.Error.Data) != 1 || r.Error.Data[0].Metadata["supported"] != "1.0" {
				t.Errorf("version %q, %s: %s", v, body, text)
			}
		}
		for _, c := range [][2]string{{http.MethodPost, "/a2a/v1/message:send"}, {http.MethodGet, "/a2a/v1/tasks"}, {http.MethodPost, "/a2a/v1/v1/message:send"}} {
			status, text := f.do(t, f.request(t, c[0], c[1], "", version(v)))
			if status != 400 || !strings.Contains(text, "VERSION_NOT_SUPPORTED") || !strings.Contains(text, `"supported":"1.0"`) {
				t.Errorf("version %q, %s: %d %s", v, c, status, text)
			}
		}
	}
	if status, text := f.do(t, f.request(t, http.MethodPost, "/a2a", `{"jsonrpc"`, version(""))); status != 200 || !strings.Contains(text, "-32700") {
		t.Errorf("no JSON: %d %s", status, text)
	}
	if status, _ := f.do(t, f.request(t, http.MethodGet, "/a2a/v1/tasks?A2A-Version=1.0", "", nil)); status != 200 {
		t.Errorf("the version in the address: %d", status)
	}
}

// The card has the addresses by which the client came, and says that a token is needed.
func TestA2ACard(t *testing.T) {
	f := serve(t, nil)
	for _, prefix := range []string{"", "/p/" + there} {
		_, body := f.get(t, prefix+"/.well-known/agent-card.json")
		var card a2a.AgentCard
		if err := json.Unmarshal([]byte(body), &card); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if i := card.SupportedInterfaces; len(i) != 2 || i[0].URL != f.URL+prefix+"/a2a" || i[1].URL != f.URL+prefix+"/a2a/v1" || i[0].ProtocolVersion != "1.0" {
			t.Errorf("interfaces %s", body)
		}
		if !card.Capabilities.Streaming || card.Capabilities.PushNotifications || len(card.SecuritySchemes) != 1 || len(card.Skills) == 0 {
			t.Errorf("card %s", body)
		}
	}
}

// Pages do not overlap and leave nothing out, the newest status first; filters hold.
func TestA2AListsByPages(t *testing.T) {
	f := serve(t, nil)
	var ids []string
	for i := range 7 {
		ids = append(ids, string(f.rpc(t, "SendMessage", send(fmt.Sprint("task ", i), "")).task(t).ID))
	}
	f.update(t, tasks.Update{TaskID: ids[0], State: "Completed", Artifact: "a patch"})
	list := func(params string) a2a.ListTasksResponse {
		r := f.rpc(t, "ListTasks", params)
		var l a2a.ListTasksResponse
		if r.Error != nil {
			t.Fatalf("%s: %+v", params, *r.Error)
		}
		if err := json.Unmarshal(r.Result, &l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	var got []string
	token := ""
	for range 10 {
		l := list(fmt.Sprintf(`{"pageSize":3,"pageToken":%q}`, token))
		if l.TotalSize != 7 || l.PageSize != 3 {
			t.Errorf("page %+v", l)
		}
		for _, x := range l.Tasks {
			got = append(got, string(x.ID))
		}
		if token = l.NextPageToken; token == "" {
			break
		}
	}
	want := []string{ids[0], ids[6], ids[5], ids[4], ids[3], ids[2], ids[1]}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %v, want %v", got, want)
	}
	done := list(`{"status":"TASK_STATE_COMPLETED"}`)
	if len(done.Tasks) != 1 || len(done.Tasks[0].Artifacts) != 0 || len(done.Tasks[0].History) != 0 || done.NextPageToken != "" {
		t.Errorf("completed: %+v", done)
	}
	full := list(`{"status":"TASK_STATE_COMPLETED","includeArtifacts":true,"historyLength":1}`)
	if len(full.Tasks[0].Artifacts) != 1 || len(full.Tasks[0].History) != 1 {
		t.Errorf("in full: %+v", full)
	}
	at, err := json.Marshal(done.Tasks[0].Status.Timestamp)
	if err != nil {
		t.Fatal(err)
	}
	if l := list(fmt.Sprintf(`{"statusTimestampAfter":%s}`, at)); len(l.Tasks) != 1 || l.Tasks[0].ID != done.Tasks[0].ID {
		t.Errorf("since %s: %+v", at, l)
	}
	if l := list(fmt.Sprintf(`{"contextId":%q}`, ids[2])); len(l.Tasks) != 1 || string(l.Tasks[0].ID) != ids[2] {
		t.Errorf("of a context: %+v", l)
	}
	if l := list(`{"contextId":"none"}`); len(l.Tasks) != 0 || l.TotalSize != 0 {
		t.Errorf("of no context: %+v", l)
	}
}

// A stream tells what happens to a task in its order and ends with it. Others may listen
// from the middle on.
func TestA2AStreams(t *testing.T) {
	f := serve(t, nil)
	open := func(method, params string) *bufio.Scanner {
		answer, err := http.DefaultTransport.RoundTrip(f.request(t, http.MethodPost, "/a2a", rpc(method, params), nil))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return bufio.NewScanner(answer.Body)
	}
	next := func(s *bufio.Scanner) (e struct {
		Task           *a2a.Task
		StatusUpdate   *a2a.TaskStatusUpdateEvent
		ArtifactUpdate *a2a.TaskArtifactUpdateEvent
	}) {
		for s.Scan() {
			if data, ok := strings.CutPrefix(s.Text(), "data: "); ok {
				var r reply
				if err := json.Unmarshal([]byte(data), &r); err != nil || r.Error != nil {
					t.Fatalf("%s, %v", data, err)
				}
				if err := json.Unmarshal(r.Result, &e); err != nil {
					t.Fatal(err)
				}
				return e
			}
		}
		return e
	}
	first := open("SendStreamingMessage", send("Fix it", ""))
	made := next(first).Task
	if made == nil {
		t.Fatal("the stream does not begin with the task")
	}
	second := open("SubscribeToTask", fmt.Sprintf(`{"id":%q}`, made.ID))
	if got := next(second).Task; got == nil || got.ID != made.ID {
		t.Fatalf("subscribed: %+v", got)
	}
	id := string(made.ID)
	f.update(t, tasks.Update{TaskID: id, State: "Working"})
	f.update(t, tasks.Update{TaskID: id, State: "Completed", Message: "done", Artifact: "the patch"})
	for _, s := range []*bufio.Scanner{first, second} {
		working := next(s).StatusUpdate
		patch := next(s).ArtifactUpdate
		done := next(s).StatusUpdate
		if working == nil || working.Status.State != a2a.TaskStateWorking || patch == nil || patch.Artifact.Parts[0].Text() != "the patch" ||
			done == nil || done.Status.State != a2a.TaskStateCompleted || done.Status.Message.Parts[0].Text() != "done" {
			t.Fatalf("got %+v, %+v, %+v", working, patch, done)
		}
		if more := next(s); more.Task != nil || more.StatusUpdate != nil {
			t.Errorf("after the end: %+v", more)
		}
	}
}

// Who does not want the task at once waits until it ends or asks.
func TestA2AWaits(t *testing.T) {
	f := serve(t, nil)
	got := make(chan a2a.Task, 1)
	go func() {
		got <- f.rpc(t, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"Deploy"}]}}`).task(t)
	}()
	var id string
	for id == "" {
		l, err := f.tasks[f.server.o.Own.Root].List(t.Context(), tasks.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range l.Tasks {
			id = x.ID
		}
	}
	f.update(t, tasks.Update{TaskID: id, State: "Working"})
	f.update(t, tasks.Update{TaskID: id, State: "AuthRequired", Message: "the password?"})
	if d := <-got; d.Status.State != a2a.TaskStateAuthRequired {
		t.Errorf("got %+v", d.Status)
	}
}

// The REST binding answers with the codes of the specification.
func TestA2AREST(t *testing.T) {
	directory, err := agents.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = directory.Close() })
	f := serve(t, func(_ *Options, o *storeOptions) { o.tasks.Agents = directory })
	do := func(method, path, body string) (int, string) {
		return f.do(t, f.request(t, method, "/a2a/v1"+path, body, nil))
	}
	status, body := do(http.MethodPost, "/message:send", send("Fix it", ""))
	var made struct{ Task a2a.Task }
	if err := json.Unmarshal([]byte(body), &made); err != nil || status != 200 {
		t.Fatalf("%d %s, %v", status, body, err)
	}
	id := string(made.Task.ID)
	for _, c := range []struct {
		method, path, body string
		status             int
		reason             string
	}{
		{http.MethodGet, "/tasks/" + id, "", 200, ""},
		{http.MethodGet, "/tasks?pageSize=1&status=TASK_STATE_SUBMITTED", "", 200, ""},
		{http.MethodPost, "/tasks/" + id + ":cancel", "", 200, ""},
		{http.MethodPost, "/tasks/" + id + ":cancel", "", 400, "TASK_NOT_CANCELABLE"},
		{http.MethodPost, "/tasks/t-000000:cancel", "", 404, "TASK_NOT_FOUND"},
		{http.MethodGet, "/tasks/t-000000", "", 404, "TASK_NOT_FOUND"},
		{http.MethodPost, "/message:send", send("Fix it", `,"metadata":{"to_agent":"cursor-9999"}`), 400, "INVALID_PARAMS"},
		{http.MethodGet, "/tasks?pageSize=x", "", 400, "INVALID_REQUEST"},
		{http.MethodPost, "/message:send", "{", 400, "PARSE_ERROR"},
		{http.MethodGet, "/tasks/" + id + "/pushNotificationConfigs", "", 400, "PUSH_NOTIFICATION_NOT_SUPPORTED"},
		{http.MethodGet, "/nothing", "", 404, ""},
	} {
		status, body := do(c.method, c.path, c.body)
		if status != c.status || !strings.Contains(body, c.reason) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, status, body, c.status, c.reason)
		}
	}
}

// What another agent has, or is final, is a conflict and no failure of the server.
func TestConflictIsNoFailure(t *testing.T) {
	f := serve(t, nil)
	id := string(f.rpc(t, "SendMessage", send("Fix it", "")).task(t).ID)
	f.update(t, tasks.Update{TaskID: id, State: "canceled"})
	if status, body := f.post(t, "/api/task/update", fmt.Sprintf(`{"task_id":%q,"state":"working"}`, id)); status != 409 || code(t, body) != "conflict" {
		t.Errorf("got %d %s", status, body)
	}
}

// Another project's tasks are not there, nor may they be named.
func TestA2AIsOfOneProject(t *testing.T) {
	f, _ := withFile(t)
	id := string(f.rpc(t, "SendMessage", send("here alone", "")).task(t).ID)
	_, body := f.do(t, f.request(t, http.MethodGet, "/p/"+there+"/a2a/v1/tasks/"+id, "", nil))
	if !strings.Contains(body, "TASK_NOT_FOUND") {
		t.Errorf("in the other project: %s", body)
	}
	status, _ := f.do(t, f.request(t, http.MethodGet, "/p/"+here+"/a2a/v1/tasks/"+id, "", func(r *http.Request) { bearer(stranger)(r); version("1.0")(r) }))
	if status != 404 {
		t.Errorf("with another project's token: %d", status)
	}
	_, body = f.do(t, f.request(t, http.MethodPost, "/a2a", rpc("CancelTask", fmt.Sprintf(`{"id":%q}`, id)), func(r *http.Request) { bearer(reader)(r); version("1.0")(r) }))
	if !strings.Contains(body, "read-only") {
		t.Errorf("with a token that reads: %s", body)
	}
}
