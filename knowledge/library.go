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

	"leanctx/embed/vectors"
	"leanctx/internal/language"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/recall"
	"leanctx/knowledge/words"
)

// Lookup asks every project.
type Lookup struct {
	Query string `json:"query" arg:"1" long:"true" jsonschema:"words to look for"`
	Limit int    `json:"limit,omitempty" jsonschema:"most results to show (default 20)"`

	Sessions string `json:"sessions,omitempty" mcp:"-" enum:"project,all" jsonschema:"what was said: in this project's sessions (default), or all projects'; for a person"`

	// Said, if set, is asked for what was said about the query in sessions; all: of all projects.
	Said func(ctx context.Context, query string, all bool) []Said `json:"-"`
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

	// Past says that the value is not true now. Its period says when it was.
	Past       bool       `json:"past,omitempty"`
	ValidFrom  time.Time  `json:"valid_from,omitzero"`
	ValidUntil *time.Time `json:"valid_until,omitempty"`

	fact.Trust
}

// Results of a search, best first.
type Results struct {
	Results []Result `json:"results"`
	Total   int      `json:"total"`
	Skipped []string `json:"skipped,omitempty"` // stores that could not be read, and why
	Said    []Said   `json:"said,omitempty"`    // in sessions: no facts
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
	if q.Said != nil {
		r.Said = q.Said(ctx, q.Query, q.Sessions == "all")
	}
	return r, ctx.Err()
}

// from adds what one store has.
func (r *Results) from(ctx context.Context, s *Store, own bool) error {
	l := lookup{store: s, question: Question{Query: r.query, Limit: maxCandidates}}
	found, err := l.search(ctx)
	if err != nil {
		return err
	}
	closed := false // what agents wrote down there may tell of facts that are for that project alone
	if !own {
		if closed, err = HasProjectOnly(ctx, s); err != nil {
			return err
		}
	}
	project := filepath.Base(s.opts.ProjectRoot)
	told := map[string]bool{}
	facts := map[string]bool{} // by what their sources name: entries that are facts now
	add := func(f *Found) {
		for _, src := range f.Version.Sources {
			facts[src.Ref] = facts[src.Ref] || !f.Past // the entry of a fact that was taken back is found as it was written
		}
		if (own || f.Version.Privacy != PrivacyProjectOnly && !(closed && writtenDown(f.Version))) && !told[f.ID] {
			told[f.ID] = true
			x := Result{Category: f.Category, Key: f.Key, Value: f.Value, Project: project, Confidence: f.Confidence, Score: f.Score, Trust: f.Trust}
			if f.Past {
				x.Past, x.ValidFrom, x.ValidUntil = true, f.ValidFrom, f.ValidUntil
			}
			r.Results = append(r.Results, x)
		}
	}
	for i := range found.firm() {
		add(&found.Facts[i])
	}
	former, err := l.formerValues(ctx)
	if err != nil {
		return err
	}
	for i := range former {
		add(&former[i])
	}
	if closed {
		return nil
	}
	entries, err := findings(ctx, s, time.Time{})
	if err != nil {
		if ctx.Err() == nil {
			r.Skipped = append(r.Skipped, fmt.Sprintf("diaries of %s: %v", project, err))
		}
		return ctx.Err()
	}
	entries = slices.DeleteFunc(entries, func(e Finding) bool {
		_, _, ok := session(e.Kind)
		return !ok || facts[e.Ref] || !own && !strings.HasPrefix(e.Ref, diaryRef)
	})
	near, err := l.nearEntries(ctx, entries)
	if err != nil {
		return err
	}
	terms := words.Terms(r.query)
	for i, e := range entries {
		category, conf, _ := session(e.Kind)
		score := coverage(terms, e.Text)
		if score < 0.5 && near != nil {
			score = near[i]
		}
		if score >= 0.5 {
			r.Results = append(r.Results, Result{Category: category, Key: e.At.UTC().Format("20060102"), Value: e.Text, Project: project, Confidence: conf, Score: score})
		}
	}
	return nil
}

// writtenDown reports whether a version says nothing but what entries of diaries, findings or tasks do.
func writtenDown(v *fact.Version) bool {
	return len(v.Sources) > 0 && !slices.ContainsFunc(v.Sources, func(s Source) bool {
		return !strings.HasPrefix(s.Ref, diaryRef) && !strings.HasPrefix(s.Ref, "message:") && !strings.HasPrefix(s.Ref, "task:")
	})
}

// formerShare is how much a value that is over counts beside one that holds.
const formerShare = .5

// formerValues are the values that the facts had which the words or the meaning of the question find, the best first.
func (l *lookup) formerValues(ctx context.Context) (out []Found, err error) {
	r := pastReader{lookup: l, asks: &language.Past{Kind: language.AsksAll, Subject: l.question.Query}}
	if err := r.find(ctx); err != nil {
		return nil, err
	}
	for _, v := range r.looked {
		if !v.over(r.query.now) || v.Score < leastMeant || len(out) == r.query.Limit {
			continue
		}
		f := r.found(v)
		f.Score = formerShare * v.Score
		out = append(out, f)
	}
	return out, nil
}

// maxNearEntries is how many entries of diaries are compared by meaning: the newest ones.
const maxNearEntries = 2000

// leastNearEntry is how near an entry without the words of the question must be.
const leastNearEntry = .3

// nearEntries says of each entry how near it is to the question by meaning: 0, or from .5 on. It is nil where that is not known.
func (l *lookup) nearEntries(ctx context.Context, entries []Finding) ([]float64, error) {
	from := max(0, len(entries)-maxNearEntries)
	if len(entries) == 0 {
		return nil, nil
	}
	one := *l
	one.instant = true
	one.parsed = recall.Parse(l.question.Query, &recall.Options{NoDates: true})
	looking, cancel := context.WithCancel(ctx)
	defer cancel()
	m, err := one.encode(looking)
	if m == nil || err != nil {
		return nil, err
	}
	if m.nearest != nil { // which facts are near is not asked here
		cancel()
		_, _ = m.nearest()
	}
	texts := make([]string, 0, len(entries)-from)
	for _, e := range entries[from:] {
		texts = append(texts, prose.Clip(e.Text, 1<<10))
	}
	out := make([]float64, len(entries))
	err = l.store.vectors.make(ctx, m.encoder, texts, &vectors.Space{}, func(i int, v []float32) {
		if near := recall.Cosine(m.vectors[0], v); near >= leastNearEntry {
			out[from+i] = .5 + near/4
		}
	})
	return out, err
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
		if x.Past {
			fmt.Fprintf(&b, " [valid %s]", fact.Period{From: x.ValidFrom, Until: x.ValidUntil})
		}
	}
	b.WriteString(prose.More(call, r.Total-len(r.Results), r.limit))
	WriteSaid(&b, r.Said, Said.SearchLine)
	for _, text := range r.Skipped {
		fmt.Fprintf(&b, "\n  Not searched: %s", prose.Line(text))
	}
	return b.String()
}
