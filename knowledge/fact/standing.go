package fact

import (
	"slices"

	"leanctx/formats"
	"leanctx/internal/language"
)

// Standing reports whether v is a rule for how work is done here, which every task needs. Any other fact is topical: it is
// needed when its matter comes up. An archetype that was given decides, else its room, else the form of its value, which in rooms
// whose names tell nothing counts for what a user stated. An index
// holds it for each fact: whoever changes it raises the mapping version of package index.
func Standing(v *Version) bool {
	if ArchetypeGiven(v) {
		switch v.Archetype {
		case "convention", "workflow", "preference", "pattern":
			return true
		}
		return false
	}
	return language.Practice(v.Category, v.Value) || ByUser(v) && language.Rules(v.Category, v.Value)
}

// ArchetypeGiven reports whether somebody gave the archetype of v, so that it is not what the room tells. The existing
// program may tell it otherwise than we do, so that of an import counts only where it came with a native file.
func ArchetypeGiven(v *Version) bool {
	return v.Archetype != "" && v.Archetype != formats.Archetype(v.Category) && slices.Contains(formats.Archetypes, v.Archetype)
}
