package knowledge

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// assertHere is [Assert] on the store's own facts. A fact that becomes local first ends for
// everybody else: see [keepHome].
func assertHere(st state.Reader, a Checked, now, present time.Time) ([]state.Event, Remembered, error) {
	named := a
	named.name(st)
	n := fact.IDOf(named.Category, named.Key)
	vs := st.Versions(n)
	if aside, plans, bared := setAside(st, named, now, present); len(aside) > 0 {
		over := st
		o := state.NewOverlay(st.Facts, nil)
		o.Fold(aside...)
		over.Facts = o
		events, r, err := assertHere(over, a, now, present)
		if err != nil || r.Outcome == Disputed {
			return events, r, err
		}
		for _, v := range plans {
			r.Displaced = append(r.Displaced, Displacement{ID: v.ID, Value: v.Value, Was: fact.PeriodOf(v), Trust: fact.TrustIn(v)})
		}
		r.withdrawn, r.bared = plans, bared
		return append(aside, events...), r, nil
	}
	local := a.Privacy == PrivacyLocal && len(vs) > 0 && !IsLocal(vs)
	if local {
		for _, h := range fact.Timeline(vs, present) {
			if fact.Before(present, h.Period.Until) { // what is planned would end too
				local = local && MayReplace(st, a.Source, h.Version) // else it is disputed, or confirms without the privacy
			}
		}
	}
	if !local {
		// Where one of its values may not be changed the fact stays shared whole: see [Remembered.Left].
		refused := a.Privacy == PrivacyLocal && len(vs) > 0 && !IsLocal(vs)
		if !refused {
			return Assert(st, a, now)
		}
		kept := a
		kept.Privacy = ""
		events, r, err := Assert(st, kept, now)
		switch {
		case err != nil:
		case r.Outcome == Disputed: // the doubt itself stays on this machine
			return Assert(st, a, now)
		case r.Outcome != Confirmed: // a new value would be everybody's
			return nil, Remembered{}, refusal.Argument("privacy", "[%s] %s is shared, and only the user may keep it on this machine; a value beside it would be shared too: leave privacy out, or use another key",
				prose.Name(named.Category), prose.Name(named.Key))
		default:
			r.Left = append(r.Left, "privacy")
		}
		return events, r, err
	}
	events := keepHome(st, n, now, present)
	over := state.NewOverlay(st, nil)
	over.Fold(events...)
	more, r, err := Assert(over, a, now)
	return append(events, more...), r, err
}

// Assert is the whole policy of remember. It is pure. The rules, in the order of [decide]:
//
//  1. Line. A fact has one value at a time, unless somebody added one with also. If it has
//     several, only one ends: the one named in replaces, or the only one that is refined.
//     replaces=* ends all.
//  2. Confirm. The believed value again, without a period, is a confirmation and changes nothing
//     else. Package verdict decides which values are equal.
//  3. Period. It begins at valid_from or now, and ends at valid_until or with the next version.
//     A correction has the period of the version that was wrong.
//  4. Room. Versions of the same value that the period touches are merged with it, which
//     confirms them. Another value ends where the period begins. If the period has an end, that
//     value holds again from there. A version that is wholly covered is no longer believed.
//  5. Authority. The order is user, file or tool, agent, import. Nobody changes what a source of
//     more authority asserted, what is pinned, or, with a confidence under 50%, another author's
//     value of 80% or more: see [protection]. A change that is not allowed only opens a dispute.
//  6. Outcome. It names what happened: created, added, superseded, corrected …
//  7. Verdict. A value that contains the whole old value and adds to it refines it. Any other
//     value contradicts it. A contradiction of low severity prints no warning.
//  8. Doubt. If two authors change the fact back and forth, or did not know of each other, the
//     new value is believed and the old one becomes a dispute.
//
// File place.go applies the decision to the versions.
func Assert(f state.Facts, a Checked, now time.Time) ([]state.Event, Remembered, error) {
	d, err := decide(f, a, now)
	if err != nil {
		return nil, Remembered{}, err
	}
	events, r := d.carryOut()
	return events, r, nil
}

