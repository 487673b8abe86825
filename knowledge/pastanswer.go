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
)

// Reading is what was read from a question about another time than now.
type Reading struct {
	Kind    language.PastKind `json:"kind"`
	Subject string            `json:"subject,omitempty"`
	Value   string            `json:"value,omitempty"` // the value or event that it counts from
	At      time.Time         `json:"at,omitzero"`     // when that began, or ended
	From    time.Time         `json:"from,omitzero"`   // the period
	Until   time.Time         `json:"until,omitzero"`
	Header  string            `json:"header"` // the same as the first line says it

	changed int // how many times the value changed
}

// Line says what was read, for those who want an answer explained.
func (r *Reading) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "read: asks %s", r.Kind)
	if r.Subject != "" {
		fmt.Fprintf(&b, ", of '%s'", prose.Brief(r.Subject))
	}
	if r.Value != "" {
		fmt.Fprintf(&b, ", counted from '%s'", prose.Brief(r.Value))
	}
	if !r.At.IsZero() {
		b.WriteString(" on " + fact.Day(r.At))
	}
	if !r.From.IsZero() || !r.Until.IsZero() {
		b.WriteString(", in " + fact.Period{From: r.From, Until: &r.Until}.String())
	}
	return b.String()
}

// What a version of an answer about the past is.
const (
	markCorrected = "corrected" // it never was true after all
	markRetracted = "retracted" // it was taken back
	markPlanned   = "planned"
)

// headers begin the first line of an answer, where that needs no more than what is asked.
var headers = map[language.PastKind]string{
	language.AsksEarlier: "Earlier values", language.AsksFirst: "The first value", language.AsksAll: "All values so far", language.AsksEver: "Ever",
	language.AsksSince: "Since when", language.AsksUntil: "Until when", language.AsksWho: "Who said so", language.AsksStill: "Still",
}

const holdsYet = "Until when: it holds yet"

// leastMeant is how likely a question must mean a fact or a value to be answered from its past.
const (
	leastMeant  = .45
	leastAnchor = .5 // the share of a value that the question names
)

// answer answers from what was found. ok is false where nothing of the past answers, or the present answers better.
func (r *pastReader) answer(ctx context.Context) (out Recalled, ok bool) {
	if len(r.looked) == 0 {
		return out, false
	}
	switch r.asks.Kind {
	case language.AsksBefore:
		return r.before()
	case language.AsksAfter:
		return r.after()
	case language.AsksEarlier, language.AsksFirst, language.AsksAll, language.AsksTimeline, language.AsksCount:
		return r.ofFact()
	case language.AsksPlan:
		return r.planned()
	case language.AsksWhy:
		return r.why(ctx)
	case language.AsksEver:
		return r.ever()
	}
	return r.ofValue()
}

// A fact without a value is told, where no words lead to it, if it is near enough by meaning, and nearer than the ones that are
// not told. A nearer one is a firm answer. In a store of 380 such facts nothing that was known came nearer to a question than .35,
// nor led by more than .06, unless they had words in common.
const (
	leastNear, leastLead = .3, .08
	firmNear, firmLead   = .45, .15
	maxByMeaning         = 2
)

// byMeaning answers from facts that have no value any more and are near the question by meaning.
func (r *pastReader) byMeaning() (out Recalled, ok bool) {
	var near []*pastVersion // of each fact the nearest, or the last of equals
	for _, f := range r.facts {
		var of *pastVersion
		for _, v := range f.looked {
			if v.at >= 0 && (of == nil || v.Cosine >= of.Cosine) {
				of = v
			}
		}
		if of != nil {
			near = append(near, of)
		}
	}
	slices.SortStableFunc(near, func(a, b *pastVersion) int { return cmp.Compare(b.Cosine, a.Cosine) })
	n, lead := 0, 0.0
	for n < min(maxByMeaning, len(near)) && near[n].Cosine >= leastNear {
		if lead = near[n].Cosine; n+1 < len(near) {
			lead -= near[n+1].Cosine
		}
		if n++; lead >= leastLead {
			break
		}
	}
	if n == 0 || lead < leastLead {
		return out, false
	}
	for _, v := range near[:n] {
		v.Score, v.Coverage = v.Cosine, 0
	}
	out = r.told(cmp.Or(headers[r.asks.Kind], "Earlier values"), near[:n]...)
	out.Encoder = r.encoder
	for i, v := range near[:n] {
		out.Facts[i].Maybe = v.Cosine < firmNear || lead < firmLead
	}
	out.Total = out.firm()
	return out, true
}

