package replica

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// ref points at a line. Two lines of one id differ in their digests.
type ref struct {
	writer writer
	seq    uint64
	digest string
}

func (l *Line) ref() ref { return ref{l.writer, l.seq, l.digest} }

// knows reports whether the writer of l had seen a line when it wrote l.
func (l *Line) knows(r ref) bool {
	if l.all {
		return true
	}
	if r.writer == l.writer {
		return r.seq < l.seq
	}
	// Former versions noted how far they had read by the id alone.
	return max(l.read.of(r.writer.String(), l.place), l.read.of(r.writer.id, l.place)) >= r.seq
}

// Folded is what a set of lines makes.
type Folded struct {
	State        *state.State
	Erased       map[*Line]string // lines that do not count, since they are about an erased fact, with its hashed name
	DuplicateIDs int              // ids that two different lines have

	inOrder      []*Line          // all lines
	versionLines map[string][]ref // by version: the lines that asserted it
	disputeLines map[string][]ref // by dispute: the lines that asserted its value
	linesAbout   map[string][]ref // by what they are about: see operation
	renamed      []renameLine     // in order

	lines     map[fact.ID][]*Line // about each fact, also of the time before it was renamed
	gone      map[string][]*Line  // by the hashed name of the erased fact
	admits    bool                // it folds lines from outside
	Held      []*Line             // lines from outside that do not count, since they are about something inside
	Over      []*Line             // those of Held that are not looked at, since there are too many
	Home      []*Line             // those of Held that are of trusted replicas: see meetsHome
	spoken    map[spoken]writer   // whose line a source is
	outside   []*Line             // lines from outside that count
	guarded   map[string]bool     // the subjects inside
	confirmed map[ref]bool        // lines that are trusted, or that a user accepted
	erasedBy  map[string]string   // by the hashed name of an erased fact: the kind of who erased it
	refused   map[*Line]bool      // erasures of what their writers may not erase

	self                         string            // the key of this store
	disputedBy, settledBy, ended map[string]string // which other replica opened or settled a dispute, or ended a version, by its id
	remindedBy                   map[string]string // which other replica made a reminder what it is, by its id
	at                           time.Time         // of the latest line
}

type renameLine struct {
	from fact.ID
	to   formats.Name
	by   ref
}

// spoken is a source of a version.
type spoken struct {
	version string
	at      int64
}

// takenIn reports whether only lines that nobody has confirmed are about something.
func (f *Folded) takenIn(about string) bool {
	refs := f.linesAbout[about]
	return len(refs) > 0 && !slices.ContainsFunc(refs, func(r ref) bool { return f.confirmed[r] })
}

// Fold replays lines in their order: first those of whom t trusts, then those of others that are
// about nothing inside or in h. The order of the slice does not matter.
func Fold(lines []*Line, t *trust, h home) *Folded {
	f := newFolded()
	f.inOrder = f.ordered(lines)
	return f.fold(t, h)
}

// foldSome folds some of the lines of another fold. Their places and what their writers had read are those
// among all lines: the lines that say so need not be among them.
func foldSome(inOrder []*Line, t *trust, h home) *Folded {
	f := newFolded()
	f.inOrder = inOrder
	return f.fold(t, h)
}

func (f *Folded) fold(t *trust, h home) *Folded {
	inside, outside := f.part(f.inOrder, t)
	if t != nil {
		f.self = t.own
	}
	for _, l := range f.keep(inside) {
		if t.stopped() {
			return f
		}
		if l.stays = f.meetsHome(l, h); l.stays {
			f.Held, f.Home = append(f.Held, l), append(f.Home, l)
			continue
		}
		f.apply(l)
	}
	f.guard(inside, h)
	f.admit(inside, outside, h, t)
	return f
}

func newFolded() *Folded {
	return &Folded{
		State: state.New(), Erased: map[*Line]string{}, versionLines: map[string][]ref{}, disputeLines: map[string][]ref{}, linesAbout: map[string][]ref{},
		lines: map[fact.ID][]*Line{}, gone: map[string][]*Line{}, confirmed: map[ref]bool{}, spoken: map[spoken]writer{},
		erasedBy: map[string]string{}, refused: map[*Line]bool{}, disputedBy: map[string]string{}, settledBy: map[string]string{}, ended: map[string]string{}, remindedBy: map[string]string{},
	}
}

