package state

import (
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// The last commit of each author is kept for a day, with what there was before it,
// so that it can be taken back.

// undoWithin is how long a commit can be taken back.
const undoWithin = 24 * time.Hour

// The most that is kept of a commit.
const (
	undoVersions = 1000
	undoBytes    = 256 << 10 // of values
)

// FactOf is the fact, among those that a commit touched, which has a version.
func (k Reader) FactOf(version string, touched []string) (n fact.ID, ok bool) {
	for _, key := range touched {
		name, isFact := strings.CutPrefix(key, "fact ")
		category, rest, _ := strings.Cut(name, "\x00")
		n = fact.ID{Category: category, Key: rest}
		if isFact && Version(k, n, version) != nil {
			return n, true
		}
	}
	return n, false
}

// final is a commit that cannot be taken back, without what it would need for that.
func final(c formats.Commit, why string) formats.Commit {
	return formats.Commit{By: c.By, Kind: c.Kind, At: c.At, Clock: c.Clock, Undo: c.Undo, Final: why}
}

// keepFormer notes in a commit what there is before one of its events. c is nil for
// a commit that nobody signed.
func keepFormer(s *State, c *formats.Commit, k kind) {
	if c == nil || c.Final != "" {
		return
	}
	for _, key := range k.touches {
		if !slices.Contains(c.Touched, key) {
			c.Touched = append(c.Touched, key)
		}
	}
	why := k.final
	if why == "" && k.keep != nil {
		why = k.keep(s, c)
	}
	if why != "" {
		*c = final(*c, why)
	}
}

// keepVersion says why no more can be kept, or nothing.
func keepVersion(s *State, c *formats.Commit, n fact.ID, id string) string {
	if slices.Contains(c.Made, id) || fact.WithID(c.Facts, id) != nil {
		return ""
	}
	if v := Version(s, n, id); v == nil {
		c.Made = append(c.Made, id)
	} else {
		c.Facts = append(c.Facts, v)
	}
	size := 0
	for _, v := range c.Facts {
		size += len(v.Value)
	}
	if len(c.Made)+len(c.Facts) > undoVersions || size > undoBytes {
		return "it changed too much"
	}
	return ""
}

// committed ends a commit. Those of other authors that changed the same are built
// on now. last is nil for a commit that nobody signed.
func (l *Lists) committed(last *formats.Commit, events []Event) {
	if len(l.Commits) == 0 && last == nil {
		return
	}
	changes := func(touched []string) bool {
		keys := map[string]bool{}
		for _, key := range touched {
			keys[key] = true
		}
		return len(keys) > 0 && slices.ContainsFunc(events, func(e Event) bool {
			return slices.ContainsFunc(e.kind().touches, func(key string) bool { return keys[key] })
		})
	}
	commits := make([]formats.Commit, 0, len(l.Commits)+1)
	for _, c := range l.Commits {
		switch {
		case last != nil && (c.By == last.By && c.Kind == last.Kind || last.Clock.Sub(c.Clock) > undoWithin):
			continue
		case !c.BuiltOn && changes(c.Touched):
			c.BuiltOn = true
		}
		commits = append(commits, c)
	}
	if last != nil {
		commits = append(commits, *last)
	}
	l.Commits = commits
}

// LastCommit is an author's last commit of the day before a wall clock's time; ok is
// false where there is none.
func (l *Lists) LastCommit(by, kind string, clock time.Time) (c formats.Commit, ok bool) {
	for _, c := range l.Commits {
		if c.By == by && c.Kind == kind && clock.Sub(c.Clock) <= undoWithin {
			return c, true
		}
	}
	return c, false
}
