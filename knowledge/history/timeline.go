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
	"leanctx/knowledge/drawing"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// TimelineQuery asks for the history of a room or of one fact.
type TimelineQuery struct {
	Category string `json:"category" arg:"1" short:"c" jsonschema:"the room"`
	Key      string `json:"key,omitempty" arg:"2" short:"k" jsonschema:"only this fact"`
	Limit    int    `json:"limit,omitempty" jsonschema:"most versions to show, the newest ones (default 100)"`
	SVG      string `json:"svg,omitempty" jsonschema:"command line: draw it into this file; - prints the drawing"`

	// Draw takes a drawing to the file that SVG names. Only a surface whose caller
	// owns the machine's files sets it.
	Draw func(file string, svg []byte) error `json:"-"`
}

// VersionList is a timeline: every version, oldest first.
type VersionList struct {
	Category string  `json:"category"`
	Key      string  `json:"key,omitempty"`
	Entries  []Entry `json:"entries"`
	Total    int     `json:"total"`
	limit    int
	near     string // where there is none: what was probably meant
	file     string // where the drawing is
	svg      string // the drawing, if it is the answer
}

// Entry is one version in a timeline.
type Entry struct {
	ID            string     `json:"id"`
	Key           string     `json:"key"`
	Value         string     `json:"value"`
	Mark          string     `json:"mark"`
	ValidFrom     time.Time  `json:"valid_from"`
	ValidUntil    *time.Time `json:"valid_until"`
	RecordedFrom  time.Time  `json:"recorded_from"`
	RecordedUntil *time.Time `json:"recorded_until"`
	Confidence    float64    `json:"confidence"`
	Confirmations int        `json:"confirmations"`
	Archived      bool       `json:"archived,omitempty"` // outside the active set
	Supersedes    string     `json:"supersedes,omitempty"`
	AssertedBy    string     `json:"asserted_by,omitempty"`
	Contradiction bool       `json:"contradiction,omitempty"` // it replaced a well-founded value
	formats.Retraction
	fact.Trust

	timed bool // another version of the fact begins on the same day
}

// Timeline lists every version of a room or of a fact, by valid time, and draws them
// where the caller wants a drawing.
func Timeline(ctx context.Context, s *knowledge.Store, q TimelineQuery) (r VersionList, err error) {
	if err := refusal.Required("category", q.Category); err != nil {
		return r, err
	}
	if q.Limit, err = refusal.Limit(q.Limit, 100); err != nil {
		return r, err
	}
	if q.SVG != "" && q.Draw == nil {
		return r, refusal.Argument("svg", "svg writes a file, which only the command line does")
	}
	var disputes []knowledge.DisputeInfo
	var at time.Time
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		r, at, disputes = timeline(st, q, now), now, nil
		for _, d := range state.OpenDisputes(st, st.Disputed, now) {
			disputes = append(disputes, knowledge.DisputeInfoOf(st, d, now))
		}
		return nil
	})
	if err == nil && q.SVG != "" {
		svg := r.Drawing(disputes, at).SVG(nil)
		if r.file = q.SVG; r.file == "-" {
			r.svg = string(svg)
		} else {
			err = q.Draw(q.SVG, svg)
		}
	}
	return r, err
}

// timeline gives the newest q.Limit versions.
func timeline(st *state.State, q TimelineQuery, now time.Time) VersionList {
	q.Category, q.Key = knowledge.Present(st, q.Category, q.Key)
	r := VersionList{Category: strings.TrimSpace(q.Category), Key: q.Key, limit: q.Limit, Entries: []Entry{}}
	if room := st.Room(q.Category); room != "" {
		r.Category = room
	}
	vs := past(st, q.Category, q.Key)
	r.Total = len(vs)
	if len(vs) == 0 {
		r.near = knowledge.Nearest(st.Reader(), knowledge.Name{Category: q.Category, Key: q.Key}, now)
	}
	for _, v := range vs[max(0, len(vs)-q.Limit):] {
		r.Entries = append(r.Entries, entry(v, st.Versions(fact.IDOf(v.Category, v.Key)), now))
	}
	return r
}

// past lists the versions of a room or a fact, oldest first.
func past(st *state.State, category, key string) []*fact.Version {
	var out []*fact.Version
	if key != "" {
		out = slices.Clone(st.Versions(fact.IDOf(category, key)))
	} else {
		for _, v := range st.Within(category) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b *fact.Version) int {
		if c := a.ValidFrom.Compare(b.ValidFrom); c != 0 {
			return c
		}
		return fact.ByName(a, b)
	})
	return out
}

