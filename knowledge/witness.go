package knowledge

import (
	"errors"
	"io/fs"
	"os"

	"leanctx/knowledge/state"
)

// A directory that is deleted takes its journal's witness with it. So an empty file
// beside it, DIR.known, says that something was remembered there. It is made after a
// process's first commit and is not synced.

func (s *Store) witness() string { return s.dir + ".known" }

// Gone is the path of the witness, if the store is empty although something was
// remembered in it.
func (s *Store) Gone(st *state.State) string {
	if st.Seq() > 0 {
		return ""
	}
	if _, err := os.Stat(s.witness()); err != nil {
		return ""
	}
	return s.witness()
}

// committed makes the witness after a commit. before is the last commit before it. It returns err,
// after which nothing was committed.
func (s *Store) committed(before uint64, events []state.Event, err error) error {
	first := before == 0
	if err != nil || len(events) == 0 || s.witnessed.Swap(true) && !first {
		return err
	}
	switch _, err := os.Stat(s.witness()); {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.WriteFile(s.witness(), nil, 0o600); err != nil {
			s.opts.Logger.Debug("there is no witness beside the store", "error", err)
		}
	case err == nil && first:
		s.Warn("what was remembered of this project before is gone: %s was deleted or emptied", s.dir)
	}
	return nil
}
