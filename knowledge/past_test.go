package knowledge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	. "leanctx/knowledge"
	"leanctx/knowledge/history"
)

// pastStore is the memory of a project with a history.
func pastStore(t *testing.T, o *Options) *story {
	s := testStore(t, o)
	for _, a := range []struct{ name, value, from, until, by string }{
		{"database/engine", "MySQL 8", "2025-01-10", "", "codex-1acc"},
		{"database/engine", "PostgreSQL 16", "2025-06-01", "", "cursor-a3f8"},
		{"hosting/region", "us-east-1", "2024-11-01", "", "cursor-a3f8"},
		{"hosting/region", "eu-central-1", "2025-03-01", "", "cursor-a3f8"},
		{"hosting/region", "eu-west-3", "2025-07-20", "", "codex-1acc"},
		{"queue/broker", "RabbitMQ 3.12", "2024-12-01", "", "cursor-a3f8"},
		{"queue/broker", "NATS", "2025-05-04", "", "cursor-a3f8"},
		{"vendor/sms", "Twilio for text messages", "2024-08-01", "2025-06-30", "codex-1acc"},
		{"school/uniform", "grey blazers", "2015-09-01", "2024-07-31", "codex-1acc"},
		{"clinic/parking-fee", "two euros an hour", "2024-01-01", "2025-03-31", "codex-1acc"},
		{"deploy/steps", "run the migrations before the deploy", "2025-01-01", "", "codex-1acc"},
	} {
		category, key, _ := strings.Cut(a.name, "/")
		must[Remembered](t)(s.As(Actor{Agent: a.by}).Remember(t.Context(), Assertion{Category: category, Key: key, Value: a.value, ValidFrom: a.from, ValidUntil: a.until}))
	}
	return s
}

func asked(t *testing.T, s *story, question string) Recalled {
	t.Helper()
	return must[Recalled](t)(s.Recall(t.Context(), Question{Query: question}))
}

// TestThePastIsAskedInWords asks about the past. The first line of an answer says how the question was
// understood, and each past value has its period.
func TestThePastIsAskedInWords(t *testing.T) {
	s := pastStore(t, nil)
	for question, want := range map[string][]string{
		"what database did we use before the move to Postgres":   {"Before 'PostgreSQL 16' (2025-06-01), read from the question (showing 1/1):", "[database/engine]: MySQL 8", "[valid 2025-01-10 → 2025-06-01]"},
		"which region did we run in before the move to Postgres": {"Before 'PostgreSQL 16' (2025-06-01)", "[hosting/region]: eu-central-1", "[valid 2025-03-01 → 2025-07-20]"},
		"what replaced us-east-1":                                {"After 'us-east-1' (until 2025-03-01)", "eu-central-1", "[valid 2025-03-01 → 2025-07-20]"},
		"what came before us-east-1":                             {"Nothing is known from before 'us-east-1' (2024-11-01)", "us-east-1"},
		"what came after eu-west-3":                              {"Nothing followed 'eu-west-3', which holds", "since 2025-07-20"},
		"what was our database before":                           {"Earlier values, read from the question (showing 1/1):", "MySQL 8", "[valid 2025-01-10 → 2025-06-01]"},
		"since when do we use PostgreSQL":                        {"Since when, read from the question", "since 2025-06-01 by cursor-a3f8"},
		"when did we stop using MySQL":                           {"Until when, read from the question", "[valid 2025-01-10 → 2025-06-01]"},
		"did we ever use MySQL":                                  {"Ever, read from the question", "MySQL 8", "[valid 2025-01-10 → 2025-06-01]"},
		"what was the first region":                              {"The first value, read from the question", "us-east-1"},
		"which regions have we had so far":                       {"All values so far", "us-east-1", "eu-central-1", "eu-west-3"},
		"do we still use MySQL":                                  {"No longer 'MySQL 8' (until 2025-06-01)", "PostgreSQL 16", "since 2025-06-01", "MySQL 8", "[valid"},
		"do we still use Twilio for text messages":               {"No current fact [vendor/sms]: ended 2025-06-30 (was 'Twilio for text messages')."},
		"who decided on MySQL":                                   {"Who said so", "MySQL 8", "by codex-1acc"},
		"how many times did the region change":                   {"Timeline [hosting/region], changed twice, read from the question (showing 3/3):", "us-east-1 [archived] (2024-11-01 → 2025-03-01)", "eu-west-3 [CURRENT] (2025-07-20 → now)"},
		"what changed in July 2025":                              {"Changed 2025-07-01 → 2025-07-31, read from the question (showing 1/1):", "2025-07-20 ~ changed: [hosting/region] eu-west-3 (was 'eu-central-1')"},
		"what changed in June 2025":                              {"(showing 2/2):", "PostgreSQL 16 (was 'MySQL 8')", "2025-06-30 - no longer true: [vendor/sms] Twilio"},
		"what changed in June 1999":                              {"read from the question: nothing."},
		"why did we move from MySQL to Postgres":                 {"Why 'PostgreSQL 16' followed 'MySQL 8' (2025-06-01)", "since 2025-06-01 by cursor-a3f8", "by codex-1acc"},
		"which region in July 2025":                              {"Facts as of 2025-07-31, read from the question", "eu-west-3", "eu-central-1", "[valid 2025-03-01 → 2025-07-20]"},
		"RabbitMQ":                                               {"No current fact [queue/broker]: ended 2025-05-04 (was 'RabbitMQ 3.12', now 'NATS')."},
		"did we ever use Oracle":                                 {"No facts matching"},
		"do pupils still wear blazers":                           {"No current fact [school/uniform]: ended 2024-07-31 (was 'grey blazers')."},
		"was there a time when we paid for parking":              {"No current fact [clinic/parking-fee]: ended 2025-03-31"},
		"what happened to us-east-1":                             {"After 'us-east-1' (until 2025-03-01)", "eu-central-1"},
		"which region did we use first":                          {"The first value", "us-east-1"},
		"which regions have we had":                              {"All values so far", "us-east-1", "eu-west-3"},
		"what has to run before the deploy":                      {"Matching facts", "run the migrations before the deploy"},
		"what did we run before the deploy":                      {"Matching facts", "run the migrations before the deploy"},
	} {
		answersInOrder(t, s, question, want)
	}
}

