package ledger

import (
	"maps"
	"slices"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// Facts is what a decision may ask. A [State] meets it, and an [Overlay].
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
	Beside

	root, hash string

	base *base // facts that are still on disk; nil when all are here

	all        map[fact.ID][]*fact.Version // of a partial state those that changed; none are left of one erased
	aliases    map[string][]fact.ID        // folded alias → facts in all that may go by it
	names      map[string]fact.ID          // version id → the fact it belongs to
	rooms      map[string]string           // folded category → first spelling
	tombstones map[fact.ID]formats.Tombstone

	changed []fact.ID // facts whose text changed since the index last took them
	epoch   uint64    // moves when the index must be made anew: an import or an erasure
}

// New is the state of a project that knows nothing.
func New() *State {
	return &State{all: map[fact.ID][]*fact.Version{}, aliases: map[string][]fact.ID{}, names: map[string]fact.ID{}, rooms: map[string]string{}, tombstones: map[fact.ID]formats.Tombstone{}}
}

// Versions returns every version of a fact, by valid_from, then recorded_from;
// none of one that there is not, or that was erased.
func (s *State) Versions(n fact.ID) []*fact.Version {
	if vs, ok := s.all[n]; ok || s.base == nil {
		return vs
	}
	return s.base.versions(n)
}

// VersionCount is how many versions there are of all facts.
func (s *State) VersionCount() int {
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

// Room returns the spelling a category was first given, "" for a new one.
func (s *State) Room(category string) string { return s.rooms[formats.FoldName(category)] }

// Erased returns what is left of a fact that was erased; ok: it was.
func (s *State) Erased(n fact.ID) (t formats.Tombstone, ok bool) {
	t = s.tombstones[n]
	return t, !t.ErasedAt.IsZero()
}

// ByID returns the version with an id, nil if there is none.
func (s *State) ByID(version string) *fact.Version {
	n, ok := s.factOf(version)
	if !ok {
		return nil
	}
	for _, v := range s.Versions(n) {
		if v.ID == version {
			return v
		}
	}
	return nil
}

// factOf returns the fact that a version belongs to.
func (s *State) factOf(version string) (n fact.ID, ok bool) {
	if n, ok = s.names[version]; ok || s.base == nil {
		return n, ok
	}
	i, ok := s.base.keys.ByID(version)
	if !ok {
		return n, false
	}
	return s.base.name(s.base.keys.FactOf(i)), true
}

// put adds a version or takes the place of the one with its id.
func (s *State) put(v *fact.Version) {
	n := fact.IDOf(v.Category, v.Key)
	vs := slices.Clone(s.Versions(n))
	if i := slices.IndexFunc(vs, func(w *fact.Version) bool { return w.ID == v.ID }); i >= 0 {
		vs[i] = v
	} else {
		vs = append(vs, v)
	}
	slices.SortStableFunc(vs, fact.ByPeriod)
	s.set(n, vs)
	s.names[v.ID] = n
	if s.Room(v.Category) == "" {
		s.rooms[n.Category] = v.Category
	}
	s.changed = append(s.changed, n)
}

// set gives a fact other versions; none when it is erased.
func (s *State) set(n fact.ID, vs []*fact.Version) {
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
func (s *State) alias(n fact.ID, vs []*fact.Version) {
	for _, v := range vs {
		for _, a := range v.Aliases {
			if a = formats.FoldName(a); !slices.Contains(s.aliases[a], n) {
				s.aliases[a] = append(s.aliases[a], n)
			}
		}
	}
}

// clone is shallow: folds replace what the maps and slices hold, they never
// write into it.
func (s *State) clone() *State {
	c := *s
	c.all, c.names, c.aliases = maps.Clone(s.all), nil, nil // a clone is only read fact by fact
	c.base = s.base.clone()
	c.rooms, c.tombstones = maps.Clone(s.rooms), maps.Clone(s.tombstones)
	c.Beside = s.Beside.clipped()
	c.changed = nil
	return &c
}
