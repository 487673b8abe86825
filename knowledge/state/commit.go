package state

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
)

// The last commit of each author is kept for a day, with what there was before it,
// so that it can be taken back. So is an author's last import.

// undoWithin is how long a commit can be taken back.
const undoWithin = 24 * time.Hour

// The most that is kept of a commit.
const (
	undoVersions = 5000
	undoBytes    = 256 << 10 // of values
)

// TouchedFacts are the facts that a commit changed, by the names they had.
func TouchedFacts(c formats.Commit) (names []fact.ID) {
	for _, key := range c.Touched {
		if name, isFact := strings.CutPrefix(key, "fact "); isFact {
			category, rest, _ := strings.Cut(name, "\x00")
			names = append(names, fact.ID{Category: category, Key: rest})
		}
	}
	return names
}

// final is a commit that cannot be taken back, without what it would need for that.
func final(c formats.Commit, why string) formats.Commit {
	return formats.Commit{By: c.By, Kind: c.Kind, At: c.At, Clock: c.Clock, Undo: c.Undo, Import: c.Import, Final: why}
}

// former is a commit that is folded, with what there was before it. Its maps are the lists of the
// commit.
type former struct {
	*formats.Commit // nil for a commit that nobody signed
	undoes          string
	touched, kept   map[string]bool
	bytes           int
}

func formerOf(c journal.Commit[Event]) *former {
	x := &former{touched: map[string]bool{}, kept: map[string]bool{}}
	for _, e := range c.Events {
		switch {
		case e.Author != nil:
			x.Commit = &formats.Commit{By: e.Author.By, Kind: e.Author.Kind, At: c.At, Clock: e.Author.Clock, Undo: e.Author.Undo}
			x.undoes = e.Author.Import
		case e.Note != nil && e.Note.Kind == NoteImport && x.Commit != nil:
			x.Import = ImportID(c.At)
		}
	}
	return x
}

// ImportID is the id of the import that was recorded at a time.
func ImportID(at time.Time) string {
	sum := sha256.Sum256([]byte(at.UTC().Format(time.RFC3339Nano)))
	return "i-" + hex.EncodeToString(sum[:4])
}

// keep notes in the commit what there is before one of its events.
func (c *former) keep(s *State, k kind) {
	if c.Commit == nil || c.Final != "" {
		return
	}
	for _, key := range k.touches {
		if !c.touched[key] {
			c.touched[key] = true
			c.Touched = append(c.Touched, key)
		}
	}
	if k.stays && c.Import != "" {
		return
	}
	why := k.final
	if why == "" && k.keep != nil {
		why = k.keep(s, c)
	}
	if why != "" {
		*c.Commit = final(*c.Commit, why)
	}
}

// keepVersion says why no more can be kept, or nothing.
func keepVersion(s *State, c *former, n fact.ID, id string) string {
	if c.kept[id] {
		return ""
	}
	c.kept[id] = true
	if v := Version(s, n, id); v == nil {
		c.Made = append(c.Made, id)
	} else {
		c.Facts = append(c.Facts, v)
		c.bytes += len(v.Value)
	}
	if len(c.kept) > undoVersions || c.bytes > undoBytes {
		return "it changed too much"
	}
	return ""
}

// committed ends a commit. What of the commits before it changed the same is built on now: by
// others, and of an import by anybody. last has none for a commit that nobody signed.
func (l *Lists) committed(last *former, events []Event) {
	if len(l.Commits) == 0 && last.Commit == nil {
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
		if last.Commit != nil {
			own := c.By == last.By && c.Kind == last.Kind
			if own && (c.Import == "" || last.Import != "") || last.Clock.Sub(c.Clock) > undoWithin || c.Import != "" && c.Import == last.undoes {
				continue
			}
		}
		if !c.BuiltOn && changes(c.Touched) {
			c.BuiltOn = true
		}
		commits = append(commits, c)
	}
	if last.Commit != nil {
		commits = append(commits, *last.Commit)
	}
	l.Commits = commits
}

// LastCommit is an author's last commit of the day before a wall clock's time; ok is
// false where there is none.
func (l *Lists) LastCommit(by, kind string, clock time.Time) (c formats.Commit, ok bool) {
	for _, c := range slices.Backward(l.Commits) {
		if c.By == by && c.Kind == kind && clock.Sub(c.Clock) <= undoWithin {
			return c, true
		}
	}
	return c, false
}

// ImportCommit is the commit of an import of the day before a wall clock's time.
func (l *Lists) ImportCommit(id string, clock time.Time) (c formats.Commit, ok bool) {
	for _, c := range l.Commits {
		if c.Import == id && clock.Sub(c.Clock) <= undoWithin {
			return c, true
		}
	}
	return c, false
}
