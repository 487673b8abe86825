package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/words"
)

// Lookup asks every project.
type Lookup struct {
	Query string `json:"query" arg:"1" jsonschema:"words to look for"`
	Limit int    `json:"limit,omitempty" jsonschema:"most results to show (default 20)"`
}

// Library is the stores a search may look into: the project's own first, then
// the others, each with whatever diaries it has. It opens them one by one and
// closes them again.
type Library struct {
	Own    *Store
	Others iter.Seq2[*Store, error] // nil when searching other projects is switched off
}

// Result is one row of a search.
type Result struct {
	Category   string  `json:"category"`
	Key        string  `json:"key"`
	Value      string  `json:"value"`
	Project    string  `json:"project"`
	Confidence float64 `json:"confidence"`
	Score      float64 `json:"score"`

	fact.Trust
}

// Results of a search, best first.
type Results struct {
	Results []Result `json:"results"`
	Total   int      `json:"total"`
	Skipped []string `json:"skipped,omitempty"` // stores that could not be read, and why
	query   string
	limit   int
}

// session is what an entry of a diary is called in an answer, and how sure it
// is taken to be. Blockers and progress are of their day and are not found.
func session(kind string) (category string, confidence float64, ok bool) {
	switch kind {
	case "decision":
		return "session-decision", 0.7, true
	case "finding", "discovery": // the scratchpad's word and the diary's
		return "session-finding", 0.6, true
	case "insight":
		return "session-insight", 0.6, true
	}
	return "", 0, false
}

// Search reads the current facts and diaries of all projects. It never shows other projects'
// private facts, nor their agents' messages. The answer names diaries that cannot be read.
func (l *Library) Search(ctx context.Context, q Lookup) (Results, error) {
	if err := refusal.Required("query", q.Query); err != nil {
		return Results{}, err
	}
	limit, err := refusal.Limit(q.Limit, 20)
	if err != nil {
		return Results{}, err
	}
	r := Results{query: q.Query, limit: limit, Results: []Result{}}
	if err := r.from(ctx, l.Own, true); err != nil {
		return Results{}, err
	}
	if l.Others != nil {
		for s, err := range l.Others {
			if err == nil {
				err = r.from(ctx, s, false)
			}
			if err != nil && ctx.Err() == nil {
				r.Skipped = append(r.Skipped, err.Error())
			}
		}
	}
	// Equals stay as they were found, so the project's own come first.
	slices.SortStableFunc(r.Results, func(a, b Result) int { return cmp.Compare(b.Score, a.Score) })
	r.Total = max(r.Total, len(r.Results))
	r.Results = r.Results[:min(limit, len(r.Results))]
	return r, ctx.Err()
}

// from adds what one store has.
func (r *Results) from(ctx context.Context, s *Store, own bool) error {
	l := lookup{store: s, question: Question{Query: r.query, Limit: maxCandidates}}
	found, err := l.search(ctx)
	if err != nil {
		return err
	}
	project := filepath.Base(s.opts.ProjectRoot)
	for _, f := range found.Facts[:found.firm()] {
		if own || f.Version.Privacy != PrivacyProjectOnly {
			r.Results = append(r.Results, Result{f.Category, f.Key, f.Value, project, f.Confidence, f.Score, f.Trust})
		}
	}
	entries, err := findings(ctx, s, time.Time{})
	if err != nil {
		if ctx.Err() == nil {
			r.Skipped = append(r.Skipped, fmt.Sprintf("diaries of %s: %v", project, err))
		}
		return ctx.Err()
	}
	terms := words.Terms(r.query)
	for _, e := range entries {
		category, conf, ok := session(e.Kind)
		if !ok || !own && !strings.HasPrefix(e.Ref, diaryRef) {
			continue
		}
		if score := coverage(terms, e.Text); score >= 0.5 {
			r.Results = append(r.Results, Result{category, e.At.UTC().Format("20060102"), e.Text, project, conf, score, fact.Trust{}})
		}
	}
	return nil
}

// diaryRef is the prefix of references to diary entries. Other projects see nothing else:
// messages may be private.
const diaryRef = "diary:"

// coverage is the share of terms that stand in a text.
func coverage(terms []string, text string) float64 {
	held := map[string]bool{}
	for _, t := range words.Terms(text) {
		held[t] = true
	}
	n := 0
	for _, t := range terms {
		if held[t] {
			n++
		}
	}
	return float64(n) / float64(max(len(terms), 1))
}

// Text gives the answer's lines.
func (r Results) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r Results) TextIn(call prose.Syntax) string {
	var b strings.Builder
	if len(r.Results) == 0 {
		fmt.Fprintf(&b, "No results found for '%s'.", prose.Brief(r.query))
	} else {
		fmt.Fprintf(&b, "Cross-session search (%s):", prose.Count(r.Total, "result"))
	}
	for _, x := range r.Results {
		fmt.Fprintf(&b, "\n  [%s/%s] %s (project: %s, conf: %s)", prose.Name(x.Category), prose.Name(x.Key), x.Line(x.Value), prose.Name(x.Project), prose.Percent(x.Confidence))
	}
	b.WriteString(prose.More(call, r.Total-len(r.Results), r.limit))
	for _, text := range r.Skipped {
		fmt.Fprintf(&b, "\n  Not searched: %s", prose.Line(text))
	}
	return b.String()
}
