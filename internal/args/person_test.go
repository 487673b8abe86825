package args

import "testing"

// No name of a program is read as the user's: not the word, not the forms in which a user's word is
// passed on, not the person's name, whatever letters it is made of.
func TestClaimsUser(t *testing.T) {
	if len([]rune(lookalikes)) != len(latin) {
		t.Fatalf("%d letters look like %d", len([]rune(lookalikes)), len(latin))
	}
	for name, want := range map[string]bool{
		"user": true, "User": true, " user ": true, "USER.": true, "us\u200ber": true, "us\u00ader": true, "u\u0301ser": true, "\uff55ser": true,
		"usеr": true, "ѕυer": false, "υser": true, "uѕer": true, "u-s-e-r": true, "the user": true, "user-3f2a": true, "user:": true,
		"user via page": true, "user via codex-a3f8": true, "user of 3eb15d50": true, "user-via-page": true, "user_of_x": true, "user X": true, "user (Ann)": true,
		"Ann": true, "ann": true, "ANN": true, "Аnn": true, "ann.": true, "Ann via page": true, "ann-via-codex": true, "ann of x": true, "a nn": true,
		"": false, "-": false, "codex-a3f8": false, "ann-a3f8": false, "anna": false, "claude-code": false, "user-research-3f2a": false, "userland": false, "tool:cli": false,
		"Claude Code": false, "annotator": false, "agent:user": false, "reviewer": false,
	} {
		if got := ClaimsUser(name, "Ann"); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	if ClaimsUser("ann", "") || !ClaimsUser("Bea Marx", "Bea Marx") || !ClaimsUser("bea-marx", "Bea Marx") || ClaimsUser("claude-1a2b", "claude") || !ClaimsUser("Лена", "Лена") {
		t.Error("names of persons")
	}
}
