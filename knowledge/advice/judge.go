package advice

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Verdict settles how two facts that might be in conflict stand to each other.
type Verdict struct {
	Category string `json:"category" arg:"1" short:"c" jsonschema:"room of the fact"`
	Key      string `json:"key" arg:"2" short:"k" jsonschema:"the fact"`
	Target   string `json:"target" arg:"3" jsonschema:"the other fact, as category/key"`
	Verdict  string `json:"verdict" arg:"4" enum:"supersedes,compatible,unrelated" jsonschema:"supersedes ends the target now; the others only silence the advice"`
}

var verdicts = []string{"supersedes", "compatible", "unrelated"}

// Judged is a verdict as recorded.
type Judged struct {
	Pair  formats.JudgedPair `json:"pair"`
	Ended []string           `json:"ended,omitempty"` // ids of the target's versions that are no longer true
}

// Judge records a verdict. With supersedes, the target is no longer true from
// now on; its history stays.
func Judge(ctx context.Context, s *knowledge.Store, v Verdict) (Judged, error) {
	if !slices.Contains(verdicts, v.Verdict) {
		return Judged{}, refusal.Argument("verdict", "verdict %q is none of %s", prose.Clip(v.Verdict, 40), strings.Join(verdicts, ", "))
	}
	var r Judged
	err := s.Decide(ctx, func(st state.Known, now time.Time) ([]state.Event, error) {
		a, b, err := knowledge.PairOf(st, v.Category, v.Key, v.Target)
		if err != nil {
			return nil, err
		}
		r = Judged{Pair: formats.JudgedPair{KeyA: a.Category + "/" + a.Key, KeyB: b.Category + "/" + b.Key, Verdict: v.Verdict, JudgedAt: now}}
		events := []state.Event{{Judge: &r.Pair}}
		if v.Verdict == "supersedes" {
			for _, e := range knowledge.Retract(st, fact.IDOf(b.Category, b.Key), now, fact.Now(s.Now(), now)) {
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
