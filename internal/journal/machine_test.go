package journal_test

import (
	"encoding/json"
	"io"
	"maps"
	"testing"
	"time"

	"leanctx/internal/journal"
)

// event of the tests' machine: it adds to a counter.
type event struct {
	Key string `json:"key"`
	Add int    `json:"add"`
	Pad string `json:"pad,omitempty"`
}

// counters is the tests' state.
type counters map[string]int

type machine struct{}

func (machine) New() counters { return counters{} }

func (machine) Fold(s counters, c journal.Commit[event]) counters {
	for _, e := range c.Events {
		s[e.Key] += e.Add
		if e.Key == "panic" {
			panic("this does not fit")
		}
	}
	return s
}

func (machine) Clone(s counters) counters { return maps.Clone(s) }

// document is the tests' snapshot.
type document struct {
	Schema     int       `json:"schema"`
	UpdatedAt  time.Time `json:"updated_at"`
	Checksum   string    `json:"checksum"`
	Seq        uint64    `json:"seq,omitempty"`
	Generation uint64    `json:"generation,omitempty"`
	Counters   counters  `json:"counters"`
}

func (machine) Encode(w io.Writer, s counters, h journal.Header) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(document{Schema: h.Schema, UpdatedAt: h.At, Checksum: h.Checksum, Seq: h.Seq, Generation: h.Generation, Counters: s})
}

func (machine) Decode(data []byte) (counters, error) {
	d := document{Counters: counters{}}
	err := json.Unmarshal(data, &d)
	return d.Counters, err
}

type testLog = journal.Log[counters, event]

// open opens a log that the test closes.
func open(t testing.TB, dir string, o *journal.Options) *testLog {
	t.Helper()
	l, err := journal.Open(dir, machine{}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// add is a decision to count one up.
func add(key string) func(counters, time.Time) ([]event, error) {
	return func(counters, time.Time) ([]event, error) { return []event{{Key: key, Add: 1}}, nil }
}

func update(t testing.TB, l *testLog, key string) journal.Head {
	t.Helper()
	h, err := l.Update(t.Context(), add(key))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// view returns a copy of the state.
func view(t testing.TB, l *testLog) (counters, journal.Head) {
	t.Helper()
	var s counters
	var head journal.Head
	err := l.View(t.Context(), func(v counters, h journal.Head) error {
		s, head = maps.Clone(v), h
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, head
}