// told are the answers of an answer about the past, in their order, under a first line.
func (r *pastReader) told(header string, versions ...*pastVersion) Recalled {
	out := Recalled{query: r.query, Read: &Reading{Kind: r.asks.Kind, Subject: r.asks.Subject, From: r.asks.From, Until: r.asks.Until, Header: header}}
	score := 1.0
	for _, v := range versions {
		f := r.found(v)
		f.Score = min(f.Score, score)
		score = f.Score
		out.Facts = append(out.Facts, f)
	}
	out.cut()
	return out
}

// found is a version as an answer about the past tells it.
func (r *pastReader) found(v *pastVersion) Found {
	f := found(v.Version, &r.query)
	p := v.period()
	f.ValidFrom, f.ValidUntil = p.From, p.Until
	f.Score, f.Semantic, f.coverage = min(max(v.Score, v.Coverage, v.old, v.new, v.of.subject), 1), v.Cosine, v.Coverage
	switch now := r.query.now; {
	case v.at < 0:
		f.Past, f.Mark = true, markCorrected
	case v.RetractedAt != nil && v.over(now) && !fact.EndGiven(v.Version):
		f.Past, f.Mark = true, markRetracted
	case p.From.After(now):
		f.Past, f.Mark = true, markPlanned
	default:
		f.Past = v.over(now)
	}
	f.Author = r.asks.Kind == language.AsksWho || r.asks.Kind == language.AsksWhy
	if r.query.Explain {
		f.Parts = map[string]float64{"words": v.Words, "coverage": v.Coverage, "cosine": v.Cosine, "value": v.adds}
	}
	return f
}

// best is the version for which a measure is the highest, and at least some value; of equals the one that began last.
func (r *pastReader) best(least float64, measure func(*pastVersion) float64) (best *pastVersion) {
	most := least
	for _, v := range r.looked {
		if v.at < 0 {
			continue
		}
		x := measure(v)
		if x > most+1e-9 || x >= most-1e-9 && (best == nil || v.of == best.of && v.period().From.After(best.period().From)) {
			best, most = v, max(x, most)
		}
	}
	return best
}

// neighbour is the version that came so many places after another one of its fact, nil if there is none. Of several values
// each has its own line, so it is the one that began or ended where this one ended or began.
func (r *pastReader) neighbour(v *pastVersion, by int) *pastVersion {
	for at := v.at + by; at >= 0 && at < len(v.of.held); at += by {
		h := v.of.held[at]
		if h.Also && h.Period.Overlaps(v.period()) {
			continue
		}
		return r.version(v.of, at)
	}
	return nil
}

// version is what a fact held in a place of its history.
func (r *pastReader) version(f *pastFact, at int) *pastVersion {
	for _, v := range f.looked {
		if v.at == at {
			return v
		}
	}
	v := &pastVersion{Version: f.held[at].Version, of: f, at: at}
	v.Score = f.meant
	return v
}

// other is the fact that the words beside a value mean, if that is not the fact of the value itself.
func (r *pastReader) other(anchor *pastVersion) *pastFact {
	var best *pastFact
	for _, f := range r.facts {
		if best == nil || f.subject > best.subject {
			best = f
		}
	}
	if r.asks.Subject == "" || best == anchor.of || best.subject < leastMeant || anchor.of.subject > .6*best.subject {
		return nil
	}
	return best
}

// heldAt are the values of a fact at an instant.
func (r *pastReader) heldAt(f *pastFact, at time.Time) (out []*pastVersion) {
	for i, h := range f.held {
		if h.Period.Contains(at) {
			out = append(out, r.version(f, i))
		}
	}
	return out
}

