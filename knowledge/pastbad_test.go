package knowledge_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/embed"
	. "leanctx/knowledge"
	"leanctx/knowledge/transfer"
)

// answersEach asks questions and looks for a text in each answer.
func answersEach(t *testing.T, s *story, want map[string]string) {
	t.Helper()
	for question, text := range want {
		if got := asked(t, s, question).Text(); !strings.Contains(got, text) {
			t.Errorf("%.80s: no %q in\n%.900s", question, text, got)
		}
	}
}

// TestAPastOf10000Versions: each version is found that a question names, and the answers are bounded.
func TestAPastOf10000Versions(t *testing.T) {
	s := testStore(t, nil)
	const n = 10_000
	day := func(i int) string { return time.Date(1998, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }
	var facts []string
	for i := range n {
		until := "null"
		if i+1 < n {
			until = `"` + day(i+1) + `T00:00:00Z"`
		}
		facts = append(facts, fmt.Sprintf(`{"id":"f-%d","category":"release","key":"build","value":"tag r%05d","confidence":0.8,"created_at":%q,"valid_from":%q,"valid_until":%s}`, i, i, day(i)+"T00:00:00Z", day(i)+"T00:00:00Z", until))
	}
	must[transfer.Imported](t)(transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(`{"schema":1,"facts":[` + strings.Join(facts, ",") + `]}`)}))
	answersEach(t, s, map[string]string{
		"what was the release build before r07777":       "tag r07776",
		"what replaced r00000":                           "tag r00001",
		"since when do we ship the build r04242":         day(4242),
		"did we ever ship the build r09998":              day(9998),
		"what was the first release build":               "tag r00000",
		"how many times did the release build change":    "changed 9999 times",
		"what was the release build on " + day(5000):     "tag r05000",
		"what changed in the release build in June 2010": "20 more",
		"when did we stop shipping build r00500":         day(501),
		"what was the release build before":              "tag r09998",
		"do we still ship the build r00500":              "No longer 'tag r00500'",
		"tag r00500":                                     "No current fact [release/build]: ended " + day(501) + " (was 'tag r00500'",
		"why did we move from r00500 to r00501":          "Why 'tag r00501'",
	})
}

// TestAClockAYearAheadSpoilsNoPast: a version that was recorded by such a clock counts as begun, and the past is found.
func TestAClockAYearAheadSpoilsNoPast(t *testing.T) {
	s := pastStore(t, nil)
	s.days(365)
	s.remember(t, Assertion{Category: "queue", Key: "broker", Value: "Kafka 4"})
	s.remember(t, Assertion{Category: "mail", Key: "relay", Value: "Postfix"})
	s.days(-365)
	s.remember(t, Assertion{Category: "mail", Key: "relay", Value: "Exim"})
	answersEach(t, s, map[string]string{
		"what broker did we use before Kafka":   "[queue/broker]: NATS",
		"what database did we use before":       "[database/engine]: MySQL 8",
		"did we ever use RabbitMQ":              "[valid 2024-12-01 → 2025-05-04]",
		"what did we use for mail before Exim":  "[mail/relay]: Postfix",
		"do we still use Postfix":               "No longer 'Postfix'",
		"how many times did the region change":  "changed twice",
		"what changed in July 2025":             "eu-west-3 (was 'eu-central-1')",
		"which region did we use in March 2025": "eu-central-1",
		"since when do we use Kafka":            "Kafka 4",
		"what changed last week":                "Changed",
		"when did we stop using RabbitMQ":       "2025-05-04",
	})
}

// TestAFactWhoseEveryVersionWasRemoved: its past is told as taken back, and nothing of it as true.
func TestAFactWhoseEveryVersionWasRemoved(t *testing.T) {
	s := pastStore(t, nil)
	for range 3 {
		s.days(1)
		s.remember(t, Assertion{Category: "mail", Key: "relay", Value: fmt.Sprint("Postfix ", s.now.Day())})
		s.days(1)
		must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "mail", Key: "relay", Reason: "never ran"}))
	}
	answersEach(t, s, map[string]string{
		"did we ever use Postfix 16":               "[retracted]",
		"what was our mail relay before":           "[retracted]",
		"how many times did the mail relay change": "Timeline [mail/relay]",
		"do we still use Postfix":                  "No current fact [mail/relay]: removed",
		"since when do we use Postfix":             "[valid 2026-01-20 → 2026-01-21] [retracted]",
		"why did we drop Postfix":                  "never ran",
		"what replaced Postfix 20":                 "No current fact [mail/relay]: removed",
		"what was the first mail relay":            "Postfix 16",
		"what changed since 2026-01-17":            "2026-01-17 - removed: [mail/relay] Postfix 16",
	})
}

