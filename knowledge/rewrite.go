package knowledge

import (
	"bytes"
	"io"

	"leanctx/formats"
	"leanctx/internal/journal"
)

// A partial state is written without being read whole: the text of what no
// commit has touched is copied from the old snapshot to the new one, each fact
// compared with its checksum on the way, and what was touched is put in its
// place among it.

// Rewrites tells the journal that a snapshot can be made of any state.
func (machine) Rewrites(*state) bool { return true }

// rewrite writes a partial state as a fact file.
func (s *state) rewrite(w io.Writer, h journal.Header) error {
	d := s.around(h)
	for _, vs := range s.all {
		d.Facts = append(d.Facts, vs...)
	}
	var file bytes.Buffer
	if err := formats.EncodeNative(&file, d); err != nil {
		return err
	}
	var fresh [][]byte
	rest, err := formats.WalkNative(&file, func(text []byte, _ int64) error {
		fresh = append(fresh, bytes.Clone(text))
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := w.Write(rest.Text[:rest.From]); err != nil {
		return err
	}
	if err := s.rewriteFacts(w, fresh); err != nil {
		return err
	}
	_, err = w.Write(rest.Text[rest.From:])
	return err
}

// rewriteFacts writes the facts by name; fresh are the versions in memory.
func (s *state) rewriteFacts(w io.Writer, fresh [][]byte) error {
	between := "\n    "
	var failed error
	write := func(text []byte) bool {
		if _, failed = io.WriteString(w, between); failed == nil {
			_, failed = w.Write(text)
		}
		between = formats.FactSeparator
		return failed == nil
	}
	names := s.inOrder()
	upTo := func(n *id) bool {
		for len(names) > 0 && (n == nil || compareNames(names[0], *n) < 0) {
			for range s.all[names[0]] {
				if !write(fresh[0]) {
					return false
				}
				fresh = fresh[1:]
			}
			names = names[1:]
		}
		return true
	}
	if s.base.texts(0, s.base.keys.Facts(), func(fact int, text []byte) bool {
		n := s.base.name(fact)
		return upTo(&n) && write(text)
	}) {
		upTo(nil)
	}
	if err := s.failed(); err != nil {
		return &partialError{err}
	}
	if failed == nil && between == formats.FactSeparator {
		_, failed = io.WriteString(w, "\n  ")
	}
	return failed
}
