package fact

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/formats"
)

var lessonDay = time.Date(2026, 1, 10, 9, 0, 0, 0, time.UTC)

// A gotcha is taken apart as it was put together, whatever arrows it holds.
func TestGotchaParts(t *testing.T) {
	for _, x := range []struct{ trigger, resolution, wantTrigger string }{
		{"go mod tidy", "pin bleve", "go mod tidy"},
		{"rename a → b", "fix b → c", "rename a -> b"},
		{"ends in →", "→ starts", "ends in ->"},
		{"only a trigger", "", "only a trigger"},
	} {
		trigger, resolution := GotchaParts(GotchaValue(x.trigger, x.resolution))
		if trigger != x.wantTrigger || resolution != x.resolution {
			t.Errorf("%q, %q: %q, %q", x.trigger, x.resolution, trigger, resolution)
		}
	}
}

// A fact file with the lists of a former version alone is read as facts, and written with the same
// lists: members and values that this program does not know are kept.
func TestFileOfFormerVersion(t *testing.T) {
	d := &formats.Document{
		Schema: 1,
		Patterns: []formats.Pattern{
			{Type: "naming", Description: "snake_case", Examples: []string{"a_b"}, SourceSession: "s1", CreatedAt: lessonDay, AssertedBy: "codex-1", Extra: formats.Unknown{"since": formats.Raw(`"v1"`)}},
			{Type: "naming", Description: "short names", Examples: []string{}, CreatedAt: lessonDay.Add(time.Hour)},
		},
		Gotchas: []formats.Gotcha{
			{ID: "0123456789abcdef", Category: "Build", Severity: "Blocker", Trigger: "go mod tidy", Resolution: "pin bleve", Occurrences: 3, FirstSeen: lessonDay, LastSeen: lessonDay.Add(time.Hour), Confidence: .7, Source: "promoted"},
			{ID: "g-1", Category: "Convention", Severity: "critical", Trigger: "a b c d e f", Resolution: "x", Occurrences: 1, FirstSeen: lessonDay, LastSeen: lessonDay, Confidence: .9, Source: "AgentReported"},
			{ID: "g-2", Category: "Convention", Severity: "info", Trigger: "a b c d e g", Resolution: "y", Occurrences: 1, FirstSeen: lessonDay, LastSeen: lessonDay, Confidence: .9, Source: "AgentReported"},
		},
	}
	var first, again, third bytes.Buffer
	if err := formats.EncodeNative(&first, d); err != nil {
		t.Fatal(err)
	}
	read, err := DecodeFile(first.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Facts) != 5 {
		t.Fatalf("%d facts", len(read.Facts))
	}
	keys := map[string]bool{}
	for _, v := range read.Facts {
		keys[v.Key] = true
		if v.Also != IsPattern(v) {
			t.Errorf("[%s] %s: also %v", v.Category, v.Key, v.Also)
		}
	}
	if !keys["naming"] || !keys["go-mod-tidy"] || !keys["a-b-c-d-e"] || !keys["a-b-c-d-e-2"] {
		t.Error(keys)
	}
	if err := EncodeFile(&again, read); err != nil {
		t.Fatal(err)
	}
	written, err := formats.DecodeNative(again.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sortedPatterns(d.Patterns), sortedPatterns(written.Patterns)); diff != "" {
		t.Error(diff)
	}
	byID := func(list []formats.Gotcha) []formats.Gotcha {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b formats.Gotcha) int { return strings.Compare(a.ID, b.ID) })
		return list
	}
	if diff := cmp.Diff(byID(d.Gotchas), byID(written.Gotchas)); diff != "" {
		t.Error(diff)
	}
	read, err = DecodeFile(again.Bytes()) // the lists say nothing that the facts do not say
	if err != nil || len(read.Facts) != 5 {
		t.Fatalf("%d facts, %v", len(read.Facts), err)
	}
	if err := EncodeFile(&third, read); err != nil || third.String() != again.String() {
		t.Error(cmp.Diff(again.String(), third.String()))
	}
}

func sortedPatterns(list []formats.Pattern) []formats.Pattern {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b formats.Pattern) int { return strings.Compare(a.Description, b.Description) })
	return list
}

// What a former version says of a gotcha that has a history by now ends what it says otherwise, and
// nothing is lost.
func TestFormerGotchaAfterHistory(t *testing.T) {
	g := formats.Gotcha{ID: "g-1", Severity: "info", Trigger: "deploy", Resolution: "wait", Occurrences: 1, FirstSeen: lessonDay, LastSeen: lessonDay}
	vs := WithGotcha(RoomGotcha, "deploy", nil, &g)
	vs[0].Sources = append(vs[0].Sources, formats.Source{Kind: KindUser, At: lessonDay.Add(time.Hour)})
	g.Occurrences, g.LastSeen = 2, lessonDay.Add(2*time.Hour)
	if same := WithGotcha(RoomGotcha, "deploy", vs, &g); len(same) != 1 || same[0].ConfirmationCount != 2 || len(same[0].Sources) != 2 {
		t.Errorf("again: %+v", same)
	}
	g.Resolution = "do not wait"
	changed := WithGotcha(RoomGotcha, "deploy", vs, &g)
	if len(changed) != 2 || changed[0].ValidUntil == nil || !changed[0].ValidUntil.Equal(g.LastSeen) || changed[1].Value != "deploy → do not wait" || string(changed[1].Supersedes) != "g-1" {
		t.Errorf("another resolution: %+v", changed)
	}
	if vs[0].ValidUntil != nil {
		t.Error("a version that was read has changed")
	}
}
