package language

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClausesAreTheThingsThatAPromptNames(t *testing.T) {
	for text, want := range map[string][]string{
		"make a branch for ticket 1843, fix it, and check it with the screenshot tests": {"make a branch for ticket 1843", "fix it", "check it", "the screenshot tests"},
		"bump Qt; rebuild everything: see src/icc/a.go":                                 {"bump Qt", "rebuild everything", "see src/icc/a.go"},
		"Which port? Which host? v1.2 at 10:30.":                                        {"Which port", "Which host", "v1.2 at 10:30"},
		"then commit":                                                                   nil,
		"commit":                                                                        nil,
		"andrew and then":                                                               nil,
		"the sandbox is gone and withdrawals fail":                                      {"the sandbox is gone", "withdrawals fail"},
		"the run fails:\n```\npanic: nil map and more\n```\nplease mend it":             {"the run fails", "please mend it"},
		"it says\n2026-01-02T10:00:00Z ERROR no route to host, giving up\nwhy is that so":   {"it says", "why is that so"},
		"look at this\n    if a, b := f(); a > b {\n\treturn nil, err\nand tell me":         {"look at this", "tell me"},
		"Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nwhat is wrong?": {"what is wrong"},
		"- run the tests\n- write the notes":                                                {"run the tests", "write the notes"},
		"Welche Regeln gelten, und wer entscheidet das?":                                    {"Welche Regeln gelten", "und wer entscheidet das"},
		"什么时候发布，谁负责数据库？":                                                                    nil,
		"x := map[string]int{\"a\": 1}; y += x[\"a\"]":                                      nil,
	} {
		if diff := cmp.Diff(want, Clauses(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestClausesOfAnyTextAreBounded(t *testing.T) {
	for _, text := range []string{"", "one", strings.Repeat("a, b and c. ", 64<<10/12), strings.Repeat("x", 64<<10), strings.Repeat("```\n", 16<<10), "\xff\xfe and, then", strings.Repeat("and ", 20_000)} {
		if got := Clauses(text); len(got) > MaxClauses {
			t.Errorf("%.20q: %d clauses", text, len(got))
		}
	}
	if got := Spoken("```\nfunc main() {}\n```"); got == "" {
		t.Error("a prompt of code alone is nothing")
	}
}

func TestPurposesOfAPrompt(t *testing.T) {
	for text, want := range map[string][]Purpose{
		"looks good, commit it":                             {Commit},
		"rename it, run all tests, push":                    {Review, Test},
		"add a package for dates and deploy to staging":     {Dependency, Deploy},
		"why does the parser drop the last comma?":          nil,
		"bump Qt, rebuild everything":                       {Dependency, Build},
		"what is this?\n```\ngit commit -m x\n```":          nil,
		"Committing to a date is hard":                      nil,
		"create a branch, fix it, then open a PR":           {Branch, Review},
		"write a migration that adds a column to the table": {Migrate},
		"install the app on the phone":                      nil,
		"until when can I still change it?":                 {Schedule},
		"it has to go out on the 20th of December":          {Schedule},
	} {
		if diff := cmp.Diff(want, Purposes(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestCommandsOfAShellAreRead(t *testing.T) {
	for text, want := range map[string]Command{
		"git add -A && git commit -m 'shell: reset reasons'": {Words: "git add -A git commit -m shell: reset reasons", Purposes: []Purpose{Commit}},
		"sudo env A=1 npm install left-pad":                  {Words: "npm install left-pad", Purposes: []Purpose{Dependency}},
		"cd src/app; ./node_modules/.bin/jest a.test.ts":     {Words: "cd src/app ./node_modules/.bin/jest a.test.ts", Paths: []string{"src/app", "a.test.ts"}, Purposes: []Purpose{Test}},
		"python3 -m pytest -q tests/unit | tail -3":          {Words: "-m pytest -q tests/unit tail -3", Paths: []string{"tests/unit"}, Purposes: []Purpose{Test}},
		"cat > a.sh <<'EOF'\nkubectl apply -f x\nEOF\nmake":  {Words: "cat a.sh make", Paths: []string{"a.sh"}, Purposes: []Purpose{Build}},
		"echo 'never ends && kubectl apply":                  {Words: "echo never ends && kubectl apply"},
		"git log; git status":                                {Words: "git log git status"},
		"curl https://example.com/a.json -o out.json":        {Words: "curl https://example.com/a.json -o out.json", Paths: []string{"out.json"}},
		"kubectl apply -f deploy/":                           {Words: "kubectl apply -f deploy/", Paths: []string{"deploy/"}, Purposes: []Purpose{Deploy}},
		"cat <<EOF":                                          {Words: "cat"},
		"":                                                   {},
	} {
		if diff := cmp.Diff(want, ReadCommand(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{strings.Repeat("a && b; ", 100<<10/8), strings.Repeat("'", 100<<10+1), strings.Repeat("<<", 50<<10), strings.Repeat("<<A\n", 25<<10), "\\", "<<", "<<'", strings.Repeat("\\\n", 9)} {
		if c := ReadCommand(text); len(strings.Fields(c.Words)) > maxWords {
			t.Errorf("%.20q: %d words", text, len(strings.Fields(c.Words)))
		}
	}
}

func TestAChangeOfMindIsSeen(t *testing.T) {
	for _, text := range []string{
		"change of plan: the v2 branch is cut in January", "we keep the v1 hosts after all", "From now on we deploy on Mondays.", "the freeze moved to the 20th", "we no longer ship for arm", "Pavel now owns security",
		"use pnpm instead", "ok. The release was postponed. go on", "we decided against Redis", "it’s decided: four spaces",
	} {
		if !ChangesMind(text) {
			t.Errorf("%q changes nothing", text)
		}
	}
	for _, text := range []string{
		"should we use Redis instead?", "the current is 40 µA instead of 9, find out why", "add a test", "why was it moved to the other file?", "the build fails now", "after all tests pass, commit", "show the log\n```\nfeature X is deprecated\n```", "move the function to a file of its own", "",
	} {
		if ChangesMind(text) {
			t.Errorf("%q changes something", text)
		}
	}
}

func TestPracticeIsToldFromRoomAndForm(t *testing.T) {
	for _, c := range []struct {
		room, text string
		want       bool
	}{
		{"workflow", "Branches are named after tickets.", true},
		{"conventions", "Two spaces.", true},
		{"process", "Ask me before anything that takes a day.", true},
		{"processes", "Ask me before anything that takes a day.", true},
		{"policies", "Two reviewers.", true},
		{"testing", "The rig stands in Tampere.", true},
		{"env", "DATABASE_URL is in .envrc", true},
		{"security", "Tokens are Ed25519 and live for an hour.", false},
		{"security", "Never log a token.", true},
		{"security", "Nobody has the root key.", true},
		{"decision", "We never go back to LMDB.", false},
		{"architecture", "Plugins must use sdk/ only.", false},
		{"team", "Nobody but Ilse touches icc.", false},
		{"house", "Do not edit generated files.", false},
		{"house", "The office is in Turku.", false},
		{"how-we-test", "The emulator does not model current.", true},
		{"test-data", "Generated by make data.", true},
		{"", "always", false},
		{"бухгалтерия", "суммы в копейках", false},
	} {
		if got := Practice(c.room, c.text); got != c.want {
			t.Errorf("%s: %q: %v", c.room, c.text, got)
		}
	}
}

func TestWordsOfMostPromptsWeighLittle(t *testing.T) {
	for _, common := range []string{"add", "test", "file"} {
		for _, rare := range []string{"invoic", "colour", "mcuboot"} {
			if PromptWeight(common)+1 > PromptWeight(rare) {
				t.Errorf("%s weighs %.1f, %s %.1f", common, PromptWeight(common), rare, PromptWeight(rare))
			}
		}
	}
	if n := counted().prompts; n < 200 || len(counted().of) < 500 || slices.ContainsFunc(strings.Fields(frequenciesText), func(s string) bool { return s == "0" }) {
		t.Errorf("%d prompts, %d stems", n, len(counted().of))
	}
}

func TestDemandsAreToldFromTheFirstSentence(t *testing.T) {
	for text, want := range map[string]bool{
		"Use uv, not pip.":                                      true,
		"Every script takes --seed.":                            true,
		"Changes of the checker need two readers.":              false,
		"Floats are rejected in review.":                        true,
		"The port is 8080 on the host. Never change it.":        false,
		"No new gem without asking Dagny; we have 140 already.": true,
		"Textures are in Git LFS under assets/.":                false,
		"Commit subjects start with the ticket.":                true,
		"Strings live in strings.xml.":                          true,
		"The tests run on two machines.":                        false,
		"Some commits are signed.":                              false,
		"A pull request has one screen at most.":                true,
		"One commit for each step.":                             true,
		"CI compares the hash every 64 ticks.":                  false,
		"The worst third is killed at each rung.":               false,
		"Anything that touches the radio is tried on the rig.":  true,
		"The service stays on Redis 7.":                         false, // that settles it: see Settles
		"":                                                      false,
	} {
		if Demands(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestSettles(t *testing.T) {
	for text, want := range map[string]bool{
		"The service stays on Redis 7; Valkey is too new.": true,
		"We are pinned to Qt 6.5.":                         true,
		"Nobody runs it by hand.":                          true,
		"Texts are sent with Bird.":                        false,
		"It was moved to Ghent. Never call it.":            false,
		"":                                                 false,
	} {
		if Settles(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestDated(t *testing.T) {
	for text, want := range map[string]bool{
		"Version 5.2 leaves on 2027-02-02.": true, "it goes out on the 20th of December": true, "No deploys on Fridays": true, "15 March": true, "March 15": true,
		"it may take 4 days": false, "it may break": false, "version 4.1 of 3": false, "the march of time": false, "": false,
	} {
		if Dated(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestTopicsOfAList(t *testing.T) {
	for text, want := range map[string][]string{
		"write CONTRIBUTING.md: setup, tests, who to ask, size": {"setup", "tests", "size"},
		"add the field, then commit":                            nil,
		"fix it":                                                nil,
		"```\na, b, c, d\n```":                                  nil,
	} {
		if got, _ := Topics(text); cmp.Diff(want, got) != "" {
			t.Errorf("%q: %q", text, got)
		}
	}
	got := Listed("page for newcomers: how to test, code style, who owns what, deploys")
	slices.Sort(got)
	if diff := cmp.Diff([]Purpose{Deploy, Format, Ownership, Test}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOpeningEndsAfterSixtyCharacters(t *testing.T) {
	long := strings.Repeat("x", 59)
	for text, want := range map[string]string{"a. b": "a. b", long + " a; b": long + " a", long + " a.go is b. c": long + " a.go is b", "": ""} {
		if got := Opening(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
