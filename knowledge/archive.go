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
	"leanctx/knowledge/recall"
	"leanctx/knowledge/state"
)

// What leaves the active set. Nothing is deleted, and nothing becomes less
// true: recall, time travel, timelines and exact keys still see it.
const (
	archiveBelow = 0.30                 // effective confidence
	archiveIdle  = 90 * 24 * time.Hour  // neither confirmed, recorded nor retrieved
	restoredFor  = 180 * 24 * time.Hour // what was restored stays at least so long
	maintainEach = 24 * time.Hour
)

// archivable reports whether v, one of the versions vs of a fact, leaves the active set at t: its
// confidence has faded, and nobody retrieved it lately. If its confidence was low from the
// beginning, half of it must have faded. covered is how far back the record of retrievals
// reaches; a version counts as retrieved before that.
func archivable(v *fact.Version, vs []*fact.Version, t time.Time, r fact.Retrievals, covered time.Duration) bool {
	if v.ArchivedAt != nil || !fact.HoldsAt(v, vs, t) {
		return false
	}
	below := archiveBelow
	if v.Confidence < archiveBelow {
		below = v.Confidence / 2
	}
	if !fact.Decays(v) || fact.EffectiveConfidence(v, t, r) >= below {
		return false
	}
	if v.RestoredAt != nil && t.Sub(*v.RestoredAt) < restoredFor {
		return false
	}
	last := v.LastConfirmed
	for _, at := range []time.Time{v.RecordedFrom, r.Last} {
		if at.After(last) {
			last = at
		}
	}
	return covered >= archiveIdle && t.Sub(last) > archiveIdle
}

// wakes reports whether recall returned v after it became dormant.
func wakes(v *fact.Version, vs []*fact.Version, t time.Time, r fact.Retrievals) bool {
	return v.ArchivedAt != nil && r.Last.After(*v.ArchivedAt) && fact.HoldsAt(v, vs, t)
}

// archivedAtOnce is the most facts that one commit archives or wakes. Very many facts may fade
// on one day, and a commit is all in memory.
const archivedAtOnce = 1000

// Maintained is what a maintenance pass did.
type Maintained struct {
	Archived int // facts that left the active set
	Woken    int // dormant facts that recall returned, and that are active again

	first []ArchiveChange // of them, by name
}

// ArchiveChange is a fact that left the active set or returned to it.
type ArchiveChange struct {
	Category string `json:"category"`
	Key      string `json:"key"`
	Value    string `json:"value"`
	Woken    bool   `json:"woken,omitempty"`
	fact.Trust
}

// maxMoved is how many of them an answer holds, and movedShown how many it shows.
const (
	maxMoved   = 100
	movedShown = 10
)

// with adds what one version is changed to.
func (m Maintained) with(w *fact.Version) Maintained {
	woken := w.ArchivedAt == nil
	if woken {
		m.Woken++
	} else {
		m.Archived++
	}
	if len(m.first) < maxMoved {
		m.first = append(m.first, ArchiveChange{w.Category, w.Key, w.Value, woken, fact.TrustIn(w)})
	}
	return m
}

// Text says what was done.
func (m Maintained) Text() string {
	text := "Archived " + prose.Count(m.Archived, "fact")
	if m.Woken > 0 {
		text += ", woke " + prose.Count(m.Woken, "dormant fact")
	}
	return text
}

// maintenance is the pass that archives facts which faded, and wakes dormant ones that somebody
// asked for.
type maintenance struct {
	store  *Store // of whoever has it done
	always bool   // else at most once a day
}

// run is the pass, in commits of its own. One that is interrupted is not noted, so that the next
// one goes on.
func (m maintenance) run(ctx context.Context) (done Maintained, err error) {
	due, _, err := m.due(ctx)
	for len(due) > 0 && err == nil {
		some := due[:min(archivedAtOnce, len(due))]
		due = due[len(some):]
		all := done
		err = m.store.Update(ctx, func(st *state.State, now time.Time) (events []state.Event, _ error) {
			all = done
			for _, v := range some {
				if w := m.changed(st, st.ByID(v.ID), now); w != nil { // it is still due
					events, all = append(events, state.Event{Put: w}), all.with(w)
				}
			}
			if len(due) == 0 && all.Archived+all.Woken > 0 {
				events = append(events, state.Note(state.NoteMaintenance, all.Text(), now))
			}
			return events, nil
		})
		if err == nil {
			done = all
		}
	}
	return done, err
}

