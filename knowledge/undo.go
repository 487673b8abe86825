package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
)

// UndoArgs takes back the caller's last commit, or an import.
type UndoArgs struct {
	Import string `json:"import,omitempty" jsonschema:"an import of the last day, as its answer named it: i-…"`
	Source string `json:"source,omitempty" jsonschema:"user when the user said so"`
}

// Undone is what was taken back.
type Undone struct {
	At          time.Time    `json:"at"` // when the commit was recorded
	Facts       []UndoneFact `json:"facts"`
	Others      []string     `json:"others,omitempty"` // links, reminders and disputes, each in words
	Kept        []string     `json:"kept,omitempty"`   // of an import: what somebody changed since
	Renamed     *Name        `json:"renamed,omitempty"`
	DisputeNote              // nothing was taken back: what is believed has more authority
}

// UndoneFact is a fact as it is after an undo.
type UndoneFact struct {
	Category string   `json:"category"`
	Key      string   `json:"key"`
	Value    string   `json:"value,omitempty"`  // none: nothing is believed now
	Values   []string `json:"values,omitempty"` // all of them, if the fact has several
	fact.Trust

	held []*fact.Version // whose values Values are
}

// Text gives the answer's lines.
func (u Undone) Text() string { return u.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (u Undone) TextIn(call prose.Syntax) string {
	if u.Warned() {
		return u.DisputeNote.TextIn(call)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Undone: what you changed at %s. Now:", u.At.UTC().Format(time.DateTime))
	for i, f := range u.Facts {
		if i == maxUndone {
			fmt.Fprintf(&b, "\n  … %d more", len(u.Facts)-i)
			break
		}
		now := "no value"
		switch {
		case len(f.Values) > 0:
			now = nameValues(f.held)
		case f.Value != "":
			now = f.Brief(f.Value)
		}
		fmt.Fprintf(&b, "\n  [%s] %s: %s", prose.Name(f.Category), prose.Name(f.Key), now)
	}
	if u.Renamed != nil {
		fmt.Fprintf(&b, "\n  [%s] %s has its name again", prose.Name(u.Renamed.Category), prose.Name(u.Renamed.Key))
	}
	for i, text := range u.Others {
		if i == maxUndone {
			fmt.Fprintf(&b, "\n  … %d more", len(u.Others)-i)
			break
		}
		b.WriteString("\n  " + text)
	}
	if n := len(u.Kept); n > 0 {
		fmt.Fprintf(&b, "\n  changed since, and kept: %s", prose.Line(strings.Join(u.Kept[:min(maxUndone, n)], ", ")))
		if n > maxUndone {
			fmt.Fprintf(&b, " and %d more", n-maxUndone)
		}
	}
	return b.String()
}

// maxUndone is how many facts an answer names.
const maxUndone = 20

// Undo takes back the caller's own last commit of the last day, or an import of it, with a commit of
// its own. What was known in between stays on record. A later commit that changed the same keeps a
// commit from being taken back. Of an import it keeps the facts that it changed.
func Undo(ctx context.Context, s *Store, a UndoArgs) (r Undone, err error) {
	by := s.Source(a.Source, 1)
	err = s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		author := s.author()
		author.Undo = true
		c, ok := st.LastCommit(author.By, author.Kind, author.Clock)
		if a.Import != "" {
			c, ok = st.ImportCommit(a.Import, author.Clock)
		}
		author.Import = c.Import
		switch {
		case !ok && a.Import != "":
			return nil, refusal.NotFound("No import %s in the last day, or it was undone", prose.Line(prose.Clip(a.Import, 40)))
		case a.Import != "" && (c.By != author.By || c.Kind != author.Kind) && by.Kind != KindUser:
			return nil, refusal.ForUser("import %s is by %s", c.Import, cmp.Or(prose.Name(c.By), c.Kind))
		case !ok:
			return nil, nothingBy(author, st.Commits)
		case c.Undo:
			return nil, &UndoError{"it was an undo itself"}
		case c.Final != "":
			return nil, &UndoError{c.Final}
		case c.BuiltOn && c.Import == "":
			return nil, &UndoError{"a later commit changed the same"}
		}
		u := undo{st: st, c: c, by: by, now: now, present: s.present(now)}
		r = Undone{At: c.At, Facts: []UndoneFact{}}
		if r.DisputeNote, err = u.facts(&r); r.Warned() || err != nil {
			return u.events, err
		}
		u.lists(&r)
		return append([]state.Event{{Author: author}}, u.events...), nil
	})
	if err != nil {
		return Undone{}, err
	}
	return r, nil
}

