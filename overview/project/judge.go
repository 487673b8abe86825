package project

import (
	"fmt"
	"slices"
	"time"
)

// sight is what was seen at a path.
type sight struct {
	Place         // as it would be recorded
	root   string // the work tree or directory that the path is in
	ID     string // of the identity file
	Remote string
	common string // the repository's common directory, where config and objects are
	head   string // the git directory whose HEAD is the work tree's
	born   bool   // that HEAD is a commit

	asked     bool               // git was asked, if there was reason to
	firsts    []string           // the first commits, sorted, if git knew
	found     map[Place]presence // what is at the places of the records that are like it
	kept      map[string]bool    // records, by hash, whose first commits are in the repository, if only as what was amended
	elsewhere map[string]string  // where records, by hash, are that left their places

	learn bool // what is new about a known project is worth a write
	now   time.Time
}

// verdict is which project a sight is.
type verdict struct {
	record  *record
	created bool // the record is new
	ask     bool // git has to be asked first; record is what it looks like till then
	changes []change
	notices []string
}

const askAgain = 24 * time.Hour

// judge decides which project a sight is. It looks at nothing but the sight and the state, so
// that it can run again, under the lock, on a state that another process changed meanwhile.
func (a *atlas) judge(s *sight) verdict {
	var v verdict
	r, i := a.at(s)
	if s.ID != "" {
		if named := a.byID(s.ID); named != nil {
			if r != nil && r != named {
				v.leaves(r, s, "the identity file names another project: what was remembered here before stays in project %s", r.Hash)
			}
			return v.known(named, named.placeOf(s), s)
		}
		if r != nil && r.ID != "" {
			v.leaves(r, s, "the identity file changed: what was remembered here before stays in project %s", r.Hash)
			return a.fresh(s, v)
		}
	}
	if r != nil {
		return a.standing(r, i, s)
	}
	if s.GitDir != "" {
		return a.moved(s, nil, v)
	}
	if s.ID == "" {
		notice, ask := a.renamed(s)
		if notice != "" {
			v.notices = append(v.notices, notice)
		}
		v = a.fresh(s, v)
		v.ask = ask
		return v
	}
	return a.fresh(s, v)
}

// standing is the verdict for a sight at place i of a record: that record, unless another
// repository stands there now.
func (a *atlas) standing(r *record, i int, s *sight) verdict {
	var v verdict
	p := r.Places[i]
	is := same(r, p, s)
	if is == unknown {
		return verdict{record: r, ask: true}
	}
	const left = "another repository used to be at %s: its memory stays in project %s (`lean-ctx project link` if it is the same after all)"
	if p.GitDir != "" && s.GitDir != "" && p.Birth != s.Birth && !r.born(s.Birth) {
		c, _ := a.candidatesFor(s, r)
		if next, notice, ok := c.arrived(s); ok {
			v.leaves(r, s, left, s.root, r.Hash)
			v.follows(next, notice)
			return v
		}
	}
	if is == yes {
		return v.known(r, i, s)
	}
	v.leaves(r, s, left, s.root, r.Hash)
	return a.moved(s, r, v)
}

// leaves takes the place of the sight out of a record.
func (v *verdict) leaves(r *record, s *sight, notice string, args ...any) {
	v.changes = append(v.changes, change{Put: r.without(s)})
	v.notices = append(v.notices, fmt.Sprintf(notice, args...))
}

// known is the verdict for a record, of whose places the sight is number i, or a new one if i
// is negative; changes are what the sight knows better.
func (v verdict) known(r *record, i int, s *sight) verdict {
	v.record = r
	if !s.learn {
		return v
	}
	if s.born && len(r.FirstCommits) == 0 && !s.asked && s.now.Sub(r.AskedAt) > askAgain {
		v.ask = true
		return v
	}
	next := r.with(s, i)
	if !next.equal(r) {
		v.record, v.changes = next, append(v.changes, change{Put: next})
	}
	return v
}

func (r *record) equal(o *record) bool {
	return r.ID == o.ID && r.Remote == o.Remote && r.AskedAt.Equal(o.AskedAt) &&
		slices.Equal(r.FirstCommits, o.FirstCommits) && slices.Equal(r.Places, o.Places) && slices.Equal(r.Former, o.Former) && slices.Equal(r.Marks, o.Marks)
}

// fresh is the verdict for a project that is not recorded.
func (a *atlas) fresh(s *sight, v verdict) verdict {
	if s.learn && s.born && !s.asked {
		v.ask = true
	}
	r := &record{Hash: a.free(s.identity()), CreatedAt: s.now, Places: []Place{s.Place}}
	r.learn(s)
	v.record, v.created = r, true
	v.changes = append(v.changes, change{Put: r})
	return v
}

type answer int

const (
	no answer = iota
	yes
	unknown // until git was asked
)

// same reports whether the repository at a recorded place is still the recorded one.
func same(r *record, p Place, s *sight) answer {
	if p.GitDir == "" || s.GitDir == "" || p.Birth == s.Birth {
		return yes // no repository to be mistaken for, or not a new one
	}
	if !s.asked {
		return unknown
	}
	if len(r.FirstCommits) > 0 && len(s.firsts) > 0 {
		if intersect(r.FirstCommits, s.firsts) || s.kept[r.Hash] {
			return yes
		}
		return no
	}
	// Shallow, without a commit, or no git at hand: only the remote can speak for it.
	if r.Remote != "" && r.Remote == s.Remote {
		return yes
	}
	return no
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// identity is what the hash of a new project is made of.
func (s *sight) identity() string {
	if s.ID != "" {
		return "id:" + s.ID
	}
	return s.key()
}

// key names the place.
func (s *sight) key() string {
	if s.GitDir != "" {
		return "git:" + s.GitDir
	}
	return "path:" + s.Root
}

// birthKey names the birth mark, beside the keys of places.
func (s *sight) birthKey() string { return "birth:" + s.Birth }
