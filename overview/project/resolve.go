package project

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// observation is what was found at a path.
type observation struct {
	Place              // as it would be recorded
	path      string   // as it was given
	refused   []string // tops of repositories that git does not accept
	home      string   // the user's: no project unless it is the path itself
	root      string   // the work tree or directory that the path is in
	ID        string   // of the identity file: a claim
	taken     bool     // another project has that identity
	Remote    string
	common    string   // the repository's common directory, where config and objects are
	hasCommit bool     // its HEAD is a commit
	gitRoot   string   // the top of the work tree or bare repository; also if the identity file is below
	secretDir string   // its common directory
	stats     stats    // of files in it
	secrets   []string // in it
	foreign   bool     // it is another user's: git must accept it
	refusal   string   // why the repository is not used
	ended     bool     // it is the end all the same: what is above belongs to somebody else

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
	r, i := a.find(s)
	if r == nil && s.gitRoot != "" && !s.ranGit { // does git accept it?
		v = a.newProject(s, v)
		v.needsGit = true
		return v
	}
	named := a.claimed(s, r)
	if s.taken = named != nil; s.taken && r != nil && s.ID != r.Places[i].Claim {
		v.notices = append(v.notices, fmt.Sprintf("%s says that this is project %s (%s), which only you can confirm: `lean-ctx project link %[2]s`", s.idFile(), named.Hash, named.root()))
	}
	switch {
	case r != nil:
		return a.atPlace(r, i, s, v)
	case named != nil && named.opensTo(s) && !slices.Contains(named.Unlinked, s.key()):
		s.taken = false
		return v.known(named, named.placeOf(s), s)
	}
	return a.moved(s, v)
}

// claimed is the project, other than r, that has the identity of an observation.
func (a *registry) claimed(s *observation, r *record) *record {
	if s.ID == "" || r != nil && r.ID == s.ID {
		return nil
	}
	for _, other := range a.records {
		if other != r && other.ID == s.ID {
			return other
		}
	}
	return nil
}

// opensTo reports whether an observation has a project's secret.
func (r *record) opensTo(s *observation) bool {
	return r.Secret != "" && slices.Contains(s.secrets, r.Secret)
}

// find finds the record with the place of an observation, or with the nearest place above a
// directory that is in no repository.
func (a *registry) find(s *observation) (*record, int) {
	r, i := a.at(s)
	if r == nil && s.gitRoot == "" && s.ID == "" && !s.ended {
		return a.above(s)
	}
	return r, i
}

// above finds the nearest project above a directory that is in no repository, and has the
// observation be of it.
func (a *registry) above(s *observation) (*record, int) {
	for dir := path.Dir(s.Root); dir != s.home && path.Dir(dir) != dir; dir = path.Dir(dir) {
		for _, r := range a.records {
			i := slices.IndexFunc(r.Places, func(p Place) bool { return p.Root == dir && (p.GitDir == "" || !p.exists()) })
			if i >= 0 {
				s.Root, s.root, s.Birth = dir, dir, directoryID(filepath.FromSlash(dir))
				return r, i
			}
		}
	}
	return nil, 0
}

// atPlace is the resolution for an observation at place i of a record: that record, unless
// another repository is there now.
func (a *registry) atPlace(r *record, i int, s *observation, v resolution) resolution {
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
	next.giveSecret(s)
	if !next.equal(r) {
		v.record, v.changes = next, append(v.changes, change{Put: next})
	}
	return v
}

func (r *record) equal(o *record) bool {
	return r.ID == o.ID && r.Secret == o.Secret && r.Remote == o.Remote && r.ListedAt.Equal(o.ListedAt) &&
		slices.Equal(r.FirstCommits, o.FirstCommits) && slices.Equal(r.Places, o.Places) && slices.Equal(r.Former, o.Former)
}

// newProject is the resolution for a project that is not recorded.
func (a *registry) newProject(s *observation, v resolution) resolution {
	if s.learn && s.hasCommit && !s.ranGit {
		v.needsGit = true
	}
	r := &record{Hash: a.free(s.key()), CreatedAt: s.now, Places: []Place{s.Place}}
	r.learn(s)
	if s.learn {
		r.giveSecret(s)
	}
	v.record, v.created = r, true
	v.changes = append(v.changes, change{Put: r})
	return v
}

// key names the place.
func (s *observation) key() string {
	if s.GitDir != "" {
		return "git:" + s.GitDir
	}
	return "path:" + s.Root
}

