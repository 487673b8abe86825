package knowledge

import (
	"errors"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// unknownFactError is the error for a fact that does not exist. The store adds the name that was
// probably meant.
type unknownFactError struct{ Name }

func (e *unknownFactError) Error() string {
	return "No fact found: [" + prose.Name(e.Category) + "] " + prose.Name(e.Key)
}

// Unwrap is the same as a [*refusal.NotFoundError].
func (e *unknownFactError) Unwrap() error { return &refusal.NotFoundError{What: e.Error()} }

// NotFound is the [*refusal.NotFoundError] for a fact that does not exist.
func NotFound(category, key string) error {
	return &unknownFactError{Name{Category: category, Key: key}}
}

// withNearest adds to the error about an unknown fact the name that was probably meant.
func withNearest(k state.Reader, now time.Time, err error) error {
	unknown, ok := errors.AsType[*unknownFactError](err)
	if !ok {
		return err
	}
	near := Nearest(k, unknown.Name, now)
	if near == "" {
		return err
	}
	return refusal.NotFound("%v; did you mean %s?", err, prose.Name(near))
}

// Nearest is the fact that an unknown name probably means, as category/key, or, where the name has no
// key, the room. It is empty where none is near. It looks at the names of all facts
// that have a value which is confirmed here.
func Nearest(k state.Reader, unknown Name, now time.Time) string {
	n := fact.IDOf(unknown.Category, unknown.Key)
	keys, rooms, elsewhere := map[string][]string{}, []string{}, []fact.ID{}
	for id, x := range k.Summaries(now) {
		if x.Unconfirmed { // a name that only others gave is a text of theirs
			continue
		}
		if keys[id.Category] == nil {
			rooms = append(rooms, id.Category)
		}
		keys[id.Category] = append(keys[id.Category], id.Key)
		if id.Key == n.Key {
			elsewhere = append(elsewhere, id)
		}
	}
	slices.Sort(rooms) // of equally near ones the shorter
	for _, in := range keys {
		slices.Sort(in)
	}
	slices.SortFunc(elsewhere, fact.ID.Compare)
	room := n.Category
	if keys[room] == nil && room != "" {
		room, _ = prose.Nearest(room, rooms)
	}
	if n.Key == "" {
		return k.Room(room)
	}
	if unknown.Category == "" {
		for _, r := range rooms {
			keys[""] = append(keys[""], keys[r]...)
		}
	}
	key, ok := prose.Nearest(n.Key, keys[room])
	switch {
	case ok && room != "":
		return spelled(k, fact.IDOf(room, key))
	case ok:
		for _, r := range rooms {
			if id := fact.IDOf(r, key); len(k.Versions(id)) > 0 {
				return spelled(k, id)
			}
		}
	case len(elsewhere) > 0:
		return spelled(k, elsewhere[0])
	case keys[n.Category] == nil && room != "":
		return k.Room(room)
	}
	return ""
}

// spelled is a fact's name as it was first written.
func spelled(k state.Reader, n fact.ID) string {
	if vs := k.Versions(n); len(vs) > 0 {
		return vs[0].Category + "/" + vs[0].Key
	}
	return n.Category + "/" + n.Key
}

// SplitName is category and key, where category/key may be given as the category alone. A room of
// that very name comes first.
func SplitName(f state.Facts, category, key string) (string, string) {
	if room, name, ok := strings.Cut(category, "/"); ok && key == "" && room != "" && name != "" && f.Room(category) == "" {
		return room, name
	}
	return category, key
}

// present is the name that is meant: as [SplitName] has it, and of a fact that was renamed since and whose
// former name nothing took over, the name that it has now.
func present(k state.Reader, category, key string) (string, string) {
	category, key = SplitName(k, category, key)
	if n := fact.IDOf(category, key); key != "" && len(k.Versions(n)) == 0 {
		if now, _, ok := k.Became(n); ok {
			return now.Category, now.Key
		}
	}
	return category, key
}

// Present is the name that a fact has now which goes or went by a name; category/key may be given as the
// category alone.
func Present(st *state.State, category, key string) (string, string) {
	return present(st.Reader(), category, key)
}
