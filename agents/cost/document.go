package cost

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/lines"
)

// document is the state as costs.json.
type document struct {
	Read     map[string]int64 `json:"receipts_read"`
	Projects []page           `json:"projects"`
}

// page is one project of the document.
type page struct {
	Hash     string    `json:"project_hash"`
	Root     string    `json:"project_root"`
	Since    time.Time `json:"since"`
	Earlier  tally     `json:"earlier_days"`
	Older    tally     `json:"older_sessions"`
	Gone     int64     `json:"older_sessions_count"`
	Tools    []kept    `json:"tools"`
	Days     []kept    `json:"days"`
	Sessions []kept    `json:"sessions"` // those of one session follow each other
}

// kept is a row of the document.
type kept struct {
	row
	tally
}

// tally is counts without what is zero: most of the file is these.
type tally struct {
	Calls     int64 `json:"calls,omitempty"`
	In        int64 `json:"in,omitempty"`
	Out       int64 `json:"out,omitempty"`
	Estimated int64 `json:"estimated,omitempty"`
	BytesIn   int64 `json:"bytes_in,omitempty"`
	BytesOut  int64 `json:"bytes_out,omitempty"`
	First     int64 `json:"first,omitempty"` // Unix milliseconds
	Last      int64 `json:"last,omitempty"`
}

func (c Counts) tally() tally {
	t := tally{Calls: c.Calls, In: c.In, Out: c.Out, Estimated: c.Estimated, BytesIn: c.BytesIn, BytesOut: c.BytesOut}
	if !c.First.IsZero() {
		t.First, t.Last = c.First.UnixMilli(), c.Last.UnixMilli()
	}
	return t
}

func (t tally) counts() Counts {
	c := Counts{Calls: t.Calls, In: t.In, Out: t.Out, Estimated: t.Estimated, BytesIn: t.BytesIn, BytesOut: t.BytesOut}
	if t.First != 0 {
		c.First, c.Last = time.UnixMilli(t.First).UTC(), time.UnixMilli(t.Last).UTC()
	}
	return c
}

// Encode writes one row a line, so that the file can be read and compared.
func (machine) Encode(w io.Writer, s *state, h journal.Header) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "{\n  \"schema\": %d,\n  \"updated_at\": %s,\n  \"checksum\": %q,\n  \"seq\": %d,\n  \"generation\": %d,\n  \"receipts_read\": %s,\n  \"projects\": [",
		h.Schema, lines.Value(h.At.UTC()), h.Checksum, h.Seq, h.Generation, lines.Value(s.read))
	sep := "\n"
	for _, project := range slices.Sorted(maps.Keys(s.books)) {
		x := s.books[project]
		fmt.Fprintf(b, "%s    {\n      \"project_hash\": %s,\n      \"project_root\": %s,\n      \"since\": %s,\n      \"earlier_days\": %s,\n      \"older_sessions\": %s,\n      \"older_sessions_count\": %d",
			sep, lines.Value(project), lines.Value(x.root), lines.Value(instant(x.since)), lines.Value(x.earlier.tally()), lines.Value(x.older.tally()), x.gone)
		sep = ",\n"
		err := cmp.Or(
			lines.List(b, "tools", rows(entries(x.tools))),
			lines.List(b, "days", rows(x.dayRows())),
			lines.List(b, "sessions", rows(x.sessionRows())),
		)
		if err != nil {
			return err
		}
		b.WriteString("\n    }")
	}
	b.WriteString("\n  ]\n}\n")
	return b.Flush()
}

// instant is null for none.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func rows(list []entry) iter.Seq[kept] {
	return func(yield func(kept) bool) {
		for _, x := range list {
			if !yield(kept{x.row, x.tally()}) {
				return
			}
		}
	}
}

func (b *book) dayRows() (out []entry) {
	for _, d := range slices.Sorted(maps.Keys(b.days)) {
		out = append(out, entry{row{Day: d}, b.days[d]})
	}
	return out
}

func (b *book) sessionRows() (out []entry) {
	for _, id := range slices.Sorted(maps.Keys(b.sessions)) {
		for _, x := range entries(b.sessions[id].rows) {
			x.Session = id
			out = append(out, x)
		}
	}
	return out
}

func (m machine) Decode(data []byte) (*state, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("costs: %w", err)
	}
	s := m.New()
	maps.Copy(s.read, d.Read)
	for i := range d.Projects {
		s.books[d.Projects[i].Hash] = d.Projects[i].book()
	}
	return s, nil
}

func (p *page) book() *book {
	b := newBook()
	b.root, b.since, b.gone = p.Root, p.Since, p.Gone
	b.earlier, b.older = p.Earlier.counts(), p.Older.counts()
	for _, x := range p.Tools {
		b.tools[x.row] = x.counts()
	}
	for _, x := range p.Days {
		b.days[x.Day] = x.counts()
	}
	for _, x := range p.Sessions {
		b.addSession(x.row, x.counts())
	}
	return b
}
