package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/embed"
	"leanctx/embed/vectors"
	"leanctx/knowledge"
)

// tinyModel installs a BERT of 32 values in the folder of models. It was not
// trained, so its self-test is left out.
func tinyModel(t testing.TB, modelsDir, file string) embed.Installed {
	t.Helper()
	tiny, dir := filepath.Join("..", "..", "..", "embed", "testdata", "tiny-bert"), t.TempDir()
	for from, to := range map[string]string{"config.json": "config.json", "tokenizer.json": "tokenizer.json", file: "model.onnx"} {
		data, err := os.ReadFile(filepath.Join(tiny, from))
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, to), data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	done, err := embed.Install(t.Context(), modelsDir, dir, &embed.InstallOptions{
		Child: func(context.Context, string) (embed.Report, error) { return embed.Report{Dim: 32}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// modelStore is a server's store with the models of a folder.
func modelStore(t testing.TB, dir string, m *embed.Models) *knowledge.Store {
	t.Helper()
	m.LongLived = true
	s, err := knowledge.Open(dir, &knowledge.Options{Encoders: m, LongLived: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func services(t testing.TB, s *knowledge.Store, n int) {
	t.Helper()
	for i := range n {
		assert(t, s, "fact", fmt.Sprint("k", i), fmt.Sprintf("Service %d listens on port %d.", i, 8000+i))
	}
}

// Reindexing with a model reports its progress, can be stopped, and resumes, here with two
// servers at once. It takes what matters most first.
func TestReindexWithModel(t *testing.T) {
	dir, m := t.TempDir(), noModel(t)
	done := tinyModel(t, m.Dir, "onnx/model.onnx")
	s, err := knowledge.Open(dir, &knowledge.Options{Encoders: m}) // a server would encode in the background
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	services(t, s, 40)
	sure := 1.0
	if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "decision", Key: "sure", Value: "Bread is what we bake.", Confidence: &sure}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := knowledge.EmbeddingsReindex(ctx, s, knowledge.Reindexing{Wait: true, Progress: func(done, missing int) {
		if missing != 41 {
			t.Errorf("%d of %d", done, missing)
		}
		if done == 1 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || r.Embedded != 0 {
		t.Fatalf("stopped: %+v, %v", r, err)
	}
	text := vectors.Text{}
	if err := peek(s, done.Name, &text); err != nil || !strings.Contains(text.Text, "Bread") {
		t.Errorf("the first one is %q, %v", text.Text, err)
	}
	st, err := knowledge.EmbeddingsStatus(t.Context(), s, knowledge.NoArgs{})
	want := fmt.Sprintf("encoder: static-minilm-256@2140a373 (%s is installed; built in until its backlog is empty); vectors: %s 1; backlog: ", done.Name, done.Name)
	if err != nil || !strings.HasPrefix(st.Text(), "Knowledge embeddings: model=present, ") || !strings.Contains(st.Text(), want) || st.Backlog == 0 {
		t.Errorf("stopped: %s, %v", st.Text(), err)
	}
	servers := []*knowledge.Store{modelStore(t, dir, m), modelStore(t, dir, m)}
	var wg sync.WaitGroup
	for _, s := range servers {
		wg.Go(func() {
			if r, err := knowledge.EmbeddingsReindex(context.WithoutCancel(t.Context()), s, knowledge.Reindexing{Wait: true}); err != nil || r.Embedded != 41 || r.Encoder != done.Name {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	wg.Wait()
	for _, s := range servers {
		st, err := knowledge.EmbeddingsStatus(t.Context(), s, knowledge.NoArgs{})
		if err != nil || st.Encoder != done.Name || st.IndexEntries != 41 || st.Backlog != 0 {
			t.Errorf("%+v, %v", st, err)
		}
	}
}

// peek finds the one text that has a vector of an encoder.
func peek(s *knowledge.Store, encoder string, found *vectors.Text) error {
	r, err := s.Recall(context.Background(), knowledge.Question{Category: "decision"})
	if err != nil {
		return err
	}
	for _, f := range r.Facts {
		t := vectors.Text{ID: f.ID, Text: f.Key + ": " + f.Value}
		if s.Vectors().Vectors(encoder, []vectors.Text{t})[0] != nil {
			*found = t
		}
	}
	return nil
}

// What happens to the files of a model under a running server is a status, and
// a question is answered all the same.
func TestModelUnderARunningServer(t *testing.T) {
	for what, change := range map[string]struct {
		do    func(dir string) error
		model string
	}{
		"deleted":   {func(dir string) error { return os.RemoveAll(filepath.Dir(dir)) }, "built-in"},
		"gone":      {os.RemoveAll, "broken"},
		"truncated": {func(dir string) error { return os.Truncate(filepath.Join(dir, "model.onnx"), 100) }, "broken"},
		"empty":     {func(dir string) error { return os.Truncate(filepath.Join(dir, "model.onnx"), 0) }, "broken"},
		"a pointer": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "model.onnx"), []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"), 0o600)
		}, "broken"},
		"as long, of other bytes": {func(dir string) error {
			name := filepath.Join(dir, "model.onnx")
			data, err := os.ReadFile(name)
			return errors.Join(err, os.WriteFile(name, bytes.Repeat([]byte{'x'}, len(data)), 0o600))
		}, "present"}, // until it is loaded
		"another one": {func(dir string) error {
			tinyModel(t, filepath.Dir(dir), "onnx/model_quantized.onnx")
			return nil
		}, "present"},
	} {
		for _, loaded := range []bool{false, true} {
			dir, m := t.TempDir(), noModel(t)
			done := tinyModel(t, m.Dir, "onnx/model.onnx")
			s := modelStore(t, dir, m)
			services(t, s, 3)
			if loaded {
				if _, err := knowledge.EmbeddingsReindex(t.Context(), s, knowledge.Reindexing{Wait: true}); err != nil {
					t.Fatal(err)
				}
			}
			if err := change.do(done.Dir); err != nil {
				t.Fatal(err)
			}
			st, err := knowledge.EmbeddingsStatus(t.Context(), s, knowledge.NoArgs{})
			if err != nil || st.Model != change.model {
				t.Errorf("%s, loaded %v: %s, %v", what, loaded, st.Text(), err)
			}
			for range 2 {
				r := recall(t, s, knowledge.Question{Query: "service port 8001", Mode: "hybrid"})
				if len(r.Facts) == 0 || !strings.Contains(r.Facts[0].Value, "8001") {
					t.Errorf("%s, loaded %v: %s", what, loaded, r.Text())
				}
			}
		}
	}
}

// A model that could not be loaded is tried again once it was installed again.
func TestModelInstalledAgain(t *testing.T) {
	dir, m := t.TempDir(), noModel(t)
	name := filepath.Join(tinyModel(t, m.Dir, "onnx/model.onnx").Dir, "model.onnx")
	s := modelStore(t, dir, m)
	services(t, s, 1)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, bytes.Repeat([]byte{'x'}, len(data)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"broken", "present"} {
		_, _ = knowledge.EmbeddingsReindex(t.Context(), s, knowledge.Reindexing{Wait: true}) // loads it
		if st, err := knowledge.EmbeddingsStatus(t.Context(), s, knowledge.NoArgs{}); err != nil || st.Model != want {
			t.Errorf("%s, %v; want %s", st.Text(), err, want)
		}
		tinyModel(t, m.Dir, "onnx/model.onnx")
	}
}

func TestBar(t *testing.T) {
	var out strings.Builder
	draw := bar(&out, 0)
	draw(10, 40)
	draw(40, 40)
	draw(40, 40) // it is gone already
	if want := "\r[#######                       ] 10 of 40\r\033[K"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	draw = bar(&out, time.Hour)
	draw(1, 2)
	draw(2, 2)
	if out.Len() > 0 {
		t.Errorf("what is over at once has a bar: %q", out.String())
	}
}
