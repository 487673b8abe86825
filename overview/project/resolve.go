package project

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// observation is what was found at a path.
type observation struct {
	Place         // as it would be recorded
	root   string // the work tree or directory that the path is in
	ID     string // of the identity file
	Remote string
	common string // the repository's common directory, where config and objects are
	head   string // the git directory whose HEAD is the work tree's
	born   bool   // that HEAD is a commit

	ranGit   bool               // git has run, if it was needed
	firsts   []string           // the first commits, sorted, if known
	found    map[Place]presence // the places of similar records
	hasFirst map[string]bool    // hashes of records whose first commits are in the repository, also if amended
	moved    map[string]string  // the present places of moved records, by hash

	learn bool // record news about a known project
	now   time.Time
}

// resolution is the project of an observation.
type resolution struct {
	record  *record
	created bool // the record is new
	ask     bool // git must run first; record is provisional
	changes []change
	notices []string
}

const askAgain = 24 * time.Hour

// decide finds the project of an observation. It uses only the observation and the state. So
// it can run again, under the lock, on a state that another process has changed.
func (a *registry) decide(s *observation) resolution {
	var v resolution
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
			return a.newProject(s, v)
		}
	}
	if r != nil {
		return a.atPlace(r, i, s)
	}
	if s.GitDir != "" {
		return a.moved(s, nil, v)
	}
	if s.ID == "" {
		notice, ask := a.renamed(s)
		if notice != "" {
			v.notices = append(v.notices, notice)
		}
		v = a.newProject(s, v)
		v.ask = ask
		return v
	}
	return a.newProject(s, v)
}

