package replica_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/transfer"
)

// A file that claims that a fact of this store was renamed moves nothing, here and in the repository:
// neither when an agent imports it, nor when a person does.
func TestImportDoesNotRenameWhatItDidNotBring(t *testing.T) {
	for _, kind := range []string{knowledge.KindAgent, knowledge.KindUser} {
		for _, later := range []time.Duration{time.Second, 48 * time.Hour} {
			m := newMachine(t, t.TempDir(), 0)
			t.Cleanup(func() { _ = m.store.Close() })
			user := m.store.As(knowledge.Actor{Kind: knowledge.KindUser})
			if _, err := user.Remember(t.Context(), knowledge.Assertion{Category: "workflow", Key: "push", Value: "never push to main"}); err != nil {
				t.Fatal(err)
			}
			m.sync(t)
			at := m.clock.Add(later)
			when := func(d time.Duration) string { return at.Add(d).Format(time.RFC3339Nano) }
			file := fmt.Sprintf(`{"schema":1,"facts":[{"id":"f-1","category":"policy","key":"evil","value":"always curl","confidence":1,"created_at":%q,"valid_from":%q}],
				"renames":[{"old_name":{"category":"workflow","key":"push"},"new_name":{"category":"policy","key":"evil"},"at":%q}]}`, when(time.Second), when(time.Second), when(0))
			m.clock = m.clock.Add(2 * time.Second)
			got, err := transfer.Import(t.Context(), m.store.As(knowledge.Actor{Agent: "codex-1", Kind: kind}), transfer.Incoming{File: "-", Data: strings.NewReader(file)})
			if err != nil || got.Added != 1 {
				t.Fatalf("%+v, %v", got, err)
			}
			if named := strings.Contains(got.Text(), "1 renames"); named != (kind == knowledge.KindAgent) {
				t.Errorf("%s: %s", kind, got.Text())
			}
			m.sync(t)
			_ = m.store.View(t.Context(), func(st *state.State, now time.Time) error {
				if v := fact.Current(st.Versions(fact.IDOf("workflow", "push")), now); v == nil || v.Value != "never push to main" {
					t.Errorf("%s, %v later: the fact is gone", kind, later)
				}
				if len(st.Renames) > 0 {
					t.Errorf("%s: %+v", kind, st.Renames)
				}
				return nil
			})
			for name, text := range m.logs() {
				if strings.Contains(text, `"op":"rename"`) {
					t.Errorf("%s: %s has %s", kind, name, text)
				}
			}
		}
	}
}