// TestErasedValuesAreInNoAnswerAndNoIndex: also those that were over long before the fact was erased.
func TestErasedValuesAreInNoAnswerAndNoIndex(t *testing.T) {
	s := pastStore(t, nil)
	s.remember(t, Assertion{Category: "mail", Key: "relay", Value: "Zimbrawerk", ValidFrom: "2025-01-01"})
	s.remember(t, Assertion{Category: "mail", Key: "relay", Value: "Exim", ValidFrom: "2025-02-01"})
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	answersEach(t, s, map[string]string{"did we ever use Zimbrawerk": "Zimbrawerk", "what did we use before Exim": "Zimbrawerk"})
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "mail", Key: "relay", Erase: true}))
	for _, question := range []string{"did we ever use Zimbrawerk", "what was our mail relay before", "what did we use before Exim", "what changed in January 2025", "Zimbrawerk", "mail relay in January 2025", "list the history of the mail relay", "who said Zimbrawerk", "why did we move from Zimbrawerk to Exim"} {
		if got := asked(t, s, question).Text(); strings.Contains(strings.ReplaceAll(got, question, ""), "Zimbrawerk") {
			t.Errorf("%s: erased, and yet\n%s", question, got)
		}
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if strings.Contains(strings.ToLower(string(data)), "zimbra") {
			t.Errorf("%s holds it", path)
		}
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestValuesThatAreWordsOfTime: dates, cues and titles are values like others.
func TestValuesThatAreWordsOfTime(t *testing.T) {
	s := pastStore(t, nil)
	for _, a := range []Assertion{
		{Category: "day", Key: "code-freeze", Value: "2026-02-01", ValidFrom: "2025-01-01"},
		{Category: "day", Key: "code-freeze", Value: "2026-03-01", ValidFrom: "2025-02-01"},
		{Category: "hook", Key: "order", Value: "before", ValidFrom: "2025-01-01"},
		{Category: "hook", Key: "order", Value: "after", ValidFrom: "2025-04-01"},
		{Category: "cinema", Key: "opening-film", Value: "Before Sunrise", ValidFrom: "2025-01-01"},
		{Category: "cinema", Key: "opening-film", Value: "Since Otar Left", ValidFrom: "2025-03-01"},
		{Category: "cinema", Key: "slogan", Value: "Since 1892", ValidFrom: "2025-01-01"},
		{Category: "cinema", Key: "slogan", Value: "Films at their best", ValidFrom: "2025-05-01"},
		// A word that is the present value of one fact, and was one of another.
		{Category: "web", Key: "framework", Value: "Svelte", ValidFrom: "2024-01-01"},
		{Category: "web", Key: "framework", Value: "React", ValidFrom: "2025-01-01"},
		{Category: "admin", Key: "framework", Value: "React", ValidFrom: "2024-02-01"},
		{Category: "admin", Key: "framework", Value: "Vue", ValidFrom: "2025-06-01"},
		{Category: "admin", Key: "framework", Value: "Ember", ValidFrom: "2023-02-01", ValidUntil: "2024-02-01"},
	} {
		s.remember(t, a)
	}
	for question, want := range map[string][]string{
		"which day was the code freeze before it moved to 2026-03-01": {"[day/code-freeze]: 2026-02-01", "[valid 2025-01-01 → 2025-02-01]"},
		"what was the code freeze day before":                         {"2026-02-01", "[valid 2025-01-01 → 2025-02-01]"},
		"what was the order of the hook before 'after'":               {"[hook/order]: before", "[valid 2025-01-01 → 2025-04-01]"},
		"how did the order of the hook change over time":              {"before [archived]", "after [CURRENT]"},
		"what was the opening film before Since Otar Left":            {"Before Sunrise", "[valid 2025-01-01 → 2025-03-01]"},
		"since when is the opening film Since Otar Left":              {"Since Otar Left", "since 2025-03-01"},
		"did we ever open with Before Sunrise":                        {"Before Sunrise", "[valid 2025-01-01 → 2025-03-01]"},
		"did we ever have the slogan 'Since 1892'":                    {"Since 1892", "[valid 2025-01-01 → 2025-05-01]"},
		"what was the slogan before Films at their best":              {"Since 1892", "[valid 2025-01-01 → 2025-05-01]"},
		"which framework did we use before React":                     {"Svelte", "[valid 2024-01-01 → 2025-01-01]", "Ember", "[valid 2023-02-01 → 2024-02-01]"},
		"which framework did the web use before React":                {"(showing 1/1)", "[web/framework]: Svelte"},
		"which framework did the admin use before React":              {"(showing 1/1)", "[admin/framework]: Ember"},
		"what replaced React in the admin framework":                  {"[admin/framework]: Vue"},
		"do we still use React":                                       {"[web/framework]: React"},
	} {
		answersInOrder(t, s, question, want)
	}
}

// TestQuestionsOfAnySize: up to the most that a query may have.
func TestQuestionsOfAnySize(t *testing.T) {
	s := pastStore(t, nil)
	for _, unit := range []string{"what did we use before Postgres ", "before ", "before? ", "and what did we use before X, ", "'", "between 2025-01-01 and ", "since when "} {
		question := strings.Repeat(unit, 64<<10/len(unit))
		start := time.Now()
		r := asked(t, s, question)
		if text := r.Text(); len(text) > 8<<10 || time.Since(start) > 5*time.Second {
			t.Errorf("%q: %d bytes in %s", unit, len(text), time.Since(start))
		}
	}
}

// TestThePastOfAStoreOfAnEarlierVersion: one whose index is of another mapping, or that has none.
func TestThePastOfAStoreOfAnEarlierVersion(t *testing.T) {
	s := pastStore(t, nil)
	must[transfer.Imported](t)(transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(subjects(500))}))
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(dir string) error{
		"earlier mapping": func(dir string) error { return otherMapping(generations(dir)[0], -1) },
		"no index":        func(dir string) error { return os.RemoveAll(filepath.Join(dir, "index")) },
	} {
		dir := copied(t, s.dir)
		if err := spoil(dir); err != nil {
			t.Fatal(name, err)
		}
		old := &story{dir: dir, now: s.now}
		old.open(t, nil)
		answersEach(t, old, map[string]string{
			"what database did we use before Postgres": "[database/engine]: MySQL 8",
			"did we ever use RabbitMQ":                 "[valid 2024-12-01 → 2025-05-04]",
			"RabbitMQ":                                 "No current fact [queue/broker]: ended 2025-05-04",
		})
	}
	v1 := &story{dir: copied(t, filepath.Join("..", "testdata", "store", "v1")), now: s.now}
	v1.open(t, nil)
	answersEach(t, v1, map[string]string{
		"which cache did we use before Valkey": "Redis 7",
	})
}

