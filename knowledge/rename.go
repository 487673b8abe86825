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
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// NewName asks for another name of a fact.
type NewName struct {
	Category string `json:"category" arg:"1" short:"c" jsonschema:"the room"`
	Key      string `json:"key" arg:"2" short:"k" jsonschema:"the fact"`
	To       string `json:"to" arg:"3" jsonschema:"category/key, divided at the first slash, or a key of the same category"`
	Merge    string `json:"merge,omitempty" enum:"true,false" jsonschema:"if that fact exists, join the two and keep both histories"`
	Source   string `json:"source,omitempty" jsonschema:"user when the user said so"`
}

// Renamed is a fact under its new name.
type Renamed struct {
	From        Name `json:"from"`
	To          Name `json:"to"`
	Merged      bool `json:"merged"`
	Versions    int  `json:"versions"`
	DisputeNote      // it kept its name: what is believed has more authority
}

// Text gives the answer's lines.
func (r Renamed) Text() string { return r.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (r Renamed) TextIn(call prose.Syntax) string {
	if r.Warned() {
		return r.DisputeNote.TextIn(call)
	}
	verb, joint := "Renamed", "to"
	if r.Merged {
		verb, joint = "Merged", "into"
	}
	name := func(n Name) string { return fmt.Sprintf("[%s] %s", prose.Name(n.Category), prose.Name(n.Key)) }
	return fmt.Sprintf("%s %s %s %s (%s)", verb, name(r.From), joint, name(r.To), prose.Count(r.Versions, "version"))
}

// Rename gives a fact another category or key. Its history, relations, verdicts and
// disputes follow.
func Rename(ctx context.Context, s *Store, a NewName) (r Renamed, err error) {
	if err := refusal.Required("category", a.Category, "key", a.Key, "to", a.To); err != nil {
		return r, err
	}
	by := s.Source(a.Source, 1)
	to, _ := s.Redact(a.To)
	err = s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		w := renameDecision{f: st, from: Name{Category: a.Category, Key: a.Key}, to: nameFrom(to, a.Category), merge: a.Merge == "true", by: by, now: now, present: s.present(now)}
		there := len(st.Versions(fact.IDOf(w.to.Category, w.to.Key)))
		if t, erased := st.Erased(fact.IDOf(w.to.Category, w.to.Key)); erased && there == 0 {
			return nil, refusal.Argument("to", "%s was erased on %s: take another name", Slashed(w.to), fact.Day(t.ErasedAt))
		}
		events, x, err := w.decide()
		if err != nil {
			return nil, err
		}
		if r = (Renamed{From: w.from, To: w.to, DisputeNote: x}); x.Warned() {
			return events, nil
		}
		r.From, r.To = events[0].Rename.From, events[0].Rename.To
		r.Versions = len(st.Versions(fact.IDOf(w.from.Category, w.from.Key)))
		if fact.IDOf(r.From.Category, r.From.Key) != fact.IDOf(r.To.Category, r.To.Key) {
			r.Merged, r.Versions = there > 0, r.Versions+there
		}
		return events, nil
	})
	return r, err
}

// nameFrom reads category/key, divided at the first slash, or a key of a category.
func nameFrom(text, category string) Name {
	if c, k, ok := strings.Cut(text, "/"); ok {
		return Name{Category: strings.TrimSpace(c), Key: strings.TrimSpace(k)}
	}
	return Name{Category: strings.TrimSpace(category), Key: strings.TrimSpace(text)}
}

// DecideRename is the decision of [Rename]. It is pure.
func DecideRename(f state.Facts, from, to Name, merge bool, by Source, now, present time.Time) ([]state.Event, DisputeNote, error) {
	return renameDecision{f, from, to, merge, by, now, present}.decide()
}

// renameDecision is a decision on another name for a fact.
type renameDecision struct {
	f            state.Facts
	from, to     Name
	merge        bool
	by           Source
	now, present time.Time // the recorded time, and the one that is the present
}

