package briefing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"leanctx/internal/language"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
)

// Line is a fact that is told beside a prompt or before a tool, where nobody asked for it.
type Line struct {
	Version *fact.Version
	Why     string  // in a few words
	Score   float64 // the evidence
	Mind    bool    // the prompt says that something is different from now on, and this may be it
}

const (
	// minEvidence is the evidence from which on a fact is told.
	minEvidence = 7
	// userEvidence is what a user's fact or a gotcha needs less than an agent's.
	userEvidence = 3.5

	// settledEvidence is what one of these needs less that commands or says what stays as it is, but for rules, which the
	// start tells: what only tells how something is was more often said in passing.
	settledEvidence = .75

	// agentsLead is how much nearer than what a user has stated an agent's answer to a prompt is that asks nothing. In two
	// sets of prompts the needed ones lead by 2.4 and more, the others by 1.5 at most.
	agentsLead = 2

	// mindEvidence is the evidence from which on a fact is told to somebody who changes their mind, also when it was told
	// before: a value that is kept under another name contradicts this one for ever. maxMinds is how many.
	mindEvidence = 6
	maxMinds     = 3

	maxBeside       = 6   // facts beside a prompt
	maxBesideTokens = 250 // and their tokens
)

// Beside chooses what to tell beside a prompt: the facts that the whole or one of its clauses is about, the likeliest first, and
// recall's first answer to it where that is a firm one: to a prompt that asks nothing an agent's is told only where
// nothing that a user has stated is about as near. Last come a user's rules for what the prompt is about to do. told reports
// whether the reader knows a version already, part whether they know the beginning of its value.
func Beside(ctx context.Context, s *knowledge.Store, prompt string, told, part func(id string) bool) ([]Line, error) {
	grounds, err := knowledge.Grounds(ctx, s, prompt)
	if err != nil {
		return nil, err
	}
	nearest := 0.0 // of what a user has stated
	for _, g := range grounds {
		if fact.ByUser(g.Version) && !fact.Unconfirmed(g.Version) {
			nearest = max(nearest, g.Of())
		}
	}
	changes := language.ChangesMind(prompt)
	var list []Line
	for _, g := range grounds {
		score := g.Of()
		if weighsMore(g.Version) {
			score += userEvidence
			if language.Settles(g.Version.Value) && !fact.Standing(g.Version) {
				score += settledEvidence
			}
		}
		if changes && !fact.Unconfirmed(g.Version) && (score >= mindEvidence && len(g.Found) > 0 || g.Answer > 0) {
			list = append(list, Line{g.Version, "words " + strings.Join(g.Found, ", ") + fmt.Sprintf(" of a change of mind (%.1f)", score), score, true})
			continue
		}
		if told != nil && told(g.Version.ID) {
			continue
		}
		if g.Answer > 0 && (g.Asked || weighsMore(g.Version) || g.Of() >= nearest+agentsLead) {
			list = append(list, Line{g.Version, fmt.Sprintf("answers the prompt (%.0f%%)", 100*g.Answer), max(score, minEvidence), false})
			continue
		}
		if score < minEvidence {
			continue
		}
		list = append(list, Line{g.Version, "words " + strings.Join(g.Found, ", ") + fmt.Sprintf(" (%.1f)", score), score, false})
	}
	list = append(list, rules(grounds, list, func(id string) bool { return told != nil && told(id) || part != nil && part(id) })...)
	list = few(list, maxBeside, maxBesideTokens)
	minds := 0
	return slices.DeleteFunc(list, func(x Line) bool {
		if x.Mind {
			minds++
		}
		return x.Mind && minds > maxMinds
	}), nil
}

// The most rules for what somebody is about to do: for all purposes, and for one.
const (
	maxRules = 4
	maxRule  = 1
)

// rules are what a user demands of what somebody is about to do, the best fitting first. Only the start can tell a rule to
// everybody. So these are for those that it had no place for.
func rules(grounds []knowledge.Ground, list []Line, known func(id string) bool) (out []Line) {
	grounds = slices.DeleteFunc(slices.Clone(grounds), func(g knowledge.Ground) bool {
		return g.Fit == 0 || known(g.Version.ID) || slices.ContainsFunc(list, func(x Line) bool { return x.Version.ID == g.Version.ID })
	})
	slices.SortFunc(grounds, func(a, b knowledge.Ground) int {
		return cmp.Or(cmp.Compare(b.Fit, a.Fit), cmp.Compare(b.Of(), a.Of()), cmp.Compare(a.Version.ID, b.Version.ID))
	})
	told := map[language.Purpose]int{}
	for _, g := range grounds {
		most := maxRule
		if g.Purpose == language.Schedule { // the release and the freeze before it
			most++
		}
		if told[g.Purpose]++; told[g.Purpose] > most || len(out) == maxRules {
			continue
		}
		out = append(out, Line{Version: g.Version, Why: fmt.Sprintf("a rule for %s (%.1f)", g.Purpose, g.Fit), Score: g.Fit})
	}
	return out
}

// weighsMore reports whether a fact is a user's or a gotcha, and confirmed here.
func weighsMore(v *fact.Version) bool {
	return !fact.Unconfirmed(v) && (fact.ByUser(v) || fact.IsGotcha(v))
}

// few are the best lines, most of them at most and in so many tokens. What is not confirmed comes after what is, and is a
// quarter at most.
func few(list []Line, most, tokens int) (out []Line) {
	slices.SortFunc(list, func(a, b Line) int {
		return cmp.Or(fact.UnconfirmedLast(a.Version, b.Version), cmp.Compare(b.Score, a.Score), cmp.Compare(a.Version.Category, b.Version.Category), cmp.Compare(a.Version.Key, b.Version.Key), cmp.Compare(a.Version.ID, b.Version.ID))
	})
	foreign := max(1, most/foreignShare)
	left := tokens * bytesPerToken
	for _, x := range list {
		cost := weigh(x.Text()) + len("\n")
		if len(out) == most || cost > left {
			break
		}
		if fact.Unconfirmed(x.Version) {
			if foreign == 0 {
				break
			}
			foreign--
		}
		left -= cost
		out = append(out, x)
	}
	return out
}

// Text is the line as it is shown, with where it came from.
func (x *Line) Text() string {
	v := x.Version
	text := "[" + knowledge.Slashed(knowledge.Name{Category: v.Category, Key: v.Key}) + "] " + prose.ShortLine(fact.Text(v)) + knowledge.MarkOf(v)
	if x.Mind {
		text += ". If this changed: remember with this key."
	}
	return text
}
