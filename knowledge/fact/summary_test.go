package fact

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"leanctx/formats"
)

// A stored summary reads as it was, several one after the other, and one that is cut
// is an error.
func TestStoredSummary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		instant := rapid.Custom(func(t *rapid.T) time.Time {
			return time.Unix(rapid.Int64Range(never+1, 253402300799).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
		})
		v := &Version{
			ID: rapid.String().Draw(t, "id"), Category: rapid.SampledFrom([]string{"status", "decision", "gotcha"}).Draw(t, "category"),
			Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"), RetrievalCount: rapid.IntRange(0, 1000).Draw(t, "read"),
			ValidFrom: instant.Draw(t, "from"), RecordedFrom: instant.Draw(t, "recorded"), LastConfirmed: instant.Draw(t, "confirmed"),
			Pinned: rapid.Bool().Draw(t, "pinned"), FeedbackUp: rapid.IntRange(0, 9).Draw(t, "up"),
		}
		v.Archetype = formats.Archetype(v.Category)
		if rapid.Bool().Draw(t, "more") {
			v.ValidUntil, v.RestoredAt, v.LastRetrieved, v.ArchivedAt = new(instant.Draw(t, "until")), new(instant.Draw(t, "restored")), new(instant.Draw(t, "last")), new(v.ValidFrom)
			v.Sources = []formats.Source{{Kind: KindUser}}
		}
		want := Summarize(v)
		other := Summarize(&Version{ID: "f-2"})
		stored := other.Append(want.Append(nil))
		got, rest, err := ParseSummary(stored)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Fatalf("%v (-want +got):\n%s", err, d)
		}
		if got, rest, err = ParseSummary(rest); err != nil || got.ID != "f-2" || len(rest) > 0 {
			t.Fatalf("the second: %+v, %d bytes more, %v", got, len(rest), err)
		}
		whole := want.Append(nil)
		if _, _, err := ParseSummary(whole[:rapid.IntRange(0, len(whole)-1).Draw(t, "cut")]); err == nil {
			t.Fatal("a cut one reads")
		}
		at, r := instant.Draw(t, "at"), Retrievals{Count: 3, Last: v.LastConfirmed}
		if a, b := want.Salience(at, r), Salience(v, at, r); a != b {
			t.Fatalf("salience %v, of the version %v", a, b)
		}
	})
}

func BenchmarkParseSummary(b *testing.B) {
	s := Summarize(&Version{ID: "f-0123456789abcdef", ValidFrom: time.Unix(1.7e9, 5), RecordedFrom: time.Unix(1.7e9, 5), LastConfirmed: time.Unix(1.7e9, 5), Confidence: 0.8})
	stored := s.Append(nil)
	b.SetBytes(int64(len(stored)))
	for b.Loop() {
		if _, _, err := ParseSummary(stored); err != nil {
			b.Fatal(err)
		}
	}
}
