package cost

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
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

// document is the state as costs.json.
type document struct {
	Schema     int              `json:"schema"`
	UpdatedAt  time.Time        `json:"updated_at,omitzero"`
	Checksum   string           `json:"checksum"`
	Seq        uint64           `json:"seq,omitempty"`
	Generation uint64           `json:"generation,omitempty"`
	Read       map[string]int64 `json:"receipts_read"`
	Projects   []page           `json:"projects"`
}

// page is one project of the document.
type page struct {
	Root     string    `json:"project_root,omitempty"`
	Hash     string    `json:"project_hash"`
	Since    time.Time `json:"since,omitzero"`
	Tools    []entry   `json:"tools"`
	Days     []entry   `json:"days"`
	Earlier  Counts    `json:"earlier_days,omitzero"`
	Sessions []paged   `json:"sessions"`
	Older    Counts    `json:"older_sessions,omitzero"`
	Gone     int64     `json:"older_sessions_count,omitempty"`
}

// paged is one session of the document.
type paged struct {
	Session string  `json:"session"`
	Rows    []entry `json:"rows"`
}

func (machine) Encode(w io.Writer, s *state, h journal.Header) error {
	d := document{
		Schema: h.Schema, UpdatedAt: h.At.UTC(), Checksum: h.Checksum, Seq: h.Seq, Generation: h.Generation,
		Read: s.read, Projects: []page{},
	}
	for _, project := range slices.Sorted(maps.Keys(s.books)) {
		d.Projects = append(d.Projects, s.books[project].page(project))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(d)
}

func (b *book) page(project string) page {
	p := page{
		Root: b.root, Hash: project, Since: b.since, Tools: entries(b.tools), Days: []entry{}, Earlier: b.earlier,
		Sessions: []paged{}, Older: b.older, Gone: b.gone,
	}
	for _, d := range slices.Sorted(maps.Keys(b.days)) {
		p.Days = append(p.Days, entry{row{Day: d}, b.days[d]})
	}
	for _, id := range slices.Sorted(maps.Keys(b.sessions)) {
		p.Sessions = append(p.Sessions, paged{id, entries(b.sessions[id].rows)})
	}
	return p
}

func (m machine) Decode(data []byte) (*state, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("costs: %w", err)
	}
	s := m.New()
	maps.Copy(s.read, d.Read)
	for _, p := range d.Projects {
		s.books[p.Hash] = p.book()
	}
	return s, nil
}

func (p *page) book() *book {
	b := newBook()
	b.root, b.since, b.earlier, b.older, b.gone = p.Root, p.Since, p.Earlier, p.Older, p.Gone
	for _, x := range p.Tools {
		b.tools[x.row] = x.Counts
	}
	for _, x := range p.Days {
		b.days[x.Day] = x.Counts
	}
	for _, x := range p.Sessions {
		s := session{rows: make(map[row]Counts, len(x.Rows))}
		for _, y := range x.Rows {
			s.rows[y.row] = y.Counts
			s.Counts = s.Counts.plus(y.Counts)
		}
		b.sessions[x.Session] = s
	}
	return b
}

var _ journal.Machine[*state, event] = machine{}