// answersInOrder asks a question and looks for texts in the answer, each after the one before.
func answersInOrder(t *testing.T, s *story, question string, want []string) {
	t.Helper()
	t.Log(question)
	answersText(t, asked(t, s, question).Text(), want...)
}

// answersText looks for texts in an answer, each after the one before.
func answersText(t *testing.T, got string, want ...string) {
	t.Helper()
	rest := got
	for _, w := range want {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			t.Errorf("no %q in\n%s", w, got)
			break
		}
		rest = after
	}
}

// TestArgumentsWinOverWordsOfThePast: as_of and known_at say which time is meant, and a prompt asks for none.
func TestArgumentsWinOverWordsOfThePast(t *testing.T) {
	s := pastStore(t, nil)
	for _, q := range []Question{{AsOf: "2025-08-01"}, {KnownAt: "2030-01-01"}, {Prompt: true}} {
		q.Query = "what database did we use before Postgres"
		if r := must[Recalled](t)(s.Recall(t.Context(), q)); r.Read != nil || len(r.Facts) == 0 || r.Facts[0].Value != "PostgreSQL 16" {
			t.Errorf("%+v: %s", q, r.Text())
		}
	}
	data, err := json.Marshal(asked(t, s, "what database did we use before Postgres"))
	if err != nil || !strings.Contains(string(data), `"read":{"kind":"before","subject":"database","value":"PostgreSQL 16","at":"2025-06-01T00:00:00Z","header":"Before 'PostgreSQL 16' (2025-06-01)"}`) || !strings.Contains(string(data), `"past":true`) {
		t.Errorf("%s, %v", data, err)
	}
}

