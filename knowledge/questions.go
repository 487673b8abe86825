package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// MaxQuestions is how many letters the questions of a fact have at most, with
// the signs that divide them.
const MaxQuestions = 300

// splitQuestions takes questions apart at each semicolon; nil where there are
// none. A line break is a blank.
func splitQuestions(text string) (out []string) {
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.Join(strings.Fields(part), " "); part != "" && !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	return out
}

// checkQuestions refuses questions that are too long or hold control characters.
func checkQuestions(list []string) error {
	letters := max(0, len(list)-1)
	for _, q := range list {
		letters += utf8.RuneCountInString(q)
		switch {
		case !utf8.ValidString(q):
			return refusal.Argument("questions", "questions is not valid UTF-8")
		case strings.IndexFunc(q, prose.IsControl) >= 0:
			return refusal.Argument("questions", "questions holds a control character: %q", prose.Clip(q, 40))
		}
	}
	if letters > MaxQuestions {
		return refusal.Argument("questions", "questions has %d letters, more than %d", letters, MaxQuestions)
	}
	return nil
}

// moreQuestions are the questions of a version with some more, for who may not change it: he takes none
// away. nil: there is no room for them.
func moreQuestions(v *fact.Version, more []string) []string {
	all := merge(v.Questions, more)
	if checkQuestions(all) != nil {
		return nil
	}
	return all
}

// FactQuestions gives a fact its questions. Without any argument it asks which facts
// have none.
type FactQuestions struct {
	Category  string `json:"category,omitempty" arg:"1" short:"c" jsonschema:"the room"`
	Key       string `json:"key,omitempty" arg:"2" short:"k" jsonschema:"the fact"`
	Questions string `json:"questions,omitempty" arg:"3" jsonschema:"up to three short questions that the fact answers, in other words than its value, separated by ;"`
	Limit     int    `json:"limit,omitempty" jsonschema:"most facts to list (default 20)"`
}

// QuestionsResult is the outcome of an [FactQuestions]: the fact with its questions, or the facts
// that have none.
type QuestionsResult struct {
	Category  string   `json:"category,omitempty"`
	Key       string   `json:"key,omitempty"`
	Questions []string `json:"questions,omitempty"`
	Redacted  []string `json:"redacted,omitempty"`
	Left      bool     `json:"left,omitempty"` // it kept its questions: somebody of more authority asserted it, and there is no room for more

	Without []Found `json:"without,omitempty"`
	Total   int     `json:"total"` // facts without questions
	limit   int
}

// Questions lists the facts that have no questions, the most salient first, or
// gives a fact its questions. That is no confirmation of the fact.
func Questions(ctx context.Context, s *Store, a FactQuestions) (r QuestionsResult, err error) {
	if a.Key != "" || a.Questions != "" {
		return giveQuestions(ctx, s, a)
	}
	if r.limit, err = refusal.Limit(a.Limit, 20); err != nil {
		return r, err
	}
	s.use.Refresh()
	return r, s.View(ctx, func(st *state.State, now time.Time) error {
		vs := WithoutQuestions(st, now)
		if a.Category != "" {
			vs = slices.DeleteFunc(vs, func(v *fact.Version) bool { return formats.FoldName(v.Category) != formats.FoldName(a.Category) })
		}
		weight := make(map[*fact.Version]float64, len(vs))
		for _, v := range vs {
			weight[v] = fact.Salience(v, now, s.use.Of(v))
		}
		slices.SortFunc(vs, func(a, b *fact.Version) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), fact.ByName(a, b)) })
		r.Total, r.Without = len(vs), nil
		for _, v := range vs[:min(r.limit, len(vs))] {
			r.Without = append(r.Without, FoundAt(v, now))
		}
		return nil
	})
}

// WithoutQuestions are the active facts that have no questions, in no order.
func WithoutQuestions(st *state.State, now time.Time) (out []*fact.Version) {
	for _, vs := range st.All() {
		if v := fact.Current(vs, now); v != nil && v.ArchivedAt == nil && len(v.Questions) == 0 {
			out = append(out, v)
		}
	}
	return out
}

func giveQuestions(ctx context.Context, s *Store, a FactQuestions) (r QuestionsResult, err error) {
	if err := refusal.Required("category", a.Category, "key", a.Key, "questions", a.Questions); err != nil {
		return r, err
	}
	in := input{secrets: s.secrets}
	r.Questions = in.questions(a.Questions)
	r.Redacted = in.redacted
	switch {
	case in.err != nil:
		return r, in.err
	case r.Questions == nil:
		return r, refusal.Argument("questions", "questions is empty")
	}
	by, given := s.Source("", 1), r.Questions
	err = s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		var events []state.Event
		found := false
		r.Questions, r.Left = given, false
		for _, v := range fact.AllCurrent(st.Versions(fact.IDOf(a.Category, a.Key)), s.present(now)) {
			found, r.Category, r.Key = true, v.Category, v.Key
			list := given
			if !MayReplace(st, by, v) {
				if list = moreQuestions(v, given); list == nil {
					r.Questions, r.Left = v.Questions, true
					continue
				}
			}
			r.Questions = list
			events = append(events, state.Event{Questions: &state.NewQuestions{Category: v.Category, Key: v.Key, ID: v.ID, Questions: list, At: now}})
		}
		if !found {
			return nil, NotFound(a.Category, a.Key)
		}
		return events, nil
	})
	return r, err
}

// Text gives the answer's lines.
func (r QuestionsResult) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r QuestionsResult) TextIn(call prose.Syntax) string {
	if r.Questions != nil {
		text := fmt.Sprintf("Questions of [%s] %s: %s", prose.Name(r.Category), prose.Name(r.Key), prose.Line(strings.Join(r.Questions, "; "))) + prose.Redacted(r.Redacted)
		if r.Left {
			text += "\n  " + leftAsItWas("questions")
		}
		return text
	}
	if r.Total == 0 {
		return "Every fact has questions."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Facts without questions (showing %d/%d):", len(r.Without), r.Total)
	for _, f := range r.Without {
		fmt.Fprintf(&b, "\n  [%s/%s]: %s", prose.Name(f.Category), prose.Name(f.Key), f.Brief(f.Value))
	}
	b.WriteString(prose.More(call, r.Total-len(r.Without), r.limit))
	return b.String()
}
