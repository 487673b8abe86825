package app

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What version says is true however the program was built. It may be built by go build in a
// work tree with or without changes, from an archive, or for a release.
func TestDescribe(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	const day = "2026-11-21T20:00:00Z"
	tree := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.time", Value: day}, {Key: "vcs.modified", Value: modified}}
	}
	tests := map[string]struct {
		settings []debug.BuildSetting
		told     Build
		want     Build
	}{
		"an archive":                  {nil, Build{}, Build{Version: development}},
		"an archive, told":            {nil, Build{Version: "v0.2.0", Commit: hash, Date: day}, Build{Version: "0.2.0", Commit: "0123456789ab", Date: day}},
		"a short commit":              {nil, Build{Commit: "abc"}, Build{Version: development, Commit: "abc"}},
		"a work tree":                 {tree("false"), Build{}, Build{Version: development, Commit: "0123456789ab", Date: day}},
		"a work tree with changes":    {tree("true"), Build{}, Build{Version: development, Commit: "0123456789ab+changes", Date: day}},
		"a release":                   {tree("false"), Build{Version: "0.1.0"}, Build{Version: "0.1.0", Commit: "0123456789ab", Date: day}},
		"a release of a changed tree": {tree("true"), Build{Version: "0.1.0", Commit: "fff"}, Build{Version: "0.1.0", Commit: "0123456789ab+changes", Date: day}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, describe(tt.settings, tt.told)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBuildText(t *testing.T) {
	b := Build{Version: "0.1.0", Commit: "abc", Go: "go1.26.0", System: "linux/amd64", MCP: []string{"2026-07-28", "2025-11-25"}}
	if d := cmp.Diff("lean-ctx 0.1.0 (abc, go1.26.0, linux/amd64)\nMCP 2026-07-28, 2025-11-25", b.Text()); d != "" {
		t.Error(d)
	}
	if got := build(); len(got.MCP) == 0 || got.Go == "" || got.Version == "" {
		t.Errorf("got %+v", got)
	}
}

// Every start pays for it.
func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		build()
	}
}
