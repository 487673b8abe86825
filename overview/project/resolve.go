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
	Place            // as it would be recorded
	root      string // the work tree or directory that the path is in
	ID        string // of the identity file
	Remote    string
	common    string // the repository's common directory, where config and objects are
	head      string // the git directory whose HEAD is the work tree's
	hasCommit bool   // that HEAD is a commit

	ranGit       bool     // git has run, if it was needed
	firstCommits []string // the first commits, sorted, if known

	learn bool // record news about a known project
	now   time.Time
}

// resolution is the project of an observation.
type resolution struct {
	record   *record
	created  bool // the record is new
	needsGit bool // git must run first; record is provisional
	changes  []change
	notices  []string
}

const listAgain = 24 * time.Hour

// decide finds the project of an observation. It uses the observation, the state, and whether
// recorded places still exist. So it can run again, under the lock, on a state that another
// process has changed.
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
		return a.moved(s, v)
	}
	return a.newProject(s, v)
}

// atPlace is the resolution for an observation at place i of a record: that record, unless
// another repository is there now.
func (a *registry) atPlace(r *record, i int, s *observation) resolution {
	var v resolution
	if p := r.Places[i]; p.GitDir != "" && s.GitDir != "" && p.Birth != s.Birth {
		if !s.ranGit {
			return resolution{record: r, needsGit: true}
		}
		if !r.same(s) {
			v.leaves(r, s, "another repository used to be at %s: its memory stays in project %[2]s (`lean-ctx project link %[2]s` if it is the same after all)", s.root, r.Hash)
			return a.moved(s, v)
		}
	}
	return v.known(r, i, s)
}

// same reports whether the repository of a record was rebuilt at its place.
func (r *record) same(s *observation) bool {
	if len(r.FirstCommits) > 0 && len(s.firstCommits) > 0 {
		return intersect(r.FirstCommits, s.firstCommits)
	}
	// Shallow, without a commit, or no git at hand: only the remote can speak for it.
	return r.Remote != "" && r.Remote == s.Remote
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
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
	if s.hasCommit && len(r.FirstCommits) == 0 && !s.ranGit && s.now.Sub(r.ListedAt) > listAgain {
		v.needsGit = true
		return v
	}
	next := r.with(s, i)
	if !next.equal(r) {
		v.record, v.changes = next, append(v.changes, change{Put: next})
	}
	return v
}

func (r *record) equal(o *record) bool {
	return r.ID == o.ID && r.Remote == o.Remote && r.ListedAt.Equal(o.ListedAt) &&
		slices.Equal(r.FirstCommits, o.FirstCommits) && slices.Equal(r.Places, o.Places) && slices.Equal(r.Former, o.Former)
}

// newProject is the resolution for a project that is not recorded.
func (a *registry) newProject(s *observation, v resolution) resolution {
	if s.learn && s.hasCommit && !s.ranGit {
		v.needsGit = true
	}
	r := &record{Hash: a.free(s.identity()), CreatedAt: s.now, Places: []Place{s.Place}}
	r.learn(s)
	v.record, v.created = r, true
	v.changes = append(v.changes, change{Put: r})
	return v
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

// moved is the resolution for a repository at a place that no project has. It is the one
// project with the same first commit and remote that is gone from all its places, else a new one.
func (a *registry) moved(s *observation, v resolution) resolution {
	if s.hasCommit && !s.ranGit && len(a.records) > 0 {
		v = a.newProject(s, v)
		v.needsGit = true
		return v
	}
	var gone, like []*record
	placed := func(r *record) bool { return len(r.Places) > 0 }
	why := map[*record]string{}
	for _, r := range a.records {
		if !intersect(r.FirstCommits, s.firstCommits) || !r.couldBe(s) {
			continue
		}
		switch {
		case slices.ContainsFunc(r.Places, Place.exists):
			why[r] = "which is still there"
		case r.ID != "":
			why[r] = "which is known by the identity " + r.ID
		case r.Remote != s.Remote:
			why[r] = "which is gone, and had another remote"
		default:
			gone, why[r] = append(gone, r), "which is gone too"
		}
		like = append(like, r)
	}
	if slices.ContainsFunc(gone, placed) { // the others were left before
		gone = slices.DeleteFunc(gone, func(r *record) bool { return !placed(r) })
	}
	if len(gone) == 1 {
		next := gone[0].replaced(s)
		v.record, v.changes = next, append(v.changes, change{Put: next})
		v.notices = append(v.notices, fmt.Sprintf("moved from %s, which is gone (same first commit and remote); if this is another project, run `lean-ctx project unlink %s`", gone[0].root(), s.Root))
		return v
	}
	if len(like) > 0 && s.ID == "" {
		v.notices = append(v.notices, doubt(like, why))
	}
	return a.newProject(s, v)
}

// couldBe reports whether a record may be followed to the place of an observation.
func (r *record) couldBe(s *observation) bool {
	if slices.Contains(r.Unlinked, s.key()) || len(r.Places) == 0 && len(r.Unlinked) > 0 {
		return false
	}
	if s.ID != "" && r.ID != "" { // an identity is stronger than likeness
		return false
	}
	// A linked work tree with a separate project keeps its name when it moves.
	tree := linkedTree(s.GitDir)
	return !slices.ContainsFunc(r.Places, func(p Place) bool { return linkedTree(p.GitDir) != tree })
}

// replaced is the record of a project that is nowhere but where it was seen.
func (r *record) replaced(s *observation) *record {
	next := *r
	next.Places, next.Former = nil, slices.Clone(r.Former)
	for _, p := range r.Places {
		next.leave(p)
	}
	return next.with(s, -1)
}

const maxNamed = 3 // projects in one notice

// doubt says which projects were not followed, why, and what to do.
func doubt(all []*record, why map[*record]string) string {
	slices.SortFunc(all, func(a, b *record) int { return strings.Compare(a.Hash, b.Hash) })
	var names []string
	for _, r := range all[:min(len(all), maxNamed)] {
		names = append(names, fmt.Sprintf("project %s (%s), %s", r.Hash, r.root(), why[r]))
	}
	to, more, apart := all[0].Hash, "", "The two have separate memories"
	if len(all) > 1 {
		to, apart = "HASH", "Each has a separate memory"
	}
	if n := len(all) - len(names); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	return fmt.Sprintf("this repository looks like %s%s. %s; run `lean-ctx project link %s` to share one", strings.Join(names, "; "), more, apart, to)
}

// linkedTree is the name of a work tree beside a repository's first, by its git directory.
func linkedTree(gitDir string) string {
	if parent, name := path.Split(gitDir); strings.HasSuffix(parent, "/worktrees/") {
		return name
	}
	return ""
}
