package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// picked says which files of a folder or an archive make the model.
type picked struct {
	folder  string // that holds tokenizer.json
	onnx    string
	tokens  string
	config  string // "" when there is none, as for the next
	pooling string
}

// sides are the small files that are read and not kept.
type sides struct {
	MaxPositions int    `json:"max_position_embeddings"`
	NameOrPath   string `json:"_name_or_path"`
	FirstToken   bool   `json:"pooling_mode_cls_token"`
	MeanTokens   bool   `json:"pooling_mode_mean_tokens"`
}

// preferred are the names of .onnx files to take when a folder holds several,
// the best first: eight bits a number lose nothing that can be measured and
// need a third of the memory.
var preferred = []string{"model_quantized.onnx", "model_int8.onnx", "model_uint8.onnx", "model.onnx"}

// pick finds the model among a source's files: a folder with tokenizer.json,
// and an .onnx file in it or in its folder onnx. With several such folders, or
// several files, want chooses: the end of a path of either.
func pick(files []string, want string) (picked, error) {
	var found []picked
	anyOnnx := slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, ".onnx") })
	for _, file := range files {
		if path.Base(file) != tokensFile {
			continue
		}
		folder := path.Dir(file)
		onnx := slices.DeleteFunc(slices.Clone(files), func(f string) bool {
			dir := path.Dir(f)
			return !strings.HasSuffix(f, ".onnx") || dir != folder && dir != path.Join(folder, "onnx")
		})
		if want != "" && !endsIn(folder, want) {
			onnx = slices.DeleteFunc(onnx, func(f string) bool { return !endsIn(f, want) })
		}
		if len(onnx) == 0 {
			continue
		}
		p := picked{folder: folder, tokens: file, onnx: choose(onnx)}
		if p.onnx == "" {
			return picked{}, fmt.Errorf("holds several .onnx files: choose one of %s, with model", strings.Join(onnx, ", "))
		}
		for name, at := range map[string]*string{"config.json": &p.config, "1_Pooling/config.json": &p.pooling} {
			if full := path.Join(folder, name); slices.Contains(files, full) {
				*at = full
			}
		}
		found = append(found, p)
	}
	switch {
	case len(found) == 1 && (want != "" || plausible(files, found[0].folder)):
		return found[0], nil
	case len(found) == 1:
		return picked{}, fmt.Errorf("is no model's folder or package, and holds a model in %s: if it is that one, give its folder, or its name as model", found[0].folder)
	case len(found) > 1:
		var names []string
		for _, p := range found {
			names = append(names, p.folder)
		}
		return picked{}, fmt.Errorf("holds several models: choose one of %s, with model", strings.Join(names, ", "))
	case want != "":
		return picked{}, fmt.Errorf("holds no model that is called %s", want)
	case !anyOnnx:
		return picked{}, errors.New("holds no .onnx file: only models in ONNX form can be run")
	}
	return picked{}, errors.New("holds no tokenizer.json beside its .onnx file: a model cannot be used without it")
}

// plausible reports whether a model in folder is what a source is for: it is at
// the top, or at most as far below it as a hub's cache or a package of npm has it,
// and not there for somebody's tests. A source tree that holds a model for its own
// use would come into use as one else.
func plausible(files []string, folder string) bool {
	top := strings.SplitN(files[0], "/", 2)[0] + "/"
	for _, f := range files {
		if !strings.HasPrefix(f, top) {
			top = ""
		}
	}
	below := strings.TrimPrefix(folder+"/", top)
	most := 2
	if slices.Contains(files, top+"package.json") {
		most = 4
	}
	for part := range strings.SplitSeq(below, "/") {
		if strings.HasPrefix(strings.ToLower(part), "test") || part == "fixtures" || part == "node_modules" || part == "vendor" {
			return false
		}
	}
	return strings.Count(below, "/") <= most
}

// choose gives the one .onnx file, or the preferred one, or "".
func choose(onnx []string) string {
	if len(onnx) == 1 {
		return onnx[0]
	}
	for _, name := range preferred {
		if i := slices.IndexFunc(onnx, func(f string) bool { return path.Base(f) == name }); i >= 0 {
			return onnx[i]
		}
	}
	return ""
}

// endsIn reports whether the last parts of a path are those of end.
func endsIn(file, end string) bool {
	return file == end || strings.HasSuffix(file, "/"+strings.Trim(end, "/"))
}

// unpack copies the model of a folder or an archive into dir, under this
// package's names, and gives what its small files say. An archive is read
// twice, since only its list of files tells which to take.
func unpack(ctx context.Context, from, dir string, o *InstallOptions) (picked, sides, error) {
	var names []string
	err := walk(ctx, from, usualLimits, func(e entry) error {
		names = append(names, path.Clean(e.name))
		return nil
	})
	if err != nil {
		return picked{}, sides{}, err
	}
	p, err := pick(names, o.Model)
	if err != nil {
		return picked{}, sides{}, err
	}
	var s sides
	err = walk(ctx, from, usualLimits, func(e entry) error {
		switch path.Clean(e.name) {
		case p.onnx:
			return store(dir, modelFile, e)
		case p.tokens:
			return store(dir, tokensFile, e)
		case p.config, p.pooling:
			// What cannot be read here is not needed: the self-test decides.
			_ = json.NewDecoder(io.LimitReader(e.body, 1<<20)).Decode(&s)
		}
		return nil
	})
	return p, s, err
}
