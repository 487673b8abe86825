package listing

import (
	"context"
	"fmt"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/drawing"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// RelationQuery asks for the links of a fact, or for all.
type RelationQuery struct {
	Category string `json:"category,omitempty" arg:"1" short:"c" jsonschema:"room of the fact"`
	Key      string `json:"key,omitempty" arg:"2" short:"k" jsonschema:"the fact; without it every link of the room or project"`
	Kind     string `json:"kind,omitempty" enum:"depends_on,related_to,supports,contradicts,supersedes" jsonschema:"only links of this kind"`
	Limit    int    `json:"limit,omitempty" jsonschema:"most links to show (default 50)"`
	Mermaid  bool   `json:"mermaid,omitempty" jsonschema:"as a Mermaid flowchart"`
}

// RelationList is the links found.
type RelationList struct {
	Relations []formats.Relation `json:"relations"`
	Total     int                `json:"total"`
	of        RelationQuery
}

// Relations lists the links that begin or end at a fact.
func Relations(ctx context.Context, s *knowledge.Store, q RelationQuery) (RelationList, error) {
	limit, err := refusal.Limit(q.Limit, 50)
	if err != nil {
		return RelationList{}, err
	}
	q.Limit = limit
	r := RelationList{of: q, Relations: []formats.Relation{}}
	at := func(n formats.Name) bool {
		return (q.Category == "" || formats.FoldName(n.Category) == formats.FoldName(q.Category)) && (q.Key == "" || formats.FoldName(n.Key) == formats.FoldName(q.Key))
	}
	err = s.ViewSome(ctx, func(st state.Reader, _ time.Time) error {
		for _, x := range st.Relations {
			if (at(x.From.Name) || at(x.To.Name)) && (q.Kind == "" || q.Kind == x.Kind) {
				r.Relations = append(r.Relations, x)
			}
		}
		return nil
	})
	r.Total = len(r.Relations)
	r.Relations = r.Relations[:min(limit, r.Total)]
	return r, err
}

// Text gives the answer's lines.
func (r RelationList) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r RelationList) TextIn(call prose.Syntax) string {
	if r.of.Mermaid {
		return r.mermaid(call)
	}
	of := "project"
	if r.of.Category != "" || r.of.Key != "" {
		of = strings.Trim(prose.Name(r.of.Category)+"/"+prose.Name(r.of.Key), "/")
	}
	if r.Total == 0 {
		return fmt.Sprintf("No relations for %s.", of)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Relations for %s (%d):", of, r.Total)
	for _, x := range r.Relations {
		kind := prose.Line(x.Kind)
		switch {
		case r.of.Key == "":
			fmt.Fprintf(&b, "\n  %s %s %s", knowledge.Slashed(x.From.Name), kind, knowledge.Slashed(x.To.Name))
		case formats.FoldName(x.From.Key) == formats.FoldName(r.of.Key):
			fmt.Fprintf(&b, "\n  -> %s %s", kind, knowledge.Slashed(x.To.Name))
		default:
			fmt.Fprintf(&b, "\n  <- %s %s", kind, knowledge.Slashed(x.From.Name))
		}
		if x.Count > 1 {
			fmt.Fprintf(&b, " (%dx)", x.Count)
		}
		b.WriteString(fact.Trust{Unconfirmed: x.TakenIn}.Mark())
	}
	b.WriteString(prose.More(call, r.Total-len(r.Relations), r.of.Limit))
	return b.String()
}

// mermaid draws the links; a line tells what was left out.
func (r RelationList) mermaid(call prose.Syntax) string {
	links := make([]drawing.Link, len(r.Relations))
	for i, x := range r.Relations {
		links[i] = drawing.Link{From: x.From.Category + "/" + x.From.Key, Kind: x.Kind + (fact.Trust{Unconfirmed: x.TakenIn}).Mark(), To: x.To.Category + "/" + x.To.Key}
	}
	text := drawing.Mermaid(links)
	if more := r.Total - len(r.Relations); more > 0 {
		text += fmt.Sprintf("\n  %%%% … %d more (%s)", more, call("", "limit", r.of.Limit))
	}
	return text
}
