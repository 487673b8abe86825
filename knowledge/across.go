package knowledge

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"leanctx/knowledge/conflict"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// The kinds of a [Similar] that says something else.
const (
	similarConflict = "conflict" // both cannot hold, as it seems
	similarReplaced = "replaced" // the new value names it as replaced
	similarNear     = "near"     // it is the same sentence but for a day, a verb or a denial
)

// statementOf is a version as package conflict compares it.
func statementOf(v *fact.Version) conflict.Statement {
	return conflict.Statement{Name: v.Category + "/" + v.Key, Value: v.Value}
}

// adviser looks for conflicts after a write. A look takes longer than a write, so of many who
// write at once only the last looks. Who writes alone is always the last.
type adviser struct {
	log     *state.Log
	logger  *slog.Logger
	writers atomic.Int64 // calls of Remember that have not committed yet
	caches  *caches
}

// conflicts names facts under other keys that the new value likely contradicts or replaces, from
// what is at hand. It is advice: nothing is done about them, and what is missed here health finds.
func (a *adviser) conflicts(ctx context.Context, r *Remembered, present time.Time) {
	if r.Outcome == Confirmed || r.Outcome == Disputed || r.Outcome == Backdated || len(r.Similar) == maxSimilar {
		return
	}
	this := fact.IDOf(r.Category, r.Key)
	form := conflict.Of(conflict.Statement{Name: r.Category + "/" + r.Key, Value: r.Value})
	near := len(r.Similar) == 0 && conflict.Turns(r.Value)
	if !form.Exclusive() && !near {
		return
	}
	stems := form.Words()
	if len(stems) == 0 {
		return
	}
	var found []Similar
	err := a.log.Candidates(ctx, stems, func(k state.Reader, names []fact.ID) error {
		if form.Exclusive() {
			found = a.conflictsWith(k, this, r.Value, form, names, present)
		}
		if near && len(found) == 0 {
			found = nearest(k, this, r.Value, names, present)
		}
		return nil
	})
	if err != nil {
		a.logger.Debug("conflicts were not looked for", "error", err) // the fact is stored
		return
	}
	r.Similar = append(r.Similar, found[:min(len(found), maxSimilar-len(r.Similar))]...)
}

// maxCompared is how many facts an assertion is compared with.
const maxCompared = 32

// conflictsWith lists the facts of some that likely conflict with a newer one, those
// that it replaces first.
func (a *adviser) conflictsWith(k state.Reader, this fact.ID, value string, newer conflict.Form, names []fact.ID, now time.Time) (out []Similar) {
	a.caches.follow(k)
	var likely []*fact.Version
	slices.SortFunc(names, fact.ID.Compare)
	for _, n := range slices.Compact(names) {
		if n == this || Judged(k.Judged, this, n) {
			continue
		}
		for _, v := range fact.AllCurrent(k.Versions(n), now) {
			if v.ArchivedAt == nil {
				likely = append(likely, v)
			}
		}
	}
	slices.SortFunc(likely, func(a, b *fact.Version) int { return cmp.Or(b.RecordedFrom.Compare(a.RecordedFrom), fact.ByName(a, b)) })
	for _, v := range likely[:min(len(likely), maxCompared)] {
		kind := a.caches.forms.of(v).Before(newer)
		if kind == conflict.None || hasValue(v, value) {
			continue // an equal one is named as such
		}
		x := Similar{Kind: similarConflict, Category: v.Category, Key: v.Key, Value: v.Value, Relevance: 1, Trust: fact.TrustIn(v)}
		if kind == conflict.Likely {
			out = append(out, x)
			continue
		}
		x.Kind = similarReplaced
		out = slices.Insert(out, 0, x)
	}
	return out
}

// nearest is the fact of some that is about the same thing as a new value and says otherwise, so that the two do not stand beside
// each other under two keys.
func nearest(k state.Reader, this fact.ID, value string, names []fact.ID, now time.Time) []Similar {
	for _, n := range names {
		if n == this || Judged(k.Judged, this, n) {
			continue
		}
		for _, v := range fact.AllCurrent(k.Versions(n), now) {
			if v.ArchivedAt == nil && conflict.Nearly(v.Value, value) {
				return []Similar{{similarNear, v.Category, v.Key, v.Value, 1, fact.TrustIn(v)}}
			}
		}
	}
	return nil
}

// markOutdated marks the facts of an answer that a newer one names as replaced, until
// somebody judges the two. The newer one is among what the question found; for a
// question by key it is looked for.
func (l *lookup) markOutdated(ctx context.Context, r *Recalled) {
	if r.query.hasTime || r.query.Prompt {
		return
	}
	mark := func(k state.Reader, newer []*fact.Version) {
		for _, v := range newer {
			if !conflict.NamesReplaced(v.Value) {
				continue
			}
			by := fact.IDOf(v.Category, v.Key)
			form := conflict.Of(statementOf(v))
			for i := range r.Facts {
				f := &r.Facts[i]
				n := fact.IDOf(f.Category, f.Key)
				if fact.Unconfirmed(v) && !fact.Unconfirmed(f.Version) {
					continue // others say so
				}
				if n != by && v.ValidFrom.After(f.ValidFrom) && conflict.Of(statementOf(f.Version)).Before(form) == conflict.Replaced && !Judged(k.Judged, n, by) {
					f.Outdated = v.Category + "/" + v.Key
				}
			}
		}
	}
	var err error
	switch {
	case r.compared != nil:
		err = l.store.ViewSome(ctx, func(k state.Reader, _ time.Time) error { mark(k, r.compared); return nil })
	case r.query.Key != "" && len(r.Facts) == 1:
		err = l.store.log.Candidates(ctx, conflict.Of(statementOf(r.Facts[0].Version)).Mentions(), func(k state.Reader, names []fact.ID) error {
			var newer []*fact.Version
			for _, n := range names[:min(len(names), maxCompared)] {
				newer = append(newer, fact.AllCurrent(k.Versions(n), r.query.now)...)
			}
			mark(k, newer)
			return nil
		})
	}
	if err != nil {
		l.store.opts.Logger.Debug("what replaces a fact was not looked for", "error", err)
	}
}

// maxSimilar is how many facts with the same value an answer names.
const maxSimilar = 3

// sameInOtherRooms names other current facts that say the same, unless somebody
// judged that before. It is advice: nothing is done about them. A port or a yes says nothing
// about another, and a short value little about another room's.
func sameInOtherRooms(k state.Reader, r Remembered, now time.Time) (out []Similar) {
	if verdict.Canonical(r.Key, r.Value).Bare() {
		return nil
	}
	this := fact.IDOf(r.Category, r.Key)
	for _, n := range k.Valued(r.Value) {
		var v *fact.Version
		for _, x := range fact.AllCurrent(k.Versions(n), now) {
			if hasValue(x, r.Value) {
				v = x
			}
		}
		switch {
		case n == this || len(out) == maxSimilar || v == nil || v.ArchivedAt != nil:
		case n.Category != this.Category && len(strings.Fields(r.Value)) < 3:
		case !Judged(k.Judged, this, n):
			out = append(out, Similar{"", v.Category, v.Key, v.Value, 1, fact.TrustIn(v)})
		}
	}
	return out
}
