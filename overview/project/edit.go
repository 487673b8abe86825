package project

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Link makes the place of a path part of the recorded project that ref names (see Show). What
// was remembered there under another hash stays under that hash, and a notice says so.
func (p *Atlas) Link(ctx context.Context, path, ref string) (Project, error) {
	s, err := p.look(path)
	if err != nil {
		return Project{}, err
	}
	if s.ID != "" {
		return Project{}, fmt.Errorf("%s says which project this is: change %s instead", s.idFile(), idFileName)
	}
	if err := p.ask(ctx, s); err != nil {
		return Project{}, err
	}
	var out Project
	err = p.update(ctx, func(a *atlas, now time.Time) ([]change, error) {
		s.now = now
		to, err := a.named(ref)
		if err != nil {
			return nil, err
		}
		from, _ := a.at(s)
		if from != nil && from.Hash == to.Hash {
			out = to.project()
			return nil, nil
		}
		var changes []change
		var notices []string
		if from != nil {
			changes = append(changes, change{Put: from.without(s)})
			notices = []string{fmt.Sprintf("what was remembered here before stays in project %s", from.Hash)}
		}
		next := to.with(s, to.placeOf(s))
		next.Apart = slices.DeleteFunc(slices.Clone(next.Apart), func(k string) bool { return k == s.key() || k == s.birthKey() })
		out = next.project()
		out.Notices = notices
		return append(changes, change{Put: next}), nil
	})
	return out, err
}

// Unlink takes the place of a path out of its project; the path is a project of its own from
// then on, a repository the one it was before it was linked, and is not followed back. The
// project keeps its memory.
func (p *Atlas) Unlink(ctx context.Context, path string) (Project, error) {
	s, err := p.look(path)
	if err != nil {
		return p.unlinkGone(ctx, path, err)
	}
	if s.ID != "" {
		return Project{}, fmt.Errorf("%s says which project this is: remove or change it", s.idFile())
	}
	return p.take(ctx, s, path)
}

// unlinkGone takes out a place that is no more.
func (p *Atlas) unlinkGone(ctx context.Context, path string, cause error) (Project, error) {
	root, err := absolute(path)
	if err != nil {
		return Project{}, errors.Join(cause, err)
	}
	out, err := p.take(ctx, &sight{Place: Place{Root: root}, root: root}, path)
	if isNotFound(err) {
		return Project{}, cause
	}
	return out, err
}

func (p *Atlas) take(ctx context.Context, s *sight, path string) (Project, error) {
	var out Project
	err := p.update(ctx, func(a *atlas, _ time.Time) ([]change, error) {
		r, i := a.at(s)
		if r == nil {
			return nil, notRecorded(path)
		}
		gone := *s
		gone.Place = r.Places[i]
		next := r.without(&gone)
		next.unmark(gone.Birth)
		next.Apart = append(slices.Clone(next.Apart), gone.key())
		if gone.Birth != "" && !next.born(gone.Birth) { // else it was a copy of what stays
			next.Apart = append(next.Apart, gone.birthKey())
		}
		slices.Sort(next.Apart)
		next.Apart = slices.Compact(next.Apart)
		out = next.project()
		return []change{{Put: next}}, nil
	})
	return out, err
}

// Forgotten is a project that is no longer in the map.
type Forgotten struct {
	Project
	Data string `json:"data"` // where its facts are, relative to the data directory; not removed
}

// Forget takes a project (see Show) out of the map. Its data stay where they are until the
// caller removes them, and its hash is never given to another project.
func (p *Atlas) Forget(ctx context.Context, ref string) (Forgotten, error) {
	found, err := p.Show(ctx, ref)
	if err != nil {
		return Forgotten{}, err
	}
	err = p.update(ctx, func(a *atlas, now time.Time) ([]change, error) {
		if a.records[found.Hash] == nil {
			return nil, notRecorded(ref)
		}
		return []change{{Forget: found.Hash}}, nil
	})
	return Forgotten{Project: found, Data: "knowledge/" + found.Hash}, err
}
