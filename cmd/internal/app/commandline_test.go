package app

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"leanctx/cmd/internal/cli"
)

// eachCommand goes through all commands.
func eachCommand(do func(*cobra.Command)) {
	r := &run{}
	root := cli.New(cli.Options{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Tools: r.tools, Plain: r.plain()})
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		do(c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// The terminal breaks the lines of a description; those of flags are aligned.
func TestFlagsFitEightyColumns(t *testing.T) {
	eachCommand(func(c *cobra.Command) {
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		_, flags, _ := strings.Cut(out.String(), "\nFlags")
		for line := range strings.Lines(flags) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 && !strings.HasPrefix(strings.TrimSpace(line), "lean-ctx ") {
				t.Errorf("%s --help: %d columns: %s", c.CommandPath(), n, line)
			}
		}
	})
}

// What --help shows as an example is a command line that is taken. It may find
// nothing, but it is no mistake.
func TestExamplesOfTheHelpAreTaken(t *testing.T) {
	home(t)
	t.Chdir(t.TempDir())
	seen := 0
	eachCommand(func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			words := shellWords(line)
			if len(words) < 2 || words[0] != cli.Name {
				continue
			}
			seen++
			if code, _, errs := do(t, "", words[1:]...); code == usage {
				t.Errorf("%s: %s", strings.TrimSpace(line), errs)
			}
		}
	})
	if seen < 50 {
		t.Errorf("only %d examples", seen)
	}
}

// A fact is named by two words or by category/key wherever an action wants one.
func TestFactsAreNamedInOneWordOrTwo(t *testing.T) {
	home(t)
	for _, tt := range []struct {
		args string
		want string
	}{
		{"remember architecture/auth JWT", "Remembered [architecture] auth: JWT (confidence: 80%)\n"},
		{"knowledge remember architecture/db MySQL", "Remembered [architecture] db: MySQL (confidence: 80%)\n"},
		{"knowledge timeline architecture/auth", "Timeline [architecture] (1 entry):\n"},
		{"knowledge timeline architecture auth", "Timeline [architecture] (1 entry):\n"},
		{"knowledge why architecture/auth", "Why [architecture] auth"},
		{"knowledge why architecture auth", "Why [architecture] auth"},
		{"knowledge feedback architecture/auth up", "Feedback"},
		{"knowledge feedback architecture auth up", "Feedback"},
		{"knowledge relate architecture/auth architecture/db", "Relation added"},
		{"knowledge relations architecture/auth", "Relations"},
		{"knowledge unrelate architecture auth architecture/db", ""},
		{"knowledge judge architecture/auth architecture/db compatible", ""},
		{"status", ""}, {"wakeup", "WAKE-UP BRIEFING:\n"}, {"recall JWT", ""}, {"search JWT", "Cross-session search"},
		{"knowledge remove architecture/auth", "Removed [architecture] auth"},
		{"knowledge remove architecture db", "Removed [architecture] db"},
	} {
		code, out, errs := do(t, "", strings.Fields(tt.args)...)
		if code != done || !strings.HasPrefix(out, tt.want) {
			t.Errorf("%s: %d, %s%s", tt.args, code, out, errs)
		}
	}
	if code, _, errs := do(t, "", "remember", "one", "two"); code != usage || !strings.Contains(errs, "unexpected argument") {
		t.Errorf("two words: %d, %s", code, errs)
	}
}

func TestQuiet(t *testing.T) {
	home(t)
	if code, out, errs := do(t, "", "-q", "remember", "a/b", "JWT"); code != done || out+errs != "" {
		t.Errorf("remember: %d, %q, %q", code, out, errs)
	}
	if code, out, _ := do(t, "", "recall", "JWT", "-q"); code != done || !strings.Contains(out, "JWT") {
		t.Errorf("recall: %d, %q", code, out)
	}
	if code, _, errs := do(t, "", "knowledge", "remove", "a/c", "-q"); code != notFound || errs == "" {
		t.Errorf("an error: %d, %q", code, errs)
	}
}

// -m is the message everywhere, and nothing else.
func TestShortFlagsMeanOneThing(t *testing.T) {
	means := map[string]string{}
	eachCommand(func(c *cobra.Command) {
		for line := range strings.Lines(c.LocalFlags().FlagUsages()) {
			fields := strings.Fields(line)
			if len(fields) < 2 || !strings.HasSuffix(fields[0], ",") || len(fields[0]) != 3 {
				continue
			}
			short, long := fields[0], fields[1]
			if was := means[short]; was != "" && was != long {
				t.Errorf("%s: %s is %s and %s", c.CommandPath(), short, was, long)
			}
			means[short] = long
		}
	})
}

func TestFactsAreCompleted(t *testing.T) {
	home(t)
	do(t, "", "remember", "architecture/auth", "JWT")
	for args, want := range map[string]string{
		"knowledge why arch":                                   "architecture\t1 fact\n",
		"knowledge why architecture ":                          "auth\tJWT\n",
		"knowledge why architecture/":                          "architecture/auth\tJWT\n",
		"knowledge remove -c architecture -k ":                 "auth\tJWT\n",
		"knowledge judge architecture/auth architecture/":      "architecture/auth\tJWT\n",
		"knowledge timeline architecture ":                     "auth\tJWT\n",
		"knowledge feedback architecture auth ":                "up\ndown\n",
		"knowledge feedback architecture/auth ":                "up\ndown\n",
		"knowledge unrelate architecture auth architecture/au": "architecture/auth\tJWT\n",
	} {
		_, out, _ := do(t, "", append([]string{"__complete"}, strings.Split(args, " ")...)...)
		if got, _, _ := strings.Cut(out, ":"); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}
