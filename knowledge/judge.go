package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/ledger"
)

// Verdict settles how two facts that might be in conflict stand to each other.
type Verdict struct {
	Category string `json:"category" short:"c" jsonschema:"room of the fact"`
	Key      string `json:"key" short:"k" jsonschema:"the fact"`
	Target   string `json:"target" jsonschema:"the other fact, as category/key"`
	Verdict  string `json:"verdict" enum:"supersedes,compatible,unrelated" jsonschema:"supersedes ends the target now; the others only silence the advice"`
}

var verdicts = []string{"supersedes", "compatible", "unrelated"}

// Judged is a verdict as recorded.
type Judged struct {
	Pair  formats.JudgedPair `json:"pair"`
	Ended []string           `json:"ended,omitempty"` // ids of the target's versions that are no longer true
}

// Judge records a verdict. With supersedes, the target is no longer true from
// now on; its history stays.
func (s *Store) Judge(ctx context.Context, v Verdict) (Judged, error) {
	if !slices.Contains(verdicts, v.Verdict) {
		return Judged{}, refusal.Argument("verdict", "verdict %q is none of %s", prose.Clip(v.Verdict, 40), strings.Join(verdicts, ", "))
	}
	var r Judged
	err := s.update(ctx, func(st *ledger.State, now time.Time) ([]ledger.Event, error) {
		a, b, err := pairOf(st, v.Category, v.Key, v.Target)
		if err != nil {
			return nil, err
		}
		r = Judged{Pair: formats.JudgedPair{KeyA: a.Category + "/" + a.Key, KeyB: b.Category + "/" + b.Key, Verdict: v.Verdict, JudgedAt: now}}
		events := []ledger.Event{{Judge: &r.Pair}}
		if v.Verdict == "supersedes" {
			for _, e := range retract(st, fact.IDOf(b.Category, b.Key), now) {
				e.Put.RetractedAt = nil // superseded, not withdrawn
				r.Ended = append(r.Ended, e.Put.ID)
				events = append(events, e)
			}
		}
		return events, nil
	})
	return r, err
}

// Text gives the answer's line.
func (j Judged) Text() string {
	a, b := prose.Line(j.Pair.KeyA), prose.Line(j.Pair.KeyB)
	switch {
	case j.Pair.Verdict == "supersedes" && len(j.Ended) > 0:
		return fmt.Sprintf("Judged: %s supersedes %s (target archived)", a, b)
	case j.Pair.Verdict == "supersedes":
		return fmt.Sprintf("Judged: %s supersedes %s (target was not current)", a, b)
	}
	return fmt.Sprintf("Judged: %s and %s are %s", a, b, j.Pair.Verdict)
}

// settled reports whether there is a verdict on two facts.
func settled(st *ledger.State, a, b fact.ID) bool {
	name := func(n fact.ID) string { return n.Category + "/" + n.Key }
	x, y := name(a), name(b)
	return slices.ContainsFunc(st.Judged, func(p formats.JudgedPair) bool {
		k, l := formats.FoldName(p.KeyA), formats.FoldName(p.KeyB)
		return k == x && l == y || k == y && l == x
	})
}

// Vote says whether a fact was of use.
type Vote struct {
	Category string `json:"category" short:"c" jsonschema:"the room"`
	Key      string `json:"key" short:"k" jsonschema:"the fact"`
	Vote     string `json:"vote" enum:"up,down" jsonschema:"up or down"`
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
func (s *Store) Feedback(ctx context.Context, v Vote) (Voted, error) {
	if err := required("category", strings.TrimSpace(v.Category), "key", strings.TrimSpace(v.Key)); err != nil {
		return Voted{}, err
	}
	vote, ok := parseVote(v.Vote)
	if !ok {
		return Voted{}, refusal.Argument("vote", "vote %q is neither up nor down", prose.Clip(v.Vote, 40))
	}
	var r Voted
	err := s.update(ctx, func(st *ledger.State, now time.Time) ([]ledger.Event, error) {
		old := fact.CurrentAt(st.Versions(fact.IDOf(v.Category, v.Key)), now)
		if old == nil {
			return nil, notFound(v.Category, v.Key)
		}
		w := *old
		w.LastFeedback = &now
		if vote == "up" {
			w.FeedbackUp++
		} else {
			w.FeedbackDown++
		}
		r = Voted{w.Category, w.Key, vote, w.FeedbackUp, w.FeedbackDown}
		return []ledger.Event{{Put: &w}}, nil
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
	return fmt.Sprintf("Feedback recorded (%s) for [%s] %s (up=%d, down=%d)", v.Vote, prose.Line(v.Category), prose.Line(v.Key), v.Up, v.Down)
}
