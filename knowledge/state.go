package knowledge

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
)

// facts is what a decision may ask of the state. A full state in memory meets
// it, and so can a key table that reads single facts from the snapshot.
type facts interface {
	// versions returns every version of a fact, by valid_from, then recorded_from.
	versions(fact.ID) []*fact.Version
	// room returns the spelling a category was first given, "" for a new one.
	room(category string) string
	// erased returns when a fact was erased; zero if never.
	erased(fact.ID) time.Time
}

// state is all that a project knows. Whatever its maps point at is never
// changed in place: a fold puts a new value there, so that a shallow clone
// stays as it was.
type state struct {
	root, hash string

	base *base // facts that are still on disk; nil when all are here

	all        map[fact.ID][]*fact.Version // of a partial state those that changed; none are left of one erased
	aliases    map[string][]fact.ID        // folded alias → facts in all that may go by it
	names      map[string]fact.ID          // version id → the fact it belongs to
	rooms      map[string]string           // folded category → first spelling
	tombstones map[fact.ID]formats.Tombstone
	patterns   []formats.Pattern
	gotchas    []formats.Gotcha
	relations  []formats.Relation
	reminders  []formats.Reminder
	judged     []formats.JudgedPair
	history    []formats.Insight
	extra      map[string]json.RawMessage // members of the file that we do not know

	changed []fact.ID // facts whose text changed since the index last took them
	epoch   uint64    // moves when the index must be made anew: an import or an erasure
}

func (s *state) versions(n fact.ID) []*fact.Version {
	if vs, ok := s.all[n]; ok || s.base == nil {
		return vs
	}
	return s.base.versions(n)
}

// factOf returns the fact that a version belongs to.
func (s *state) factOf(version string) (n fact.ID, ok bool) {
	if n, ok = s.names[version]; ok || s.base == nil {
		return n, ok
	}
	i, ok := s.base.keys.ByID(version)
	if !ok {
		return n, false
	}
	return s.base.name(s.base.keys.FactOf(i)), true
}

// versionCount is how many versions there are of all facts.
func (s *state) versionCount() int {
	if s.base == nil {
		return len(s.names)
	}
	count := s.base.keys.VersionCount()
	for n, vs := range s.all {
		count += len(vs)
		if row, ok := s.base.find(n); ok {
			first, end := s.base.keys.Versions(row)
			count -= end - first
		}
	}
	return count
}

func (s *state) room(category string) string { return s.rooms[formats.FoldName(category)] }

func (s *state) erased(n fact.ID) time.Time { return s.tombstones[n].ErasedAt }

// byID returns the version with an id, nil if there is none.
func (s *state) byID(version string) *fact.Version {
	n, ok := s.factOf(version)
	if !ok {
		return nil
	}
	for _, v := range s.versions(n) {
		if v.ID == version {
			return v
		}
	}
	return nil
}

// put adds a version or takes the place of the one with its id.
func (s *state) put(v *fact.Version) {
	n := fact.IDOf(v.Category, v.Key)
	vs := slices.Clone(s.versions(n))
	if i := slices.IndexFunc(vs, func(w *fact.Version) bool { return w.ID == v.ID }); i >= 0 {
		vs[i] = v
	} else {
		vs = append(vs, v)
	}
	slices.SortStableFunc(vs, fact.ByPeriod)
	s.set(n, vs)
	s.names[v.ID] = n
	if s.room(v.Category) == "" {
		s.rooms[n.Category] = v.Category
	}
	s.changed = append(s.changed, n)
}

// set gives a fact other versions; none when it is erased.
func (s *state) set(n fact.ID, vs []*fact.Version) {
	if s.base == nil && vs == nil {
		delete(s.all, n)
		return
	}
	s.all[n] = vs
	s.alias(n, vs)
	if s.base != nil {
		if row, ok := s.base.find(n); ok {
			s.base.changed[row] = true
		}
	}
}

