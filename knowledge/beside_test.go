package knowledge_test

import (
	"fmt"
	"strings"
	"testing"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
)

// toldBeside are the keys of what is told beside a prompt.
func toldBeside(t *testing.T, s *Store, prompt string, told func(string) bool) (keys []string) {
	t.Helper()
	lines, err := briefing.Beside(t.Context(), s, prompt, told, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range lines {
		keys = append(keys, x.Version.Key)
	}
	return keys
}

// crowdedStore is a store of some facts of the user's among many notes of an agent.
func crowdedStore(t *testing.T) *Store {
	s := testStore(t, nil)
	for _, a := range []Assertion{
		{Category: "team", Key: "invoices", Value: "Marta owns invoices; ask her before a template changes."},
		{Category: "decision", Key: "carrier", Value: "Parcels go with Posti, since customs are included."},
		{Category: "infra", Key: "mirror", Value: "The apt mirror stands in Tampere."},
		{Category: "data", Key: "telemetry", Value: "Telemetry is deleted after 40 days."},
	} {
		a.Source = "user"
		s.remember(t, a)
	}
	for i := range 60 {
		s.remember(t, Assertion{Category: "architecture", Key: fmt.Sprint("layer-", i), Value: fmt.Sprintf("module %d adds a test, a file and some code to the function of branch %d", i, i)})
	}
	return s.Store
}

// Each clause of a prompt is told what it is about, and the words of most prompts find nothing.
func TestEachClauseOfAPromptFindsItsFact(t *testing.T) {
	s := crowdedStore(t)
	got := toldBeside(t, s, "change the template of the invoices, then let parcels go with another carrier", nil)
	if len(got) != 2 || !strings.Contains(strings.Join(got, " "), "invoices") || !strings.Contains(strings.Join(got, " "), "carrier") {
		t.Errorf("%v", got)
	}
	for _, prompt := range []string{"add a test and some code to the file", "fix it", "go", "", "   ", "fix the function on this branch"} {
		if got := toldBeside(t, s, prompt, nil); len(got) > 0 {
			t.Errorf("%q: %v", prompt, got)
		}
	}
}

// What the reader was told is not told again, and leaves its place to the next.
func TestWhatIsToldLeavesItsPlace(t *testing.T) {
	s := testStore(t, nil)
	birds := []string{"kestrel", "heron", "plover", "dunlin", "avocet", "lapwing", "curlew", "godwit", "snipe"}
	for _, bird := range birds {
		s.remember(t, Assertion{Category: "team", Key: bird, Value: "Marta looks after the " + bird + " service.", Source: "user"})
	}
	first := map[string]bool{}
	for _, want := range []int{6, 3, 0} {
		lines, err := briefing.Beside(t.Context(), s.Store, "timeouts: the "+strings.Join(birds, " service, the ")+" service", func(id string) bool { return first[id] }, nil)
		if err != nil || len(lines) != want {
			t.Errorf("%d lines, not %d (%v)", len(lines), want, err)
		}
		for _, x := range lines {
			first[x.Version.ID] = true
		}
	}
}

// Any prompt will do: long, of code, in another language, of many questions.
func TestAnyPromptWillDo(t *testing.T) {
	s := crowdedStore(t)
	questions := "who owns invoices? which carrier do parcels go with? where is the apt mirror? when is telemetry deleted? "
	for name, c := range map[string]struct {
		prompt string
		want   string
	}{
		"code alone":        {"```\nfunc invoices() { return carrier }\n```", ""},
		"code and a word":   {"```\nparcels := carrier(invoices)\n```\nfix it", ""},
		"ten questions":     {questions + strings.Repeat("what is that? ", 6), "carrier invoices mirror telemetry"},
		"one word":          {"invoices", "invoices"},
		"German":            {"Bitte ändere die Vorlage für Rechnungen und prüfe das Protokoll", ""},
		"64 KiB":            {strings.Repeat("and some more words of the log ", 2<<10), ""},
		"64 KiB at the end": {"change the template of the invoices\n" + strings.Repeat("2026-01-02T10:00:00Z INFO parcels carrier mirror\n", 1300), "invoices"},
		"no text":           {strings.Repeat("\x00\xff", 1000), ""},
	} {
		got := toldBeside(t, s, c.prompt, nil)
		for w := range strings.FieldsSeq(c.want) {
			if !strings.Contains(strings.Join(got, " "), w) {
				t.Errorf("%s: %v, not %s", name, got, c.want)
			}
		}
		if c.want == "" && len(got) > 0 && name != "code alone" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A value of 64 KiB is one line, and what was erased is never told.
func TestWhatIsToldIsBounded(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "team", Key: "invoices", Value: "Marta owns invoices. " + strings.Repeat("And more. ", 6<<10), Source: "user"})
	s.remember(t, Assertion{Category: "team", Key: "parcels", Value: "Ilse owns parcels."})
	if _, err := s.Store.Remove(t.Context(), Withdrawal{Category: "team", Key: "parcels", Erase: true}); err != nil {
		t.Fatal(err)
	}
	lines, err := briefing.Beside(t.Context(), s.Store, "who owns invoices and who owns parcels?", nil, nil)
	if err != nil || len(lines) != 1 || len(lines[0].Text()) > 600 || strings.Contains(lines[0].Text(), "Ilse") {
		t.Errorf("%v, %+v", err, lines)
	}
	b, err := briefing.Wakeup(t.Context(), s.Store, briefing.Query{})
	if err != nil || strings.Contains(b.Text(), "Ilse") || len(b.Text()) > 800*4 {
		t.Errorf("%v, %s", err, b.Text())
	}
}

// A rule for what a prompt is about to do is told where the start had no place for it: not where it was told, in part too.
func TestARuleForWhatThePromptIsAboutToDo(t *testing.T) {
	s := testStore(t, nil)
	for _, a := range []Assertion{
		{Category: "workflow", Key: "commits", Value: "Every subject names its ticket.", Source: "user"},
		{Category: "user", Key: "commit-style", Value: "Ask for no emoji.", Source: "user"},
		{Category: "team", Key: "queue", Value: "Ruben reviews it.", Source: "user"},
		{Category: "testing", Key: "tests", Value: "They take a minute.", Source: "user"},
		{Category: "release", Key: "next", Value: "5.2 leaves on 2027-02-02.", Source: "user"},
		{Category: "release", Key: "freeze", Value: "It begins on Fridays.", Source: "user"},
		{Category: "release", Key: "tool", Value: "It is made by a script.", Source: "user"},
		{Category: "workflow", Key: "commit-hooks", Value: "Never skip them."}, // an agent's
	} {
		s.remember(t, a)
	}
	commits, err := s.Recall(t.Context(), Question{Category: "workflow", Key: "commits"})
	if err != nil || len(commits.Facts) != 1 {
		t.Fatal(err, commits.Facts)
	}
	is := func(id string) bool { return id == commits.Facts[0].ID }
	for _, c := range []struct {
		prompt     string
		told, part func(string) bool
		want       string
	}{
		{"looks good, commit it", nil, nil, "commits"},
		{"looks good, commit it", is, nil, "commit-style"},
		{"looks good, commit it", nil, is, "commit-style"},
		{"run the tests", nil, nil, ""},
		{"page for newcomers: commits, layers, who to ask", nil, nil, "commit-style commits queue"},
		{"until when can I change the wording?", nil, nil, "freeze next"},
		{"looks good", nil, nil, ""},
	} {
		lines, err := briefing.Beside(t.Context(), s.Store, c.prompt, c.told, c.part)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, x := range lines {
			keys = append(keys, x.Version.Key)
		}
		if got := strings.Join(keys, " "); got != c.want {
			t.Errorf("%q: %q, not %q", c.prompt, got, c.want)
		}
	}
}

// What a user settled needs less evidence than what they told in passing.
func TestWhatIsSettledIsToldSooner(t *testing.T) {
	s := testStore(t, nil)
	for _, a := range []Assertion{
		{Category: "decision", Key: "store", Value: "The catalogue stays on SQLite; LMDB broke network drives.", Source: "user"},
		{Category: "infra", Key: "mirror", Value: "The gazetteer was loaded from Ghent in spring.", Source: "user"},
	} {
		s.remember(t, a)
	}
	for i := range 60 {
		s.remember(t, Assertion{Category: "architecture", Key: fmt.Sprint("layer-", i), Value: fmt.Sprintf("module %d has an index, a reader and a writer", i)})
	}
	prompt := "fix the catalogue where LMDB was, and see the gazetteer that came from Ghent"
	if got := toldBeside(t, s.Store, prompt, nil); len(got) != 1 || got[0] != "store" {
		t.Errorf("%v", got)
	}
}
