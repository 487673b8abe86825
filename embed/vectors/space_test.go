package vectors

import (
	"slices"
	"testing"
)

// Vectors in a space are zeros at first, are not each other's, and cost no memory when it is used again.
func TestSpaceIsUsedAgain(t *testing.T) {
	var s Space
	use := func() {
		var all [][]float32
		for i := range 400 {
			v := s.Vector(256)
			if slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) || len(v) != 256 || cap(v) != 256 {
				t.Fatal("a new vector is not one of 256 zeros")
			}
			for j := range v {
				v[j] = float32(i)
			}
			all = append(all, v)
		}
		for i, v := range all {
			if v[0] != float32(i) || v[255] != float32(i) {
				t.Fatalf("vector %d is %v", i, v[0])
			}
		}
		s.Reset()
	}
	use()
	use()
	if n := testing.AllocsPerRun(10, func() {
		for range 400 {
			s.Vector(256)
		}
		s.Reset()
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if v := s.Vector(spacePart + 1); len(v) != spacePart+1 {
		t.Error(len(v))
	}
	if v := (*Space)(nil).Vector(3); len(v) != 3 {
		t.Error(len(v))
	}
}
