package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leanctx/embed"
	"leanctx/knowledge"
)

// command is a store as a command opens it.
func command(t testing.TB, dir string, m *embed.Models) *knowledge.Store {
	t.Helper()
	m.LongLived = false
	s, err := knowledge.Open(dir, &knowledge.Options{Encoders: m})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func status(t testing.TB, s *knowledge.Store) knowledge.VectorStatus {
	t.Helper()
	st, err := knowledge.EmbeddingsStatus(t.Context(), s, knowledge.NoArgs{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// The backlog is what has no vector, whatever became of the index; and as it is,
// answers are.
func TestBacklogIsCounted(t *testing.T) {
	dir, m := t.TempDir(), noModel(t)
	done := tinyModel(t, m.Dir, "onnx/model.onnx")
	services(t, command(t, dir, m), 100)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := knowledge.EmbeddingsReindex(ctx, command(t, dir, m), knowledge.Reindexing{Wait: true, Progress: func(done, _ int) {
		if done == 30 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	vectors, err := os.ReadFile(filepath.Join(dir, "embeddings.bin"))
	if err != nil {
		t.Fatal(err)
	}
	semantic := func() string {
		return recall(t, command(t, dir, m), knowledge.Question{Query: "the vehicle has wheels", Mode: "semantic"}).Text()
	}
	gone := map[string]func() error{
		"as it is": func() error { return nil },
		"no index": func() error { return os.RemoveAll(filepath.Join(dir, "index")) },
	}
	for what, do := range gone {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			semantic()
			if st := status(t, command(t, dir, m)); st.Backlog != 70 || st.Encoder == done.Name || !strings.Contains(st.Text(), "; built in until its backlog is empty") {
				t.Errorf("stopped, %s: %s", what, st.Text())
			}
		}
	}
	if r, err := knowledge.EmbeddingsReindex(t.Context(), command(t, dir, m), knowledge.Reindexing{Wait: true}); err != nil || r.Made != 70 {
		t.Fatalf("%+v, %v", r, err)
	}
	want := semantic()
	for what, do := range gone {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := semantic(); got != want {
				t.Errorf("%s: got %s, want %s", what, got, want)
			}
			if st := status(t, command(t, dir, m)); st.Backlog != 0 || st.Encoder != done.Name || strings.Contains(st.Text(), "until") {
				t.Errorf("%s: %s", what, st.Text())
			}
		}
		if r, err := knowledge.EmbeddingsReindex(t.Context(), command(t, dir, m), knowledge.Reindexing{}); err != nil || r.Backlog != 0 {
			t.Errorf("%s: %s, %v", what, r.Text(), err)
		}
		if got := semantic(); got != want {
			t.Errorf("reindexed, %s: got %s, want %s", what, got, want)
		}
	}
	assert(t, command(t, dir, m), "fact", "new", "The doctor is sick.")
	if st := status(t, command(t, dir, m)); st.Backlog != 1 {
		t.Errorf("one more: %s", st.Text())
	}
	if semantic(); status(t, command(t, dir, m)).Backlog != 1 {
		t.Error("one more, asked")
	}
	if err := os.WriteFile(filepath.Join(dir, "embeddings.bin"), vectors, 0o600); err != nil {
		t.Fatal(err)
	}
	if st := status(t, command(t, dir, m)); st.Backlog != 71 {
		t.Errorf("as it was: %s", st.Text())
	}
}
