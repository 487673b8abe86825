package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/drawing"
)

// Drawing is the timeline as a drawing, with the disputes that are about its facts.
func (r VersionList) Drawing(disputes []knowledge.Disputing, now time.Time) drawing.Timeline {
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
	text := fmt.Sprintf("%s [%s] %s, %s", prose.Clip(e.Value, 200), e.Mark, e.period(), prose.Percent(e.Confidence))
	if e.AssertedBy != "" {
		text += " by " + e.AssertedBy
	}
	if e.Contradiction {
		text += ", contradicts the value before it"
	}
	return text
}