// due lists the versions that the pass would change now, by name, and says what it would do.
func (m maintenance) due(ctx context.Context) (due []*fact.Version, would Maintained, err error) {
	m.store.use.Begin()
	m.store.use.Refresh()
	err = m.store.View(ctx, func(st *state.State, now time.Time) error {
		last, any := st.Last(state.NoteMaintenance)
		if !m.always && any && now.Sub(last.Timestamp) < maintainEach || st.At().Sub(m.store.Now()) > 24*time.Hour {
			return nil // not by a clock that is wrong: see health
		}
		for _, v := range st.Each() {
			if m.changed(st, v, now) != nil {
				due = append(due, v)
			}
		}
		slices.SortFunc(due, fact.ByName)
		for _, v := range due {
			would = would.with(m.changed(st, v, now))
		}
		return nil
	})
	return due, would, err
}

// changed is v as the pass leaves it; nil if that does not change it.
func (m maintenance) changed(st *state.State, v *fact.Version, now time.Time) *fact.Version {
	if v == nil {
		return nil
	}
	w, read, vs := *v, m.store.use.Of(v), st.Versions(fact.IDOf(v.Category, v.Key))
	switch {
	case archivable(v, vs, now, read, m.store.use.Covers(now)):
		w.ArchivedAt = &now
		return &w
	case wakes(v, vs, now, read):
		w.ArchivedAt = nil
		return &w
	}
	return nil
}

// Restoration asks for archived facts back.
type Restoration struct {
	Query string `json:"query,omitempty" arg:"1" long:"true" jsonschema:"words to look for; without them, all archived facts"`
	Limit int    `json:"limit,omitempty" jsonschema:"most facts to restore (default 10)"`

	Category string `json:"category,omitempty" short:"c" jsonschema:"only in this room"`
	Key      string `json:"key,omitempty" short:"k" jsonschema:"only the fact of exactly this key"`
}

// wants reports whether a fact may be restored.
func (q *Restoration) wants(v *fact.Version) bool {
	return (q.Category == "" || formats.FoldName(v.Category) == formats.FoldName(q.Category)) && (q.Key == "" || formats.FoldName(v.Key) == formats.FoldName(q.Key))
}

// Restored are the facts brought back into the active set.
type Restored struct {
	Facts []Found `json:"facts"`
	Total int     `json:"total"` // how many matched
	query string
	limit int
}

// Restore brings archived facts back into the active set. Values that were
// superseded, corrected or retracted never come back.
func Restore(ctx context.Context, s *Store, q Restoration) (Restored, error) {
	limit, err := refusal.Limit(q.Limit, defaultLimit)
	if err != nil {
		return Restored{}, err
	}
	r := Restored{query: q.Query, limit: limit, Facts: []Found{}}
	want, err := archivedLike(ctx, s, q.Query)
	if err != nil {
		return r, err
	}
	err = s.Update(ctx, func(st *state.State, now time.Time) ([]state.Event, error) {
		r.Facts, r.Total = r.Facts[:0], 0
		var events []state.Event
		for _, version := range want {
			v := st.ByID(version)
			if v == nil || v.ArchivedAt == nil || !q.wants(v) || !fact.HoldsAt(v, st.Versions(fact.IDOf(v.Category, v.Key)), now) {
				continue
			}
			if r.Total++; len(events) < limit {
				w := *v
				w.ArchivedAt, w.RestoredAt = nil, &now
				events = append(events, state.Event{Put: &w})
				r.Facts = append(r.Facts, FoundAt(&w, now))
			}
		}
		return events, nil
	})
	return r, err
}

// archivedLike lists the ids of archived facts, best match first.
func archivedLike(ctx context.Context, s *Store, query string) ([]string, error) {
	if strings.TrimSpace(query) != "" {
		l := lookup{store: s, question: Question{Query: query, Limit: 20 * maxCandidates}, archived: true}
		l.parsed = recall.Parse(query, &recall.Options{NoDates: true})
		r, _, err := l.rank(ctx)
		return r.ids(), err
	}
	var out []*fact.Version
	err := s.View(ctx, func(st *state.State, _ time.Time) error {
		out = nil
		for _, v := range st.Each() {
			if v.ArchivedAt != nil {
				out = append(out, v)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b *fact.Version) int {
		return cmp.Or(b.ArchivedAt.Compare(*a.ArchivedAt), fact.ByName(a, b))
	})
	return ids(out), err
}

// Text gives the answer's lines.
func (r Restored) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r Restored) TextIn(call prose.Syntax) string {
	if len(r.Facts) == 0 {
		if r.query == "" {
			return "No archived facts to restore."
		}
		return fmt.Sprintf("No archived facts matching '%s'.", prose.Brief(r.query))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Restored %s:", prose.Count(len(r.Facts), "fact"))
	for _, f := range r.Facts {
		fmt.Fprintf(&b, "\n  [%s/%s]: %s", prose.Name(f.Category), prose.Name(f.Key), f.Brief(f.Value))
	}
	b.WriteString(prose.More(call, r.Total-len(r.Facts), r.limit))
	return b.String()
}