// nothingBy says that an author has no commit, and who has the last one.
func nothingBy(a *state.Author, commits []formats.Commit) error {
	if n := len(commits); n > 0 && (commits[n-1].By != a.By || commits[n-1].Kind != a.Kind) {
		return refusal.NotFound("You committed nothing in the last day; the last commit is by %s, who alone can undo it", cmp.Or(prose.Line(commits[n-1].By), commits[n-1].Kind))
	}
	return refusal.NotFound("You committed nothing in the last day")
}

// UndoError says why a commit cannot be taken back.
type UndoError struct{ Why string }

func (e *UndoError) Error() string { return "your last commit cannot be undone: " + e.Why }

// undo is the decision to take a commit back.
type undo struct {
	st           state.Reader
	c            formats.Commit
	by           Source
	now, present time.Time // the recorded time, and the one that is the present
	events       []state.Event
}

// facts takes back what the commit did to facts. What has more authority than the
// caller makes a dispute of it.
func (u *undo) facts(r *Undone) (DisputeNote, error) {
	if n := u.c.Renamed; n != nil {
		w := renameDecision{f: u.st, from: n.To, to: n.From, by: u.by, now: u.now, present: u.present}
		events, x, err := w.decide()
		if x.Warned() || err != nil {
			u.events = events
			return x, err
		}
		u.events, r.Renamed = append(u.events, events...), &n.From
		return x, nil
	}
	over := state.NewOverlay(u.st, nil)
	var names []fact.ID
	for _, key := range u.touched() {
		now := slices.Clone(u.st.Versions(key))
		if u.c.BuiltOn && slices.ContainsFunc(now, func(v *fact.Version) bool { return changedAfter(v, u.c.At) }) {
			r.Kept = append(r.Kept, now[0].Category+"/"+now[0].Key)
			continue
		}
		if len(now) == 0 { // it was renamed since
			r.Kept = append(r.Kept, key.Category+"/"+key.Key)
			continue
		}
		names = append(names, key)
		for _, v := range now {
			former := slices.IndexFunc(u.c.Facts, func(w *fact.Version) bool { return w.ID == v.ID })
			made := slices.Contains(u.c.Made, v.ID)
			if former < 0 && !made {
				continue
			}
			if fact.Believed(v) && fact.Before(u.present, v.ValidUntil) && !u.mayTakeBack(v, former) {
				d := formats.Dispute{Confidence: u.by.Confidence, Source: u.by, Removal: true}
				if old := u.before(key); old != nil {
					d.Value, d.Removal, d.Correct = old.Value, false, true
				}
				events, x := openDispute(u.st, d, v, u.present)
				u.events = events
				return x, nil
			}
			e := state.Event{Put: u.restored(v, former)}
			u.events = append(u.events, e)
			over.Fold(e)
		}
	}
	for _, n := range names {
		vs := over.Versions(n)
		x := UndoneFact{Category: vs[0].Category, Key: vs[0].Key}
		if v := fact.Current(vs, u.present); v != nil {
			x.Value, x.Trust = v.Value, fact.TrustIn(v)
		}
		if held := fact.AllCurrentAt(vs, u.present); len(held) > 1 {
			x.held, x.Values = held, valuesOf(held)
		}
		r.Facts = append(r.Facts, x)
	}
	return DisputeNote{}, nil
}

// changedAfter reports whether a version was made or changed after a time.
func changedAfter(v *fact.Version, at time.Time) bool {
	after := func(t *time.Time) bool { return t != nil && t.After(at) }
	return v.RecordedFrom.After(at) || v.LastConfirmed.After(at) || after(v.RecordedUntil) || after(v.RetractedAt) || after(v.RenamedAt) || after(v.QuestionsAt)
}

// mayTakeBack reports whether the caller may take v back, formerly u.c.Facts[former].
// A pin that the commit itself set does not keep it from that.
func (u *undo) mayTakeBack(v *fact.Version, former int) bool {
	old := u.before(fact.IDOf(v.Category, v.Key))
	if former >= 0 {
		old = u.c.Facts[former]
	}
	w := *v
	w.Pinned = v.Pinned && old != nil && old.Pinned
	return MayReplace(u.st, u.by, &w)
}

