package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Report says what a self-test found.
type Report struct {
	Name      string  `json:"name"`
	Dim       int     `json:"dim"`
	Texts     int     `json:"texts"`     // that were encoded
	Similar   float64 `json:"similar"`   // lowest cosine of two texts that mean the same
	Unrelated float64 `json:"unrelated"` // highest cosine of two that do not
	LoadMS    float64 `json:"load_ms"`
	TextMS    float64 `json:"text_ms"` // of a text of 7 words, not the first
}

// similarPairs are pairs of texts that mean the same and share no word that carries
// it. Each text must be nearer to its pair than to any other's: with a
// tokenizer of another vocabulary, whose numbers are noise to the model, one in
// 256 would pass.
var similarPairs = [...][2]string{
	{"how do i bake bread at home", "a recipe for a loaf from my own kitchen oven"},
	{"the doctor treats sick people", "a nurse helps the patients in hospital"},
	{"our car needs new tires", "the vehicle wants fresh wheels"},
	{"the program crashes with an error", "this software fails because of a bug"},
}

// oddTexts are texts that killed a tokenizer or a model somewhere.
var oddTexts = [...]string{
	"",
	" \t\n",
	"Crème brûlée à la carte, naïve façade, Ångström, İstanbul, e\u0301te\u0301",
	"Привет, мир: база данных не отвечает",
	"数据库连接失败 東京タワー 서울특별시 テスト",
	"🚀 deploy 👩‍👩‍👧‍👦 🏳️‍🌈 ✅",
	"zero\u200bwidth\ufeff soft\u00adhyphen \u202eright to left",
	"[CLS] [SEP] [MASK] [PAD] [UNK] ##ing",
	"not utf-8: \xff\xfe\xc3(",
	"a\x00b\x07c \U000e0001\uffff\ufffd",
	"https://example.com/a/b?c=d#e snake_case camelCase kebab-case v1.2.3 {\"json\": [1, 2]}",
}

// SelfTest loads the model in a folder and encodes texts of all lengths and
// scripts. It reports what it measured or what is wrong. It runs in this
// process, which a broken model can end, because back ends panic in their own
// goroutines. So run an untrusted model in another process (see [Child]). It
// takes one to ten seconds.
func SelfTest(ctx context.Context, dir string) (Report, error) {
	manifest, err := readManifest(dir)
	if err != nil {
		return Report{}, err
	}
	start := time.Now()
	m, err := openModel(dir, manifest)
	if err != nil {
		return Report{}, err
	}
	defer m.Close()
	t := selfTest{model: m, report: Report{Name: m.name, Dim: m.dim, LoadMS: milliseconds(start)}}
	for _, check := range []func(context.Context) error{t.lengths, t.scripts, t.meaning, t.repeats} {
		if err := check(ctx); err != nil {
			if ctx.Err() == nil {
				err = &ModelError{m.name, "self-test: " + strings.TrimPrefix(err.Error(), "model "+m.name+": ")}
			}
			return t.report, err
		}
	}
	return t.report, nil
}

type selfTest struct {
	model  *Model
	report Report
}

