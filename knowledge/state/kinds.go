package state

import (
	"maps"
	"slices"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// kind is what an event of one kind does. A new kind is a member of [Event], a type with these
// methods, and its line in [Event.kind]. A list beside the facts is a row: see [List].
type kind interface {
	// touches names what the event changes. A commit of another author that changes one of
	// them is built on this one.
	touches() []string

	// keep notes in c what there is before the event, to take it back. It says why that is not
	// possible, or nothing.
	keep(s *State, c *formats.Commit) (why string)

	fold(*State)
}

func (e Event) kind() kind {
	switch {
	case e.Open != nil:
		return opening{of: e.Open}
	case e.Put != nil:
		return put{e.Put}
	case e.Confirm != nil:
		return e.Confirm
	case e.Questions != nil:
		return e.Questions
	case e.Erase != nil:
		return erasure{*e.Erase}
	case e.Revive != nil:
		return revival{of: e.Revive}
	case e.Rename != nil:
		return renaming{e.Rename}
	case e.Replace != nil:
		return e.Replace
	case e.Pattern != nil:
		return entry[formats.Pattern]{&Patterns, *e.Pattern, false}
	case e.Unpattern != nil:
		return entry[formats.Pattern]{&Patterns, *e.Unpattern, true}
	case e.Gotcha != nil:
		return entry[formats.Gotcha]{&Gotchas, *e.Gotcha, false}
	case e.Ungotcha != "":
		return entry[formats.Gotcha]{&Gotchas, formats.Gotcha{ID: e.Ungotcha}, true}
	case e.Relate != nil:
		return entry[formats.Relation]{&Relations, *e.Relate, false}
	case e.Unrelate != nil:
		return entry[formats.Relation]{&Relations, *e.Unrelate, true}
	case e.Remind != nil:
		return entry[formats.Reminder]{&Reminders, *e.Remind, false}
	case e.Dispute != nil:
		return entry[formats.Dispute]{&Disputes, *e.Dispute, false}
	case e.Judge != nil:
		return entry[formats.JudgedPair]{&Judged, *e.Judge, false}
	case e.Note != nil:
		return note{of: *e.Note}
	case e.Extra != nil:
		return unknown{all: e.Extra}
	case e.Replica != nil:
		return synced{as: e.Replica}
	}
	return nothing{} // an author, or damage
}

// nothing is the kind of an event that changes nothing. Other kinds have what they do not do from it.
type nothing struct{}

func (nothing) touches() []string                   { return nil }
func (nothing) keep(*State, *formats.Commit) string { return "" }
func (nothing) fold(*State)                         {}

func factKey(n fact.ID) string { return "fact " + docID(n) }

func keyOf(category, key string) string { return factKey(fact.IDOf(category, key)) }

// opening names the project.
type opening struct {
	nothing
	of *Opened
}

func (o opening) fold(s *State) { s.root, s.hash = o.of.Root, o.of.Hash }

// put adds a version or takes the place of the one with its id.
type put struct{ v *fact.Version }

func (p put) touches() []string { return []string{keyOf(p.v.Category, p.v.Key)} }

func (p put) keep(s *State, c *formats.Commit) string {
	return keepVersion(s, c, fact.IDOf(p.v.Category, p.v.Key), p.v.ID)
}

func (p put) fold(s *State) {
	v, n := p.v, fact.IDOf(p.v.Category, p.v.Key)
	vs := slices.Clone(s.Versions(n))
	if i := slices.IndexFunc(vs, func(w *fact.Version) bool { return w.ID == v.ID }); i >= 0 {
		vs[i] = v
	} else {
		vs = append(vs, v)
		s.count++
	}
	slices.SortStableFunc(vs, fact.ByPeriod)
	s.set(n, vs)
	s.names[v.ID] = n
	s.spell(n, v.Category)
}

func (c *Confirmation) touches() []string { return []string{keyOf(c.Category, c.Key)} }

func (c *Confirmation) keep(s *State, of *formats.Commit) string {
	return keepVersion(s, of, fact.IDOf(c.Category, c.Key), c.ID)
}

func (c *Confirmation) fold(s *State) { s.change(fact.IDOf(c.Category, c.Key), c.ID, c.apply) }

func (c *Confirmation) apply(v *fact.Version) {
	v.ConfirmationCount++
	v.RevisionCount++
	v.Confidence, v.LastConfirmed, v.ArchivedAt = c.Confidence, c.Source.At, nil
	v.Sources = append(v.Sources, c.Source) // shares the array: older copies do not see past their length
	if c.Tags != nil {
		v.Tags = c.Tags
	}
	if c.Aliases != nil {
		v.Aliases = c.Aliases
	}
	if c.Questions != nil {
		v.Questions, v.QuestionsAt = c.Questions, nil
	}
	if c.Pinned != nil {
		v.Pinned = *c.Pinned
	}
	if c.Privacy != "" {
		v.Privacy = c.Privacy
	}
	v.TakenIn = false
}

func (q *NewQuestions) touches() []string { return []string{keyOf(q.Category, q.Key)} }

func (q *NewQuestions) keep(s *State, c *formats.Commit) string {
	return keepVersion(s, c, fact.IDOf(q.Category, q.Key), q.ID)
}

func (q *NewQuestions) fold(s *State) {
	s.change(fact.IDOf(q.Category, q.Key), q.ID, func(v *fact.Version) { v.Questions, v.QuestionsAt = q.Questions, &q.At })
}

type erasure struct{ formats.Tombstone }

func (e erasure) touches() []string { return []string{keyOf(e.Category, e.Key)} }

func (erasure) keep(*State, *formats.Commit) string { return "what is erased is gone for good" }

func (e erasure) fold(s *State) {
	n := fact.IDOf(e.Category, e.Key)
	for _, v := range s.Versions(n) {
		delete(s.names, v.ID)
		s.count--
	}
	s.drop(n)
	s.tombstones = maps.Clone(s.tombstones)
	if s.tombstones == nil {
		s.tombstones = map[fact.ID]formats.Tombstone{}
	}
	s.tombstones[n] = e.Tombstone
	s.unlink(n)
}

// revival is an import with replace that brings an erased name back.
type revival struct {
	nothing
	of *formats.Tombstone
}

func (revival) keep(*State, *formats.Commit) string { return wasImport }

func (r revival) fold(s *State) {
	s.tombstones = maps.Clone(s.tombstones)
	delete(s.tombstones, fact.IDOf(r.of.Category, r.of.Key))
}

const wasImport = "it was an import"

// renaming moves the versions of a fact to another name.
type renaming struct{ *formats.Renaming }

func (r renaming) touches() []string {
	return []string{keyOf(r.From.Category, r.From.Key), keyOf(r.To.Category, r.To.Key)}
}

func (r renaming) keep(s *State, c *formats.Commit) string {
	c.Renamed = r.Renaming
	to := fact.IDOf(r.To.Category, r.To.Key)
	if to != fact.IDOf(r.From.Category, r.From.Key) && len(s.Versions(to)) > 0 {
		return "it made one fact of two"
	}
	return ""
}

func (r renaming) fold(s *State) {
	from, to := fact.IDOf(r.From.Category, r.From.Key), fact.IDOf(r.To.Category, r.To.Key)
	moved := s.Versions(from)
	var vs []*fact.Version
	if from != to {
		vs = slices.Clone(s.Versions(to))
		s.drop(from)
	}
	for _, v := range moved {
		w := *v
		w.Category, w.Key, w.RenamedAt = r.To.Category, r.To.Key, &r.At
		vs = append(vs, &w)
		s.names[w.ID] = to
	}
	slices.SortStableFunc(vs, fact.ByPeriod)
	s.set(to, vs)
	s.spell(to, r.To.Category)
	s.rename(r.Renaming)
}

func (r *Replacement) touches() []string {
	names := make([]string, len(r.Facts))
	for i, x := range r.Facts {
		names[i] = keyOf(x.Category, x.Key)
	}
	return names
}

func (*Replacement) keep(*State, *formats.Commit) string { return "" }

func (r *Replacement) fold(s *State) {
	for _, x := range r.Facts {
		n := fact.IDOf(x.Category, x.Key)
		for _, v := range s.Versions(n) {
			if s.names[v.ID] == n {
				delete(s.names, v.ID)
			}
			s.count--
		}
		if len(x.Versions) > 0 {
			s.set(n, x.Versions)
		} else {
			s.drop(n)
		}
		for _, v := range x.Versions {
			s.names[v.ID] = n
			s.count++
			s.spell(n, v.Category)
		}
	}
	for _, l := range lists {
		l.replace(s, r)
	}
}

// note adds to the store's own log.
type note struct {
	nothing
	of formats.Insight
}

func (n note) keep(*State, *formats.Commit) string {
	if n.of.Kind == NoteImport {
		return wasImport
	}
	return ""
}

func (n note) fold(s *State) { s.History = append(s.History, n.of) }

// unknown sets the members of an imported file that we do not know.
type unknown struct {
	nothing
	all formats.Unknown
}

func (unknown) keep(*State, *formats.Commit) string { return wasImport }

func (x unknown) fold(s *State) { s.Extra = x.all }

// synced notes how far the store has read what others share.
type synced struct {
	nothing
	as *formats.Replica
}

func (r synced) fold(s *State) { s.Replica = r.as }
