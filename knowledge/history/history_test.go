package history

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/formats"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
)

func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

// A version has one mark, and what the store was told of it in a window is told.
func TestMarksAndChanges(t *testing.T) {
	from, to := day(10), day(20)
	belief := func(n int) []fact.Belief { return []fact.Belief{{ValidFrom: day(1), RecordedUntil: day(n)}} }
	for name, tt := range map[string]struct {
		v    fact.Version
		mark string
		want []string
	}{
		"true all along":            {fact.Version{ValidFrom: day(1)}, "CURRENT", nil},
		"learned":                   {fact.Version{ValidFrom: day(12), RecordedFrom: day(12)}, "CURRENT", []string{"learned 12"}},
		"learned at the first":      {fact.Version{ValidFrom: day(10), RecordedFrom: day(10)}, "CURRENT", nil},
		"learned at the last":       {fact.Version{ValidFrom: day(20), RecordedFrom: day(20)}, "CURRENT", []string{"learned 20"}},
		"backdated":                 {fact.Version{ValidFrom: day(1), RecordedFrom: day(12)}, "CURRENT", []string{"learned 12"}},
		"planned":                   {fact.Version{ValidFrom: day(25), RecordedFrom: day(12)}, "planned", []string{"learned 12"}},
		"the rest of one":           {fact.Version{ValidFrom: day(12), RecordedFrom: day(12), Outcome: "resumed"}, "CURRENT", nil},
		"confirmed":                 {fact.Version{ValidFrom: day(1), Sources: []formats.Source{{At: day(1)}, {At: day(12)}, {At: day(14)}, {At: day(25)}}}, "CURRENT", []string{"confirmed 14"}},
		"was given an end":          {fact.Version{ValidFrom: day(1), ValidUntil: new(day(15)), Beliefs: belief(14)}, "archived", []string{"redated 14"}},
		"was taken back":            {fact.Version{ValidFrom: day(1), ValidUntil: new(day(15)), Retraction: formats.Retraction{RetractedAt: new(day(15))}, Beliefs: belief(15)}, "retracted", []string{"removed 15"}},
		"was wrong":                 {fact.Version{ValidFrom: day(1), RecordedUntil: new(day(16))}, "corrected", []string{"disbelieved 16"}},
		"was wrong before":          {fact.Version{ValidFrom: day(1), RecordedUntil: new(day(5))}, "corrected", nil},
		"was wrong, and taken back": {fact.Version{ValidFrom: day(30), RecordedUntil: new(day(16)), Retraction: formats.Retraction{RetractedAt: new(day(16))}}, "retracted", []string{"removed 16"}},
		"left the active set":       {fact.Version{ValidFrom: day(1), ArchivedAt: new(day(17))}, "dormant", []string{"archived 17"}},
	} {
		tt.v.ID = "f-1"
		var got []string
		for _, c := range (window{from, to}).ofFact(nil, []*fact.Version{&tt.v}) {
			got = append(got, c.Kind+c.At.Format(" 2"))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := mark(&tt.v, []*fact.Version{&tt.v}, to); got != tt.mark {
			t.Errorf("%s: %s, not %s", name, got, tt.mark)
		}
	}
}

// A drawing is written to a file only for a caller who owns the machine's files.
func TestDrawingNeedsTheCommandLine(t *testing.T) {
	s, err := knowledge.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = Timeline(t.Context(), s, TimelineQuery{Category: "architecture", SVG: filepath.Join(t.TempDir(), "x.svg")})
	if refused, ok := errors.AsType[*refusal.ArgumentError](err); !ok || refused.Argument != "svg" {
		t.Errorf("not refused: %v", err)
	}
}
