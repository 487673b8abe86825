package mcpsrv

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leanctx/cmd/internal/op"
)

// A client that sent a token is told how far its call is, now and then and never
// backwards; others are not.
func TestProgressIsSentToWhoAsks(t *testing.T) {
	long := func(ctx context.Context, _ op.Scope, _ struct{}) (result, error) {
		tell := op.Progress(ctx)
		if tell == nil {
			return "nobody asks", nil
		}
		for _, done := range []int{1, 2, 50, 1, 60, 100} {
			time.Sleep(progressEvery / 2)
			tell(done, 100)
		}
		return "done", nil
	}
	tools := []*op.Tool{{Name: "ctx_long", Command: "long", Title: "Long", Summary: "Long.", Operations: []op.Operation{op.New("", "Long.", op.Reads, long)}}}
	synctest.Test(t, func(t *testing.T) {
		asked := strings.Replace(call("2", "ctx_long", "{}"), `"_meta":{`, `"_meta":{"progressToken":"t1",`, 1)
		list := serve(t, tools, nil, strings.NewReader(call("1", "ctx_long", "{}")+asked))
		var sent []string
		for _, a := range list {
			if a.Method != "" {
				sent = append(sent, a.Method+" "+string(a.Params))
			}
		}
		want := `[notifications/progress {"progressToken":"t1","progress":2,"total":100} notifications/progress {"progressToken":"t1","progress":60,"total":100} notifications/progress {"progressToken":"t1","progress":100,"total":100}]`
		if fmt.Sprint(sent) != want {
			t.Errorf("%s", sent)
		}
		if one(t, list, "1").text(t) != "nobody asks" || one(t, list, "2").text(t) != "done" {
			t.Errorf("%+v", list)
		}
	})
}

// A call that reads does not wait for an import of the same connection; one that
// writes does.
func TestReadsDoNotWaitForLongWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, loaded := make(chan struct{}), false
		load := func(context.Context, op.Scope, struct{}) (result, error) {
			defer func() { loaded = true }()
			select {
			case <-read:
				return "loaded beside a read", nil
			case <-time.After(time.Minute):
				return "nobody read meanwhile", nil
			}
		}
		recall := func(context.Context, op.Scope, struct{}) (result, error) { close(read); return "read", nil }
		remember := func(context.Context, op.Scope, struct{}) (result, error) {
			if !loaded {
				return "did not wait", nil
			}
			return "written after it", nil
		}
		tools := []*op.Tool{{Name: "ctx_long", Command: "long", Title: "Long", Summary: "Long.", Operations: []op.Operation{
			op.New("load", "Long.", op.Changes, load).Long(), op.New("recall", "Short.", op.Reads, recall), op.New("remember", "Short.", op.Changes, remember),
		}}}
		list := serve(t, tools, nil, strings.NewReader(call("1", "ctx_long", `{"action":"load"}`)+call("2", "ctx_long", `{"action":"recall"}`)+call("3", "ctx_long", `{"action":"remember"}`)))
		for id, want := range map[string]string{"1": "loaded beside a read", "2": "read", "3": "written after it"} {
			if got := one(t, list, id).text(t); got != want {
				t.Errorf("call %s: %s, want %s", id, got, want)
			}
		}
	})
}
