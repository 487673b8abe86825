package recall

import "testing"

func TestSteeringPrompts(t *testing.T) {
	for _, text := range []string{"thanks, looks good, commit it", "ok, go on", "Continue", "LGTM, push", "no, revert that", "make it shorter", "undo the last change", "do it", "🎉 perfect!"} {
		if !Parse(text, nil).Steers() {
			t.Errorf("%q does not steer", text)
		}
	}
	for _, text := range []string{"what changed", "how do we commit?", "commit the migration", "run the linter", "deploy", "gpu types", "write man pages for the new command", "weights", "рефакторинг"} {
		if Parse(text, nil).Steers() {
			t.Errorf("%q steers", text)
		}
	}
}
