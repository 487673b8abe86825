package replica

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Erasure
//
// A line of an erasure holds no value and no name: the fact's names are hashed. Of the lines that its
// writer knew, those go whose ids it has. Of the others those go that are about the fact by its names:
// their writers knew neither of the erasure nor of the renaming away from the name. So a fact that took a
// former name over stays. A renaming that the eraser did not know gives the fact one more name.
//
// What is left of a line is its place in the order ("gone"), and of a renaming the hashed names. So it
// makes no difference which replica still has the lines whole.
//
// Nobody erases what somebody of more authority said. A line that the eraser did not know stays then. If he
// knew one, he was not allowed to erase the fact, and nothing of it goes: see [Folded.mayErase]. What
// somebody outside erases are his own lines.

// erasure is an erased fact while the lines are passed through in their order.
type erasure struct {
	line  *Line
	ids   map[string]bool // of the lines that the eraser knew to be about the fact; nil: by the names alone
	names []erasedName

	authority int // of who erases
}

// authority is that of who asserted what a line says of a fact.
func (l *Line) authority() (most int) {
	switch l.Op {
	case opAssert, opGone:
		kind := l.claimedKind()
		switch {
		case kind == "":
			return 0
		case !l.inner():
			kind = plainKind(kind)
		}
		return knowledge.Authority(kind)
	case opFact:
		for _, v := range l.plain().Versions {
			if v.Pinned {
				return knowledge.Authority(knowledge.KindUser)
			}
			for _, s := range v.Sources {
				most = max(most, knowledge.Authority(s.Kind))
			}
		}
	}
	return most
}

// claimedKind is the kind of source with the most authority that a line claims for what it says of a
// fact; empty for a line that asserts nothing.
func (l *Line) claimedKind() (kind string) {
	switch l.Op {
	case opAssert:
		if l.Pinned != nil && *l.Pinned {
			return knowledge.KindUser
		}
		return cmp.Or(l.SourceKind, knowledge.KindAgent)
	case opGone:
		return l.SourceKind
	case opFact:
		for _, v := range l.Versions {
			if v.Pinned {
				return knowledge.KindUser
			}
			for _, s := range v.Sources {
				if knowledge.Authority(s.Kind) > knowledge.Authority(kind) {
					kind = s.Kind
				}
			}
		}
	}
	return kind
}

// mayErase reports whether who erases may change all that he knew of the fact.
func (f *Folded) mayErase(l *Line, _ formats.Source) bool { return !f.refused[l] }

// wishErased records that somebody wants to have a fact removed.
func (f *Folded) wishErased(l *Line) {
	for n, vs := range f.State.All() {
		if v := fact.Current(vs, l.order); v != nil && state.ErasedName(n) == l.Name {
			f.commit(l, knowledge.OpenDispute(portableFacts{f.State}, formats.Dispute{Confidence: 1, Source: l.by(), Removal: true}, v, l.order)...)
			return
		}
	}
}

// erasedName is a name of an erased fact, in the lines of which the eraser did not know.
type erasedName struct {
	name string
	from *ref  // the renaming that gave the fact the name; nil: the eraser knew it
	left []ref // the renamings away from it
}

// erasures are the erasures among some lines, which are in order, but for those of what their writers may
// not erase.
func (f *Folded) erasures(lines []*Line) []*erasure {
	return slices.DeleteFunc(erasuresOf(lines), func(e *erasure) bool {
		if e.authority < knowledge.Authority(knowledge.KindUser) && e.ids != nil && slices.ContainsFunc(lines, func(l *Line) bool {
			return e.ids[l.ID] && l.authority() > e.authority && e.line.knows(l.ref())
		}) {
			f.refused[e.line] = true
		}
		return f.refused[e.line]
	})
}

func erasuresOf(lines []*Line) (all []*erasure) {
	for _, l := range lines {
		if l.Op != opErase {
			continue
		}
		e := &erasure{line: l, names: []erasedName{{name: l.Name}}, authority: knowledge.Authority(l.by().Kind)}
		if l.Policy < policyNames {
			e.former(lines)
		} else {
			e.ids = map[string]bool{}
		}
		for _, id := range l.Lines {
			e.ids[id] = true
		}
		for _, n := range l.Names {
			x := erasedName{name: n.Name}
			if by, ok := parseWriter(n.By); ok {
				x.left = []ref{by}
			}
			e.names = append(e.names, x)
		}
		all = append(all, e)
	}
	return all
}