// TestAnEndedFactIsFoundByMeaningAlone: neither words nor a present value lead to it. What is less near is told as such.
func TestAnEndedFactIsFoundByMeaningAlone(t *testing.T) {
	encoders := &embed.Models{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
	s := pastStore(t, &Options{Encoders: encoders})
	for _, a := range []Assertion{
		{Category: "legal", Key: "counsel", Value: "Baker and Sons are our lawyers", ValidFrom: "2021-02-01", ValidUntil: "2025-04-01"},
		{Category: "hr", Key: "intern", Value: "Mira is our trainee for the summer", ValidFrom: "2025-06-01", ValidUntil: "2025-09-01"},
		{Category: "ops", Key: "freezer", Value: "samples are kept in a freezer at -80 degrees", ValidFrom: "2024-02-01", ValidUntil: "2025-11-01"},
	} {
		s.remember(t, a)
	}
	check := func(s *story) {
		t.Helper()
		for question, want := range map[string][]string{
			"which attorneys did we have previously": {"Earlier values, read from the question (showing 1/1):", "[legal/counsel]: Baker and Sons", "[valid 2021-02-01 → 2025-04-01]"},
			"did we ever have an apprentice":         {"No facts matching", "maybe: [hr/intern]: Mira is our trainee", "[valid 2025-06-01 → 2025-09-01]"},
			"did we ever sponsor a football club":    {"No facts matching"},
		} {
			answersInOrder(t, s, question, want)
		}
		if got := asked(t, s, "did we ever sponsor a football club"); len(got.Facts) > 0 && got.Facts[0].Past {
			t.Error(got.Text())
		}
	}
	check(s)
	must[transfer.Imported](t)(transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(subjects(500))}))
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	cold := &story{dir: copied(t, s.dir), now: s.now} // it reads facts from the index
	cold.open(t, &Options{Encoders: encoders})
	check(cold)
}
