package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// Interval asks what changed between two instants.
type Interval struct {
	From     string `json:"from" arg:"1" jsonschema:"the earlier instant: RFC 3339, a day, a month, an age or words (last week)"`
	To       string `json:"to,omitempty" arg:"2" jsonschema:"the later instant (default now)"`
	Category string `json:"category,omitempty" short:"c" jsonschema:"only this room"`
	Axis     string `json:"axis,omitempty" enum:"recorded,valid" jsonschema:"recorded: what was learned, changed, corrected, confirmed and removed then (default); valid: what became true and false then"`
	Limit    int    `json:"limit,omitempty" jsonschema:"most changes to show (default 100)"`
}

// The axes of an [Interval].
const (
	axisRecorded = "recorded"
	axisValid    = "valid"
)

// The kinds of a [Change] on the axis of recorded time.
const (
	learned     = "learned"
	changed     = "changed"
	corrected   = "corrected"
	confirmed   = "confirmed"
	redated     = "redated"     // the same value, true for another period
	disbelieved = "disbelieved" // no longer believed, and nothing took its place
	removed     = "removed"
	erased      = "erased"
	archived    = "archived" // out of the active set
	disputed    = "disputed"
)

// The kinds of a [Change] on the axis of valid time.
const (
	becameTrue  = "true"
	becameFalse = "false"
)

// Change is one difference between two instants.
type Change struct {
	Kind       string    `json:"kind"`
	Category   string    `json:"category"`
	Key        string    `json:"key"`
	Value      string    `json:"value,omitempty"`
	Was        string    `json:"was,omitempty"`   // the value that it took the place of, or stands against
	Times      int       `json:"times,omitempty"` // how often it was confirmed
	ValidFrom  time.Time `json:"valid_from,omitzero"`
	ValidUntil time.Time `json:"valid_until,omitzero"`
	At         time.Time `json:"at"`
	ID         string    `json:"id"`
	By         string    `json:"by,omitempty"` // who did it, where that is known
	fact.Trust

	was     fact.Trust // in the value before
	dated   bool       // its period is not simply from when it was recorded on
	dispute string     // what a dispute says, in words
}

// Difference is what changed between two instants.
type Difference struct {
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Axis    string    `json:"axis"`
	Changes []Change  `json:"changes"`
	Total   int       `json:"total"`

	from, to string
	limit    int
	of       Interval
	other    int // where there is none: how many there are on the other axis
}

