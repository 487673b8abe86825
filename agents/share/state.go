package share

import (
	"cmp"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/internal/args"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
)

// shared is one push, as it is stored.
type shared struct {
	ID       string    `json:"id"`
	From     string    `json:"from"`
	To       string    `json:"to,omitempty"` // an id or a type; empty: everybody
	Message  string    `json:"message,omitempty"`
	At       time.Time `json:"at"`
	Files    []stored  `json:"files"`
	Seen     []string  `json:"seen,omitempty"`  // who got its names
	PulledBy []string  `json:"given,omitempty"` // who got its contents

	Places map[string]place `json:"places,omitempty"` // how far those came who got a part of its contents
}

// place is where in the contents of a share an answer ended.
type place struct {
	File  int `json:"file,omitempty"`
	Bytes int `json:"bytes,omitempty"` // of that file
}

// stored is one file of a push, as it is stored.
type stored struct {
	Path     string   `json:"path"`
	Tokens   int      `json:"tokens"`
	Bytes    int      `json:"bytes"`
	Hash     string   `json:"hash"`   // SHA-256 of the stored contents
	Source   string   `json:"source"` // and of the file itself
	Redacted []string `json:"redacted,omitempty"`
}

// event is one change. Exactly one member is set.
type event struct {
	Push  *shared  `json:"push,omitempty"`
	Pull  *pulled  `json:"pull,omitempty"`
	Clear []string `json:"clear,omitempty"` // ids
}

// pulled records that an agent pulled shares.
type pulled struct {
	By       string   `json:"by"`
	IDs      []string `json:"ids"`
	Contents bool     `json:"contents,omitempty"`

	Part string `json:"part,omitempty"` // a share of whose contents a part was given
	Upto place  `json:"upto,omitzero"`  // of Part
}

// state holds every share by its id. Values in the map are never changed in place.
type state struct{ shares map[string]*shared }

// sound reports whether the ids and paths of a share are such as this program writes. A member of a
// team can write any: a share with others is void, so that none reaches an answer.
func (x *shared) sound() bool {
	return strings.HasPrefix(x.ID, "s-") && !strings.ContainsAny(x.ID, `/\`) && prose.IsWord(x.ID, x.From, x.To) &&
		prose.IsWord(x.Seen...) && prose.IsWord(x.PulledBy...) && !slices.ContainsFunc(slices.Collect(maps.Values(x.Places)), place.odd) &&
		!slices.ContainsFunc(x.Files, func(f stored) bool {
			return !filepath.IsLocal(filepath.FromSlash(f.Path)) || !prose.IsWord(f.Redacted...) || min(f.Tokens, f.Bytes) < 0 || max(f.Tokens, f.Bytes) > math.MaxInt32
		})
}

// odd reports whether no answer can have ended there.
func (p place) odd() bool { return min(p.File, p.Bytes) < 0 || max(p.File, p.Bytes) > math.MaxInt32 }

func (s *state) fold(e event) {
	if e.Push != nil && e.Push.sound() {
		s.shares[e.Push.ID] = e.Push
	}
	for _, id := range e.Clear {
		delete(s.shares, id)
	}
	if e.Pull == nil || !prose.IsWord(e.Pull.By) || e.Pull.Upto.odd() {
		return
	}
	for _, id := range e.Pull.IDs {
		if x := s.shares[id]; x != nil {
			y := *x
			y.Seen = with(x.Seen, e.Pull.By)
			if e.Pull.Contents {
				y.PulledBy = with(x.PulledBy, e.Pull.By)
				y.Places = maps.Clone(x.Places)
				delete(y.Places, e.Pull.By)
			}
			s.shares[id] = &y
		}
	}
	if x := s.shares[e.Pull.Part]; x != nil {
		y := *x
		y.Seen, y.Places = with(x.Seen, e.Pull.By), maps.Clone(x.Places)
		if y.Places == nil {
			y.Places = map[string]place{}
		}
		y.Places[e.Pull.By] = e.Pull.Upto
		s.shares[x.ID] = &y
	}
}

// with is a copy of the list with a name added.
func with(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(slices.Clip(list), name)
}

// sorted lists the shares, the oldest first.
func (s *state) sorted() []*shared {
	return slices.SortedFunc(maps.Values(s.shares), func(a, b *shared) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
}

// waits reports whether the agent has yet to get the share's names, or its contents.
func (x *shared) waits(agent string, contents bool) bool {
	if x.From == agent || contents && slices.Contains(x.PulledBy, agent) || !contents && slices.Contains(x.Seen, agent) {
		return false
	}
	switch {
	case x.To == "" || x.To == agent:
		return true
	case x.To == args.AgentType(agent):
		return len(x.Seen) == 0 || slices.Contains(x.Seen, agent)
	}
	return false
}

// waiting lists the shares that an agent has yet to get.
func (s *state) waiting(agent string, contents bool) []*shared {
	return slices.DeleteFunc(s.sorted(), func(x *shared) bool { return !x.waits(agent, contents) })
}

// machine implements the journal's state machine: make, fold and write the state.
type machine struct{}

func (machine) New() *state { return &state{map[string]*shared{}} }

func (machine) Fold(s *state, c journal.Commit[event]) *state {
	for _, e := range c.Events {
		s.fold(e)
	}
	return s
}

func (machine) Clone(s *state) *state { return &state{maps.Clone(s.shares)} }

// document is the form of the state in shares.json.
type document struct {
	journal.Header
	Shares []*shared `json:"shares"`
}

func (machine) Encode(w io.Writer, s *state, h journal.Header) error {
	return journal.EncodeDocument(w, document{h, s.sorted()})
}

func (m machine) Decode(data []byte) (*state, error) {
	var d document
	if err := journal.DecodeDocument(data, &d); err != nil {
		return nil, err
	}
	s := m.New()
	for _, x := range d.Shares {
		if x != nil && x.sound() { // a snapshot may come from another machine
			s.shares[x.ID] = x
		}
	}
	return s, nil
}

var _ journal.Machine[*state, event] = machine{}
