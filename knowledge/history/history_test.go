package history

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
)

func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

// A version has one mark, and every end of what was true between two instants
// is told as what it is.
func TestMarksAndChanges(t *testing.T) {
	from, to := day(10), day(20)
	for name, tt := range map[string]struct {
		v    fact.Version
		mark string
		want []string
	}{
		"true all along":            {fact.Version{ValidFrom: day(1)}, "CURRENT", nil},
		"begins":                    {fact.Version{ValidFrom: day(12)}, "CURRENT", []string{"true 12"}},
		"begins at the first":       {fact.Version{ValidFrom: day(10)}, "CURRENT", nil},
		"begins at the last":        {fact.Version{ValidFrom: day(20)}, "CURRENT", []string{"true 20"}},
		"is to begin":               {fact.Version{ValidFrom: day(25)}, "planned", nil},
		"ends":                      {fact.Version{ValidFrom: day(1), ValidUntil: new(day(15))}, "archived", []string{"false 15"}},
		"begins and ends":           {fact.Version{ValidFrom: day(12), ValidUntil: new(day(15))}, "archived", []string{"false 15", "true 12"}},
		"was never true":            {fact.Version{ValidFrom: day(12), ValidUntil: new(day(12))}, "archived", []string{"true 12"}},
		"was taken back":            {fact.Version{ValidFrom: day(1), ValidUntil: new(day(15)), RetractedAt: new(day(15))}, "retracted", []string{"retracted 15"}},
		"was wrong":                 {fact.Version{ValidFrom: day(1), RecordedUntil: new(day(16))}, "corrected", []string{"corrected 16"}},
		"was wrong before":          {fact.Version{ValidFrom: day(1), RecordedUntil: new(day(5))}, "corrected", nil},
		"was wrong, and taken back": {fact.Version{ValidFrom: day(30), RecordedUntil: new(day(16)), RetractedAt: new(day(16))}, "retracted", []string{"retracted 16"}},
		"left the active set":       {fact.Version{ValidFrom: day(1), ArchivedAt: new(day(17))}, "dormant", []string{"archived 17"}},
	} {
		var got []string
		for _, c := range appendChanges(nil, &tt.v, from, to) {
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
	_, err = Timeline(t.Context(), s, Span{Category: "architecture", SVG: filepath.Join(t.TempDir(), "x.svg")})
	if refused, ok := errors.AsType[*refusal.ArgumentError](err); !ok || refused.Argument != "svg" {
		t.Errorf("not refused: %v", err)
	}
}
