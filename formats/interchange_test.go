package formats

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"leanctx/internal/proctest"
)

func TestParseDocumentTellsKinds(t *testing.T) {
	record := `{"category":"auth","key":"token-type","value":"Uses JWT","confidence":0.8,"source":"cli-18f0","timestamp":"2026-05-01T12:00:00+00:00"}`
	var ours bytes.Buffer
	if err := EncodeNative(&ours, small()); err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile("testdata/leanctx/knowledge.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file string
		kind       Kind
		records    int
	}{
		{"ours", ours.String(), Native, 0},
		{"lean-ctx's", string(theirs), LeanCtx, 0},
		{"lean-ctx's, facts last", `{"project_root":"/x","updated_at":"2026-01-01T00:00:00Z","facts":[]}`, LeanCtx, 0},
		{"an array", "[" + record + ",\n" + record + "]", Array, 2},
		{"an empty array", " [ ] ", Array, 0},
		{"an export of nothing", "", JSONL, 0},
		{"empty lines only", " \n\n", JSONL, 0},
		{"a record a line", record + "\n" + record + "\n", JSONL, 2},
		{"no last line feed", record + "\n" + record, JSONL, 2},
		{"one record", record, JSONL, 1},
		{"one record over lines", "{\n\"category\": \"a\",\n\"key\": \"b\",\n\"value\": \"c\"\n}\n", JSONL, 1},
		{"empty lines, CRLF", "\r\n" + record + "\r\n\r\n" + record + "\r\n", JSONL, 2},
	} {
		for _, mark := range []string{"", "\uFEFF"} {
			p, err := ParseDocument([]byte(mark + c.file))
			if err != nil || p.Kind != c.kind || len(p.Records) != c.records || len(p.Lines) != c.records || len(p.Bad) > 0 || (p.Document != nil) != (c.kind == Native || c.kind == LeanCtx) {
				t.Errorf("%s: %v %d records, bad %v, %v", c.name, p.Kind, len(p.Records), p.Bad, err)
			}
		}
	}
}

func TestParseDocumentMistakes(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"auth: jwt\n", "line 1: want a fact file, an array of records or a record a line, found 'a'"},
		{"\n\n42", "line 3: want a fact file, an array of records or a record a line, found a number"},
		{"\xff\xfe{\x00", "line 1: this is UTF-16 text: save it as UTF-8"},
		{`{"schema": 9, "facts": [`, "schema 9 is newer than this build reads (up to 2): use a newer build"},
		{"{\n  \"schema\": 1,\n  \"facts\": [\n", "line 4: facts: the file ends too early"},
		{"{\n  \"project_root\": \"/x\",\n  \"facts\": [\n{]", "line 4: facts[0]: not JSON: invalid character ']' at start of value"},
		{"[{\"category\": \"a\"},\n", "line 2: the file ends too early"},
		{"[1,\n2", "line 2: the file ends too early"},
		{"[] []", "line 1: want the end of the file, found a list"},
		{`["\ud8"]`, "line 1: [0]: not JSON: invalid escape sequence `\\ud8\"]` in string"},
	} {
		p, err := ParseDocument([]byte(c.file))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v (%v)\nwant %s", c.file, err, p.Kind, c.want)
		}
	}
}

const cyrillic = "Очень длинная строка о том, почему доступ выдаётся только по токену и никак иначе, сколько ни проси"

