package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tiny is a complete BERT of 2 layers, 32 values a token and some 130 words, as
// fp32 and in eight bits. Its weights are random, but words of a kind share a
// direction. It is frozen: the program that wrote it, embed/tinybert, is in the
// history. The vectors in golden.json are those of ONNX Runtime.
const tiny = "testdata/tiny-bert"

// tinyWith is a folder with one of the two .onnx files of tiny.
func tinyWith(t testing.TB, file string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny-bert")
	if err := os.CopyFS(dir, os.DirFS(tiny)); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"onnx/model.onnx", "onnx/model_quantized.onnx"} {
		if other != file {
			if err := os.Remove(filepath.Join(dir, other)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// installTiny puts a model of testdata into a folder as Install does, without
// the self-test, which has tests of its own.
func installTiny(t testing.TB, file string) Installed {
	t.Helper()
	done, err := Install(t.Context(), t.TempDir(), tinyWith(t, file), &InstallOptions{Child: passes})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// passes is a process in which every model passes its self-test.
func passes(context.Context, string) (Report, error) { return Report{Dim: 32, Texts: 27}, nil }

func openTiny(t testing.TB, file string) *Model {
	t.Helper()
	m, err := OpenModel(installTiny(t, file).Dir)
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
		m, err := OpenModel(dir)
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
