// Package live finds out whether a process or connection still acts as an agent. A process
// holds a lock file for each agent that it registered; the kernel releases it when the
// process ends. An agent whose lock is free may be resumed by anybody.
//
// Within a process, the package also counts the connections that act as an agent. When the
// last one ends, others may resume the agent. A client over HTTP has no connection: its
// session is empty, and it holds an agent for half an hour after its last call.
package live

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"leanctx/internal/journal"
)

// Locks holds the agent locks of one process. It is safe for concurrent use.
type Locks struct {
	dir string

	mu       sync.Mutex
	sessions map[string]string  // connection → the agent it registered last
	held     map[string]*holder // agents whose lock is ours
}

// New returns the locks of a process that holds none. dir is created with the first lock.
func New(dir string) *Locks {
	return &Locks{dir: dir, sessions: map[string]string{}, held: map[string]*holder{}}
}

// holder is a lock held on an agent.
type holder struct {
	lock     *journal.FileLock
	file     string          // its name
	sessions map[string]bool // the connections whose agent it is
	called   time.Time       // when a client without a connection last called; zero: never
	idle     *time.Timer     // ends such a client's hold
}

// calledFor is how long a client without a connection holds an agent after a call.
const calledFor = 30 * time.Minute

// add records that a connection acts as the agent. mu is held.
func (l *Locks) add(id, session string, h *holder) {
	h.sessions[session] = true
	if session != "" {
		return
	}
	h.called = time.Now()
	if h.idle == nil {
		h.idle = time.AfterFunc(calledFor, func() { l.expire(id, h) })
	} else {
		h.idle.Reset(calledFor)
	}
}

// expire ends the hold of a client without a connection that has been silent for long.
func (l *Locks) expire(id string, h *holder) {
	_ = l.leaveIf(id, func(now *holder) bool { // at worst the agent is held until the process ends
		if now != h || time.Since(h.called) < calledFor { // it called meanwhile
			return false
		}
		delete(h.sessions, "")
		return len(h.sessions) == 0
	})
}

// An agent has up to two locks. The connection that registered it holds the first one
// exclusively; all others that act as it share the second one. The agent is free when nobody
// holds either. One shared lock was rejected. A process that tests for life must take it
// exclusively, and then release it to share it. Two processes could do so at once.
func firstLock(id string) string { return id + ".lock" }
func otherLock(id string) string { return id + ".others.lock" }

func (l *Locks) open() (*os.Root, error) { return journal.OpenDir(l.dir) }

// Hold takes a free agent for a connection. ok is false if a live connection of any
// process acts as it.
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
		return false, errors.Join(err, h.release(root, id))
	}
	return true, l.holding(root, id, session, h)
}

// unshared reports whether nobody shares an agent, and removes the lock file of those who
// did.
func unshared(root *os.Root, id string) (bool, error) {
	if _, err := root.Lstat(otherLock(id)); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	lock, ok, err := journal.TryLock(root, otherLock(id))
	if !ok {
		return false, err
	}
	_ = root.Remove(otherLock(id)) // a leftover does no harm
	return true, lock.Unlock()
}

// Join adds a connection to those that act as an agent, regardless of others. If another
// process is just testing whether the agent is free, Join gets no lock; the caller's next
// call tries again.
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

// joined adds the connection to those of this process that act as an agent, if there are
// any.
func (l *Locks) joined(id, session string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.held[id]
	if h != nil {
		l.add(id, session, h)
	}
	return h != nil
}

// holding records a lock that was taken. Two calls of one process may take both locks of
// an agent; the later one is released.
func (l *Locks) holding(root *os.Root, id, session string, h *holder) error {
	h.sessions = map[string]bool{}
	l.mu.Lock()
	if l.held[id] == nil {
		l.held[id] = h
	}
	l.add(id, session, l.held[id])
	first := l.held[id] == h
	l.mu.Unlock()
	if first {
		return nil
	}
	return h.release(root, id)
}

// Leave releases an agent and removes its lock file, so that files do not pile up.
func (l *Locks) Leave(id string) error {
	return l.leaveIf(id, func(*holder) bool { return true })
}

// leaveIf releases an agent if may allows it. may is called with mu held.
func (l *Locks) leaveIf(id string, may func(*holder) bool) error {
	l.mu.Lock()
	h := l.held[id]
	if h != nil && !may(h) {
		h = nil
	}
	if h != nil {
		delete(l.held, id)
		if h.idle != nil {
			h.idle.Stop()
		}
	}
	l.mu.Unlock()
	if h == nil {
		return nil
	}
	root, err := l.open()
	if err != nil {
		return h.lock.Unlock()
	}
	defer root.Close()
	return h.release(root, id)
}

// release unlocks, and removes the file if nobody else has it.
func (h *holder) release(root *os.Root, id string) error {
	if h.file == firstLock(id) {
		_ = root.Remove(h.file) // Windows cannot remove an open file; a leftover does no harm
		return h.lock.Unlock()
	}
	err := h.lock.Unlock()
	if err == nil {
		_, err = unshared(root, id)
	}
	return err
}

// End ends a connection: others may resume the agents that only it acted as.
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

// Close releases all agents. A process that exits need not call it.
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

// Holds reports whether this process has an agent.
func (l *Locks) Holds(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[id] != nil
}

// Registered records which agent a connection registered last.
func (l *Locks) Registered(session, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions[session] = id
}

// Agent is the agent that a connection registered last, or empty.
func (l *Locks) Agent(session string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sessions[session]
}
