package embed

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden is what the reference tokenizer makes of a text, without its marks.
// cmd/measure/table/goldens.mjs writes them.
type golden struct {
	Text string  `json:"text"`
	IDs  []int32 `json:"ids"`
}

func goldens(t testing.TB) []golden {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// probes are texts of every script and shape, and some that are no text.
func probes(t testing.TB) []string {
	t.Helper()
	texts := []string{"", " ", "\xff\xfe", "a\xc3", "\x00", strings.Repeat("x", 101), strings.Repeat("é", 300),
		strings.Repeat("\u0301", 90), "[CLS] [SEP] [UNK] [PAD] [MASK]", "##", "##ing", "\u200b", "\ufffd", "\U0010ffff"}
	for _, g := range goldens(t) {
		texts = append(texts, g.Text)
	}
	return texts
}

const unk = 100 // the id of [UNK]

func TestWordPiecesAreTheReference(t *testing.T) {
	w := newWordPieces(vocabulary30k)
	for _, g := range goldens(t) {
		want := []int32{}
		for _, id := range g.IDs {
			if id != unk {
				want = append(want, id)
			}
		}
		if diff := cmp.Diff(want, w.ids([]int32{}, clean(g.Text))); diff != "" {
			t.Errorf("%.60q (-reference +got):\n%s", g.Text, diff)
		}
	}
}

func TestEveryEntryIsFound(t *testing.T) {
	w := newWordPieces(vocabulary30k)
	for id, entry := range strings.Fields(vocabulary30k) {
		if got, ok := w.id(strings.CutPrefix(entry, "##")); !ok || int(got) != id {
			t.Fatalf("entry %d %q is found as %d, %v", id, entry, got, ok)
		}
	}
}

func TestMarksAreText(t *testing.T) {
	w := newWordPieces(vocabulary30k)
	want := w.ids(nil, "[ cls ]")
	if got := w.ids(nil, clean("[CLS]")); !cmp.Equal(want, got) {
		t.Errorf("[CLS] gives %v, want that of a bracket, cls and a bracket: %v", got, want)
	}
}

func FuzzWordPieces(f *testing.F) {
	for _, seed := range probes(f) {
		f.Add(seed)
	}
	w := newWordPieces(vocabulary30k)
	f.Fuzz(func(t *testing.T, text string) {
		for _, id := range w.ids(nil, clean(text)) {
			if id < 0 || int(id) >= w.size() {
				t.Fatalf("%q gives id %d, the vocabulary has %d entries", text, id, w.size())
			}
		}
	})
}