// anchors are the values that the question counts from: the one that a measure is the highest for, and one of another fact
// that is as likely. Where the rest of the question means one of those facts, it is that one alone.
func (r *pastReader) anchors(measure func(*pastVersion) float64) (out []*pastVersion) {
	best := r.best(leastAnchor, measure)
	if best == nil {
		return nil
	}
	most := measure(best)
	for _, f := range r.facts {
		var of *pastVersion
		for _, v := range f.looked {
			if v.at >= 0 && measure(v) > most-asLikely && (of == nil || measure(v) > measure(of)+1e-9 || measure(v) > measure(of)-1e-9 && v.period().From.After(of.period().From)) {
				of = v
			}
		}
		if of != nil {
			out = append(out, of)
		}
	}
	slices.SortStableFunc(out, func(a, b *pastVersion) int { return cmp.Compare(b.of.subject, a.of.subject) })
	if len(out) > 1 && r.asks.Subject != "" && out[0].of.subject >= leastMeant &&
		(out[1].of.subject < clearly*out[0].of.subject || out[0].of.about > allWords && out[1].of.about < distinctly*out[0].of.about) {
		out = out[:1]
	}
	return out[:min(len(out), maxAnchors)]
}

const (
	maxAnchors = 2
	asLikely   = .05 // how much less of a value the question may name for it to be meant as well
	clearly    = .6  // how much less likely a fact is that is not meant
	allWords   = .95 // the share of the words of a question that a fact covers which has all of them
	distinctly = .8  // and of those, the share up to which another fact lacks some
)

// given is how likely an answer is that follows from a value which the question names.
func (r *pastReader) given(anchor *pastVersion, named float64) float64 {
	if named = min(named, 1); r.asks.Subject == "" {
		return named
	}
	return named * (clearly + (1-clearly)*min(1, max(anchor.of.subject, anchor.of.named)))
}

// counted gives answers that count from a value at least the score that follows from it.
func counted(score float64, told []*pastVersion) []*pastVersion {
	for _, v := range told {
		v.Score = max(v.Score, score)
	}
	return told
}

// before answers what held before a value or an event.
func (r *pastReader) before() (out Recalled, ok bool) {
	measure := func(v *pastVersion) float64 { return v.new }
	var told []*pastVersion
	var names []string
	anchors := r.anchors(measure)
	var counts *pastVersion // the first one that something came before
	for _, anchor := range anchors {
		var of []*pastVersion
		if other := r.other(anchor); other != nil {
			of = r.heldAt(other, anchor.period().From.Add(-time.Nanosecond))
		} else if v := r.neighbour(anchor, -1); v != nil {
			of = append(of, v)
		}
		of = slices.DeleteFunc(of, func(v *pastVersion) bool { return slices.Contains(told, v) })
		if len(of) == 0 {
			continue
		}
		counts = cmp.Or(counts, anchor)
		names = append(names, fmt.Sprintf("%s (%s)", quote(anchor), fact.Day(anchor.period().From)))
		told = append(told, counted(r.given(anchor, anchor.new), of)...)
	}
	switch {
	case len(told) > 0:
	case len(anchors) == 0 || r.other(anchors[0]) != nil:
		return out, false
	default:
		return r.first(anchors[0])
	}
	out = r.told("Before "+strings.Join(names, " and "), told...)
	out.Read.Value, out.Read.At = counts.Value, counts.period().From
	return out, true
}

// first says that nothing came before a value.
func (r *pastReader) first(anchor *pastVersion) (out Recalled, ok bool) {
	out = r.told(fmt.Sprintf("Nothing is known from before %s (%s)", quote(anchor), fact.Day(anchor.period().From)), counted(r.given(anchor, anchor.new), []*pastVersion{anchor})...)
	out.Read.Value, out.Read.At = anchor.Value, anchor.period().From
	return out, true
}