// touched are the facts of which the commit changed versions, by name. One without versions has
// another name now.
func (u *undo) touched() (names []fact.ID) {
	changed := map[string]bool{}
	for _, id := range u.c.Made {
		changed[id] = true
	}
	for _, v := range u.c.Facts {
		changed[v.ID] = true
	}
	for _, n := range state.TouchedFacts(u.c) {
		vs := u.st.Versions(n)
		_, erased := u.st.Erased(n)
		if len(vs) == 0 && !erased || slices.ContainsFunc(vs, func(v *fact.Version) bool { return changed[v.ID] }) {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, fact.ID.Compare)
	return slices.Compact(names)
}

// before is what was believed of a fact before the commit, nil for nothing.
func (u *undo) before(n fact.ID) *fact.Version {
	var vs []*fact.Version
	for _, v := range u.c.Facts {
		if fact.IDOf(v.Category, v.Key) == n {
			vs = append(vs, v)
		}
	}
	return fact.Current(vs, u.present)
}

// restored is v as it was before the commit, the former of u.c.Facts, or no longer
// believed where former is -1: the commit made it. What the commit ended whole comes
// back as a version of its own, since it was not believed in between.
func (u *undo) restored(v *fact.Version, former int) *fact.Version {
	if former < 0 {
		if !fact.Believed(v) {
			return v
		}
		return fact.Disbelieve(v, u.now)
	}
	old := u.c.Facts[former]
	w := *old
	w.RevisionCount = v.RevisionCount + 1
	if fact.Believed(old) && !fact.Believed(v) {
		vs := u.st.Versions(fact.IDOf(v.Category, v.Key))
		w.ID = fact.NewVersionID(v.Category, v.Key, v.Value, u.now, func(id string) bool { return fact.WithID(vs, id) != nil })
		w.RecordedFrom, w.CreatedAt, w.Beliefs = u.now, u.now, nil
		w.Supersedes, w.Outcome = formats.Optional(v.ID), "resumed"
		return &w
	}
	w.Beliefs = v.Beliefs
	w.ValidFrom, w.ValidUntil = v.ValidFrom, v.ValidUntil
	if p := fact.PeriodOf(old); !p.Equal(fact.PeriodOf(v)) {
		back := fact.Reperiod(&w, p, u.now)
		back.Retraction = old.Retraction
		return back
	}
	return &w
}

// lists takes back what the commit did beside facts.
func (u *undo) lists(r *Undone) {
	var restored, ended []listChange
	add := func(restore, end []listChange) { restored, ended = append(restored, restore...), append(ended, end...) }
	add(undoList(u, &state.Relations, u.st.Relations, func(x *formats.Relation) (restore, end listChange) {
		name := "link " + Slashed(x.From.Name) + " " + prose.Line(x.Kind) + " " + Slashed(x.To.Name)
		return listChange{name + asItWas, state.Event{Relate: x}}, listChange{name + " is gone", state.Event{Unrelate: x}}
	}))
	add(undoList(u, &state.Reminders, u.st.Reminders, func(x *formats.Reminder) (restore, end listChange) {
		done := *x
		done.State, done.DoneAt = reminder.StateDone, &u.now
		return listChange{"reminder " + x.ID + asItWas, state.Event{Remind: x}}, listChange{"reminder " + x.ID + " is done", state.Event{Remind: &done}}
	}))
	add(undoList(u, &state.Disputes, u.st.Disputed, func(x *formats.Dispute) (restore, end listChange) {
		closed := *x
		closed.State = formats.DisputeClosed
		return listChange{"dispute " + x.ID + " is " + x.State, state.Event{Dispute: x}}, listChange{"dispute " + x.ID + " is closed", state.Event{Dispute: &closed}}
	}))
	for _, x := range append(restored, ended...) {
		u.events, r.Others = append(u.events, x.event), append(r.Others, x.text)
	}
}

// listChange is what an undo does to an entry of a list, in words and as an event.
type listChange struct {
	text  string
	event state.Event
}

const asItWas = " is as it was"

// undoList takes back what the commit did to one list. The former entries come back, and those
// of now that it made end. changes gives both changes of an entry.
func undoList[T any](u *undo, l *state.List[T], now []T, changes func(*T) (restore, end listChange)) (restored, ended []listChange) {
	former := *l.Former(&u.c)
	for _, x := range former {
		restore, _ := changes(&x)
		restored = append(restored, restore)
	}
	for _, x := range now {
		made := slices.Contains(u.c.Touched, l.Keys(x)[0])
		if made && !slices.ContainsFunc(former, func(y T) bool { return l.Same(x, y) }) {
			_, end := changes(&x)
			ended = append(ended, end)
		}
	}
	return restored, ended
}
