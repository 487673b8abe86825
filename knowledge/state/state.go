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

// Facts is what a decision on one fact may ask. A [State] meets it, [Known], and an [Overlay].
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

// Known is what can be asked without having all facts in memory.
type Known struct {
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
	from, seq  uint64    // the commit it was read at, and the last commit
	at         time.Time // its recorded time; zero before the first

	base  *base     // the index that holds all other facts; nil: all are here
	began time.Time // the recorded time of the commit that the base is as of

	facts   map[fact.ID][]*fact.Version
	aliases map[string][]fact.ID // folded alias → facts that may go by it
	names   map[string]fact.ID   // version id → the fact it belongs to
	rooms   map[string]string    // folded category → first spelling
	values  *values
	count   int // versions of all facts

	changed []change // facts that commits after from changed, in order
}

// change is a fact that a commit changed; the zero ID stands for patterns and
// gotchas.
type change struct {
	seq  uint64
	name fact.ID
}

// New is the state of a project that knows nothing.
func New() *State {
	return &State{facts: map[fact.ID][]*fact.Version{}, aliases: map[string][]fact.ID{}, names: map[string]fact.ID{}, rooms: map[string]string{}, values: &values{}}
}

// Known is the state as those see it who need few facts.
func (s *State) Known() Known {
	return Known{Facts: s, Lists: &s.Lists, Seq: s.seq, At: s.at, Count: s.count, state: s}
}

// Seq is the number of the last commit, zero before the first.
func (s *State) Seq() uint64 { return s.seq }

// At is the recorded time of the last commit, zero before the first.
func (s *State) At() time.Time { return s.at }

// Versions returns every version of a fact, by valid_from, then recorded_from;
// none of one that there is not, or that was erased.
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

// values finds facts by the hash of a value. It is made when it is first asked
// for, and kept up from then on.
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

// note adds the values of a fact, if any were asked for yet.
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

func (s *State) fold(e Event) {
	switch {
	case e.Open != nil:
		s.root, s.hash = e.Open.Root, e.Open.Hash
	case e.Put != nil:
		s.put(e.Put)
	case e.Confirm != nil:
		s.change(fact.IDOf(e.Confirm.Category, e.Confirm.Key), e.Confirm.ID, e.Confirm.apply)
	case e.Questions != nil:
		q := e.Questions
		s.change(fact.IDOf(q.Category, q.Key), q.ID, func(v *fact.Version) { v.Questions, v.QuestionsAt = q.Questions, &q.At })
	case e.Erase != nil:
		s.erase(*e.Erase)
		s.Lists.fold(e)
	case e.Rename != nil:
		s.rename(e.Rename)
		s.Lists.rename(e.Rename)
	default:
		if e.Replace != nil {
			s.replace(e.Replace.Facts)
		}
		s.Lists.fold(e)
		if e.Replace != nil && (e.Replace.Patterns != nil || e.Replace.Gotchas != nil) || e.Pattern != nil || e.Unpattern != nil || e.Gotcha != nil || e.Ungotcha != "" {
			s.note(lessons)
		}
	}
}

// lessons stands for patterns and gotchas in the list of changes.
var lessons = fact.ID{}

// note notes that the commit that is folded changes a fact.
func (s *State) note(n fact.ID) { s.changed = append(s.changed, change{s.seq, n}) }

// put adds a version or takes the place of the one with its id.
func (s *State) put(v *fact.Version) {
	n := fact.IDOf(v.Category, v.Key)
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
	if s.rooms[n.Category] == "" {
		s.rooms[n.Category] = v.Category
	}
}

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

func (s *State) erase(t formats.Tombstone) {
	n := fact.IDOf(t.Category, t.Key)
	for _, v := range s.Versions(n) {
		delete(s.names, v.ID)
		s.count--
	}
	if s.base == nil {
		delete(s.facts, n)
	} else {
		s.facts[n] = nil // the base must not be asked
	}
	s.note(n)
}

// rename moves the versions of a fact to another name.
func (s *State) rename(r *formats.Renaming) {
	from, to := fact.IDOf(r.From.Category, r.From.Key), fact.IDOf(r.To.Category, r.To.Key)
	moved := s.Versions(from)
	var vs []*fact.Version
	if from != to {
		vs = slices.Clone(s.Versions(to))
		if s.base == nil {
			delete(s.facts, from)
		} else {
			s.facts[from] = nil // the base must not be asked
		}
		s.note(from)
	}
	for _, v := range moved {
		w := *v
		w.Category, w.Key, w.RenamedAt = r.To.Category, r.To.Key, &r.At
		vs = append(vs, &w)
		s.names[w.ID] = to
	}
	slices.SortStableFunc(vs, fact.ByPeriod)
	s.set(to, vs)
	if s.rooms[to.Category] == "" {
		s.rooms[to.Category] = r.To.Category
	}
}