// decision is what an assertion will do, and what the decision is based on.
type decision struct {
	facts    state.Facts
	asserted Checked
	form     verdict.Form    // of the asserted value
	versions []*fact.Version // of the fact, as they are believed: see [fact.Settle]
	open     []*fact.Version // those of them that are not over before the present: of thousands, a few
	revision int             // the highest revision count
	settled  []*fact.Version // those of them that differ from what is stored
	now      time.Time       // the recorded time
	present  time.Time       // now, or the wall clock if the recorded time is far ahead of it

	several  bool             // the assertion is one of several values
	line     *fact.Version    // the one of several values that makes room; nil: none
	confirms *fact.Version    // it counts once more, and that is all; else nil
	wrong    *fact.Version    // what a correction is about; else nil
	period   fact.Period      // of the assertion
	moves    bool             // the version that was wrong has the value, and gets the period
	same     []*fact.Version  // they have the value, and become one with it
	ends     []*fact.Version  // they make room
	old      *fact.Version    // the one of them that was believed where the period begins; nil: none
	outcome  Outcome          // what it is called
	severity fact.Severity    // of the contradiction; empty: there is none
	rival    bool             // another agent of the same type asserted the old value, and may be at work
	keeps    *fact.Version    // what the assertion may not change, so that it is disputed; else nil
	doubt    *formats.Dispute // that the new value opens; else nil
}

func decide(f state.Facts, a Checked, now time.Time) (*decision, error) {
	a.name(f)
	d := &decision{facts: f, asserted: a, form: verdict.Canonical(a.Key, a.Value), now: now, present: now}
	if !a.At.IsZero() {
		d.present = fact.Present(a.At, now)
	}
	d.versions, d.settled = fact.Settle(f.Versions(fact.IDOf(a.Category, a.Key)), d.present, now)
	for _, v := range d.versions {
		d.revision = max(d.revision, v.RevisionCount)
		if v.ValidUntil == nil || !v.ValidUntil.Before(d.present) {
			d.open = append(d.open, v)
		}
	}
	if err := a.checkLists(d.model()); err != nil {
		return nil, err
	}
	if err := d.findLine(); err != nil {
		return nil, err
	}
	d.findBeginning()
	if d.confirms = d.believed(); d.confirms != nil {
		d.outcome = Confirmed
		return d, nil
	}
	d.findWrong()
	if err := d.findPeriod(); err != nil {
		return nil, err
	}
	d.makeRoom()
	if d.keeps = d.protected(); d.keeps != nil {
		d.outcome = Disputed
		return d, nil
	}
	d.outcome = d.findOutcome()
	d.weigh()
	d.doubt = cmp.Or(d.backAndForth(), d.apart())
	return d, nil
}

// equals reports whether a version has the asserted value.
func (d *decision) equals(v *fact.Version) bool { return d.compare(v) == verdict.Equal }

// compare tells how the asserted value relates to that of a version.
func (d *decision) compare(v *fact.Version) verdict.Kind {
	return verdict.Canonical(v.Key, v.Value).Compare(d.form)
}

// begins is when the assertion begins to be true, as far as it says so.
func (d *decision) begins() time.Time {
	if d.asserted.From != nil {
		return *d.asserted.From
	}
	return d.present
}

// since are the versions that may overlap, or end at, what begins at an instant.
func (d *decision) since(t time.Time) []*fact.Version {
	if t.Before(d.present) {
		return d.versions
	}
	return d.open
}

// # 1. Line

// AllValues is what replaces all values of a fact.
const AllValues = "*"

// findLine decides whether the assertion is one of several values, and which of them makes room
// for it. That is the value that it replaces, or the only one that it refines.
func (d *decision) findLine() error {
	a := &d.asserted
	held := fact.AllCurrentAt(d.since(d.begins()), d.begins())
	for _, v := range fact.AllCurrentAt(d.open, d.present) {
		if !slices.Contains(held, v) {
			held = append(held, v)
		}
	}
	d.several = a.Also || a.Replaces != AllValues && hasSeveral(d.open, d.present)
	if a.Replaces != "" && a.Replaces != AllValues {
		i := slices.IndexFunc(held, func(v *fact.Version) bool { return hasValue(v, a.Replaces) })
		if i < 0 {
			return noValue(a.Category, a.Key, a.Replaces)
		}
		d.line = held[i]
		return nil
	}
	if !d.several || a.Also || slices.ContainsFunc(held, d.equals) {
		return nil
	}
	var refined []*fact.Version
	for _, v := range held {
		if d.compare(v) == verdict.Refined {
			refined = append(refined, v)
		}
	}
	if len(refined) == 1 {
		d.line = refined[0]
	}
	if a.Correct && d.line == nil {
		return refusal.Argument("replaces", "[%s] %s has %s: say with replaces which one was wrong", prose.Name(a.Category), prose.Name(a.Key), countValues(held))
	}
	return nil
}

