package embed

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"leanctx/embed/tinybert/onnx"
)

// tableModel writes the built-in table as a model: look the tokens up, scale.
// The marks get rows of zeros, since the table has no use for them.
func tableModel(t testing.TB, s *static) (model, tokenizer []byte) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(vocabulary30k, "\n"), "\n")
	vocab := make(map[string]int, len(lines))
	scales := make([]float32, s.rows.n)
	for id, token := range lines {
		vocab[token] = id
		if token != "[UNK]" && token != "[CLS]" && token != "[SEP]" {
			scales[id] = math.Float32frombits(binary.LittleEndian.Uint32([]byte(s.rows.scales[4*id:])))
		}
	}
	var g onnx.Graph
	g.Input("input_ids", onnx.Int64, 0, 0)
	g.Input("attention_mask", onnx.Int64, 0, 0)
	g.Bytes("table", onnx.Int8, []byte(s.rows.values), int64(s.rows.n), int64(s.rows.dim))
	g.Floats("scales", scales, int64(s.rows.n), 1)
	axis := onnx.Attr{Name: "axis", Value: int64(0)}
	rows := g.Node("Cast", []string{g.Node("Gather", []string{"table", "input_ids"}, axis)}, onnx.Attr{Name: "to", Value: int64(onnx.Float)})
	scale := g.Node("Gather", []string{"scales", "input_ids"}, axis)
	g.Rename(g.Node("Mul", []string{rows, scale}), "last_hidden_state")
	g.Output("last_hidden_state", onnx.Float, 0, 0, int64(s.rows.dim))

	tokenizer, err := json.Marshal(map[string]any{
		"version":        "1.0",
		"normalizer":     map[string]any{"type": "BertNormalizer", "lowercase": true, "clean_text": true, "handle_chinese_chars": true},
		"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "BertProcessing", "sep": []any{"[SEP]", vocab["[SEP]"]}, "cls": []any{"[CLS]", vocab["[CLS]"]}},
		"model":          map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g.Model("table", 11), tokenizer
}

// The built-in table, run by hugot as a model, gives the built-in encoder's
// vectors: one of them checks the other, and a real model with real meaning
// passes the self-test without a download.
func TestStaticTableThroughHugot(t *testing.T) {
	s, err := loadStatic()
	if err != nil {
		t.Fatal(err)
	}
	model, tokenizer := tableModel(t, s)
	path := file(t, "table.zip", zipped(t, packed{name: "m/model.onnx", data: model}, packed{name: "m/tokenizer.json", data: tokenizer}))
	done, err := Install(t.Context(), t.TempDir(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if done.Report.Similar <= 0 || done.Dim != s.Dim() {
		t.Errorf("%+v", done.Report)
	}
	m, err := OpenModel(done.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	texts := append(odd[:], "Which database do we use?", "We store everything in PostgreSQL 16", "The office dog is called Rex", "snake_case and camelCase, v1.2.3")
	through, err := m.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := s.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if off := farthest(direct[i], through[i]); !(off <= 1e-5) {
			t.Errorf("%.40q: a value is off by %g", text, off)
		}
	}
	n := len(odd)
	if near, far := cosine(through[n], through[n+1]), cosine(through[n], through[n+2]); near <= far {
		t.Errorf("near %g, far %g", near, far)
	}
}
