package ledger

import (
	"io"

	"leanctx/formats"
	"leanctx/internal/journal"
)

// machine tells the journal how the state is made, folded and written.
type machine struct {
	partials *partials // nil: states are always whole
}

var (
	_ journal.Machine[*State, Event] = machine{}
	_ journal.Partial[*State]        = machine{}
)

func (machine) New() *State { return New() }

func (machine) Fold(s *State, c journal.Commit[Event]) *State {
	for _, e := range c.Events {
		s.fold(e)
	}
	return s
}

func (machine) Clone(s *State) *State { return s.clone() }

func (machine) Encode(w io.Writer, s *State, h journal.Header) error {
	if s.base != nil {
		return s.rewrite(w, h)
	}
	return formats.EncodeNative(w, s.Document(h))
}

func (machine) Decode(data []byte) (*State, error) {
	d, err := formats.DecodeNative(data)
	if err != nil {
		return nil, err
	}
	return fromDocument(d), nil
}

// Rewrites tells the journal that a snapshot can be made of any state.
func (machine) Rewrites(*State) bool { return true }
