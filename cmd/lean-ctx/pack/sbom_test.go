package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"leanctx/cmd/internal/app"
)

// checkBOM writes the list of a program twice and compares it with what the
// go command wrote into the program.
func checkBOM(t *testing.T, path string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := run([]string{"-sbom", path, "-source", root, "-out", filepath.Join(dir, name)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	data := content(t, dir, "a")
	if !bytes.Equal(data, content(t, dir, "b")) {
		t.Error("the list is another one the second time")
	}
	if err := validBOM(t, data); err != nil {
		t.Error(err)
	}
	var got cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(data), cdx.BOMFileFormatJSON).Decode(&got); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"std " + strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		want = append(want, m.Path+" "+m.Version)
	}
	var listed []string
	for _, c := range *got.Components {
		listed = append(listed, c.Name+" "+c.Version)
		if c.Licenses == nil || len(*c.Licenses) == 0 {
			t.Errorf("%s has no licence", c.Name)
		}
	}
	if d := cmp.Diff(want, listed); d != "" {
		t.Error(d)
	}
	if c := got.Metadata.Component; c.Version != app.Version || len((*c.Hashes)[0].Value) != 64 {
		t.Errorf("the program is %+v", c)
	}
}

// validBOM checks a list against the schema that comes with the library.
func validBOM(t *testing.T, data []byte) error {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "schema")
	load := func(at *url.URL) (*jsonschema.Schema, error) {
		name := filepath.Base(at.Path)
		if name == "jsf-0.82.schema.json" {
			name = "jsf-0.82.schemax.json"
		}
		var s jsonschema.Schema
		return &s, json.Unmarshal(content(t, dir, name), &s)
	}
	s, err := load(&url.URL{Path: "bom-1.6.schema.json"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{Loader: load})
	if err != nil {
		t.Fatal(err)
	}
	var x any
	if err := json.Unmarshal(data, &x); err != nil {
		t.Fatal(err)
	}
	return r.Validate(x)
}

// A list is of the program alone: its time is that of the commit.
func TestBOM(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.0 X:something", Deps: []*debug.Module{{Path: "example.com/Some/x", Version: "v2.0.0+incompatible"}},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}, {Key: "vcs.revision", Value: "0123"}, {Key: "vcs.time", Value: "2026-11-22T00:00:00Z"}}}
	p := plan{version: "1.2.3", repository: repository}
	bom, err := p.bom(info, func(string) ([]string, error) { return []string{"MIT", "Apache-2.0"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		t.Fatal(err)
	}
	if err := validBOM(t, b.Bytes()); err != nil {
		t.Error(err)
	}
	if err := validBOM(t, bytes.Replace(b.Bytes(), []byte(`"MIT"`), []byte(`"MITT"`), 1)); err == nil {
		t.Error("the schema takes any licence")
	}
	for _, want := range []string{`"pkg:golang/example.com/some/x@v2.0.0%2Bincompatible"`, `"pkg:golang/std@1.26.0"`, `"timestamp":"2026-11-22T00:00:00Z"`, `"uid":"0123"`, `"lean-ctx-1.2.3-linux-arm64"`, repository} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s in %s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "serialNumber") {
		t.Error("a serial number differs each time")
	}
	missing := errors.New("no licence")
	if _, err := p.bom(info, func(string) ([]string, error) { return nil, missing }); !errors.Is(err, missing) {
		t.Errorf("got %v", err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, path := range map[string]string{"must be a program": text, "no such": filepath.Join(t.TempDir(), "none"), "build the program anew": os.Args[0]} {
		if err := run([]string{"-sbom", path, "-source", root, "-out", filepath.Join(t.TempDir(), "out")}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