// reading is how far the writer of some lines had read others, by their names: a table for all its lines,
// since a copy for each would take the memory of their product.
type reading map[string][]readTo

// readTo is how far a writer had read another one from one of its lines on.
type readTo struct {
	place int // of the line, among those of its writer
	seq   uint64
}

func (r reading) note(seen map[string]uint64, place int) {
	for name, seq := range seen {
		if all := r[name]; len(all) == 0 || all[len(all)-1].seq < seq {
			r[name] = append(all, readTo{place, seq})
		}
	}
}

// of is how far another one had been read at a line.
func (r reading) of(name string, place int) uint64 {
	all := r[name]
	if i := sort.Search(len(all), func(i int) bool { return all[i].place > place }); i > 0 {
		return all[i-1].seq
	}
	return 0
}

// ordered gives each line what its writer had read, and sorts them: by time, then
// replica, then number. The lines of a replica are in its own order, whatever its clock
// did. A line that is there twice counts once.
func (f *Folded) ordered(lines []*Line) []*Line {
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b *Line) int {
		return cmp.Or(cmp.Compare(a.writer.id, b.writer.id), cmp.Compare(a.seq, b.seq), cmp.Compare(a.digest, b.digest), cmp.Compare(b.writer.key, a.writer.key))
	})
	lines = slices.CompactFunc(lines, func(a, b *Line) bool {
		return a.writer.id == b.writer.id && a.seq == b.seq && a.digest == b.digest
	})
	slices.SortStableFunc(lines, func(a, b *Line) int { return cmp.Or(a.writer.compare(b.writer), cmp.Compare(a.seq, b.seq)) })
	var last *Line
	for _, l := range lines {
		l.read, l.place, l.order = reading{}, 0, l.At
		if last != nil && last.writer == l.writer {
			l.read, l.place = last.read, last.place+1
			if last.order.After(l.order) {
				l.order = last.order
			}
			if last.seq == l.seq && last.Op != opGone && l.Op != opGone {
				f.DuplicateIDs++
			}
		}
		l.read.note(l.Seen, l.place)
		last = l
	}
	slices.SortStableFunc(lines, func(a, b *Line) int {
		return cmp.Or(a.order.Compare(b.order), a.writer.compare(b.writer), cmp.Compare(a.seq, b.seq), cmp.Compare(a.digest, b.digest))
	})
	return lines
}

func hashed(n formats.Name) string { return state.ErasedName(fact.IDOf(n.Category, n.Key)) }

// portableFacts is the state that a decision about a line may use. Nothing in it depends on this
// machine or on facts that the line is not about.
type portableFacts struct{ *state.State }

// Room is empty: a category is spelled as its line has it.
func (portableFacts) Room(string) string { return "" }

// FileNow says that files are as the line has them. Its writer looked at them.
func (portableFacts) FileNow(was formats.FileState) (formats.FileState, bool) { return was, true }

// Dispute has the ids of disputes be long, so that they do not depend on each other.
func (c portableFacts) Dispute(id string) (formats.Dispute, bool) {
	if len(id) < len("d-")+disputeDigits {
		return formats.Dispute{}, true
	}
	return c.State.Dispute(id)
}

// disputeDigits is the length of the ids of shared disputes.
const disputeDigits = 8

// apart reports whether a line was written without knowledge of one of some others.
func (l *Line) apart(others []ref) bool {
	return slices.ContainsFunc(others, func(r ref) bool { return !l.knows(r) })
}

func (f *Folded) commit(l *Line, events ...state.Event) {
	for _, e := range events {
		if e.Remind == nil {
			continue
		}
		if old, there := state.Reminders.Find(&f.State.Lists, *e.Remind); !there || !sameReminder(old, *e.Remind) {
			f.remindedBy[e.Remind.ID] = f.other(l.writer)
		}
	}
	f.State.Commit(l.order, events...)
	for _, e := range events {
		if e.Dispute == nil {
			continue
		}
		if _, there := f.disputedBy[e.Dispute.ID]; !there {
			f.disputedBy[e.Dispute.ID] = f.other(l.writer)
		}
		if _, there := f.settledBy[e.Dispute.ID]; !there && e.Dispute.Settled != nil {
			f.settledBy[e.Dispute.ID] = f.other(l.writer)
		}
	}
}

