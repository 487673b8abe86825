package natsserver

import (
	"context"
	"net/http"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// watch stops writes before the disk is full. After a write that failed, JetStream answers no
// publish on that stream until the server is started again, and clients are in doubt. So a
// reserve is kept.
//
//   - A single server with less room than that refuses each write with an answer. Reads work.
//     If the disk filled up before the watch saw it, the server is restarted.
//   - A server of a cluster stops its JetStream, and the other servers continue. It forwards the
//     requests of its clients. When there is room, it is started again and fetches what it missed.
type watch struct {
	s    *Server
	o    *Options
	of   *server.Server // the one that full is true of
	full bool
}

const (
	reserve       = 64 << 20 // bytes that stay free, but on a small disk
	reserveShare  = 20       // of its size
	checkInterval = 250 * time.Millisecond
	badLooks      = 4               // after that number of looks a stream is broken; one may see a stream that is just being made
	restartAfter  = 5 * time.Second // how long after a restart the next one may come
)

func (w *watch) loop(ctx context.Context) {
	t := time.NewTicker(checkInterval)
	defer t.Stop()
	var restarted time.Time
	for bad, mended := 0, true; ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		w.look()
		if w.working() {
			bad, mended = 0, true
			continue
		}
		bad++
		if bad < badLooks || !mended || time.Since(restarted) < restartAfter { // what a restart has not mended, another one does not
			continue
		}
		w.warn("the server is started again: its JetStream stopped, or a write failed")
		if w.s.restart(w.o.Logger) != nil {
			return
		}
		bad, mended, restarted = 0, w.working(), time.Now()
		w.look()
	}
}

// look acts on how full the disk is.
func (w *watch) look() {
	free, size, err := w.o.free()
	s, full := w.s.now(), free < min(reserve, size/reserveShare)
	if err != nil || s == w.of && full == w.full {
		return
	}
	if w.o.Cluster == "" {
		err = limit(s, full)
	} else if full {
		err = s.ShutdownJetStream()
	}
	if err != nil {
		return // the server stops; or it is tried again
	}
	switch {
	case full && !w.full:
		w.warn("the disk is full: this server writes nothing until there is room")
	case !full && w.full:
		w.warn("the disk has room again")
	}
	w.of, w.full = s, full
}

// limit has a server refuse what would take room, or lets it write again.
func limit(s *server.Server, full bool) error {
	l := server.JetStreamAccountLimits{MaxMemory: -1, MaxStore: -1, MaxStreams: -1, MaxConsumers: -1, MaxAckPending: -1, MemoryMaxStreamBytes: -1, StoreMaxStreamBytes: -1}
	if full {
		l.MaxStore = 0
	}
	return s.GlobalAccount().UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits{"": l})
}

// working reports whether the server works as well as the disk allows. JetStream in a cluster stops
// by itself when a write fails.
func (w *watch) working() bool {
	if w.o.Cluster != "" {
		return w.full || w.s.now().JetStreamEnabled()
	}
	return healthy(w.s.now())
}

func (w *watch) warn(text string) {
	if w.o.Logger != nil {
		w.o.Logger.Warn(text, "dir", w.o.Dir)
	}
}

// healthy reports whether each stream can be written. A server says so on its page for monitors only.
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
