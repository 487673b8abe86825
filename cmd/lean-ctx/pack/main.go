// Pack makes, from programs that goreleaser has built, what it does not make
// itself:
//
//	npm/lean-ctx/            the npm package that is installed: a few lines that start the program
//	npm/lean-ctx-linux-x64/  … and one for each platform, with the program in it
//	lean-ctx-0.1.0-linux-amd64.mcpb   the server as a bundle, for clients that install those
//	server.json              the entry of the MCP registry, with the checksums of the bundles
//	build/man/               the manual pages, with -man
//
// Run it in the directory of the module, after a build:
//
//	goreleaser build --clean && go run ./cmd/lean-ctx/pack -repository https://github.com/OWNER/lean-ctx
//
// # Decisions
//
//   - npm chooses the program by platform and nothing is fetched after the
//     installation. A script that downloads was rejected: many places refuse it.
//   - The same program gives the same bundle: the times in it are fixed.
//   - The version is that of the source.
//   - The source does not name the place where the project is published. Without
//     -repository there is no server.json.
//   - Lists of what is in a program and of licences are made by goreleaser with
//     syft, and by go-licenses.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"leanctx/cmd/internal/app"
)

// program is the name of the program and of all packages.
const program = "lean-ctx"

//go:embed templates
var templates embed.FS

// target is a platform, by the names that Go and npm have for it, and its
// program.
type target struct {
	OS, Arch      string
	NpmOS, NpmCPU string // bundles call systems so too
	File          string // name of the program's file
	path          string // of the program
	Bundle, Sum   string // the bundle that was made, and its SHA-256
}

func targets() []target {
	var all []target
	for _, system := range [][3]string{{"linux", "linux", program}, {"darwin", "darwin", program}, {"windows", "win32", program + ".exe"}} {
		for _, machine := range [][2]string{{"amd64", "x64"}, {"arm64", "arm64"}} {
			all = append(all, target{OS: system[0], Arch: machine[0], NpmOS: system[1], NpmCPU: machine[1], File: system[2]})
		}
	}
	return all
}

// release is what the templates are filled with.
type release struct {
	Version    string
	Repository string // https address, or empty
	Targets    []*target
	Target     *target // of a file for one platform

	out, source, licenses string
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "pack: error: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	r := release{Version: app.Version}
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	programs := flags.String("programs", "dist", "directory with the programs, each in lean-ctx_<os>_<arch>…")
	flags.StringVar(&r.out, "out", "dist/packages", "directory to write to")
	flags.StringVar(&r.source, "source", ".", "directory of the module")
	flags.StringVar(&r.licenses, "licenses", "build/licenses", "directory that .ci/licenses wrote")
	flags.StringVar(&r.Repository, "repository", "", "https address of the repository; needed for server.json")
	pages := flags.String("man", "", "directory to write the manual pages to; then nothing else is made")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // it has been printed
	} else if err != nil {
		return err
	}
	if *pages != "" {
		return manual(*pages)
	}
	if err := r.find(*programs); err != nil {
		return err
	}
	made, err := r.make()
	for _, path := range made {
		fmt.Fprintln(out, path)
	}
	return err
}

// find looks for the programs. Some platforms may be missing, but not all.
func (r *release) find(programs string) error {
	for _, t := range targets() {
		pattern := program + "_" + t.OS + "_" + t.Arch + "*/" + t.File
		matches, err := fs.Glob(os.DirFS(programs), pattern)
		if err != nil {
			return err
		}
		if len(matches) > 1 {
			return fmt.Errorf("%s: %d programs fit; remove the old ones", pattern, len(matches))
		}
		for _, m := range matches {
			t.path = filepath.Join(programs, filepath.FromSlash(m))
			r.Targets = append(r.Targets, &t)
		}
	}
	if len(r.Targets) == 0 {
		return fmt.Errorf("%s holds no program: build them first, with goreleaser build --clean", programs)
	}
	return nil
}

