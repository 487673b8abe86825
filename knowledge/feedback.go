package knowledge

import (
	"context"
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Vote says whether a fact was of use.
type Vote struct {
	Category string `json:"category" arg:"1" short:"c" jsonschema:"the room"`
	Key      string `json:"key" arg:"2" short:"k" jsonschema:"the fact"`
	Vote     string `json:"vote" arg:"3" enum:"up,down" alias:"value" jsonschema:"whether it was useful"`
}

// Voted is a vote as recorded.
type Voted struct {
	Category string `json:"category"`
	Key      string `json:"key"`
	Vote     string `json:"vote"`
	Up       int    `json:"feedback_up"`
	Down     int    `json:"feedback_down"`
}

// Feedback counts a vote on the current version of a fact.
func Feedback(ctx context.Context, s *Store, v Vote) (Voted, error) {
	if err := refusal.Required("category", v.Category, "key", v.Key); err != nil {
		return Voted{}, err
	}
	vote, ok := parseVote(v.Vote)
	if !ok {
		return Voted{}, refusal.Argument("vote", "vote %q is neither up nor down", prose.Clip(v.Vote, 40))
	}
	var r Voted
	err := s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		old := fact.Current(st.Versions(fact.IDOf(v.Category, v.Key)), s.present(now))
		if old == nil {
			return nil, NotFound(v.Category, v.Key)
		}
		w := *old
		w.LastFeedback = &now
		if vote == "up" {
			w.FeedbackUp++
		} else {
			w.FeedbackDown++
		}
		r = Voted{w.Category, w.Key, vote, w.FeedbackUp, w.FeedbackDown}
		return []state.Event{{Put: &w}}, nil
	})
	return r, err
}

func parseVote(text string) (string, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "up", "+1", "+", "1", "true", "yes":
		return "up", true
	case "down", "-1", "-", "0", "false", "no":
		return "down", true
	}
	return "", false
}

// Text gives the answer's line.
func (v Voted) Text() string {
	return fmt.Sprintf("Feedback recorded (%s) for [%s] %s (up=%d, down=%d)", v.Vote, prose.Name(v.Category), prose.Name(v.Key), v.Up, v.Down)
}
