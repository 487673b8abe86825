package formats

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), go test ./formats -update writes it anew:\n%s", file, diff)
	}
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

func small() *Document {
	was := &Fact{
		ID: "f-000000000001", Category: "architecture", Key: "auth", Value: "JWT RS256", SourceSession: "s1", Confidence: 0.95,
		CreatedAt: at("2026-01-15T10:00:00.123456789Z"), LastConfirmed: at("2026-02-01T08:00:00Z"), RetrievalCount: 4,
		ValidFrom: at("2026-01-15T10:00:00.123456789Z"), ValidUntil: new(at("2026-03-20T09:12:00Z")), ConfirmationCount: 2,
		Privacy: "shared", Archetype: "architecture", RevisionCount: 2, RecordedFrom: at("2026-01-15T10:00:00.123456789Z"),
		AssertedBy: "cursor-a3f8", Sources: []Source{{Kind: "agent", Ref: "src/auth.ts:12", By: "cursor-a3f8", At: at("2026-01-15T10:00:00.123456789Z"), Confidence: 0.95}},
		Beliefs: []Belief{{ValidFrom: at("2026-01-15T10:00:00.123456789Z"), RecordedFrom: at("2026-01-15T10:00:00.123456789Z"), RecordedUntil: at("2026-03-20T09:12:00Z")}},
		Outcome: "created", Extra: Unknown{"fidelity": Raw(`{"structural":0.5,"semantic":[]}`)},
	}
	is := &Fact{
		ID: "f-000000000002", Category: "Architecture", Key: "Auth", Value: "OAuth2 + PKCE\n<see> \"RFC 7636\" — ключ 鍵", Confidence: 0.9,
		CreatedAt: at("2026-03-20T11:12:00+02:00"), LastConfirmed: at("2026-03-20T09:12:00Z"), ValidFrom: at("2026-03-20T09:12:00Z"),
		Supersedes: "f-000000000001", ConfirmationCount: 1, Privacy: "project_only", Archetype: "architecture", RevisionCount: 1,
		RecordedFrom: at("2026-03-20T09:12:00Z"), Tags: []string{"security", "login"}, Aliases: []string{"sign-in"}, Pinned: true, Outcome: "superseded",
	}
	return &Document{
		ProjectRoot: "/home/u/app", ProjectHash: "14958352f5925e3e", UpdatedAt: at("2026-03-20T09:12:00Z"), Checksum: "00000000", Seq: 2, Generation: 1,
		Facts:       []*Fact{is, was},
		Patterns:    []Pattern{{Type: "naming", Description: "snake_case", Examples: []string{"foo_bar"}, CreatedAt: at("2026-01-15T10:00:00Z")}},
		Gotchas:     []Gotcha{{ID: "g-1", Category: "Build", Severity: "critical", Trigger: "go mod tidy", Resolution: "pin bleve", Occurrences: 2, FirstSeen: at("2026-01-15T10:00:00Z"), LastSeen: at("2026-01-16T10:00:00Z"), Confidence: 0.9}},
		Relations:   []Relation{{From: RelationEnd{Name: Name{"architecture", "auth"}}, To: RelationEnd{Name: Name{"architecture", "db"}}, Kind: "depends_on", CreatedAt: at("2026-01-15T10:00:00Z"), Count: 1}},
		Reminders:   []Reminder{{ID: "r-1", Text: "rotate keys", Path: "src/**", Due: new(at("2026-04-01T00:00:00Z")), State: "open", CreatedAt: at("2026-01-15T10:00:00Z")}},
		JudgedPairs: []JudgedPair{{KeyA: "a/b", KeyB: "c/d", Verdict: "compatible", JudgedAt: at("2026-01-15T10:00:00Z")}},
		History:     []Insight{{Summary: "Session s1: fix login", FromSessions: []string{"s1"}, Timestamp: at("2026-01-15T10:00:00Z"), Kind: "consolidate"}},
		Tombstones:  []Tombstone{{Category: "secret", Key: "token", ErasedAt: at("2026-02-01T00:00:00Z")}},
		Extra:       Unknown{"zeta": Raw(`1`), "alpha": Raw(`[true,null]`)},
	}
}

func TestFactFile(t *testing.T) { golden(t, "testdata/small.json", encoded(t, small())) }

func TestFactFileIsTheSameInAnyOrder(t *testing.T) {
	a, b := small(), small()
	for _, d := range []*Document{a, b} {
		d.Patterns = append(d.Patterns, Pattern{Type: "Errors"}, Pattern{Type: "naming", Description: "other"})
		d.Relations = append(d.Relations, Relation{From: RelationEnd{Name: Name{"A", "z"}}}, Relation{From: RelationEnd{Name: Name{"a", "b"}}, Kind: "x"})
		d.Reminders = append(d.Reminders, Reminder{ID: "r-0"}, Reminder{ID: "r-2"})
	}
	slices.Reverse(b.Facts)
	slices.Reverse(b.Patterns)
	slices.Reverse(b.Relations)
	slices.Reverse(b.Reminders)
	first := b.Facts[0]
	if diff := cmp.Diff(string(encoded(t, a)), string(encoded(t, b))); diff != "" {
		t.Error(diff)
	}
	if b.Facts[0] != first {
		t.Error("encoding changed the order of the document's own list")
	}
}

