package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/history"
	"leanctx/knowledge/transfer"
)

// stored are the questions of the current value of architecture/auth.
func (s *story) stored(t *testing.T) string {
	t.Helper()
	r := s.recall(t, Question{Category: "architecture", Key: "auth"})
	if len(r.Facts) != 1 {
		t.Fatalf("%s", r.Text())
	}
	return strings.Join(r.Facts[0].Questions, "|")
}

// Questions stay when a value is confirmed or refined, new ones take their place,
// and another value has none. A process that opens the store later agrees.
func TestQuestionsFollowTheValue(t *testing.T) {
	s := testStore(t, nil)
	for _, step := range []struct {
		value, questions, want string
		outcome                Outcome
	}{
		{"JWT RS256", " how do users sign in;  which token\nalgorithm ;;how do users sign in", "how do users sign in|which token algorithm", Created},
		{"JWT RS256", "", "how do users sign in|which token algorithm", Confirmed},
		{"JWT RS256 with a 15 minute lifetime", "", "how do users sign in|which token algorithm", Refined},
		{"JWT RS256 with a 15 minute lifetime", "как войти", "как войти", Confirmed},
		{"OAuth2 + PKCE", "", "", Superseded},
		{"OAuth2 + PKCE via Keycloak", "who issues tokens", "who issues tokens", Refined},
	} {
		s.days(1)
		r := s.remember(t, Assertion{Category: "architecture", Key: "auth", Value: step.value, Questions: step.questions})
		if got := s.stored(t); got != step.want || r.Outcome != step.outcome {
			t.Errorf("%s: %s with questions %q, want %s with %q", step.value, r.Outcome, got, step.outcome, step.want)
		}
	}
	why := func() string {
		return must[history.Provenance](t)(history.Why(t.Context(), s.Store, history.Subject{Category: "architecture", Key: "auth"})).Text()
	}
	if got := why(); !strings.Contains(got, "\n    questions: who issues tokens") || !strings.Contains(got, "\n    questions: как войти") {
		t.Errorf("%s", got)
	}
	if r := s.recall(t, Question{Query: "tokens issues who"}); strings.Contains(r.Text(), "issues tokens") || len(r.Facts) != 1 {
		t.Errorf("%s", r.Text())
	}
	before := why()
	s.open(t, nil)
	if diff := cmp.Diff(before, why()); diff != "" {
		t.Errorf("opened again:\n%s", diff)
	}
}

// What agents can add afterwards: the facts without questions, the most salient
// first, and their questions, which is no confirmation.
func TestQuestionsAreAdded(t *testing.T) {
	s := testStore(t, nil)
	for i := range 25 {
		s.remember(t, Assertion{Category: "fact", Key: fmt.Sprint("k", i), Value: fmt.Sprint("value number ", i)})
	}
	s.remember(t, Assertion{Category: "architecture", Key: "auth", Value: "JWT RS256", Pinned: new(true)})
	must[Learned](t)(Gotcha(t.Context(), s.Store, Mistake{Trigger: "editing a proto file", Resolution: "run make generate"}))
	must[Learned](t)(Pattern(t.Context(), s.Store, Lesson{Type: "naming", Value: "exported names have comments", Questions: "how to document an API"}))
	r := must[QuestionsResult](t)(Questions(t.Context(), s.Store, FactQuestions{}))
	if r.Total != 27 || len(r.Without) != 20 || !strings.HasPrefix(r.Text(), "Facts without questions (showing 20/27):\n  [") || !strings.HasSuffix(r.Text(), "\n  … 7 more (limit=20)") {
		t.Errorf("%s", r.Text())
	}
	if !slices.ContainsFunc(r.Without, func(f Found) bool { return f.Key == "auth" }) {
		t.Errorf("a pinned fact is not among the first:\n%s", r.Text())
	}
	give := func(category, key string) QuestionsResult {
		return must[QuestionsResult](t)(Questions(t.Context(), s.Store, FactQuestions{Category: category, Key: key, Questions: "how do users sign in; password AKIAIOSFODNN7ABCDEFG"}))
	}
	if r := give("architecture", "auth"); !strings.HasPrefix(r.Text(), "Questions of [architecture] auth: how do users sign in; ") || strings.Contains(r.Text(), "AKIA") {
		t.Errorf("%s", r.Text())
	}
	give("gotcha", "editing-a-proto-file")
	if f := s.recall(t, Question{Category: "architecture", Key: "auth"}).Facts[0]; f.Confirmations != 1 {
		t.Errorf("giving questions confirmed the fact: %d", f.Confirmations)
	}
	for _, again := range []bool{false, true} {
		if again {
			s.open(t, nil)
		}
		if r := s.recall(t, Question{Query: "how do users sign in"}); len(r.Facts) != 2 {
			t.Errorf("found by words that only the questions have: %s", r.Text())
		}
		h := must[advice.Report](t)(advice.Health(t.Context(), s.Store, Examining{}))
		if h.WithoutQuestions != 25 || !strings.Contains(h.Text(), "\nWithout questions: 25 (action=questions lists them)") {
			t.Errorf("%d\n%s", h.WithoutQuestions, h.Text())
		}
	}
	if r := must[QuestionsResult](t)(Questions(t.Context(), s.Store, FactQuestions{Category: "architecture"})); r.Text() != "Every fact has questions." {
		t.Errorf("%s", r.Text())
	}
	holds(t, s.dir, "AKIAIOSFODNN7ABCDEFG", false)
}

