package cost

import (
	"maps"
	"time"

	"leanctx/internal/journal"
)

// state is the totals of all projects, and how far the receipts are in them.
type state struct {
	read  map[string]int64 // bytes of each receipts file that are folded
	books map[string]*book // by project hash
}

// event is one change of the state. Exactly one member is set.
type event struct {
	Read  *mark   `json:"read,omitempty"`
	Add   *added  `json:"add,omitempty"`
	Gone  string  `json:"gone,omitempty"` // a receipts file that is not there any more
	Reset *forget `json:"reset,omitempty"`
}

// mark says how far a receipts file was folded.
type mark struct {
	File string `json:"file"`
	To   int64  `json:"to"`
}

// added is the costs of one project's calls.
type added struct {
	Project string  `json:"project"`
	Root    string  `json:"project_root,omitempty"`
	Entries []entry `json:"entries"`
}

// forget begins a project's costs anew.
type forget struct {
	Project string    `json:"project"`
	At      time.Time `json:"at"`
}

func (s *state) book(project string) *book {
	if s.books[project] == nil {
		s.books[project] = newBook()
	}
	return s.books[project]
}

func (s *state) fold(e event) {
	switch {
	case e.Read != nil:
		s.read[e.Read.File] = e.Read.To
	case e.Gone != "":
		delete(s.read, e.Gone)
	case e.Add != nil:
		b := s.book(e.Add.Project)
		if e.Add.Root != "" {
			b.root = e.Add.Root
		}
		for _, x := range e.Add.Entries {
			b.add(x.row, x.Counts)
		}
		b.bound()
	case e.Reset != nil:
		b := newBook()
		b.root, b.since = s.book(e.Reset.Project).root, e.Reset.At
		s.books[e.Reset.Project] = b
	}
}

// machine tells the journal how the state is made, folded and written.
type machine struct{}

func (machine) New() *state { return &state{read: map[string]int64{}, books: map[string]*book{}} }

func (machine) Fold(s *state, c journal.Commit[event]) *state {
	for _, e := range c.Events {
		s.fold(e)
	}
	return s
}

func (machine) Clone(s *state) *state {
	c := &state{read: maps.Clone(s.read), books: make(map[string]*book, len(s.books))}
	for project, b := range s.books {
		c.books[project] = b.clone()
	}
	return c
}

var _ journal.Machine[*state, event] = machine{}
