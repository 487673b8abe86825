package state

import (
	"slices"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// kind is what an event does.
type kind struct {
	// touches names what the event changes. A commit of another author that changes one of
	// them is built on this one.
	touches []string

	// final says why a commit with the event cannot be taken back. Where it is empty, keep notes
	// in the commit what there is before the event, or says why it cannot. nil: there is nothing.
	final string
	stays bool // an import that is taken back leaves what the event brought, and is not final
	keep  func(*State, *former) (final string)

	fold func(*State)
}

// kind has a row for each member of an event.
func (e Event) kind() kind {
	switch {
	case e.Open != nil:
		return kind{fold: func(s *State) { s.root, s.hash = e.Open.Root, e.Open.Hash }}
	case e.Put != nil:
		return ofVersion(e.Put.Category, e.Put.Key, e.Put.ID, func(s *State, n fact.ID) { put(s, n, e.Put, e.others) })
	case e.Confirm != nil:
		c := e.Confirm
		return ofVersion(c.Category, c.Key, c.ID, func(s *State, n fact.ID) { s.change(n, c.ID, c.apply) })
	case e.Questions != nil:
		q := e.Questions
		return ofVersion(q.Category, q.Key, q.ID, func(s *State, n fact.ID) {
			s.change(n, q.ID, func(v *fact.Version) { v.Questions, v.QuestionsAt = q.Questions, &q.At })
		})
	case e.Erase != nil:
		return kind{touches: []string{keyOf(e.Erase.Category, e.Erase.Key)}, keep: func(s *State, _ *former) string {
			if len(s.Versions(fact.IDOf(e.Erase.Category, e.Erase.Key))) == 0 {
				return "" // an import told of an erasure elsewhere
			}
			return "what is erased is gone for good"
		}, fold: func(s *State) { erase(s, *e.Erase) }}
	case e.Revive != nil:
		return kind{final: "it brought back what was erased", fold: func(s *State) { s.revive(fact.IDOf(e.Revive.Category, e.Revive.Key)) }}
	case e.Rename != nil:
		return ofRename(e.Rename)
	case e.Replace != nil:
		return kind{touches: e.Replace.touches(), fold: e.Replace.fold}
	case e.Pattern != nil, e.Unpattern != nil, e.Gotcha != nil, e.Ungotcha != "":
		return e.ofFormer()
	case e.Relate != nil:
		return Relations.set(*e.Relate)
	case e.Unrelate != nil:
		return Relations.unset(*e.Unrelate)
	case e.Remind != nil:
		return Reminders.set(*e.Remind)
	case e.Dispute != nil:
		return Disputes.set(*e.Dispute)
	case e.Judge != nil:
		k := Judged.set(*e.Judge)
		k.stays = true
		return k
	case e.Note != nil:
		return kind{fold: func(s *State) { s.History = append(s.History, *e.Note) }}
	case e.Extra != nil:
		return kind{fold: func(s *State) { s.Extra = formats.Unowned[formats.Document](e.Extra) }}
	case e.Replica != nil:
		return kind{fold: func(s *State) { s.Replica = e.Replica }}
	}
	return kind{fold: func(*State) {}} // an author
}

func keyOf(category, key string) string { return "fact " + docID(fact.IDOf(category, key)) }

// ofVersion is the kind of an event about one version of a fact.
func ofVersion(category, key, id string, fold func(*State, fact.ID)) kind {
	n := fact.IDOf(category, key)
	return kind{
		touches: []string{keyOf(category, key)},
		keep:    func(s *State, c *former) string { return keepVersion(s, c, n, id) },
		fold:    func(s *State) { fold(s, n) },
	}
}

// put adds a version or takes the place of the one with its id. An import has thousands of one fact.
func put(s *State, n fact.ID, v *fact.Version, others bool) {
	old := s.Versions(n)
	i := -1
	// With a base not all are known, and in an [Overlay] none.
	if _, known := s.names[v.ID]; known || s.base != nil || len(s.names) == 0 {
		i = fact.PlaceOf(old, v.ID)
	}
	if i >= 0 {
		if others {
			v = kept(old[i], v)
		}
		old = slices.Delete(slices.Clone(old), i, i+1)
	} else {
		s.count++
	}
	at, _ := slices.BinarySearchFunc(old, v, func(w, v *fact.Version) int {
		if fact.ByPeriod(w, v) <= 0 {
			return -1 // after those that are equal
		}
		return 1
	})
	vs := make([]*fact.Version, 0, len(old)+1)
	vs = append(append(append(vs, old[:at]...), v), old[at:]...)
	s.set(n, vs)
	s.names[v.ID] = n
	s.spell(n, v.Category)
}

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
	if c.Examples != nil {
		v.Examples = c.Examples
	}
	if c.Pinned != nil {
		v.Pinned = *c.Pinned
	}
	if c.Privacy != "" {
		v.Privacy = c.Privacy
	}
	if c.Archetype != "" {
		v.Archetype = c.Archetype
	}
	v.TakenIn = v.TakenIn && c.Unasked
}

func erase(s *State, t formats.Tombstone) {
	n := fact.IDOf(t.Category, t.Key)
	for _, v := range s.Versions(n) {
		delete(s.names, v.ID)
		s.count--
	}
	s.drop(n)
	s.Lists.erase(n, t)
}

// ofRename is the kind of an event that moves the versions of a fact to another name.
func ofRename(r *formats.Rename) kind {
	from, to := fact.IDOf(r.From.Category, r.From.Key), fact.IDOf(r.To.Category, r.To.Key)
	return kind{
		touches: []string{keyOf(r.From.Category, r.From.Key), keyOf(r.To.Category, r.To.Key)},
		keep: func(s *State, c *former) string {
			c.Renamed = r
			if to != from && len(s.Versions(to)) > 0 {
				return "it made one fact of two"
			}
			return ""
		},
		fold: func(s *State) {
			moved := s.Versions(from)
			var vs []*fact.Version
			if from != to {
				vs = slices.Clone(s.Versions(to))
				s.drop(from)
			}
			for _, v := range moved {
				w := *v
				if r.ByRoom && !fact.ArchetypeGiven(v) {
					w.Archetype = formats.Archetype(r.To.Category)
				}
				w.Category, w.Key, w.RenamedAt = r.To.Category, r.To.Key, &r.At
				vs = append(vs, &w)
				s.names[w.ID] = to
			}
			slices.SortStableFunc(vs, fact.ByPeriod)
			s.set(to, vs)
			s.spell(to, r.To.Category)
			s.rename(r)
		},
	}
}

func (r *Replacement) touches() []string {
	names := make([]string, len(r.Facts))
	for i, x := range r.Facts {
		names[i] = keyOf(x.Category, x.Key)
	}
	return names
}

func (r *Replacement) fold(s *State) {
	s.replaceFormer(r)
	for _, x := range r.Facts {
		n := fact.IDOf(x.Category, x.Key)
		for _, v := range s.Versions(n) {
			if s.names[v.ID] == n {
				delete(s.names, v.ID)
			}
			s.count--
		}
		if !slices.IsSortedFunc(x.Versions, fact.ByPeriod) {
			x.Versions = slices.SortedStableFunc(slices.Values(x.Versions), fact.ByPeriod)
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
	if r.Renames != nil {
		s.Renames = *r.Renames
	}
	for _, l := range lists {
		l.replace(s, r)
	}
}
