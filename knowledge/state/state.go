package state

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
)

// Facts is what a decision on one fact may ask. A [State] meets it, and an
// [Overlay].
type Facts interface {
	// Versions returns every version of a fact, by valid_from, then recorded_from.
	Versions(fact.ID) []*fact.Version

	// Room returns the spelling a category was first given, "" for a new one.
	Room(category string) string
}

// State is all that a project knows. Whatever its maps point at is never
// changed in place: a fold puts a new value there, so that a shallow clone
// stays as it was. A version that was read is not to be written into either.
type State struct {
	Lists

	root, hash string
	seq        uint64    // the last commit
	at         time.Time // its recorded time; zero before the first

	facts      map[fact.ID][]*fact.Version
	aliases    map[string][]fact.ID // folded alias → facts that may go by it
	names      map[string]fact.ID   // version id → the fact it belongs to
	rooms      map[string]string    // folded category → first spelling
	tombstones map[fact.ID]formats.Tombstone

	changed []fact.ID // facts whose text changed, in order; see [Cursor]
	epoch   uint64    // moves when what is derived must be made anew: an import or an erasure
}

// New is the state of a project that knows nothing.
func New() *State {
	return &State{facts: map[fact.ID][]*fact.Version{}, aliases: map[string][]fact.ID{}, names: map[string]fact.ID{}, rooms: map[string]string{}, tombstones: map[fact.ID]formats.Tombstone{}}
}

// Seq is the number of the last commit, zero before the first.
func (s *State) Seq() uint64 { return s.seq }

// At is the recorded time of the last commit, zero before the first.
func (s *State) At() time.Time { return s.at }

// Versions returns every version of a fact, by valid_from, then recorded_from;
// none of one that there is not, or that was erased.
func (s *State) Versions(n fact.ID) []*fact.Version { return s.facts[n] }

// VersionCount is how many versions there are of all facts.
func (s *State) VersionCount() int { return len(s.names) }

// Room returns the spelling a category was first given, "" for a new one.
func (s *State) Room(category string) string { return s.rooms[formats.FoldName(category)] }

// Erased returns what is left of a fact that was erased; ok: it was.
func (s *State) Erased(n fact.ID) (t formats.Tombstone, ok bool) {
	t = s.tombstones[n]
	return t, !t.ErasedAt.IsZero()
}

// ByID returns the version with an id, nil if there is none.
func (s *State) ByID(version string) *fact.Version {
	n, ok := s.names[version]
	if !ok {
		return nil
	}
	for _, v := range s.facts[n] {
		if v.ID == version {
			return v
		}
	}
	return nil
}

// All yields every fact with its versions, in no order.
func (s *State) All() iter.Seq2[fact.ID, []*fact.Version] { return maps.All(s.facts) }

// Sorted yields every fact with its versions, by name.
func (s *State) Sorted() iter.Seq2[fact.ID, []*fact.Version] {
	return func(yield func(fact.ID, []*fact.Version) bool) {
		for _, n := range slices.SortedFunc(maps.Keys(s.facts), fact.ID.Compare) {
			if !yield(n, s.facts[n]) {
				return
			}
		}
	}
}

// Each yields every version of every fact, in no order.
func (s *State) Each() iter.Seq2[fact.ID, *fact.Version] { return s.Within("") }

// Within yields every version of the facts of a room, in no order; of all facts
// where room is "".
func (s *State) Within(room string) iter.Seq2[fact.ID, *fact.Version] {
	room = formats.FoldName(room)
	return func(yield func(fact.ID, *fact.Version) bool) {
		for n, vs := range s.facts {
			if room != "" && n.Category != room {
				continue
			}
			for _, v := range vs {
				if !yield(n, v) {
					return
				}
			}
		}
	}
}

// Filter says which versions a question is about: of which facts, and as of
// which instants.
type Filter struct {
	Category, Key string    // as given; all where empty
	AsOf          time.Time // valid then
	Known         time.Time // by what was known then
	Archived      bool      // also outside the active set
}

