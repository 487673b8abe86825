package embed

import (
	"os"
	"path/filepath"
	"testing"
)

// The evaluation sets are no part of the project; LEAN_CTX_EVAL_DIR names their
// folder. LEAN_CTX_EMBED_TABLE names another table to measure instead.
func TestEvaluation(t *testing.T) {
	dir := os.Getenv("LEAN_CTX_EVAL_DIR")
	if dir == "" {
		t.Skip("NOT MEASURED: LEAN_CTX_EVAL_DIR does not name the evaluation sets")
	}
	encoder := Static()
	floors := map[string]float64{"locomo-dev/facts": 0.49, "locomo-dev/turns": 0.32, "cosqa-dev": 0.35}
	if name := os.Getenv("LEAN_CTX_EMBED_TABLE"); name != "" {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if encoder, err = newStatic(vocabulary30k, string(data)); err != nil {
			t.Fatal(err)
		}
		floors = nil
	}
	t.Logf("%s, nDCG@10 of every third question:", encoder.Name())
	for _, name := range []string{"locomo-dev/facts", "locomo-dev/turns", "cosqa-dev"} {
		s := readSet(t, filepath.Join(dir, name))
		for i := range len(s.questions) / 3 {
			s.questions[i] = s.questions[3*i]
		}
		s.questions = s.questions[:len(s.questions)/3]
		meaning := s.byMeaning(t, encoder)
		t.Logf("  %-18s %.3f", name, meaning)
		if meaning < floors[name] {
			t.Errorf("%s: nDCG@10 %.3f, want %.3f at least", name, meaning, floors[name])
		}
	}
}
