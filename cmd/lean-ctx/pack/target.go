package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// The program and what is said of it everywhere.
const (
	program     = "lean-ctx"
	description = "Facts over time, shared by the agents of a project: an MCP server and a command line." // 100 letters at most
	license     = "MIT"
)

// target is a platform, by the names that Go, npm and bundles have for it.
type target struct{ os, arch, npmOS, npmCPU string }

// targets are the platforms that are released. Bundles call systems as npm does.
func targets() []target {
	var all []target
	for _, system := range [][2]string{{"linux", "linux"}, {"darwin", "darwin"}, {"windows", "win32"}} {
		for _, machine := range [][2]string{{"amd64", "x64"}, {"arm64", "arm64"}} {
			all = append(all, target{system[0], machine[0], system[1], machine[1]})
		}
	}
	return all
}

// file is the name of the program's file.
func (t target) file() string {
	if t.os == "windows" {
		return program + ".exe"
	}
	return program
}

// built is a program for a platform.
type built struct {
	target
	path string
}

// find looks for the programs. A platform may be missing; all of them may not.
func (p plan) find() ([]built, error) {
	var all []built
	for _, t := range targets() {
		pattern := filepath.Join(p.programs, program+"_"+t.os+"_"+t.arch+"*", t.file())
		matches, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		if len(matches) > 1 {
			return nil, fmt.Errorf("%s: %d programs fit; remove the old ones", pattern, len(matches))
		}
		for _, m := range matches {
			all = append(all, built{t, m})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no program: build them first, with goreleaser build --clean", p.programs)
	}
	return all, nil
}

// place copies a file.
func place(to, from string, mode os.FileMode) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return put(to, data, mode)
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

// document is x as a JSON file that people read.
func document(x any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(x)
	return b.Bytes(), err
}
