package tasks

import (
	"errors"
	"strings"
	"testing"
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
			c, err := taskChange{id: "t-000001", to: to}.decide(stateOf(Task{ID: "t-000001", State: from}))
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
