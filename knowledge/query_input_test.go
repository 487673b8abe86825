package knowledge_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
)

// askable is a store with a little of everything to ask for.
func askable(t *testing.T) *story {
	s := testStore(t, nil)
	for i, f := range [][3]string{
		{"architecture", "database", "PostgreSQL 16 with two replicas"},
		{"architecture", "cache", "Redis in front of the database"},
		{"architecture", "queue", "RabbitMQ, one for all services"},
		{"style", "errors", "lower case and no full stop"},
		{"style", "syntax", "field:value^2 is written without quotes"},
	} {
		s.remember(t, Assertion{Category: f[0], Key: f[1], Value: f[2]})
		s.now = s.now.Add(time.Duration(i+1) * time.Minute)
	}
	return s
}

func keysOf(r Recalled) []string {
	var out []string
	for _, f := range r.Facts {
		out = append(out, f.Key)
	}
	return out
}

// A query that says nothing finds nothing, and says so in one line; one of
// white space is none, and the latest facts are listed.
func TestQueriesOfNoWords(t *testing.T) {
	s := askable(t)
	for _, q := range []string{
		"?", "???", "*", "~", "+", "-", "...", "---", "!!!", `"`, `""`, "()", "[]{}", "/", "//", `\`, "&&", "||", "^", ":", "*?~",
		"+ - * / ( )", "«»", "—", "。", "、！？", "؟", "\u200b", "\u200c\u200d", "\u0301", "\ufeff", "\xff", "\xff\xfe\xfd", "\xc3\x28",
	} {
		r := s.recall(t, Question{Query: q})
		if len(r.Facts) > 0 || r.Total != 0 || !strings.HasPrefix(r.Text(), "No facts matching '") || strings.Contains(r.Text(), "\n") || !printable(r.Text()) {
			t.Errorf("%q: %q", q, r.Text())
		}
	}
	for _, q := range []string{"", " ", "\t\n ", "\u00a0\u2003"} {
		if r := s.recall(t, Question{Query: q}); len(r.Facts) != 5 {
			t.Errorf("%q: %s", q, r.Text())
		}
	}
}

// A query of stop words alone asks for them, and ends where nothing says them.
func TestQueriesOfStopWords(t *testing.T) {
	s := askable(t)
	for q, want := range map[string][]string{
		"the": {"cache"}, "of the": {"cache"}, "no": {"errors"}, "is": {"syntax"},
		"hers": nil, "the hers": {"cache"}, "и в": nil, "what is the": {"cache", "syntax"}, "whom": nil,
	} {
		if d := cmp.Diff(want, keysOf(s.recall(t, Question{Query: q}))); d != "" {
			t.Errorf("%q (-want +got):\n%s", q, d)
		}
	}
}

// What is syntax elsewhere is text here: the answer is that of the words alone.
func TestQueriesAreNoSyntax(t *testing.T) {
	s := askable(t)
	for q, words := range map[string]string{
		`+database -redis`:                   "database redis",
		`-database`:                          "database",
		`"redis database"`:                   "redis database",
		`"unclosed database`:                 "unclosed database",
		`(redis OR database`:                 "redis OR database",
		`redis AND NOT database`:             "redis and not database",
		`redis && !database || queue`:        "redis database queue",
		`redis^5 database~2`:                 "redis 5 database 2",
		`/redis/ database`:                   "redis database",
		`redis* database?`:                   "redis database",
		`[redis TO database}`:                "redis to database",
		`redis\ database\`:                   "redis database",
		`{"query":"redis"}`:                  "query redis",
		`redis'; DROP TABLE facts; -- cache`: "redis drop table facts cache",
		`<b>redis</b> &amp; %s %d cache`:     "b redis b amp s d cache",
		"redis\x00database":                  "redis database",
		"red\u00adis\r\ndatabase":            "red\u00adis database",
		"redis \xff\xfe database":            "redis database",
		`+a -b "c" f:x^2 /re/ *?~`:           "a b c f:x 2 re", // which nothing says
	} {
		want, got := keysOf(s.recall(t, Question{Query: words})), keysOf(s.recall(t, Question{Query: q}))
		if d := cmp.Diff(want, got); d != "" || len(want) == 0 && !strings.HasPrefix(q, "+a") {
			t.Errorf("%q and %q (-want +got):\n%s", q, words, d)
		}
	}
	for _, q := range []string{"*atabase", "?atabase", "d*e", "/d.*e/", "*:*", "category:*"} {
		if r := s.recall(t, Question{Query: q}); len(r.Facts) > 0 {
			t.Errorf("%q is taken for syntax: %s", q, r.Text())
		}
	}
	if got := keysOf(s.recall(t, Question{Query: "field:value^2"})); !cmp.Equal(got, []string{"syntax"}) {
		t.Errorf("syntax that a fact writes: %v", got)
	}
}

