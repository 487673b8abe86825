package fact

import (
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

func TestASummaryIsReadAsItWasWritten(t *testing.T) {
	v := &Version{ID: "f-1", Category: "workflow", Value: "x", Archetype: "workflow", Sources: []formats.Source{{Kind: KindUser}}}
	s := Summarize(v)
	got, rest, err := ParseSummary(s.Append(nil))
	if err != nil || len(rest) > 0 || !got.Standing || !got.User || got.Critical {
		t.Errorf("%+v, %d bytes left, %v", got, len(rest), err)
	}
}