// encode gives one text's vector, checked.
func (t *selfTest) encode(ctx context.Context, text string) ([]float32, error) {
	vectors, err := t.model.Encode(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	t.report.Texts++
	v := vectors[0]
	if len(v) != t.report.Dim {
		return nil, fmt.Errorf("a vector has %d values instead of %d", len(v), t.report.Dim)
	}
	if length := math.Sqrt(cosine(v, v)); length != 0 && !(math.Abs(length-1) < 1e-3) {
		return nil, fmt.Errorf("a vector has length %g instead of 1", length)
	}
	return v, nil
}

// lengths runs texts of few and of many tokens: kernels work in blocks, and
// fail where a block is not full.
func (t *selfTest) lengths(ctx context.Context) error {
	for _, n := range []int{1, 2, 3, 7, 30, 200} {
		v, err := t.encode(ctx, strings.TrimSpace(strings.Repeat("people ", n)))
		if err != nil {
			return fmt.Errorf("%d words: %w", n, err)
		}
		if cosine(v, v) == 0 {
			return errors.New("plain English words mean nothing to it: its tokenizer is another model's")
		}
	}
	return nil
}

func (t *selfTest) scripts(ctx context.Context) error {
	for _, text := range append(oddTexts[:], strings.Repeat("long", 16<<10)) {
		if _, err := t.encode(ctx, text); err != nil {
			return fmt.Errorf("text %.40q: %w", text, err)
		}
	}
	return nil
}

// meaning checks that the vectors say what the texts mean.
func (t *selfTest) meaning(ctx context.Context) error {
	var vectors [len(similarPairs)][2][]float32
	for i, pair := range similarPairs {
		for j, text := range pair {
			v, err := t.encode(ctx, text)
			if err != nil {
				return fmt.Errorf("text %q: %w", text, err)
			}
			vectors[i][j] = v
		}
	}
	t.report.Similar, t.report.Unrelated = 1, -1
	wrong := 0
	for i := range similarPairs {
		own, other := cosine(vectors[i][0], vectors[i][1]), -1.0
		for j := range similarPairs {
			if j != i {
				other = max(other, cosine(vectors[i][0], vectors[j][1]))
			}
		}
		if own <= other {
			wrong++
		}
		t.report.Similar, t.report.Unrelated = min(t.report.Similar, own), max(t.report.Unrelated, other)
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d texts are nearer to an unrelated text than to one that means the same: "+
			"the tokenizer is another model's, or the model was not trained to compare sentences", wrong, len(similarPairs))
	}
	return nil
}

// repeats checks that a text always has the same vector.
func (t *selfTest) repeats(ctx context.Context) error {
	first, err := t.encode(ctx, similarPairs[0][0])
	if err != nil {
		return err
	}
	start := time.Now()
	again, err := t.model.Encode(ctx, []string{similarPairs[0][0]})
	if err != nil {
		return err
	}
	t.report.TextMS = milliseconds(start)
	if !slices.Equal(first, again[0]) {
		return errors.New("the same text gives different vectors")
	}
	return nil
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func milliseconds(since time.Time) float64 {
	return math.Round(float64(time.Since(since))/1e4) / 100
}

// Child runs the self-test of the model in a folder in another process of this
// program. When the context ends, the process is ended.
type Child func(ctx context.Context, dir string) (Report, error)

// result is what the other process writes: a line of JSON.
type result struct {
	Report  Report `json:"report"`
	Problem string `json:"problem,omitempty"`
}

// Exec makes a Child of a command line that calls Work with the rest of its
// arguments, as Exec("/usr/bin/lean-ctx", "embed-worker"). The error of a process
// that dies has the first line of its output.
func Exec(path string, args ...string) Child {
	return func(ctx context.Context, dir string) (Report, error) {
		cmd := exec.CommandContext(ctx, path, append(args[:len(args):len(args)], dir)...)
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		cmd.WaitDelay = 5 * time.Second
		if err := cmd.Run(); err != nil {
			line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
			return Report{}, fmt.Errorf("self-test: it ended its process: %w: %s", err, cut(line, 300))
		}
		var r result
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			return Report{}, fmt.Errorf("the child process wrote %.100q instead of a report", out.Bytes())
		}
		if r.Problem != "" {
			return r.Report, errors.New(r.Problem)
		}
		return r.Report, nil
	}
}

// Work is the other side of a Child: it tests the model in the folder that is
// its one argument and writes the report. An error says that it could not try.
func Work(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("unknown work %q: this command is for the program's own use", args)
	}
	var r result
	var err error
	if r.Report, err = SelfTest(ctx, args[0]); err != nil {
		r.Problem = err.Error()
	}
	return json.NewEncoder(out).Encode(r)
}
