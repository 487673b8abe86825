package knowledge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"leanctx/formats"
	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// SourceName names who stands behind one assertion: a user by the person's name, if it is known.
func SourceName(s Source) string {
	switch person := fact.Person(s.Person); {
	case s.Kind == KindUser && person != "":
		return person
	case s.Kind == KindUser && s.Replica != "":
		return KindUser + " of " + s.Replica // a colleague's, or one's own on another machine
	case s.Kind == KindUser:
		return KindUser
	case looksLikePerson(s.By):
		return s.Kind + ":" + s.By // only the user's word is shown as the user's
	case s.By != "":
		return s.By
	case strings.HasPrefix(s.Ref, "tool:"):
		return s.Ref
	case s.Kind == KindTool:
		return ToolCLI
	}
	return s.Kind
}

// looksLikePerson reports whether a program goes by a name that would be read as a person's. The names
// of agents and clients have small letters, digits and marks.
func looksLikePerson(name string) bool {
	return args.ClaimsUser(name, "") || strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || unicode.IsUpper(r) || r > unicode.MaxASCII })
}

// sameAuthor reports whether two assertions are one author's. Former versions did not keep a user's
// name: then any user of the same machine is the same.
func sameAuthor(a, b Source) bool {
	if a.Kind != KindUser || b.Kind != KindUser {
		return SourceName(a) == SourceName(b)
	}
	x, y := fact.Person(a.Person), fact.Person(b.Person)
	if x != "" && y != "" {
		return x == y
	}
	return a.Replica == b.Replica
}

// strongest is the source of a version that has the most authority, the first of several; nil if it
// has none.
func strongest(v *fact.Version) *Source {
	if len(v.Sources) == 0 {
		return nil
	}
	return new(slices.MaxFunc(v.Sources, func(a, b Source) int { return cmp.Compare(Authority(a.Kind), Authority(b.Kind)) }))
}

// AuthorOf names who stands behind a version: its source of most authority.
func AuthorOf(v *fact.Version) string {
	if s := strongest(v); s != nil {
		return SourceName(*s)
	}
	return KindImport
}

// MarkOf says of a line that nobody asked for where it came from: what nobody has confirmed here, since when a user says it,
// and whose warning it is if no user gave it.
func MarkOf(v *fact.Version) string {
	switch {
	case fact.Unconfirmed(v):
		return " (?)"
	case fact.ByUser(v):
		return " (u, " + fact.Day(v.ValidFrom) + ")"
	case fact.IsGotcha(v) && len(v.Sources) > 0:
		return " (by " + prose.ShortLine(prose.Clip(AuthorOf(v), 40)) + ")"
	}
	return ""
}

// AssertedBy names who asserted a version first: an agent by its name, a user by the person's. It is
// empty if the name is not known.
func AssertedBy(v *fact.Version) string {
	if v.AssertedBy == "" && len(v.Sources) > 0 && v.Sources[0].Kind == KindUser {
		return fact.Person(v.Sources[0].Person)
	}
	return v.AssertedBy
}

// DisputeNote is the part of an answer that reports a new dispute. Answers embed it.
// The zero value means that there is none.
type DisputeNote struct {
	Dispute *formats.Dispute `json:"dispute,omitempty"` // the disputed assertion
	Why     string           `json:"why,omitempty"`     // the rule by which it is not believed
	Old     *fact.Version    `json:"-"`                 // the version that stays
}

// Warned reports whether there is a dispute.
func (x DisputeNote) Warned() bool { return x.Dispute != nil }

// NotDone says what stays believed, in one line: whoever asked for something else reads this, if
// nothing else of the answer. It is empty if there is no dispute.
func (x DisputeNote) NotDone() string {
	if !x.Warned() {
		return ""
	}
	d, undone := *x.Dispute, "not believed"
	if d.Removal || d.Rename != nil {
		undone = "not done"
	}
	return fmt.Sprintf("%s: %s/%s is still %s (%s)", undone, prose.Line(d.Category), prose.Line(d.Key), fact.TrustIn(x.Old).Quote(x.Old.Value), prose.Line(AuthorOf(x.Old)))
}

