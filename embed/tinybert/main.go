// Tinybert writes testdata/tiny-bert: a complete BERT that fits into a test, as
// model.onnx, the same with eight bits a number, and tokenizer.json. It has 2
// layers, 32 values a token and some 130 words, takes int64 ids as real exports
// do, and is made of the same operations as they are. Words of a kind share a
// direction, so that it tells texts apart by their meaning, in a small way.
//
// The vectors in golden.json are ONNX Runtime's, had by golden.mjs.
//
//	go run ./embed/tinybert embed/testdata/tiny-bert
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tinybert DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "tinybert:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	tokens, group := vocabulary()
	tokenizer, err := json.MarshalIndent(tokenizerFile(tokens), "", " ")
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"tokenizer.json":            append(tokenizer, '\n'),
		"onnx/model.onnx":           newBert(group, false).build(),
		"onnx/model_quantized.onnx": newBert(group, true).build(),
		"config.json":               []byte(`{"model_type": "bert", "_name_or_path": "tiny-bert", "hidden_size": 32, "max_position_embeddings": 128}` + "\n"),
	}
	if err := os.MkdirAll(filepath.Join(dir, "onnx"), 0o755); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tokenizerFile is the tokenizer in the form that real models come with.
func tokenizerFile(tokens []string) any {
	type object = map[string]any
	vocab, added := object{}, []object{}
	for id, token := range tokens {
		vocab[token] = id
		if id < 5 {
			added = append(added, object{"id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})
		}
	}
	mark := func(name string) object { return object{"SpecialToken": object{"id": name, "type_id": 0}} }
	special := func(name string, id int) object {
		return object{"id": name, "ids": []int{id}, "tokens": []string{name}}
	}
	text := object{"Sequence": object{"id": "A", "type_id": 0}}
	return object{
		"version":       "1.0",
		"truncation":    object{"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0},
		"padding":       nil,
		"added_tokens":  added,
		"normalizer":    object{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer": object{"type": "BertPreTokenizer"},
		"post_processor": object{
			"type":   "TemplateProcessing",
			"single": []object{mark("[CLS]"), text, mark("[SEP]")},
			"pair": []object{mark("[CLS]"), text, mark("[SEP]"),
				{"Sequence": object{"id": "B", "type_id": 1}}, {"SpecialToken": object{"id": "[SEP]", "type_id": 1}}},
			"special_tokens": object{"[CLS]": special("[CLS]", 2), "[SEP]": special("[SEP]", 3)},
		},
		"decoder": object{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model": object{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
			"max_input_chars_per_word": 100, "vocab": vocab},
	}
}
