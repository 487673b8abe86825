package app

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"leanctx/cmd/internal/op"
)

// Build says what this program was made of.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"` // of the commit
	Go      string `json:"go"`
	System  string `json:"system"`
}

// Text is the build on one line.
func (b Build) Text() string {
	parts := make([]string, 0, 4)
	for _, p := range []string{b.Commit, b.Date, b.Go, b.System} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return fmt.Sprintf("lean-ctx %s (%s)", b.Version, strings.Join(parts, ", "))
}

// development is the version of a build that nobody tagged.
const development = "0.1.0-dev"

// build reads what the go command wrote into the binary.
func build() Build {
	b := Build{Version: development, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = strings.TrimPrefix(v, "v")
	}
	settings := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	b.Commit = commit[:min(12, len(commit))]
	if settings["vcs.modified"] == "true" {
		b.Commit += "+changes"
	}
	b.Date = settings["vcs.time"]
	return b
}

// versionTool is `lean-ctx version`.
func versionTool() *op.Tool {
	run := func(context.Context, op.Scope, struct{}) (Build, error) { return build(), nil }
	return &op.Tool{Name: "version", Command: "version", Summary: "What this program was made of.",
		Operations: []op.Operation{op.New("", "What this program was made of.", op.Reads, run)}}
}
