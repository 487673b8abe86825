package agents

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"leanctx/internal/journal"
)

// holder keeps an agent from being resumed by somebody else.
type holder struct {
	lock     *journal.FileLock
	file     string          // its name
	sessions map[string]bool // the connections whose agent it is
}

// liveDir is where the liveness locks are. An agent has up to two: whoever
// registered it has the first one alone, and all that act as it beside share
// the second one, so that it is free when nobody has either. One lock that all
// share was rejected: who takes it alone to find out whether anybody lives
// would have to let go of it to share it, and two could do so at a time.
const liveDir = "live"

func firstLock(id string) string { return id + ".lock" }
func otherLock(id string) string { return id + ".others.lock" }

func (s *Store) live() (*os.Root, error) {
	return journal.OpenDir(filepath.Join(s.dir, liveDir))
}

// hold takes an agent that nobody has. ok is false when a living connection,
// of this process or of another, acts as it.
func (s *Store) hold(id string) (ok bool, err error) {
	root, err := s.live()
	if err != nil {
		return false, err
	}
	defer root.Close()
	lock, ok, err := journal.TryLock(root, firstLock(id))
	if !ok {
		return false, err
	}
	h := &holder{lock: lock, file: firstLock(id)}
	if free, err := unshared(root, id); !free {
		return false, errors.Join(err, h.letGo(root, id))
	}
	return true, s.holding(root, id, h)
}

// unshared tells whether nobody shares an agent, and removes what is left of
// those who did.
func unshared(root *os.Root, id string) (bool, error) {
	if _, err := root.Lstat(otherLock(id)); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	lock, ok, err := journal.TryLock(root, otherLock(id))
	if !ok {
		return false, err
	}
	_ = root.Remove(otherLock(id)) // only litter where it cannot be removed
	return true, lock.Unlock()
}

// join makes a connection one of those that act as an agent, whoever else
// does. Should somebody look just now whether the agent is free, it is not had
// yet: the caller's next call tries again.
func (s *Store) join(id string) error {
	if s.joined(id) {
		return nil
	}
	root, err := s.live()
	if err != nil {
		return err
	}
	defer root.Close()
	file := firstLock(id)
	lock, ok, err := journal.TryLock(root, file)
	if !ok && err == nil {
		file = otherLock(id)
		lock, ok, err = journal.TryShared(root, file)
	}
	if !ok {
		return err
	}
	return s.holding(root, id, &holder{lock: lock, file: file})
}

// joined adds the connection to those of this process that act as an agent, if
// there is one.
func (s *Store) joined(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[id]
	if h != nil {
		h.sessions[s.actor.Session] = true
	}
	return h != nil
}

// holding notes a lock that was taken. Two calls of one process may take both
// locks of an agent; the later one is let go of.
func (s *Store) holding(root *os.Root, id string, h *holder) error {
	h.sessions = map[string]bool{}
	s.mu.Lock()
	if s.held[id] == nil {
		s.held[id] = h
	}
	s.held[id].sessions[s.actor.Session] = true
	kept := s.held[id] == h
	s.mu.Unlock()
	if kept {
		return nil
	}
	return h.letGo(root, id)
}

// leave lets go of an agent. Its lock file goes too, lest there be one for
// every agent that ever was.
func (s *Store) leave(id string) error {
	s.mu.Lock()
	h := s.held[id]
	delete(s.held, id)
	s.mu.Unlock()
	if h == nil {
		return nil
	}
	root, err := s.live()
	if err != nil {
		return h.lock.Unlock()
	}
	defer root.Close()
	return h.letGo(root, id)
}

// letGo unlocks, and removes the file if nobody else has it.
func (h *holder) letGo(root *os.Root, id string) error {
	if h.file == firstLock(id) {
		_ = root.Remove(h.file) // Windows does not remove what is open: it is only litter
		return h.lock.Unlock()
	}
	err := h.lock.Unlock()
	if err == nil {
		_, err = unshared(root, id)
	}
	return err
}

// Leave says that a connection has ended: the agents it registered may be
// resumed by others. A process that ends need not call it.
func (s *Store) Leave(session string) error {
	s.mu.Lock()
	delete(s.sessions, session)
	var ids []string
	for id, h := range s.held {
		if delete(h.sessions, session); len(h.sessions) == 0 {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	var errs []error
	for _, id := range ids {
		errs = append(errs, s.leave(id))
	}
	return errors.Join(errs...)
}

func (s *Store) leaveAll() error {
	s.mu.Lock()
	var ids []string
	for id := range s.held {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	var errs []error
	for _, id := range ids {
		errs = append(errs, s.leave(id))
	}
	return errors.Join(errs...)
}