// other is the id of a writer that is another replica; empty: it is this store, also of a line that is not
// written yet.
func (f *Folded) other(w writer) string {
	if w == (writer{}) || f.self != "" && w.key == f.self {
		return ""
	}
	return w.id
}

// apply replays one line.
func (f *Folded) apply(l *Line) {
	if l.order.After(f.at) {
		f.at = l.order
	}
	f.attribute(l)
	l = f.underNewName(l.plain())
	op := operations[l.Op]
	about := op.about(l)
	if op.rule.may(f, l, l.by()) {
		op.apply(f, l)
	} else if op.rule.instead != nil {
		op.rule.instead(f, l)
	}
	f.linesAbout[about] = append(f.linesAbout[about], l.ref())
}

// underNewName is a line about the fact that went by its name when the line was written.
func (f *Folded) underNewName(l *Line) *Line {
	if l.Category == "" {
		return l
	}
	n := f.nameNow(l, l.fact())
	if n == l.fact() {
		return l
	}
	w := *l
	w.Category, w.Key, w.Versions = n.Category, n.Key, nil
	for _, v := range l.Versions {
		x := *v
		x.Category, x.Key = w.Category, w.Key
		w.Versions = append(w.Versions, &x)
	}
	return &w
}

// nameNow is the name of the fact that a line names. A rename that its writer had not seen moved
// the fact.
func (f *Folded) nameNow(l *Line, n formats.Name) formats.Name {
	if len(f.renamed) == 0 {
		return n
	}
	id := fact.IDOf(n.Category, n.Key)
	for _, r := range f.renamed {
		if id == r.from && !l.knows(r.by) {
			n, id = r.to, fact.IDOf(r.to.Category, r.to.Key)
		}
	}
	return n
}

// apart reports whether a line was written without knowledge of one of some others that counts against it:
// what is only proposed keeps nobody inside from saying what holds, whether he had read it or not.
func (f *Folded) apart(l *Line, others []ref) bool {
	return slices.ContainsFunc(others, func(r ref) bool { return !l.knows(r) && (!l.inner() || f.isFirm(r)) })
}

// isFirm reports whether a line is inside, or a person took it in. One without a writer is of this store, and
// not written yet.
func (f *Folded) isFirm(r ref) bool { return f.confirmed[r] || r.writer == writer{} }

// unseen reports whether a version was asserted by a line that the writer of l had not
// seen.
func (f *Folded) unseen(l *Line) func(*fact.Version) bool {
	return func(v *fact.Version) bool { return f.apart(l, f.versionLines[v.ID]) }
}

func (f *Folded) assert(l *Line) { f.asserted(l, l.checked()) }

func (f *Folded) asserted(l *Line, c knowledge.Checked) {
	if !f.admits { // the newest value of outsiders counts, and the others are its history
		c.Unseen = f.unseen(l)
	}
	events, r, err := knowledge.Assert(portableFacts{f.State}, c, l.order)
	if err != nil {
		// What others asserted meanwhile leaves no room for it as it was asserted: too many names,
		// or the value that it replaces has gone. Its value is kept.
		c.Replaces, c.Tags, c.Aliases, c.Examples, c.Correct = "", nil, nil, nil, false
		if events, r, err = knowledge.Assert(portableFacts{f.State}, c, l.order); err != nil {
			return
		}
	}
	n := fact.IDOf(r.Category, r.Key)
	if n != fact.IDOf(l.Category, l.Key) {
		f.lines[n] = append(f.lines[n], l) // it names the fact by an alias
	}
	before := f.State.Versions(n)
	var open []formats.Dispute
	if f.admits {
		events = slices.DeleteFunc(events, func(e state.Event) bool { return e.Dispute != nil })
	} else {
		open = state.OpenDisputes(f.State, f.State.Disputes(n), l.order)
	}
	f.commit(l, f.inOwnWords(l, r.ID, before, events)...)
	if r.Outcome == knowledge.Disputed {
		return
	}
	f.versionLines[r.ID] = append(f.versionLines[r.ID], l.ref())
	f.spoken[spoken{r.ID, l.order.UnixNano()}] = l.writer
	f.inherit(n, before)
	if d := r.Dispute; d != nil && !f.admits {
		for _, v := range before {
			if v.Value == d.Value {
				f.disputeLines[d.ID] = append(f.disputeLines[d.ID], f.versionLines[v.ID]...)
				if refs := f.versionLines[v.ID]; len(refs) > 0 && r.Outcome != knowledge.Disputed { // it is the value of who said it before
					f.disputedBy[d.ID] = f.other(refs[0].writer)
				}
			}
		}
	}
	f.carry(l, n, open)
}

