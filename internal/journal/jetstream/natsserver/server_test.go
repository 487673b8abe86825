package natsserver

import (
	"errors"
	"math"
	"testing"
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
