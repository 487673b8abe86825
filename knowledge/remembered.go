package knowledge

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
)

// Remembered is what became of an assertion.
type Remembered struct {
	Outcome       Outcome        `json:"outcome"`
	ID            string         `json:"id"`
	Category      string         `json:"category"`
	Key           string         `json:"key"`
	Value         string         `json:"value"`
	Confidence    float64        `json:"confidence"`
	Confirmations int            `json:"confirmations"`
	ValidFrom     time.Time      `json:"valid_from"`
	ValidUntil    *time.Time     `json:"valid_until"`
	RecordedAt    time.Time      `json:"recorded_at"`
	Touched       []string       `json:"touched"`                 // ids of every version that changed
	Was           *PreviousValue `json:"was,omitempty"`           // the value that is no longer current
	Contradiction *Contradiction `json:"contradiction,omitempty"` // with severity low it is a change and no alarm
	DisputeNote                  // with outcome disputed: the assertion, while all else tells of what is believed; else: the value it replaced, for the third time
	Displaced     []Displacement `json:"displaced,omitempty"`
	Values        []string       `json:"values,omitempty"`  // all that are current, where the fact has several
	Similar       []Similar      `json:"similar,omitempty"` // advice only: nothing was done about them
	Redacted      []string       `json:"redacted,omitempty"`
	Unchecked     string         `json:"unchecked_source,omitempty"` // why the file that the source names will not be checked

	Left []string `json:"left,omitempty"` // arguments that it confirmed the fact without: somebody of more authority set them

	// Requested is the period that the assertion gave, when what is stored is another:
	// confirming a value never shortens it.
	Requested *fact.Period `json:"asked,omitempty"`

	held      []*fact.Version // whose values Values are
	withdrawn []*fact.Version // plans of somebody with less authority: see setAside
	bared     []*fact.Version // what the user says and an agent had said with more: see setAside
	dated     bool            // the assertion gave a period, so the answer tells what was stored
}

// PreviousValue is the value that the fact had until this assertion.
type PreviousValue struct {
	Value      string    `json:"value"`
	Since      time.Time `json:"since"`
	AssertedBy string    `json:"asserted_by,omitempty"`
	All        []string  `json:"all,omitempty"` // the values, where it had several
	fact.Trust

	held []*fact.Version // whose values All are
}

// Contradiction reports that a fact changed its value.
type Contradiction struct {
	Category      string        `json:"category"`
	Key           string        `json:"key"`
	OldValue      string        `json:"old_value"`
	NewValue      string        `json:"new_value"`
	OldConfidence float64       `json:"old_confidence"`
	Confirmations int           `json:"confirmations"` // of the old value
	OldAssertedBy string        `json:"old_asserted_by,omitempty"`
	Severity      fact.Severity `json:"severity"`
	fact.Trust                  // in the old value

	// Within is the new version's period if it is not simply from now on. To take it back, one
	// corrects that period alone.
	Within *fact.Period `json:"within,omitempty"`

	rival bool // another agent asserted the old value, and may be at work
}

// Displacement tells what became of a version with another value: the periods it is still
// believed for. There are none when it is no longer believed at all.
type Displacement struct {
	ID    string        `json:"id"`
	Value string        `json:"value"`
	Was   fact.Period   `json:"was"`
	Now   []fact.Period `json:"now"`
	fact.Trust
}

// Similar is a fact under another name that might say the same or the opposite.
type Similar struct {
	Kind      string  `json:"kind,omitempty"` // conflict, replaced, near; none: it says the same
	Category  string  `json:"category"`
	Key       string  `json:"key"`
	Value     string  `json:"value"`
	Relevance float64 `json:"relevance"` // 0..1
	fact.Trust
}

// NotDone says what stays believed if the value is not. A dispute about a value that is replaced is
// something else.
func (r Remembered) NotDone() string {
	if r.Outcome == Disputed {
		return r.DisputeNote.NotDone()
	}
	return ""
}

