package app

import (
	"context"
	"strings"

	"leanctx/cmd/internal/hook"
	"leanctx/knowledge"
)

// enough is the relevance from which on a fact is worth a prompt's room: a
// recall is asked for, this was not. Measured by words alone, with what
// [relates] asks for, on 184 facts of LoCoMo and 3,000 functions of CoSQA: of
// 100 questions about the facts 87 and 83 bring some, of 100 about the other
// set 3 and 0, of 30 such as "continue" or "fix the failing test" 0 and 11 (the
// functions are about tests and files). Without [relates] the last are 6 and
// 20. Meaning, by the built-in encoder and from 0.5 on, does about as well (88
// and 88, 0 and 0, 1 and 8); it was rejected because its vectors have to be
// made first.
const enough = 0.4

// relates tells whether a prompt has more in common with a fact than one word,
// which "go on" has as well: two words, or one of the fact's key.
func relates(f knowledge.Found) bool {
	words := map[string]bool{}
	for part := range f.Parts {
		field, word, _ := strings.Cut(part, ":")
		if field == "key" {
			return true
		}
		words[word] = true
	}
	return len(words) > 1
}

// Relevant lists facts, lessons and reminders for a prompt.
func (v projectView) Relevant(ctx context.Context, prompt string) ([]hook.Notice, error) {
	r, err := v.store.Recall(ctx, knowledge.Question{Query: prompt, Limit: 3, Mode: "lexical", Explain: true})
	if err != nil {
		return nil, err
	}
	var list []hook.Notice
	for _, f := range r.Facts {
		if f.Score >= enough && !f.Archived && relates(f) {
			list = append(list, hook.FactNotice(f.ID, f.Category, f.Key, f.Value))
		}
	}
	for _, x := range r.Reminders {
		list = append(list, hook.ReminderNotice(x.ID, x.Text, x.Keyword == ""))
	}
	return list, nil
}
