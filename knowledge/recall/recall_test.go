package recall

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var today = time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)

// some is a small store of a project.
func some(t testing.TB) []Candidate {
	day := func(s string) time.Time {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	facts := []Candidate{
		{Category: "architecture", Key: "database", Value: "PostgreSQL 16 on a managed instance, one schema a tenant.", Since: day("2026-01-10")},
		{Category: "architecture", Key: "auth-token", Value: "JWT RS256, access tokens live 15 minutes.", Since: day("2026-01-11")},
		{Category: "convention", Key: "logging", Value: "slog, JSON to stderr, never log request bodies.", Since: day("2026-01-12")},
		{Category: "deployment", Key: "host", Value: "AWS ECS Fargate, two services, eu-central-1.", Since: day("2026-01-13"), Questions: "where do we run in production; which region are we deployed in"},
		{Category: "architecture", Key: "cache", Value: "Sessions are kept in Redis with a TTL of 30 minutes.", Since: day("2026-01-14")},
		{Category: "stack", Key: "background-jobs", Value: "Reminders and imports are BullMQ jobs on an Upstash Redis, the worker is apps/worker.", Since: day("2025-10-06")},
		{Category: "stack", Key: "inngest", Value: "BullMQ and Upstash are gone, reminders and imports are Inngest functions now, apps/worker deleted.", Since: day("2026-02-09")},
		{Category: "gotcha", Key: "migrations", Value: "Migrations lock the orders table: run them at night.", Since: day("2026-01-15")},
	}
	for i := range facts {
		v := encode(t, factText(&facts[i]), facts[i].Questions, nameText(&facts[i]))
		facts[i].Vector, facts[i].Name = v[0], v[2]
		if facts[i].Questions != "" {
			facts[i].QuestionsVector = v[1]
		}
	}
	return facts
}

// ask gives the names of the answers, those that are only a maybe with a question mark.
func ask(t testing.TB, facts []Candidate, text string, meaning bool) (names []string, answers []Answer) {
	q := Parse(text, &Options{Now: today})
	if err := q.Resolve(newMemory(facts)); err != nil {
		t.Fatal(err)
	}
	var m *Meaning
	if meaning {
		m = &Meaning{Vectors: encode(t, q.Texts...)}
	} else {
		facts = withoutVectors(facts)
	}
	answers = q.Rank(facts, m)
	for _, a := range answers {
		name := facts[a.Index].Key
		if a.Maybe {
			name += "?"
		}
		names = append(names, name)
	}
	return names, answers
}

func TestQuestionsFindTheirFact(t *testing.T) {
	facts := some(t)
	for _, tt := range []struct{ question, first string }{
		{"which region are we deployed in?", "host"},
		{"redis or memcached for sessions?", "cache"},
		{"set up logging in the new worker", "logging"},
		{"how long do access tokens live", "auth-token"},
		{"which db do we use", "database"}, // short for it
		{"authentication", "auth-token"},   // it is short for it
		{"postgres", "database"},           // a word's beginning
		{"postgersql", "database"},         // a slip
		{"database", "database"},           // a name
		{"Auth Token", "auth-token"},       // a name, written otherwise
		{"what is the deal with migrations", "migrations"},
	} {
		for _, meaning := range []bool{true, false} {
			names, _ := ask(t, facts, tt.question, meaning)
			if len(names) == 0 || strings.TrimSuffix(names[0], "?") != tt.first {
				t.Errorf("%q (meaning %v) is answered by %q, not by %s", tt.question, meaning, names, tt.first)
			}
		}
	}
}

func TestStrangersGetNoFirmAnswer(t *testing.T) {
	facts := some(t)
	for _, text := range []string{"who won the world cup", "what is the wifi password", "how tall is Mount Everest", "xqzzy", "when is the next release party", "capital of France"} {
		if names, _ := ask(t, facts, text, true); len(names) > 0 && !strings.HasSuffix(names[0], "?") {
			t.Errorf("%q is answered by %q", text, names)
		}
	}
}

func TestNewerFactTakesThePlaceOfTheOlder(t *testing.T) {
	facts := some(t)
	for _, text := range []string{"what runs reminders and imports as BullMQ jobs", "which worker runs the imports"} {
		names, answers := ask(t, facts, text, true)
		if len(names) < 2 || names[0] != "inngest" || answers[0].Outdated != -1 || strings.TrimSuffix(names[1], "?") != "background-jobs" || answers[1].Outdated != answers[0].Index {
			t.Errorf("%q: %q %+v", text, names, answers)
		}
	}
	names, answers := ask(t, facts, "what originally ran reminders and imports", true)
	if len(names) == 0 || names[0] != "background-jobs" || answers[0].Outdated != -1 {
		t.Errorf("what was: %q %+v", names, answers)
	}
}

// That a newer fact has taken an older one's place may be wrong. So the older one is told behind it however well the newer
// one fits, and more firmly the less certain that is.
func TestAnOlderFactIsToldBehindTheNewer(t *testing.T) {
	answers := []Answer{{Index: 7, rank: 11, Score: .99, Outdated: -1}, {Index: 3, rank: 2, Outdated: 7}, {Index: 5, rank: 1.9, Outdated: -1}}
	for odds, want := range map[float64]float64{1.6: .16, 3: .05, -.5: .5, 12: 0} {
		answers[1].outdated = odds
		told := (&Question{}).firm(slices.Clone(answers), .99)
		if got := append(told, Answer{})[1].Score; math.Abs(got-want) > .01 {
			t.Errorf("log odds %.1f: told with %.2f, want %.2f", odds, got, want)
		}
	}
}

// By words alone a newer fact takes an older one's place too.
func TestNewerFactTakesThePlaceOfTheOlderByWords(t *testing.T) {
	names, answers := ask(t, some(t), "which worker runs the reminders and imports", false)
	if len(names) < 2 || names[0] != "inngest" || answers[1].Outdated != answers[0].Index {
		t.Errorf("%q %+v", names, answers)
	}
}

func TestATaskGetsAtMostThreeAnswers(t *testing.T) {
	names, answers := ask(t, some(t), "Please move the sessions out of Redis into the database. Keep the access tokens as they are. "+
		"Write the migrations so that the orders table is not locked, log what you do with slog, and deploy the result to ECS in the evening when nobody works.", true)
	if len(names) < 2 || len(names) > 3 || answers[0].Maybe {
		t.Errorf("%q", names)
	}
}

func TestDates(t *testing.T) {
	for _, tt := range []struct{ text, day, date, rest string }{
		{"which host in January 2026?", "2026-01-31", "in January 2026", "which host  ?"},
		{"what was it on 2026-02-01", "2026-02-01", "on 2026-02-01", "what was it  "},
		{"who was the owner last March", "2026-03-31", "last March", "who was the owner  "},
		{"back in february, which cache", "2026-02-28", "back in february", " , which cache"},
		{"what ran in december", "2025-12-31", "in december", "what ran  "},
		{"what ran before february", "2026-01-31", "before february", "what ran  "},
		{"limit at the end of 2025", "2025-12-31", "at the end of 2025", "limit  "},
		{"limit at the beginning of april 2026", "2026-04-01", "at the beginning of april 2026", "limit  "},
		{"which orm in october '25", "2025-10-31", "in october '25", "which orm  "},
		{"the price on feb 1st 2026", "2026-02-01", "on feb 1st 2026", "the price  "},
		{"the price on 1 Febuary 2026", "2026-02-01", "on 1 Febuary 2026", "the price  "},
		{"hosting in Q3 2025", "2025-09-30", "in Q3 2025", "hosting  "},
		{"hosting at Christmas last year", "2025-12-25", "at Christmas last year", "hosting  "},
		{"hosting in autumn 2025", "2025-10-15", "in autumn 2025", "hosting  "},
		{"hosting 3 weeks ago", "2026-04-29", "3 weeks ago", "hosting  "},
		{"hosting three weeks ago", "2026-04-29", "three weeks ago", "hosting  "},
		{"hosting last year", "2025-12-31", "last year", "hosting  "},
		{"what changed since January 2026", "", "", ""},
		{"what is due by 2026-02-01", "", "", ""},
		{"keep until march", "", "", ""},
		{"the plan for 2025", "", "", ""},
		{"deadline in june", "2025-06-30", "in june", "deadline  "}, // the last one that is over
		{"plan for next june", "", "", ""},
		{"what happens in 2027", "", "", ""},
		{"may I march into the summer office", "", "", ""},
		{"Windows 2022 or 11", "", "", ""},
		{"rust 1.85 or 2.1.1", "", "", ""},
		{"2026-02-01", "", "", ""}, // only a date: what is looked for
		{"in January 2026", "", "", ""},
		{strings.Repeat("do this and that ", 8) + "in January 2026", "", "", ""}, // a task
	} {
		q := Parse(tt.text, &Options{Now: today})
		switch {
		case q.Date == nil && tt.day == "":
		case q.Date == nil:
			t.Errorf("%q has no date", tt.text)
		case q.Date.Day() != tt.day || q.Date.Text != tt.date || q.Texts[0] != tt.rest:
			t.Errorf("%q: %s from %q, rest %q", tt.text, q.Date.Day(), q.Date.Text, q.Texts[0])
		}
		if q := Parse(tt.text, &Options{Now: today, NoDates: true}); q.Date != nil {
			t.Errorf("%q has a date though none is wanted", tt.text)
		}
	}
	newest := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	if q := Parse("who was it in april", &Options{Now: today, Newest: newest}); q.Date == nil || q.Date.Day() != "2025-04-30" {
		t.Errorf("a month without a year is counted from the newest fact: %+v", q.Date)
	}
	d := Parse("outage on 2026-02-01", &Options{Now: today}).Date
	for text, want := range map[string]bool{"The outage of 1 February 2026 came from DNS": true, "since 2026-02-01": true, "in February 2026": false, "nothing": false} {
		if d.Mentions(text) != want {
			t.Errorf("%q names the day: %v", text, !want)
		}
	}
}

func TestWordsOfTime(t *testing.T) {
	for text, want := range map[string]struct {
		past bool
		rest string
	}{
		"what do we use these days for search": {false, "what do we use   for search"},
		"who is on call now?":                  {false, "who is on call  ?"},
		"what did we originally use":           {true, "what did we   use"},
		"what did we use to run jobs":          {true, "what did we   run jobs"},
		"what is used to run jobs":             {false, "what is used to run jobs"},
		"what do I use to run jobs":            {false, "what do I use to run jobs"},
		"what did we have before?":             {true, "what did we have  ?"},
		"what to do before a release":          {false, "what to do before a release"},
		"now":                                  {false, "now"},
	} {
		if q := Parse(text, nil); q.Past != want.past || q.Texts[0] != want.rest {
			t.Errorf("%q: past %v, rest %q", text, q.Past, q.Texts[0])
		}
	}
}

// TestAnyQuestionIsAnsweredSanely: scores fall and stay within 0 and 1, whatever is asked; the order of the candidates
// makes no difference.
func TestAnyQuestionIsAnsweredSanely(t *testing.T) {
	facts := some(t)
	long := strings.Repeat("The database of the auth service logs migrations at 03:00; ", 64<<10/60)
	for _, text := range []string{"", " ", "the of and", "2026-01-01", "in January 2026", long, strings.Repeat("y", 64<<10), strings.Repeat("データベース", 8<<10), "\x00\x1b[31m\x07\u202e", "\xff\xfe",
		"🚀🚀", strings.Repeat("in january 2026 ", 4<<10), strings.Repeat("- ", 32<<10), "a", "'", strings.Repeat("a_", 32<<10), "func main() {\n\tos.Exit(app.Main(ctx, os.Args))\n}\n", "database\ncache"} {
		for _, meaning := range []bool{true, false} {
			checkAnswers(t, facts, text, meaning)
		}
	}
}

func checkAnswers(t testing.TB, facts []Candidate, text string, meaning bool) {
	t.Helper()
	_, answers := ask(t, facts, text, meaning)
	last, maybe := 1.0, 0
	seen := map[int]bool{}
	for i, a := range answers {
		if !(a.Score <= last && a.Score >= minShown) || seen[a.Index] || a.Coverage > 1.000001 {
			t.Fatalf("%.60q: %+v", text, answers)
		}
		if a.Outdated >= 0 && !seen[a.Outdated] {
			t.Fatalf("%.60q: an older fact is told without the newer one before it: %+v", text, answers)
		}
		last, seen[a.Index] = a.Score, true
		if a.Maybe {
			maybe++
		} else if maybe > 0 || a.Score < minFurther || i == 0 && a.Score < minFirm {
			t.Fatalf("%.60q: a firm answer of %.2f in place %d, %d maybes before it", text, a.Score, i, maybe)
		}
	}
	if len(answers) > 0 && !meaning && answers[0].Score < byWords.probability {
		t.Fatalf("%.60q: a first line of %.2f", text, answers[0].Score)
	}
	if maybe > maxMaybe {
		t.Fatalf("%.60q: %d answers are maybe", text, maybe)
	}
	shuffled := slices.Clone(facts)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(facts), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	_, again := ask(t, shuffled, text, meaning)
	if len(again) != len(answers) {
		t.Fatalf("%.60q: %d answers, and %d in another order", text, len(answers), len(again))
	}
	for i, a := range answers {
		if b := again[i]; facts[a.Index].Key != shuffled[b.Index].Key || a.Score != b.Score {
			t.Fatalf("%.60q: in another order of the candidates %+v, not %+v", text, b, a)
		}
	}
}

func FuzzAsk(f *testing.F) {
	for _, s := range []string{"which db", "in may 2026", "what did we use to do before", "the 1st of", "'25 last year", "a\x00b", "日本語 データ", "mid end of start", "1.1.2026 v 2"} {
		f.Add(s)
	}
	facts := some(f)
	f.Fuzz(func(t *testing.T, text string) {
		q := Parse(text, &Options{Now: today})
		if q.Date != nil && (!q.Date.AsOf.Before(today) || q.Date.Text == "") {
			t.Fatalf("%q: %+v", text, q.Date)
		}
		checkAnswers(t, facts, text, true)
	})
}

// TestWeakLinesAreChosenByMeaning: where words have told little, a line behind the first is the nearer one by meaning, and
// its score is a share of the first line's.
func TestWeakLinesAreChosenByMeaning(t *testing.T) {
	lines := func() []Answer {
		return []Answer{{Index: 0, Score: .3, Outdated: -1, Cosine: .2, rank: 5}, {Index: 1, Outdated: -1, Cosine: .16, rank: 4.7}, {Index: 2, Outdated: -1, Cosine: .14, rank: 4.9}, {Index: 3, Outdated: -1, Cosine: .4, rank: 4}}
	}
	got := (&Question{size: Size{Facts: 90}}).shown(lines(), .3, byTable.weakest)
	if len(got) != 3 || got[1].Index != 1 || got[2].Index != 3 {
		t.Fatalf("%+v", got)
	}
	if sum := got[1].Score + got[2].Score; sum > .2 || got[2].Score < .05 {
		t.Errorf("%+v", got)
	}
	older := lines()
	older[3].Outdated = 2 // what took its place is told in its place
	if got = (&Question{size: Size{Facts: 90}}).shown(older, .3, byTable.weakest); len(got) != 3 || got[1].Index != 1 || got[2].Index != 2 {
		t.Errorf("%+v", got)
	}
	if got = (&Question{size: Size{Facts: 90}}).shown(lines(), .01, weakest{.25, .2, .15}); len(got) != 1 {
		t.Errorf("lines that share hardly any probability are told: %+v", got)
	}
}

// TestMoreCoveredIsNeverBehind: of two facts that are equal but for one more word of the question, the one with it comes first.
func TestMoreCoveredIsNeverBehind(t *testing.T) {
	vocabulary := strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa")
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		r.Shuffle(len(vocabulary), func(i, j int) { vocabulary[i], vocabulary[j] = vocabulary[j], vocabulary[i] })
		asked := vocabulary[:2+r.IntN(6)]
		n := r.IntN(len(asked))
		filler := vocabulary[len(asked) : len(asked)+4]
		less := append(slices.Clone(asked[:n]), filler...)
		more := append(slices.Clone(less[:len(less)-1]), asked[n])
		facts := []Candidate{{Key: "a", Value: strings.Join(less, " ")}, {Key: "b", Value: strings.Join(more, " ")}}
		q := Parse(strings.Join(asked, " "), nil)
		if err := q.Resolve(newMemory(facts)); err != nil {
			t.Fatal(err)
		}
		if a, _ := q.rank(facts, nil, &byWords); a[0].Index != 1 {
			t.Fatalf("%q: %q before %q", asked, facts[0].Value, facts[1].Value)
		}
	}
}

