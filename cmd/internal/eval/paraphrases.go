package eval

import (
	"context"
	"strings"
)

// paraphraseFile is in this project: a fact a line, and below it questions that
// share no word with it, each after "? ". A line that begins with # is a note.
const paraphraseFile = "paraphrases.txt"

// paraphrases is what words cannot find. The facts are given no key.
func paraphrases() set {
	read := func(b *bench) (*corpus, error) {
		lines, err := plain(b.data, paraphraseFile)
		if err != nil {
			return nil, err
		}
		c := &corpus{judged: map[string]grades{}}
		for _, line := range lines {
			line = strings.TrimSpace(line)
			if question, ok := strings.CutPrefix(line, "? "); ok && len(c.docs) > 0 {
				c.asked = append(c.asked, textQuery{ID: question, Text: question})
				c.judged[question] = grades{c.docs[len(c.docs)-1].ID: 1}
			} else if line != "" && !strings.HasPrefix(line, "#") {
				c.docs = append(c.docs, document{ID: line, Text: line})
			}
		}
		return c, nil
	}
	return set{"paraphrases", []string{paraphraseFile}, func(ctx context.Context, b *bench) ([]Row, error) {
		return b.onCorpus(ctx, read, paraphraseFile)
	}}
}