// parseWriter reads how an erasure names a renaming: by its writer and its number.
func parseWriter(text string) (r ref, ok bool) {
	w, number, _ := strings.Cut(text, "-")
	id, key, _ := strings.Cut(w, "~")
	seq, err := strconv.ParseUint(number, 10, 63)
	return ref{writer: writer{id, key}, seq: seq}, err == nil
}

// former adds the former names for an erasure of the first policy: those that the eraser knew by lines.
func (e *erasure) former(lines []*Line) {
	names := map[string]bool{e.line.Name: true}
	for _, l := range slices.Backward(lines) {
		if r := l.renaming(); r != nil && names[r.To] && e.line.knows(l.ref()) {
			names[r.From] = true
			e.names = append(e.names, erasedName{name: r.From, left: []ref{l.ref()}})
		}
	}
}

// covers reports whether a line is about the erased fact. names are those that it is about.
func (e *erasure) covers(l *Line, names []string) bool {
	if l.authority() > e.authority || e.line.standing < acceptedByTool && l.writer != e.line.writer {
		return false
	}
	switch known := e.line.knows(l.ref()); {
	case known && e.ids != nil:
		return e.ids[l.ID]
	case l.knows(e.line.ref()):
		return false
	}
	found := false
	for i := range e.names {
		x := &e.names[i]
		if !slices.Contains(names, x.name) || x.from != nil && !l.knows(*x.from) || slices.ContainsFunc(x.left, l.knows) {
			continue
		}
		found = true
		if r := l.renaming(); r != nil && e.ids != nil {
			x.left = append(x.left, l.ref())
		}
	}
	if r := l.renaming(); found && r != nil && e.ids != nil {
		e.names = append(e.names, erasedName{name: r.To, from: new(l.ref())})
	}
	return found
}

// erasable are the hashed names of the facts that a line is about, also of what is left of a renaming.
func (l *Line) erasable() []string {
	if l.Renamed != nil {
		return []string{l.Renamed.From}
	}
	return l.names()
}

// keep drops the lines about erased facts, and those that their own writers erased since: whoever may not
// erase another's line is obeyed by that one or not. lines are in order.
func (f *Folded) keep(lines []*Line) (left []*Line) {
	all, withdrawn := f.erasures(lines), map[ref]string{} // by the writer and the number: both lines have them
	for _, l := range lines {
		if l.Op == opGone && l.writer.key != "" {
			withdrawn[ref{writer: l.writer, seq: l.seq}] = l.Name
		}
	}
	if len(all)+len(withdrawn) == 0 {
		return lines
	}
	for _, l := range lines {
		names := l.erasable()
		gone := withdrawn[ref{writer: l.writer, seq: l.seq}]
		rename := gone != ""
		for _, e := range all {
			if e.covers(l, names) {
				gone, rename = e.line.Name, rename || e.ids != nil
			}
		}
		switch {
		case gone == "" || l.Op == opGone:
			left = append(left, l)
		case l.Op == opRename && !rename:
			left = append(left, l) // the first policy kept it
		default:
			f.Erased[l] = gone
		}
	}
	return left
}

// tombstone is what an erasure leaves.
func (l *Line) tombstone() *formats.Tombstone {
	t := &formats.Tombstone{Key: l.Name, ErasedAt: l.order}
	for _, n := range l.Names {
		t.Names = append(t.Names, formats.FormerName{Name: n.Name, Until: n.Until})
	}
	return t
}

// sameErasure reports whether the lines tell of a store's tombstone as shared. A replica that had the fact
// under another name than the eraser has that name in its own.
func sameErasure(own, shared formats.Tombstone) bool {
	if hashed(formats.Name{Category: own.Category, Key: own.Key}) == shared.Key {
		return !own.ErasedAt.After(shared.ErasedAt)
	}
	return own.ErasedAt.Equal(shared.ErasedAt) && slices.ContainsFunc(own.Names, func(n formats.FormerName) bool { return n.Name == shared.Key })
}

