package state

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/verdict"
)

// Facts is what a decision about one fact may read. [State], [Reader] and [Overlay] implement it.
type Facts interface {
	// Versions returns every version of a fact, by valid_from, then recorded_from.
	Versions(fact.ID) []*fact.Version

	// Named lists the facts that may go by a key, category/key or alias. Who asks
	// compares them: an alias may have gone.
	Named(name string) []fact.ID

	// Valued lists the facts that may have a value. Who asks compares them.
	Valued(value string) []fact.ID

	// Room returns the spelling a category was first given, "" for a new one.
	Room(category string) string

	// Disputes returns every assertion that stood against a version of a fact, the oldest first.
	Disputes(fact.ID) []formats.Dispute

	// Dispute returns the dispute with an id.
	Dispute(id string) (d formats.Dispute, ok bool)

	// FileNow is the project's file of was as it is now; there is false where it is gone.
	FileNow(was formats.FileState) (now formats.FileState, there bool)
}

// Reader reads facts without having all of them in memory.
type Reader struct {
	Facts
	*Lists

	Seq   uint64    // the number of the last commit, 0 before the first
	At    time.Time // its recorded time, zero before the first
	Count int       // versions of all facts

	Files func(was formats.FileState) (now formats.FileState, there bool) // see [Facts.FileNow]; may be nil

	state *State
}

// State is all that a project knows. Whatever its maps point at is never changed in place. A
// fold puts a new value there, so that a shallow clone stays as it was. A version that was read
// is not to be written into either.
type State struct {
	Lists

	root, hash string
	seq        uint64    // the last commit
	at         time.Time // its recorded time; zero before the first

	began time.Time // the recorded time of the commit it was read at
	base  *base     // the index that holds all other facts, as of that commit; nil: all are here

	facts   map[fact.ID][]*fact.Version
	aliases map[string][]fact.ID // folded alias → facts that may go by it
	names   map[string]fact.ID   // version id → the fact it belongs to
	rooms   map[string]string    // folded category → first spelling
	values  *values
	stems   *stems
	count   int // versions of all facts

	changes changes
}

// changes are the facts that the commits after one changed, in order.
type changes struct {
	after   uint64 // the commit that the state was read at
	facts   []change
	commits []instant // all of them
}

// change is a fact that a commit changed.
type change struct {
	seq  uint64
	name fact.ID
}

// instant is when a commit was recorded. No two have the same.
type instant struct {
	seq uint64
	at  time.Time
}

// next has the following events be those of a commit.
func (s *State) next(seq uint64, at time.Time) {
	s.seq, s.at = seq, at
	s.changes.commits = append(s.changes.commits, instant{seq, at})
}

// New is the state of a project that knows nothing.
func New() *State {
	return &State{facts: map[fact.ID][]*fact.Version{}, aliases: map[string][]fact.ID{}, names: map[string]fact.ID{}, rooms: map[string]string{}, values: &values{}, stems: &stems{}}
}

// Reader gives access to single facts of the state.
func (s *State) Reader() Reader {
	return Reader{Facts: s, Lists: &s.Lists, Seq: s.seq, At: s.at, Count: s.count, state: s}
}

// Seq is the number of the last commit, zero before the first.
func (s *State) Seq() uint64 { return s.seq }

// At is the recorded time of the last commit, zero before the first.
func (s *State) At() time.Time { return s.at }

// Versions returns every version of a fact, by valid_from, then recorded_from;
// none of a fact that does not exist, or that was erased.
func (s *State) Versions(n fact.ID) []*fact.Version {
	if vs, ok := s.facts[n]; ok || s.base == nil {
		return vs
	}
	return s.base.versions(n)
}

// Named is [Facts.Named].
func (s *State) Named(name string) []fact.ID {
	name = formats.FoldName(name)
	names := slices.Clone(s.aliases[name])
	for r := range s.rooms {
		names = append(names, fact.ID{Category: r, Key: name})
	}
	for i := range len(name) {
		if name[i] == '/' {
			names = append(names, fact.ID{Category: name[:i], Key: name[i+1:]})
		}
	}
	if s.base != nil {
		names = append(names, s.base.named(name)...)
	}
	slices.SortFunc(names, fact.ID.Compare)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(n fact.ID) bool { return len(s.Versions(n)) == 0 })
}