// hasSeveral reports whether a fact has several values now or later.
func hasSeveral(vs []*fact.Version, now time.Time) bool {
	return slices.ContainsFunc(vs, func(v *fact.Version) bool { return v.Also && fact.Believed(v) && fact.Before(now, v.ValidUntil) })
}

// inLine reports whether a version with another value makes room for the assertion.
func (d *decision) inLine(v *fact.Version) bool {
	return !d.several || d.line != nil && v.ID == d.line.ID
}

// # 2. Confirm

// believed is the believed version with the asserted value. It is nil if the assertion gives a
// period, or names another value to replace.
func (d *decision) believed() *fact.Version {
	if d.asserted.dated() {
		return nil
	}
	held := fact.AllCurrentAt(d.open, d.present)
	i := slices.IndexFunc(held, d.equals)
	if i < 0 || d.asserted.Replaces != "" && d.line != held[i] {
		return nil
	}
	return held[i]
}

// # 3. Period

// findBeginning settles a beginning that was given as a day, or that nobody knows.
//
// A day means some time that day. So the value follows the last version that began on that day:
// the order of recording decides, and that version was true. A correction takes that version's
// place, and the same value begins with it.
//
// If a value has ended and nobody knows its beginning, it is only certain that it was true just
// before its end. So what was believed before that stays.
func (d *decision) findBeginning() {
	a := &d.asserted
	if a.FromDay {
		d.followWithinDay()
	}
	corrects := a.Correct && fact.CurrentAt(d.open, d.present) != nil // that version's end
	if a.From == nil && a.Until != nil && !corrects && !a.Until.After(d.present) {
		a.From = new(a.Until.Add(-time.Nanosecond))
	}
}

func (d *decision) followWithinDay() {
	a := &d.asserted
	day := fact.Period{From: *a.From, Until: new(a.From.AddDate(0, 0, 1))}
	if day.Contains(d.present) {
		day.Until = new(d.present.Add(1)) // what is planned for later that day is no predecessor
	}
	var last *fact.Version
	for _, v := range d.versions {
		if fact.Believed(v) && day.Contains(v.ValidFrom) && (d.inLine(v) || d.equals(v)) && (last == nil || v.ValidFrom.After(last.ValidFrom)) {
			last = v
		}
	}
	if last == nil {
		return
	}
	from := last.ValidFrom
	switch end := last.ValidUntil; {
	case a.Correct || d.equals(last):
	case end != nil && end.Before(*day.Until):
		from = *end // it was over on the same day
	default:
		from = from.Add(time.Nanosecond)
	}
	if fact.Before(from, a.Until) {
		a.From = &from
	}
}

// findWrong finds what a correction is about: the version that was valid at its beginning, else
// the present one. A correction that begins after the end of that one is about none.
func (d *decision) findWrong() {
	if !d.asserted.Correct {
		return
	}
	for _, at := range []time.Time{d.begins(), d.present} {
		for _, v := range fact.AllCurrentAt(d.since(at), at) {
			if d.inLine(v) || d.line == nil && d.equals(v) {
				d.wrong = v
			}
		}
		if d.wrong != nil {
			break
		}
	}
	if d.wrong != nil && !fact.Before(d.begins(), d.wrong.ValidUntil) {
		d.wrong = nil
	}
}

// findPeriod is the assertion's valid period: what it gives, else that of the version that was
// wrong, else from now on. Without an end it runs to the start of the next version.
func (d *decision) findPeriod() error {
	a, p := &d.asserted, fact.Period{From: d.present}
	if d.wrong != nil {
		p = fact.PeriodOf(d.wrong)
		if a.Replaces == AllValues {
			for _, v := range fact.AllCurrentAt(d.versions, d.begins()) {
				p = p.Union(fact.PeriodOf(v))
			}
		}
	}
	if a.From != nil {
		p.From = *a.From
	}
	if a.Until != nil {
		p.Until = a.Until
		if !p.From.Before(*p.Until) {
			return refusal.Argument("valid_until", "valid_until %s is not after valid_from %s", p.Until.Format(time.RFC3339), p.From.Format(time.RFC3339))
		}
		d.period = p
		return nil
	}
	for _, v := range d.since(p.From) {
		if d.several || a.Replaces == AllValues && v.Also {
			continue // it has a timeline of its own, or ends
		}
		if fact.Believed(v) && v.ValidFrom.After(p.From) && fact.Before(v.ValidFrom, p.Until) {
			p.Until = new(v.ValidFrom)
			break
		}
	}
	if p.Until != nil && !p.From.Before(*p.Until) {
		p.Until = nil
	}
	d.period = p
	return nil
}

