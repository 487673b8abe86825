package knowledge_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/history"
	"leanctx/knowledge/listing"
)

// The lines that users and scripts see, to the letter.
func TestStory(t *testing.T) {
	s := testStore(t, nil)
	expect := func(got interface{ Text() string }, want string) {
		t.Helper()
		if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got.Text())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	expect(s.remember(t, Assertion{Category: "architecture", Key: "auth", Value: "JWT RS256", Confidence: new(.95)}),
		`Remembered [architecture] auth: JWT RS256 (confidence: 95%)`)
	expect(s.remember(t, Assertion{Category: "architecture", Key: "auth", Value: "jwt rs256."}),
		`Confirmed [architecture] auth: JWT RS256 (confidence: 95%, confirmed 2x)`)
	s.now = at(1).AddDate(0, 2, 19)
	expect(s.remember(t, Assertion{Category: "architecture", Key: "auth", Value: "OAuth2 + PKCE", Confidence: new(.9)}), `
Remembered [architecture] auth: OAuth2 + PKCE (confidence: 90%)
  ⚠ CONTRADICTION DETECTED: High-confidence fact [architecture/auth] changed:
  'JWT RS256' → 'OAuth2 + PKCE' (was confirmed 2x). Previous value archived.
  Severity: high. If the old value still holds: action=remember category=architecture key=auth value="JWT RS256" correct=true`)
	expect(s.recall(t, Question{Category: "architecture"}), `
Facts [architecture] (showing 1/1):
  [architecture/auth]: OAuth2 + PKCE (conf: 90%) since 2026-03-20 by cursor-a3f8`)
	expect(s.recall(t, Question{Category: "architecture", AsOf: "2026-02-01"}), `
Facts as of 2026-02-01 (showing 1/1):
  [architecture/auth]: JWT RS256 (conf: 95%) [valid 2026-01-15 → 2026-03-20]`)
	expect(s.recall(t, Question{AsOf: "2025-02-01"}), `No facts valid at 2025-02-01.`)
	expect(s.recall(t, Question{Category: "x"}), `No facts in category 'x'.`)
	expect(s.recall(t, Question{Query: "kubernetes"}), `No facts matching 'kubernetes'.`)
	tl, err := history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: "architecture"})
	if err != nil {
		t.Fatal(err)
	}
	expect(tl, `
Timeline [architecture] (2 entries):
  auth = JWT RS256 [archived] (2026-01-15 → 2026-03-20) conf=95% x2
  auth = OAuth2 + PKCE [CURRENT] (2026-03-20 → now) conf=90% x1`)
	s.remember(t, Assertion{Category: "deployment", Key: "host", Value: "AWS ECS", Confidence: new(.8)})
	s.remember(t, Assertion{Category: "deployment", Key: "region", Value: "eu-central-1", Confidence: new(.8)})
	rooms, err := listing.Rooms(t.Context(), s.Store, listing.RoomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	expect(rooms, `
Knowledge Rooms (2 rooms):
  [deployment] 2 facts
  [architecture] 1 fact`)
	found, err := (&Library{Own: s.Store}).Search(t.Context(), Lookup{Query: "oauth2"})
	if err != nil {
		t.Fatal(err)
	}
	expect(found, `
Cross-session search (1 result):
  [architecture/auth] OAuth2 + PKCE (project: my-app, conf: 90%)`)
	wake, err := briefing.Wakeup(t.Context(), s.Store, briefing.Query{})
	if err != nil {
		t.Fatal(err)
	}
	expect(wake, `
WAKE-UP BRIEFING:
ARCHITECTURE:auth=OAuth2 + PKCE★★★★
DEPLOYMENT:host=AWS ECS★★★|region=eu-central-1★★★`)
	removed, err := s.Remove(t.Context(), Withdrawal{Category: "architecture", Key: "auth"})
	if err != nil {
		t.Fatal(err)
	}
	expect(removed, `Removed [architecture] auth`)
	if _, err := s.Remove(t.Context(), Withdrawal{Category: "architecture", Key: "auth"}); err == nil || err.Error() != `No fact found: [architecture] auth` {
		t.Errorf("removing it again: %v", err)
	}
	expect(s.recall(t, Question{Query: "auth"}), `No current fact [architecture/auth]: removed 2026-03-20 by cursor-a3f8 (was 'OAuth2 + PKCE').`)
	expect(s.recall(t, Question{Category: "architecture", AsOf: "2026-02-01"}), `
Facts as of 2026-02-01 (showing 1/1):
  [architecture/auth]: JWT RS256 (conf: 95%) [valid 2026-01-15 → 2026-03-20]`)
}