// TestRemovedCorrectedAndPlannedValuesAreToldAsSuch: and what was erased is in no answer.
func TestRemovedCorrectedAndPlannedValuesAreToldAsSuch(t *testing.T) {
	s := pastStore(t, nil)
	s.days(1)
	s.remember(t, Assertion{Category: "mail", Key: "relay", Value: "Postfix"})
	s.days(1)
	s.remember(t, Assertion{Category: "mail", Key: "relay", Value: "Exim", Correct: true})
	s.days(1)
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "mail", Key: "relay", Reason: "no relay any more"}))
	s.remember(t, Assertion{Category: "search", Key: "engine", Value: "Solr"})
	s.remember(t, Assertion{Category: "search", Key: "engine", Value: "Meilisearch", ValidFrom: s.now.AddDate(0, 0, 20).Format(time.DateOnly)})
	for question, want := range map[string]string{
		"did we ever use Postfix":              "[corrected]",
		"did we ever use Exim":                 "[retracted]",
		"which search engine will we use soon": "[planned]",
		"do we still use Exim":                 "removed",
	} {
		if got := asked(t, s, question).Text(); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", question, want, got)
		}
	}
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "mail", Key: "relay", Erase: true}))
	for _, question := range []string{"did we ever use Postfix", "what was our mail relay before", "what changed this month", "Postfix", "who said Exim", "list the history of the mail relay"} {
		if got := asked(t, s, question).Text(); strings.Contains(strings.Replace(got, question, "", 1), "Postfix") || strings.Contains(got, "relay]: Exim") || strings.Contains(got, "= Exim") {
			t.Errorf("%s: erased, and yet\n%s", question, got)
		}
	}
}

// TestAPastOfAnyFormIsAnswered: a fact of very many versions, one whose value is a word of time, a question that contradicts
// itself, an event that never was.
func TestAPastOfAnyFormIsAnswered(t *testing.T) {
	s := pastStore(t, nil)
	for i := range 300 {
		s.remember(t, Assertion{Category: "build", Key: "number", Value: fmt.Sprintf("build %d", i), ValidFrom: time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)})
	}
	s.remember(t, Assertion{Category: "film", Key: "title", Value: "Before Sunrise", ValidFrom: "2025-01-01"})
	s.remember(t, Assertion{Category: "word", Key: "cue", Value: "before", ValidFrom: "2025-01-01"})
	s.remember(t, Assertion{Category: "day", Key: "freeze", Value: "2026-02-01", ValidFrom: "2025-01-01"})
	s.remember(t, Assertion{Category: "day", Key: "freeze", Value: "2026-03-01", ValidFrom: "2025-02-01"})
	for question, want := range map[string]string{
		"what was the build number before build 77":                     "build 76",
		"how many times did the build number change":                    "changed 299 times",
		"which film did we show Before Sunrise":                         "Before Sunrise",
		"what database did we use before the moon landing":              "[database/engine]: PostgreSQL 16",
		"what changed between 2025-08-01 and 2025-07-01":                "2025-07-20 ~ changed",
		"what was the freeze day before 2026-03-01":                     "[day/freeze]",
		"what was the word cue before":                                  "before",
		"which database did we use in March 2025 in June 2025":          "[database/engine]",
		"what did we run before " + strings.Repeat("the and of ", 5000): "Matching facts",
	} {
		if got := asked(t, s, question).Text(); !strings.Contains(got, want) {
			t.Errorf("%.80s: no %q in\n%.600s", question, want, got)
		}
	}
}

