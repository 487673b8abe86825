package knowledge

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"leanctx/formats"
	"leanctx/internal/language"
	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
	"leanctx/knowledge/recall"
	"leanctx/knowledge/state"
	"leanctx/knowledge/words"
)

// Ground is a fact, and what speaks for telling it beside a text that did not ask for it.
type Ground struct {
	Version *fact.Version
	recall.Evidence
	Answer float64 // the probability that it answers the text, if this is its first firm answer
	Asked  bool    // the text is a question

	Purpose language.Purpose // what the text is about to do and the fact is a rule for; else empty
	Fit     float64          // how well the fact fits the purpose, from 0 on
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
	topics, _ := language.Topics(prompt)
	texts := append([]string{spoken}, language.Clauses(prompt)...)
	return grounds(ctx, s, append(texts, topics...), append(language.Purposes(prompt), language.Listed(prompt)...))
}

// GroundsOf are the facts that a text as a whole may be about, such as a path or a command, and the rules for its purposes.
func GroundsOf(ctx context.Context, s *Store, text string, purposes ...language.Purpose) ([]Ground, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	return grounds(ctx, s, []string{prose.Clip(text, maxSpoken)}, purposes)
}

// maxSharing is how many confirmed facts that share words with the name of a file are looked at, and how many others.
const maxSharing = 200

// InRoomSharing are the current values of a room that share words with a text, what is confirmed here first: of many those
// that share the most.
func InRoomSharing(ctx context.Context, s *Store, room, text string) (list []*fact.Version, err error) {
	query := index.Query{Boosts: index.DefaultBoosts, Category: formats.FoldName(room), Limit: maxSharing}
	seen := map[string]bool{}
	words.Scan(text, func(t words.Token) {
		if !seen[t.Term] {
			seen[t.Term] = true
			query.Terms = append(query.Terms, index.Term{Text: strings.Clone(t.Term)})
		}
	})
	err = s.log.Search(ctx, func(k state.Reader, x *state.Index) error {
		list = nil
		found := map[string]bool{}
		for _, query.Confirmed = range []bool{true, false} {
			hits, err := x.Search(ctx, query)
			if err != nil {
				return err
			}
			for _, h := range hits {
				if found[h.ID] {
					continue
				}
				found[h.ID] = true
				for _, v := range fact.AllCurrent(x.Versions(h.ID), s.at(k.At)) {
					if v.ArchivedAt == nil {
						list = append(list, v)
					}
				}
			}
		}
		return nil
	})
	return list, err
}

// grounds are the facts that one of some texts may need, and the rules for purposes. The first text is the whole.
func grounds(ctx context.Context, s *Store, texts []string, purposes []language.Purpose) (list []Ground, err error) {
	q := Question{Query: texts[0], Prompt: true}
	if err := q.check(); err != nil {
		return nil, err
	}
	l := lookup{store: s, question: q, parsed: recall.Parse(q.Query, &recall.Options{NoDates: true})}
	l.parsed.Texts = texts
	l.pieces = recall.NewPieces(texts)
	known := words.NewLexicon()
	for _, p := range purposes {
		for _, w := range p.Words() {
			known.Scan(w, func(t words.Token) {
				if t.Kind == words.Word || t.Kind == words.Whole {
					l.matters = append(l.matters, index.Term{Text: strings.Clone(t.Term)})
				}
			})
		}
	}
	err = l.find(ctx, func(_ query, c *candidates) {
		list = make([]Ground, len(c.versions))
		if l.meaning != nil {
			l.pieces.Vectors(l.meaning.each)
		}
		for i, v := range c.versions {
			list[i] = Ground{Version: v, Evidence: l.pieces.Evidence(&c.ranked[i])}
		}
		for _, v := range c.practice {
			purpose, fit := fitOf(v, purposes)
			if fit == 0 {
				continue
			}
			i := slices.IndexFunc(list, func(g Ground) bool { return g.Version.ID == v.ID })
			if i < 0 {
				list, i = append(list, Ground{Version: v}), len(list)
			}
			list[i].Purpose, list[i].Fit = purpose, fit
		}
		answers := c.rank(l.parsed, l.meaning.compared())
		if len(answers) > 0 && !answers[0].Maybe && (l.parsed.Asks() || list[answers[0].Index].Of() >= leastGround) {
			list[answers[0].Index].Answer, list[answers[0].Index].Asked = answers[0].Score, l.parsed.Asks()
		}
	})
	return list, err
}

// How well a fact fits a purpose: its name says it, its room says it, or its value does.
const (
	fitKey   = 1 // and as much again by the share of the key's words
	fitRoom  = 1
	fitValue = .5
	fitWords = 5 // its first words
)

// vague are the purposes whose words stand in facts about many things: a value tells none of them.
var vague = map[language.Purpose]bool{language.Test: true, language.Review: true, language.Ownership: true}

// fitOf tells for which of some purposes a fact is a rule, and how well it fits.
func fitOf(v *fact.Version, purposes []language.Purpose) (purpose language.Purpose, fit float64) {
	parts := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	}
	demands, standing := language.Demands(v.Value) || language.Settles(v.Value), language.Practice(v.Category, v.Value)
	key, room, value := parts(v.Key), parts(v.Category), parts(prose.Clip(v.Value, maxUnasked))
	value = value[:min(len(value), fitWords)]
	for _, p := range purposes {
		is := func(w string) bool { return slices.Contains(p.Words(), w) }
		demands := demands
		if p == language.Schedule {
			demands = language.Dated(v.Value)
		}
		x := 0.0
		switch n := len(key) - len(slices.DeleteFunc(slices.Clone(key), is)); {
		case n > 0 && demands && p != language.Schedule:
			x = fitKey + fitKey*float64(n)/float64(len(key))
		case p == language.Schedule && demands && slices.ContainsFunc(room, is):
			x = 2 * fitKey // in a room of releases the key is a release's name
		case slices.ContainsFunc(room, is) && (demands || p == language.Ownership):
			x = fitRoom
		case slices.ContainsFunc(value, is) && standing && demands && !vague[p]:
			x = fitValue
		}
		if x > fit {
			purpose, fit = p, x
		}
	}
	return purpose, fit
}