// Every level keeps what it does not know, enum values included.
func TestUnknownSurvives(t *testing.T) {
	file := `{
  "schema": 1,
  "later": {"a": [1, 2]},
  "facts": [{"new": 1, "category": "c", "key": "k", "value": "v", "created_at": "2026-01-01T00:00:00Z", "privacy": "galaxy", "archetype": "myth", "outcome": "dreamt",
    "sources": [{"kind": "oracle", "at": "2026-01-01T00:00:00Z", "mood": "good"}],
    "earlier_periods": [{"valid_from": "2026-01-01T00:00:00Z", "recorded_from": "2026-01-01T00:00:00Z", "recorded_until": "2026-01-01T00:00:00Z", "why": null}]}],
  "patterns": [{"pattern_type": "p", "weight": 3}],
  "gotchas": [{"severity": "apocalyptic", "prevented_count": 2}],
  "relations": [{"from": {"category": "a", "key": "b", "line": 1}, "to": {"category": "a", "key": "c", "line": 2}, "kind": "haunts", "strength": 0.5}],
  "reminders": [{"state": "asleep", "snooze": "1h"}],
  "judged_pairs": [{"verdict": "maybe", "by": "x"}],
  "history": [{"session_id": "s", "key_decisions": []}],
  "tombstones": [{"category": "a", "key": "b", "reason": "gdpr"}]
}`
	d, err := DecodeNative([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	out := string(encoded(t, d))
	for _, want := range []string{
		`"later": {`, `"new": 1`, `"galaxy"`, `"myth"`, `"dreamt"`, `"oracle"`, `"mood": "good"`, `"why": null`, `"weight": 3`, `"apocalyptic"`, `"prevented_count": 2`,
		`"line": 1`, `"line": 2`, `"haunts"`, `"strength": 0.5`, `"asleep"`, `"snooze": "1h"`, `"maybe"`, `"by": "x"`, `"session_id": "s"`, `"key_decisions": []`, `"reason": "gdpr"`,
	} {
		if strings.Count(out, want) != 1 {
			t.Errorf("%s stands %d times in\n%s", want, strings.Count(out, want), out)
		}
	}
}

// A fact written by hand may say as little as what it is.
func TestFactOfFewWords(t *testing.T) {
	d, err := DecodeNative([]byte(`{"schema":1,"updated_at":"2026-01-02T00:00:00Z","facts":[
		{"category":"deps","key":"k","value":"v"},{"category":"deps","key":"k","value":"v"}, {"category":"c","key":"k","value":"v","valid_from":"0001-01-01T00:00:00Z","created_at":"2026-01-03T00:00:00Z"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	day := at("2026-01-02T00:00:00Z")
	want := Fact{
		ID: VersionID("deps", "k", "v", day, 0), Category: "deps", Key: "k", Value: "v", Confidence: 0.8, CreatedAt: day, LastConfirmed: day, ValidFrom: day,
		ConfirmationCount: 1, Privacy: "shared", Archetype: "dependency", RevisionCount: 1, RecordedFrom: day,
	}
	if diff := cmp.Diff(want, *d.Facts[0]); diff != "" {
		t.Error(diff)
	}
	if got := d.Facts[1].ID; got != VersionID("deps", "k", "v", day, 1) {
		t.Errorf("the second of two alike has the id %s", got)
	}
	if !d.Facts[2].ValidFrom.IsZero() {
		t.Errorf("a time that was given was replaced by %v", d.Facts[2].ValidFrom)
	}
}

func TestNewerSchema(t *testing.T) {
	for _, file := range []string{
		`{"schema": 3, "facts": "no longer a list"}`,
		`{"project_root": "/x", "facts": [], "schema": 3`,
		`{"schema": 1, "facts": [], "schema": 3}`,
	} {
		_, err := DecodeNative([]byte(file))
		if newer, ok := errors.AsType[*NewerError](err); !ok || newer.Got != 3 || newer.Max != Schema {
			t.Errorf("%s: %v", file, err)
		}
	}
	var b bytes.Buffer
	if err := EncodeNative(&b, &Document{Schema: 3}); err == nil || b.Len() > 0 {
		t.Errorf("a newer document was written: %v, %d bytes", err, b.Len())
	}
}

func TestMistakes(t *testing.T) {
	fact := func(members string) string {
		return "{\"schema\": 1,\n\"facts\": [\n{\"category\": \"c\", \"key\": \"k\", \"value\": \"v\", \"created_at\": \"2026-01-01T00:00:00Z\"},\n{" + members + "}]}"
	}
	for _, c := range []struct{ file, want string }{
		{"", "the file is empty"},
		{" \n", "the file is empty"},
		{"\uFEFF", "the file is empty"},
		{"hello", `line 1: want an object, found 'h'`},
		{"[]", "line 1: want an object, found a list"},
		{"{}", "this is no fact file: it has neither a schema nor facts"},
		{`{"facts": {}}`, "this is no fact file: it has neither a schema nor facts"},
		{`{"schema": "1"}`, "line 1: schema: want a whole number, found a string"},
		{`{"schema": 1.5}`, "line 1: schema: 1.5 is not a whole number that fits"},
		{`{"schema": 0, "facts": []}`, "schema: there is no schema 0"},
		{`{"schema": -1, "facts": []}`, "schema: there is no schema -1"},
		{"{\"schema\": 1,\n\"facts\": [", "line 2: facts: the file ends too early"},
		{"{\"schema\": 1,\n\"facts\": []", "line 2: the file ends too early"},
		{"{\"schema\": 1,\n\"facts\": []}\n{", "line 3: not JSON: invalid character '{' after top-level value"},
		{"{\"schema\": 1,\n\"facts\": [],}", "line 2: not JSON: invalid character ',' at start of value"},
		{fact(`"category": "c"`), "facts[1].key: missing"},
		{fact(`"category": "c", "key": "k"`), "facts[1].value: missing in the fact c/k"},
		{fact(`"category": "c", "key": "k", "value": "v"`), "facts[1].created_at: missing in the fact c/k"},
		{fact(`"category": 7`), "line 4: facts[1].category: want a string, found a number"},
		{fact(`"confidence": "0.9"`), "line 4: facts[1].confidence: want a number, found a string"},
		{fact(`"confidence": NaN`), "line 4: facts[1].confidence: not JSON: invalid character 'N' at start of value"},
		{fact(`"confidence": 1e999`), "line 4: facts[1].confidence: 1e999 is not a number that fits"},
		{fact(`"confidence": 01`), "line 4: facts[1]: not JSON: invalid character '1' after object value (expecting ',' or '}')"},
		{fact(`"retrieval_count": 1.5`), "line 4: facts[1].retrieval_count: 1.5 is not a whole number that fits"},
		{fact(`"valid_from": "yesterday"`), `line 4: facts[1].valid_from: "yesterday" is not a time as in 2026-01-15T10:00:00Z`},
		{fact(`"valid_from": "0000-01-01T00:00:00Z"`), `line 4: facts[1].valid_from: "0000-01-01T00:00:00Z": a time lies in the years 1 to 9999`},
		{fact(`"valid_from": "9999-12-31T23:59:59-01:00"`), `line 4: facts[1].valid_from: "9999-12-31T23:59:59-01:00": a time lies in the years 1 to 9999`},
		{fact(`"valid_until": "2026-02-30T00:00:00Z"`), `line 4: facts[1].valid_until: "2026-02-30T00:00:00Z" is not a time as in 2026-01-15T10:00:00Z`},
		{fact(`"pinned": "yes"`), "line 4: facts[1].pinned: want true or false, found a string"},
		{fact(`"tags": "a"`), "line 4: facts[1].tags: want a list, found a string"},
		{fact(`"tags": ["a", 1]`), "line 4: facts[1].tags[1]: want a string, found a number"},
		{fact(`"sources": [{"at": 1}]`), "line 4: facts[1].sources[0].at: want a time, found a number"},
		{fact(`"value": "a` + "\n" + `b"`), `line 4: facts[1].value: not JSON: invalid character '\n' in string (expecting non-control character)`},
		{fact(`"value": "\x"`), "line 4: facts[1].value: not JSON: invalid escape sequence `\\x` in string"},
		{fact("\"value\": \"\xff\""), "line 4: facts[1].value: not JSON: invalid UTF-8"},
		{fact(`"later": {"a" 1}`), `line 4: facts[1].later.a: not JSON: invalid character '1' after object name (expecting ':')`},
		{fact(`"later": ` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000)), "line 4: facts[1].later: nested deeper than 1000 levels"},
		{`{"schema": 1, "facts": [null]}`, "facts[0]: want an object, found null"},
		{`{"schema": 1, "relations": [{"from": "a/b"}]}`, "line 1: relations[0].from: want an object, found a string"},
		{`{"schema": 1, "seq": -1}`, "line 1: seq: -1 is not a whole number that fits"},
	} {
		_, err := DecodeNative([]byte(c.file))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.file, err, c.want)
		}
	}
}

// A file cut anywhere is an error, and never half a document.
func TestTruncated(t *testing.T) {
	data := bytes.TrimSpace(encoded(t, small()))
	for n := range data {
		if d, err := DecodeNative(data[:n]); err == nil || d != nil {
			t.Fatalf("cut at %d of %d: %v, %v", n, len(data), d, err)
		}
	}
}

func TestCannotBeWritten(t *testing.T) {
	zero := 0.0
	for name, d := range map[string]*Document{
		"not a number":    {Facts: []*Fact{{Confidence: zero / zero}}},
		"year 10000":      {UpdatedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"year 0":          {UpdatedAt: time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)},
		"unknown no JSON": {Extra: Unknown{"x": Raw(`{`)}},
	} {
		if err := EncodeNative(new(bytes.Buffer), d); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := EncodeNative(full{}, small()); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
