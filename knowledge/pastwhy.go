package knowledge

import (
	"context"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/verdict"
)

// Reason says why a value took another one's place, and where that stands.
type Reason struct {
	Text   string `json:"text"`
	Source string `json:"source"` // value, removal, or what names the diary entry, finding or task
	By     string `json:"by,omitempty"`
}

// why answers why one value followed another: both, and the sentence that says why, where there is one.
func (r *pastReader) why(ctx context.Context) (out Recalled, ok bool) {
	v := r.chosen(func(v *pastVersion) bool { return v.holds(r.query.now) })
	if v == nil || v.at < 0 {
		return out, false
	}
	before := r.neighbour(v, -1)
	// Where only the value is named that was left, it is the older one.
	if next := r.neighbour(v, 1); r.asks.New == "" && next != nil && r.named(v) < leastAnchor && (v.over(r.query.now) || before == nil) {
		v, before = next, v
	}
	if before == nil {
		if !v.over(r.query.now) {
			return out, false
		}
		v, before = nil, v
	}
	if v == nil {
		out = r.told("Why", before)
		out.Reason = r.reason(ctx, nil, before)
		return out, true
	}
	for _, x := range []*pastVersion{v, before} {
		x.Score = max(v.Score, before.Score)
	}
	out = r.told("Why "+quote(v)+" followed "+quote(before)+" ("+fact.Day(v.period().From)+")", v, before)
	out.Read.Value, out.Read.At = v.Value, v.period().From
	out.Reason = r.reason(ctx, v, before)
	return out, true
}

// reasons are words by which somebody says why.
var reasons = []string{"because", "since", "due to", "so that", "in order to", "reason", "as it", "as they", "as we", "as the", "therefore", "thanks to", "to save", "to avoid", "to get rid", "owing to", "for the sake", "which was", "too slow", "too expensive", "too"}

// reason is the sentence that says why: of the new value, of the removal of the old one, or of what its author wrote down on
// that day.
func (r *pastReader) reason(ctx context.Context, v, before *pastVersion) *Reason {
	changed := before
	if v != nil {
		changed = v
		if s := saysWhy(v.Value); s != "" && s != v.Value {
			return &Reason{s, "value", AuthorOf(v.Version)}
		}
	}
	if before.RetractedReason != "" {
		return &Reason{prose.Brief(before.RetractedReason), "removal", fact.RetractedBy(before.Version)}
	}
	at, author := changed.period().From, AuthorOf(changed.Version)
	if v == nil && before.period().Until != nil {
		at = *before.period().Until
	}
	entries, err := findings(ctx, r.store, at.Add(-48*time.Hour).UTC())
	if err != nil {
		r.store.opts.Logger.Debug("diaries were not looked at for a reason", "error", err)
		return nil
	}
	about := content(before.Value + " " + before.Key)
	if v != nil {
		for w := range content(v.Value) {
			about[w] = true
		}
	}
	var best *Reason
	most := 0
	for _, e := range entries {
		sameDay := fact.Day(e.At) == fact.Day(at) || fact.Day(e.At) == fact.Day(changed.RecordedFrom)
		if !sameDay || !r.sameAuthor(e.By, changed.Version, author) {
			continue
		}
		n := common(about, content(e.Text))
		says := saysWhy(e.Text)
		if n == 0 || says == "" && n < 2 {
			continue
		}
		score := 2 * n
		if says != "" {
			score++
		}
		if score > most {
			most, best = score, &Reason{prose.Brief(prose.Line(e.Text)), e.Ref, e.By}
		}
	}
	return best
}

// sameAuthor reports whether an entry was written by who asserted a version.
func (r *pastReader) sameAuthor(by string, v *fact.Version, author string) bool {
	return by != "" && (by == author || by == v.AssertedBy || slices.ContainsFunc(v.Sources, func(s Source) bool { return s.By == by }))
}

// saysWhy is the first sentence of a text that gives a reason, "" if none does.
func saysWhy(text string) string {
	for _, s := range sentencesOf(text) {
		for _, w := range reasons {
			if fact.HoldsTerms(s, w) {
				return s
			}
		}
	}
	return ""
}

func sentencesOf(text string) (out []string) {
	for line := range strings.Lines(text) {
		for _, s := range strings.SplitAfter(line, ". ") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// withinPeriod adds to the facts of a period's end what else they were within it.
func (r *Recalled) withinPeriod(from time.Time, versions func(*Found) []*fact.Version) {
	var out []Found
	for i := range r.Facts {
		f := r.Facts[i]
		out = append(out, f)
		if f.Maybe || i >= maxWithin {
			continue
		}
		for _, h := range slices.Backward(fact.Timeline(versions(&f), r.query.now)) {
			if h.ID == f.ID || !h.Period.From.Before(f.ValidFrom) || !fact.Before(from, h.Period.Until) || verdict.Compare(h.Key, h.Value, f.Value) == verdict.Equal || len(out) == r.query.Limit {
				continue
			}
			x := found(h.Version, &r.query)
			x.ValidFrom, x.ValidUntil, x.Score = h.Period.From, h.Period.Until, f.Score
			out = append(out, x)
			r.Total++
		}
	}
	r.Facts = out
}

// maxWithin is of how many facts an answer about a period tells what else they were in it.
const maxWithin = 2
