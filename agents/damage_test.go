package agents

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leanctx/agents/diary"
)

// Damage in the registry and in a diary is told once beside an answer, and again whenever
// somebody asks for it.
func TestDamageIsTold(t *testing.T) {
	b := newFixture(t)
	s := b.open()
	id := must[Registered](t)(s.Register(t.Context(), Registration{AgentType: "cursor", Role: "dev"})).AgentID
	me := s.As(Actor{Agent: id})
	must[diary.Noted](t)(me.Diary(t.Context(), Note{Message: "first"}))
	must[diary.Noted](t)(me.Diary(t.Context(), Note{Message: "second"}))
	must[Posted](t)(me.Post(t.Context(), PostArgs{Message: "one"}))
	if told, aside, err := s.Damage(t.Context()); err != nil || len(told)+len(aside) != 0 {
		t.Fatal(told, aside, err)
	}
	journal, registry := filepath.Join(b.dir, "diaries", id+".journal"), filepath.Join(b.dir, "registry.journal")
	edit(t, journal, func(data []byte) []byte { return bytes.Replace(data, []byte("first"), []byte("fi!st"), 1) })
	edit(t, registry, func(data []byte) []byte { return append(data, "half a li"...) })

	other := b.open()
	me = other.As(Actor{Agent: id})
	must[diary.Noted](t)(me.Diary(t.Context(), Note{Message: "third"}))
	must[Posted](t)(me.Post(t.Context(), PostArgs{Message: "two"}))
	notices := strings.Join(other.Notices(), "\n")
	if !strings.Contains(notices, "diary of "+id+": commit 1 is damaged and lost") || !strings.Contains(notices, "registry.journal.torn") {
		t.Errorf("told: %s", notices)
	}
	must[diary.Recalled](t)(me.RecallDiary(t.Context(), DiaryQuery{}))
	if again := other.Notices(); len(again) > 0 {
		t.Errorf("told again: %q", again)
	}
	told, aside, err := b.open().Damage(t.Context()) // by who found nothing wrong itself
	if err != nil || len(aside) != 2 || !slices.Contains(aside, registry+".torn") || !strings.HasPrefix(aside[1], journal+".corrupt-") {
		t.Errorf("%q, %q, %v", told, aside, err)
	}
}

func edit(t *testing.T, file string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, change(data), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
