//go:build unix

package journal_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// shadow records what a power cut would leave: the last synced content of each file, and the
// last synced names of the directory.
type shadow struct {
	durable image
	latest  map[uint64][]byte // the content of every file ever seen, removed ones too
	random  *rand.Rand
	op      string // the operation that is under way
	name    string
}

// next is called before an operation, when the one before has been done.
func (s *shadow) next(t *testing.T, dir string, now image, op, name string) {
	for name, ino := range now.names {
		if _, ok := s.latest[ino]; !ok {
			f, err := os.Open(dir + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
		}
		s.latest[ino] = now.files[ino]
	}
	if s.op == "sync" && s.name == "." {
		s.durable.names = now.names
	} else if s.op == "sync" {
		s.durable.files[now.names[s.name]] = now.files[now.names[s.name]]
	}
	s.op, s.name = op, name
}

// images are what may be found after a crash at this moment. All may be there (the process was
// killed), or only what was synced. Names may be ahead of contents or the reverse, and some
// names may be missing.
func (s *shadow) images(now image, mixtures int) map[string]image {
	all := map[string]image{
		"killed":             now,
		"power cut":          s.durable,
		"power cut, names":   {names: now.names, files: s.durable.files},
		"power cut, content": {names: s.durable.names, files: s.latest},
	}
	for range mixtures {
		mix := image{names: maps.Clone(s.durable.names), files: s.durable.files}
		for _, name := range s.changed(now) {
			if s.random.IntN(2) == 0 {
				s.persist(mix, now, name)
			}
		}
		all["power cut, of the names "+fmt.Sprint(slices.Sorted(maps.Keys(mix.names)))] = mix
	}
	return all
}

// persist takes one changed name over. A rename is one change: the old name
// does not go without the new one.
func (s *shadow) persist(mix, now image, name string) {
	if ino, there := now.names[name]; there {
		mix.names[name] = ino
		return
	}
	delete(mix.names, name)
	for other, ino := range now.names {
		if ino == s.durable.names[name] {
			mix.names[other] = ino
		}
	}
}

// changed is the names that are not as they were synced.
func (s *shadow) changed(now image) (names []string) {
	for name := range s.latestNames(now) {
		if now.names[name] != s.durable.names[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (s *shadow) latestNames(now image) map[string]uint64 {
	both := maps.Clone(s.durable.names)
	maps.Copy(both, now.names)
	return both
}

func newShadow(start image, s *story) *shadow {
	sh := &shadow{
		durable: image{names: start.names, files: maps.Clone(start.files)},
		latest:  map[uint64][]byte{},
		random:  rand.New(rand.NewPCG(1, 2)),
	}
	if ino, ok := start.names[s.volatile]; ok {
		sh.durable.files[ino] = nil
	}
	return sh
}
