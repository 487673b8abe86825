package fact

import (
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"

	"leanctx/formats"
)

// EncodeFile writes d as a fact file. The lists of patterns and gotchas that it has beside the facts
// are made of them.
func EncodeFile(w io.Writer, d *formats.Document) error {
	c := *d
	c.Patterns, c.Gotchas = lessons(d.Facts)
	return formats.EncodeNative(w, &c)
}

// lessons are the patterns and gotchas among facts that are believed, without an end.
func lessons(facts []*Version) (patterns []formats.Pattern, gotchas []formats.Gotcha) {
	first := map[ID]*Version{}
	for _, v := range facts {
		if IsGotcha(v) {
			if n := IDOf(v.Category, v.Key); first[n] == nil || ByPeriod(v, first[n]) < 0 {
				first[n] = v
			}
		}
	}
	patterns, gotchas = []formats.Pattern{}, []formats.Gotcha{}
	for _, v := range facts {
		switch {
		case !listed(v):
		case IsPattern(v):
			patterns = append(patterns, patternOf(v))
		case IsGotcha(v):
			gotchas = append(gotchas, gotchaOf(v, first[IDOf(v.Category, v.Key)]))
		}
	}
	return patterns, gotchas
}

// DecodeFile reads a fact file.
func DecodeFile(data []byte) (*formats.Document, error) {
	d, err := formats.DecodeNative(data)
	if err == nil {
		TakeLessons(d)
	}
	return d, err
}

// TakeLessons has a document that was read hold its patterns and gotchas as facts alone. Those of a
// former version of the program are in the lists alone.
func TakeLessons(d *formats.Document) {
	if len(d.Patterns)+len(d.Gotchas) == 0 {
		return
	}
	type told struct{ room, key, value string }
	there, byName := map[told]bool{}, map[ID][]*Version{}
	for _, v := range d.Facts {
		x := told{room: formats.FoldName(v.Category), value: v.Value}
		switch x.room {
		case RoomPattern:
			x.key = formats.FoldName(v.Key)
		case RoomGotcha: // whatever name it has by now
		default:
			continue
		}
		there[x] = true
		n := IDOf(v.Category, v.Key)
		byName[n] = append(byName[n], v)
	}
	taken := map[ID]bool{}
	for i := range d.Patterns {
		p := &d.Patterns[i]
		v := FromPattern(p)
		if n := IDOf(v.Category, v.Key); !there[told{RoomPattern, n.Key, v.Value}] {
			byName[n], taken[n] = WithPattern(byName[n], p), true
		}
	}
	for i := range d.Gotchas {
		g := &d.Gotchas[i]
		if !there[told{room: RoomGotcha, value: GotchaValue(g.Trigger, g.Resolution)}] {
			category, key := GotchaNamed(g.Trigger, func(n ID) []*Version { return byName[n] })
			n := IDOf(category, key)
			byName[n], taken[n] = WithGotcha(category, key, byName[n], g), true
		}
	}
	d.Patterns, d.Gotchas = nil, nil
	if len(taken) == 0 {
		return
	}
	d.Facts = slices.DeleteFunc(d.Facts, func(v *Version) bool { return taken[IDOf(v.Category, v.Key)] })
	for _, n := range slices.SortedFunc(maps.Keys(taken), ID.Compare) {
		d.Facts = append(d.Facts, byName[n]...)
	}
}

// numbered yields a key, then the key with each number from 2 on.
func numbered(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(key) {
			return
		}
		for n := 2; yield(key + "-" + strconv.Itoa(n)); n++ {
		}
	}
}
