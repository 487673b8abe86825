package state

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
)

// The index gives back each version as it was, and keeps it in less than half.
func TestPackedVersions(t *testing.T) {
	at := time.Date(2026, 11, 22, 10, 0, 0, 123456789, time.UTC)
	for name, v := range map[string]*fact.Version{
		"nothing said": {ID: "f-1", Category: "api", Key: "k", Value: "v"},
		"usual": {
			ID: "f-0123456789abcdef", Category: "api", Key: "token", Value: strings.Repeat("a word ", 10), Confidence: 0.8, CreatedAt: at, LastConfirmed: at,
			ValidFrom: at, RecordedFrom: at, ConfirmationCount: 1, RevisionCount: 1, Privacy: "shared", Archetype: "fact", Outcome: "created",
			Sources: []formats.Source{{Kind: "agent", By: "a", At: at, Confidence: 0.8}}, Tags: []string{}, Aliases: []string{"t"},
		},
		"all said": {
			ID: "f-2", Category: "api", Key: "k", Value: "é \" \\ \n 語", LastRetrieved: &at, ValidUntil: &at, RecordedUntil: &at, ArchivedAt: &at, Retraction: formats.Retraction{RetractedAt: &at},
			Supersedes: "f-1", ImportedFrom: "x", Pinned: true, FeedbackUp: 2, FeedbackDown: 1, LastFeedback: &at, Questions: []string{"q"}, QuestionsAt: &at,
			Extra: formats.Unknown{"new_member": formats.Raw(`{"a":0}`)},
		},
	} {
		packed, err := packVersions([]*fact.Version{v})
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpackVersions(packed)
		if diff := cmp.Diff([]*fact.Version{v}, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		if whole, _ := journal.Encode(v); len(packed) > len(whole)/2 {
			t.Errorf("%s: %d bytes of %d", name, len(packed), len(whole))
		}
		for i := range packed {
			if _, err := unpackVersions(packed[:i]); err == nil {
				t.Fatalf("%s: cut at %d it is read", name, i)
			}
		}
	}
}
