package transfer_test

import (
	"testing"

	"leanctx/knowledge"
	"leanctx/knowledge/transfer"
)

// A memory that moves to a team and back keeps its sources and pins, whoever has it moved: the next call ends a move that was
// interrupted, and that may be an agent's.
func TestMovedMemoryKeepsItsMarks(t *testing.T) {
	for _, kind := range []string{knowledge.KindAgent, knowledge.KindTool, knowledge.KindUser} {
		for _, local := range []bool{false, true} {
			open := func() *knowledge.Store {
				s, err := knowledge.Open(t.TempDir(), &knowledge.Options{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				return s
			}
			home, team := open(), open()
			said := knowledge.Assertion{Category: "workflow", Key: "push", Value: "never push to main", Pinned: new(true)}
			if local {
				said.Privacy = knowledge.PrivacyLocal
			}
			if _, err := home.As(knowledge.Actor{Kind: knowledge.KindUser}).Remember(t.Context(), said); err != nil {
				t.Fatal(err)
			}
			by := team.As(knowledge.Actor{Kind: kind, Agent: "codex-0001"})
			var err error
			if local {
				err = transfer.BringBack(t.Context(), home, by)
			} else {
				_, err = transfer.Publish(t.Context(), home, by, "the memory of a")
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := team.Recall(t.Context(), knowledge.Question{Category: "workflow", Key: "push"})
			if err != nil || len(r.Facts) != 1 || !r.Facts[0].Pinned || r.Facts[0].Version.Sources[0].Kind != knowledge.KindUser {
				t.Errorf("%s, local %v: %+v %v", kind, local, r.Facts, err)
			}
		}
	}
}
