package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"leanctx/cmd/internal/app"
)

const (
	root       = "../../.."
	repository = "https://github.com/somebody/lean-ctx"
)

// released is where run has put everything, for programs that are none.
func released(t *testing.T) string {
	t.Helper()
	programs, out := t.TempDir(), t.TempDir()
	for _, x := range targets() {
		if err := put(filepath.Join(programs, program+"_"+x.OS+"_"+x.Arch+"_v1", x.File), []byte("a program for "+x.OS), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{"-programs", programs, "-out", out, "-source", root, "-licenses", licensesDir(t), "-repository", repository}, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out
}

// licensesDir is what go-licenses writes, for one library.
func licensesDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := put(filepath.Join(dir, "example.org", "x", "LICENSE"), []byte("MIT"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func content(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// unpacked gives the files of a bundle.
func unpacked(t *testing.T, path string) (files map[string][]byte, modes map[string]os.FileMode) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files, modes = map[string][]byte{}, map[string]os.FileMode{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name], modes[f.Name] = data, f.Mode()
	}
	return files, modes
}

// valid checks a document against the schema that its readers publish.
func valid(t *testing.T, schema string, data []byte) {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(content(t, "testdata", schema), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var x any
	if err := json.Unmarshal(data, &x); err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(x); err != nil {
		t.Errorf("%v\n%s", err, data)
	}
}

// Everything that carries a version carries that of the source.
func TestVersions(t *testing.T) {
	out := released(t)
	documents, err := filepath.Glob(filepath.Join(out, "npm", "*", "package.json"))
	if err != nil || len(documents) != 1+len(targets()) {
		t.Fatalf("%v, %d packages", err, len(documents))
	}
	all := map[string][]byte{"server.json": content(t, out, "server.json")}
	for _, d := range documents {
		all[d] = content(t, d)
	}
	bundles, err := filepath.Glob(filepath.Join(out, "*-"+app.Version+"-*.mcpb"))
	if err != nil || len(bundles) != len(targets()) {
		t.Fatalf("%v, bundles %v", err, bundles)
	}
	for _, b := range bundles {
		files, _ := unpacked(t, b)
		all[b] = files["manifest.json"]
	}
	for name, data := range all {
		var x struct {
			Version  string
			Optional map[string]string `json:"optionalDependencies"`
			Packages []struct{ Version, Identifier string }
		}
		if err := json.Unmarshal(data, &x); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if x.Version != app.Version {
			t.Errorf("%s is of version %q", name, x.Version)
		}
		for dependency, v := range x.Optional {
			if v != app.Version {
				t.Errorf("%s wants %s %s", name, dependency, v)
			}
		}
		for _, p := range x.Packages {
			if p.Version != app.Version && !strings.Contains(p.Identifier, "/v"+app.Version+"/lean-ctx-"+app.Version) {
				t.Errorf("%s names %+v", name, p)
			}
		}
	}
}

func TestDocumentsAreValid(t *testing.T) {
	out := released(t)
	valid(t, "server.schema.json", content(t, out, "server.json"))
	files, modes := unpacked(t, filepath.Join(out, "lean-ctx-"+app.Version+"-windows-arm64.mcpb"))
	valid(t, "mcpb-manifest-v0.3.schema.json", files["manifest.json"])
	names := slices.Sorted(func(yield func(string) bool) {
		for n := range files {
			if !yield(n) {
				return
			}
		}
	})
	if d := cmp.Diff([]string{"LICENSE", "NOTICE", "licenses/example.org/x/LICENSE", "manifest.json", "server/lean-ctx.exe"}, names); d != "" {
		t.Error(d)
	}
	if m := modes["server/lean-ctx.exe"]; m.Perm() != 0o755 {
		t.Errorf("the program has mode %v", m)
	}
	for _, want := range []string{`"ctx_knowledge"`, `"ctx_overview"`, `"${__dirname}/server/lean-ctx.exe"`} {
		if !bytes.Contains(files["manifest.json"], []byte(want)) {
			t.Errorf("the manifest does not name %s", want)
		}
	}
	if !bytes.Contains(content(t, out, "npm", program, "package.json"), []byte(`"mcpName": "io.github.somebody/lean-ctx"`)) {
		t.Error("nothing proves to the registry whose package it is")
	}
	var x struct{ Description string }
	if err := json.Unmarshal(content(t, out, "server.json"), &x); err != nil || len([]rune(x.Description)) > 100 {
		t.Errorf("%v, %q: the registry takes a description of 100 letters", err, x.Description)
	}
}

// The same programs give the same files, whenever they are packed.
func TestReproducible(t *testing.T) {
	a, b := released(t), released(t)
	for _, name := range []string{"server.json", "lean-ctx-" + app.Version + "-linux-amd64.mcpb"} {
		if !bytes.Equal(content(t, a, name), content(t, b, name)) {
			t.Errorf("%s is another one the second time", name)
		}
	}
}

// Who asks for help is given it, and did nothing wrong.
func TestHelp(t *testing.T) {
	if err := run([]string{"-h"}, io.Discard); err != nil {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	programs := t.TempDir()
	for name, args := range map[string][]string{
		"holds no program":            {"-programs", programs, "-source", root},
		"flag provided but not defin": {"-nonsense"},
	} {
		err := run(append(args, "-out", t.TempDir()), io.Discard)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if err := run([]string{"-programs", filepath.Dir(filepath.Dir(oneProgram(t))), "-source", root, "-out", t.TempDir(), "-licenses", t.TempDir() + "/none"}, io.Discard); err == nil {
		t.Error("packed without the licences of what is linked")
	}
	for _, level := range []string{"v1", "v3"} {
		if err := put(filepath.Join(programs, "lean-ctx_linux_amd64_"+level, program), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{"-programs", programs, "-out", t.TempDir()}, io.Discard); err == nil || !strings.Contains(err.Error(), "2 programs fit") {
		t.Errorf("got %v", err)
	}
}

// oneProgram is a program as goreleaser leaves it.
func oneProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lean-ctx_linux_amd64_v1", program)
	if err := put(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
