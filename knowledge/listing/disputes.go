package listing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/state"
)

// DisputeQuery asks for disputes.
type DisputeQuery struct {
	State string `json:"state,omitempty" enum:"open,accepted,rejected,all" jsonschema:"which (default open)"`
	Limit int    `json:"limit,omitempty" jsonschema:"most rows (default 50)"`
}

// DisputeList is the disputes in a state, the newest first.
type DisputeList struct {
	Disputes []knowledge.DisputeInfo `json:"disputes"`
	Total    int                     `json:"total"`
	of       DisputeQuery
}

// Disputes lists what stands against believed facts.
func Disputes(ctx context.Context, s *knowledge.Store, q DisputeQuery) (DisputeList, error) {
	var err error
	if q.Limit, err = refusal.Limit(q.Limit, 50); err != nil {
		return DisputeList{}, err
	}
	q.State = cmp.Or(q.State, formats.DisputeOpen)
	if states := []string{formats.DisputeOpen, formats.DisputeAccepted, formats.DisputeRejected, "all"}; !slices.Contains(states, q.State) {
		return DisputeList{}, refusal.Argument("state", "state %q is none of %s", prose.Clip(q.State, 40), strings.Join(states, ", "))
	}
	r := DisputeList{of: q}
	err = s.ViewSome(ctx, func(st state.Reader, now time.Time) error {
		r.Disputes = []knowledge.DisputeInfo{}
		for _, d := range slices.Backward(st.Disputed) {
			if x := knowledge.DisputeInfoOf(st, d, now); q.State == "all" || x.State == q.State {
				r.Disputes = append(r.Disputes, x)
			}
		}
		return nil
	})
	r.Total = len(r.Disputes)
	r.Disputes = r.Disputes[:min(q.Limit, r.Total)]
	return r, err
}

// Text gives the answer's lines.
func (r DisputeList) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r DisputeList) TextIn(call prose.Syntax) string {
	of := r.of.State + " "
	if of == "all " {
		of = ""
	}
	if r.Total == 0 {
		return "No " + of + "disputes."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Disputes (%d):", r.Total)
	for _, d := range r.Disputes {
		b.WriteString("\n  " + d.Line())
	}
	b.WriteString(prose.More(call, r.Total-len(r.Disputes), r.of.Limit))
	return b.String()
}
