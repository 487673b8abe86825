package fact

import (
	"strings"
	"testing"

	"leanctx/formats"
)

func TestStandingIsToldFromArchetypeRoomAndForm(t *testing.T) {
	for _, c := range []struct {
		category, value, archetype string
		want                       bool
	}{
		{"workflow", "Branches are named after tickets.", "", true},
		{"convention", "Two spaces.", "", true},
		{"pattern", "Errors are wrapped.", "", true},
		{"security", "Tokens live for an hour.", "", false},
		{"security", "Never log a token.", "", true},
		{"decision", "We never go back to LMDB.", "", false},
		{"gotcha", "editing a proto → always run make proto", "", false},
		{"team", "Ilse owns colour.", "", false},
		{"team", "Ilse owns colour.", "convention", true},
		{"workflow", "The old pipeline ran on Jenkins.", "fact", false},
		{"workflow", "Branches are named after tickets.", "workflow", true},
		{"git", "We rebase.", "", true},
		{"units", "Angles are radians; degrees only in the panel.", "", false}, // nobody knows who says so
	} {
		v := &Version{Category: c.category, Value: c.value, Archetype: formats.Archetype(c.category)}
		if c.archetype != "" {
			v.Archetype = c.archetype
		}
		s := Summarize(v)
		if Standing(v) != c.want || s.Standing != c.want {
			t.Errorf("%+v: standing %v, in its summary %v", c, Standing(v), s.Standing)
		}
	}
}

func TestOfAUserTheFormIsEnough(t *testing.T) {
	for value, want := range map[string]bool{"Angles are radians; degrees only in the panel.": true, "Ask Ute before you raise a limit.": true, "The panel shows degrees.": false} {
		for category, counts := range map[string]bool{"units": true, "architecture": false, "team": false} {
			v := &Version{Category: category, Value: value, Archetype: "fact", Sources: []formats.Source{{Kind: KindUser}}}
			if s := Summarize(v); s.Standing != (want && counts) || s.Form != s.Standing || s.Demands != s.Standing {
				t.Errorf("%s %q: %+v", category, value, s)
			}
		}
	}
}

func TestASummaryIsReadAsItWasWritten(t *testing.T) {
	v := &Version{ID: "f-1", Category: "workflow", Value: "Never skip a test; " + strings.Repeat("they are many and ", 9), Archetype: "workflow", Sources: []formats.Source{{Kind: KindUser}}}
	s := Summarize(v)
	got, rest, err := ParseSummary(s.Append(nil))
	if err != nil || len(rest) > 0 || !got.Standing || !got.Demands || !got.Long || got.Form || !got.User || got.Critical {
		t.Errorf("%+v, %d bytes left, %v", got, len(rest), err)
	}
}
