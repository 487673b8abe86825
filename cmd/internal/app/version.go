package app

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
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
	parts := slices.DeleteFunc([]string{b.Commit, b.Date, b.Go, b.System}, func(p string) bool { return p == "" })
	return fmt.Sprintf("lean-ctx %s (%s)\nMCP %s", b.Version, strings.Join(parts, ", "), strings.Join(b.MCP, ", "))
}

// build reads the data that the go command and the linker put into the binary.
func build() Build {
	var settings []debug.BuildSetting
	if info, ok := debug.ReadBuildInfo(); ok {
		settings = info.Settings
	}
	b := describe(settings, Build{Version: release, Commit: releaseCommit, Date: releaseDate})
	b.Go, b.System, b.MCP = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, mcpsrv.Protocols()
	return b
}

// commitLength is the number of digits of a commit that are shown.
const commitLength = 12

// describe merges what the linker was given with the data of the go command. A version from
// the linker is a release, even if the source tree had changes; the commit shows those.
func describe(settings []debug.BuildSetting, b Build) Build {
	changes := ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			b.Commit = s.Value
		case s.Key == "vcs.time":
			b.Date = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changes = "+changes"
		}
	}
	b.Version = strings.TrimPrefix(cmp.Or(b.Version, development), "v")
	b.Commit = b.Commit[:min(commitLength, len(b.Commit))] + changes
	return b
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