// replace gives facts all their versions anew.
func (s *State) replace(facts []Replaced) {
	for _, r := range facts {
		n := fact.IDOf(r.Category, r.Key)
		for _, v := range s.Versions(n) {
			if s.names[v.ID] == n {
				delete(s.names, v.ID)
			}
			s.count--
		}
		switch {
		case len(r.Versions) > 0:
			s.set(n, r.Versions)
		case s.base == nil:
			delete(s.facts, n)
			s.note(n)
		default:
			s.facts[n] = nil // the base must not be asked
			s.note(n)
		}
		for _, v := range r.Versions {
			s.names[v.ID] = n
			s.count++
			if s.rooms[n.Category] == "" {
				s.rooms[n.Category] = v.Category
			}
		}
	}
}

// Commit folds the events of one commit of a state that is kept nowhere.
func (s *State) Commit(at time.Time, events ...Event) {
	s.seq, s.at = s.seq+1, at
	for _, e := range events {
		s.fold(e)
	}
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
	s.values.note(n, vs)
	s.note(n)
}

// clone is shallow, and only read fact by fact.
func (s *State) clone() *State {
	c := *s
	c.facts, c.names, c.aliases, c.changed, c.values = maps.Clone(s.facts), nil, nil, nil, &values{}
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
		Patterns: s.Patterns, Gotchas: s.Gotchas, Relations: s.Relations, Reminders: s.Reminders,
		JudgedPairs: s.Judged, Disputes: s.Disputed, History: s.History, Commits: s.Commits, Replica: s.Replica, Extra: s.Extra,
	}
	for _, t := range s.tombstones {
		d.Tombstones = append(d.Tombstones, t)
	}
	return d
}

// fromDocument is the state that a fact file holds.
func fromDocument(d *formats.Document) *State {
	s := New()
	s.root, s.hash, s.from, s.seq, s.at = d.ProjectRoot, d.ProjectHash, d.Seq, d.Seq, d.UpdatedAt
	s.Lists = Lists{
		Patterns: d.Patterns, Gotchas: d.Gotchas, Relations: d.Relations, Reminders: d.Reminders,
		Judged: d.JudgedPairs, Disputed: d.Disputes, History: d.History, Commits: d.Commits, Replica: d.Replica, Extra: d.Extra,
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
	s.tombstones = make(map[fact.ID]formats.Tombstone, len(d.Tombstones))
	for _, t := range d.Tombstones {
		s.tombstones[fact.IDOf(t.Category, t.Key)] = t
	}
	s.changed, s.count = nil, len(d.Facts)
	return s
}

// changedSince lists the facts that commits after seq changed, each once. It tells whether
// patterns or gotchas did. ok is false where the state does not know, since it was read at a
// later commit.
func (s *State) changedSince(seq uint64) (names []fact.ID, lessonsToo, ok bool) {
	if seq < s.from {
		return nil, false, false
	}
	seen := map[fact.ID]bool{}
	for _, c := range slices.Backward(s.changed) {
		if c.seq <= seq {
			break
		}
		if c.name == lessons {
			lessonsToo = true
		} else if !seen[c.name] {
			seen[c.name] = true
			names = append(names, c.name)
		}
	}
	return names, lessonsToo, true
}

// ChangedSince returns the versions of the facts that commits after seq changed,
// patterns and gotchas among them. ok is false where that is not known.
func (k Known) ChangedSince(seq uint64) (vs []*fact.Version, ok bool) {
	names, lessonsToo, ok := k.state.changedSince(seq)
	for _, n := range names {
		vs = append(vs, k.Versions(n)...)
	}
	if lessonsToo {
		vs = append(vs, k.Lessons()...)
	}
	return vs, ok
}

// TouchedAfter returns the versions whose text a commit after an instant changed (see
// [fact.Touched]), and all patterns and gotchas. ok is false if one must read all facts to know.
func (k Known) TouchedAfter(at time.Time) (vs []*fact.Version, ok bool) {
	if k.state.base != nil && at.Before(k.state.began) {
		return nil, false
	}
	for _, all := range k.state.facts {
		for _, v := range all {
			if fact.Touched(v).After(at) {
				vs = append(vs, v)
			}
		}
	}
	return append(vs, k.Lessons()...), true
}

// Epoch names the set of facts that older recorded times cannot join. An import and what a
// repository brings have recorded times of their own. An erasure takes facts out.
func (l *Lists) Epoch() string {
	erased := int64(0)
	for _, t := range l.tombstones {
		erased = max(erased, t.ErasedAt.UnixNano())
	}
	imported, _ := l.Last(NoteImport)
	epoch := strconv.FormatInt(imported.Timestamp.UnixNano(), 36) + "-" + strconv.FormatInt(erased, 36)
	if l.Replica != nil {
		epoch += "-" + strconv.FormatUint(l.Replica.Commit, 36)
	}
	return epoch
}
