package knowledge_test

import (
	"strings"
	"testing"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
)

// beforeTool are the keys of what is told before a tool.
func beforeTool(t *testing.T, s *Store, tool briefing.Tool) string {
	t.Helper()
	lines, err := briefing.Before(t.Context(), s, tool, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, x := range lines {
		keys = append(keys, x.Version.Key)
	}
	return strings.Join(keys, " ")
}

// A file is a question about its path, its folders and its name, a command about its words. An agent's fact is told only
// where it names the path. Mostly there is nothing.
func TestBeforeATool(t *testing.T) {
	s := crowdedStore(t)
	for _, a := range []Assertion{
		{Category: "team", Key: "scoring", Value: "Changes to eval/ go to Mina.", Source: "user"},
		{Category: "workflow", Key: "notes", Value: "Nobody edits CHANGELOG.md by hand.", Source: "user"},
		{Category: "workflow", Key: "apply", Value: "Nobody runs terraform apply; Atlantis does.", Source: "user"},
		{Category: "git", Key: "commits", Value: "Every commit names its ticket.", Source: "user"},
		{Category: "workflow", Key: "packages", Value: "No new one without asking Dagny.", Source: "user"},
		{Category: "testing", Key: "place", Value: "Unit tests stand beside the code.", Source: "user"}, // how it is, not what to do
		{Category: "architecture", Key: "router", Value: "src/net/router.go holds the routes."},
		{Category: "architecture", Key: "net", Value: "Everything in src/net/ is generated."},
	} {
		if _, err := s.Remember(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		tool briefing.Tool
		want string
	}{
		{briefing.Tool{Files: []string{"eval/score.py"}}, "scoring"},
		{briefing.Tool{Files: []string{"docs/CHANGELOG.md"}}, "notes"},
		{briefing.Tool{Files: []string{"src/net/router.go"}}, "router"},
		{briefing.Tool{Files: []string{"src/other.go"}}, ""},
		{briefing.Tool{Command: "cd infra && terraform apply -auto-approve"}, "apply"},
		{briefing.Tool{Command: "python eval/score.py | tail -3"}, "scoring"},
		{briefing.Tool{Command: "git add -A && git status"}, ""},
		{briefing.Tool{Command: "go test ./..."}, ""},
		{briefing.Tool{Command: "cat > x <<'EOF'\nterraform apply\nEOF"}, ""},
		{briefing.Tool{Command: "sudo env A=1 terraform apply 'never ends"}, "apply"},
		{briefing.Tool{Command: strings.Repeat("echo a && ", 10<<10) + "true"}, ""},
		{briefing.Tool{Command: strings.Repeat("'", 100<<10)}, ""},
		{briefing.Tool{Command: "git commit -m wip"}, "commits"},
		{briefing.Tool{Command: "sudo npm install left-pad && npm test"}, "packages"},
		{briefing.Tool{}, ""},
	} {
		if got := beforeTool(t, s, c.tool); got != c.want {
			t.Errorf("%.60q %v: %q, not %q", c.tool.Command, c.tool.Files, got, c.want)
		}
	}
}