// inOwnWords takes out of a new version what it has of versions that are only proposed: tags and other names are
// the fact's, and questions and examples go on with a value that says more. before are the versions that the
// fact had.
func (f *Folded) inOwnWords(l *Line, id string, before []*fact.Version, events []state.Event) []state.Event {
	if !l.inner() || fact.WithID(before, id) != nil || !slices.ContainsFunc(before, f.isProposed) {
		return events
	}
	said := map[string]bool{}
	for _, words := range [][]string{l.Tags, l.Aliases, l.Questions, l.Examples} {
		for _, w := range words {
			said[w] = true
		}
	}
	for _, v := range before {
		if !f.isProposed(v) {
			for w := range texts([]*fact.Version{v}) {
				said[w] = true
			}
		}
	}
	for i, e := range events {
		if e.Put != nil && e.Put.ID == id {
			v := *e.Put
			for _, words := range []*[]string{&v.Tags, &v.Aliases, &v.Questions, &v.Examples} {
				*words = slices.DeleteFunc(slices.Clone(*words), func(w string) bool { return !said[w] })
			}
			events[i].Put = &v
		}
	}
	return events
}

// inherit notes whose lines stand behind versions that follow from others: the rest of one that was
// interrupted, and one made of several. before are the versions that the fact had.
func (f *Folded) inherit(n fact.ID, before []*fact.Version) {
	was := make(map[*fact.Version]bool, len(before))
	for _, v := range before {
		was[v] = true
	}
	for _, v := range f.State.Versions(n) {
		if was[v] {
			continue
		}
		if v.Outcome == outcomeResumed && len(f.versionLines[v.ID]) == 0 {
			f.versionLines[v.ID] = f.versionLines[string(v.Supersedes)]
		}
		for _, s := range v.Sources {
			at := s.At.UnixNano()
			if f.spoken[spoken{v.ID, at}].id != "" {
				continue
			}
			for _, w := range before {
				if by := f.spoken[spoken{w.ID, at}]; by.id != "" && slices.ContainsFunc(w.Sources, func(x formats.Source) bool { return x.At.Equal(s.At) && x.By == s.By && x.Kind == s.Kind }) {
					f.spoken[spoken{v.ID, at}] = by
					break
				}
			}
		}
	}
}

// carry handles a value that was asserted concurrently and lost to a version that has now
// ended. The value becomes a dispute against the current version, unless its writer had seen
// the value.
func (f *Folded) carry(l *Line, n fact.ID, open []formats.Dispute) {
	current := fact.Current(f.State.Versions(n), l.order)
	if current == nil || current.Also || len(open) == 0 {
		return
	}
	if len(f.State.Disputes(n)) >= mostCarried {
		return
	}
	for _, d := range open {
		if refs := f.disputeLines[d.ID]; l.apart(refs) && state.DisputeState(f.State, d, l.order) == formats.DisputeClosed && verdict.Compare(current.Key, current.Value, d.Value) != verdict.Equal {
			for _, e := range knowledge.OpenDispute(portableFacts{f.State}, formats.Dispute{Value: d.Value, Confidence: d.Confidence, Source: d.Source}, current, l.order) {
				f.commit(l, e)
				f.disputedBy[e.Dispute.ID] = f.disputedBy[d.ID]
				f.disputeLines[e.Dispute.ID] = append(f.disputeLines[e.Dispute.ID], refs...)
			}
		}
	}
}

// mostCarried is how many disputes of a fact there are, open or not, while values that lost are still
// carried to the version that follows. Each of them is looked at for each new value.
const mostCarried = 100