// alias notes by which other names a fact goes. One it no longer goes by stays:
// who looks a fact up by an alias compares it.
func (s *state) alias(n fact.ID, vs []*fact.Version) {
	for _, v := range vs {
		for _, a := range v.Aliases {
			if a = formats.FoldName(a); !slices.Contains(s.aliases[a], n) {
				s.aliases[a] = append(s.aliases[a], n)
			}
		}
	}
}

func newState() *state {
	return &state{all: map[fact.ID][]*fact.Version{}, aliases: map[string][]fact.ID{}, names: map[string]fact.ID{}, rooms: map[string]string{}, tombstones: map[fact.ID]formats.Tombstone{}}
}

// clone is shallow: folds replace what the maps and slices hold, they never
// write into it.
func (s *state) clone() *state {
	c := *s
	c.all, c.names, c.aliases = maps.Clone(s.all), nil, nil // a clone is only read fact by fact
	c.base = s.base.clone()
	c.rooms, c.tombstones = maps.Clone(s.rooms), maps.Clone(s.tombstones)
	c.patterns, c.gotchas, c.relations = slices.Clip(s.patterns), slices.Clip(s.gotchas), slices.Clip(s.relations)
	c.reminders, c.judged, c.history = slices.Clip(s.reminders), slices.Clip(s.judged), slices.Clip(s.history)
	c.changed = nil
	return &c
}

// document is the state as a fact file.
func (s *state) document(h journal.Header) *formats.Document {
	d := s.around(h)
	for _, v := range s.each() {
		d.Facts = append(d.Facts, v)
	}
	return d
}

// around is the fact file without its facts.
func (s *state) around(h journal.Header) *formats.Document {
	d := &formats.Document{
		Schema: formats.Schema, ProjectRoot: s.root, ProjectHash: s.hash,
		Seq: h.Seq, Generation: h.Generation, UpdatedAt: h.At.UTC(), Checksum: h.Checksum,
		Patterns: s.patterns, Gotchas: s.gotchas, Relations: s.relations, Reminders: s.reminders,
		JudgedPairs: s.judged, History: s.history, Extra: s.extra,
	}
	for _, t := range s.tombstones {
		d.Tombstones = append(d.Tombstones, t)
	}
	return d
}

// fromDocument is the state that a fact file holds.
func fromDocument(d *formats.Document) *state {
	s := newState()
	s.root, s.hash, s.extra = d.ProjectRoot, d.ProjectHash, d.Extra
	s.patterns, s.gotchas, s.relations = d.Patterns, d.Gotchas, d.Relations
	s.reminders, s.judged, s.history = d.Reminders, d.JudgedPairs, d.History
	s.all = make(map[fact.ID][]*fact.Version, len(d.Facts))
	first := map[string]time.Time{}
	for _, v := range d.Facts {
		n := fact.IDOf(v.Category, v.Key)
		s.all[n] = append(s.all[n], v)
		s.names[v.ID] = n
		if t, ok := first[n.Category]; !ok || v.RecordedFrom.Before(t) {
			first[n.Category], s.rooms[n.Category] = v.RecordedFrom, v.Category
		}
	}
	for n, vs := range s.all {
		slices.SortStableFunc(vs, fact.ByPeriod)
		s.alias(n, vs)
	}
	for _, t := range d.Tombstones {
		s.tombstones[fact.IDOf(t.Category, t.Key)] = t
	}
	return s
}

// lastImport is the recorded time of the newest import: facts that came with
// it carry recorded times of their own, older than it.
func (s *state) lastImport() time.Time {
	for _, h := range slices.Backward(s.history) {
		if h.Kind == noteImport {
			return h.Timestamp
		}
	}
	return time.Time{}
}

// now is the instant that an answer is about unless another is asked for:
// never before what was last recorded, so that a clock set back hides nothing.
func now(clock time.Time, head journal.Head) time.Time {
	if clock = clock.UTC(); clock.After(head.At) {
		return clock
	}
	return head.At
}
