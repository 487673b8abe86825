package formats

import (
	"maps"
	"reflect"
	"strings"
	"sync"
)

// own are the names of the members that a type of record has, by type.
var own sync.Map

// Unowned is what of x a record of type T may keep as members that it does not know. A member that
// goes by the name of one of T's own would stand beside it in the file, and be read in its place.
func Unowned[T any](x Unknown) Unknown {
	if len(x) == 0 {
		return x
	}
	t := reflect.TypeFor[T]()
	names, ok := own.Load(t)
	if !ok {
		all := map[string]bool{}
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			all[name] = true
		}
		names, _ = own.LoadOrStore(t, all)
	}
	owned := func(name string) bool { return names.(map[string]bool)[name] }
	clean := true
	for name := range x {
		clean = clean && !owned(name)
	}
	if clean {
		return x
	}
	x = maps.Clone(x)
	maps.DeleteFunc(x, func(name string, _ Raw) bool { return owned(name) })
	return x
}