func TestQuestionsRefused(t *testing.T) {
	s := testStore(t, nil)
	for name, questions := range map[string]string{
		"301 letters": strings.Repeat("я", 301), "64 KiB": strings.Repeat("who? ", 13_000), "control characters": "who\x00 knows\x1b[2J",
		"no UTF-8": "who \xff knows", "many": strings.Repeat("a", 100) + ";" + strings.Repeat("b", 100) + ";" + strings.Repeat("c", 99) + ";",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Remember(t.Context(), Assertion{Category: "c", Key: "k", Value: "v", Questions: questions})
			s.refused(t, "questions", err)
			_, err = Gotcha(t.Context(), s.Store, Mistake{Trigger: "a", Resolution: "b", Questions: questions})
			s.refused(t, "questions", err)
			_, err = Pattern(t.Context(), s.Store, Lesson{Type: "a", Value: "b", Questions: questions})
			s.refused(t, "questions", err)
			_, err = Questions(t.Context(), s.Store, FactQuestions{Category: "c", Key: "k", Questions: questions})
			s.refused(t, "questions", err)
		})
	}
	_, err := Questions(t.Context(), s.Store, FactQuestions{Category: "c", Key: "k", Questions: " ; ;"})
	s.refused(t, "questions", err)
	_, err = Questions(t.Context(), s.Store, FactQuestions{Category: "c", Questions: "who"})
	s.refused(t, "key", err)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "v", Questions: strings.Repeat("я", 300)})
	if _, err := Questions(t.Context(), s.Store, FactQuestions{Category: "c", Key: "nosuch", Questions: "who"}); err == nil {
		t.Error("a fact that there is not was given questions")
	}
}

// A thousand facts with the same questions are told apart by their values.
func TestSameQuestionsOnAThousandFacts(t *testing.T) {
	s := testStore(t, nil)
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, `{"category":"port","key":"service-%d","value":"Service %d listens on port %d.","questions":"what is this; 这是什么; что это"}`+"\n", i, i, 8000+i)
	}
	if r := must[transfer.Imported](t)(transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(lines.String())})); r.Added != 1000 {
		t.Fatalf("%s", r.Text())
	}
	if r := s.recall(t, Question{Query: "port 8123"}); len(r.Facts) == 0 || r.Facts[0].Key != "service-123" || r.Facts[0].Maybe {
		t.Errorf("%s", r.Text())
	}
	exported := must[transfer.Exported](t)(transfer.Export(t.Context(), s.Store, transfer.Outgoing{Format: "jsonl"}))
	if n := strings.Count(exported.Data, `"questions":"what is this; 这是什么; что это"`); n != 1000 {
		t.Errorf("%d records of the export have the questions", n)
	}
}
