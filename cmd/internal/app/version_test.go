package app

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What version says is true however the program was built. It may be built by go build in a
// work tree with or without changes, by go install, from an archive, or for a release.
func TestDescribe(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	tree := func(version, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: hash}, {Key: "vcs.time", Value: "2026-11-21T20:00:00Z"}, {Key: "vcs.modified", Value: modified}}}
	}
	const day = "2026-11-21T20:00:00Z"
	tests := map[string]struct {
		info *debug.BuildInfo
		told Build
		want Build
	}{
		"nothing is known":            {new(debug.BuildInfo), Build{}, Build{Version: development}},
		"an archive":                  {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, Build{}, Build{Version: development}},
		"an archive, told":            {new(debug.BuildInfo), Build{Version: "v0.2.0", Commit: hash, Date: day}, Build{Version: "0.2.0", Commit: "0123456789ab", Date: day}},
		"a short commit":              {new(debug.BuildInfo), Build{Commit: "abc"}, Build{Version: development, Commit: "abc"}},
		"before the first tag":        {tree("v0.0.0-20261121200000-0123456789ab", "false"), Build{}, Build{Version: development, Commit: "0123456789ab", Date: day}},
		"before it, with changes":     {tree("v0.0.0-20261121200000-0123456789ab+dirty", "true"), Build{}, Build{Version: development, Commit: "0123456789ab+changes", Date: day}},
		"at a tag":                    {tree("v0.1.0", "false"), Build{}, Build{Version: "0.1.0", Commit: "0123456789ab", Date: day}},
		"at a tag, with changes":      {tree("v0.1.0+dirty", "true"), Build{}, Build{Version: "0.1.0+dirty", Commit: "0123456789ab+changes", Date: day}},
		"after a tag":                 {tree("v0.1.1-0.20261121200000-0123456789ab", "false"), Build{}, Build{Version: "0.1.1-0.20261121200000-0123456789ab", Commit: "0123456789ab", Date: day}},
		"go install of a version":     {&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, Build{}, Build{Version: "0.1.0"}},
		"go install of a commit":      {&debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261121200000-0123456789ab"}}, Build{}, Build{Version: development, Commit: "0123456789ab"}},
		"a release":                   {tree("v0.1.0", "false"), Build{Version: "0.1.0"}, Build{Version: "0.1.0", Commit: "0123456789ab", Date: day}},
		"a release of a changed tree": {tree("v0.0.0-20261121200000-0123456789ab+dirty", "true"), Build{Version: "0.1.0", Commit: "fff"}, Build{Version: "0.1.0", Commit: "0123456789ab+changes", Date: day}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, describe(tt.info, tt.told)); d != "" {
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