// Facts in any script are found by a word of theirs, and by none of another's.
func TestQueriesInAnyScript(t *testing.T) {
	s := testStore(t, nil)
	said := map[string][2]string{ // a value, and what is asked for it
		"greek":     {"Η βάση δεδομένων είναι στην Αθήνα", "ΒΑΣΗ δεδομενων"},
		"russian":   {"Очередь сообщений работает в Москве", "сообщения очереди"},
		"ukrainian": {"Сховище їжаків у Львові", "їжаків"},
		"hebrew":    {"מסד הנתונים נמצא בחיפה", "הנתונים"},
		"arabic":    {"قاعدة البيانات في القاهرة", "البيانات"},
		"persian":   {"پایگاه داده در تهران است", "پایگاه"},
		"hindi":     {"डेटाबेस मुंबई में है", "डेटाबेस"},
		"bengali":   {"তথ্যভাণ্ডার ঢাকায় আছে", "তথ্যভাণ্ডার"},
		"tamil":     {"தரவுத்தளம் சென்னையில் உள்ளது", "தரவுத்தளம்"},
		"thai":      {"ฐานข้อมูลอยู่ที่กรุงเทพ", "ฐานข้อมูล"},
		"khmer":     {"មូលដ្ឋានទិន្នន័យនៅភ្នំពេញ", "ទិន្នន័យ"},
		"burmese":   {"ဒေတာဘေ့စ်သည်ရန်ကုန်တွင်ရှိသည်", "ရန်ကုန်"},
		"chinese":   {"数据库在上海机房", "数据库"},
		"japanese":  {"キャッシュは大阪にあります", "キャッシュ"},
		"korean":    {"저장소는 서울에 있습니다", "저장소"},
		"georgian":  {"მონაცემები თბილისშია", "მონაცემები"},
		"armenian":  {"տվյալները Երևանում են", "տվյալները"},
		"amharic":   {"መረጃው በአዲስ አበባ ነው", "መረጃው"},
		"cherokee":  {"ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "ᎦᏬᏂᎯᏍᏗ"},
		"adlam":     {"𞤀𞤣𞤤𞤢𞤥 𞤆𞤵𞤤𞤢𞤪", "𞤆𞤵𞤤𞤢𞤪"},
		"turkish":   {"Sunucu İstanbul'da çalışıyor", "istanbul"},
		"viet":      {"Máy chủ đặt tại Đà Nẵng", "Đà Nẵng"},
		"emoji":     {"wir feiern mit 🎉 am Freitag", "🎉"},
		"wide":      {"Ｗｉｄｅ ｌｅｔｔｅｒｓ", "wide LETTERS"},
	}
	for key, v := range said {
		s.remember(t, Assertion{Category: "place", Key: key, Value: v[0]})
	}
	for key, v := range said {
		r := s.recall(t, Question{Query: v[1]})
		if got := keysOf(r); !cmp.Equal(got, []string{key}) || !printable(r.Text()) {
			t.Errorf("%s: %q found %v", key, v[1], got)
		}
	}
}

// A query may have 100 KB of anything; a byte more is refused by name.
func TestLargestQueries(t *testing.T) {
	s := askable(t)
	for _, unit := range []string{"?", "*", `+a -b "c" `, "x", "é", "数", "\u0301", "🎉", "\xff", "the ", "a.b/", "aB", "9", "database", "ال "} {
		q := strings.Repeat(unit, MaxQuery/len(unit))
		start := q + strings.Repeat(" ", MaxQuery-len(q))
		r, err := s.Recall(t.Context(), Question{Query: start})
		if err != nil || !printable(r.Text()) {
			t.Errorf("%q ×%d: %v", unit, MaxQuery/len(unit), err)
		}
		_, err = s.Recall(t.Context(), Question{Query: start + "x"})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint("query has ", MaxQuery+1)) {
			t.Errorf("%q, a byte too many: %v", unit, err)
		}
	}
}

