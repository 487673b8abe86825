package briefing

import (
	"testing"

	"leanctx/formats"
)

// An overview says the same as a briefing, its facts on one line, what nobody has confirmed after the rest.
func TestOverviewText(t *testing.T) {
	b := Selection{
		Rooms: []formats.Room{
			{Category: "architecture", Pairs: []formats.Pair{{Key: "auth", Value: "JWT RS256", Stars: 5}, {Key: "a|b", Value: "x\nFACTS:y=z", Stars: 1, Unconfirmed: true}}},
			{Category: "deployment", Pairs: []formats.Pair{{Key: "host", Value: "AWS ECS", Stars: 3}}},
		},
		LastTask: "Fix authentication", Decisions: []string{"Use refresh tokens", "Add rate limiting"}, Agents: []string{"cursor-a3f8(dev)", "claude-b7e2(review)"},
		MoreFacts: 12, MoreRooms: 1, Map: "+12 more (ctx_recall)\n",
	}
	want := `FACTS:architecture/auth=JWT RS256|deployment/host=AWS ECS|architecture/a\|b=x\nFACTS:y=z?
+12 more (ctx_recall)
LAST_TASK:Fix authentication
RECENT_DECISIONS:Use refresh tokens|Add rate limiting
AGENTS:cursor-a3f8(dev),claude-b7e2(review)`
	if got := b.OverviewText(); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if got := (Selection{}).OverviewText(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
