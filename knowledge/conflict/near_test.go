package conflict

import "testing"

// Two values are nearly the same that say otherwise about one thing.
func TestNearly(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"We drop X support in v2.", "We keep X support in v2.", true},
		{"The v2 branch is cut on 2026-12-15.", "The v2 branch is cut on 2027-01-20.", true},
		{"We deploy on Fridays after the soak test", "We deploy on Mondays after the soak test; ask Noor", true},
		{"Agents may merge their own work", "Agents never may merge their own work", true},
		{"The freeze begins on 15 December", "The freeze begins on 3 January", true},
		{"Marta looks after the heron service.", "Marta looks after the kestrel service.", false},
		{"Node 1 runs in Ghent on Linux", "Node 2 runs in Ghent on Linux", false},
		{"The port is 8080", "The port is 9090", false},
		{"We deploy on Fridays", "We deploy on Mondays", true},
		{"Fridays", "Mondays", false},
		{"same words here now", "same words here now", false},
		{"", "", false},
	} {
		if Nearly(c.a, c.b) != c.want || Nearly(c.b, c.a) != c.want {
			t.Errorf("%q, %q: %v", c.a, c.b, !c.want)
		}
		if c.want && !Turns(c.a) && !Turns(c.b) {
			t.Errorf("%q, %q: neither turns", c.a, c.b)
		}
	}
}
