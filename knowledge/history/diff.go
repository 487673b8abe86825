package history

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
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Interval asks what changed between two instants.
type Interval struct {
	From     string `json:"from" arg:"1" jsonschema:"the earlier instant: RFC 3339, a day or an age"`
	To       string `json:"to,omitempty" arg:"2" jsonschema:"the later instant (default now)"`
	Category string `json:"category,omitempty" short:"c" jsonschema:"only this room"`
	Limit    int    `json:"limit,omitempty" jsonschema:"most changes to show (default 100)"`
}

// Change is one difference between two instants.
type Change struct {
	Kind     string    `json:"kind"` // true, false, corrected, retracted, archived
	Category string    `json:"category"`
	Key      string    `json:"key"`
	Value    string    `json:"value"`
	At       time.Time `json:"at"`
	ID       string    `json:"id"`
}

// Difference is what became true, false, corrected, retracted or archived.
type Difference struct {
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Changes []Change  `json:"changes"`
	Total   int       `json:"total"`

	from, to string
	limit    int
}

// Diff compares what was true at two instants, by what is known now, and lists
// what was corrected, retracted or archived between them.
func Diff(ctx context.Context, s *knowledge.Store, q Interval) (r Difference, err error) {
	if err := refusal.Required("from", q.From); err != nil {
		return r, err
	}
	if q.Limit, err = refusal.Limit(q.Limit, 100); err != nil {
		return r, err
	}
	err = s.View(ctx, func(st *state.State, now time.Time) (err error) {
		r, err = diff(st, q, now, s.Now())
		return err
	})
	return r, err
}

// diff gives the first q.Limit changes. Ages are counted from clock.
func diff(st *state.State, q Interval, now, clock time.Time) (Difference, error) {
	from, err := fact.ParseInstant("from", q.From, clock, false)
	if err != nil {
		return Difference{}, err
	}
	to := fact.Instant{Time: now, Text: "now"}
	if q.To != "" {
		if to, err = fact.ParseInstant("to", q.To, clock, true); err != nil {
			return Difference{}, err
		}
	}
	if to.Before(from.Time) {
		return Difference{}, refusal.Argument("to", "to %s is before from %s", to.Text, from.Text)
	}
	r := Difference{From: from.Time, To: to.Time, from: from.Text, to: to.Text, limit: q.Limit, Changes: []Change{}}
	for n, v := range st.Each() {
		if q.Category == "" || n.Category == formats.FoldName(q.Category) {
			r.Changes = appendChanges(r.Changes, v, r.From, r.To)
		}
	}
	slices.SortFunc(r.Changes, func(a, b Change) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Category, b.Category), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	r.Total = len(r.Changes)
	r.Changes = r.Changes[:min(q.Limit, r.Total)]
	return r, nil
}

func appendChanges(out []Change, v *fact.Version, from, to time.Time) []Change {
	within := func(t *time.Time) bool { return t != nil && t.After(from) && !t.After(to) }
	add := func(kind string, at time.Time) {
		out = append(out, Change{Kind: kind, Category: v.Category, Key: v.Key, Value: v.Value, At: at, ID: v.ID})
	}
	switch {
	case within(v.RetractedAt):
		add(markRetracted, *v.RetractedAt)
	case within(v.RecordedUntil):
		add(markCorrected, *v.RecordedUntil)
	case fact.Believed(v) && within(v.ValidUntil) && !v.ValidUntil.Equal(v.ValidFrom):
		add("false", *v.ValidUntil)
	}
	if fact.Believed(v) && within(&v.ValidFrom) {
		add("true", v.ValidFrom)
	}
	if within(v.ArchivedAt) {
		add(markArchived, *v.ArchivedAt)
	}
	return out
}

// Text gives the answer's lines.
func (r Difference) Text() string {
	if r.Total == 0 {
		return fmt.Sprintf("No changes %s → %s.", r.from, r.to)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Changes %s → %s (%d):", r.from, r.to, r.Total)
	sign := map[string]string{"true": "+ became true", "false": "- no longer true"}
	for _, c := range r.Changes {
		fmt.Fprintf(&b, "\n  %s %s: [%s/%s] %s", fact.Day(c.At), cmp.Or(sign[c.Kind], "~ "+c.Kind), prose.Line(c.Category), prose.Line(c.Key), prose.Brief(c.Value))
	}
	if more := r.Total - len(r.Changes); more > 0 {
		fmt.Fprintf(&b, "\n  … %d more (limit=%d)", more, r.limit)
	}
	return b.String()
}