// A limit of 0 is the default, a huge one all there are, a negative one refused.
func TestLimitsOfQueries(t *testing.T) {
	s := testStore(t, nil)
	for i := range 30 {
		s.remember(t, Assertion{Category: "c", Key: fmt.Sprintf("k%02d", i), Value: fmt.Sprint("the database of shard ", i)})
	}
	for limit, want := range map[int]int{0: 10, 1: 1, 29: 29, 30: 30, 31: 30, 1_000_000_000: 30, math.MaxInt: 30} {
		r := s.recall(t, Question{Query: "database", Limit: limit})
		if len(r.Facts) != want || r.Total != 30 {
			t.Errorf("limit %d: %d of %d facts, want %d of 30", limit, len(r.Facts), r.Total, want)
		}
	}
	for _, limit := range []int{-1, -1_000_000_000, math.MinInt} {
		for _, q := range []string{"database", "?", ""} {
			_, err := s.Recall(t.Context(), Question{Query: q, Limit: limit})
			if wrong, ok := err.(*ArgumentError); !ok || wrong.Argument != "limit" {
				t.Errorf("limit %d, %q: %v", limit, q, err)
			}
		}
	}
}

// Courtesy and instructions get the rules on what they ask for, and no other fact, though a question of the same words does.
func TestSteeringPromptGetsRulesAlone(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "decision", Key: "journal commit", Value: "A commit looks good when its checksum fits."})
	s.remember(t, Assertion{Category: "user", Key: "force push", Value: "never push to main", Source: "user"})
	for query, want := range map[string]string{
		"thanks, looks good, commit it": "", "how does a good commit look": "journal commit", "ok, push": "force push",
	} {
		var got strings.Builder
		for _, f := range s.recall(t, Question{Query: query, Prompt: true}).Facts {
			got.WriteString(f.Key)
		}
		if got.String() != want {
			t.Errorf("%q: %q, want %q", query, got.String(), want)
		}
	}
	if r := s.recall(t, Question{Query: "good commit"}); len(r.Facts) != 1 {
		t.Errorf("who asks for it gets it: %s", r.Text())
	}
}

// Beside a prompt, whose facts have no marks, an older fact is not told behind the newer one that has taken its place.
func TestPromptGetsNoOutdatedFact(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "stack", Key: "background-jobs", Value: "Reminders and imports are BullMQ jobs on an Upstash Redis, the worker is apps/worker."})
	s.now = s.now.AddDate(0, 1, 0)
	s.remember(t, Assertion{Category: "stack", Key: "inngest", Value: "BullMQ and Upstash are gone, reminders and imports are Inngest functions now."})
	for prompt, want := range map[bool][]string{false: {"inngest", "background-jobs"}, true: {"inngest"}} {
		var got []string
		for _, f := range s.recall(t, Question{Query: "which worker runs the reminders and imports", Prompt: prompt}).Facts {
			got = append(got, f.Key)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("prompt %v (-want +got):\n%s", prompt, d)
		}
	}
}

// Beside a prompt, with which nobody asked anything, an unlikely fact behind the first is
// not told. Who asks gets it.
func TestPromptGetsNoUnlikelyFact(t *testing.T) {
	s := testStore(t, nil)
	for key, value := range map[string]string{
		"database": "PostgreSQL 16 holds the orders and the invoices, one schema a tenant.",
		"backup":   "The orders are saved every night to S3.",
		"queue":    "Invoices are sent by a queue of their own.",
		"cache":    "Sessions are kept in Redis for 30 minutes.",
		"schema":   "Every table has an id and a tenant.",
		"mail":     "Postmark sends the mail of a tenant.",
	} {
		s.remember(t, Assertion{Category: "stack", Key: key, Value: value})
	}
	for prompt, want := range map[bool][]string{false: {"database", "schema", "backup", "mail"}, true: {"database", "schema"}} {
		var got []string
		for _, f := range s.recall(t, Question{Query: "orders of a tenant and their schema", Prompt: prompt}).Facts {
			got = append(got, f.Key)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("prompt %v (-want +got):\n%s", prompt, d)
		}
	}
}