// # 4. Room

// makeRoom finds the versions that the period is about. With the same value and another period a
// correction puts the period right: then the version that was wrong moves there, and all others
// make room. This is how a fact is given an end.
//
// The end of what somebody of more authority asserted stays. Then what is asserted beyond it is a
// version of its own.
func (d *decision) makeRoom() {
	d.moves = d.wrong != nil && d.equals(d.wrong)
	var ended []*fact.Version
	versions := d.since(d.period.From)
	for _, v := range versions {
		if !d.moves && fact.Believed(v) && v.ValidUntil != nil && fact.Before(*v.ValidUntil, d.period.Until) && touches(v, d.period) && d.equals(v) && !MayReplace(d.facts, d.by(), v) {
			ended = append(ended, v)
			if d.period.From.Before(*v.ValidUntil) {
				d.period.From = *v.ValidUntil
			}
		}
	}
	for _, v := range versions {
		switch q := fact.PeriodOf(v); {
		case !fact.Believed(v), slices.Contains(ended, v):
		case d.moves && v == d.wrong, !d.moves && touches(v, d.period) && d.equals(v):
			d.same = append(d.same, v)
		case q.Overlaps(d.period) && d.inLine(v):
			d.ends = append(d.ends, v)
		}
	}
	d.old = fact.CurrentAt(d.ends, d.period.From)
}

// touches reports whether a version and a period of the same value are one
// stretch of time. A retracted version is not joined at the instant it was
// withdrawn, or withdrawing would have no effect.
func touches(v *fact.Version, p fact.Period) bool {
	q := fact.PeriodOf(v)
	return q.Overlaps(p) || p.Meets(q) || q.Meets(p) && v.RetractedAt == nil
}

// # 5. Authority

// Authority ranks the kinds of a source: user, file or tool, agent, import.
func Authority(kind string) int {
	switch kind {
	case KindUser:
		return 3
	case KindFile, KindTool:
		return 2
	case KindImport:
		return 0
	}
	return 1
}

// authorityOf is the highest authority that asserted a version. A file protects a
// version while it is what it was; then it counts as the agent that named it.
func authorityOf(f state.Facts, v *fact.Version) int {
	most := 0
	for _, s := range v.Sources {
		if s.Kind == KindFile && most < Authority(KindFile) && !backed(f, v) {
			s.Kind = KindAgent
		}
		most = max(most, Authority(s.Kind))
	}
	return most
}

// The confidence below which an assertion never replaces another author's version,
// and the one from which a version is safe from it.
const (
	doubtful = 0.5
	firm     = 0.8
)

// MayReplace reports whether a source may end or change a version.
func MayReplace(f state.Facts, by Source, v *fact.Version) bool {
	return protection(f, by, v) == ""
}

// protection says why a source may not end or change a version; empty if it may. What is pinned
// is the user's to change.
func protection(f state.Facts, by Source, v *fact.Version) string {
	if v.TakenIn {
		return "" // a proposal of somebody who is not trusted here, whatever kind of source he names
	}
	another := len(v.Sources) > 0 && (v.Sources[0].By != by.By || v.Sources[0].Kind != by.Kind || !sameAuthor(v.Sources[0], by))
	needed := authorityOf(f, v)
	switch mine := Authority(by.Kind); {
	case mine < Authority(KindUser) && fact.UsersAlone(v):
		if fact.ByUser(v) {
			return "only a user may change what a user asserted"
		}
		return "only a user may change a pinned fact"
	case mine < needed && needed == Authority(KindFile):
		return "only a user, a file or a tool may change what a file or a tool backs"
	case mine < needed:
		return "an import does not change what was asserted here"
	case another && by.Confidence < doubtful && v.Confidence >= firm:
		return fmt.Sprintf("under %s confidence nobody changes another author's value of %s or more", prose.Percent(doubtful), prose.Percent(firm))
	}
	return ""
}

