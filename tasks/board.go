package tasks

import (
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"leanctx/internal/journal"
)

// board is the tasks of all projects. What its maps point at is never changed
// in place: a fold puts a new record there, so that a shallow clone stays as
// it was.
type board struct {
	projects map[string]map[string]*record // project hash → id → task
	moves    []move                        // newest last
	old      *archive                      // nil: none, or they are among the others
}

// move is a reassignment with a key. Doing it again does nothing.
type move struct {
	Key     string    `json:"key"`
	Project string    `json:"project,omitempty"`
	At      time.Time `json:"at"`
	Tasks   []string  `json:"tasks"`
}

// movesKept is how long a key is remembered: a move is repeated after a crash,
// not after a season.
const movesKept = 90 * 24 * time.Hour

func newBoard() *board { return &board{projects: map[string]map[string]*record{}} }

func (b *board) put(r *record) {
	list := b.projects[r.Project]
	if list == nil {
		list = map[string]*record{}
		b.projects[r.Project] = list
	}
	list[r.ID] = r
}

func (b *board) moved(project, key string) *move {
	for i := range b.moves {
		if m := &b.moves[i]; key != "" && m.Key == key && m.Project == project {
			return m
		}
	}
	return nil
}

// event is one change of the board, as the journal keeps it. Exactly one
// member is set.
type event struct {
	Create *whole  `json:"create,omitempty"`
	Change *change `json:"change,omitempty"`
	Move   *move   `json:"move,omitempty"`
}

// change is what was done with one task at one instant, which is that of its
// commit. It is small however long the thread is.
type change struct {
	Project  string `json:"project,omitempty"`
	ID       string `json:"id"`
	By       string `json:"by"`
	To       State  `json:"to,omitempty"` // set if there is a line for the history
	Why      string `json:"why,omitempty"`
	Assignee string `json:"assignee,omitempty"`  // the new one
	Parent   string `json:"parent,omitempty"`    // the new one
	StandsIn string `json:"stands_in,omitempty"` // the new one
	Message  string `json:"message,omitempty"`
	Artifact *piece `json:"artifact,omitempty"`
}

// piece is the part of an artifact that is not its change's.
type piece struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func (b *board) fold(e event, at time.Time) {
	switch {
	case e.Create != nil:
		w := *e.Create
		b.put(&record{Task: w.Task, thread: &w.thread})
	case e.Change != nil:
		// A damaged commit may have taken the task with it; the journal tells of that.
		if r := b.projects[e.Change.Project][e.Change.ID]; r != nil {
			if changed, err := r.with(e.Change, at); err == nil {
				b.put(changed)
			}
		}
	case e.Move != nil:
		old := slices.IndexFunc(b.moves, func(m move) bool { return at.Sub(m.At) < movesKept })
		if old < 0 {
			old = len(b.moves)
		}
		b.moves = append(slices.Clone(b.moves[old:]), *e.Move)
	}
}

// with is the task after a change. The lists of the old one stay as they were:
// it does not see past their length.
func (r *record) with(c *change, at time.Time) (*record, error) {
	old, err := r.open()
	if err != nil || !at.After(r.UpdatedAt) { // done already
		return r, err
	}
	t, th := r.Task, *old
	t.UpdatedAt = at
	if c.To != "" {
		if t.State == Working || c.To == Working {
			t.WorkedAt = at
		}
		th.History = append(th.History, Transition{
			From: t.State, To: c.To, By: c.By, At: at, Why: c.Why, Assignee: c.Assignee, Parent: c.Parent, StandsIn: c.StandsIn,
		})
		t.State = c.To
	}
	if c.Assignee != "" {
		t.Assignee = c.Assignee
	}
	if c.Parent != "" {
		t.Parent = c.Parent
	}
	if c.StandsIn != "" {
		t.StandsIn = c.StandsIn
	}
	if c.Message != "" {
		t.Messages++
		th.Messages = append(th.Messages, Message{By: c.By, At: at, Text: c.Message})
	}
	if a := c.Artifact; a != nil {
		th.Artifacts = append(th.Artifacts, Artifact{Name: a.Name, By: c.By, At: at, Text: a.Text})
	}
	return &record{Task: t, thread: &th}, nil
}

// children are the tasks that are part of one, by id. Those of a task that is
// not old are not old either.
func (b *board) children(project, id string) ([]*record, error) {
	var out []*record
	all, err := b.each(project, b.projects[project][id] == nil)
	if err != nil {
		return nil, err
	}
	for r := range all {
		if r.Parent == id {
			out = append(out, r)
		}
	}
	sortByID(out)
	return out, nil
}

func sortByID(list []*record) {
	slices.SortFunc(list, func(a, b *record) int { return strings.Compare(a.ID, b.ID) })
}

// machine tells the journal how the board is made, folded and written.
type machine struct {
	from  int64        // the smallest file that is read in parts
	whole *atomic.Bool // files are read whole
}

func (machine) New() *board { return newBoard() }

func (machine) Fold(b *board, c journal.Commit[event]) *board {
	for _, e := range c.Events {
		b.fold(e, c.At.UTC())
	}
	return b
}

func (machine) Clone(b *board) *board {
	c := &board{projects: make(map[string]map[string]*record, len(b.projects)), moves: b.moves, old: b.old}
	for hash, list := range b.projects {
		c.projects[hash] = maps.Clone(list)
	}
	return c
}

func (machine) Encode(w io.Writer, b *board, h journal.Header) error { return encode(w, b, h) }

func (machine) Decode(data []byte) (*board, error) { return decode(data) }

var (
	_ journal.Machine[*board, event] = machine{}
	_ journal.Partial[*board]        = machine{}
)
