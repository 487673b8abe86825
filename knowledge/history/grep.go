package history

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Expression is what to look for, letter by letter.
type Expression struct {
	Regexp string `json:"regexp" arg:"1" long:"true" jsonschema:"regular expression (RE2); (?i) ignores case"`
	Limit  int    `json:"limit,omitempty" jsonschema:"most matches to show (default 50)"`

	Sessions string `json:"sessions,omitempty" mcp:"-" enum:"project,all" jsonschema:"what was said: in this project's sessions (default), or all projects'; for a person"`

	// Said, if set, is asked for what was said in sessions that the expression matches, at most limit; all: of all projects.
	Said func(ctx context.Context, regexp string, all bool, limit int) []knowledge.Said `json:"-"`
}

// Matches are the texts that an expression matches: facts, what they were before,
// and what agents wrote into diaries.
type Matches struct {
	Matches []Match `json:"matches"`
	Total   int     `json:"total"`
	Stopped string  `json:"stopped,omitempty"` // how far it came, where it took too long

	Said []knowledge.Said `json:"said,omitempty"` // in sessions: no facts

	of Expression
}

// Match is a text that matches. It is a version of a fact, or an entry of a diary.
type Match struct {
	Category string    `json:"category,omitempty"`
	Key      string    `json:"key,omitempty"`
	ID       string    `json:"id,omitempty"`   // of the version
	Mark     string    `json:"mark,omitempty"` // as in a timeline
	Kind     string    `json:"kind,omitempty"` // of an entry: decision, insight …
	Ref      string    `json:"ref,omitempty"`  // names the entry
	By       string    `json:"by,omitempty"`
	At       time.Time `json:"at"`
	Line     string    `json:"line"` // the first line that matches
	fact.Trust

	period string
}

// Grep looks through every version of every fact, through patterns and gotchas, and
// through what agents wrote down. It reads all of them.
func Grep(ctx context.Context, s *knowledge.Store, q Expression) (r Matches, err error) {
	re, err := args.Regexp(q.Regexp)
	if err != nil {
		return r, err
	}
	if q.Limit, err = refusal.Limit(q.Limit, 50); err != nil {
		return r, err
	}
	r = Matches{of: q}
	search := args.Search{Context: ctx, Until: time.Now().Add(args.MaxSearch)}
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		r.Matches = []Match{}
		looked := 0
		for _, vs := range st.Sorted() {
			if !r.among(&search, re, vs, now) {
				r.Stopped = "stopped after " + prose.Count(looked, "fact")
				return ctx.Err()
			}
			looked++
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	if diaries := s.Options().Findings; diaries != nil {
		entries, err := diaries.Findings(ctx, time.Time{})
		if err != nil {
			return r, err
		}
		slices.SortStableFunc(entries, func(a, b knowledge.Finding) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Ref, b.Ref)) })
		for _, e := range entries {
			if r.Stopped == "" && !search.Goes() {
				r.Stopped = "stopped among the diaries"
			}
			if r.Stopped != "" {
				break
			}
			if line, ok := matchIn(re, e.Text); ok {
				r.Matches = append(r.Matches, Match{Kind: e.Kind, Ref: e.Ref, By: e.By, At: e.At, Line: line})
			}
		}
	}
	r.Total = len(r.Matches)
	r.Matches = r.Matches[:min(q.Limit, r.Total)]
	if q.Said != nil && r.Stopped == "" {
		r.Said = q.Said(ctx, q.Regexp, q.Sessions == "all", q.Limit)
	}
	return r, ctx.Err()
}

// among adds the versions of one fact that match, by name or value. It is false if the search does not go on.
func (r *Matches) among(search *args.Search, re *regexp.Regexp, vs []*fact.Version, now time.Time) bool {
	for _, v := range vs {
		if !search.Goes() {
			return false
		}
		line, ok := matchIn(re, fact.Text(v))
		if !ok && !re.MatchString(v.Category+"/"+v.Key) && !slices.ContainsFunc(v.Aliases, re.MatchString) {
			continue
		}
		if !ok {
			line, _, _ = strings.Cut(v.Value, "\n")
		}
		e := entry(v, vs, now)
		r.Matches = append(r.Matches, Match{Category: v.Category, Key: v.Key, ID: v.ID, Mark: e.Mark, By: knowledge.AssertedBy(v), At: v.RecordedFrom, Line: line, Trust: e.Trust, period: e.period()})
	}
	return true
}

// matchIn is the first line of a text that matches, or that holds the beginning of
// a match over several lines.
func matchIn(re *regexp.Regexp, text string) (line string, ok bool) {
	at := re.FindStringIndex(text)
	if at == nil {
		return "", false
	}
	from := strings.LastIndexByte(text[:at[0]], '\n') + 1
	line, _, _ = strings.Cut(text[from:], "\n")
	return strings.TrimSpace(line), true
}

// Text gives the answer's lines.
func (r Matches) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r Matches) TextIn(call prose.Syntax) string {
	if r.Total+len(r.Said) == 0 {
		text := fmt.Sprintf("Nothing matches %s.", prose.Quoted(r.of.Regexp))
		if r.Stopped != "" {
			text += " The search took too long and " + r.Stopped + "."
		}
		return text
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Matches of %s (%d):", prose.Quoted(r.of.Regexp), r.Total)
	for _, m := range r.Matches {
		if m.ID == "" {
			fmt.Fprintf(&b, "\n  [%s] %s (%s by %s)", prose.Name(m.Ref), prose.Brief(m.Line), fact.Day(m.At), prose.Name(m.By))
			continue
		}
		fmt.Fprintf(&b, "\n  [%s/%s] %s [%s] (%s)", prose.Name(m.Category), prose.Name(m.Key), m.Brief(m.Line), m.Mark, m.period)
	}
	b.WriteString(prose.More(call, r.Total-len(r.Matches), r.of.Limit))
	knowledge.WriteSaid(&b, r.Said, knowledge.Said.SearchLine)
	if r.Stopped != "" {
		b.WriteString("\n  The search took too long and " + r.Stopped + ".")
	}
	return b.String()
}
