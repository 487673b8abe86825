package fact

import (
	"slices"

	"leanctx/formats"
)

// MergeNames appends the names of b that a does not have, compared folded.
func MergeNames(a, b []string) []string {
	out := slices.Clip(a)
	for _, name := range b {
		if !slices.ContainsFunc(out, func(x string) bool { return formats.FoldName(x) == formats.FoldName(name) }) {
			out = append(out, name)
		}
	}
	return out
}

// IDs are those of some versions, in their order.
func IDs(vs []*Version) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = v.ID
	}
	return out
}
