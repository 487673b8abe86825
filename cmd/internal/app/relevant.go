package app

import (
	"context"

	"leanctx/cmd/internal/hook"
	"leanctx/knowledge"
)

// Relevant lists facts, lessons and reminders for a prompt. Nobody asked for them,
// so only what package recall takes for an answer is told.
func (v projectView) Relevant(ctx context.Context, prompt string) ([]hook.Notice, error) {
	r, err := v.store.Recall(ctx, knowledge.Question{Query: prompt, Limit: 3, Prompt: true})
	if err != nil {
		return nil, err
	}
	var list []hook.Notice
	for _, f := range r.Facts {
		mark := ""
		if f.SourceState != "" {
			mark = " [source " + f.SourceState + "]"
		}
		list = append(list, hook.FactNotice(f.ID, f.Category, f.Key, f.Value, mark))
	}
	for _, x := range r.Reminders {
		list = append(list, hook.ReminderNotice(x.ID, x.Text, x.Keyword == ""))
	}
	return list, nil
}
