package tasks

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table once more, as a person draws it: a row from each state, a column
// to each, in the order of the eight.
const drawn = `
                C W I A D F X R
Created         . x x x x x x x
Working         . x x x x x x x
InputRequired   . x . . x x x x
AuthRequired    . x . . x x x x
Completed       . . . . . . . .
Failed          . . . . . . . .
Canceled        . . . . . . . .
Rejected        . . . . . . . .`

var eight = []State{Created, Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected}

func TestTransitions(t *testing.T) {
	for i, row := range strings.Split(strings.TrimSpace(drawn), "\n")[1:] {
		cells := strings.Fields(row)
		from := eight[i]
		if cells[0] != string(from) {
			t.Fatalf("row %d is %s, want %s", i, cells[0], from)
		}
		for j, to := range eight {
			legal := cells[j+1] == "x"
			c, err := wish{id: "t-000001", to: to}.decide(boardOf(Task{ID: "t-000001", State: from}))
			if legal && (err != nil || c.To != to) {
				t.Errorf("%s → %s: %+v, %v", from, to, c, err)
			}
			e, refused := errors.AsType[*TransitionError](err)
			if !legal && (!refused || e.From != from || e.To != to) {
				t.Errorf("%s → %s: %v, want a TransitionError", from, to, err)
			}
			if !legal && refused {
				for _, next := range from.Next() {
					if !strings.Contains(e.Error(), string(next)) {
						t.Errorf("%s → %s: %q does not name %s", from, to, e, next)
					}
				}
			}
		}
		if from.Final() != (len(from.Next()) == 0) || from.Final() != (i >= 4) {
			t.Errorf("%s: final is %v", from, from.Final())
		}
	}
}

func TestFinalSaysSo(t *testing.T) {
	err := &TransitionError{"t-a3f8c1", Completed, Working}
	if want := "task t-a3f8c1 is Completed, which is final; for more work create a task with references=t-a3f8c1"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	err = &TransitionError{"t-a3f8c1", InputRequired, Created}
	if want := "task t-a3f8c1 cannot go from InputRequired to Created; from InputRequired it goes to Working, Completed, Failed, Canceled, Rejected"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

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
			if got, err := ParseState(text); err != nil || got != want {
				t.Errorf("%q: %q, %v, want %s", text, got, err, want)
			}
		}
		if back, err := ParseState(want.Wire()); err != nil || back != want {
			t.Errorf("%s: %q comes back as %q, %v", want, want.Wire(), back, err)
		}
	}
	for _, text := range []string{"flying", "unknown", "TASK_STATE_UNSPECIFIED", "TASK_STATE_", "___", "🙂", strings.Repeat("x", 300), "work\x00ing"} {
		_, err := ParseState(text)
		a, ok := errors.AsType[*ArgumentError](err)
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
	if _, err := ParseState(" "); err == nil || err.Error() != "needs state" {
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