// MaxDisputes is how many open disputes one fact has at most.
const MaxDisputes = 20

// openDispute records an assertion that disagrees with a version. It records nothing if the
// same dispute is open or was rejected, because repeating an assertion proves nothing. Nor
// does it once MaxDisputes about the fact are open.
func openDispute(f state.Facts, d formats.Dispute, old *fact.Version, present time.Time) ([]state.Event, DisputeNote) {
	d.Category, d.Key, d.Against, d.At, d.Source.At, d.State = old.Category, old.Key, old.ID, present, present, formats.DisputeOpen
	by := d.Source
	by.Confidence = d.Confidence
	why, open := protection(f, by, old), 0
	for _, x := range slices.Backward(f.Disputes(fact.IDOf(d.Category, d.Key))) {
		if x.State != formats.DisputeOpen && x.State != formats.DisputeRejected {
			continue
		}
		current := state.DisputeState(f, x, present)
		if (current == formats.DisputeRejected || current == formats.DisputeOpen) && sameDispute(x, d) {
			return nil, DisputeNote{&x, why, old}
		}
		if current == formats.DisputeOpen {
			open++
		}
	}
	if open >= MaxDisputes {
		d.State = formats.DisputeRefused
		return nil, DisputeNote{&d, why, old}
	}
	d.ID = disputeID(f, d)
	return []state.Event{{Dispute: &d}}, DisputeNote{&d, why, old}
}

// sameDispute reports whether two disputes assert the same against one version.
func sameDispute(a, b formats.Dispute) bool {
	if a.Against != b.Against || a.Removal != b.Removal || (a.Rival == nil) != (b.Rival == nil) || (a.Rename == nil) != (b.Rename == nil) {
		return false
	}
	if a.Removal && !fact.SameEnd(a.ValidUntil, b.ValidUntil) {
		return false
	}
	if a.Rename != nil {
		return fact.IDOf(a.Rename.Category, a.Rename.Key) == fact.IDOf(b.Rename.Category, b.Rename.Key)
	}
	if a.Rival != nil && fact.IDOf(a.Rival.Category, a.Rival.Key) != fact.IDOf(b.Rival.Category, b.Rival.Key) {
		return false
	}
	return a.Also == b.Also && verdict.Compare(a.Key, a.Value, b.Value) == verdict.Equal
}

// disputeID is short, because people type it.
func disputeID(f state.Facts, d formats.Dispute) string {
	for n := 0; ; n++ {
		digits := formats.VersionID(d.Category, d.Key, d.Value, d.At, n)[len("f-"):]
		for size := 4; size <= len(digits); size++ {
			if _, taken := f.Dispute("d-" + digits[:size]); !taken {
				return "d-" + digits[:size]
			}
		}
	}
}

// dispute is what the assertion becomes if it may not replace the believed version.
func (c *Checked) dispute() formats.Dispute {
	return formats.Dispute{
		Value: c.Value, Confidence: c.Confidence, Source: c.Source, ValidFrom: c.From, ValidUntil: c.Until,
		Correct: c.Correct, Also: c.Also, Replaces: c.Replaces, Privacy: c.Privacy,
	}
}

// OpenDispute records a dispute against a version for an author who had not seen all
// assertions about the fact. Nothing else changes.
func OpenDispute(f state.Facts, d formats.Dispute, old *fact.Version, present time.Time) []state.Event {
	events, _ := openDispute(f, d, old, present)
	return events
}

