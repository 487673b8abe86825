package tasks

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/refusal"
)

func TestParseState(t *testing.T) {
	for want, spellings := range map[State]string{
		Created:       "Created,created,CREATED,submitted,TASK_STATE_SUBMITTED,new,todo,pending, created ",
		Working:       "Working,working,in_progress,in-progress,In Progress,inProgress,TASK_STATE_WORKING,started,doing,wip",
		InputRequired: "InputRequired,input-required,input_required,INPUT REQUIRED,inputrequired,TASK_STATE_INPUT_REQUIRED,blocked,needs-input",
		AuthRequired:  "AuthRequired,auth-required,auth_required,TASK_STATE_AUTH_REQUIRED,needs_auth",
		Completed:     "Completed,completed,complete,done,DONE,finished,success,TASK_STATE_COMPLETED",
		Failed:        "Failed,failed,failure,error,TASK_STATE_FAILED",
		Canceled:      "Canceled,canceled,cancelled,Cancelled,cancel,aborted,TASK_STATE_CANCELED,TASK_STATE_CANCELLED",
		Rejected:      "Rejected,rejected,declined,refused,TASK_STATE_REJECTED,won't do",
	} {
		for text := range strings.SplitSeq(spellings, ",") {
			if got, err := parseState(text); err != nil || got != want {
				t.Errorf("%q: %q, %v, want %s", text, got, err, want)
			}
		}
	}
	for _, text := range []string{"flying", "unknown", "TASK_STATE_UNSPECIFIED", "TASK_STATE_", "___", "🙂", strings.Repeat("x", 300), "work\x00ing"} {
		_, err := parseState(text)
		a, ok := errors.AsType[*refusal.ArgumentError](err)
		if !ok || a.Argument != "state" || len(a.Problem) > 250 {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for _, s := range eight {
			if !strings.Contains(a.Problem, string(s)) {
				t.Errorf("%q: %q does not name %s", text, a.Problem, s)
			}
		}
	}
	if _, err := parseState(" "); err == nil || err.Error() != "needs state" {
		t.Errorf("no state: %v", err)
	}
}

// No spelling stands for two states.
func TestSpellings(t *testing.T) {
	seen := map[string]State{}
	for _, row := range states {
		for _, word := range append(strings.Fields(row.spellings), plain(string(row.state))) {
			if other, ok := seen[word]; ok {
				t.Errorf("%q is %s and %s", word, other, row.state)
			}
			if word != plain(word) {
				t.Errorf("%q is never compared with: it has separators", word)
			}
			seen[word] = row.state
		}
	}
	var all []State
	for _, row := range states {
		all = append(all, row.state)
	}
	if diff := cmp.Diff(eight, all); diff != "" || slices.Contains(all, "") {
		t.Error(diff)
	}
}
