package knowledge_test

import (
	"testing"

	. "leanctx/knowledge"
)

// What a user linked an agent does not part; with the user's word it does. An agent's links go as before, also those that a user's
// name came with from elsewhere.
func TestUsersLinkIsForTheUserToRemove(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	user, agent := s.As(Actor{Kind: KindUser}), s.As(Actor{Kind: KindAgent, Agent: "codex-0001"})
	for _, key := range []string{"push", "day"} {
		must[Remembered](t)(user.Remember(t.Context(), Assertion{Category: "workflow", Key: key, Value: "value of " + key}))
	}
	link := Link{Category: "workflow", Key: "push", Target: "workflow/day", Kind: "depends_on"}
	must[Linked](t)(Relate(t.Context(), agent, link))
	must[Linked](t)(Unrelate(t.Context(), agent, Unlink(link)))
	must[Linked](t)(Relate(t.Context(), agent, link))
	must[Linked](t)(Relate(t.Context(), user, link))
	must[Linked](t)(Relate(t.Context(), agent, link))
	if r, err := Unrelate(t.Context(), agent, Unlink(link)); err == nil {
		t.Errorf("%+v", r)
	}
	said := Unlink(link)
	said.Source = "user"
	must[Linked](t)(Unrelate(t.Context(), agent, said))
}