// Settle judges a dispute. It is pure.
//
//   - Accepting does with the judge's authority what the dispute wants: it asserts the value again,
//     ends the fact, or gives it the other name.
//   - Rejecting an open dispute leaves what is believed. If the disputed assertion could replace
//     it by now, the judge confirms it, so that it cannot.
//   - Rejecting an accepted one takes the acceptance back. A name stays: it has to be renamed back.
//   - Who has less authority than the one who judged before, or than what is believed, is refused.
//     So is who rejects what somebody of more authority asserted, and a dispute that has closed.
func Settle(f state.Facts, d formats.Dispute, accept bool, by Source, session string, now, present time.Time) (events []state.Event, err error) {
	to, was := formats.DisputeRejected, d.State
	if accept {
		to, by.Files = formats.DisputeAccepted, d.Source.Files
	}
	if was == to {
		return nil, nil
	}
	reopened := d
	reopened.State = formats.DisputeOpen
	if was != formats.DisputeAccepted && state.DisputeState(f, reopened, present) == formats.DisputeClosed {
		return nil, refusal.Argument("target", "%s has closed: its value is believed, or the value that it disputed is not believed any more", d.ID)
	}
	by.At, by.Ref, by.Confidence = now, d.ID, max(d.Confidence, DefaultConfidence)
	j := judgement{f, d, f.Versions(fact.IDOf(d.Category, d.Key)), by, session, now, present}
	if d.Settled != nil && Authority(by.Kind) < Authority(d.Settled.Kind) || !accept && Authority(by.Kind) < Authority(d.Source.Kind) {
		return nil, j.refused()
	}
	switch {
	case accept:
		events, err = j.accept()
	case was == formats.DisputeAccepted:
		events, err = j.takeBack()
	case was == formats.DisputeOpen && d.Rename == nil:
		events, err = j.uphold()
	}
	if err != nil {
		return nil, err
	}
	if accept && d.Rename != nil {
		d.Category, d.Key = d.Rename.Category, d.Rename.Key // it follows the fact
	}
	d.State, d.Settled = to, &by
	return append(events, state.Event{Dispute: &d}), nil
}

// judgement is the decision on a dispute.
type judgement struct {
	facts        state.Facts
	dispute      formats.Dispute
	versions     []*fact.Version // of its fact
	by           Source
	session      string
	now, present time.Time // the recorded time, and the one that is the present
}

// accept does what the dispute wants.
func (j *judgement) accept() ([]state.Event, error) {
	d := j.dispute
	switch {
	case d.Rename != nil:
		events, x, err := renameDecision{j.facts, Name{Category: d.Category, Key: d.Key}, *d.Rename, d.Merge, j.by, j.now, j.present}.decide()
		if err == nil && x.Warned() {
			err = j.refused()
		}
		return events, err
	case d.Removal:
		d.Source = j.by
		return j.end(d)
	case len(j.versions) == 0:
		return nil, nil
	}
	a := j.assertion(d.Value)
	a.From, a.Until, a.Correct, a.Also, a.Replaces = d.ValidFrom, d.ValidUntil, d.Correct, d.Also, d.Replaces
	if a.From == nil && !a.Correct {
		a.From = &d.At
	}
	return j.assert(a)
}

// uphold confirms the version that stays believed, if the disputed assertion could replace it.
func (j *judgement) uphold() ([]state.Event, error) {
	v := fact.WithID(j.versions, j.dispute.Against)
	if v == nil || !MayReplace(j.facts, j.dispute.Source, v) {
		return nil, nil
	}
	a := j.assertion(v.Value)
	a.Confidence, a.Also = v.Confidence, v.Also
	return j.assert(a)
}

// takeBack undoes an acceptance that still holds.
func (j *judgement) takeBack() ([]state.Event, error) {
	d, v := j.dispute, fact.WithID(j.versions, j.dispute.Against)
	switch {
	case d.Rename != nil:
		return nil, refusal.Argument("verdict", "%s was accepted, and the fact has its new name: rename it back", d.ID)
	case v == nil:
		return nil, nil
	case d.Removal:
		return j.revive(v)
	}
	added := currentWith(j.versions, d.Value, j.present)
	switch {
	case added == nil:
		return nil, nil
	case v.ID != added.ID && slices.Contains(fact.AllCurrent(j.versions, j.present), v):
		return j.end(Removal(d.Value, j.by)) // it was added beside v
	}
	a := j.assertion(v.Value)
	a.Confidence, a.Correct = v.Confidence, true
	if added.Also {
		a.Replaces = added.Value
	}
	return j.assert(a)
}