// moved is the resolution for a place that no project has. It is the one project that is gone
// from all its places and whose secret is here, else a new one. A directory without a
// repository is the one that is gone, if it is the same directory and has the same identity file.
func (a *registry) moved(s *observation, v resolution) resolution {
	var gone, like []*record
	placed := func(r *record) bool { return len(r.Places) > 0 }
	why := map[*record]string{}
	for _, r := range a.records {
		if !r.couldBe(s) {
			continue
		}
		proven := r.opensTo(s) || r.sameDirectory(s)
		switch {
		case !proven && !r.similar(s):
			continue
		case slices.ContainsFunc(r.Places, Place.exists):
			why[r] = "which is still there"
		case !proven:
			why[r] = "which is gone"
		default:
			gone, why[r] = append(gone, r), "which is gone too"
		}
		like = append(like, r)
	}
	if slices.ContainsFunc(gone, placed) { // the others were left before
		gone = slices.DeleteFunc(gone, func(r *record) bool { return !placed(r) })
	}
	if len(gone) == 1 {
		s.taken = false
		next := gone[0].replaced(s)
		next.giveSecret(s)
		v.record, v.changes = next, append(v.changes, change{Put: next})
		v.notices = append(v.notices, fmt.Sprintf("moved from %s, which is gone; if this is another project, run `lean-ctx project unlink %s`", gone[0].root(), s.Root))
		return v
	}
	if len(like) > 0 {
		v.notices = append(v.notices, doubt(like, why))
	}
	return a.newProject(s, v)
}

// sameDirectory reports whether a directory without a repository is the one of a project that never had
// one, under another path, with its identity file. That the path is gone proves nothing: its disk may be
// away, and an archive can bring any identity. The caller finds out whether it is gone.
func (r *record) sameDirectory(s *observation) bool {
	same := func(p Place) bool { return p.Birth != "" && p.Birth == s.Birth }
	return s.gitRoot == "" && s.ID != "" && s.ID == r.ID && r.plain() && slices.ContainsFunc(r.Places, same)
}

// plain reports whether a project was never in a repository.
func (r *record) plain() bool {
	return r.Secret == "" && !slices.ContainsFunc(r.Places, func(p Place) bool { return p.GitDir != "" })
}

// similar reports whether a record is worth a hint: it proves nothing.
func (r *record) similar(s *observation) bool {
	if s.ID != "" {
		return s.ID == r.ID || r.ID == "" && intersect(r.FirstCommits, s.firstCommits)
	}
	moved := s.gitRoot == "" && r.plain() && len(r.Places) > 0 && (projectName(r.root()) == projectName(s.root) || r.wasDirectory(s)) && !slices.ContainsFunc(r.Places, Place.exists)
	return moved || intersect(r.FirstCommits, s.firstCommits)
}

// wasDirectory reports whether a directory looks like that of a project under another name. Its number
// alone says little, since a file system gives it out again: something in the directory must be older
// than the project.
func (r *record) wasDirectory(s *observation) bool {
	if !slices.ContainsFunc(r.Places, func(p Place) bool { return p.Birth != "" && p.Birth == s.Birth }) {
		return false
	}
	older := func(info fs.FileInfo, err error) bool { return err == nil && info.ModTime().Before(r.CreatedAt) }
	dir, err := os.Open(filepath.FromSlash(s.Root))
	if err != nil {
		return false
	}
	defer dir.Close()
	if older(dir.Stat()) {
		return true
	}
	const looked = 100
	entries, _ := dir.ReadDir(looked)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return older(e.Info()) })
}

// giveSecret gives a project in a repository a secret, if it has none.
func (r *record) giveSecret(s *observation) {
	if r.Secret == "" && s.secretDir != "" {
		r.Secret = newSecret()
	}
}

// couldBe reports whether a record may be followed to the place of an observation.
func (r *record) couldBe(s *observation) bool {
	if slices.Contains(r.Unlinked, s.key()) || len(r.Places) == 0 && len(r.Unlinked) > 0 {
		return false
	}
	if s.ID != "" && r.ID != "" && s.ID != r.ID { // an identity is stronger than likeness
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
	return fmt.Sprintf("this looks like %s%s. %s; run `lean-ctx project link %s` to share one", strings.Join(names, "; "), more, apart, to)
}

// linkedTree is the name of a work tree beside a repository's first, by its git directory.
func linkedTree(gitDir string) string {
	if parent, name := path.Split(gitDir); strings.HasSuffix(parent, "/worktrees/") {
		return name
	}
	return ""
}
