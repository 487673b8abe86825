// Package live tells whether anybody lives who acts as an agent: a process holds
// a lock file for each agent that it registered, and the kernel lets go of it
// with the process. An agent whose lock can be had is nobody's.
//
// Of an agent that a process has, the connections that act as it are counted
// here too: when the last one ends, others may have it.
package live

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"leanctx/internal/journal"
)

// Locks are those of one process. It is safe for concurrent use.
type Locks struct {
	dir string

	mu       sync.Mutex
	sessions map[string]string  // connection → the agent it registered last
	held     map[string]*holder // agents whose lock is ours
}

// New is a process that holds none. dir is made with the first lock.
func New(dir string) *Locks {
	return &Locks{dir: dir, sessions: map[string]string{}, held: map[string]*holder{}}
}

// holder keeps an agent from being resumed by somebody else.
type holder struct {
	lock     *journal.FileLock
	file     string          // its name
	sessions map[string]bool // the connections whose agent it is
}

// An agent has up to two locks: whoever
// registered it has the first one alone, and all that act as it beside share
// the second one, so that it is free when nobody has either. One lock that all
// share was rejected: who takes it alone to find out whether anybody lives
// would have to let go of it to share it, and two could do so at a time.
func firstLock(id string) string { return id + ".lock" }
func otherLock(id string) string { return id + ".others.lock" }

func (l *Locks) open() (*os.Root, error) { return journal.OpenDir(l.dir) }

// Hold takes an agent that nobody has, for a connection. ok is false when a living connection,
// of this process or of another, acts as it.
func (l *Locks) Hold(id, session string) (ok bool, err error) {
	root, err := l.open()
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
	return true, l.holding(root, id, session, h)
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

// Join makes a connection one of those that act as an agent, whoever else
// does. Should somebody look just now whether the agent is free, it is not had
// yet: the caller's next call tries again.
func (l *Locks) Join(id, session string) error {
	if l.joined(id, session) {
		return nil
	}
	root, err := l.open()
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
	return l.holding(root, id, session, &holder{lock: lock, file: file})
}

// joined adds the connection to those of this process that act as an agent, if
// there is one.
func (l *Locks) joined(id, session string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.held[id]
	if h != nil {
		h.sessions[session] = true
	}
	return h != nil
}

// holding notes a lock that was taken. Two calls of one process may take both
// locks of an agent; the later one is let go of.
func (l *Locks) holding(root *os.Root, id, session string, h *holder) error {
	h.sessions = map[string]bool{}
	l.mu.Lock()
	if l.held[id] == nil {
		l.held[id] = h
	}
	l.held[id].sessions[session] = true
	kept := l.held[id] == h
	l.mu.Unlock()
	if kept {
		return nil
	}
	return h.letGo(root, id)
}

// Leave lets go of an agent. Its lock file goes too, lest there be one for
// every agent that ever was.
func (l *Locks) Leave(id string) error {
	l.mu.Lock()
	h := l.held[id]
	delete(l.held, id)
	l.mu.Unlock()
	if h == nil {
		return nil
	}
	root, err := l.open()
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

// End says that a connection has ended: the agents that it alone acted as may
// be had by others.
func (l *Locks) End(session string) error {
	l.mu.Lock()
	delete(l.sessions, session)
	var ids []string
	for id, h := range l.held {
		if delete(h.sessions, session); len(h.sessions) == 0 {
			ids = append(ids, id)
		}
	}
	l.mu.Unlock()
	return l.leave(ids)
}

// Close lets go of all agents. A process that ends need not call it.
func (l *Locks) Close() error {
	l.mu.Lock()
	var ids []string
	for id := range l.held {
		ids = append(ids, id)
	}
	l.mu.Unlock()
	return l.leave(ids)
}

func (l *Locks) leave(ids []string) error {
	var errs []error
	for _, id := range ids {
		errs = append(errs, l.Leave(id))
	}
	return errors.Join(errs...)
}

// Holds tells whether this process has an agent.
func (l *Locks) Holds(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[id] != nil
}

// Registered notes which agent a connection registered last.
func (l *Locks) Registered(session, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions[session] = id
}

// Agent is the agent that a connection registered last, empty if it did not.
func (l *Locks) Agent(session string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sessions[session]
}

// Alone runs do as the one process that works on an agent's handoff; done is
// false when another one does.
func (l *Locks) Alone(from string, do func() error) (done bool, err error) {
	root, err := l.open()
	if err != nil {
		return false, err
	}
	defer root.Close()
	name := from + ".handoff.lock"
	lock, ok, err := journal.TryLock(root, name)
	if !ok || err != nil {
		return false, err
	}
	err = do()
	_ = root.Remove(name) // only litter where it cannot be removed
	return true, errors.Join(err, lock.Unlock())
}
