package eval

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// lined is a file of questions, a letter each.
func lined(t *testing.T, field, letters string) *fstest.MapFile {
	var s strings.Builder
	for _, c := range letters {
		s.WriteString(`{"` + field + `":"` + string(c) + `"}` + "\n")
	}
	return zipped(t, s.String())
}

// Strangers are the other folders' questions, of each as many, each once.
func TestStrangers(t *testing.T) {
	f := questionFiles()
	long := strings.Repeat("0123456789", 30)
	for _, tt := range []struct {
		name, own string
		files     fstest.MapFS
		want      []string
	}{
		{"nothing else", f[0], fstest.MapFS{f[0]: lined(t, "text", "abc")}, nil},
		{"all of few", f[0], fstest.MapFS{f[0]: lined(t, "text", "abc"), f[1]: lined(t, "text", "xyx"), f[2]: lined(t, "question", "pq")}, []string{"x", "y", "p", "q"}},
		{"one file of a folder", f[1], fstest.MapFS{f[2]: lined(t, "question", "pq"), f[3]: lined(t, "question", "rs")}, []string{"p", "q"}},
		{"not one's own folder", f[3], fstest.MapFS{f[0]: lined(t, "text", "a"), f[2]: lined(t, "question", "pq")}, []string{"a"}},
		{"turns are as facts", "locomo-dev/turns/queries.jsonl.gz", fstest.MapFS{f[0]: lined(t, "text", "a"), f[1]: lined(t, "text", "b")}, []string{"b"}},
		{"many that are the same", f[0], fstest.MapFS{f[1]: lined(t, "text", long)}, strings.Split("0123456789", "")},
	} {
		b := &bench{data: tt.files}
		got, err := b.strangers(tt.own)
		if d := cmp.Diff(tt.want, got); err != nil || d != "" {
			t.Errorf("%s: %v %s", tt.name, err, d)
		}
	}
	b := &bench{data: fstest.MapFS{f[1]: zipped(t, "{")}}
	if _, err := b.strangers(f[0]); err == nil || !strings.Contains(err.Error(), f[1]) {
		t.Errorf("a broken file: %v", err)
	}
}

// Together they are 200, taken at even distances.
func TestSpread(t *testing.T) {
	list := strings.Split("abcdefghij", "")
	for n, want := range map[int]string{0: "", 1: "a", 3: "adg", 10: "abcdefghij", 99: "abcdefghij"} {
		if got := strings.Join(spread(list, n), ""); got != want {
			t.Errorf("%d of ten: %s, want %s", n, got, want)
		}
	}
	if got := spread(list, 99); &got[0] == &list[0] || !slices.Equal(got, list) {
		t.Error("the list itself is given out")
	}
}

// A question about nothing that is answered has to show, one that is given up too.
func TestAbstentionErrorsShow(t *testing.T) {
	files := tiny()
	files["factconsolidation/questions_6k.jsonl.gz"] = `{"question":"who paints portraits of horses?","answers":["x"],"hops":"single"}
{"question":"who repairs clocks?","answers":["x"],"hops":"single"}
`
	files["locomo-dev/facts/queries.jsonl.gz"] = `{"_id":"q1","group":"g1","text":"who sails to the lighthouse?"}
{"_id":"q2","group":"g2","text":"any helicopters around?"}
`
	row := evaluated(t, files, "locomo-facts").Rows[0]
	if row.Strangers != 2 || *row.Answered != 0.5 || *row.GivenUp != 0.5 {
		t.Errorf("of %d strangers answered %v, given up %v; want 2, half and half", row.Strangers, *row.Answered, *row.GivenUp)
	}
}
