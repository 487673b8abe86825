package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// countsDetached opens a store with a fact. It counts the processes that would be started.
func countsDetached(t *testing.T, dir string, started *int) *knowledge.Store {
	t.Helper()
	s, err := knowledge.Open(dir, &knowledge.Options{Detach: func() { *started++ }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "a", Key: "b", Value: "c"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// While one process makes index and vectors no other is started.
func TestOneDetachedProcess(t *testing.T) {
	started := 0
	s := countsDetached(t, t.TempDir(), &started)
	done := s.Derives()
	if s.StartDetached(); started != 0 {
		t.Errorf("%d processes beside the one at work", started)
	}
	done(nil)
	for range 3 { // the one that was started has not taken the lock yet
		s.StartDetached()
	}
	if started != 1 {
		t.Errorf("%d processes, want 1", started)
	}
}

// If the process that makes index and vectors fails, the next command does not start another. A
// later one does, and so does the next one after a success.
func TestDetachedProcessFails(t *testing.T) {
	dir, started := t.TempDir(), 0
	s := countsDetached(t, dir, &started)
	want := func(what string, n int) {
		t.Helper()
		if s.StartDetached(); started != n {
			t.Errorf("%s: %d processes, want %d", what, started, n)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Compact(ended); err == nil {
		t.Fatal("a compaction that ended before it began did not fail")
	}
	want("just failed", 0)
	for i, age := range []time.Duration{time.Hour, -time.Hour} { // or the clock was wrong
		at := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(dir, "derive.lock"), at, at); err != nil {
			t.Fatal(err)
		}
		want("failed long ago", i+1)
		want("just started", i+1)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	want("succeeded", 3)
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
	done(nil)
}