// revive takes the end back that an acceptance gave a version. One that has not come yet is
// moved to where it was.
func (j *judgement) revive(v *fact.Version) ([]state.Event, error) {
	if v.RetractedAt != nil && fact.Believed(v) && fact.Before(j.present, v.ValidUntil) {
		if !MayReplace(j.facts, j.by, v) {
			return nil, j.refused()
		}
		p := fact.Period{From: v.ValidFrom}
		if n := len(v.Beliefs); n > 0 {
			p.Until = v.Beliefs[n-1].ValidUntil
		}
		return []state.Event{{Put: fact.Reperiod(v, p, j.now)}}, nil
	}
	if v.ValidUntil == nil || currentWith(j.versions, v.Value, j.present) != nil {
		return nil, nil
	}
	a := j.assertion(v.Value)
	a.Confidence, a.From, a.Also = v.Confidence, v.ValidUntil, v.Also
	return j.assert(a)
}

// assertion is a value in the name of the judge.
func (j *judgement) assertion(value string) Checked {
	d := j.dispute
	return Checked{Category: d.Category, Key: d.Key, Value: value, Confidence: j.by.Confidence, Source: j.by, Session: j.session, Privacy: d.Privacy, At: j.present}
}

func (j *judgement) assert(a Checked) ([]state.Event, error) {
	events, r, err := Assert(j.facts, a, j.now)
	if err == nil && r.Outcome == Disputed {
		err = j.refused()
	}
	return events, err
}

func (j *judgement) end(removal formats.Dispute) ([]state.Event, error) {
	events, x := End(j.facts, fact.IDOf(j.dispute.Category, j.dispute.Key), removal, j.now, j.present)
	if x.Warned() {
		return nil, j.refused()
	}
	return events, nil
}

func (j *judgement) refused() error {
	return refusal.ForUser("%s is for the user to judge", j.dispute.ID)
}

// currentWith is the current version of a fact that has a value.
func currentWith(vs []*fact.Version, value string, now time.Time) *fact.Version {
	for _, v := range fact.AllCurrent(vs, now) {
		if hasValue(v, value) {
			return v
		}
	}
	return nil
}

// TextIn is the text about the dispute in the caller's syntax.
func (x DisputeNote) TextIn(call prose.Syntax) string {
	d := *x.Dispute
	text := fmt.Sprintf("Disputed [%s] %s: still %s (%s, confidence: %s)\n  ", prose.Name(d.Category), prose.Name(d.Key), fact.TrustIn(x.Old).Quote(x.Old.Value), prose.Name(AuthorOf(x.Old)), prose.Percent(x.Old.Confidence))
	undone := "not believed"
	if d.Removal || d.Rename != nil {
		undone = "not done"
	}
	if d.Rival != nil {
		text += "its end by "
	}
	text += disputeSummary(d) + recordOf(d, undone, "accept", call)
	if x.Why != "" {
		text += "\n  Why: " + x.Why
	}
	return text
}

// recordOf says under which id a dispute is recorded, and how to settle it.
func recordOf(d formats.Dispute, undone, verdict string, call prose.Syntax) string {
	switch {
	case d.State == formats.DisputeRefused:
		return fmt.Sprintf(" is not recorded: %d disputes about this fact are open. To list them: %s", MaxDisputes, call("disputes"))
	case d.State == formats.DisputeRejected && d.Settled != nil:
		return fmt.Sprintf(" was rejected as %s on %s by %s", d.ID, d.Settled.At.Format(time.DateOnly), prose.Name(SourceName(*d.Settled)))
	case d.State == formats.DisputeRejected:
		return " was rejected as " + d.ID
	}
	return fmt.Sprintf(" is recorded as %s, %s. To settle, ask the user, then: %s", d.ID, undone,
		call("judge", "category", d.Category, "key", d.Key, "target", d.ID, "verdict", verdict, "source", KindUser))
}