// TestWhyAValueChanged: the sentence of the new value, or of what its author wrote down on that day.
func TestWhyAValueChanged(t *testing.T) {
	diary := notes{list: []Finding{{Kind: "decision", Text: "Moved to PostgreSQL because MySQL lost our JSON indexes.", By: "cursor-a3f8", Ref: "diary:cursor-a3f8/3", At: time.Date(2025, 6, 1, 9, 0, 0, 0, time.UTC)},
		{Kind: "decision", Text: "MySQL and PostgreSQL: because somebody else said so.", By: "codex-1acc", Ref: "diary:codex-1acc/1", At: time.Date(2025, 6, 1, 9, 0, 0, 0, time.UTC)}}}
	s := pastStore(t, &Options{Findings: diary})
	if got := asked(t, s, "why did we move from MySQL to Postgres").Text(); !strings.Contains(got, "why: 'Moved to PostgreSQL because MySQL lost our JSON indexes.' (diary:cursor-a3f8/3 by cursor-a3f8)") {
		t.Error(got)
	}
	// The action why tells it as well.
	w := must[history.Provenance](t)(history.Why(t.Context(), s.Store, history.Subject{Category: "database", Key: "engine"}))
	answersText(t, w.Text(), "PostgreSQL 16", "replaced 'MySQL 8'", "why: 'Moved to PostgreSQL because MySQL lost our JSON indexes.' (diary:cursor-a3f8/3 by cursor-a3f8)", "MySQL 8 [archived]")
	if v := w.Versions[0].Why; v == nil || v.Source != "diary:cursor-a3f8/3" || w.Versions[1].Why != nil {
		t.Errorf("%+v", w.Versions)
	}
	s.remember(t, Assertion{Category: "hosting", Key: "region", Value: "eu-north-1. Chosen because power is cheap there.", ValidFrom: "2025-09-01"})
	if got := asked(t, s, "why did we move to eu-north-1").Text(); !strings.Contains(got, "why: 'Chosen because power is cheap there.' (value") {
		t.Error(got)
	}
	s.remember(t, Assertion{Category: "queue", Key: "broker", Value: "Kafka 4, because NATS lost messages", ValidFrom: "2025-10-01"})
	if got := asked(t, s, "why did we move from NATS to Kafka").Text(); !strings.Contains(got, "why: 'because NATS lost messages' (value") {
		t.Error(got)
	}
	s.remember(t, Assertion{Category: "queue", Key: "broker", Value: "Redpanda as the default, in use since June, for logs too", ValidFrom: "2025-11-01"})
	if got := asked(t, s, "why did we move from Kafka to Redpanda").Text(); !strings.Contains(got, "followed 'Kafka 4") || strings.Contains(got, "why: '") {
		t.Error(got)
	}
}

// TestTwoFactsThatCouldBeMeantAreBothTold: of several facts with the value that a question names, those of which it can be true are
// told, and no value that one of them had is told for the others.
func TestTwoFactsThatCouldBeMeantAreBothTold(t *testing.T) {
	s := pastStore(t, nil)
	for _, a := range []Assertion{
		{Category: "web", Key: "framework", Value: "Svelte", ValidFrom: "2024-01-01"},
		{Category: "web", Key: "framework", Value: "React", ValidFrom: "2025-01-01"},
		{Category: "admin", Key: "framework", Value: "React", ValidFrom: "2024-02-01"},
		{Category: "admin", Key: "framework", Value: "Vue", ValidFrom: "2025-06-01"},
		{Category: "shop", Key: "view-library", Value: "React", ValidFrom: "2023-05-01"},
	} {
		s.remember(t, a)
	}
	for question, want := range map[string][]string{
		"since when do we use React":                  {"Since when", "(showing 2/2)", "since 202", "since 202"},
		"do we still use React":                       {"Still", "(showing 2/2)", "]: React (", "]: React ("},
		"when did we stop using React":                {"Until when, read", "(showing 1/1)", "[admin/framework]: React", "[valid 2024-02-01 → 2025-06-01]"},
		"who decided on React":                        {"Who said so", "(showing 2/2)", "by cursor-a3f8"},
		"since when does the web framework use React": {"(showing 1/1)", "[web/framework]: React"},
		"why did we move to React":                    {"Why 'React' followed 'Svelte' (2025-01-01)"},
		"since when is the region eu-west-3":          {"(showing 1/1)", "eu-west-3"},
		"did we ever use React":                       {"(showing 3/3)"},
	} {
		answersInOrder(t, s, question, want)
	}
	r := must[Recalled](t)(s.Recall(t.Context(), Question{Query: "what database did we use before Postgres", Explain: true}))
	answersText(t, r.Text(), "Before 'PostgreSQL 16' (2025-06-01), read from the question (showing 1/1):", "read: asks before, of 'database', counted from 'PostgreSQL 16' on 2025-06-01", "MySQL 8")
}

// TestARenamedFactIsFoundByItsFormerName: with its history.
func TestARenamedFactIsFoundByItsFormerName(t *testing.T) {
	s := pastStore(t, nil)
	s.rename(t, NewName{Category: "hosting", Key: "region", To: "cloud/place"})
	if got := asked(t, s, "what was the hosting region before").Text(); !strings.Contains(got, "[cloud/place]: eu-central-1") {
		t.Error(got)
	}
}

