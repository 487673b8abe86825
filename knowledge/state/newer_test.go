package state

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
)

// A version that knows patterns and gotchas as lists alone would have each twice. So from the first
// write of this version on, it says that the store is of a newer one: with the journal alone, the
// snapshot alone, and while it runs. Reading a store of it changes nothing.
func TestFormerVersionRefusesTheStore(t *testing.T) {
	const v1 = "../../testdata/store/v1"
	dir := t.TempDir()
	for _, name := range []string{"knowledge.json", "knowledge.json.prev", "knowledge.journal", "knowledge.journal.prev"} {
		data, err := os.ReadFile(filepath.Join(v1, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	former := func() error {
		l, err := journal.Open(dir, machine{}, &journal.Options{Name: "knowledge", Schema: 1})
		if err != nil {
			return err
		}
		return errors.Join(l.View(t.Context(), func(*State, journal.Head) error { return nil }), l.Close())
	}
	running, err := journal.Open(dir, machine{}, &journal.Options{Name: "knowledge", Schema: 1})
	must(t, err)
	defer running.Close()
	l, err := Open(dir, nil)
	must(t, err)
	defer l.Close()
	gotchas := func() (n int) {
		must(t, l.View(t.Context(), func(s *State) error {
			n = len(s.InRoom(fact.RoomGotcha)) + len(s.InRoom(fact.RoomPattern))
			return nil
		}))
		return n
	}
	had := gotchas()
	if err := former(); err != nil {
		t.Errorf("only read by this version: %v", err)
	}
	v := &fact.Version{}
	must(t, json.Unmarshal([]byte(version("f-1", "day", "never on fridays", "user")), v))
	must(t, l.Update(t.Context(), func(*State, time.Time) ([]Event, error) { return []Event{{Put: v}}, nil }))
	refused := func(when string, err error) {
		t.Helper()
		if !errors.Is(err, journal.ErrNewer) || !strings.Contains(err.Error(), "newer") {
			t.Errorf("%s: %v", when, err)
		}
	}
	refused("after a write", former())
	refused("while it runs", running.View(t.Context(), func(*State, journal.Head) error { return nil }))
	must(t, l.Compact(t.Context()))
	refused("after a snapshot", former())
	if n := gotchas(); n != had {
		t.Errorf("%d patterns and gotchas, there were %d", n, had)
	}
	for _, name := range []string{"knowledge.journal", "knowledge.journal.prev", "knowledge.head"} {
		_ = os.Remove(filepath.Join(dir, name))
	}
	refused("with its snapshot alone", former())
}
