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

func factKey(n fact.ID) string { return "fact " + docID(n) }

// touched names what an event changes.
func touched(e Event) []string {
	named := func(category, key string) string { return factKey(fact.IDOf(category, key)) }
	switch {
	case e.Put != nil:
		return []string{named(e.Put.Category, e.Put.Key)}
	case e.Confirm != nil:
		return []string{named(e.Confirm.Category, e.Confirm.Key)}
	case e.Questions != nil:
		return []string{named(e.Questions.Category, e.Questions.Key)}
	case e.Erase != nil:
		return []string{named(e.Erase.Category, e.Erase.Key)}
	case e.Rename != nil:
		return []string{named(e.Rename.From.Category, e.Rename.From.Key), named(e.Rename.To.Category, e.Rename.To.Key)}
	case e.Pattern != nil:
		return []string{patternKey(*e.Pattern)}
	case e.Unpattern != nil:
		return []string{patternKey(*e.Unpattern)}
	case e.Gotcha != nil:
		return []string{"gotcha " + e.Gotcha.ID}
	case e.Ungotcha != "":
		return []string{"gotcha " + e.Ungotcha}
	case e.Relate != nil:
		return relationKeys(*e.Relate)
	case e.Unrelate != nil:
		return relationKeys(*e.Unrelate)
	case e.Remind != nil:
		return []string{"reminder " + e.Remind.ID}
	case e.Dispute != nil:
		return []string{"dispute " + e.Dispute.ID, named(e.Dispute.Category, e.Dispute.Key)}
	case e.Replace != nil:
		names := make([]string, len(e.Replace.Facts))
		for i, r := range e.Replace.Facts {
			names[i] = named(r.Category, r.Key)
		}
		return names
	}
	return nil
}

// EntryKey is the name, among those that a commit touched, of the entry that an
// event is about.
func EntryKey(e Event) string { return touched(e)[0] }

// FactOf is the fact, among those that a commit touched, which has a version.
func (k Known) FactOf(version string, touched []string) (n fact.ID, ok bool) {
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

func patternKey(p formats.Pattern) string { return "pattern " + formats.FoldName(p.Type) }

// relationKeys are the relation and the two facts: who links a fact builds on it.
func relationKeys(r formats.Relation) []string {
	from, to := factKey(fact.IDOf(r.From.Category, r.From.Key)), factKey(fact.IDOf(r.To.Category, r.To.Key))
	return []string{"relation " + r.Kind + " " + from + " " + to, from, to}
}

// final is a commit that cannot be taken back, without what it would need for that.
func final(c formats.Commit, why string) formats.Commit {
	return formats.Commit{By: c.By, Kind: c.Kind, At: c.At, Clock: c.Clock, Undo: c.Undo, Final: why}
}

// keepFormer notes in a commit what there is before one of its events. c is nil for
// a commit that nobody signed.
func (s *State) keepFormer(c *formats.Commit, e Event) {
	if c == nil || c.Final != "" {
		return
	}
	for _, key := range touched(e) {
		if !slices.Contains(c.Touched, key) {
			c.Touched = append(c.Touched, key)
		}
	}
	why := ""
	switch {
	case e.Put != nil:
		why = s.keepVersion(c, fact.IDOf(e.Put.Category, e.Put.Key), e.Put.ID)
	case e.Confirm != nil:
		why = s.keepVersion(c, fact.IDOf(e.Confirm.Category, e.Confirm.Key), e.Confirm.ID)
	case e.Questions != nil:
		why = s.keepVersion(c, fact.IDOf(e.Questions.Category, e.Questions.Key), e.Questions.ID)
	case e.Rename != nil:
		to := fact.IDOf(e.Rename.To.Category, e.Rename.To.Key)
		if to != fact.IDOf(e.Rename.From.Category, e.Rename.From.Key) && len(s.Versions(to)) > 0 {
			why = "it made one fact of two"
		}
		c.Renamed = e.Rename
	case e.Pattern != nil:
		c.Patterns = former(c.Patterns, s.Patterns, *e.Pattern, SamePattern)
	case e.Unpattern != nil:
		c.Patterns = former(c.Patterns, s.Patterns, *e.Unpattern, SamePattern)
	case e.Gotcha != nil:
		c.Gotchas = former(c.Gotchas, s.Gotchas, *e.Gotcha, SameGotcha)
	case e.Ungotcha != "":
		c.Gotchas = former(c.Gotchas, s.Gotchas, formats.Gotcha{ID: e.Ungotcha}, SameGotcha)
	case e.Relate != nil:
		c.Relations = former(c.Relations, s.Relations, *e.Relate, SameRelation)
	case e.Unrelate != nil:
		c.Relations = former(c.Relations, s.Relations, *e.Unrelate, SameRelation)
	case e.Remind != nil:
		c.Reminders = former(c.Reminders, s.Reminders, *e.Remind, SameReminder)
	case e.Dispute != nil:
		c.Disputes = former(c.Disputes, s.Disputed, *e.Dispute, SameDispute)
	case e.Judge != nil:
		why = "it judged two facts; judge them again"
	case e.Erase != nil:
		why = "what is erased is gone for good"
	case e.Revive != nil, e.Extra != nil, e.Note != nil && e.Note.Kind == NoteImport:
		why = "it was an import"
	}
	if why != "" {
		*c = final(*c, why)
	}
}

// keepVersion says why no more can be kept, or nothing.
func (s *State) keepVersion(c *formats.Commit, n fact.ID, id string) string {
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

// former adds what there is in a list of an entry that changes.
func former[T any](kept, list []T, x T, same func(a, b T) bool) []T {
	i := slices.IndexFunc(list, func(y T) bool { return same(x, y) })
	if i < 0 || slices.ContainsFunc(kept, func(y T) bool { return same(x, y) }) {
		return kept
	}
	return append(kept, list[i])
}

// committed ends a commit. Those of other authors that changed the same are built
// on now. last is nil for a commit that nobody signed.
func (s *State) committed(last *formats.Commit, events []Event) {
	if len(s.Commits) == 0 && last == nil {
		return
	}
	keys := map[string]bool{}
	for _, e := range events {
		for _, key := range touched(e) {
			keys[key] = true
		}
	}
	commits := make([]formats.Commit, 0, len(s.Commits)+1)
	for _, c := range s.Commits {
		switch {
		case last != nil && (c.By == last.By && c.Kind == last.Kind || last.Clock.Sub(c.Clock) > undoWithin):
			continue
		case slices.ContainsFunc(c.Touched, func(key string) bool { return keys[key] }):
			c.BuiltOn = true
		}
		commits = append(commits, c)
	}
	if last != nil {
		commits = append(commits, *last)
	}
	s.Commits = commits
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