// decide gives the events, the rename first. If what is believed has more
// authority, they record a dispute instead. It is pure.
func (r renameDecision) decide() (events []state.Event, x DisputeNote, err error) {
	from, to := fact.IDOf(r.from.Category, r.from.Key), fact.IDOf(r.to.Category, r.to.Key)
	moved, there := r.f.Versions(from), r.f.Versions(to)
	if len(moved) == 0 {
		return nil, x, NotFound(r.from.Category, r.from.Key)
	}
	for _, name := range []string{r.to.Category, r.to.Key} {
		if err := checkName("to", name); err != nil {
			return nil, x, err
		}
	}
	r.from = Name{Category: moved[0].Category, Key: moved[0].Key}
	if room := r.f.Room(r.to.Category); room != "" {
		r.to.Category = room
	}
	switch {
	case r.from == r.to:
		return nil, x, refusal.Argument("to", "%s has that name already", Slashed(r.to))
	case from == to:
		there = nil // only its spelling changes
	case len(there) > 0:
		r.to = Name{Category: there[0].Category, Key: there[0].Key}
		if !r.merge {
			return nil, x, refusal.Argument("merge", "there is a fact %s: merge=true makes one of the two and keeps both histories", Slashed(r.to))
		}
	}
	disputed := func(v *fact.Version) ([]state.Event, DisputeNote, error) {
		events, x := openDispute(r.f, formats.Dispute{Confidence: r.by.Confidence, Source: r.by, Rename: &r.to, Merge: r.merge}, v, r.present)
		x.Why = cmp.Or(x.Why, fmt.Sprintf("it would change what somebody of more authority asserted as [%s]", Slashed(r.to)))
		return events, x, nil
	}
	var last *fact.Version // that holds now or later
	for _, h := range fact.Timeline(moved, r.present) {
		if fact.Before(r.present, h.Period.Until) {
			if last = h.Version; !MayReplace(r.f, r.by, last) {
				return disputed(last)
			}
		}
	}
	if r.hides(moved) {
		if last != nil {
			return disputed(last)
		}
		return nil, x, refusal.ForUser("%s was said by a user, and is for the user to rename", Slashed(r.from))
	}
	events = []state.Event{{Rename: &formats.Rename{From: r.from, To: r.to, At: r.now, ByRoom: true}}}
	if len(there) == 0 {
		return events, x, nil
	}
	changed, ok := r.join(moved, there)
	switch {
	case ok:
		return append(events, changed...), x, nil
	case last != nil:
		return disputed(last)
	}
	return nil, x, refusal.ForUser("%s is for the user to change", Slashed(r.to))
}

// hides reports whether a history has something that a user said, also if it is over: under another name it would not be found.
func (r renameDecision) hides(moved []*fact.Version) bool {
	return Authority(r.by.Kind) < Authority(KindUser) && slices.ContainsFunc(moved, fact.Stated)
}

// join makes one history of two. Of two values at one time the one that began later holds, and
// equal neighbours become one version. ok is false if that would change what somebody of more
// authority asserted under the other name.
func (r renameDecision) join(moved, there []*fact.Version) (events []state.Event, ok bool) {
	var named []*fact.Version
	for _, v := range moved {
		w := *v
		if !fact.ArchetypeGiven(v) {
			w.Archetype = formats.Archetype(r.to.Category)
		}
		w.Category, w.Key, w.RenamedAt = r.to.Category, r.to.Key, &r.now
		named = append(named, &w)
	}
	var whole []fact.Held
	for _, h := range fact.Separate(slices.Concat(fact.Timeline(named, r.present), fact.Timeline(there, r.present))) {
		n := len(whole) - 1
		if n < 0 || whole[n].RetractedAt != nil || !whole[n].Period.Meets(h.Period) || verdict.Compare(h.Key, whole[n].Value, h.Value) != verdict.Equal {
			whole = append(whole, h)
			continue
		}
		w := *whole[n].Version
		w.ConfirmationCount += h.ConfirmationCount
		w.Confidence, w.Pinned = max(w.Confidence, h.Confidence), w.Pinned || h.Pinned
		w.Sources, w.Tags, w.Aliases = slices.Concat(w.Sources, h.Sources), merge(w.Tags, h.Tags), merge(w.Aliases, h.Aliases)
		whole[n] = fact.Held{Version: &w, Period: whole[n].Period.Union(h.Period)}
	}
	for _, v := range slices.Concat(named, there) {
		if !fact.Believed(v) {
			continue
		}
		after := fact.Disbelieve(v, r.now)
		if i := slices.IndexFunc(whole, func(h fact.Held) bool { return h.ID == v.ID }); i >= 0 {
			after = whole[i].Version
			if p := whole[i].Period; !p.Equal(fact.PeriodOf(v)) {
				after = fact.Reperiod(after, p, r.now)
			}
		}
		if after == v {
			continue
		}
		if slices.Contains(there, v) && !MayReplace(r.f, r.by, v) {
			return nil, false
		}
		events = append(events, state.Event{Put: after})
	}
	return events, true
}