// file is a file of a package or a bundle.
type file struct {
	name string // with slashes
	data []byte
	mode os.FileMode
}

// make writes everything and names it.
func (r *release) make() (made []string, err error) {
	notices, err := r.notices()
	if err != nil {
		return nil, err
	}
	npm := func(name, about string, executable file) error {
		text, err := r.fill(about)
		if err != nil {
			return err
		}
		readme, err := os.ReadFile(filepath.Join(r.source, "README.md"))
		if err != nil {
			return err
		}
		dir := filepath.Join(r.out, "npm", name)
		made = append(made, dir)
		for _, f := range append([]file{{"package.json", text, 0o644}, {"README.md", readme, 0o644}, executable}, notices...) {
			if err := put(filepath.Join(dir, filepath.FromSlash(f.name)), f.data, f.mode); err != nil {
				return err
			}
		}
		return nil
	}
	for _, t := range r.Targets {
		r.Target = t
		binary, err := os.ReadFile(t.path)
		if err != nil {
			return made, err
		}
		if err := npm(program+"-"+t.NpmOS+"-"+t.NpmCPU, "platform.json", file{"bin/" + t.File, binary, 0o755}); err != nil {
			return made, err
		}
		manifest, err := r.fill("manifest.json")
		if err != nil {
			return made, err
		}
		data, err := bundle(append([]file{{"manifest.json", manifest, 0o644}, {"server/" + t.File, binary, 0o755}}, notices...))
		if err != nil {
			return made, err
		}
		t.Bundle, t.Sum = strings.Join([]string{program, r.Version, t.OS, t.Arch}, "-")+".mcpb", fmt.Sprintf("%x", sha256.Sum256(data))
		made = append(made, filepath.Join(r.out, t.Bundle))
		if err := put(made[len(made)-1], data, 0o644); err != nil {
			return made, err
		}
	}
	shim, err := templates.ReadFile("templates/lean-ctx.js")
	if err == nil {
		err = npm(program, "package.json", file{"bin/lean-ctx.js", shim, 0o755})
	}
	if err != nil || r.Repository == "" {
		return made, err
	}
	data, err := r.fill("server.json")
	if err != nil {
		return made, err
	}
	made = append(made, filepath.Join(r.out, "server.json"))
	return made, put(made[len(made)-1], data, 0o644)
}

// notices are the files that go with every copy of the program: our licence and
// those of what is linked.
func (r *release) notices() (all []file, err error) {
	for _, name := range []string{"LICENSE", "NOTICE"} {
		text, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return nil, err
		}
		all = append(all, file{name, text, 0o644})
	}
	licenses := os.DirFS(r.licenses)
	err = fs.WalkDir(licenses, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(licenses, name)
		all = append(all, file{"licenses/" + name, text, 0o644})
		return err
	})
	return all, err
}

// fill is a template with the release in it. It must be JSON.
func (r *release) fill(name string) ([]byte, error) {
	t, err := template.New(name).Funcs(template.FuncMap{"tools": app.Tools, "owner": r.owner, "json": quoted}).ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, err
	}
	var b, indented bytes.Buffer
	if err := t.Execute(&b, r); err != nil {
		return nil, err
	}
	err = json.Indent(&indented, b.Bytes(), "", "  ")
	return indented.Bytes(), err
}

func quoted(x any) (string, error) {
	data, err := json.Marshal(x)
	return string(data), err
}

// owner is who has the repository. The registry takes it as proof of the name.
func (r *release) owner() string {
	path, _ := strings.CutPrefix(r.Repository, "https://github.com/")
	owner, _, _ := strings.Cut(path, "/")
	return owner
}

// bundle makes a zip archive that is the same for the same files. There is one for each
// program, since a manifest tells systems apart but not machines.
func bundle(files []file) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

func put(to string, data []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(to, data, mode); err != nil {
		return err
	}
	return os.Chmod(to, mode) // a file that was there keeps its own mode otherwise
}
