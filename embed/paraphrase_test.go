package embed

import (
	"slices"
	"testing"
)

func TestParaphrasesShareNoWord(t *testing.T) {
	s := paraphrases(t)
	if len(s.docs) != 60 || len(s.questions) != 120 {
		t.Fatalf("%d facts and %d questions, want 60 and 120", len(s.docs), len(s.questions))
	}
	for _, q := range s.questions {
		for fact := range s.answers[q.ID] {
			for _, w := range stems(q.Text) {
				if slices.Contains(stems(fact), w) {
					t.Errorf("%q has %q of %q", q.Text, w, fact)
				}
			}
		}
	}
}

// What a question finds that has no word of the fact.
func TestStaticFindsParaphrases(t *testing.T) {
	e := Static()
	s := paraphrases(t)
	words, meaning := s.byWords(), s.byMeaning(t, e)
	t.Logf("nDCG@10 on 120 paraphrases: words %.3f, %s %.3f", words, e.Name(), meaning)
	if meaning < 5*words {
		t.Errorf("nDCG@10 %.3f is below five times that of words, %.3f", meaning, words)
	}
	if meaning < 0.64 {
		t.Errorf("nDCG@10 %.3f, want 0.64 at least", meaning)
	}
}
