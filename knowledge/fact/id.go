package fact

import (
	"cmp"
	"slices"
	"time"

	"leanctx/formats"
)

// ID is the category and key of a fact as they are compared: see
// [formats.FoldName].
type ID struct{ Category, Key string }

// IDOf is the ID of the fact that goes by a category and key as written.
func IDOf(category, key string) ID {
	return ID{formats.FoldName(category), formats.FoldName(key)}
}

// NewVersionID is the first id for a version recorded at an instant that is not taken. It depends
// on nothing but what is recorded. An import may record several versions of one value at once.
func NewVersionID(category, key, value string, at time.Time, taken func(id string) bool) string {
	for n := 0; ; n++ {
		if id := formats.VersionID(category, key, value, at, n); !taken(id) {
			return id
		}
	}
}

// Compare orders facts by category, then key.
func (a ID) Compare(b ID) int {
	return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.Key, b.Key))
}

// ByName orders versions for people: category, key, then [ByPeriod].
func ByName(a, b *Version) int {
	return cmp.Or(IDOf(a.Category, a.Key).Compare(IDOf(b.Category, b.Key)), ByPeriod(a, b))
}

// GoesBy reports whether a fact is found under a key: its own, an alias, or
// category/key.
func GoesBy(v *Version, key string) bool {
	k := formats.FoldName(key)
	return k == formats.FoldName(v.Key) || k == formats.FoldName(v.Category+"/"+v.Key) ||
		slices.ContainsFunc(v.Aliases, func(a string) bool { return formats.FoldName(a) == k })
}