// retract ends a fact, or one of its values. Its writer must have seen all that was
// asserted of it: otherwise the removal stands as a dispute, and nothing ends.
func (f *Folded) retract(l *Line) {
	n, unseen := fact.IDOf(l.Category, l.Key), f.unseen(l)
	by := l.by()
	for _, h := range fact.Timeline(f.State.Versions(n), l.order) {
		same := l.Value == "" || verdict.Compare(h.Key, h.Value, l.Value) == verdict.Equal
		if same && fact.Before(l.order, h.Period.Until) && (unseen(h.Version) || !knowledge.MayReplace(portableFacts{f.State}, by, h.Version)) {
			f.commit(l, knowledge.OpenDispute(portableFacts{f.State}, formats.Dispute{Value: l.Value, Confidence: 1, Source: by, Removal: true, Reason: l.Reason, ValidUntil: l.ValidUntil}, h.Version, l.order)...)
			return
		}
	}
	as := formats.Retraction{RetractedAt: &l.order, RetractedBy: l.By, RetractedPerson: by.Person, RetractedReason: l.Reason}
	if formats.FoldName(l.By) == knowledge.KindUser { // only the user's word is shown as the user's
		as.RetractedBy = by.Kind
	}
	events := knowledge.Retract(portableFacts{f.State}, n, l.Value, l.ValidUntil, as, l.order)
	for _, e := range events {
		f.ended[e.Put.ID] = f.other(l.writer)
	}
	f.commit(l, events...)
}

// whole sets a fact to its writer's versions. If others changed it meanwhile, their changes
// stay: the writer's current values are asserted, and what it ended becomes a dispute.
func (f *Folded) whole(l *Line) {
	n := fact.IDOf(l.Category, l.Key)
	there := f.State.Versions(n)
	versions := make([]*fact.Version, len(l.Versions))
	for i, v := range l.Versions {
		versions[i] = shared(v)
	}
	if l.Rest && len(versions) > 0 {
		v := versions[0]
		if old := fact.WithID(there, v.ID); old != nil {
			v.Sources = slices.Concat(old.Sources, v.Sources)
			if !l.inner() { // the limits are those of what is stored, in however many lines it stands
				v.Sources = v.Sources[max(0, len(v.Sources)-mostSources):]
			}
		}
	}
	if l.More {
		for _, v := range there {
			if fact.WithID(versions, v.ID) == nil {
				versions = append(versions, v)
			}
		}
	}
	said := setOfIDs(versions)
	if l.inner() && !l.More {
		for _, v := range there {
			if !said[v.ID] && f.isProposed(v) {
				versions = append(versions, v)
			}
		}
	}
	slices.SortStableFunc(versions, fact.ByPeriod)
	if len(there) == 0 || !f.apart(l, f.linesAbout[factKey(l.fact())]) && f.keeps(l, there, versions) {
		if l.inner() {
			versions = f.yield(l, versions, said)
		}
		for _, v := range versions {
			if !said[v.ID] {
				continue
			}
			if old := fact.WithID(there, v.ID); old == nil && f.resumesProposal(v, there) {
				f.versionLines[v.ID] = f.versionLines[string(v.Supersedes)]
			} else if old == nil || len(v.Sources) > len(old.Sources) {
				f.versionLines[v.ID] = append(f.versionLines[v.ID], l.ref())
			}
			for _, s := range v.Sources {
				if at := (spoken{v.ID, s.At.UnixNano()}); f.spoken[at].id == "" {
					f.spoken[at] = l.writer
				}
			}
		}
		f.commit(l, state.Event{Replace: &state.Replacement{Facts: []state.Replaced{{Category: l.Category, Key: l.Key, Versions: versions}}}})
		f.inherit(n, there)
		return
	}
	for _, v := range versions {
		old := fact.WithID(f.State.Versions(n), v.ID)
		now := fact.Before(l.order, v.ValidUntil) && fact.Believed(v)
		// An end that somebody gave, and not one by the version that follows.
		ends := now && v.ValidUntil != nil && !slices.ContainsFunc(versions, func(w *fact.Version) bool { return w.ValidFrom.Equal(*v.ValidUntil) })
		switch {
		case old == nil && !now:
			f.commit(l, state.Event{Put: withoutOverlap(v, f.State.Versions(n), l.order)})
			f.versionLines[v.ID] = append(f.versionLines[v.ID], l.ref())
		case old == nil:
			f.asserted(l, restated(v))
		case fact.Believed(old) && (!now && fact.Before(l.order, old.ValidUntil) || ends && fact.Before(*v.ValidUntil, old.ValidUntil)):
			by := l.by()
			d := formats.Dispute{Value: v.Value, Confidence: 1, Source: by, Removal: true, Reason: v.RetractedReason}
			if ends {
				d.ValidUntil = v.ValidUntil
			}
			f.commit(l, knowledge.OpenDispute(portableFacts{f.State}, d, old, l.order)...)
		}
	}
}