// protected is the first version that the assertion would change and may not; nil if there is
// none. A value that is added beside others changes what all of its period say.
func (d *decision) protected() *fact.Version {
	by, changes := d.by(), d.ends
	if d.moves && !d.period.Equal(fact.PeriodOf(d.wrong)) {
		changes = slices.Concat(d.same, changes)
	}
	if d.several && d.line == nil && len(d.same) == 0 {
		for _, v := range d.versions {
			if fact.Believed(v) && fact.PeriodOf(v).Overlaps(d.period) {
				changes = append(changes, v)
			}
		}
	}
	i := slices.IndexFunc(changes, func(v *fact.Version) bool { return !MayReplace(d.facts, by, v) })
	if i < 0 {
		return nil
	}
	return changes[i]
}

// by is the source in whose name the assertion speaks.
func (d *decision) by() Source {
	by := d.asserted.Source
	by.Kind, by.Confidence = d.asserted.kind(), d.asserted.Confidence
	return by
}

// kind is the kind of source in whose name the assertion speaks.
func (c *Checked) kind() string { return cmp.Or(c.Authority, c.Source.Kind) }

// permitted is the assertion without what it may not take from a version that it confirms, and what
// that is. Who may not change a version changes nothing of its pin, its privacy or its kind, and takes no
// question away. To what a user asserted it may add tags and questions alone: another name or example is
// the user's to give.
func (d *decision) permitted(v *fact.Version) (c Checked, left []string) {
	c = d.asserted
	if MayReplace(d.facts, d.by(), v) {
		return c, nil
	}
	if c.Pinned != nil && *c.Pinned != v.Pinned {
		left = append(left, "pinned")
	}
	if c.Privacy != "" && c.Privacy != v.Privacy {
		left = append(left, "privacy")
	}
	if c.Archetype != "" && c.Archetype != v.Archetype {
		left = append(left, "archetype")
	}
	c.Pinned, c.Privacy, c.Archetype = nil, "", ""
	if authorityOf(d.facts, v) == Authority(KindUser) {
		if len(merge(v.Aliases, c.Aliases)) > len(v.Aliases) {
			left = append(left, "aliases")
		}
		if len(merge(v.Examples, c.Examples)) > len(v.Examples) {
			left = append(left, "examples")
		}
		c.Aliases, c.Examples = nil, nil
	}
	if c.Questions != nil {
		if c.Questions = moreQuestions(v, c.Questions); c.Questions == nil {
			left = append(left, "questions")
		}
	}
	if fact.IsGotcha(v) {
		c.Tags = slices.DeleteFunc(slices.Clone(c.Tags), fact.IsSeverity)
	}
	return c, left
}

// # 6. Outcome

// findOutcome names what the assertion turns out to be.
func (d *decision) findOutcome() Outcome {
	present := d.period.Contains(d.present)
	isOther := func(v *fact.Version) bool { return !slices.Contains(d.same, v) }
	switch {
	case d.wrong != nil:
		return Corrected
	case len(d.same) > 0 && (d.asserted.Replaces == "" || len(d.ends) == 0):
		return Confirmed
	case d.period.From.After(d.present):
		return Planned
	case present && len(d.ends) > 0:
		return Superseded
	case present && d.several && slices.ContainsFunc(fact.AllCurrentAt(d.open, d.present), isOther):
		return Added
	case present || !slices.ContainsFunc(d.versions, fact.Believed):
		return Created
	}
	return Backdated
}

// # 7. Verdict

// weigh compares the value with the one that was believed where its period begins.
//
// A contradiction has a high severity if the old value was well founded: a confidence of at least
// 0.9, asserted at least twice. It has a medium one if a user, or an agent of another type,
// asserted the old value. Whoever dates a change knows of it, so then it is low. It is low too if
// the new value tells that a bug or a task is over, or only leaves something out. A living agent
// of the same type counts too: see [weighRival].
func (d *decision) weigh() {
	if d.old == nil || d.outcome != Superseded && d.outcome != Backdated {
		return
	}
	by, was := d.asserted.Source, verdict.Canonical(d.old.Key, d.old.Value)
	another := d.asserted.From == nil && d.old.AssertedBy != "" && d.old.AssertedBy != by.By && !was.SaysMoreThan(d.form)
	switch {
	case d.refines():
		if d.outcome == Superseded {
			d.outcome = Refined
		}
	case was.ResolvedBy(d.form):
		d.severity = fact.Low
	case fact.WellFounded(d.old):
		d.severity = fact.High
	case another && by.Kind != KindUser && agentType(d.old.AssertedBy) != agentType(by.By), d.anotherUser() && !was.SaysMoreThan(d.form):
		d.severity = fact.Medium
	default:
		d.severity, d.rival = fact.Low, another
	}
}

