package embed

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstallRefuses(t *testing.T) {
	whole := tarball(t, tinyFiles(t, "package/")...)
	model, tokenizer := tinyFiles(t, "")[2].data, tinyFiles(t, "")[1].data
	with := func(onnx, tokens []byte) string {
		return file(t, "m.tgz", tarball(t, packed{name: "m/tokenizer.json", data: tokens}, packed{name: "m/model.onnx", data: onnx}))
	}
	also := func(f packed) []packed { return append(tinyFiles(t, "package/"), f) }
	lfs := []byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 90387606\n")
	html := []byte("<!DOCTYPE html><html><head><title>404</title></head></html>")
	edit := func(old, new string) []byte { return bytes.ReplaceAll(tokenizer, []byte(old), []byte(new)) }
	for name, c := range map[string]struct{ path, want string }{
		"nothing there":                 {filepath.Join(t.TempDir(), "none.tgz"), "no such file"},
		"an empty file":                 {file(t, "m.tgz", nil), "is empty"},
		"an empty folder":               {t.TempDir(), "holds no model"},
		"a web page":                    {file(t, "m.tgz", html), "is a web page"},
		"a Git LFS pointer":             {file(t, "m.tgz", lfs), "is a Git LFS pointer"},
		"no archive":                    {file(t, "m.onnx", model), "is no .tgz"},
		"a cut tarball":                 {file(t, "m.tgz", whole[:len(whole)/2]), "is cut off"},
		"a cut head":                    {file(t, "m.tgz", whole[:5]), "is cut off"},
		"a damaged tarball":             {file(t, "m.tgz", flip(whole, len(whole)/2)), "is"},
		"a tarball damaged at its end":  {file(t, "m.tgz", flip(whole, len(whole)-6)), "is damaged"},
		"a tarball of nothing":          {file(t, "m.tgz", tarball(t)), "holds no model"},
		"../ in a tarball":              {file(t, "m.tgz", tarball(t, also(packed{name: "../evil"})...)), "leads out of the archive"},
		"../ inside a name":             {file(t, "m.tgz", tarball(t, also(packed{name: "package/../../evil"})...)), "leads out of the archive"},
		"an absolute name":              {file(t, "m.tgz", tarball(t, also(packed{name: "/etc/evil"})...)), "leads out of the archive"},
		"a backslash":                   {file(t, "m.tgz", tarball(t, also(packed{name: `..\evil`})...)), "leads out of the archive"},
		"a link in a tarball":           {file(t, "m.tgz", tarball(t, also(packed{name: "l", kind: tar.TypeSymlink, link: "/etc/passwd"})...)), "is a link"},
		"a hard link":                   {file(t, "m.tgz", tarball(t, also(packed{name: "l", kind: tar.TypeLink, link: "x"})...)), "is a link"},
		"a device":                      {file(t, "m.tgz", tarball(t, also(packed{name: "d", kind: tar.TypeChar})...)), "is a link or a device"},
		"a bomb":                        {file(t, "m.tgz", tarball(t, packed{name: "bomb", size: 8 << 30})), "is larger unpacked"},
		"a tokenizer alone":             {file(t, "m.tgz", tarball(t, packed{name: "tokenizer.json", data: tokenizer})), "holds no model"},
		"a model alone":                 {file(t, "m.tgz", tarball(t, packed{name: "model.onnx", data: model})), "holds no model"},
		"two models":                    {file(t, "m.tgz", tarball(t, append(tinyFiles(t, "a/"), tinyFiles(t, "b/")...)...)), "several models: give the folder of one, of a, b"},
		"an empty model":                {with(nil, tokenizer), ".onnx file is empty"},
		"a model that is a pointer":     {with(lfs, tokenizer), ".onnx file is a Git LFS pointer"},
		"a model that is a web page":    {with(html, tokenizer), ".onnx file is a web page"},
		"a model that is noise":         {with([]byte(strings.Repeat("not a model", 99)), tokenizer), "cannot be loaded"},
		"a cut model":                   {with(model[:len(model)-100], tokenizer), "cannot be loaded"},
		"a model cut in its middle":     {with(model[:len(model)/2], tokenizer), "cannot be loaded"},
		"a model without input_ids":     {with(bytes.ReplaceAll(model, []byte("input_ids"), []byte("pixel_val")), tokenizer), "model "},
		"a model of unknown operations": {with(bytes.ReplaceAll(model, []byte("Softmax"), []byte("Hardmox")), tokenizer), "self-test"},
		"an empty tokenizer":            {with(model, nil), "tokenizer.json is empty"},
		"a tokenizer that is {}":        {with(model, []byte("{}")), "holds no WordPiece vocabulary"},
		"a tokenizer that is []":        {with(model, []byte("[]")), "is no tokenizer"},
		"a cut tokenizer":               {with(model, tokenizer[:len(tokenizer)/2]), "is no tokenizer"},
		"a cased tokenizer":             {with(model, edit(`"lowercase": true`, `"lowercase": false`)), "only uncased vocabularies"},
		"another kind of tokenizer":     {with(model, edit(`"WordPiece",`, `"Unigram",`)), "only BERT's kind"},
		"a tokenizer without marks":     {with(model, edit(`"[CLS]": 2`, `"[CLX]": 2`)), "has no token [CLS]"},
		"ids with a hole":               {with(model, edit(`"[CLS]": 2`, `"[CLS]": 2000`)), "the ids of its"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := Install(t.Context(), dir, c.path, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			onlyModel(t, dir, "")
		})
	}
}

func flip(data []byte, at int) []byte {
	data = bytes.Clone(data)
	data[at] ^= 0x55
	return data
}

// A tokenizer of another vocabulary of the same size passes every other check.
func TestInstallOtherVocabulary(t *testing.T) {
	files := tinyFiles(t, "m/")
	text := string(files[1].data)
	for _, swap := range [][2]string{{`"bread"`, `"car"`}, {`"loaf"`, `"bug"`}, {`"nurse"`, `"oven"`}, {`"vehicle"`, `"software"`},
		{`"wheels"`, `"hospital"`}, {`"patients"`, `"kitchen"`}, {`"doctor"`, `"crashes"`}, {`"sick"`, `"tires"`}} {
		text = strings.NewReplacer(swap[0], swap[1], swap[1], swap[0]).Replace(text)
	}
	files[1].data = []byte(text)
	_, err := Install(t.Context(), t.TempDir(), file(t, "m.tgz", tarball(t, files...)), nil)
	if err == nil || !strings.Contains(err.Error(), "the tokenizer is another model's") {
		t.Error(err)
	}
}

func TestCurrentDamaged(t *testing.T) {
	for content, want := range map[string]string{
		"":              "is no model's name",
		"../../etc":     "is no model's name",
		"gone@12345678": "its folder is gone",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, currentFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Current(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}
