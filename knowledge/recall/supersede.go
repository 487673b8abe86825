package recall

import (
	"math"
	"slices"
	"strings"
)

// supersede lets a newer fact that is about the same thing take the place of an older one, which comes right behind it.
// Where the question asks for what was, the older one stays first.
func (m *matcher) supersede(candidates []Candidate, all []features, answers []Answer) {
	m.rarity = zeros(m.rarity, len(m.df))
	for id, df := range m.df {
		m.rarity[id] = math.Log(float64(len(candidates)+priorCandidates) / max(df, 1))
	}
	for at := 0; at < min(maxSuperseded, len(answers)); at++ {
		by, newest, odds := answers[at].Index, -1, 0.0
		for range maxChain {
			b, z := m.newer(candidates, all, answers, by)
			if b < 0 {
				break
			}
			if newest < 0 {
				odds = z
			}
			by, newest = b, b
		}
		if newest < 0 {
			continue
		}
		b := slices.IndexFunc(answers, func(x Answer) bool { return x.Index == newest })
		if m.q.Past {
			if b < at {
				answers[at], answers[b] = answers[b], answers[at]
			}
			continue
		}
		answers[at].Outdated, answers[at].outdated = newest, odds
		if b > at {
			x := answers[b]
			copy(answers[at+1:b+1], answers[at:b])
			answers[at] = x
			at++ // the older one stands here now
		}
	}
}

// newer finds the candidate that has most likely taken the place of a, with its log odds; -1 if none has. Where several are as like it, older
// ones counted, they are of one form ("the capital of X is Y"), and none takes another's place.
func (m *matcher) newer(candidates []Candidate, all []features, answers []Answer, a int) (int, float64) {
	w := &m.by.pair
	mass := 0.0
	m.candidate++ // no candidate's number, so seen marks the words of a
	for _, id := range all[a].ids {
		m.seen[id] = m.candidate
		mass += m.rarity[id]
	}
	m.odds = m.odds[:0] // without the cosine, which costs most
	could := false
	for _, x := range answers {
		b := x.Index
		if b == a || candidates[a].Key == candidates[b].Key && candidates[a].Category == candidates[b].Category {
			m.odds = append(m.odds, math.Inf(-1)) // one of several values is true beside the others
			continue
		}
		var shared float64
		for _, id := range all[b].ids {
			if m.seen[id] == m.candidate {
				shared += m.rarity[id]
			}
		}
		z := w.constant + w.share*shared/max(mass, 1e-9)
		if candidates[a].Category == candidates[b].Category {
			z += w.category
		}
		m.odds = append(m.odds, z)
		could = could || candidates[a].mayGiveWay(&candidates[b], all[a].keyed) && z+(w.cosine+w.marker)*maxCosine >= minPair
	}
	if !could {
		return -1, 0
	}
	best, p, twins := -1, 0.0, 0
	for i, x := range answers {
		b, z := x.Index, m.odds[i]
		later := candidates[a].mayGiveWay(&candidates[b], all[a].keyed)
		most := z + w.cosine*maxCosine
		if later && candidates[b].marked() {
			most += w.marker
		}
		if most < minPair {
			continue // no cosine would be enough
		}
		z += w.cosine * candidates[a].near(&candidates[b])
		if z > minPair {
			twins++
		}
		if !later {
			continue
		}
		if candidates[b].marked() {
			z += w.marker
		}
		if z > p || best < 0 && z > minPair {
			best, p = b, z
		}
	}
	if twins > maxTwins {
		return -1, 0
	}
	return best, p
}

// maxCosine is above any cosine: vectors are of length 1 but for their rounding.
const maxCosine = 1.02

// mayGiveWay reports whether b began enough later to take the place of a. If the question names a, then
// only one that says that something is different now may.
func (c *Candidate) mayGiveWay(b *Candidate, keyed bool) bool {
	return b.Since.Sub(c.Since) >= minBetween && (!keyed || b.marked())
}

// near is the cosine of two facts, or of their stored questions.
func (c *Candidate) near(b *Candidate) float64 {
	return max(dot(c.Vector, b.Vector), dot(c.QuestionsVector, b.QuestionsVector))
}

// marked reports whether a candidate says that something is different now.
func (c *Candidate) marked() bool {
	if c.Reading != nil {
		return c.Reading.marked
	}
	return marked(c.Value)
}

// changes are the words with which somebody says that something is different now.
var changes = []string{"now", "no longer", "no more", "any more", "anymore", "from now on", "switched", "moved", "migrated", "replaced", "replaces", "instead of", "raised", "lowered", "gone", "is out", "dropped",
	"removed", "threw out", "left", "since", "deprecated", "renamed", "taken over", "retired", "deleted", "shut down", "decommissioned"}

// marked reports whether a text says that something is different now.
func marked(text string) bool {
	text = strings.ToLower(cut(text, maxEncoded))
	for _, w := range changes {
		for at := 0; ; {
			i := strings.Index(text[at:], w)
			if i < 0 {
				break
			}
			i += at
			at = i + len(w)
			if (i == 0 || !letterAt(text, i-1)) && (at == len(text) || !letterAt(text, at)) {
				return true
			}
		}
	}
	return false
}

func letterAt(s string, i int) bool { return s[i] >= 'a' && s[i] <= 'z' || s[i] >= 0x80 }