// disputeSummary is what a dispute asserts, in words.
func disputeSummary(d formats.Dispute) string {
	what := "its removal"
	switch {
	case d.Rename != nil:
		return fmt.Sprintf("its renaming to [%s]", Slashed(*d.Rename))
	case d.Rival != nil:
		return fmt.Sprintf("'%s' of [%s]", prose.Brief(d.Value), Slashed(*d.Rival))
	case !d.Removal:
		return "'" + prose.Brief(d.Value) + "'" + periodOf(d)
	case d.ValidUntil != nil:
		what = "its end on " + fact.Day(*d.ValidUntil)
	}
	if d.Reason != "" {
		what += " (reason: '" + prose.Brief(d.Reason) + "')"
	}
	return what
}

// periodOf is the period that an assertion gave, in words; empty if it gave none. A dispute may be
// about nothing else.
func periodOf(d formats.Dispute) (text string) {
	if d.ValidFrom != nil {
		text = " from " + fact.Day(*d.ValidFrom)
	}
	if d.ValidUntil != nil {
		text += " until " + fact.Day(*d.ValidUntil)
	}
	return text
}

// DisputeInfo is a dispute and the version that it is against.
type DisputeInfo struct {
	ID         string    `json:"id"`
	Category   string    `json:"category"`
	Key        string    `json:"key"`
	Value      string    `json:"value,omitempty"`
	Removal    bool      `json:"removal,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Rival      *Name     `json:"rival,omitempty"` // the fact that contradicts it, and has Value
	Rename     *Name     `json:"rename,omitempty"`
	By         string    `json:"by"`
	Confidence float64   `json:"confidence"`
	At         time.Time `json:"at"`
	Against    string    `json:"against"` // the value that it is against
	fact.Trust           // in that value
	AgainstBy  string    `json:"against_by"`
	Believed   float64   `json:"against_confidence"`
	State      string    `json:"state"`
	SettledBy  string    `json:"settled_by,omitempty"`
	SettledAt  time.Time `json:"settled_at,omitzero"`

	summary string // what it asserts, in words
}

// Summary is what the dispute asserts, in words.
func (d DisputeInfo) Summary() string { return d.summary }

// Line is the dispute in one line.
func (d DisputeInfo) Line() string {
	line := fmt.Sprintf("%s [%s/%s] %s (%s, %s, %s) against %s (%s, %s)", prose.Line(d.ID), prose.Name(d.Category), prose.Name(d.Key), d.summary, prose.Name(d.By),
		prose.Percent(d.Confidence), d.At.Format(time.DateOnly), d.Quote(d.Against), prose.Name(d.AgainstBy), prose.Percent(d.Believed))
	if d.State != formats.DisputeOpen {
		line += ", " + prose.Line(d.State)
	}
	if d.SettledBy != "" {
		line += fmt.Sprintf(" %s by %s", d.SettledAt.Format(time.DateOnly), prose.Name(d.SettledBy))
	}
	return line
}

// DisputeInfoOf describes a dispute at an instant.
func DisputeInfoOf(f state.Facts, d formats.Dispute, at time.Time) DisputeInfo {
	r := DisputeInfo{
		ID: d.ID, Category: d.Category, Key: d.Key, Value: d.Value, Removal: d.Removal, Rename: d.Rename, Rival: d.Rival, By: SourceName(d.Source), Confidence: d.Confidence,
		At: d.At, State: state.DisputeState(f, d, at), Reason: d.Reason, summary: disputeSummary(d),
	}
	if v := state.Version(f, fact.IDOf(d.Category, d.Key), d.Against); v != nil {
		r.Against, r.AgainstBy, r.Believed, r.Trust = v.Value, AuthorOf(v), v.Confidence, fact.TrustIn(v)
	}
	if d.Settled != nil {
		r.SettledBy, r.SettledAt = SourceName(*d.Settled), d.Settled.At
	}
	return r
}