// isProposed reports whether only lines that nobody has confirmed stand behind a version.
func (f *Folded) isProposed(v *fact.Version) bool {
	refs := f.versionLines[v.ID]
	return len(refs) > 0 && !slices.ContainsFunc(refs, f.isFirm)
}

// resumesProposal reports whether a version is the rest of one that is only proposed. Former versions wrote
// it as their own.
func (f *Folded) resumesProposal(v *fact.Version, there []*fact.Version) bool {
	old := fact.WithID(there, string(v.Supersedes))
	return v.Outcome == outcomeResumed && old != nil && f.isProposed(old) && v.Value == old.Value && len(v.Sources) <= len(old.Sources)
}

const outcomeResumed = "resumed"

// yield has what is only proposed make room for what is said of the fact, as when it was said: see
// [knowledge.Assert]. A line of a store holds no proposals, so they are those of the lines before it.
func (f *Folded) yield(l *Line, versions []*fact.Version, said map[string]bool) (out []*fact.Version) {
	var proposals, firm []*fact.Version
	for _, v := range versions {
		switch {
		case said[v.ID] || !f.isProposed(v):
			firm = append(firm, v)
		case fact.Believed(v):
			proposals = append(proposals, v)
		default:
			out = append(out, v)
		}
	}
	several := slices.ContainsFunc(firm, func(v *fact.Version) bool { return v.Also && fact.Believed(v) && fact.Before(l.order, v.ValidUntil) })
	out = append(out, firm...)
	taken := func(id string) bool { return fact.WithID(versions, id) != nil || fact.WithID(out, id) != nil }
	for _, v := range proposals {
		if !fact.Before(l.order, v.ValidUntil) && !slices.ContainsFunc(firm, func(w *fact.Version) bool { return fact.Believed(w) && fact.PeriodOf(w).Overlaps(fact.PeriodOf(v)) }) {
			out = append(out, v) // it is over
			continue
		}
		if v.ValidFrom.After(l.order) && v.Outcome != outcomeResumed {
			out = append(out, knowledge.Bare(fact.Disbelieve(v, l.order), several)) // a plan
			continue
		}
		rest := []fact.Period{fact.PeriodOf(v)}
		for _, w := range firm {
			if fact.Believed(w) && !w.Also {
				rest = without(rest, fact.PeriodOf(w))
			}
		}
		for i, p := range rest {
			switch {
			case p.Equal(fact.PeriodOf(v)):
				out = append(out, knowledge.Bare(v, several))
			case i == 0:
				out = append(out, knowledge.Bare(fact.Reperiod(v, p, l.order), several))
			default:
				w := knowledge.Bare(v, several)
				w.ID = fact.NewVersionID(v.Category, v.Key, v.Value, l.order, taken)
				w.ValidFrom, w.ValidUntil, w.RecordedFrom, w.CreatedAt = p.From, p.Until, l.order, l.order
				w.Beliefs, w.Supersedes, w.Outcome = nil, formats.Optional(v.ID), outcomeResumed
				w.Sources = slices.Clip(v.Sources)
				out = append(out, w)
			}
		}
		if len(rest) == 0 {
			out = append(out, knowledge.Bare(fact.Disbelieve(v, l.order), several))
		}
	}
	slices.SortStableFunc(out, fact.ByPeriod)
	return out
}

// without are periods without another one.
func without(periods []fact.Period, gap fact.Period) (out []fact.Period) {
	for _, p := range periods {
		if !p.Overlaps(gap) {
			out = append(out, p)
			continue
		}
		if p.From.Before(gap.From) {
			out = append(out, fact.Period{From: p.From, Until: &gap.From})
		}
		if gap.Until != nil && fact.Before(*gap.Until, p.Until) {
			out = append(out, fact.Period{From: *gap.Until, Until: p.Until})
		}
	}
	return out
}

func setOfIDs(vs []*fact.Version) map[string]bool {
	out := make(map[string]bool, len(vs))
	for _, v := range vs {
		out[v.ID] = true
	}
	return out
}

