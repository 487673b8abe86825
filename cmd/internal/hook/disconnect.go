package hook

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/cmd/internal/hook/linediff"
)

// Disconnect takes out what is ours.
func (p Place) Disconnect(w Wish) (Report, error) {
	scope := orUser(w.Scope)
	log, err := p.record()
	if err != nil {
		return Report{}, err
	}
	chosen, err := choose(w.Clients, func(*client) bool { return true })
	if err != nil {
		return Report{}, err
	}
	r := Report{Files: []Touched{}}
	// The last step first: a file that two clients share was edited in their order.
	for _, c := range slices.Backward(chosen) {
		for _, s := range slices.Backward(c.steps(p, scope)) {
			f := s.disconnect(log, w.DryRun)
			if f.Outcome == nothing && len(w.Clients) == 0 {
				continue
			}
			r.Files = append(r.Files, f)
		}
	}
	slices.Reverse(r.Files)
	if len(w.Clients) == 0 || len(log.Files) == 1 && log.of(p.advice()) != nil {
		if f := p.advice().disconnect(log, w.DryRun); f.Outcome != nothing {
			r.Files = append(r.Files, f)
		}
	}
	if len(r.Files) == 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("Nothing is connected in scope %s.", scope))
	}
	if w.DryRun {
		return r, nil
	}
	return r, p.save(log)
}

// disconnect undoes one step.
func (s step) disconnect(log *record, dry bool) Touched {
	r := Touched{Client: s.client, Scope: s.scope, Path: s.path, Outcome: nothing, program: s.run}
	was := log.of(s)
	f, err := readFile(s.path)
	if err != nil {
		if _, odd := errors.AsType[*FileError](err); odd && was == nil {
			return r // no file that we could have written
		}
		return s.leave(r, err)
	}
	if f.new || (was == nil || sum(f.data) != was.After) && !bytes.Contains(f.data, []byte(server)) {
		if f.new && was != nil && !dry {
			dropDirectories(was.Dirs)
		}
		log.forget(s)
		return r
	}
	data, gone, err := s.without(f.data, was)
	if err != nil {
		return s.leave(r, err)
	}
	if !gone && string(data) == string(f.data) {
		log.forget(s)
		return r
	}
	if dry {
		r.Outcome, r.Diff = wouldRestore, linediff.Show(f.data, data)
		return r
	}
	r.Outcome = removed
	if gone {
		if err = f.unchanged(); err == nil {
			err = os.Remove(f.path)
		}
	} else {
		err = f.write(data)
	}
	if err != nil {
		return s.leave(r, err)
	}
	if gone && was != nil {
		dropDirectories(was.Dirs)
	}
	log.forget(s)
	return r
}

// without is a file without what is ours, or that it should go.
func (s step) without(data []byte, was *change) (rest []byte, gone bool, err error) {
	if was != nil && sum(data) == was.After {
		if before, ok := undo(data, was.Edits); ok && (was.New || sum(before) == was.Before) {
			return before, was.New && len(before) == 0, nil
		}
	}
	if s.format == whole {
		return data, isOurs(data), nil
	}
	t := &text{data: slices.Clone(data)}
	changed, err := s.clear(t, was)
	if err != nil || !changed {
		return data, false, err
	}
	made := s.holders()
	if was != nil {
		made = was.Made
	}
	switch {
	case s.format == jsonc:
		err = t.prune(made)
	case s.format == yaml && len(made) > 0:
		err = t.dropKey(made[0][0])
	}
	if err != nil {
		return data, false, err
	}
	ours := was != nil && was.New || strings.HasPrefix(filepath.Base(s.path), server)
	return t.data, ours && s.empty(t.data), nil
}