// Diff lists what changed between two instants. On the axis of recorded time it is
// what was recorded then, whenever that was true of the project. On the axis
// of valid time it is what became true and false then, by what is known now.
func Diff(ctx context.Context, s *knowledge.Store, q Interval) (r Difference, err error) {
	if err := refusal.Required("from", q.From); err != nil {
		return r, err
	}
	q.Axis = cmp.Or(q.Axis, axisRecorded)
	if q.Axis != axisRecorded && q.Axis != axisValid {
		return r, refusal.Argument("axis", "axis %q is neither recorded nor valid", prose.Clip(q.Axis, 40))
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
	from, err := args.ParseInstant("from", q.From, clock, false)
	if err != nil {
		return Difference{}, err
	}
	to := args.Instant{Time: now, Text: "now"}
	if q.Axis == axisRecorded && st.At().After(now) {
		to.Time = st.At() // a clock that was ahead pushed recorded time on
	}
	if q.To != "" {
		if to, err = args.ParseInstant("to", q.To, clock, true); err != nil {
			return Difference{}, err
		}
	}
	if to.Before(from.Time) {
		return Difference{}, refusal.Argument("to", "to %s is before from %s", to.Text, from.Text)
	}
	r := Difference{From: from.Time, To: to.Time, Axis: q.Axis, from: from.Text, to: to.Text, limit: q.Limit, of: q, Changes: []Change{}}
	within := window{from.Time, to.Time}
	recorded := func() []Change { return within.recorded([]Change{}, st, q.Category) }
	valid := func() []Change { return within.valid([]Change{}, st, q.Category, now) }
	of, other := recorded, valid
	if q.Axis == axisValid {
		of, other = valid, recorded
	}
	if r.Changes = of(); len(r.Changes) == 0 {
		r.other = len(other())
	}
	slices.SortFunc(r.Changes, func(a, b Change) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Category, b.Category), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	r.Total = len(r.Changes)
	r.Changes = r.Changes[:min(q.Limit, r.Total)]
	return r, nil
}

// window is the time after one instant up to another one.
type window struct{ after, to time.Time }

func (w window) holds(t time.Time) bool { return t.After(w.after) && !t.After(w.to) }

func (w window) has(t *time.Time) bool { return t != nil && w.holds(*t) }

func change(kind string, v *fact.Version, at time.Time) Change {
	c := Change{Kind: kind, Category: v.Category, Key: v.Key, Value: v.Value, At: at, ID: v.ID, ValidFrom: v.ValidFrom, Trust: fact.TrustIn(v)}
	if len(v.Sources) > 0 {
		c.By = knowledge.SourceName(v.Sources[0])
	}
	if v.ValidUntil != nil {
		c.ValidUntil = *v.ValidUntil
	}
	c.dated = c.ValidUntil != time.Time{} || fact.Day(v.ValidFrom) != fact.Day(v.RecordedFrom)
	return c
}

// recorded adds what was recorded in the window.
func (w window) recorded(out []Change, st *state.State, category string) []Change {
	room := formats.FoldName(category)
	for n, vs := range st.All() {
		if room == "" || n.Category == room {
			out = w.ofFact(out, vs)
		}
	}
	in := func(c string) bool { return room == "" || formats.FoldName(c) == room }
	for t := range st.Tombstones() {
		if in(t.Category) && w.holds(t.ErasedAt) {
			out = append(out, Change{Kind: erased, Category: t.Category, Key: t.Key, At: t.ErasedAt})
		}
	}
	for _, d := range st.Disputed {
		if in(d.Category) && w.holds(d.At) {
			x := knowledge.DisputeInfoOf(st, d, w.to)
			out = append(out, Change{Kind: disputed, Category: d.Category, Key: d.Key, Value: d.Value, Was: x.Against, was: x.Trust, At: d.At, ID: d.ID, By: x.By, dispute: x.Summary()})
		}
	}
	return out
}

// ofFact adds what was recorded of one fact, whose versions are vs.
func (w window) ofFact(out []Change, vs []*fact.Version) []Change {
	byID := make(map[string]*fact.Version, len(vs))
	made := map[time.Time]bool{}      // when a version took its place among the others
	moved := map[time.Time][]string{} // values whose period changed, by when
	for _, v := range vs {
		byID[v.ID] = v
		made[v.RecordedFrom] = true
		for _, b := range v.Beliefs {
			moved[b.RecordedUntil] = append(moved[b.RecordedUntil], v.Value)
		}
	}
	for _, v := range vs {
		if w.holds(v.RecordedFrom) && v.Outcome != "resumed" {
			c := change(learned, v, v.RecordedFrom)
			if old := byID[string(v.Supersedes)]; old != nil {
				c.Kind, c.Was, c.was = changed, old.Value, fact.TrustIn(old)
				if v.Outcome == string(knowledge.Corrected) {
					c.Kind = corrected
				}
			}
			out = append(out, c)
		}
		if c := change(confirmed, v, v.RecordedFrom); w.confirmations(v, &c) {
			out = append(out, c)
		}
		if b := v.Beliefs; len(b) > 0 && w.holds(b[len(b)-1].RecordedUntil) && !made[b[len(b)-1].RecordedUntil] && (v.RetractedAt == nil || fact.EndGiven(v)) {
			c := change(redated, v, b[len(b)-1].RecordedUntil)
			c.dated = true
			out = append(out, c)
		}
		switch {
		case fact.EndGiven(v):
		case w.has(v.RetractedAt):
			c := change(removed, v, *v.RetractedAt)
			c.By = fact.RetractedBy(v)
			out = append(out, c)
		case v.RetractedAt == nil && w.has(v.RecordedUntil) && !made[*v.RecordedUntil] && !joined(v, moved[*v.RecordedUntil]):
			out = append(out, change(disbelieved, v, *v.RecordedUntil))
		}
		if w.has(v.ArchivedAt) {
			out = append(out, change(archived, v, *v.ArchivedAt))
		}
	}
	return out
}

// joined reports whether v became one with another version of its value.
func joined(v *fact.Version, moved []string) bool {
	return slices.ContainsFunc(moved, func(value string) bool { return verdict.Compare(v.Key, v.Value, value) == verdict.Equal })
}

// confirmations counts in c how often v was confirmed in the window, and when last.
func (w window) confirmations(v *fact.Version, c *Change) bool {
	for _, s := range v.Sources {
		if w.holds(s.At) && s.At.After(v.RecordedFrom) {
			c.Times++
			c.At, c.By = s.At, knowledge.SourceName(s)
		}
	}
	return c.Times > 0
}

// valid adds what became true and false in the window.
func (w window) valid(out []Change, st *state.State, category string, now time.Time) []Change {
	room := formats.FoldName(category)
	add := func(vs []*fact.Version) {
		for _, h := range fact.Timeline(vs, now) {
			if w.holds(h.Period.From) {
				out = append(out, change(becameTrue, h.Version, h.Period.From))
			}
			if w.has(h.Period.Until) {
				out = append(out, change(becameFalse, h.Version, *h.Period.Until))
			}
		}
	}
	for n, vs := range st.All() {
		if room == "" || n.Category == room {
			add(vs)
		}
	}
	return out
}

// Text gives the answer's lines.
func (r Difference) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r Difference) TextIn(call prose.Syntax) string {
	if r.Total == 0 {
		return fmt.Sprintf("No changes %s → %s.", r.from, r.to) + r.onTheOtherAxis(call)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Changes %s → %s (%d):", r.from, r.to, r.Total)
	for _, c := range r.Changes {
		b.WriteString("\n  " + fact.Day(c.At) + " " + c.text())
	}
	b.WriteString(prose.More(call, r.Total-len(r.Changes), r.limit))
	return b.String()
}

// onTheOtherAxis says that there are changes on the axis that was not asked about, and how to see them.
func (r Difference) onTheOtherAxis(call prose.Syntax) string {
	if r.other == 0 {
		return ""
	}
	what, axis := "became true or false then", axisValid
	if r.Axis == axisValid {
		what, axis = "was recorded then", axisRecorded
	}
	again := []any{"from", r.of.From}
	if r.of.To != "" {
		again = append(again, "to", r.of.To)
	}
	if r.of.Category != "" {
		again = append(again, "category", r.of.Category)
	}
	return fmt.Sprintf("\n  What %s: %s (%s)", what, prose.Count(r.other, "change"), call("diff", append(again, "axis", axis)...))
}

// text is the change without its day.
func (c Change) text() string {
	sign := map[string]string{
		becameTrue: "+ became true", becameFalse: "- no longer true", learned: "+ learned", disbelieved: "- no longer believed",
		removed: "- removed", erased: "- erased", confirmed: "= confirmed", disputed: "? disputed",
	}
	line := fmt.Sprintf("%s: [%s/%s]", cmp.Or(sign[c.Kind], "~ "+c.Kind), prose.Name(c.Category), prose.Name(c.Key))
	if c.dispute != "" {
		return line + " " + c.dispute + " against " + c.was.Quote(c.Was)
	}
	if c.Value != "" {
		line += " " + c.Brief(c.Value)
	}
	if c.Was != "" {
		line += " (was " + c.was.Quote(c.Was) + ")"
	}
	if c.Times > 1 {
		line += fmt.Sprintf(" (%dx)", c.Times)
	}
	if tells := c.Kind == learned || c.Kind == changed || c.Kind == corrected || c.Kind == redated; c.dated && tells {
		p := fact.Period{From: c.ValidFrom}
		if !c.ValidUntil.IsZero() {
			p.Until = &c.ValidUntil
		}
		line += " [valid " + p.StringAt(c.At) + "]"
	}
	return line
}