// Text gives the answer's lines.
func (r Remembered) Text() string { return r.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (r Remembered) TextIn(call prose.Syntax) string {
	var b strings.Builder
	if r.Outcome == Disputed {
		b.WriteString(r.DisputeNote.TextIn(call))
		r.noteSource(&b)
		return b.String()
	}
	verb := map[Outcome]string{Confirmed: "Confirmed", Corrected: "Corrected", Refined: "Refined", Added: "Added"}[r.Outcome]
	if verb == "" {
		verb = "Remembered"
	}
	fmt.Fprintf(&b, "%s [%s] %s: %s (", verb, prose.Name(r.Category), prose.Name(r.Key), prose.Brief(r.Value))
	switch r.Outcome {
	case Added:
		b.WriteString(countValues(r.held))
	case Confirmed:
		fmt.Fprintf(&b, "confidence: %s, confirmed %dx", prose.Percent(r.Confidence), r.Confirmations)
	default:
		b.WriteString("confidence: " + prose.Percent(r.Confidence))
	}
	b.WriteByte(')')
	r.details(&b, call)
	return b.String()
}

// details are the lines after the first: what the assertion replaced, contradicts and resembles.
func (r Remembered) details(b *strings.Builder, call prose.Syntax) {
	ended := ""
	if r.dated && r.Was != nil && len(r.Displaced) == 1 {
		ended = r.Displaced[0].ended()
	}
	switch {
	case r.Contradiction != nil && r.Contradiction.Severity != fact.Low:
		r.Contradiction.text(b, r.Was != nil, call)
	case ended != "" && r.Was.All == nil:
		b.WriteString("\n  " + ended)
	case r.Was != nil && r.Outcome == Refined:
		b.WriteString("\n  was: " + r.Was.Brief(r.Was.Value))
	case r.Was != nil && r.Was.All != nil:
		b.WriteString("\n  was: " + nameValues(r.Was.held))
	case r.Was != nil:
		b.WriteString("\n  was: " + r.Was.Brief(r.Was.Value) + " (since " + r.Was.Since.Format(time.DateOnly))
		if r.Was.AssertedBy != "" {
			b.WriteString(" by " + prose.Name(r.Was.AssertedBy))
		}
		b.WriteByte(')')
	}
	if r.dated || r.Outcome == Planned {
		period := fact.Period{From: r.ValidFrom, Until: r.ValidUntil}
		fmt.Fprintf(b, "\n  Valid %s", period.StringAt(r.RecordedAt))
		if r.Outcome != Superseded { // that would seem to be said of the new value
			fmt.Fprintf(b, " (%s)", r.Outcome)
		}
		if !fact.Before(r.RecordedAt, r.ValidUntil) {
			b.WriteString(": already over, so not current")
		}
		if r.Requested != nil {
			fmt.Fprintf(b, "\n  Asked for was %s: confirming a fact does not shorten it; to do that, say the same with %s", r.Requested, call("", "correct", true))
		}
		for _, d := range r.Displaced {
			if x := d.ended(); x != "" {
				if x != ended || r.Was.All != nil || r.Contradiction != nil && r.Contradiction.Severity != fact.Low {
					b.WriteString("\n  " + x)
				}
				continue
			}
			fmt.Fprintf(b, "\n  %s %s", d.Quote(d.Value), d.now())
		}
	}
	for _, v := range r.withdrawn {
		by := ""
		if name := AssertedBy(v); name != "" {
			by = " by " + prose.Name(name)
		}
		fmt.Fprintf(b, "\n  withdrawn: %s, which was planned from %s%s", fact.TrustIn(v).Quote(v.Value), fact.Day(v.ValidFrom), by)
	}
	for _, v := range r.bared {
		b.WriteString(withoutMore(v, r.ValidUntil))
	}
	if r.Dispute != nil {
		fmt.Fprintf(b, "\n  Changed back and forth %d times within %d days: '%s'%s", flipFlopChanges, flipFlopWithin/(24*time.Hour),
			prose.Brief(r.Dispute.Value), recordOf(*r.Dispute, "not believed", "accept", call)+" (or reject)")
	}
	if len(r.Left) > 0 {
		b.WriteString("\n  " + leftAsItWas(r.Left...))
	}
	r.noteSource(b)
	for _, s := range r.Similar {
		if s.Kind == similarNear {
			fmt.Fprintf(b, "\n  near: [%s/%s] %s. If this replaces it: %s", prose.Name(s.Category), prose.Name(s.Key), s.Brief(s.Value),
				call("remember", "category", s.Category, "key", s.Key, "value", prose.Quoted(r.Value)))
			continue
		}
		label := map[string]string{similarConflict: "Possible conflict", similarReplaced: "Replaced, it seems"}[s.Kind]
		fmt.Fprintf(b, "\n  "+cmp.Or(label, "Similar")+": [%s/%s] %s. Settle it: %s", prose.Name(s.Category), prose.Name(s.Key), s.Brief(s.Value),
			call("judge", "category", r.Category, "key", r.Key, "target", s.Category+"/"+s.Key, "verdict", "supersedes")+" (or compatible, unrelated)")
	}
}

// withoutMore tells what an agent had said with a value and the user does not say: its end, now another one, and examples.
func withoutMore(v *fact.Version, end *time.Time) (text string) {
	by := prose.Name(cmp.Or(AssertedBy(v), AuthorOf(v)))
	if v.ValidUntil != nil && !fact.SameEnd(v.ValidUntil, end) {
		text = "\n  left out: its end on " + fact.Day(*v.ValidUntil) + ", given by " + by
	}
	if len(v.Examples) > 0 {
		text += "\n  left out: " + prose.Count(len(v.Examples), "example") + " given by " + by
	}
	return text
}

// noteSource tells what is to be known of the assertion's own text.
func (r Remembered) noteSource(b *strings.Builder) {
	if r.Unchecked != "" {
		b.WriteString("\n  Source " + prose.Line(r.Unchecked) + ": it will not be checked")
	}
	b.WriteString(prose.Redacted(r.Redacted))
}

// ended says until when a value was true that only ended earlier than was thought, else nothing.
func (d Displacement) ended() string {
	if len(d.Now) != 1 || d.Now[0].Until == nil || !d.Now[0].From.Equal(d.Was.From) {
		return ""
	}
	return "was " + d.Quote(d.Value) + " until " + fact.Day(*d.Now[0].Until)
}

func (d Displacement) now() string {
	if len(d.Now) == 0 {
		return "is no longer believed; it was, for " + d.Was.String()
	}
	periods := make([]string, len(d.Now))
	for i, p := range d.Now {
		periods[i] = p.String()
	}
	return "is now valid " + strings.Join(periods, " and ")
}

func (c *Contradiction) text(b *strings.Builder, archived bool, call prose.Syntax) {
	subject, reason := "Fact", fmt.Sprintf("was confirmed %dx", c.Confirmations)
	if c.Severity == fact.High {
		subject = "High-confidence fact"
	} else if c.OldAssertedBy != "" {
		reason = "asserted by " + prose.Line(c.OldAssertedBy)
	}
	fmt.Fprintf(b, "\n  ⚠ CONTRADICTION DETECTED: %s [%s/%s] changed:", subject, prose.Name(c.Category), prose.Name(c.Key))
	fmt.Fprintf(b, "\n  %s → '%s' (%s).", c.Quote(c.OldValue), prose.Brief(c.NewValue), reason)
	if archived {
		b.WriteString(" Previous value archived.")
	}
	back := []any{"category", c.Category, "key", c.Key, "value", prose.Quoted(c.OldValue)} // whole: it is there to be copied
	if c.Within != nil {
		back = append(back, "valid_from", c.Within.From.Format(time.RFC3339))
		if c.Within.Until != nil {
			back = append(back, "valid_until", c.Within.Until.Format(time.RFC3339))
		}
	}
	fmt.Fprintf(b, "\n  Severity: %s. If the old value still holds: %s", c.Severity, call("remember", append(back, "correct", true)...))
}

func valuesOf(vs []*fact.Version) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = v.Value
	}
	return out
}

// maxValues is how many values of a fact a line names.
const maxValues = 10

// countValues counts values and names them: 2 values: Claude Code, Codex.
func countValues(vs []*fact.Version) string {
	return prose.Count(len(vs), "value") + ": " + nameValues(vs)
}

func nameValues(vs []*fact.Version) string {
	var b strings.Builder
	for i, v := range vs[:min(len(vs), maxValues)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(fact.TrustIn(v).Brief(v.Value))
	}
	if more := len(vs) - maxValues; more > 0 {
		fmt.Fprintf(&b, ", … %d more", more)
	}
	return b.String()
}

// leftAsItWas says what of a fact was not changed, since somebody of more authority asserted it.
func leftAsItWas(what ...string) string {
	return "Left as it was: " + strings.Join(what, ", ") + ". Ask the user"
}