// atPlace is the resolution for an observation at place i of a record: that record, unless another
// repository stands there now.
func (a *registry) atPlace(r *record, i int, s *observation) resolution {
	var v resolution
	p := r.Places[i]
	is := same(r, p, s)
	if is == unknown {
		return resolution{record: r, ask: true}
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

// leaves removes the place of the observation from a record.
func (v *resolution) leaves(r *record, s *observation, notice string, args ...any) {
	v.changes = append(v.changes, change{Put: r.without(s)})
	v.notices = append(v.notices, fmt.Sprintf(notice, args...))
}

// known is the resolution for a record. i is the number of the observed place in the record, or
// negative if the place is new. Its changes are what the observation knows better.
func (v resolution) known(r *record, i int, s *observation) resolution {
	v.record = r
	if !s.learn {
		return v
	}
	if s.born && len(r.FirstCommits) == 0 && !s.ranGit && s.now.Sub(r.AskedAt) > askAgain {
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

// newProject is the resolution for a project that is not recorded.
func (a *registry) newProject(s *observation, v resolution) resolution {
	if s.learn && s.born && !s.ranGit {
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
func same(r *record, p Place, s *observation) answer {
	if p.GitDir == "" || s.GitDir == "" || p.Birth == s.Birth {
		return yes // no repository to be mistaken for, or not a new one
	}
	if !s.ranGit {
		return unknown
	}
	if len(r.FirstCommits) > 0 && len(s.firsts) > 0 {
		if intersect(r.FirstCommits, s.firsts) || s.hasFirst[r.Hash] {
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
func (s *observation) identity() string {
	if s.ID != "" {
		return "id:" + s.ID
	}
	return s.key()
}

// key names the place.
func (s *observation) key() string {
	if s.GitDir != "" {
		return "git:" + s.GitDir
	}
	return "path:" + s.Root
}

// birthKey names the birth mark, beside the keys of places.
func (s *observation) birthKey() string { return "birth:" + s.Birth }

// candidate is a record that what was seen could be, and why it was not followed, if it was not.
type candidate struct {
	*record
	place int    // which one it moved from; negative: it had left before
	why   string // in a notice, after the record's name
}

// candidates are the records that an observation could be, by how sure that is.
type candidates struct {
	moved []candidate // its birth mark, and gone from where it had it
	back  []candidate // its birth mark, from before another repository was taken for it
	clone []candidate // its first commit and remote, and gone
	like  []candidate // in doubt
}

// candidatesFor sorts the records by what they have in common with a repository. It needs git to
// have been asked, unless nothing is in common.
func (a *registry) candidatesFor(s *observation, not *record) (c candidates, ask bool) {
	for _, r := range a.records {
		if r == not || !r.couldBe(s) {
			continue
		}
		if !s.ranGit {
			return c, true
		}
		shares := intersect(r.FirstCommits, s.firsts)
		switch {
		case r.born(s.Birth):
			c.byBirth(r, s, shares)
		case shares:
			c.byCommit(r, s)
		}
	}
	return c, false
}

// byBirth sorts in a record with the birth mark of the observation.
func (c *candidates) byBirth(r *record, s *observation, shares bool) {
	i := slices.IndexFunc(r.Places, func(p Place) bool { return p.Birth == s.Birth && s.found[p] != present })
	isAt := slices.ContainsFunc(r.Places, func(p Place) bool { return p.Birth == s.Birth })
	other := len(r.FirstCommits) > 0 && len(s.firsts) > 0 && !shares && !s.hasFirst[r.Hash]
	switch {
	case isAt && i < 0 && slices.Contains(r.Unlinked, s.key()): // a copy that was unlinked
	case isAt && i < 0:
		c.like = append(c.like, candidate{r, i, "which is still there"})
	case other:
		c.like = append(c.like, candidate{r, i, "which began with another commit"})
	case coarse(s.Birth) && !shares:
		c.like = append(c.like, candidate{r, i, "which may be another"})
	case isAt:
		c.moved = append(c.moved, candidate{r, i, "which is gone too"})
	default:
		c.back = append(c.back, candidate{r, i, "which it may have been"})
	}
}

// byCommit sorts in a record with the first commit of the observation.
func (c *candidates) byCommit(r *record, s *observation) {
	switch at := s.moved[r.Hash]; {
	case !r.gone(s):
		c.like = append(c.like, candidate{r, -1, "which is still there"})
	case at != "":
		c.like = append(c.like, candidate{r, -1, "which is now at " + at})
	case r.ID != "":
		c.like = append(c.like, candidate{r, -1, "which is known by the identity " + r.ID})
	case r.Remote != s.Remote:
		c.like = append(c.like, candidate{r, -1, "which is gone, and had another remote"})
	default:
		c.clone = append(c.clone, candidate{r, -1, "which is gone"})
	}
}

// arrived is the project that a repository is by its birth mark alone.
func (c candidates) arrived(s *observation) (record *record, notice string, ok bool) {
	switch {
	case len(c.moved) == 1:
		record, notice = c.moved[0].follow(s)
	case len(c.moved) == 0 && len(c.back) == 1:
		record, notice = c.back[0].comeBack(s)
	default:
		return nil, "", false
	}
	return record, notice, true
}

// moved is the resolution for a repository at a place that no project has; it is not the one left out.
func (a *registry) moved(s *observation, not *record, v resolution) resolution {
	c, ask := a.candidatesFor(s, not)
	if ask {
		v = a.newProject(s, v)
		v.ask = true
		return v
	}
	next, notice, ok := c.arrived(s)
	byMark := slices.ContainsFunc(c.like, func(l candidate) bool { return l.born(s.Birth) })
	if !ok && len(c.moved)+len(c.back) == 0 && len(c.clone) == 1 && !byMark {
		next, notice = c.clone[0].replace(s)
		ok = true
	}
	if ok {
		v.follows(next, notice)
		return v
	}
	if all := slices.Concat(c.moved, c.back, c.clone, c.like); len(all) > 0 && s.ID == "" {
		v.notices = append(v.notices, doubt(all))
	}
	return a.newProject(s, v)
}

// follows makes the resolution a record that the observation was found to be.
func (v *resolution) follows(r *record, notice string) {
	v.record = r
	v.changes = append(v.changes, change{Put: r})
	v.notices = append(v.notices, notice)
}

// follow is the record of a repository that moved.
func (c candidate) follow(s *observation) (*record, string) {
	from := c.Places[c.place]
	if s.found[from] == recreated {
		return c.with(s, -1), fmt.Sprintf("moved from %s; what is there now belongs to project %s too: run `lean-ctx project unlink %s` to make it a project of its own", from.Root, c.Hash, from.Root)
	}
	next := c.with(s, -1)
	next.Places[c.place] = s.Place
	next.Places = next.Places[:len(c.Places)]
	next.leave(from)
	next.unmark(s.Birth)
	next.Former = slices.DeleteFunc(next.Former, func(f string) bool { return f == s.Root })
	return next, fmt.Sprintf("moved from %s, which is gone (same Git directory); its memory came along", from.Root)
}

// comeBack is the record of a repository for which another was taken meanwhile.
func (c candidate) comeBack(s *observation) (*record, string) {
	if c.gone(s) {
		next, _ := c.replace(s)
		return next, fmt.Sprintf("this is project %s again, formerly at %s: it is the same git directory", c.Hash, c.root())
	}
	next := c.with(s, -1)
	var others, commands []string
	for _, p := range c.Places {
		others = append(others, p.Root)
		commands = append(commands, fmt.Sprintf("`lean-ctx project unlink %s`", p.Root))
	}
	return next, fmt.Sprintf("this is project %s again; while it was away, %s was taken for it, and both belong to it now: %s separates them",
		c.Hash, strings.Join(others, ", "), strings.Join(commands, ", "))
}

// replace is the record of a project that is nowhere but where it was seen.
func (c candidate) replace(s *observation) (*record, string) {
	r := *c.record
	r.Places, r.Former = nil, slices.Clone(r.Former)
	for _, p := range c.Places {
		r.leave(p)
	}
	return r.with(s, -1), fmt.Sprintf("moved from %s, which is gone (same first commit and remote); if this is another project, run `lean-ctx project unlink %s`", c.root(), s.Root)
}

const mostNamed = 3 // projects in one notice

// doubt says which projects were not followed, and what to do.
func doubt(all []candidate) string {
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.Hash, b.Hash) })
	var names []string
	for _, c := range all[:min(len(all), mostNamed)] {
		names = append(names, fmt.Sprintf("project %s (%s), %s", c.Hash, c.root(), c.why))
	}
	to, more := all[0].Hash, ""
	if len(all) > 1 {
		to = "HASH"
	}
	if n := len(all) - len(names); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	return fmt.Sprintf("this repository looks like %s%s. The two have separate memories; run `lean-ctx project link %s` to share one", strings.Join(names, "; "), more, to)
}

// renamed is the notice for a plain directory of which nothing is known: what may be its memory.
func (a *registry) renamed(s *observation) (notice string, ask bool) {
	var gone []*record
	for _, r := range a.records {
		if !r.adjacent(s) {
			continue
		}
		if !s.ranGit {
			return "", true
		}
		if r.gone(s) {
			gone = append(gone, r)
		}
	}
	if len(gone) != 1 {
		return "", false
	}
	r := gone[0]
	return fmt.Sprintf("project %s was at %s, which is gone: if this is that directory under a new name, `lean-ctx project link %s` brings its memory here", r.Hash, r.root(), r.Hash), false
}

// couldBe reports whether a record could be followed to the place of an observation, if it is gone from
// its own.
func (r *record) couldBe(s *observation) bool {
	if slices.Contains(r.Unlinked, s.birthKey()) || slices.Contains(r.Unlinked, s.key()) && !r.born(s.Birth) {
		return false
	}
	// An identity is stronger than likeness; that of a record may be gone with its file.
	if s.ID != "" && (r.ID != "" || !r.born(s.Birth)) {
		return false
	}
	if !r.born(s.Birth) && (len(r.FirstCommits) == 0 || !s.born) {
		return false
	}
	// A work tree beside the first that has a project of its own keeps its name when it moves.
	tree := linkedTree(s.GitDir)
	return !slices.ContainsFunc(r.Places, func(p Place) bool { return linkedTree(p.GitDir) != tree })
}

// born reports whether a repository of a record had a birth mark.
func (r *record) born(birth string) bool {
	return birth != "" && (slices.Contains(r.Marks, birth) || slices.ContainsFunc(r.Places, func(p Place) bool { return p.Birth == birth }))
}

// linkedTree is the name of a work tree beside a repository's first, by its git directory.
func linkedTree(gitDir string) string {
	if parent, name := path.Split(gitDir); strings.HasSuffix(parent, "/worktrees/") {
		return name
	}
	return ""
}
