package app

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"leanctx/cmd/internal/mcpsrv"
	"leanctx/cmd/internal/op"
)

// Version is the version of the next release. It is written here only: the packages are made
// with it, and a release under another number is refused.
const Version = "0.1.0"

// development is the version of a build that is no release.
const development = Version + "-dev"

// The linker sets these for a release:
//
//	go build -ldflags "-X leanctx/cmd/internal/app.release=0.1.0"
//
// Builds from an archive of the source need the commit and its date (RFC 3339). In a
// repository the go command adds them.
var release, releaseCommit, releaseDate string

// Build describes this binary.
type Build struct {
	Version string   `json:"version"`
	Commit  string   `json:"commit,omitempty"` // with "+changes" if there were uncommitted changes
	Date    string   `json:"date,omitempty"`   // of the commit, RFC 3339
	Go      string   `json:"go"`
	System  string   `json:"system"`
	MCP     []string `json:"mcp"` // the protocol versions that the server speaks, newest first
}

// Text is the build in two lines.
func (b Build) Text() string {
	parts := make([]string, 0, 4)
	for _, p := range []string{b.Commit, b.Date, b.Go, b.System} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return fmt.Sprintf("lean-ctx %s (%s)\nMCP %s", b.Version, strings.Join(parts, ", "), strings.Join(b.MCP, ", "))
}

// build reads the data that the go command and the linker put into the binary.
func build() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	b := describe(info, Build{Version: release, Commit: releaseCommit, Date: releaseDate})
	b.Go, b.System, b.MCP = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, mcpsrv.Protocols()
	return b
}

// commitLength is the number of digits of a commit that are shown.
const commitLength = 12

// untagged is the prefix of the version that the go command makes for a commit without an
// earlier tag, such as v0.0.0-20261121200000-0123456789ab+dirty.
const untagged = "v0.0.0-"

// describe merges the data of the go command and the linker. A version from the linker is a
// release, even if the source tree had changes; the commit shows those.
func describe(info *debug.BuildInfo, given Build) Build {
	settings := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit, version := settings["vcs.revision"], info.Main.Version
	switch made, ok := strings.CutPrefix(version, untagged); {
	case ok:
		_, hash, _ := strings.Cut(strings.TrimSuffix(made, "+dirty"), "-")
		commit, version = cmp.Or(commit, hash), ""
	case version == "(devel)":
		version = ""
	}
	commit = cmp.Or(commit, given.Commit)
	commit = commit[:min(commitLength, len(commit))]
	if settings["vcs.modified"] == "true" {
		commit += "+changes"
	}
	return Build{
		Version: strings.TrimPrefix(cmp.Or(given.Version, version, development), "v"),
		Commit:  commit, Date: cmp.Or(settings["vcs.time"], given.Date),
	}
}

const versionName = "version"

// versionTool is `lean-ctx version`.
func versionTool() *op.Tool {
	run := func(context.Context, op.Scope, struct{}) (Build, error) { return build(), nil }
	const summary = "Version, source commit, and the MCP protocol versions it speaks."
	return &op.Tool{Name: versionName, Command: versionName, Summary: summary,
		Operations: []op.Operation{op.New("", summary, op.Reads, run)}}
}

// Tools are the tools that MCP clients see, for packages that list them. They have no
// stores and cannot be called.
func Tools() []*op.Tool { return op.All(op.Stores{}) }
