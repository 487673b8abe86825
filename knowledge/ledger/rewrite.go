package ledger

import (
	"bytes"
	"io"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
)

// A partial state is written without being read whole: the text of what no
// commit has touched is copied from the old snapshot to the new one, each fact
// compared with its checksum on the way, and what was touched is put in its
// place among it.

// rewrite writes a partial state as a fact file.
func (s *State) rewrite(w io.Writer, h journal.Header) error {
	rest, err := walked(s.around(h), nil)
	if err != nil {
		return err
	}
	if _, err := w.Write(rest.Text[:rest.From]); err != nil {
		return err
	}
	if err := s.rewriteFacts(w); err != nil {
		return err
	}
	_, err = w.Write(rest.Text[rest.From:])
	return err
}

// walked gives use the text of each version of a fact file, and returns what is around them.
func walked(d *formats.Document, use func(text []byte, at int64) error) (formats.Rest, error) {
	var file bytes.Buffer
	if err := formats.EncodeNative(&file, d); err != nil {
		return formats.Rest{}, err
	}
	return formats.WalkNative(&file, use)
}

// freshOnce is of how many facts in memory the texts are made at once: all of
// them would take as much memory again as the facts.
const freshOnce = 1000

// fresh are the texts of the versions of facts in memory, which are in order.
func (s *State) fresh(names []fact.ID) (texts [][]byte, err error) {
	d := &formats.Document{Schema: formats.Schema}
	for _, n := range names {
		d.Facts = append(d.Facts, s.all[n]...)
	}
	_, err = walked(d, func(text []byte, _ int64) error {
		texts = append(texts, bytes.Clone(text))
		return nil
	})
	return texts, err
}

// rewriteFacts writes the facts by name.
func (s *State) rewriteFacts(w io.Writer) error {
	between := "\n    "
	var failed error
	write := func(text []byte) bool {
		if _, failed = io.WriteString(w, between); failed == nil {
			_, failed = w.Write(text)
		}
		between = formats.FactSeparator
		return failed == nil
	}
	var fresh [][]byte
	s.merged(nil, func(rest []fact.ID) bool {
		if len(fresh) == 0 {
			if fresh, failed = s.fresh(rest[:min(len(rest), freshOnce)]); failed != nil {
				return false
			}
		}
		for range s.all[rest[0]] {
			if !write(fresh[0]) {
				return false
			}
			fresh = fresh[1:]
		}
		return true
	}, func(_ fact.ID, text []byte) bool { return write(text) })
	if err := s.failed(); err != nil {
		return &partialError{err}
	}
	if failed == nil && between == formats.FactSeparator {
		_, failed = io.WriteString(w, "\n  ")
	}
	return failed
}