// Matches reports whether a version passes the filter.
func (f *Filter) Matches(v *fact.Version) bool {
	p, ok := fact.HeldAt(v, f.Known)
	switch {
	case !ok || !p.Contains(f.AsOf):
		return false
	case v.ArchivedAt != nil && !f.Archived:
		return false
	case f.Category != "" && formats.FoldName(v.Category) != formats.FoldName(f.Category):
		return false
	}
	return f.Key == "" || fact.GoesBy(v, f.Key)
}

// Matching yields the versions that pass a filter, in no order.
func (s *State) Matching(f *Filter) iter.Seq2[fact.ID, *fact.Version] {
	if f.Key != "" {
		return s.matchingNamed(f)
	}
	return func(yield func(fact.ID, *fact.Version) bool) {
		for n, v := range s.Within(f.Category) {
			if f.Matches(v) && !yield(n, v) {
				return
			}
		}
	}
}

// matchingNamed looks the facts up that may go by the filter's key: in each
// room, as category/key, and by their aliases.
func (s *State) matchingNamed(f *Filter) iter.Seq2[fact.ID, *fact.Version] {
	key, room := formats.FoldName(f.Key), formats.FoldName(f.Category)
	names := slices.Clone(s.aliases[key])
	for r := range s.rooms {
		names = append(names, fact.ID{Category: r, Key: key})
	}
	for i := range len(key) {
		if key[i] == '/' {
			names = append(names, fact.ID{Category: key[:i], Key: key[i+1:]})
		}
	}
	slices.SortFunc(names, fact.ID.Compare)
	return func(yield func(fact.ID, *fact.Version) bool) {
		for _, n := range slices.Compact(names) {
			if room != "" && n.Category != room {
				continue
			}
			for _, v := range s.facts[n] {
				if f.Matches(v) && !yield(n, v) {
					return
				}
			}
		}
	}
}

func (s *State) fold(e Event) {
	switch {
	case e.Open != nil:
		s.root, s.hash = e.Open.Root, e.Open.Hash
	case e.Put != nil:
		s.put(e.Put)
	case e.Confirm != nil:
		s.confirm(e.Confirm)
	case e.Erase != nil:
		s.erase(*e.Erase)
	case e.Revive != nil:
		delete(s.tombstones, fact.IDOf(e.Revive.Category, e.Revive.Key))
	default:
		s.Lists.fold(e)
		if e.Pattern != nil || e.Gotcha != nil {
			s.changed = append(s.changed, lessonsID)
		}
		if e.Note != nil && e.Note.Kind == NoteImport {
			s.epoch++
		}
	}
}

// put adds a version or takes the place of the one with its id.
func (s *State) put(v *fact.Version) {
	n := fact.IDOf(v.Category, v.Key)
	vs := slices.Clone(s.facts[n])
	if i := slices.IndexFunc(vs, func(w *fact.Version) bool { return w.ID == v.ID }); i >= 0 {
		vs[i] = v
	} else {
		vs = append(vs, v)
	}
	slices.SortStableFunc(vs, fact.ByPeriod)
	s.set(n, vs)
	s.names[v.ID] = n
	if s.rooms[n.Category] == "" {
		s.rooms[n.Category] = v.Category
	}
	s.changed = append(s.changed, n)
}

func (s *State) confirm(c *Confirmation) {
	n := fact.IDOf(c.Category, c.Key)
	vs := slices.Clone(s.facts[n])
	i := slices.IndexFunc(vs, func(v *fact.Version) bool { return v.ID == c.ID })
	if i < 0 {
		return // a damaged commit took the version with it; the loss is reported by the journal
	}
	v := *vs[i]
	v.ConfirmationCount++
	v.RevisionCount++
	v.Confidence, v.LastConfirmed, v.ArchivedAt = c.Confidence, c.Source.At, nil
	v.Sources = append(v.Sources, c.Source) // shares the array: older copies do not see past their length
	if c.Tags != nil {
		v.Tags = c.Tags
	}
	if c.Aliases != nil {
		v.Aliases = c.Aliases
		s.changed = append(s.changed, n)
	}
	if c.Pinned != nil {
		v.Pinned = *c.Pinned
	}
	if c.Privacy != "" {
		v.Privacy = c.Privacy
	}
	vs[i] = &v
	s.set(n, vs)
}

