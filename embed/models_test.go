package embed

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"leanctx/embed/vectors"
)

// A model that nobody uses for five minutes is freed, and not before.
func TestModelIsFreedWhenIdle(t *testing.T) {
	done := installTiny(t, "onnx/model.onnx")
	model, err := OpenModel(done.Dir)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		m := &Models{Dir: filepath.Dir(done.Dir), Logger: slog.New(slog.DiscardHandler), model: model}
		use := func(d time.Duration) {
			if err := m.With(done.Name, func(vectors.Encoder) error { time.Sleep(d); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		loaded := func() bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.model != nil
		}
		for _, d := range []time.Duration{0, modelIdle + time.Second, time.Second} {
			use(d) // a text that takes long keeps it
			time.Sleep(modelIdle - time.Second)
			synctest.Wait()
			if !loaded() {
				t.Fatalf("freed while it was in use, or too soon after %s", d)
			}
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if loaded() {
			t.Error("not freed")
		}
	})
	if _, err := model.Encode(t.Context(), []string{"bread"}); !errors.Is(err, ErrClosed) {
		t.Errorf("not closed: %v", err)
	}
}
