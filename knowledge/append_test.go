package knowledge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/history"
	"leanctx/knowledge/transfer"
)

// Append counts records. One for which what is believed here leaves no room is
// named, and so is one whose end is cut. A dry run says the same.
func TestAppendNamesWhatItCannotAdd(t *testing.T) {
	jsonl := strings.Join([]string{
		`{"category":"c","key":"k","value":"before","valid_from":"2025-01-01","valid_until":"2025-02-01"}`,
		`{"category":"c","key":"k","value":"earlier","valid_from":"2025-06-01"}`,
		`{"category":"c","key":"k","value":"later"}`,
		`{"category":"c","key":"k","value":"ours","valid_from":"2026-02-01","valid_until":"2026-03-01"}`,
		`{"category":"c","key":"new","value":"N"}`,
	}, "\n")
	array := "[" + strings.ReplaceAll(jsonl, "\n", ",") + "]"
	tail := func(first, second string) string {
		return `
  [c/k]: earlier
  [c/new]: N
  not added: ` + second + `: [c/k] 'later': 'ours' holds 2026-01-15 → now here
  added in part: ` + first + `: [c/k] 'earlier' until 2026-01-15: 'ours' holds 2026-01-15 → now here`
	}
	for name, tt := range map[string]struct{ text, first, second string }{
		"jsonl": {jsonl, "line 2", "line 3"},
		"array": {array, "line 1 (element 2)", "line 1 (element 3)"},
	} {
		s := testStore(t, nil)
		s.remember(t, Assertion{Category: "c", Key: "k", Value: "ours"})
		s.days(60)
		in := transfer.Incoming{Merge: "append", DryRun: true, Data: strings.NewReader(tt.text)}
		dry := must[transfer.Imported](t)(transfer.Import(t.Context(), s.Store, in))
		want := "Parsed 5 facts from standard input\n[DRY RUN] Would add: 3, skip: 2, replace: 0" + tail(tt.first, tt.second)
		if diff := cmp.Diff(strings.Replace(want, "\n  not added", "\n  … 1 more\n  not added", 1), dry.Text()); diff != "" {
			t.Errorf("%s, dry (-want +got):\n%s", name, diff)
		}
		r := s.load(t, "append", tt.text)
		if r.Added != 3 || r.Skipped != 2 || !r.Warned() {
			t.Errorf("%s: %s", name, r.Text())
		}
		if diff := cmp.Diff([][]transfer.BadLine{dry.NotAdded, dry.InPart}, [][]transfer.BadLine{r.NotAdded, r.InPart}); diff != "" {
			t.Errorf("%s (-dry +wet):\n%s", name, diff)
		}
		timeline := must[history.VersionList](t)(history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: "c", Key: "k"}))
		for _, row := range []string{"before [? unconfirmed] [archived] (2025-01-01 → 2025-02-01)", "earlier [? unconfirmed] [archived] (2025-06-01 → 2026-01-15)", "ours [CURRENT] (2026-01-15 → now)"} {
			if !strings.Contains(timeline.Text(), row) {
				t.Errorf("%s: no %q in %s", name, row, timeline.Text())
			}
		}
		once := s.whole(t)
		if again := s.load(t, "append", tt.text); again.Added != 0 || again.Skipped != 5 || s.whole(t) != once {
			t.Errorf("%s, again: %s", name, again.Text())
		}
	}
}

// A fact file's versions are named one by one; the fact counts once.
func TestAppendNamesVersionsOfAFactFile(t *testing.T) {
	theirs := testStore(t, nil)
	for _, a := range []Assertion{{Value: "first", ValidFrom: "2025-01-01"}, {Value: "second", ValidFrom: "2025-06-01"}, {Value: "third"}} {
		a.Category, a.Key = "c", "k"
		theirs.remember(t, a)
	}
	ours := testStore(t, nil)
	ours.remember(t, Assertion{Category: "c", Key: "k", Value: "ours", ValidFrom: "2025-09-01"})
	ours.now = ours.now.Add(time.Hour)
	r := ours.load(t, "append", theirs.whole(t))
	want := `Parsed 1 fact from standard input
Import complete: 1 added, 0 skipped, 0 replaced
  not added: [c/k] 'third': 'ours' holds 2025-09-01 → now here
  added in part: [c/k] 'second' until 2025-09-01: 'ours' holds 2025-09-01 → now here
  to take it back: action=undo import=` + r.ID
	if diff := cmp.Diff(want, r.Text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A record of a file that another one of it leaves no time is named, too.
func TestAppendNamesARecordThatItsFileOverrules(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "ours"})
	r := s.load(t, "append", `{"category":"c","key":"k","value":"A","valid_from":"2025-01-01T12:00:00Z"}`+"\n"+`{"category":"c","key":"k","value":"B","valid_from":"2025-01-01T12:00:00Z"}`)
	if r.Added != 1 || r.Skipped != 1 || len(r.NotAdded) != 1 || r.NotAdded[0].Line != 1 {
		t.Error(r.Text())
	}
}