func (s *State) erase(t formats.Tombstone) {
	n := fact.IDOf(t.Category, t.Key)
	for _, v := range s.facts[n] {
		delete(s.names, v.ID)
	}
	delete(s.facts, n)
	s.tombstones[n] = t
	s.unlink(n)
	s.epoch++
}

// set gives a fact its versions and notes by which other names it goes. A name
// it no longer goes by stays: who looks a fact up by an alias compares it.
func (s *State) set(n fact.ID, vs []*fact.Version) {
	s.facts[n] = vs
	for _, v := range vs {
		for _, a := range v.Aliases {
			if a = formats.FoldName(a); !slices.Contains(s.aliases[a], n) {
				s.aliases[a] = append(s.aliases[a], n)
			}
		}
	}
}

// clone is shallow, and only read fact by fact.
func (s *State) clone() *State {
	c := *s
	c.facts, c.names, c.aliases, c.changed = maps.Clone(s.facts), nil, nil, nil
	c.rooms, c.tombstones = maps.Clone(s.rooms), maps.Clone(s.tombstones)
	c.Lists = s.Lists.clipped()
	return &c
}

// Document is the state as a fact file, as of a commit.
func (s *State) Document(h journal.Header) *formats.Document {
	d := &formats.Document{
		Schema: formats.Schema, ProjectRoot: s.root, ProjectHash: s.hash,
		Seq: h.Seq, Generation: h.Generation, UpdatedAt: h.At.UTC(), Checksum: h.Checksum,
		Patterns: s.Patterns, Gotchas: s.Gotchas, Relations: s.Relations, Reminders: s.Reminders,
		JudgedPairs: s.Judged, History: s.History, Extra: s.Extra,
	}
	for _, vs := range s.facts {
		d.Facts = append(d.Facts, vs...)
	}
	for _, t := range s.tombstones {
		d.Tombstones = append(d.Tombstones, t)
	}
	return d
}

// fromDocument is the state that a fact file holds.
func fromDocument(d *formats.Document) *State {
	s := New()
	s.root, s.hash, s.seq, s.at = d.ProjectRoot, d.ProjectHash, d.Seq, d.UpdatedAt
	s.Lists = Lists{
		Patterns: d.Patterns, Gotchas: d.Gotchas, Relations: d.Relations, Reminders: d.Reminders,
		Judged: d.JudgedPairs, History: d.History, Extra: d.Extra,
	}
	s.facts, s.names = make(map[fact.ID][]*fact.Version, len(d.Facts)), make(map[string]fact.ID, len(d.Facts))
	first := map[string]time.Time{}
	for _, v := range d.Facts {
		n := fact.IDOf(v.Category, v.Key)
		s.facts[n] = append(s.facts[n], v)
		s.names[v.ID] = n
		if t, ok := first[n.Category]; !ok || v.RecordedFrom.Before(t) {
			first[n.Category], s.rooms[n.Category] = v.RecordedFrom, v.Category
		}
	}
	for n, vs := range s.facts {
		slices.SortStableFunc(vs, fact.ByPeriod)
		s.set(n, vs)
	}
	for _, t := range d.Tombstones {
		s.tombstones[fact.IDOf(t.Category, t.Key)] = t
	}
	return s
}

// lessonsID stands in the list of changed facts for patterns and gotchas.
var lessonsID = fact.ID{}

// Cursor says how far somebody has followed a state; the zero one, not at all.
// Two are compared with ==.
type Cursor struct {
	of    *State
	seen  int // how much of its changed list
	epoch uint64
}

// Cursor is how far the state is now.
func (s *State) Cursor() Cursor { return Cursor{s, len(s.changed), s.epoch} }

// Of reports whether c is of this state, which then knows what has changed
// since. Else one begins anew.
func (c Cursor) Of(s *State) bool { return c.of == s && c.epoch == s.epoch }

// ChangedSince lists the facts whose text changed since c, which is of s, each
// once, and tells whether a pattern or a gotcha did.
func (s *State) ChangedSince(c Cursor) (names []fact.ID, lessons bool) {
	seen := map[fact.ID]bool{}
	for _, n := range s.changed[c.seen:] {
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