// entry is v, one of the versions vs of a fact.
func entry(v *fact.Version, vs []*fact.Version, now time.Time) Entry {
	old := fact.WithID(vs, string(v.Supersedes))
	sameDay := func(w *fact.Version) bool { return w.ID != v.ID && fact.Day(w.ValidFrom) == fact.Day(v.ValidFrom) }
	return Entry{
		timed: slices.ContainsFunc(vs, sameDay),
		ID:    v.ID, Key: v.Key, Value: v.Value, Mark: mark(v, vs, now), ValidFrom: v.ValidFrom, ValidUntil: v.ValidUntil,
		RecordedFrom: v.RecordedFrom, RecordedUntil: v.RecordedUntil, Confidence: v.Confidence,
		Confirmations: v.ConfirmationCount, Archived: v.ArchivedAt != nil, Supersedes: string(v.Supersedes), AssertedBy: knowledge.AssertedBy(v),
		Retraction: v.Retraction, Trust: fact.TrustIn(v), Contradiction: old != nil && v.Outcome == string(knowledge.Superseded) && fact.WellFounded(old),
	}
}

// period is when a version is true, as people read it.
func (e Entry) period() string {
	p := fact.Period{From: e.ValidFrom, Until: e.ValidUntil}
	switch {
	case e.Mark == drawing.Planned:
		return p.StringAt(time.Time{})
	case e.RecordedUntil != nil && e.ValidFrom.After(*e.RecordedUntil):
		return p.StringAt(*e.RecordedUntil) // it was planned, and taken back before it began
	case e.timed:
		return p.Times()
	}
	return p.String()
}

func mark(v *fact.Version, vs []*fact.Version, now time.Time) string {
	p, ok := fact.PeriodNow(v, vs, now)
	switch {
	case v.RetractedAt != nil && !(ok && p.Contains(now)): // else its end is planned
		return drawing.Retracted
	case !fact.Believed(v):
		return drawing.Corrected
	case ok && p.Contains(now) && v.ArchivedAt != nil:
		return drawing.Dormant
	case ok && p.Contains(now):
		return drawing.Current
	case ok && p.From.After(now):
		return drawing.Planned
	}
	return drawing.Past
}

// Text gives the answer's lines.
func (r VersionList) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r VersionList) TextIn(call prose.Syntax) string {
	switch {
	case r.svg != "":
		return r.svg
	case r.file != "":
		return fmt.Sprintf("Drawn to %s (%s)", prose.Line(r.file), prose.Count(len(r.Entries), "version"))
	}
	if len(r.Entries) == 0 {
		text := fmt.Sprintf("No history for category '%s'.", prose.Brief(r.Category))
		if r.Key != "" {
			text = fmt.Sprintf("No history for [%s] %s.", prose.Name(r.Category), prose.Name(r.Key))
		}
		if r.near != "" {
			text += " Did you mean " + prose.Name(r.near) + "?"
		}
		return text
	}
	var b strings.Builder
	noun := "entries"
	if r.Total == 1 {
		noun = "entry"
	}
	fmt.Fprintf(&b, "Timeline [%s] (%d %s):", prose.Name(r.Category), r.Total, noun)
	b.WriteString(prose.More(call, r.Total-len(r.Entries), r.limit))
	for _, e := range r.Entries {
		fmt.Fprintf(&b, "\n  %s = %s [%s] (%s) conf=%s x%d", prose.Name(e.Key), e.Line(e.Value), e.Mark,
			e.period(), prose.Percent(e.Confidence), e.Confirmations)
		if e.RetractedReason != "" {
			fmt.Fprintf(&b, ", reason: '%s'", prose.Brief(e.RetractedReason))
		}
	}
	return b.String()
}

// Drawing is the timeline as a drawing, with the disputes that are about its facts.
func (r VersionList) Drawing(disputes []knowledge.DisputeInfo, now time.Time) drawing.Timeline {
	d := drawing.Timeline{Title: r.Category, Now: now}
	if r.Key != "" {
		d.Title += "/" + r.Key
	}
	row := func(key string) string {
		if r.Key != "" {
			return ""
		}
		return key
	}
	entries := slices.Clone(r.Entries)
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Compare(formats.FoldName(row(a.Key)), formats.FoldName(row(b.Key)))
	})
	for _, e := range entries {
		d.Bars = append(d.Bars, drawing.Bar{
			Row: row(e.Key), Text: e.Value, Detail: e.detail(), From: e.ValidFrom, Until: e.ValidUntil, Recorded: e.RecordedFrom,
			Mark: e.Mark, Contradiction: e.Contradiction, Link: "#" + e.ID,
		})
	}
	for _, x := range disputes {
		if i := slices.IndexFunc(entries, func(e Entry) bool {
			return formats.FoldName(x.Category) == formats.FoldName(r.Category) && formats.FoldName(x.Key) == formats.FoldName(e.Key)
		}); i >= 0 {
			d.Disputes = append(d.Disputes, drawing.Dispute{Row: row(entries[i].Key), Name: x.ID, Detail: x.Line(), At: x.At, Link: "#" + x.ID})
		}
	}
	return d
}

// detail is a version in one line.
func (e Entry) detail() string {
	text := fmt.Sprintf("%s [%s] %s, %s", prose.Clip(e.Value, 200)+e.Trust.Mark(), e.Mark, e.period(), prose.Percent(e.Confidence))
	if e.AssertedBy != "" {
		text += " by " + e.AssertedBy
	}
	if e.Contradiction {
		text += ", contradicts the value before it"
	}
	return text
}
