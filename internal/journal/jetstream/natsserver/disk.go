package natsserver

import (
	"context"
	"net/http"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// watch refuses writes before the disk is full. After a write that failed, JetStream answers no
// publish on that stream until the server is started again, and clients are in doubt. So a
// reserve is kept: with less room than that each write is refused with an answer, and reads go
// on. If the disk was faster, the server is started again. In a cluster the other servers take
// over instead.
type watch struct {
	s    *Server
	o    *Options
	of   *server.Server // the one that full is true of
	full bool
}

const (
	reserve      = 64 << 20 // bytes that stay free, but on a small disk
	reserveShare = 20       // of its size
	lookAgain    = 250 * time.Millisecond
	badLooks     = 4               // after so many a stream is broken; one may see a stream that is just being made
	restartAfter = 5 * time.Second // how long after a restart the next one may come
)

func (w *watch) loop(ctx context.Context) {
	t := time.NewTicker(lookAgain)
	defer t.Stop()
	var restarted time.Time
	for bad, mended := 0, true; ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		w.look()
		if healthy(w.s.now()) {
			bad, mended = 0, true
			continue
		}
		bad++
		if bad < badLooks || !mended || time.Since(restarted) < restartAfter { // what a restart has not mended, another one does not
			continue
		}
		w.tell("a write failed, the server is started again")
		if w.s.restart(w.o.Logger) != nil {
			return
		}
		bad, mended, restarted = 0, healthy(w.s.now()), time.Now()
		w.look()
	}
}

// look tells whether it can know how full the disk is.
func (w *watch) look() bool {
	ask := w.o.Free
	if ask == nil {
		ask = diskFree
	}
	free, size, err := ask(w.o.Dir)
	if err != nil {
		return false
	}
	s, full := w.s.now(), free < min(reserve, size/reserveShare)
	if s == w.of && full == w.full {
		return true
	}
	l := server.JetStreamAccountLimits{MaxMemory: -1, MaxStore: -1, MaxStreams: -1, MaxConsumers: -1, MaxAckPending: -1, MemoryMaxStreamBytes: -1, StoreMaxStreamBytes: -1}
	if full {
		l.MaxStore = 0
	}
	if s.GlobalAccount().UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits{"": l}) != nil {
		return true // the server stops; or it is tried again
	}
	switch {
	case full && !w.full:
		w.tell("the disk is full, writes are refused until there is room")
	case !full && w.full:
		w.tell("the disk has room again, writes are accepted")
	}
	w.of, w.full = s, full
	return true
}

func (w *watch) tell(text string) {
	if w.o.Logger != nil {
		w.o.Logger.Warn(text, "dir", w.o.Dir)
	}
}

// healthy tells whether each stream can be written. A server says so on its page for monitors only.
func healthy(s *server.Server) bool {
	var a answer
	r, err := http.NewRequest(http.MethodGet, server.HealthzPath, nil)
	if err != nil {
		return true
	}
	s.HandleHealthz(&a, r)
	return a != http.StatusServiceUnavailable
}

// answer takes the status of a page.
type answer int

func (a *answer) Header() http.Header         { return http.Header{} }
func (a *answer) Write(b []byte) (int, error) { return len(b), nil }
func (a *answer) WriteHeader(status int)      { *a = answer(status) }
