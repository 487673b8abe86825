package embed

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"leanctx/internal/proctest"
)

func TestTextsWithoutMeaningGetZero(t *testing.T) {
	m := openTiny(t, "onnx/model.onnx")
	texts := []string{"", " \n\t", "\xff\xfe", "\u200b\u00ad", "🚀🚀", "zzzzunknown", "[CLS]x"}
	vectors, err := m.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vectors {
		want := 0.0
		if texts[i] == "[CLS]x" { // text, not a mark
			want = 1
		}
		if got := math.Sqrt(cosine(v, v)); len(v) != m.Dim() || math.Abs(got-want) > 1e-6 {
			t.Errorf("%q: %d values, length %g, want %g", texts[i], len(v), got, want)
		}
	}
	if none, err := m.Encode(t.Context(), nil); err != nil || len(none) != 0 {
		t.Errorf("no text: %v, %v", none, err)
	}
}

// randomText makes a text of random runes and bytes of all kinds.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(60) {
		switch r.IntN(8) {
		case 0:
			b.WriteByte(byte(r.IntN(256)))
		case 1:
			b.WriteRune(rune(r.IntN(0x110000)))
		case 2:
			b.WriteRune(rune(0x300 + r.IntN(0x70))) // combining marks
		case 3:
			b.WriteRune(rune(0x3000 + r.IntN(0xA000))) // CJK
		case 4:
			b.WriteRune(rune(0x1F300 + r.IntN(0x700))) // emoji
		case 5:
			b.WriteString([]string{"\u200d", "\u202e", "[CLS]", "##", "\x00", "İ", "ß", "\ufeff", "e\u0301"}[r.IntN(9)])
		default:
			b.WriteString([]string{"bread", " ", "Car", "\n", "doctor's", "x_y"}[r.IntN(6)])
		}
	}
	return b.String()
}

// Under the race detector a text takes twenty times as long, and what it could
// see there it sees in a fiftieth of them.
func TestRandomTexts(t *testing.T) {
	m := openTiny(t, "onnx/model_quantized.onnx")
	for i, text := range randomTexts() {
		checkIDs(t, m, text)
		if !proctest.Raced || i%50 == 0 {
			checkText(t, m, text)
		}
	}
	for _, text := range []string{strings.Repeat("bread, ", 64<<10/7), strings.Repeat("数", 64<<10/3), strings.Repeat("x", 64<<10)} {
		checkIDs(t, m, text)
		checkText(t, m, text)
	}
}

// The same with an installed model takes a quarter of an hour: see .ci/run whole.
func TestRandomTextsRealModel(t *testing.T) {
	dir := os.Getenv("LEAN_CTX_EVAL_MODELS")
	if dir == "" || os.Getenv("LEAN_CTX_EVAL_WHOLE") == "" {
		t.Skip("set LEAN_CTX_EVAL_MODELS to a folder with an installed model, and LEAN_CTX_EVAL_WHOLE")
	}
	dir, _, err := Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := OpenModel(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, text := range randomTexts() {
		checkIDs(t, m, text)
		checkText(t, m, text)
	}
}

func randomTexts() []string {
	r := rand.New(rand.NewPCG(3, 4))
	texts := make([]string, 1500)
	for i := range texts {
		texts[i] = randomText(r)
	}
	return texts
}

// checkIDs checks that the model can look up what it is given.
func checkIDs(t *testing.T, m *Model, text string) {
	t.Helper()
	ids, _ := m.vocab.ids(text, maxTokens)
	if len(ids) < 2 || len(ids) > maxTokens || ids[0] != m.vocab.begin || ids[len(ids)-1] != m.vocab.end {
		t.Errorf("%q: ids %v", text, ids)
	}
	for _, id := range ids {
		if id < 0 || int(id) >= m.vocab.size {
			t.Errorf("%q: id %d of %d", text, id, m.vocab.size)
		}
	}
}

func checkText(t *testing.T, m *Model, text string) {
	t.Helper()
	vectors, err := m.Encode(t.Context(), []string{text})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if length := math.Sqrt(cosine(vectors[0], vectors[0])); length != 0 && !(math.Abs(length-1) < 1e-5) {
		t.Errorf("%q: length %g", text, length)
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range oddTexts {
		f.Add(text)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 5 {
		f.Add(randomText(r))
	}
	m := openTiny(f, "onnx/model_quantized.onnx")
	f.Fuzz(func(t *testing.T, text string) {
		checkIDs(t, m, text)
		checkText(t, m, text)
	})
}
