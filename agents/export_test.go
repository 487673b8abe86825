package agents

import (
	"bytes"
	"testing"

	"leanctx/internal/journal"
)

type journalHead = journal.Head

// dump is a state as its file has it.
func dump(t testing.TB, s *state) string {
	t.Helper()
	var b bytes.Buffer
	if err := (machine{}).Encode(&b, s, journal.Header{Schema: schema}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
