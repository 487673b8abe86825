package replica

import (
	"cmp"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Whose lines count for what
//
// Lines are folded in two rounds. First those of the inner circles: of this store, of the replicas
// that it trusts, and what was accepted. Then those of everybody else, as far as they are about
// nothing that the first round or this machine's own facts are about. So nobody outside can replace,
// end, rename, erase or order what was asserted inside, whatever times, ids and knowledge his lines
// claim. What is left over is held: it counts as not seen until it is accepted. Lines of others about
// facts of others alone are folded as ever.
//
// In the order of time a line of an outsider could stand before one of ours and change what ours
// leads to. So one round with limits for some lines was rejected.

// home is what this machine keeps to itself.
type home struct {
	names map[string]bool // the subjects of facts with local versions
	holds map[string]bool // those of them that hold now or later
	ids   map[string]bool // the ids of local versions
}

// homeOf is what a store keeps to itself.
func homeOf(st *state.State, now time.Time) home {
	h := home{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for n, v := range st.Each() {
		if v.Privacy == knowledge.PrivacyLocal {
			h.ids[v.ID] = true
			subjects := []string{factSubject(state.ErasedName(n))}
			for _, a := range v.Aliases {
				subjects = append(subjects, factSubject(hashed(formats.Name{Category: v.Category, Key: a})))
			}
			for _, s := range subjects {
				h.names[s] = true
				h.holds[s] = h.holds[s] || fact.Believed(v) && fact.Before(now, v.ValidUntil)
			}
		}
	}
	return h
}

// meetsHome reports whether a line of a trusted replica would say something else of a fact that is local
// here. It is left out while that holds: what is local here is nobody else's to end, and the line stays in
// the repository. What was taken in before the fact became local counts, and so does an erasure: it is
// about the shared part.
func (f *Folded) meetsHome(l *Line, h home) bool {
	if !l.fresh || l.own || len(h.holds) == 0 || listOps[l.Op] {
		return false
	}
	names := operations[l.Op].facts(l)
	if l.To != nil {
		names = append(names, *l.To)
	}
	return slices.ContainsFunc(names, func(n formats.Name) bool {
		return h.holds[factSubject(hashed(n))] || h.holds[factSubject(hashed(f.nameNow(l, n)))]
	})
}

// reasonFormer is the reason of an acceptance of lines that a former version took in. They count as
// they did then.
const reasonFormer = "former"

func factSubject(hashed string) string { return "fact " + hashed }

// subjects are what a line is about, each under a name: facts by their hashed names, entries of the
// other lists. They are found once: a fold asks for them often.
func (l *Line) subjects() []string {
	if !l.named {
		l.topics, l.named = l.findSubjects(), true
	}
	return l.topics
}

func (l *Line) findSubjects() (out []string) {
	switch l.Op {
	case opProject, opKey, opAccept, opGone:
		return nil
	case opErase, opRevive:
		out = append(out, factSubject(l.Name))
		for _, n := range l.Names {
			out = append(out, factSubject(n.Name))
		}
		return out
	}
	for _, name := range l.names() {
		out = append(out, factSubject(name))
	}
	if l.Pair != nil {
		for _, key := range []string{l.Pair.KeyA, l.Pair.KeyB} {
			divided := 0
			for i, r := range key {
				if r == '/' && i <= knowledge.MaxName && len(key)-i-1 <= knowledge.MaxName && divided < mostDivided { // a category may hold slashes
					divided++
					out = append(out, factSubject(hashed(formats.Name{Category: key[:i], Key: key[i+1:]})))
				}
			}
		}
	}
	if l.To != nil {
		out = append(out, factSubject(hashed(*l.To)))
	}
	if _, list := listOps[l.Op]; list {
		if about := operations[l.Op].about(l); about != "" {
			out = append(out, about)
		}
	}
	return out
}

var listOps = map[string]bool{
	opRelate: true, opUnrelate: true, opRemind: true, opJudge: true, opDispute: true,
}

// standing is in whose name a line speaks here. It decides with which authority the line does what its
// operation says, in one place for all operations: see [Line.by].
type standing int

const (
	outsider        standing = iota // it proposes
	acceptedByAgent                 // what was said here builds on it
	acceptedByTool                  // it was taken in where nobody is asked
	acceptedByUser                  // a person took it in
	insider                         // its writer is trusted, or a former version took it in
)

// part finds out which lines are inside.
func (f *Folded) part(lines []*Line, t *trust) (inside, outside []*Line) {
	type how struct {
		standing standing
		former   bool
	}
	accepted := map[string]how{}
	for _, l := range lines {
		if l.trusted = t == nil || t.has(l.writer); l.trusted && l.Op == opAccept {
			by := acceptedByAgent
			switch l.SourceKind {
			case knowledge.KindUser:
				by = acceptedByUser
			case knowledge.KindTool:
				by = acceptedByTool
			}
			for _, digest := range l.Lines {
				x := accepted[digest]
				accepted[digest] = how{max(x.standing, by), x.former || l.Reason == reasonFormer}
			}
		}
	}
	for _, l := range lines {
		x, ok := accepted[l.digest]
		if l.trusted || x.standing == acceptedByUser {
			f.confirmed[l.ref()] = true
		}
		l.guards, l.own = l.trusted || ok, t == nil || t.own != "" && l.writer.key == t.own
		if l.standing = x.standing; l.trusted || l.former || x.former {
			l.standing = insider
		}
		if l.guards || l.former {
			inside = append(inside, l)
		} else {
			outside = append(outside, l)
		}
	}
	return inside, outside
}

// by is in whose name a line does what it says. An operation without a kind is that of an agent, but
// for those that former versions wrote here.
func (l *Line) by() formats.Source {
	s := formats.Source{Kind: cmp.Or(l.SourceKind, knowledge.KindAgent), By: l.By, Person: fact.Person(l.Person), Confidence: 1}
	switch {
	case l.all:
		s.Kind = knowledge.KindUser // it tells what was done here, by who was allowed to
	case l.standing == insider:
		if l.SourceKind == "" && (l.own || l.former) {
			s.Kind = knowledge.KindUser
		}
	case l.standing == acceptedByUser:
		s.Kind, s.Person = knowledge.KindUser, "" // the name is its writer's claim
	case l.standing == acceptedByTool:
		s.Kind, s.Person = knowledge.KindTool, ""
	default:
		s.Kind = plainKind(s.Kind)
	}
	return s
}

// guard finds what lines from outside must not be about.
func (f *Folded) guard(inside []*Line, h home) {
	f.guarded = map[string]bool{}
	for name := range h.names {
		f.guarded[name] = true
	}
	for _, l := range inside {
		if !l.guards {
			continue
		}
		for _, s := range l.subjects() {
			f.guarded[s] = true
		}
		if m := f.underNewName(l); m != l {
			f.guarded[factSubject(hashed(m.fact()))] = true
		}
	}
	for n, v := range f.State.Each() {
		if f.guarded[factSubject(state.ErasedName(n))] {
			for _, a := range v.Aliases {
				f.guarded[factSubject(hashed(formats.Name{Category: v.Category, Key: a}))] = true
			}
		}
	}
}

// admit folds the lines from outside that are about nothing inside, and holds the others.
func (f *Folded) admit(inside, outside []*Line, h home, t *trust) {
	var free []*Line
	erased := f.erasures(inside)
	for _, l := range f.bounded(outside) {
		by := slices.IndexFunc(erased, func(e *erasure) bool { return e.covers(l, l.erasable()) })
		switch {
		case !slices.ContainsFunc(l.subjects(), func(s string) bool { return f.guarded[s] }) && !f.takesPlace(l, h):
			free = append(free, l)
		case by >= 0:
			f.Erased[l] = erased[by].line.Name // it goes like those inside
		default:
			f.Held = append(f.Held, l)
		}
	}
	f.admits = true
	for _, l := range f.keep(free) {
		if t.stopped() {
			return
		}
		if f.takesPlace(l, h) {
			f.Held = append(f.Held, l)
			continue
		}
		f.apply(l)
		f.outside = append(f.outside, l)
	}
}

// erasedOutside are the hashed names that only lines from outside erased.
func (f *Folded) erasedOutside() map[string]bool {
	out := map[string]bool{}
	for _, l := range f.outside {
		if l.Op == opErase {
			out[l.Name] = true
		}
	}
	return out
}

// takesPlace reports whether a line from outside uses the id of a version or an entry that is there:
// the id of a version leads to its fact.
func (f *Folded) takesPlace(l *Line, h home) bool {
	for _, v := range l.Versions {
		if h.ids[v.ID] {
			return true
		}
		if old := f.State.ByID(v.ID); old != nil && fact.IDOf(old.Category, old.Key) != fact.IDOf(v.Category, v.Key) {
			return true
		}
	}
	if v := l.entry(); v != nil {
		old := f.State.ByID(v.ID)
		n := f.nameOf(l, v)
		if old != nil && fact.IDOf(old.Category, old.Key) != fact.IDOf(n.Category, n.Key) || f.guarded[factSubject(hashed(n))] {
			return true
		}
	}
	switch {
	case l.Dispute != nil:
		old, ok := state.Disputes.Find(&f.State.Lists, *l.Dispute)
		return ok && fact.IDOf(old.Category, old.Key) != fact.IDOf(l.Dispute.Category, l.Dispute.Key)
	case l.Relation != nil, l.Reminder != nil:
		return false // their names are their subjects
	}
	return false
}

// inner reports whether a line counts whole: its writer is this store or is trusted.
func (l *Line) inner() bool { return l.standing == insider || l.all }

// plain is a line without what counts only where it was said: the authority of a user, a pin, other
// names of a fact, how often it was confirmed and found useful, how sure its writer is.
func (l *Line) plain() *Line {
	if l.inner() {
		return l
	}
	w := *l
	w.Aliases, w.Pinned = nil, nil
	w.Files = l.Files[:min(len(l.Files), knowledge.MaxNames)]
	w.SourceKind, w.Person = plainKind(l.SourceKind), ""
	if formats.FoldName(l.By) == knowledge.KindUser { // only the user's word is shown as the user's
		w.By = ""
	}
	if w.Privacy == knowledge.PrivacyLocal {
		w.Privacy = ""
	}
	if l.Confidence != nil {
		w.Confidence = new(proposedConfidence(*l.Confidence))
	}
	w.Versions = slices.Clone(l.Versions)
	for i, v := range w.Versions {
		w.Versions[i] = proposed(v, l.order)
	}
	if l.Gotcha != nil {
		g := *l.Gotcha
		g.Occurrences, g.Confidence = 1, proposedConfidence(g.Confidence)
		w.Gotcha = &g
	}
	if l.Relation != nil {
		r := *l.Relation
		r.Count = 1
		w.Relation = &r
	}
	if l.Dispute != nil {
		d := *l.Dispute
		d.Source, d.Confidence = proposedSource(d.Source, l.order), proposedConfidence(d.Confidence)
		w.Dispute = &d
	}
	return &w
}

// plainKind is the kind of a proposal. No agent here needs more than his own authority against it.
func plainKind(kind string) string {
	switch kind {
	case knowledge.KindUser, knowledge.KindTool:
		return knowledge.KindAgent
	}
	return kind
}

// together are the lines that are about some subjects, directly or by way of another line.
func together(lines []*Line, subjects map[string]bool) []*Line {
	g, wanted := groupsOf(lines), map[string]bool{}
	for s := range subjects {
		wanted[g.of(s)] = true
	}
	return slices.DeleteFunc(slices.Clone(lines), func(l *Line) bool {
		about := l.subjects()
		return len(about) == 0 || !wanted[g.of(about[0])]
	})
}

// What is looked at of lines from outside. Anybody can write any number, and some cost the more the
// more there are. The oldest count first. Of a replica that is trusted all count.
const (
	mostOutside  = 20_000  // lines
	mostEarlier  = 4_000   // versions and earlier periods in them, beside the first of each fact: every hook reads facts with all of theirs
	maxOutside   = 8 << 20 // bytes of them
	mostVersions = 50      // of one fact, and earlier periods of theirs: whoever reads a fact reads all
	mostSeveral  = 20      // that give one fact a value beside others: each is held against all that it has
	mostEntries  = 1_000   // of one list beside the facts
	mostMoves    = 200     // renames, and erasures: each is held against all lines
)

// bounded are the lines from outside that are looked at. The others count as not seen.
func (f *Folded) bounded(outside []*Line) (within []*Line) {
	versions, several, kinds, earlier := map[string]int{}, map[string]int{}, map[string]int{}, 0
	for _, l := range outside {
		op, fits, more := l.Op, true, 0
		switch {
		case op == opRename, op == opErase, op == opRevive:
			fits = kinds[op] < mostMoves
		case listOps[op]:
			fits = kinds[op] < mostEntries
		default:
			for _, s := range l.subjects() {
				if more = l.size(); versions[s] == 0 {
					more--
				}
				versions[s] += l.size()
				several[s] += l.several()
				fits = fits && versions[s] <= mostVersions && several[s] <= mostSeveral
			}
		}
		if fits = fits && len(within) < mostOutside && (more == 0 || earlier+more <= mostEarlier); !fits {
			f.Over, f.Held = append(f.Over, l), append(f.Held, l)
			continue
		}
		kinds[op]++
		earlier += more
		within = append(within, l)
	}
	return within
}

// size is how many versions a line gives its fact, and earlier periods of theirs; one at least.
func (l *Line) size() (n int) {
	for _, v := range l.Versions {
		n += 1 + len(v.Beliefs)
	}
	return max(1, n)
}

// several counts the values that a line gives its fact beside others.
func (l *Line) several() (n int) {
	if l.Also {
		n++
	}
	for _, v := range l.Versions {
		if v.Also {
			n++
		}
	}
	return n
}

func subjectsOf(lines []*Line) map[string]bool {
	out := map[string]bool{}
	for _, l := range lines {
		for _, s := range l.subjects() {
			out[s] = true
		}
	}
	return out
}

func setOf(lines []*Line) map[*Line]bool {
	out := make(map[*Line]bool, len(lines))
	for _, l := range lines {
		out[l] = true
	}
	return out
}

func digests(lines []*Line) (out []string) {
	for _, l := range lines {
		out = append(out, l.digest)
	}
	return out
}