// after answers what followed a value, or what held after an event.
func (r *pastReader) after() (out Recalled, ok bool) {
	if r.asks.New != "" { // after the move to it
		anchor := r.best(leastAnchor, func(v *pastVersion) float64 { return v.new })
		if anchor == nil {
			return out, false
		}
		told := []*pastVersion{anchor}
		if other := r.other(anchor); other != nil {
			told = r.heldAt(other, anchor.period().From)
		}
		out = r.told(fmt.Sprintf("After %s (%s)", quote(anchor), fact.Day(anchor.period().From)), told...)
		out.Read.Value, out.Read.At = anchor.Value, anchor.period().From
		return out, len(told) > 0
	}
	anchors := r.anchors(func(v *pastVersion) float64 { return v.old })
	if len(anchors) == 0 {
		return out, false
	}
	if other := r.other(anchors[0]); other != nil {
		anchor := anchors[0]
		told := counted(r.given(anchor, anchor.old), r.heldAt(other, anchor.period().From))
		out = r.told(fmt.Sprintf("After %s (%s)", quote(anchor), fact.Day(anchor.period().From)), told...)
		out.Read.Value, out.Read.At = anchor.Value, anchor.period().From
		return out, len(told) > 0
	}
	var told []*pastVersion
	var names []string
	var counts *pastVersion
	for _, anchor := range anchors {
		if next := r.neighbour(anchor, 1); next != nil {
			counts = cmp.Or(counts, anchor)
			names = append(names, fmt.Sprintf("%s (until %s)", quote(anchor), fact.Day(*anchor.period().Until)))
			told = append(told, counted(r.given(anchor, anchor.old), []*pastVersion{next})...)
		}
	}
	switch anchor := anchors[0]; {
	case len(told) > 0:
		out = r.told("After "+strings.Join(names, " and "), told...)
		out.Read.Value, out.Read.At = counts.Value, *counts.period().Until
	case anchor.over(r.query.now):
		return r.missing(anchor)
	default:
		out = r.told(fmt.Sprintf("Nothing followed %s, which holds", quote(anchor)), counted(r.given(anchor, anchor.old), []*pastVersion{anchor})...)
		out.Read.Value = anchor.Value
	}
	return out, true
}

// missing says that a fact has no value any more.
func (r *pastReader) missing(v *pastVersion) (out Recalled, ok bool) {
	out = r.told("")
	out.addMissing(v.of.versions)
	out.Read.Value = v.Value
	return out, len(out.Missing) > 0
}

// most are the facts that the question means: the likeliest one, and a second one that is as likely.
func (r *pastReader) most(permit func(*pastFact) bool) (out []*pastFact) {
	for _, f := range r.facts {
		if f.meant < leastMeant || len(out) > 0 && (len(out) == 2 || f.meant < .9*out[0].meant || f.named < out[0].named-.01) {
			break
		}
		if !permit(f) {
			if len(out) == 0 && f.meant > 1.3*r.nextMeant(permit) {
				return nil // it is meant, and has no past
			}
			continue
		}
		out = append(out, f)
	}
	return out
}

// nextMeant is how likely the likeliest fact is that permits something.
func (r *pastReader) nextMeant(permit func(*pastFact) bool) float64 {
	for _, f := range r.facts {
		if permit(f) {
			return f.meant
		}
	}
	return 0
}

// ofFact answers what a fact was: its values before the present one, the first, all of them.
func (r *pastReader) ofFact() (out Recalled, ok bool) {
	now, kind := r.query.now, r.asks.Kind
	hasPast := func(f *pastFact) bool {
		return slices.ContainsFunc(f.held, func(h fact.Held) bool { return !fact.Before(now, h.Period.Until) })
	}
	meant := r.most(hasPast)
	if len(meant) == 0 {
		if kind != language.AsksTimeline && kind != language.AsksCount {
			return out, false
		}
		if meant = r.most(func(*pastFact) bool { return true }); len(meant) == 0 {
			return out, false
		}
	}
	var told []*pastVersion
	changed := 0
	for _, f := range meant {
		var of []*pastVersion
		for at, h := range f.held {
			if v := r.version(f, at); !h.Period.From.After(now) || kind == language.AsksTimeline || kind == language.AsksCount {
				of = append(of, v)
			}
		}
		switch kind {
		case language.AsksEarlier:
			of = slices.DeleteFunc(of, func(v *pastVersion) bool { return !v.over(now) })
			slices.Reverse(of)
		case language.AsksFirst:
			of = of[:1]
		case language.AsksTimeline, language.AsksCount:
			for _, v := range f.looked {
				if v.at < 0 {
					of = append(of, v)
				}
			}
			slices.SortStableFunc(of, func(a, b *pastVersion) int { return a.period().From.Compare(b.period().From) })
			changed += changesOf(f.held, now)
		}
		for _, v := range of { // they come in the order of time, not of their scores
			v.Score = f.meant
		}
		told = append(told, of...)
	}
	header := headers[kind]
	if kind == language.AsksTimeline || kind == language.AsksCount {
		var names []string
		for _, f := range meant {
			names = append(names, "["+prose.Name(f.versions[0].Category)+"/"+prose.Name(f.versions[0].Key)+"]")
		}
		header = "Timeline " + strings.Join(names, " and ") + ", changed " + times(changed)
	}
	out = r.told(header, told...)
	out.Read.changed = changed
	return out, true
}

