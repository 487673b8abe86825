package knowledge_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"leanctx/embed"
	"leanctx/knowledge"
)

// A command that lacks more vectors than it can make has another process make them. With few facts
// or after that process was there it has not.
func TestMissingVectorsAreMadeByAnotherProcess(t *testing.T) {
	dir, started := t.TempDir(), 0
	o := &knowledge.Options{
		Encoders: &embed.Models{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)},
		Detach:   func() { started++ },
	}
	command := func(limit int, do func(s *knowledge.Store) error) {
		t.Helper()
		s, err := knowledge.Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		s.LimitVectors(limit)
		if err := do(s); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	ask := func(s *knowledge.Store) error {
		_, err := s.Recall(t.Context(), knowledge.Question{Query: "which port does the database listen on"})
		return err
	}
	command(5, func(s *knowledge.Store) error {
		for i := range 70 {
			if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "services", Key: fmt.Sprint("k", i), Value: fmt.Sprintf("Service %d listens on port %d.", i, 8000+i)}); err != nil {
				return err
			}
		}
		return nil
	})
	if command(5, ask); started != 1 {
		t.Errorf("%d processes for vectors that are missing, want 1", started)
	}
	command(5, func(s *knowledge.Store) error { return s.Compact(t.Context()) })
	if command(5, ask); started != 1 {
		t.Errorf("%d processes after the vectors were made, want still 1", started)
	}
	command(5, func(s *knowledge.Store) error { return s.Vectors().Reset() })
	if command(100, ask); started != 1 {
		t.Errorf("%d processes for a few vectors, want still 1", started)
	}
}

// While one process makes index and vectors no other is started.
func TestOneDetachedProcess(t *testing.T) {
	dir, started := t.TempDir(), 0
	s, err := knowledge.Open(dir, &knowledge.Options{Detach: func() { started++ }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "a", Key: "b", Value: "c"}); err != nil {
		t.Fatal(err)
	}
	done := s.Derives()
	if s.StartDetached(); started != 0 {
		t.Errorf("%d processes beside the one at work", started)
	}
	done()
	if s.StartDetached(); started != 1 {
		t.Errorf("%d processes, want 1", started)
	}
}

// The process that makes the vectors of a damaged file anew finds the damage, which no question has told it.
func TestDamagedVectorsAreMadeByAnotherProcess(t *testing.T) {
	dir, started := t.TempDir(), 0
	o := &knowledge.Options{
		Encoders: &embed.Models{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)},
		Detach:   func() { started++ },
	}
	command := func(do func(s *knowledge.Store) error) {
		t.Helper()
		s, err := knowledge.Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		s.LimitVectors(5)
		if err := errors.Join(do(s), s.Close()); err != nil {
			t.Error(err)
		}
	}
	compact := func(s *knowledge.Store) error { return s.Compact(t.Context()) }
	ask := func(s *knowledge.Store) error {
		_, err := s.Recall(t.Context(), knowledge.Question{Query: "which port does the database listen on"})
		return err
	}
	command(func(s *knowledge.Store) error {
		for i := range 70 {
			if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "services", Key: fmt.Sprint("k", i), Value: fmt.Sprintf("Service %d listens on port %d.", i, 8000+i)}); err != nil {
				return err
			}
		}
		return compact(s)
	})
	bin := filepath.Join(dir, "embeddings.bin")
	data, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(bin, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if command(ask); started != 1 {
		t.Errorf("%d processes for damaged vectors, want 1", started)
	}
	command(compact)
	if command(ask); started != 1 {
		t.Errorf("%d processes after the vectors were made, want still 1", started)
	}
}

// A store that can start no process keeps no lock from those who make index and vectors.
func TestNoDetachedProcessKeepsNoLock(t *testing.T) {
	s, err := knowledge.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "a", Key: "b", Value: "c"}); err != nil {
		t.Fatal(err)
	}
	s.StartDetached()
	done := s.Derives()
	if done == nil {
		t.Fatal("the lock is held")
	}
	done()
}
