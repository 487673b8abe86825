package conflict

import (
	"flag"
	"testing"
)

var shown = flag.String("show", "", "print the mistakes on the even (seen) or odd (held out) pairs")

// Of the 60 pairs most conflicts are named, and hardly any pair that can hold
// together is. Half of the pairs, the odd ones, were not looked at while the rules
// were made.
func TestPairsUnderDifferentKeys(t *testing.T) {
	type count struct{ named, conflicts, alarms, compatible int }
	seen, heldOut, further := count{}, count{}, count{}
	look := func(c *count, half string, x pair) {
		got := Of(x.old).Before(Of(x.new)) != None
		switch {
		case x.conflict && got:
			c.named++
		case got:
			c.alarms++
		}
		if x.conflict {
			c.conflicts++
		} else {
			c.compatible++
		}
		if got != x.conflict && *shown == half {
			t.Logf("%v: %v", x, got)
		}
	}
	for i, x := range pairs {
		if i%2 == 0 {
			look(&seen, "seen", x)
		} else {
			look(&heldOut, "held out", x)
		}
	}
	for _, x := range more {
		look(&further, "seen", x)
	}
	for name, c := range map[string]count{"seen": seen, "held out": heldOut, "further": further} {
		t.Logf("%s: %d of %d conflicts named, %d alarms on %d compatible pairs", name, c.named, c.conflicts, c.alarms, c.compatible)
		if c.named*10 < c.conflicts*6 || c.alarms > 1 {
			t.Errorf("%s: at least 60%% are to be named, with one alarm at most", name)
		}
	}
	if alarms, compatible := seen.alarms+heldOut.alarms, seen.compatible+heldOut.compatible; alarms*20 > compatible {
		t.Errorf("%d alarms on %d compatible pairs: one in 20 at most", alarms, compatible)
	}
}

// Whoever stores a fact looks for conflicts only if it is exclusive. That misses none.
func TestWhatConflictsIsExclusive(t *testing.T) {
	quiet := 0
	for _, x := range append(pairs[:len(pairs):len(pairs)], more...) {
		switch {
		case Of(x.new).Exclusive():
		case Of(x.old).Before(Of(x.new)) != None:
			t.Errorf("%v: a conflict with what is not exclusive", x)
		default:
			quiet++
		}
	}
	if quiet == 0 {
		t.Error("every statement is exclusive")
	}
}

// Hundreds of facts are compared beside a remember.
func BenchmarkBefore(b *testing.B) {
	for b.Loop() {
		for _, x := range pairs {
			Of(x.old).Before(Of(x.new))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pairs)), "ns/pair")
}

// Places in a series are different things, unless both keys name the same place.
// A replacement is seen wherever the lines of a value break.
func TestNamesReplaced(t *testing.T) {
	for value, want := range map[string]bool{
		"jobs run on Sidekiq, no longer on Redis":   true,
		"jobs run on Sidekiq, no\nlonger on Redis":  true,
		"we switched from\nJenkins to GitHub":       true,
		"GitHub Actions instead\nof Jenkins":        true,
		"the token is read from the environment":    false,
		"the longer timeout is for the slow runner": false,
	} {
		if got := NamesReplaced(value); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

func TestPlacesInASeriesAreNoConflict(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want Kind
	}{
		{"infra/node 1 port", "infra/node 2 port", None},
		{"infra/node 1 port", "network/node 1 port", Likely},
		{"infra/node port", "network/node 2 port", Likely},
	} {
		if got := Of(Statement{tt.a, "port 8080 on this node"}).Before(Of(Statement{tt.b, "port 8081 on this node"})); got != tt.want {
			t.Errorf("%s and %s: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