// changesOf counts how often a fact's value became another one by now.
func changesOf(held []fact.Held, now time.Time) (n int) {
	for i, h := range held {
		if i > 0 && !h.Period.From.After(now) {
			n++
		}
	}
	return n
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// planned answers what will be.
func (r *pastReader) planned() (out Recalled, ok bool) {
	now := r.query.now
	var told []*pastVersion
	for _, f := range r.facts {
		if f.meant < leastMeant || len(told) > 0 && f.meant < .9*told[0].of.meant {
			break
		}
		for at, h := range f.held {
			if h.Period.From.After(now) && (r.asks.Until.IsZero() || !h.Period.From.After(r.asks.Until)) {
				told = append(told, r.version(f, at))
			}
		}
	}
	if len(told) == 0 {
		return out, false
	}
	return r.told("Planned values", told...), true
}

// chosen is the version that the words of a question about a value mean. Where they say nothing of one value more than of
// another, prefer decides.
func (r *pastReader) chosen(prefer func(*pastVersion) bool) *pastVersion {
	return r.chosenOf(r.looked, prefer)
}

func (r *pastReader) chosenOf(versions []*pastVersion, prefer func(*pastVersion) bool) (best *pastVersion) {
	measure := func(v *pastVersion) float64 { return v.likely() + r.named(v) }
	for _, v := range versions {
		switch {
		case best == nil:
			best = v
		case v.of != best.of:
			switch more := measure(v) - measure(best); {
			case more > asLikely, more > 1e-9 && prefer(v) == prefer(best), more > -asLikely && prefer(v) && !prefer(best):
				best = v
			}
		case r.named(v) > r.named(best)+.02 || r.named(v) > r.named(best)-.02 && v.adds > best.adds+.02:
			best = v
		case r.named(v) > r.named(best)-.02 && v.adds > best.adds-.02:
			a, b := prefer(v), prefer(best)
			if a && !b || a == b && v.at >= 0 && (best.at < 0 || v.period().From.After(best.period().From)) {
				best = v
			}
		}
	}
	if best == nil || best.likely() < leastMeant && r.named(best) < leastAnchor {
		return nil
	}
	return best
}

// alike are the versions of other facts that the question means as much as one: their values say as much of it.
func (r *pastReader) alike(v *pastVersion, prefer func(*pastVersion) bool) (out []*pastVersion) {
	for _, f := range r.facts {
		if f == v.of || len(out) == maxAnchors-1 {
			continue
		}
		x := r.chosenOf(f.looked, prefer)
		if x != nil && prefer(x) == prefer(v) && v.adds > leastAdds && x.adds > v.adds-asLikely && r.named(x) > r.named(v)-asLikely && x.Coverage > v.Coverage-asLikely {
			out = append(out, x)
		}
	}
	return out
}

// leastAdds is the share of the question that the value of a fact covers that is meant by its value.
const leastAdds = .3

// named is how far the values that the question names fit a version: what it became, and what it had been.
func (r *pastReader) named(v *pastVersion) float64 {
	of := v.new
	if r.asks.Old != "" {
		if v.at < 0 {
			return 0
		}
		old := 0.0
		if before := r.neighbour(v, -1); before != nil {
			old = before.old
		}
		if r.asks.New == "" {
			return old
		}
		return (of + old) / 2
	}
	return of
}

// ofValue answers since when, until when, whether yet and by whom a value is true.
func (r *pastReader) ofValue() (out Recalled, ok bool) {
	now, kind := r.query.now, r.asks.Kind
	prefer := func(v *pastVersion) bool {
		if kind == language.AsksUntil {
			return v.over(now)
		}
		return v.holds(now)
	}
	v := r.chosen(prefer)
	if v == nil || r.presentSays(v) {
		return r.asPresent()
	}
	header := headers[kind]
	if kind != language.AsksStill || v.holds(now) {
		told := append([]*pastVersion{v}, r.alike(v, prefer)...)
		if kind == language.AsksUntil && v.holds(now) {
			header = holdsYet
		}
		return r.told(header, told...), true
	}
	if v.over(now) && len(fact.AllCurrent(v.of.versions, now)) == 0 {
		return r.missing(v)
	}
	told := r.heldAt(v.of, now)
	for _, x := range told { // what took its place stands before it
		x.Score = max(x.Score, v.Score)
	}
	header = "No longer " + quote(v)
	if p := v.period(); p.Until != nil {
		header += " (until " + fact.Day(*p.Until) + ")"
	}
	return r.told(header, append(told, v)...), true
}

// presentSays reports whether the first answer of the present says as much of what is asked as a version does.
func (r *pastReader) presentSays(v *pastVersion) bool {
	if r.present.firm() == 0 {
		return false
	}
	i := slices.IndexFunc(r.looked, func(x *pastVersion) bool { return x.ID == r.present.Facts[0].ID })
	if i < 0 {
		return r.present.Facts[0].Score > v.Score
	}
	x := r.looked[i]
	if x.of == v.of {
		return x == v || r.named(x) > r.named(v)-.02 && x.adds > v.adds-.02 && r.asks.Kind != language.AsksUntil
	}
	return r.named(x) > r.named(v)-.02 && x.likely() > v.likely()-.02 && (r.asks.Kind != language.AsksUntil || !v.over(r.query.now))
}

// leastBeside is the share of the score of the first answer that another one must have to be told beside it.
const leastBeside = .25

// asPresent is the answer of the present, which is what the question means.
func (r *pastReader) asPresent() (out Recalled, ok bool) {
	if r.present.firm() == 0 {
		return out, false
	}
	out = r.present
	for least := out.Facts[0].Score * leastBeside; out.firm() > 0 && out.Facts[out.firm()-1].Score < least; out.Total-- {
		out.Facts = slices.Delete(out.Facts, out.firm()-1, out.firm())
	}
	header := headers[r.asks.Kind]
	if r.asks.Kind == language.AsksUntil {
		header = holdsYet
	}
	out.Read = &Reading{Kind: r.asks.Kind, Subject: r.asks.Subject, Header: header}
	if r.asks.Kind == language.AsksWho {
		for i := range out.Facts {
			out.Facts[i].Author = true
		}
	}
	return out, true
}

// ever answers whether a value ever was true.
func (r *pastReader) ever() (out Recalled, ok bool) {
	var told []*pastVersion
	for _, v := range r.looked {
		switch {
		case v.likely() < leastMeant || v.adds < .05 || v.Coverage < leastAnchor:
		case len(told) > 0 && (v.Coverage < .8*told[0].Coverage || v.adds < .6*told[0].adds):
		case v.at >= 0 && v.period().From.After(r.query.now):
		default:
			told = append(told, v)
		}
	}
	if len(told) == 0 { // the question names a fact that is over, and not its value
		for _, f := range r.facts {
			if f.meant >= leastMeant && f.named >= leastAnchor && len(f.held) > 0 && len(fact.AllCurrent(f.versions, r.query.now)) == 0 {
				return r.missing(r.version(f, len(f.held)-1))
			}
		}
		return out, false
	}
	slices.SortStableFunc(told, func(a, b *pastVersion) int { return cmp.Compare(b.Coverage+b.adds, a.Coverage+a.adds) })
	return r.told(headers[language.AsksEver], told...), true
}

func quote(v *pastVersion) string { return fact.TrustIn(v.Version).Quote(v.Value) }