// TestFactsWithoutQuestionsDoNotSuffer: a fact that covers the words is not behind one whose stored questions are only near.
func TestFactsWithoutQuestionsDoNotSuffer(t *testing.T) {
	names, _ := ask(t, some(t), "where are sessions kept", true)
	if len(names) == 0 || names[0] != "cache" {
		t.Errorf("%q", names)
	}
}

func TestFailureOfTheStoreIsTold(t *testing.T) {
	if err := Parse("which xqzzy", nil).Resolve(broken{}); err == nil {
		t.Error("no error")
	}
}

type broken struct{}

func (broken) Size() Size                            { return Size{Facts: 3} }
func (broken) Frequencies(w []string) ([]int, error) { return make([]int, len(w)), nil }
func (broken) Words(string) (map[string]int, error)  { return nil, fmt.Errorf("the index is damaged") }

func BenchmarkRank50(b *testing.B) {
	var facts []Candidate
	for i := range 50 {
		c := Candidate{Category: "stack", Key: fmt.Sprintf("note-%d", i), Value: "Reminders and imports are BullMQ jobs on an Upstash Redis, the worker is apps/worker, and it retries four times with a back-off of some seconds.",
			Questions: "what runs our jobs; how often are they tried again; where is the queue", Since: today.AddDate(0, 0, i)}
		v := encode(b, factText(&c), c.Questions)
		c.Vector, c.QuestionsVector = v[0], v[1]
		facts = append(facts, c)
	}
	q := Parse("how often is a failed job of the worker tried again", nil)
	if err := q.Resolve(newMemory(facts)); err != nil {
		b.Fatal(err)
	}
	m := &Meaning{Vectors: encode(b, q.Texts...)}
	for b.Loop() {
		q.Rank(facts, m)
	}
}
