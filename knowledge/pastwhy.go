package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/internal/language"
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

// Line is the reason as answers tell it.
func (r *Reason) Line() string {
	return fmt.Sprintf("why: '%s' (%s%s)", prose.Line(r.Text), prose.Line(r.Source), by(r.By))
}

// why answers why one value followed another: both, and the sentence that says why, where there is one.
func (r *pastReader) why(ctx context.Context) (out Recalled, ok bool) {
	v := r.chosen(func(v *pastVersion) bool { return v.at > 0 && r.neighbour(v, -1) != nil })
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

// reason is the sentence that says why: see [ReasonOf].
func (r *pastReader) reason(ctx context.Context, v, before *pastVersion) *Reason {
	if v == nil {
		at := r.query.now
		if until := before.period().Until; until != nil {
			at = *until
		}
		return ReasonOf(ctx, r.store, nil, before.Version, at)
	}
	return ReasonOf(ctx, r.store, v.Version, before.Version, v.period().From)
}

// reasons are words by which somebody says why.
var reasons = []string{"because", "since", "due to", "so that", "in order to", "reason", "as it", "as they", "as we", "as the", "therefore", "thanks to", "to save", "to avoid", "to get rid", "owing to", "for the sake", "which was", "too"}

// notReasons are words behind one of reasons with which it says none: since June, as the default, use it too.
var notReasons = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bsince (?:\d|then|when|day|last|[a-z]*(?:uary|ruary|march|april|may|june|july|august|ember|ober)\b)|\bas the (?:\w+ )?(?:default|first|last|main|only|primary|new)\b|\btoo(?:[^\w ]|$| (?:and|but|with|for|in|on|as)\b)`)
})

// ReasonOf is the sentence that says why a value took the place of another one at an instant, or why that one ended where there is
// no new one: of the new value itself, of the removal, or else of what its author wrote down on that day. It is nil where nobody
// said so.
func ReasonOf(ctx context.Context, s *Store, v, before *fact.Version, at time.Time) *Reason {
	changed := before
	if v != nil {
		changed = v
		if why := reasonIn(v.Value); why != "" {
			return &Reason{why, "value", AuthorOf(v)}
		}
	}
	if before.RetractedReason != "" {
		return &Reason{prose.Brief(before.RetractedReason), "removal", fact.RetractedBy(before)}
	}
	if s.opts.Findings == nil {
		return nil
	}
	about := content(before.Value + " " + before.Key)
	if v != nil {
		for w := range content(v.Value) {
			about[w] = true
		}
	}
	days := []time.Time{at.UTC().Truncate(24 * time.Hour)}
	if day := changed.RecordedFrom.UTC().Truncate(24 * time.Hour); !day.Equal(days[0]) {
		days = append(days, day)
	}
	var best *Reason
	most := 0
	for _, day := range days {
		written, err := s.opts.Findings.Written(ctx, day, endOf(day))
		if err != nil {
			s.opts.Logger.Debug("diaries and tasks were not looked at for a reason", "error", err)
			return nil
		}
		for _, e := range written {
			n, why := common(about, content(e.Text)), saysWhy(e.Text)
			if !wroteOf(e.By, changed) || n == 0 || why == "" && n < 2 {
				continue
			}
			score := 2 * n
			if why != "" {
				score += 3
			}
			if score > most {
				most, best = score, &Reason{prose.Brief(prose.Line(cmp.Or(why, e.Text))), e.Ref, e.By}
			}
		}
	}
	return best
}

func endOf(day time.Time) time.Time { return day.AddDate(0, 0, 1).Add(-time.Nanosecond) }

// wroteOf reports whether an entry was written by who asserted a version.
func wroteOf(by string, v *fact.Version) bool {
	return by != "" && (by == AuthorOf(v) || by == v.AssertedBy || slices.ContainsFunc(v.Sources, func(s Source) bool { return s.By == by }))
}

// saysWhy is the first sentence of a text that gives a reason, "" if none does.
func saysWhy(text string) string {
	for s := range language.Sentences(text) {
		plain := notReasons().ReplaceAllString(s, "")
		if slices.ContainsFunc(reasons, func(w string) bool { return fact.HoldsTerms(plain, w) }) {
			return s
		}
	}
	return ""
}

// reasonIn is the sentence of a value that gives a reason. Of a value that is this one sentence, it is what stands from the
// reason on.
func reasonIn(value string) string {
	why := saysWhy(value)
	if why != strings.TrimSpace(value) {
		return why
	}
	for _, w := range reasons {
		if i := strings.Index(strings.ToLower(why), " "+w+" "); i > 0 && len(w) > len("too") {
			return why[i+1:]
		}
	}
	return ""
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
