package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const tiny = "testdata/tiny-bert"

// installTiny puts a model of testdata into a folder as Install does, without
// the self-test, which has tests of its own.
func installTiny(t testing.TB, file string) Installed {
	t.Helper()
	done, err := Install(t.Context(), t.TempDir(), tiny, &InstallOptions{Model: file, Child: passes})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// passes is a process in which every model passes its self-test.
func passes(context.Context, []string, ...string) ([]byte, error) {
	return []byte(`{"report": {"dim": 32, "texts": 27}}`), nil
}

func openTiny(t testing.TB, file string) *Model {
	t.Helper()
	m, err := OpenModel(installTiny(t, file).Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// goldenText is a text with what ONNX Runtime and transformers.js make of it.
type goldenText struct {
	Text      string    `json:"text"`
	IDs       []int32   `json:"ids"`
	Float     []float32 `json:"float"`
	EightBits []float32 `json:"eight_bits"`
}

func readGolden(t *testing.T) (all []goldenText) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(tiny, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// farthest is the largest difference of two values at one place.
func farthest(a, b []float32) (most float64) {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	for i := range a {
		most = max(most, math.Abs(float64(a[i])-float64(b[i])))
	}
	return most
}

func TestModelAgreesWithONNXRuntime(t *testing.T) {
	m := openTiny(t, "onnx/model.onnx")
	for _, g := range readGolden(t) {
		ids, _ := m.vocab.ids(g.Text, maxTokens)
		if diff := cmp.Diff(g.IDs, ids); diff != "" {
			t.Errorf("%.40q: ids (-transformers.js +ours):\n%s", g.Text, diff)
		}
		got, err := m.engine.run(ids)
		if err != nil {
			t.Fatal(err)
		}
		if err := direction(got, m.dim); err != nil {
			t.Fatal(err)
		}
		if off := farthest(g.Float, got); !(off <= 1e-5) {
			t.Errorf("%.40q: a value is off by %g", g.Text, off)
		}
	}
}

// The back end has no block size for integers unless it is given one, and ends
// the process in the first product of a quantised model.
func TestQuantisedModel(t *testing.T) {
	m := openTiny(t, "onnx/model_quantized.onnx")
	for _, g := range readGolden(t) {
		got, err := m.engine.run(g.IDs)
		if err != nil {
			t.Fatal(err)
		}
		if err := direction(got, m.dim); err != nil {
			t.Fatal(err)
		}
		if c := cosine(g.EightBits, got); c < 0.999 {
			t.Errorf("%.40q: cosine %g to ONNX Runtime", g.Text, c)
		}
	}
}

func TestVectorOfATextAlone(t *testing.T) {
	for _, file := range []string{"onnx/model.onnx", "onnx/model_quantized.onnx"} {
		m := openTiny(t, file)
		var texts []string
		for _, g := range readGolden(t) {
			texts = append(texts, g.Text)
		}
		together, err := m.Encode(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range slices.Backward(texts) {
			alone, err := m.Encode(t.Context(), []string{text})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(together[i], alone[0]) {
				t.Errorf("%s: %.40q has another vector beside other texts", file, text)
			}
		}
	}
}

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

func TestModelCanceledAndClosed(t *testing.T) {
	m := openTiny(t, "onnx/model.onnx")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := m.Encode(ctx, []string{"bread"}); !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("canceled: %v, %v", v, err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := m.Encode(t.Context(), []string{"bread"}); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestModelManyAtOnce(t *testing.T) {
	m := openTiny(t, "onnx/model_quantized.onnx")
	want, err := m.Encode(t.Context(), []string{"bread", "the doctor treats sick people"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				got, err := m.Encode(t.Context(), []string{"bread", "the doctor treats sick people"})
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil || !cmp.Equal(want, got) {
					t.Errorf("at once: %v, other vectors: %v", err, !cmp.Equal(want, got))
					return
				}
			}
		})
	}
	for range 3 {
		if _, err := m.Encode(t.Context(), []string{"bread"}); err != nil {
			t.Error(err)
		}
	}
	m.Close()
	wg.Wait()
}

func TestModelName(t *testing.T) {
	names := make(map[string]bool)
	for _, file := range []string{"onnx/model.onnx", "onnx/model_quantized.onnx"} {
		m := openTiny(t, file)
		if !strings.HasPrefix(m.Name(), "tiny-bert@") || len(m.Name()) != len("tiny-bert@")+8 || names[m.Name()] {
			t.Errorf("%s is called %s", file, m.Name())
		}
		names[m.Name()] = true
		if m.Dim() != 32 {
			t.Errorf("%d values", m.Dim())
		}
	}
}

// Whatever happens to the files after they were installed, opening says so.
func TestOpenModelFilesChanged(t *testing.T) {
	path := func(name string) func(string) string {
		return func(dir string) string { return filepath.Join(dir, name) }
	}
	for name, c := range map[string]struct {
		file func(string) string
		data []byte // nil: deleted
		want string
	}{
		"model gone":         {path(modelFile), nil, "model.onnx is gone"},
		"tokenizer gone":     {path(tokensFile), nil, "tokenizer.json is gone"},
		"manifest gone":      {path(manifestFile), nil, "no manifest.json"},
		"model empty":        {path(modelFile), []byte{}, "has 0 bytes"},
		"manifest empty":     {path(manifestFile), []byte{}, "damaged"},
		"manifest of nobody": {path(manifestFile), []byte("{}"), "damaged"},
		"manifest newer":     {path(manifestFile), []byte(`{"version": 99}`), "newer version"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := installTiny(t, "onnx/model.onnx").Dir
			if c.data == nil {
				if err := os.Remove(c.file(dir)); err != nil {
					t.Fatal(err)
				}
			} else if err := os.WriteFile(c.file(dir), c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := OpenModel(dir, nil)
			if _, ok := errors.AsType[*ModelError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Run("same size, other bytes", func(t *testing.T) {
		dir := installTiny(t, "onnx/model.onnx").Dir
		data, err := os.ReadFile(filepath.Join(dir, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(filepath.Join(dir, modelFile), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenModel(dir, nil); err == nil || !strings.Contains(err.Error(), "is not the file that was installed") {
			t.Error(err)
		}
	})
	t.Run("no folder", func(t *testing.T) {
		if _, err := OpenModel(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
	t.Run("never tested", func(t *testing.T) {
		dir := installTiny(t, "onnx/model.onnx").Dir
		m, err := readManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		m.Tested = time.Time{}
		if err := m.write(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenModel(dir, nil); err == nil || !strings.Contains(err.Error(), "self-test was not passed") {
			t.Error(err)
		}
	})
}

// The files of a model that runs are not read again: they may be swapped or
// deleted under it.
func TestModelDeletedWhileOpen(t *testing.T) {
	done := installTiny(t, "onnx/model.onnx")
	m, err := OpenModel(done.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	before, err := m.Encode(t.Context(), []string{"bread", strings.Repeat("car ", 40)})
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(filepath.Dir(done.Dir), done.Name); err != nil {
		t.Fatal(err)
	}
	after, err := m.Encode(t.Context(), []string{"bread", strings.Repeat("car ", 40)})
	if err != nil || !cmp.Equal(before, after) {
		t.Errorf("%v, the same: %v", err, cmp.Equal(before, after))
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

// The model sees ids alone, so most texts need not go through it.
func TestRandomTexts(t *testing.T) {
	m := openTiny(t, "onnx/model_quantized.onnx")
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 1500 {
		text := randomText(r)
		checkIDs(t, m, text)
		if i%50 == 0 {
			checkText(t, m, text)
		}
	}
	for _, text := range []string{strings.Repeat("bread, ", 64<<10/7), strings.Repeat("数", 64<<10/3), strings.Repeat("x", 64<<10)} {
		checkIDs(t, m, text)
		checkText(t, m, text)
	}
}

// checkIDs checks that the model can look up what it is given.
func checkIDs(t *testing.T, m *Model, text string) {
	t.Helper()
	ids, _ := m.vocab.ids(text, m.most)
	if len(ids) < 2 || len(ids) > m.most || ids[0] != m.vocab.begin || ids[len(ids)-1] != m.vocab.end {
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
	for _, text := range odd {
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

func BenchmarkEncodeTiny(b *testing.B) {
	m := openTiny(b, "onnx/model.onnx")
	for b.Loop() {
		if _, err := m.Encode(b.Context(), []string{"the doctor treats sick people"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenTiny(b *testing.B) {
	dir := installTiny(b, "onnx/model.onnx").Dir
	for b.Loop() {
		m, err := OpenModel(dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		m.Close()
	}
}

func ExampleSelfTest() {
	if _, err := SelfTest(context.Background(), "testdata/none"); err != nil {
		fmt.Println(err)
	}
	// Output: model none: is not installed: file does not exist
}
