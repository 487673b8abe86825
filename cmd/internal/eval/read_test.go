package eval

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func zipped(t *testing.T, text string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

func TestRecords(t *testing.T) {
	long := strings.Repeat("long ", 40_000) // longer than any reader's buffer
	fsys := fstest.MapFS{
		"good":    zipped(t, `{"text":"a","unknown":1}`+"\n"+`{"text":"`+long+`"}`+"\n"),
		"no-end":  zipped(t, `{"text":"a"}`+"\n"+`{"text":"b"}`),
		"empty":   zipped(t, ""),
		"bad":     zipped(t, `{"text":"a"}`+"\n"+`{"text":`+"\n"+`{"text":"c"}`+"\n"),
		"type":    zipped(t, `{"text":3}`+"\n"),
		"blank":   zipped(t, `{"text":"a"}`+"\n\n"),
		"plain":   {Data: []byte(`{"text":"a"}`)},
		"cut":     {Data: zipped(t, strings.Repeat(`{"text":"a"}`+"\n", 50)).Data[:30]},
		"flipped": zipped(t, `{"text":"a"}`+"\n"),
	}
	data := fsys["flipped"].Data
	data[len(data)-5] ^= 1 // the checksum
	tests := []struct {
		file    string
		want    []string
		problem string
	}{
		{"good", []string{"a", long}, ""},
		{"no-end", []string{"a", "b"}, ""},
		{"empty", nil, ""},
		{"bad", nil, "bad: line 2: unexpected end of JSON input"},
		{"type", nil, "type: line 1: json: cannot unmarshal number"},
		{"blank", nil, "blank: line 2: "},
		{"plain", nil, "plain: "},
		{"cut", nil, "cut: "},
		{"flipped", nil, "checksum"},
		{"missing", nil, "file does not exist"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			got, err := records[statement](fsys, tt.file)
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Fatalf("error %v, want %q in it", err, tt.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, s := range got {
				texts = append(texts, s.Text)
			}
			if d := cmp.Diff(tt.want, texts); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestJudgements(t *testing.T) {
	fsys := fstest.MapFS{
		"good":    zipped(t, "query-id\tcorpus-id\tscore\nq1\ta\t1\r\nq1\tb\t2\nq2\ta\t0\n"),
		"columns": zipped(t, "query-id\tcorpus-id\tscore\nq1\ta\n"),
		"grade":   zipped(t, "query-id\tcorpus-id\tscore\nq1\ta\tmuch\n"),
	}
	got, err := judgements(fsys, "good")
	if d := cmp.Diff(map[string]grades{"q1": {"a": 1, "b": 2}}, got); err != nil || d != "" {
		t.Error(err, d)
	}
	for file, want := range map[string]string{"columns": "columns: line 2: 2 columns", "grade": "grade: line 2: "} {
		if _, err := judgements(fsys, file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", file, err, want)
		}
	}
}
