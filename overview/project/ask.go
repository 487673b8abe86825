package project

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/internal/journal"
)

// presence is what was found at a place of a record. What was not looked at counts as there.
type presence int

const (
	there   presence = iota
	renewed          // a repository with another birth mark, that is or may be the same one made anew
	vacant           // nothing, or another repository
)

// ask finds out what a verdict lacked: the first commits of the repository that was seen, what
// has become of the projects that are like it, and of those that were beside a plain directory.
func (p *Atlas) ask(ctx context.Context, s *sight) error {
	s.asked = true
	var records []*record
	if err := p.log.View(ctx, func(a *atlas, _ journal.Head) error {
		for _, r := range a.records {
			records = append(records, r)
		}
		return nil
	}); err != nil {
		return err
	}
	if s.common != "" && s.born {
		s.firsts = p.firstCommits(ctx, s.common, s.head)
	}
	s.found, s.kept, s.elsewhere = map[Place]presence{}, map[string]bool{}, map[string]string{}
	for _, r := range records {
		if !r.born(s.Birth) && !intersect(r.FirstCommits, s.firsts) && !r.beside(s) {
			continue
		}
		for _, place := range r.Places {
			s.found[place] = p.presence(ctx, r, place)
		}
		if s.GitDir == "" {
			continue
		}
		if !intersect(r.FirstCommits, s.firsts) {
			s.kept[r.Hash] = p.has(ctx, s.common, r.FirstCommits)
		} else if !r.born(s.Birth) && r.gone(s) {
			s.elsewhere[r.Hash] = r.sibling(s)
		}
	}
	return ctx.Err()
}

// presence tells whether the repository, or directory, of a record is at a place of it.
func (p *Atlas) presence(ctx context.Context, r *record, place Place) presence {
	if !place.standing() {
		return vacant
	}
	if place.GitDir == "" || birth(place.GitDir) == place.Birth {
		return there
	}
	now := p.firstCommits(ctx, commonDir(place.GitDir), "")
	if len(now) > 0 && len(r.FirstCommits) > 0 && !intersect(r.FirstCommits, now) {
		return vacant
	}
	return renewed
}

// gone reports whether a record is at none of its places.
func (r *record) gone(s *sight) bool {
	return !slices.ContainsFunc(r.Places, func(p Place) bool { return s.found[p] != vacant })
}

// beside reports whether a record, and what was seen, are plain directories side by side.
func (r *record) beside(s *sight) bool {
	if s.GitDir != "" || s.ID != "" || r.ID != "" || slices.Contains(r.Apart, s.key()) {
		return false
	}
	isPlain := func(p Place) bool { return p.GitDir == "" }
	isNear := func(p Place) bool { return path.Dir(p.Root) == path.Dir(s.Root) }
	return slices.ContainsFunc(r.Places, isNear) && !slices.ContainsFunc(r.Places, func(p Place) bool { return !isPlain(p) })
}

const mostSiblings = 1000 // directories to look into for a repository that was renamed

// sibling is where a repository of a record is now, if that is beside one of its former
// places or beside what was seen.
func (r *record) sibling(s *sight) string {
	parents := []string{path.Dir(s.Root)}
	for _, p := range r.Places {
		parents = append(parents, path.Dir(p.Root))
	}
	for _, root := range r.Former {
		parents = append(parents, path.Dir(root))
	}
	slices.Sort(parents)
	for _, parent := range slices.Compact(parents) {
		dir, err := os.Open(parent)
		if err != nil {
			continue
		}
		names, _ := dir.Readdirnames(mostSiblings) // what cannot be read is not found
		dir.Close()
		for _, name := range names {
			for _, at := range []string{filepath.Join(parent, name, ".git"), filepath.Join(parent, name)} {
				if slashed(at) != s.GitDir && isGitDir(at) && r.born(birth(at)) {
					return strings.TrimSuffix(slashed(at), "/.git")
				}
			}
		}
	}
	return ""
}
