package eval

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lengths is an encoder of one value a text, and counts what it encodes.
type lengths struct{ made int }

func (*lengths) Name() string { return "lengths@1" }
func (*lengths) Dim() int     { return 2 }
func (l *lengths) Encode(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		l.made++
		switch {
		case t == "fails":
			return nil, errors.New("no")
		case t == "short":
			out[i] = []float32{1}
		case len(t)%2 == 0:
			out[i] = []float32{0, 1}
		default:
			out[i] = []float32{1, 0}
		}
	}
	return out, nil
}

func kept(t *testing.T, dir string, e Encoder, frugal bool) *Kept {
	t.Helper()
	k, err := Keep(dir, e, frugal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

// What was encoded once is not encoded again, by the next run neither, whatever
// a run that was killed left behind.
func TestKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	file := filepath.Join(dir, "lengths@1.vectors")
	texts := []string{"one", "four", "one", ""}
	want := [][]float32{{1, 0}, {0, 1}, {1, 0}, {0, 1}}
	for i, left := range []string{"", "torn", "no vector, twenty-four."} {
		if left != "" {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString(left); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		e := &lengths{}
		k := kept(t, dir, e, i > 0)
		got, err := k.Encode(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if first := i == 0; first && e.made != 3 || !first && e.made != 0 {
			t.Errorf("run %d encoded %d texts", i, e.made)
		}
		k.Close()
	}
}

func TestKeepRefuses(t *testing.T) {
	k := kept(t, t.TempDir(), &lengths{}, true)
	if _, err := k.Encode(t.Context(), []string{"new"}); !errors.Is(err, ErrUnkept) {
		t.Errorf("a frugal one gave %v", err)
	}
	k = kept(t, t.TempDir(), &lengths{}, false)
	for _, text := range []string{"fails", "short"} {
		if _, err := k.Encode(t.Context(), []string{text}); err == nil {
			t.Errorf("%q has a vector", text)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Keep(filepath.Join(file, "x"), &lengths{}, false); err == nil {
		t.Error("a folder inside a file")
	}
}

// A set that is made small keeps no question whose answer is gone.
func TestShrink(t *testing.T) {
	c := &corpus{judged: map[string]grades{"a": {"d0": 1}, "b": {"d0": 1, "d300": 1}, "c": {"d299": 2}}}
	for i := range smallFacts + 1 {
		c.docs = append(c.docs, document{ID: "d" + string(rune('0'+i))})
	}
	c.docs[299].ID, c.docs[300].ID = "d299", "d300"
	c.asked = []textQuery{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	c.shrink()
	if d := cmp.Diff([]textQuery{{ID: "a"}, {ID: "c"}}, c.asked); d != "" || len(c.docs) != smallFacts {
		t.Errorf("%d documents, %s", len(c.docs), d)
	}
}

func TestParaphrases(t *testing.T) {
	text := "? before all facts\n# a note\nThe boat is red.\n? what colour is the boat\n\nAnn paints horses.\n  ? zzz\n"
	r := evaluated(t, map[string]string{paraphraseFile: text}, "paraphrases")
	if len(r.Rows) != 1 || r.Rows[0].N != 2 || *r.Rows[0].R1 != 0.5 || r.Rows[0].Facts != 3 {
		t.Errorf("%+v", r.Rows)
	}
}
