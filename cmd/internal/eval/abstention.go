package eval

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"leanctx/knowledge"
)

// strangersAsked is how many questions about nothing in a store are put to it.
const strangersAsked = 200

// questionFiles hold questions in words. Those of one folder talk of the same
// things, those of two do not.
func questionFiles() []string {
	return []string{
		"locomo-dev/facts/queries.jsonl.gz",
		"cosqa-dev/queries.jsonl.gz",
		"factconsolidation/questions_32k.jsonl.gz",
		"factconsolidation/questions_6k.jsonl.gz",
	}
}

// strangers are questions about nothing in the store of a set, whose own
// questions are in a file: of each of the other folders' first file of
// questions in turn as many, evenly spread over it, and no question twice. None
// if there is no other folder.
func (b *bench) strangers(own string) ([]string, error) {
	folder := func(file string) string { first, _, _ := strings.Cut(file, "/"); return first }
	var lists [][]string
	seen := map[string]bool{folder(own): true}
	for _, file := range questionFiles() {
		if seen[folder(file)] {
			continue
		}
		list, err := records[worded](b.data, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		seen[folder(file)] = true
		lists = append(lists, texts(list))
	}
	var out []string
	for i, list := range lists {
		out = append(out, spread(list, (strangersAsked-len(out))/(len(lists)-i))...)
	}
	return out, nil
}

// worded is a question in words, however its set calls it.
type worded string

// UnmarshalJSON implements json.Unmarshaler.
func (w *worded) UnmarshalJSON(line []byte) error {
	var q struct {
		Text     string `json:"text"`
		Question string `json:"question"`
	}
	err := json.Unmarshal(line, &q)
	*w = worded(q.Text + q.Question)
	return err
}

// texts are the different questions of a list, in its order.
func texts(list []worded) []string {
	var out []string
	seen := map[worded]bool{"": true}
	for _, q := range list {
		if !seen[q] {
			seen[q] = true
			out = append(out, string(q))
		}
	}
	return out
}

// spread takes n of a list at even distances, all of a shorter one.
func spread[T any](list []T, n int) []T {
	if n >= len(list) {
		return slices.Clone(list)
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}

// askStrangers puts to each project in turn a question about nothing in it:
// whatever is answered is wrong.
func askStrangers(ctx context.Context, t *tally, projects []*project, strangers []string) error {
	if len(strangers) == 0 || len(projects) == 0 {
		return nil
	}
	answered := 0
	for i, q := range strangers {
		r, err := projects[i%len(projects)].store.Recall(ctx, knowledge.Question{Query: q, Limit: 1, Mode: t.row.Mode})
		if err != nil {
			return err
		}
		if len(r.Facts) > 0 {
			answered++
		}
	}
	t.row.Strangers = len(strangers)
	t.row.Answered = new(float64(answered) / float64(len(strangers)))
	return nil
}
