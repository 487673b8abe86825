package knowledge

import (
	"context"
	"strings"

	"leanctx/internal/language"
	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/recall"
)

// Ground is a fact, and what speaks for telling it beside a text that did not ask for it.
type Ground struct {
	Version *fact.Version
	recall.Evidence
	Answer float64 // the probability that it answers the text, if this is its first firm answer
	Asked  bool    // the text is a question
}

// leastGround is the evidence that recall's answer to a prompt that asks nothing needs: "go" and "add a
// test" are about no fact.
const leastGround = 2.5

// maxSpoken is how many bytes of a prompt are read as one piece.
const maxSpoken = 4 << 10

// Grounds are the facts that a prompt may need, in no certain order, each with its evidence. What is pasted into it counts
// only where there is nothing else. Nothing counts as read.
func Grounds(ctx context.Context, s *Store, prompt string) ([]Ground, error) {
	spoken := prose.Clip(language.Spoken(prompt), maxSpoken)
	if strings.TrimSpace(spoken) == "" {
		return nil, nil
	}
	return grounds(ctx, s, append([]string{spoken}, language.Clauses(prompt)...))
}

// GroundsOf are the facts that a text as a whole may be about, such as a path or a command.
func GroundsOf(ctx context.Context, s *Store, text string) ([]Ground, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	return grounds(ctx, s, []string{prose.Clip(text, maxSpoken)})
}

// grounds are the facts that one of some texts may need. The first text is the whole.
func grounds(ctx context.Context, s *Store, texts []string) (list []Ground, err error) {
	q := Question{Query: texts[0], Prompt: true}
	if err := q.check(); err != nil {
		return nil, err
	}
	l := lookup{store: s, question: q, parsed: recall.Parse(q.Query, &recall.Options{NoDates: true})}
	l.parsed.Texts = texts
	l.pieces = recall.NewPieces(texts)
	err = l.find(ctx, func(_ query, c *candidates) {
		list = make([]Ground, len(c.versions))
		if l.meaning != nil {
			l.pieces.Vectors(l.meaning.each)
		}
		for i, v := range c.versions {
			list[i] = Ground{Version: v, Evidence: l.pieces.Evidence(&c.ranked[i])}
		}
		answers := c.rank(l.parsed, l.meaning.compared())
		if len(answers) > 0 && !answers[0].Maybe && (l.parsed.Asks() || list[answers[0].Index].Of() >= leastGround) {
			list[answers[0].Index].Answer, list[answers[0].Index].Asked = answers[0].Score, l.parsed.Asks()
		}
	})
	return list, err
}
