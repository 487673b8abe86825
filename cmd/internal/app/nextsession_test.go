package app

import (
	"log/slog"
	"strings"
	"testing"
)

// What an agent logged reaches the next session without a call: as facts that nobody has confirmed.
func TestWhatAnAgentLoggedReachesTheNextSession(t *testing.T) {
	home(t)
	s := newStores(configured(t), nil)
	s.serve(slog.New(slog.DiscardHandler))
	c := dial(t, s, "")
	c.register("cursor", "dev")
	c.must("ctx_agent", `{"action":"diary","category":"decision","message":"Chose batch loading with DataLoader"}`)
	c.must("ctx_agent", `{"action":"diary","category":"discovery","message":"Found an N+1 query in user loading"}`)
	c.must("ctx_agent", `{"action":"post","category":"finding","message":"The login page takes four seconds"}`)
	c.Close()
	<-c.served
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	next := dial(t, serving(t), "")
	text := next.must("ctx_recall", `{"action":"wakeup","since":"last"}`)
	for _, want := range []string{"batch loading", "N+1 query", "four seconds", "? unconfirmed"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told: %s", want, text)
		}
	}
	if text := next.must("ctx_knowledge", `{"action":"consolidate","dry_run":true}`); !strings.Contains(text, "Would consolidate 0 findings") {
		t.Errorf("something is left: %s", text)
	}
}