// Valued is [Facts.Valued].
func (s *State) Valued(value string) []fact.ID {
	h := valueHash(value)
	names := s.values.of(s.facts, h)
	if s.base != nil {
		names = append(names, s.base.valued(h)...)
	}
	slices.SortFunc(names, fact.ID.Compare)
	return slices.Compact(names)
}

// valueHash is the same for values that are equal under any key. Others may share it,
// so who finds a fact by it compares the values.
func valueHash(value string) string {
	return strconv.FormatUint(verdict.Canonical("", value).Hash(), 36)
}

// values finds facts by the hash of a value. It is built at first use and then kept up to date.
type values struct {
	mu  sync.Mutex // views run side by side
	all map[string][]fact.ID
}

func (x *values) of(facts map[fact.ID][]*fact.Version, hash string) []fact.ID {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = make(map[string][]fact.ID, len(facts))
		for n, vs := range facts {
			x.add(n, vs)
		}
	}
	return slices.Clone(x.all[hash])
}

// note adds the values of a fact, if the map is built.
func (x *values) note(n fact.ID, vs []*fact.Version) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all != nil {
		x.add(n, vs)
	}
}

func (x *values) add(n fact.ID, vs []*fact.Version) {
	for _, v := range vs {
		if fact.Believed(v) {
			if h := valueHash(v.Value); !slices.Contains(x.all[h], n) {
				x.all[h] = append(x.all[h], n)
			}
		}
	}
}

// InRoom returns the facts of a folded category, in order.
func (s *State) InRoom(category string) (names []fact.ID) {
	if s.base != nil {
		names = s.base.inRoom(category)
	}
	for n := range s.facts {
		if n.Category == category {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, fact.ID.Compare)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(n fact.ID) bool { return len(s.Versions(n)) == 0 })
}

// CurrentIn returns what holds at now, the present, and is active, of the facts of a folded category,
// in order. It does not read the others.
func (k Reader) CurrentIn(category string, now time.Time) (out []*fact.Version) {
	for _, n := range k.state.InRoom(category) {
		for _, v := range fact.AllCurrent(k.Versions(n), now) {
			if v.ArchivedAt == nil {
				out = append(out, v)
			}
		}
	}
	return out
}

// Room returns the spelling a category was first given, "" for a new one.
func (s *State) Room(category string) string { return s.rooms[formats.FoldName(category)] }

// VersionCount is how many versions there are of all facts.
func (s *State) VersionCount() int { return s.count }

// ByID returns the version with an id, nil if there is none.
func (s *State) ByID(version string) *fact.Version {
	return fact.WithID(s.facts[s.names[version]], version)
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
	Now           time.Time // the present; see [fact.Timeline]
	AsOf          time.Time // valid then
	Known         time.Time // by what was known then; zero: by all that is known
	Archived      bool      // also outside the active set
	Tags          []string  // with all of these
}

// Matches reports whether a version of one of the facts passes the filter.
func (f *Filter) Matches(facts Facts, v *fact.Version) bool {
	p, ok := fact.PeriodOf(v), fact.Believed(v)
	switch {
	case !f.Known.IsZero():
		p, ok = fact.HeldAt(v, f.Known)
	case !f.Now.IsZero() && !f.AsOf.Before(f.Now):
		p, ok = PeriodNow(facts, v, f.Now)
	}
	switch {
	case !ok || !p.Contains(f.AsOf):
		return false
	case v.ArchivedAt != nil && !f.Archived:
		return false
	case f.Category != "" && formats.FoldName(v.Category) != formats.FoldName(f.Category):
		return false
	}
	for _, t := range f.Tags {
		if !slices.ContainsFunc(v.Tags, func(x string) bool { return formats.FoldName(x) == formats.FoldName(t) }) {
			return false
		}
	}
	return f.Key == "" || fact.GoesBy(v, f.Key)
}

