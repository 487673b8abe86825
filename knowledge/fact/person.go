package fact

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"leanctx/formats"
	"leanctx/internal/prose"
)

// maxPerson is the most letters of a person's name.
const maxPerson = 64

// Person is the name of a user as answers show it: one line of visible letters, not too long. It is
// empty if nothing is left, and if it is the name of a kind of source: only a kind is shown as one.
// Names come from git's configuration, and from other machines.
func Person(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case prose.IsControl(r), prose.IsHidden(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, norm.NFC.String(strings.ToValidUTF8(name, "")))
	name = strings.TrimSpace(prose.Clip(strings.Join(strings.Fields(name), " "), maxPerson))
	folded := formats.FoldName(name)
	if slices.Contains([]string{KindUser, KindFile, KindAgent, KindTool, KindImport}, folded) || strings.HasPrefix(folded, KindTool+":") || strings.HasPrefix(folded, KindUser+" of ") {
		return ""
	}
	return name
}

// RetractedBy is who took a version back, or gave it an end.
func RetractedBy(v *Version) string {
	if v.RetractedBy == KindUser {
		if name := Person(v.RetractedPerson); name != "" {
			return name
		}
	}
	return v.RetractedBy
}
