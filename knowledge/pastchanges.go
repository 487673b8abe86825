package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/internal/language"
	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/recall"
	"leanctx/knowledge/state"
)

// Changed is a change that a question about a period found. What became true and when it was recorded is one change.
type Changed struct {
	Kind     string    `json:"kind"` // see the constants
	ID       string    `json:"id,omitempty"`
	Category string    `json:"category"`
	Key      string    `json:"key"`
	Value    string    `json:"value,omitempty"`
	Was      string    `json:"was,omitempty"` // the value before
	At       time.Time `json:"at"`
	By       string    `json:"by,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	fact.Trust

	was      fact.Trust
	recorded time.Time // where it was true from another day on than it was recorded
	score    float64
}

// The kinds of a [Changed].
const (
	changeNew       = "new"       // a fact that there was not
	changeChanged   = "changed"   // another value
	changeCorrected = "corrected" // the value before never was true
	changeEnded     = "ended"     // true no more, and nothing took its place
	changeRemoved   = "removed"
	changePlanned   = "planned"
)

// changes answers what changed in a period: what became true then, and what was recorded then.
func (l *lookup) changes(ctx context.Context, asks *language.Past, present Recalled) (r Recalled, err error) {
	var at *pastVersion // the event that the period counts from
	reader := pastReader{lookup: l, asks: asks, present: present}
	if asks.New != "" || asks.Subject != "" {
		if err := reader.find(ctx); err != nil {
			return r, err
		}
	}
	from, until := asks.From, asks.Until
	header := ""
	if asks.New != "" {
		if at = reader.best(leastAnchor, func(v *pastVersion) float64 { return v.new }); at == nil {
			return present, nil
		}
		from = at.period().From
		header = fmt.Sprintf("Changed since %s (%s)", quote(at), fact.Day(from))
	}
	about := recall.Parse(asks.Subject, &recall.Options{NoDates: true})
	meant := map[fact.ID]float64{}
	for _, f := range reader.facts {
		if named := cmp.Or(f.subject, f.meant); named >= leastMeant || f.named >= leastAnchor {
			meant[fact.IDOf(f.versions[0].Category, f.versions[0].Key)] = max(named, f.named)
		}
	}
	err = l.store.View(ctx, func(st *state.State, now time.Time) error {
		f, err := l.query(now)
		if err != nil {
			return err
		}
		if until.IsZero() || until.After(now) {
			until = now
		}
		r = Recalled{query: f, Changes: []Changed{}}
		in := period{from, until}
		for n, vs := range st.All() {
			score, ok := meant[n]
			if asks.Subject != "" && !ok || !(&pastReader{lookup: l, query: f}).permits(vs) {
				continue
			}
			for _, c := range in.changesOf(vs, now) {
				c.score = score
				r.Changes = append(r.Changes, c)
			}
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	if asks.Subject != "" && len(meant) == 0 && present.firm() > 0 && about != nil {
		return present, nil
	}
	slices.SortFunc(r.Changes, func(a, b Changed) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Category, b.Category), cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID))
	})
	if header == "" {
		header = "Changed " + until2day(from, until, asks)
	}
	r.Read = &Reading{Kind: asks.Kind, Subject: asks.Subject, From: from, Until: until, Header: header}
	if at != nil {
		r.Read.Value, r.Read.At = at.Value, from
	}
	r.Total = len(r.Changes)
	r.Changes = r.Changes[:min(r.Total, r.query.Limit)]
	r.cut()
	return r, nil
}

// until2day is the period of a question as its answer names it.
func until2day(from, until time.Time, asks *language.Past) string {
	switch {
	case from.IsZero():
		return "until " + fact.Day(until)
	case asks.Until.IsZero():
		return fact.Day(from) + " → now"
	}
	return fact.Day(from) + " → " + fact.Day(asks.Until)
}

// period is a stretch of time, both ends included.
type period struct{ from, until time.Time }

func (p period) holds(t time.Time) bool { return !t.Before(p.from) && !t.After(p.until) }

// changesOf are the changes of one fact in a period: each once, at the time when it became true, or where that lies outside the
// period, when it was recorded.
func (p period) changesOf(vs []*fact.Version, now time.Time) (out []Changed) {
	held := fact.Timeline(vs, now)
	slices.SortStableFunc(held, func(a, b fact.Held) int {
		return cmp.Or(a.Period.From.Compare(b.Period.From), a.RecordedFrom.Compare(b.RecordedFrom))
	})
	add := func(v *fact.Version, kind string, at time.Time) *Changed {
		out = append(out, Changed{Kind: kind, ID: v.ID, Category: v.Category, Key: v.Key, Value: fact.Text(v), At: at, By: AuthorOf(v), Trust: fact.TrustIn(v)})
		return &out[len(out)-1]
	}
	for i, h := range held {
		began, recorded := h.Period.From, h.RecordedFrom
		at := began
		switch {
		case p.holds(began):
		case p.holds(recorded) && h.Outcome != "resumed":
			at = recorded
		default:
			at = time.Time{}
		}
		if !at.IsZero() {
			c := add(h.Version, changeNew, at)
			if fact.Day(began) != fact.Day(recorded) {
				if at.Equal(began) {
					c.recorded = recorded
				} else {
					c.recorded = began
				}
			}
			if old := fact.WithID(vs, string(h.Supersedes)); h.Outcome == string(Corrected) && old != nil {
				c.Kind, c.Was, c.was = changeCorrected, fact.Text(old), fact.TrustIn(old)
			} else if i > 0 && !h.Also && held[i-1].Period.Meets(h.Period) {
				c.Kind, c.Was, c.was = changeChanged, fact.Text(held[i-1].Version), fact.TrustIn(held[i-1].Version)
			}
			if began.After(now) {
				c.Kind = changePlanned
			}
		}
		end := h.Period.Until
		if end == nil || !p.holds(*end) && (h.RetractedAt == nil || !p.holds(*h.RetractedAt)) ||
			slices.ContainsFunc(held, func(x fact.Held) bool { return x.ID != h.ID && x.Period.From.Equal(*end) }) {
			continue // it holds yet, ended at another time, or was followed
		}
		c := add(h.Version, changeEnded, *end)
		if !p.holds(*end) {
			c.At = *h.RetractedAt
		}
		if h.RetractedAt != nil {
			c.Reason = h.RetractedReason
			if c.By = fact.RetractedBy(h.Version); !fact.EndGiven(h.Version) {
				c.Kind = changeRemoved
			}
		}
	}
	for _, v := range vs { // what was recorded and never was true after all, and nothing took its place
		if at := v.RecordedUntil; at != nil && v.RetractedAt != nil && p.holds(*v.RetractedAt) {
			c := add(v, changeRemoved, *v.RetractedAt)
			c.Reason, c.By = v.RetractedReason, fact.RetractedBy(v)
		}
	}
	return out
}

// Line is the change as answers tell it.
func (c *Changed) Line() string {
	sign := map[string]string{changeNew: "+ became true", changeChanged: "~ changed", changeCorrected: "~ corrected", changeEnded: "- no longer true", changeRemoved: "- removed", changePlanned: "+ planned"}[c.Kind]
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: [%s/%s] %s", fact.Day(c.At), sign, prose.Name(c.Category), prose.Name(c.Key), c.Brief(c.Value))
	if c.Was != "" {
		fmt.Fprintf(&b, " (was %s)", c.was.Quote(c.Was))
	}
	b.WriteString(by(prose.Clip(c.By, authorRunes)))
	if c.Reason != "" {
		fmt.Fprintf(&b, ", reason: '%s'", prose.Brief(c.Reason))
	}
	switch {
	case c.recorded.IsZero():
	case c.recorded.After(c.At):
		fmt.Fprintf(&b, " [recorded %s]", fact.Day(c.recorded))
	case c.Kind != changePlanned:
		fmt.Fprintf(&b, " [valid from %s]", fact.Day(c.recorded))
	}
	return b.String()
}