// PeriodNow is [fact.PeriodNow] of a version of one of the facts.
func PeriodNow(facts Facts, v *fact.Version, now time.Time) (fact.Period, bool) {
	if !fact.RecordedAfter(v, now) {
		return fact.PeriodOf(v), fact.Believed(v)
	}
	return fact.PeriodNow(v, facts.Versions(fact.IDOf(v.Category, v.Key)), now)
}

// Matching yields the versions that pass a filter, in no order.
func (s *State) Matching(f *Filter) iter.Seq2[fact.ID, *fact.Version] {
	return func(yield func(fact.ID, *fact.Version) bool) {
		if f.Key != "" {
			for _, v := range MatchingNamed(s, f) {
				if !yield(fact.IDOf(v.Category, v.Key), v) {
					return
				}
			}
			return
		}
		for n, v := range s.Within(f.Category) {
			if f.Matches(s, v) && !yield(n, v) {
				return
			}
		}
	}
}

// MatchingNamed returns the versions that pass a filter with a key.
func MatchingNamed(facts Facts, f *Filter) (out []*fact.Version) {
	for _, n := range facts.Named(f.Key) {
		for _, v := range facts.Versions(n) {
			if f.Matches(facts, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// note notes that the commit that is folded changes a fact.
func (s *State) note(n fact.ID) { s.changes.facts = append(s.changes.facts, change{s.seq, n}) }

// change replaces one version by a copy that f has changed.
func (s *State) change(n fact.ID, id string, f func(*fact.Version)) {
	vs := slices.Clone(s.Versions(n))
	i := slices.IndexFunc(vs, func(v *fact.Version) bool { return v.ID == id })
	if i < 0 {
		return // a damaged commit took the version with it; the loss is reported by the journal
	}
	v := *vs[i]
	f(&v)
	vs[i] = &v
	s.set(n, vs)
}

// drop leaves a fact no version.
func (s *State) drop(n fact.ID) {
	if s.base == nil {
		delete(s.facts, n)
	} else {
		s.facts[n] = nil // the base must not be asked
	}
	s.stems.forget()
	s.note(n)
}

// spell has a new category be spelled as it is given.
func (s *State) spell(n fact.ID, category string) {
	if s.rooms[n.Category] == "" {
		s.rooms[n.Category] = category
	}
}

// Commit folds the events of one commit of a state that is kept nowhere.
func (s *State) Commit(at time.Time, events ...Event) {
	s.next(s.seq+1, at)
	for _, e := range events {
		e.kind().fold(s)
	}
}

// set gives a fact its versions and notes by which other names it goes. A name
// it no longer goes by stays: who looks a fact up by an alias compares it.
func (s *State) set(n fact.ID, vs []*fact.Version) {
	fresh := changed(s.facts[n], vs)
	s.facts[n] = vs
	for _, v := range fresh {
		for _, a := range v.Aliases {
			if a = formats.FoldName(a); !slices.Contains(s.aliases[a], n) {
				s.aliases[a] = append(s.aliases[a], n)
			}
		}
	}
	s.values.note(n, fresh)
	s.stems.note(n, fresh)
	s.note(n)
}

// changed is the stretch of a fact's versions that is not as it was. A fact may have thousands of
// versions, of which a commit changes one or two.
func changed(old, vs []*fact.Version) []*fact.Version {
	for len(old) > 0 && len(vs) > 0 && old[0] == vs[0] {
		old, vs = old[1:], vs[1:]
	}
	for len(old) > 0 && len(vs) > 0 && old[len(old)-1] == vs[len(vs)-1] {
		old, vs = old[:len(old)-1], vs[:len(vs)-1]
	}
	return vs
}

// clone is shallow, and only read fact by fact.
func (s *State) clone() *State {
	c := *s
	c.facts, c.names, c.aliases, c.changes, c.values, c.stems = maps.Clone(s.facts), nil, nil, changes{after: s.changes.after}, &values{}, &stems{}
	c.rooms = maps.Clone(s.rooms)
	c.Lists = s.Lists.clipped()
	return &c
}

// Document is the state as a fact file, as of a commit.
func (s *State) Document(h journal.Header) *formats.Document {
	d := s.document(h)
	for _, vs := range s.facts {
		d.Facts = append(d.Facts, vs...)
	}
	return d
}

// document is the fact file without its facts.
func (s *State) document(h journal.Header) *formats.Document {
	d := &formats.Document{
		Schema: formats.Schema, ProjectRoot: s.root, ProjectHash: s.hash,
		Seq: h.Seq, Generation: h.Generation, UpdatedAt: h.At.UTC(), Checksum: h.Checksum,
		Relations: s.Relations, Reminders: s.Reminders,
		JudgedPairs: s.Judged, Disputes: s.Disputed, Renames: s.Renames, History: s.History, Commits: s.Commits, Replica: s.Replica, Extra: s.Extra,
	}
	for _, t := range s.tombstones {
		d.Tombstones = append(d.Tombstones, t)
	}
	return d
}

// fromDocument is the state that a fact file holds.
func fromDocument(d *formats.Document) *State {
	s := New()
	s.root, s.hash, s.seq, s.at, s.began = d.ProjectRoot, d.ProjectHash, d.Seq, d.UpdatedAt, d.UpdatedAt
	s.Lists = Lists{
		Relations: d.Relations, Reminders: d.Reminders,
		Judged: d.JudgedPairs, Disputed: d.Disputes, Renames: d.Renames, History: d.History, Commits: d.Commits, Replica: d.Replica, Extra: d.Extra,
	}
	facts := make(map[fact.ID][]*fact.Version, len(d.Facts))
	s.facts, s.names = make(map[fact.ID][]*fact.Version, len(d.Facts)), make(map[string]fact.ID, len(d.Facts))
	first := map[string]time.Time{}
	for _, v := range d.Facts {
		n := fact.IDOf(v.Category, v.Key)
		facts[n] = append(facts[n], v)
		s.names[v.ID] = n
		if t, ok := first[n.Category]; !ok || v.RecordedFrom.Before(t) {
			first[n.Category], s.rooms[n.Category] = v.RecordedFrom, v.Category
		}
	}
	for n, vs := range facts {
		slices.SortStableFunc(vs, fact.ByPeriod)
		s.set(n, vs)
	}
	s.tombstones = make(map[fact.ID]formats.Tombstone, len(d.Tombstones))
	for _, t := range d.Tombstones {
		s.tombstones[fact.IDOf(t.Category, t.Key)] = t
	}
	s.changes, s.count = changes{after: d.Seq}, len(d.Facts)
	return s
}

// since lists the facts that commits after seq changed, each once. ok is false where that is not
// known, since the state was read at a later commit.
func (c *changes) since(seq uint64) (names []fact.ID, ok bool) {
	if seq < c.after {
		return nil, false
	}
	seen := map[fact.ID]bool{}
	for _, x := range slices.Backward(c.facts) {
		if x.seq <= seq {
			break
		}
		if !seen[x.name] {
			seen[x.name] = true
			names = append(names, x.name)
		}
	}
	return names, true
}

// ChangedSince returns the versions of the facts that the commits after the one of an instant
// changed. ok is false where that is not known without reading
// all facts, or where no commit has that instant: another copy of the file had one.
func (k Reader) ChangedSince(at time.Time) (vs []*fact.Version, ok bool) {
	s := k.state
	seq := s.changes.after
	if !at.Equal(s.began) {
		i, found := slices.BinarySearchFunc(s.changes.commits, at, func(c instant, at time.Time) int { return c.at.Compare(at) })
		if !found {
			return nil, false
		}
		seq = s.changes.commits[i].seq
	}
	names, ok := s.changes.since(seq)
	for _, n := range names {
		vs = append(vs, k.Versions(n)...)
	}
	return vs, ok
}
