package ledger

import (
	"iter"
	"strconv"
	"time"

	"leanctx/knowledge/fact"
	"leanctx/knowledge/table"
)

// What is derived from the facts, an index or vectors, is kept up with them in
// one of three ways: by what changed in memory since it was last looked at, by
// what was touched since the instant that is noted with it on disk, or, in
// another epoch, from the beginning.

// lessonsID stands in the list of changed facts for patterns and gotchas.
var lessonsID = fact.ID{}

// Reach says how far somebody has followed a state; the zero one, none. Two are
// compared with ==.
type Reach struct {
	of    *State
	seen  int // how much of its changed list
	epoch uint64
}

// Reach is how far the state is now.
func (s *State) Reach() Reach { return Reach{s, len(s.changed), s.epoch} }

// Of reports whether r is of this state, which then knows what has changed
// since. Else one begins anew.
func (r Reach) Of(s *State) bool { return r.of == s && r.epoch == s.epoch }

// ChangedSince lists the facts whose text changed since r, which is of s, each
// once, and tells whether a pattern or a gotcha did.
func (s *State) ChangedSince(r Reach) (names []fact.ID, lessons bool) {
	seen := map[fact.ID]bool{}
	for _, n := range s.changed[r.seen:] {
		if seen[n] {
			continue
		}
		if seen[n] = true; n == lessonsID {
			lessons = true
			continue
		}
		names = append(names, n)
	}
	return names, lessons
}

// Epoch names the set of facts that older recorded times cannot join: an
// import brings recorded times of its own, an erasure takes facts out.
func (s *State) Epoch() string {
	erased := int64(0)
	for _, t := range s.tombstones {
		erased = max(erased, t.ErasedAt.UnixNano())
	}
	imported, _ := s.Last(NoteImport)
	return strconv.FormatInt(imported.Timestamp.UnixNano(), 36) + "-" + strconv.FormatInt(erased, 36)
}

// TouchedAfter yields the versions that a commit after an instant touched, see
// [fact.Touched], in no order. keep, where it is not nil, tells by the times of
// a version whether it is to be read.
func (s *State) TouchedAfter(at time.Time, keep func(*fact.Version) bool) iter.Seq[*fact.Version] {
	return func(yield func(*fact.Version) bool) {
		for _, vs := range s.all {
			for _, v := range vs {
				if fact.Touched(v).After(at) && (keep == nil || keep(v)) && !yield(v) {
					return
				}
			}
		}
		if s.base == nil {
			return
		}
		var sk table.Sketch
		for i := range s.base.keys.TouchedAfter(at) {
			if s.base.changed[s.base.keys.FactOf(i)] {
				continue
			}
			if keep != nil {
				if s.base.keys.DrawTimes(i, &sk); !keep(&sk.Fact) {
					continue
				}
			}
			if v := s.onDisk(i); v != nil && !yield(v) {
				return
			}
		}
	}
}
