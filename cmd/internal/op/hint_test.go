package op

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/journal"
	"leanctx/internal/refusal"
)

type step struct {
	ID      string `json:"task_id" arg:"1"`
	State   string `json:"state,omitempty" arg:"2"`
	Message string `json:"message,omitempty" short:"m"`
}

// The example of a refused call mends the very mistake: the call as it was
// would be refused again.
func TestHintMendsTheMistake(t *testing.T) {
	nobody := func(context.Context, Scope, step) (seen[step], error) {
		return seen[step]{}, refusal.Missing("agent", "")
	}
	stateless := func(context.Context, Scope, step) (seen[step], error) {
		return seen[step]{}, refusal.Missing("state", "")
	}
	tool := &Tool{Name: "ctx_task", Command: "task", Operations: []Operation{
		New("claim", "Take.", Changes, nobody).Shown("task_id", "t-a3f8c1"),
		New("update", "Say how it stands.", Changes, stateless).Shown("task_id", "t-a3f8c1", "state", "Working"),
	}}
	for _, tt := range []struct{ args, json, command string }{
		{`{"action":"claim","task_id":"t-77"}`, `{"action":"claim","agent":"cursor-a3f8","task_id":"t-77"}`, "task claim t-77 --agent cursor-a3f8"},
		{`{"action":"claim","task_id":"t-77","agent":"cursor"}`, `{"action":"claim","agent":"cursor-a3f8","task_id":"t-77"}`, "task claim t-77 --agent cursor-a3f8"},
		{`{"action":"update","task_id":"t-77"}`, `{"action":"update","state":"Working","task_id":"t-a3f8c1"}`, "task update t-a3f8c1 Working"},
		{`{"action":"update","task_id":"t-77","state":"Soon","message":"m"}`, `{"action":"update","state":"Working","task_id":"t-a3f8c1"}`, "task update t-a3f8c1 Working"},
	} {
		_, err := tool.Call(t.Context(), "", decode(t, tt.args))
		e, ok := errors.AsType[*UsageError](err)
		if !ok {
			t.Fatalf("%s: got %v", tt.args, err)
		}
		if d := cmp.Diff([]string{tt.json, tt.command}, []string{callJSON(e.Action, e.Example), e.CommandLine()}); d != "" {
			t.Errorf("%s: %s", tt.args, d)
		}
	}
}

// Who interrupts a write that may have been made is told that it is in doubt.
func TestInterruptedInDoubtIsAFailure(t *testing.T) {
	for err, want := range map[error]Class{
		fmt.Errorf("x: %w", context.Canceled):                                  Interrupted,
		fmt.Errorf("x: %w", errors.Join(journal.ErrInDoubt, context.Canceled)): Failed,
	} {
		if got := Classify(err); got != want {
			t.Errorf("%v: got %v, want %v", err, got, want)
		}
	}
}