// attribute notes about which facts a line is: by the names that they have now.
func (f *Folded) attribute(l *Line) {
	if l.Op == opGone && (!f.admits || l.erasedHere) { // what others call gone says nothing about an erasure here
		f.gone[l.Name] = append(f.gone[l.Name], l)
	}
	for _, n := range operations[l.Op].facts(l) {
		n = f.nameNow(l, n)
		id := fact.IDOf(n.Category, n.Key)
		f.lines[id] = append(f.lines[id], l)
	}
}

// moveLines has the lines about a fact follow it to another name.
func (f *Folded) moveLines(from, to formats.Name) {
	a, b := fact.IDOf(from.Category, from.Key), fact.IDOf(to.Category, to.Key)
	f.lines[b] = append(f.lines[b], f.lines[a]...)
	delete(f.lines, a)
}

// holding are the facts that have one of some versions.
func (f *Folded) holding(versions []string) (out []fact.ID) {
	for _, id := range versions {
		if v := f.State.ByID(id); v != nil {
			out = append(out, fact.IDOf(v.Category, v.Key))
		}
	}
	slices.SortFunc(out, fact.ID.Compare)
	return slices.Compact(out)
}

// about are the lines about a fact that was erased in a store.
func (f *Folded) about(t formats.Tombstone) (lines []*Line) {
	facts := f.holding(t.Versions)
	if n := fact.IDOf(t.Category, t.Key); len(t.Versions) == 0 { // an earlier version of the program erased it
		if vs := f.State.Versions(n); len(vs) > 0 && !vs[0].RecordedFrom.After(t.ErasedAt) {
			facts = []fact.ID{n}
		}
	}
	for _, n := range facts {
		lines = append(lines, f.lines[n]...)
	}
	return append(lines, f.gone[hashed(formats.Name{Category: t.Category, Key: t.Key})]...)
}

// erasing is the line of an erasure in a store. It is nil if no line is about the fact, so that nobody
// needs to know.
func (f *Folded) erasing(t formats.Tombstone) *Line {
	about := f.about(t)
	if len(about) == 0 {
		return nil
	}
	e := &Line{Op: opErase, At: t.ErasedAt, Name: hashed(formats.Name{Category: t.Category, Key: t.Key})}
	for _, l := range about {
		e.SourceKind = strongerKind(e.SourceKind, l.authority())
		e.Lines = append(e.Lines, l.ID)
		if r := l.renaming(); r != nil {
			e.Names = append(e.Names, formerName{Name: r.From, Until: l.order, By: fmt.Sprintf("%v-%d", l.writer, l.seq)})
		}
	}
	for _, n := range t.Names {
		if !slices.ContainsFunc(e.Names, func(x formerName) bool { return x.Name == n.Name && x.Until.Equal(n.Until) }) {
			e.Names = append(e.Names, formerName{Name: n.Name, Until: n.Until}) // no line told of it
		}
	}
	slices.Sort(e.Lines)
	e.Lines = slices.Compact(e.Lines)
	return e
}

// strongerKind is a kind with an authority, or the one that has more.
func strongerKind(kind string, authority int) string {
	for _, k := range []string{knowledge.KindAgent, knowledge.KindTool, knowledge.KindUser} {
		if knowledge.Authority(k) >= max(authority, knowledge.Authority(cmp.Or(kind, knowledge.KindAgent))) {
			return k
		}
	}
	return knowledge.KindUser
}

// forgetFacts has what was folded hold nothing of facts that a store erased.
func (f *Folded) forgetFacts(l *Line, t formats.Tombstone) {
	var gone state.Replacement
	for _, n := range f.holding(t.Versions) {
		vs := f.State.Versions(n)
		gone.Facts = append(gone.Facts, state.Replaced{Category: vs[0].Category, Key: vs[0].Key})
		delete(f.lines, n)
	}
	if len(gone.Facts) > 0 {
		f.commit(l, state.Event{Replace: &gone})
	}
}

// tombstones are those that lines leave.
func tombstones(lines []*Line) (out []formats.Tombstone) {
	last := map[string]formats.Tombstone{}
	for _, l := range new(Folded).ordered(lines) {
		switch l.Op {
		case opErase:
			last[l.Name] = *l.tombstone()
		case opRevive:
			delete(last, l.Name)
		}
	}
	return slices.Collect(maps.Values(last))
}
