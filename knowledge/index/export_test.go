package index

import "testing"

// OtherMapping makes a generation one of an earlier mapping (by -1) or a later one (by 1).
func OtherMapping(t testing.TB, path string, by int) {
	t.Helper()
	g := generation{path: path}
	if err := g.readManifest(); err != nil {
		t.Fatal(err)
	}
	g.Mapping += by
	if err := g.write(path); err != nil {
		t.Fatal(err)
	}
}