// TestSearchFindsPastValues: with their periods, behind what holds.
func TestSearchFindsPastValues(t *testing.T) {
	s := pastStore(t, nil)
	r := must[Results](t)((&Library{Own: s.Store}).Search(t.Context(), Lookup{Query: "MySQL database engine"}))
	got := r.Text()
	now, past := strings.Index(got, "PostgreSQL 16"), strings.Index(got, "MySQL 8")
	if past < 0 || now > past || !strings.Contains(got[past:], "[valid 2025-01-10 → 2025-06-01]") {
		t.Error(got)
	}
}

// TestSeveralThingsOfThePastAreAnsweredEach: in one question, or in several, and at several dates.
func TestSeveralThingsOfThePastAreAnsweredEach(t *testing.T) {
	s := pastStore(t, nil)
	for question, want := range map[string][]string{
		"which database and which broker did we use before":                                 {"Earlier values, read from the question", "[database/engine]: MySQL 8", "[queue/broker]: RabbitMQ 3.12"},
		"which database did we use before Postgres and which broker did we use before NATS": {"Before 'PostgreSQL 16' (2025-06-01); Before 'NATS' (2025-05-04), read from the question (showing 2/2):", "MySQL 8", "[valid 2025-01-10 → 2025-06-01]", "RabbitMQ 3.12"},
		"since when do we use NATS? And what replaced MySQL?":                               {"Since when; After 'MySQL 8' (until 2025-06-01)", "NATS", "PostgreSQL 16"},
		"which region in January 2025 and in May 2025":                                      {"Facts as of 2025-01-31 and 2025-05-31, read from the question (showing 2/2):", "us-east-1", "[valid 2024-11-01 → 2025-03-01]", "eu-central-1"},
		"which region on 2025-03-01T00:30:00+02:00":                                         {"Facts as of 2025-02-28T22:30:00Z, read from the question", "us-east-1"},
		"which region did we run in until 2025-03-01":                                       {"Facts as of 2025-02-28", "us-east-1"},
	} {
		answersInOrder(t, s, question, want)
	}
}

// TestThingsThatOneFactHoldsAreAskedForTogether: "and" joins things that did something together, and one fact tells of both.
func TestThingsThatOneFactHoldsAreAskedForTogether(t *testing.T) {
	s := pastStore(t, nil)
	s.remember(t, Assertion{Category: "history", Key: "wire", Value: "The importer and the nightly exporter jobs shared one wire format for three releases."})
	s.remember(t, Assertion{Category: "owners", Key: "importer", Value: "The importer belongs to Ada."})
	s.remember(t, Assertion{Category: "format", Key: "shared", Value: "A wire format is shared by all nightly builds."})
	for _, question := range []string{
		"How long did the importer and its nightly exporter jobs share a wire format?",
		"When did the importer, its nightly exporter and their jobs share a wire format?",
	} {
		if r := asked(t, s, question); len(r.Facts) == 0 || r.Facts[0].Key != "wire" {
			t.Errorf("%s\n%s", question, r.Text())
		}
	}
}

// TestADateThatDoesNotExistIsNamed: nothing was true then, and its words are no words. Where a value holds them, they are.
func TestADateThatDoesNotExistIsNamed(t *testing.T) {
	s := pastStore(t, nil)
	for _, date := range []string{"on 2025-02-30", "on 31 April 2025", "in Febtober", "in Q5 2025"} {
		for _, question := range []string{"which region did we use " + date, "what changed " + date, "database engine " + date} {
			r := asked(t, s, question)
			_, name, _ := strings.Cut(date, " ")
			if r.Impossible != name || len(r.Facts) > 0 || !strings.Contains(r.Text(), "There is no '"+name+"': the date in the question does not exist.") {
				t.Errorf("%s: %q\n%s", question, r.Impossible, r.Text())
			}
		}
	}
	s.remember(t, Assertion{Category: "tests", Key: "bad-date", Value: "the parser refuses 2025-02-30"})
	if r := asked(t, s, "what does the parser do with 2025-02-30"); r.Impossible != "" || len(r.Facts) == 0 {
		t.Errorf("%s", r.Text())
	}
	if _, err := s.Recall(t.Context(), Question{Query: "region", AsOf: "February 30"}); err == nil {
		t.Error("as_of=February 30 is accepted")
	}
	if _, err := s.Remember(t.Context(), Assertion{Category: "a", Key: "b", Value: "c", ValidFrom: "31 April 2025"}); err == nil {
		t.Error("valid_from=31 April is accepted")
	}
}
