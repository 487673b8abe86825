package journal

import "encoding/json"

// catchUp folds what others committed. mu is held; locked tells whether the
// file lock is too.
func (l *Log[S, E]) catchUp(locked bool) error {
	if !l.loaded || locked && l.d.untidy {
		return l.load(locked)
	}
	if !locked && l.inflight.Load() {
		return nil // nobody but us can have written, and what we write is not synced yet
	}
	lines, ok, err := l.d.follow(locked)
	if err != nil || !ok {
		l.loaded = false // the position may have moved
	}
	if err != nil {
		return err
	}
	if !ok {
		return l.load(locked)
	}
	state, err := l.foldLines(l.state, lines)
	if err != nil {
		l.loaded = false
		return err
	}
	l.setState(state)
	return nil
}

func (l *Log[S, E]) setState(s S) {
	l.state, l.head = s, l.d.pos.reached()
	l.loaded = true
}

// foldLines decodes and folds. mu is held.
func (l *Log[S, E]) foldLines(s S, lines []line) (S, error) {
	for _, ln := range lines {
		if ln.lost {
			continue
		}
		var c Commit[E]
		if err := json.Unmarshal(ln.body, &c); err != nil {
			return s, l.d.errorf(l.d.n.journal, ErrCorrupt, "commit %d is intact but not understood, it may be of a newer program; nothing is written: %w", ln.seq, err)
		}
		s = l.m.Fold(s, c)
		l.d.pos.at = c.At
	}
	return s, nil
}

// loadTries is how often a reader begins anew when the files changed under it.
const loadTries = 4

// load reads the state from the files, and under the lock repairs them. mu is held.
func (l *Log[S, E]) load(locked bool) error {
	l.loaded, l.started = false, false
	if !locked && !l.inflight.Load() { // a writer has the directory open and needs it as it is
		if err := l.d.attach(false); err != nil {
			return err
		}
	}
	if !locked && l.start() {
		return nil
	}
	l.offer(locked)
	for try := 1; ; try++ {
		if l.d.fs == nil {
			l.d.closeJournal()
			l.d.keepOpen(nil)
			l.setState(l.m.New())
			return nil
		}
		r, err := l.d.gather()
		if !locked && try < loadTries && l.d.unsettled(r, err) {
			r.close()
			continue
		}
		if err != nil {
			return err
		}
		return l.take(r, locked)
	}
}

// take makes what was read the state.
func (l *Log[S, E]) take(r *recovery, locked bool) (err error) {
	defer func() {
		if err != nil {
			r.close()
			l.d.closeJournal()
		}
	}()
	s := l.m.New()
	if r.snap != nil {
		if s, err = l.stateOf(r.snap); err != nil {
			return err
		}
	}
	l.d.pos.at = r.pos.at
	if s, err = l.foldLines(s, r.lines); err != nil {
		return err
	}
	r.pos.at = l.d.pos.at
	if !locked {
		l.d.adopt(r)
		l.d.warn(r, l.d.n.journal, false)
	} else if err := l.d.repair(r); err != nil {
		return err
	}
	l.d.untidy = r.untidy && !locked
	l.lost = r.allLost()
	l.d.keepOpen(r.snap)
	l.setState(s)
	return nil
}

// start takes the state of a Starter and what was committed after it. It fails
// when anything about the files is unusual; load then says what it is. mu is held.
func (l *Log[S, E]) start() bool {
	m, ok := l.m.(Starter[S])
	if !ok || l.d.fs == nil {
		return false
	}
	var r *recovery
	s, ok := m.Start(func(at Head) bool {
		r.close()
		r = l.d.resume(at)
		return r != nil
	})
	if !ok || r == nil {
		r.close()
		return false
	}
	l.d.pos.at = r.pos.at
	s, err := l.foldLines(s, r.lines)
	if err != nil {
		r.close()
		return false
	}
	r.pos.at = l.d.pos.at
	l.d.adopt(r)
	l.d.untidy, l.lost, l.started = r.untidy, r.allLost(), true
	l.d.keepOpen(nil)
	l.setState(s)
	return true
}