// anotherUser reports whether a user changes what another user asserted, without saying since when.
func (d *decision) anotherUser() bool {
	by, old := d.asserted.Source, strongest(d.old)
	return d.asserted.From == nil && by.Kind == KindUser && by.Person != "" && old != nil && old.Kind == KindUser && old.Person != "" && !sameAuthor(*old, by)
}

// refines reports whether the value contains the whole old value and adds to it.
func (d *decision) refines() bool { return d.old != nil && d.compare(d.old) == verdict.Refined }

// # 8. Doubt

// flipFlopWithin is the time, and flipFlopChanges the number of changes, that make
// a value going back and forth between two authors a dispute.
const (
	flipFlopWithin  = 14 * 24 * time.Hour
	flipFlopChanges = 3
)

// lastTurns is how many assertions are looked at first. A fact may have thousands.
const lastTurns = 64

// backAndForth is the dispute of two authors who change a fact back and forth; nil if they do
// not.
func (d *decision) backAndForth() *formats.Dispute {
	old := d.current()
	if d.several || old == nil || d.equals(old) || !d.period.Contains(d.present) {
		return nil
	}
	type turn struct {
		value  string
		source *Source // of thousands, a copy of each would cost more than the rest
		at     int     // its place among all
	}
	newest := func(a, b turn) int { return cmp.Or(b.source.At.Compare(a.source.At), cmp.Compare(b.at, a.at)) }
	all := 0
	last := func(most int) (turns []turn) { // so many assertions, the last one first: that is about the order of the search
		all = 0
		for _, v := range slices.Backward(d.versions) {
			if len(turns) == most && v.LastConfirmed.Before(turns[most-1].source.At) {
				all += len(v.Sources)
				continue
			}
			for i := range slices.Backward(v.Sources) {
				turns = keepFirst(turns, turn{v.Value, &v.Sources[i], all}, most, newest)
				all++
			}
		}
		return turns
	}
	same := func(a, b turn) bool { return verdict.Compare(old.Key, a.value, b.value) == verdict.Equal }
	var runs []turn // of equal values, each with its first source
	for most := lastTurns; ; most = all {
		runs = []turn{{value: d.asserted.Value, source: &d.asserted.Source}}
		for _, x := range last(most) {
			if last := &runs[len(runs)-1]; same(x, *last) {
				last.source = x.source
				continue
			}
			if runs = append(runs, x); len(runs) > flipFlopChanges {
				break
			}
		}
		if len(runs) > flipFlopChanges || most >= all {
			break
		}
	}
	if len(runs) <= flipFlopChanges || !same(runs[0], runs[2]) || !same(runs[1], runs[3]) || d.now.Sub(runs[2].source.At) > flipFlopWithin ||
		!sameAuthor(*runs[0].source, *runs[2].source) || sameAuthor(*runs[0].source, *runs[1].source) {
		return nil
	}
	return &formats.Dispute{Value: old.Value, Confidence: old.Confidence, Source: *runs[1].source}
}

// current is the version that is believed to be valid now.
func (d *decision) current() *fact.Version {
	if slices.ContainsFunc(d.open, func(v *fact.Version) bool { return fact.RecordedAfter(v, d.present) }) {
		return fact.Current(d.versions, d.present)
	}
	return fact.CurrentAt(d.open, d.present)
}

// apart is the dispute of two authors of the same authority who did not know of each other; nil
// if they did.
func (d *decision) apart() *formats.Dispute {
	old := fact.CurrentAt(d.ends, d.present)
	if old == nil || d.asserted.Unseen == nil || !d.asserted.Unseen(old) || d.compare(old) == verdict.Refined ||
		Authority(d.asserted.kind()) > authorityOf(d.facts, old) {
		return nil
	}
	return &formats.Dispute{Value: old.Value, Confidence: old.Confidence, Source: old.Sources[len(old.Sources)-1]}
}