var badRecords = []struct{ line, want string }{
	{`{"category":"a","key":"b"}`, "value: missing"},
	{`{"category":"a","key":null,"value":"c"}`, "key: missing"},
	{`{"category":"  ","key":"b","value":"c"}`, "category: empty"},
	{`{"category":"a","key":"b","value":7}`, "value: want a string, found a number"},
	{`{"category":"a","key":"b","value":"c","confidence":1.01}`, "confidence: 1.01 is outside 0..1"},
	{`{"category":"a","key":"b","value":"c","confidence":-0.1}`, "confidence: -0.1 is outside 0..1"},
	{`{"category":"a","key":"b","value":"c","confidence":NaN}`, "confidence: not JSON: invalid character 'N' at start of value"},
	{`{"category":"a","key":"b","value":"c","confidence":"high"}`, "confidence: want a number, found a string"},
	{`{"category":"a","key":"b","value":"c","confirmations":-1}`, "confirmations: negative"},
	{`{"category":"a","key":"b","value":"c","timestamp":"` + cyrillic + `"}`, `timestamp: "Очень длинная строка о том, почем…" is not a time as in 2026-01-15T10:00:00Z`},
	{`{"category":"a","key":"b","value":"c","timestamp":1714564800}`, "timestamp: want a time, found a number"},
	{`{"category":"a","key":"b","value":"c","valid_from":"2026-13-01"}`, `valid_from: "2026-13-01" is not a time as in 2026-01-15T10:00:00Z`},
	{`{"category":"a","key":"b","value":"c","valid_from":"2026-01-02","valid_until":"2026-01-02"}`, "valid_until: not after valid_from"},
	{`{"category":"a","key":"b","value":"` + cyrillic, "value: the file ends too early"},
	{`{"category":"a","key":"b","value":"c"} {"category":"a"}`, "not JSON: invalid character '{' after top-level value"},
	{"{\"category\":\"a\",\"key\":\"b\",\"value\":\"\xff\xfe\"}", "not UTF-8 text"},
	{cyrillic, "not JSON: invalid character 'О' at start of value"},
	{`{broken`, "not JSON: invalid character 'b' at start of value"},
	{`"a string"`, "want an object, found a string"},
	{`null`, "want an object, found null"},
}

func TestBadLines(t *testing.T) {
	good := `{"category":"a","key":"b","value":"c"}`
	var file strings.Builder
	want := []string{}
	for i, c := range badRecords {
		file.WriteString(good + "\n" + c.line + "\r\n\n")
		want = append(want, fmt.Sprintf("line %d: %s", 3*i+2, c.want))
	}
	p, err := ParseDocument([]byte(file.String()))
	if err != nil || p.Kind != JSONL || len(p.Records) != len(badRecords) {
		t.Fatalf("%v, %d records, %v", p.Kind, len(p.Records), err)
	}
	got := []string{}
	for _, b := range p.Bad {
		got = append(got, b.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if p.Lines[1].Line != 4 {
		t.Errorf("the second record is said to stand in %v", p.Lines[1])
	}
}

func TestBadElements(t *testing.T) {
	p, err := ParseDocument([]byte(`[
  {"category":"a","key":"b","value":"c"},
  {
    "category":"a",
    "key":"b",
    "value": 1
  }, 7,

  {"category":"a","key":"d","value":"e","other":[{"deep":"}]"}]}
]`))
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, b := range p.Bad {
		got = append(got, b.Error())
	}
	want := []string{"line 6 (element 2): value: want a string, found a number", "line 7 (element 3): want an object, found a number"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Position{{2, 1}, {9, 4}}, p.Lines); diff != "" {
		t.Error(diff)
	}
}

func TestRecordTimes(t *testing.T) {
	for given, want := range map[string]string{
		"2026-05-01T12:00:00+00:00":       "2026-05-01T12:00:00Z",
		"2026-05-01T12:00:00Z":            "2026-05-01T12:00:00Z",
		"2026-05-01T12:00:00.25-03:30":    "2026-05-01T15:30:00.25Z",
		"2026-05-01T12:00:00.1234567891Z": "2026-05-01T12:00:00.123456789Z",
		"2026-05-01":                      "2026-05-01T00:00:00Z",
	} {
		p, err := ParseDocument([]byte(`{"category":"a","key":"b","value":"c","timestamp":"` + given + `"}`))
		if err != nil || len(p.Records) != 1 || !p.Records[0].Timestamp.Equal(at(want)) {
			t.Errorf("%s: %+v, %v, want %s", given, p, err, want)
		}
	}
}

func TestHugeLine(t *testing.T) {
	value := strings.Repeat("語 \\\"", proctest.Rounds(2<<20))
	var b bytes.Buffer
	if err := EncodeJSONL(&b, []Record{{Category: "a", Key: "b", Value: value}, {Category: "a", Key: "c", Value: "d"}}); err != nil {
		t.Fatal(err)
	}
	p, err := ParseDocument(b.Bytes())
	if err != nil || len(p.Records) != 2 || p.Records[0].Value != value {
		t.Errorf("%d records, bad %v, %v", len(p.Records), p.Bad, err)
	}
}

func recordLists() *rapid.Generator[[]Record] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Record {
		name := rapid.Custom(func(t *rapid.T) string { return "x" + strings.ToValidUTF8(texts().Draw(t, "name"), "?") })
		c := Record{
			Category: name.Draw(t, "category"), Key: name.Draw(t, "key"), Value: name.Draw(t, "value"),
			Source: strings.ToValidUTF8(texts().Draw(t, "source"), "?"), Confirmations: rapid.IntRange(0, 9).Draw(t, "confirmations"),
		}
		if rapid.Bool().Draw(t, "given") {
			c.Confidence = new(rapid.Float64Range(0, 1).Draw(t, "confidence"))
			c.Timestamp = new(times().Draw(t, "timestamp"))
			c.ValidFrom = new(times().Draw(t, "from"))
			if until := times().Draw(t, "until"); until.After(*c.ValidFrom) {
				c.ValidUntil = &until
			}
		}
		return c
	}), 0, 5)
}

func TestRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := recordLists().Draw(t, "records")
		var lines, array bytes.Buffer
		if err := errors.Join(EncodeJSONL(&lines, want), EncodeArray(&array, want)); err != nil {
			t.Fatal(err)
		}
		for _, file := range []*bytes.Buffer{&array, &lines} {
			if file.Len() == 0 {
				continue // no records, no lines
			}
			p, err := ParseDocument(file.Bytes())
			if err != nil || len(p.Bad) > 0 {
				t.Fatalf("%v %v in\n%s", err, p.Bad, file)
			}
			if len(want)+len(p.Records) > 0 {
				if diff := cmp.Diff(want, p.Records); diff != "" {
					t.Fatal(diff)
				}
			}
		}
	})
}

func TestEncodeRecords(t *testing.T) {
	list := []Record{
		{Category: "auth", Key: "token", Value: "JWT <RS256>", Confidence: new(0.8), Source: "cli", ValidFrom: new(at("2026-01-01T00:00:00Z")), Confirmations: 2, Timestamp: new(at("2026-05-01T14:00:00+02:00"))},
		{Category: "a", Key: "b", Value: "c"},
	}
	var lines, array bytes.Buffer
	if err := errors.Join(EncodeJSONL(&lines, list), EncodeArray(&array, list[1:])); err != nil {
		t.Fatal(err)
	}
	want := `{"category":"auth","key":"token","value":"JWT <RS256>","confidence":0.8,"source":"cli","valid_from":"2026-01-01T00:00:00Z","confirmations":2,"timestamp":"2026-05-01T12:00:00Z"}
{"category":"a","key":"b","value":"c"}
[
  {
    "category": "a",
    "key": "b",
    "value": "c"
  }
]
`
	if diff := cmp.Diff(want, lines.String()+array.String()); diff != "" {
		t.Error(diff)
	}
	zero := 0.0
	err := EncodeJSONL(&lines, []Record{list[1], {Category: "x", Key: "y", Confidence: new(zero / zero)}})
	if err == nil || !strings.HasPrefix(err.Error(), "record 2 (x/y): ") || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("a confidence that is no number: %v", err)
	}
	if err := EncodeArray(full{}, list); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}