// keeps reports whether the versions that a line gives a fact leave what others said of it: each value
// with its beginning, the sources that are not its writer's, and what it may not change of the rest.
func (f *Folded) keeps(l *Line, there, versions []*fact.Version) bool {
	for _, old := range there {
		mine := !slices.ContainsFunc(f.versionLines[old.ID], func(r ref) bool { return r.writer != l.writer })
		v := fact.WithID(versions, old.ID)
		if v == nil && mine {
			continue
		}
		if v == nil || v.Value != old.Value || !v.RecordedFrom.Equal(old.RecordedFrom) {
			return false
		}
		for _, s := range old.Sources {
			if by := f.spoken[spoken{old.ID, s.At.UnixNano()}]; by != l.writer && !slices.ContainsFunc(v.Sources, func(x formats.Source) bool {
				return x.At.Equal(s.At) && x.Kind == s.Kind && x.By == s.By
			}) {
				return false
			}
		}
		same := v.Pinned == old.Pinned && v.Privacy == old.Privacy && fact.PeriodOf(v).Equal(fact.PeriodOf(old)) && fact.Believed(v) == fact.Believed(old) && slices.Equal(v.Aliases, old.Aliases)
		if !same && !knowledge.MayReplace(portableFacts{f.State}, l.by(), old) {
			return false
		}
	}
	return true
}

// withoutOverlap is a version of the past as it is put among others. Where one of them is believed
// in its period, it stays on record only.
func withoutOverlap(v *fact.Version, there []*fact.Version, now time.Time) *fact.Version {
	if fact.Believed(v) && !v.Also && slices.ContainsFunc(there, func(w *fact.Version) bool {
		return fact.Believed(w) && fact.PeriodOf(w).Overlaps(fact.PeriodOf(v))
	}) {
		return fact.Disbelieve(v, now)
	}
	return v
}

// restated is a version as an assertion.
func restated(v *fact.Version) knowledge.Checked {
	c := knowledge.Restated(v)
	c.Also, c.Privacy = v.Also, v.Privacy
	if n := len(v.Sources); n > 0 {
		c.Source = v.Sources[n-1]
	}
	return c
}

// rename moves a fact. It does not move onto a name that came to be used meanwhile, unless the
// two were to become one. Then the rename stands as a dispute.
func (f *Folded) rename(l *Line) {
	from := l.fact()
	by := l.by()
	at := func(n formats.Name) []*fact.Version { return f.State.Versions(fact.IDOf(n.Category, n.Key)) }
	if current := fact.Current(at(from), l.order); current != nil && len(at(*l.To)) > 0 && !l.Merge && fact.IDOf(from.Category, from.Key) != fact.IDOf(l.To.Category, l.To.Key) {
		f.commit(l, knowledge.OpenDispute(portableFacts{f.State}, formats.Dispute{Confidence: 1, Source: by, Rename: l.To}, current, l.order)...)
		return
	}
	events, dispute, err := knowledge.DecideRename(portableFacts{f.State}, from, *l.To, l.Merge, by, l.order, l.order)
	if err != nil {
		return // there is no such fact any more, or it has that name
	}
	f.commit(l, events...)
	if dispute.Warned() {
		return
	}
	a, b := factKey(from), factKey(*l.To)
	if a != b {
		f.linesAbout[b] = append(f.linesAbout[b], f.linesAbout[a]...)
		f.renamed = append(f.renamed, renameLine{fact.IDOf(from.Category, from.Key), *l.To, l.ref()})
		f.moveLines(from, *l.To)
	}
}

func union(a, b []string) []string {
	out := slices.Clip(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// ofReplica begins the name of a user of another replica who has none that is known.
const ofReplica = knowledge.KindUser + " of "

// shared is a version without what belongs to one machine.
func shared(v *fact.Version) *fact.Version {
	w := *v
	w.RetrievalCount, w.LastRetrieved, w.ArchivedAt, w.TakenIn = 0, nil, nil, false
	if slices.ContainsFunc(v.Sources, func(s formats.Source) bool { return s.Replica != "" }) {
		w.Sources = slices.Clone(v.Sources)
		for i := range w.Sources {
			w.Sources[i].Replica = ""
		}
	}
	if strings.HasPrefix(w.RetractedBy, ofReplica) {
		w.RetractedBy = knowledge.KindUser
	}
	return &w
}

// equal reports whether two values are written the same.
func equal[T any](a, b T) bool {
	x, errA := journal.Encode(a)
	y, errB := journal.Encode(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
