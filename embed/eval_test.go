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
	encoder, err := loadStatic()
	if err != nil {
		t.Fatal(err)
	}
	floors := map[string]float64{"locomo-dev/facts": 0.50, "locomo-dev/turns": 0.31, "cosqa-dev": 0.33}
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
	t.Logf("%s, nDCG@10:", encoder.Name())
	t.Logf("  %-18s words %.3f  meaning %.3f", "paraphrases", paraphrases(t).byWords(), paraphrases(t).byMeaning(t, encoder))
	for _, name := range []string{"locomo-dev/facts", "locomo-dev/turns", "cosqa-dev"} {
		s := readSet(t, filepath.Join(dir, name))
		meaning := s.byMeaning(t, encoder)
		t.Logf("  %-18s words %.3f  meaning %.3f", name, s.byWords(), meaning)
		if meaning < floors[name] {
			t.Errorf("%s: nDCG@10 %.3f, want %.3f at least", name, meaning, floors[name])
		}
	}
}
