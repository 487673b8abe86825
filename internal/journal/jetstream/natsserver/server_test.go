package natsserver

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// Where the free space of a disk is not known, nobody watches it, and NATS keeps its own limit.
func TestUnknownDisk(t *testing.T) {
	for _, known := range []bool{true, false} {
		o := &Options{Addr: "127.0.0.1:0", Dir: t.TempDir()}
		if !known {
			o.Free = func(string) (uint64, uint64, error) { return 0, 0, errors.ErrUnsupported }
		}
		s, err := Start(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		if lifted := s.now().JetStreamConfig().MaxStore == math.MaxInt64; lifted != known {
			t.Errorf("free space known: %v, limit lifted: %v", known, lifted)
		}
	}
}

// What the servers of a cluster sign in with to each other opens nothing else, and a seed is not it.
func TestASeedIsNotSentToOtherServers(t *testing.T) {
	seed, err := NewSeed()
	if err != nil {
		t.Fatal(err)
	}
	var so server.Options
	routes := wants(&so, string(seed))
	if routes == "" || strings.Contains(routes, string(seed)) || so.Authorization != "" || len(so.Nkeys) != 1 {
		t.Errorf("%q, %+v", routes, so.Nkeys)
	}
	if again := wants(&server.Options{}, string(seed)); again != routes {
		t.Error("two servers of one seed do not know each other")
	}
	so = server.Options{}
	if routes := wants(&so, "a token"); routes != "a token" || so.Authorization != "a token" || so.Nkeys != nil {
		t.Errorf("a token: %q %+v", routes, so)
	}
}
