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
	Category string `json:"category,omitempty" arg:"1" short:"c" jsonschema:"room of the fact; not needed for a dispute"`
	Key      string `json:"key,omitempty" arg:"2" short:"k" jsonschema:"the fact; not needed for a dispute"`
	Target   string `json:"target" arg:"3" alias:"value" jsonschema:"the other fact, as category/key, or a dispute, as d-3f2a"`
	Verdict  string `json:"verdict" arg:"4" enum:"supersedes,compatible,unrelated,accept,reject" alias:"query" jsonschema:"supersedes ends the target now; compatible and unrelated silence the advice; accept and reject settle a dispute"`
	Source   string `json:"source,omitempty" jsonschema:"user when the user said so"`
}

// The verdicts on a dispute.
const (
	accept = "accept"
	reject = "reject"
)

var verdicts = []string{"supersedes", "compatible", "unrelated", accept, reject}

// Judged is a verdict as recorded.
type Judged struct {
	Pair                  *formats.JudgedPair    `json:"pair,omitempty"`
	Settled               *knowledge.DisputeInfo `json:"settled,omitempty"` // the dispute that was judged
	knowledge.DisputeNote                        // the target stays: it has more authority
	Ended                 []string               `json:"ended,omitempty"` // ids of the target's versions that are no longer true
}

// Judge records a verdict. With supersedes, the target is no longer true from
// now on; its history stays.
func Judge(ctx context.Context, s *knowledge.Store, v Verdict) (Judged, error) {
	if !slices.Contains(verdicts, v.Verdict) {
		return Judged{}, refusal.Argument("verdict", "verdict %q is none of %s", prose.Clip(v.Verdict, 40), strings.Join(verdicts, ", "))
	}
	if v.Verdict == accept || v.Verdict == reject {
		return settle(ctx, s, v)
	}
	var r Judged
	by := s.Source(v.Source, 1)
	err := s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		a, b, err := knowledge.PairOf(st, v.Category, v.Key, v.Target)
		if err != nil {
			return nil, err
		}
		r = Judged{Pair: &formats.JudgedPair{KeyA: a.Category + "/" + a.Key, KeyB: b.Category + "/" + b.Key, Verdict: v.Verdict, JudgedAt: now}}
		events := []state.Event{{Judge: r.Pair}}
		if v.Verdict == "supersedes" {
			ended, x, err := knowledge.Supersede(st, a, b, by, now, fact.Present(s.Now(), now))
			if err != nil {
				return nil, err
			}
			if x.Warned() {
				r = Judged{DisputeNote: x}
				return ended, nil
			}
			for _, e := range ended {
				r.Ended = append(r.Ended, e.Put.ID)
				events = append(events, e)
			}
		}
		return events, nil
	})
	return r, err
}

// settle judges a dispute.
func settle(ctx context.Context, s *knowledge.Store, v Verdict) (Judged, error) {
	if err := refusal.Required("target", v.Target); err != nil {
		return Judged{}, err
	}
	var r Judged
	by := s.Source(v.Source, 1)
	err := s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		d, ok := st.Dispute(strings.TrimSpace(v.Target))
		about := ""
		if v.Category != "" || v.Key != "" {
			about = fmt.Sprintf(" about [%s] %s", prose.Name(v.Category), prose.Name(v.Key))
			ok = ok && fact.IDOf(d.Category, d.Key) == fact.IDOf(v.Category, v.Key)
		}
		if !ok {
			return nil, refusal.NotFound("No dispute %s%s", prose.Line(prose.Clip(v.Target, 40)), about)
		}
		events, err := knowledge.Settle(st, d, v.Verdict == accept, by, s.Actor().Session, now, fact.Present(s.Now(), now))
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			if e.Dispute != nil {
				d = *e.Dispute
			}
		}
		r.Settled = new(knowledge.DisputeInfoOf(st, d, now))
		return events, nil
	})
	return r, err
}

// Text gives the answer's lines.
func (j Judged) Text() string { return j.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (j Judged) TextIn(call prose.Syntax) string {
	switch {
	case j.Warned():
		return j.DisputeNote.TextIn(call)
	case j.Settled != nil:
		return "Judged: " + j.Settled.Line()
	}
	a, b := prose.Line(j.Pair.KeyA), prose.Line(j.Pair.KeyB)
	switch {
	case j.Pair.Verdict == "supersedes" && len(j.Ended) > 0:
		return fmt.Sprintf("Judged: %s supersedes %s (target archived)", a, b)
	case j.Pair.Verdict == "supersedes":
		return fmt.Sprintf("Judged: %s supersedes %s (target was not current)", a, b)
	}
	return fmt.Sprintf("Judged: %s and %s are %s", a, b, j.Pair.Verdict)
}
