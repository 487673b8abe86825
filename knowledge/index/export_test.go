package index

import "testing"

// OtherMapping makes a generation one of another mapping.
func OtherMapping(t testing.TB, path string) {
	t.Helper()
	g := generation{path: path}
	if err := g.readManifest(); err != nil {
		t.Fatal(err)
	}
	g.Mapping++
	if err := g.write(path); err != nil {
		t.Fatal(err)
	}
}
