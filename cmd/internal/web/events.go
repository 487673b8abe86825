package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Event is one change of a project.
type Event struct {
	Kind string // fact, agent or task
	Data any    // as JSON
}

// Poll gives what has changed since it was last called. It is made at one instant and
// called from one goroutine.
type Poll func(context.Context) ([]Event, error)

const (
	pingEvery = 20 * time.Second
	maxBehind = 64 // events that a client may be behind before it is dropped
)

// feed gives the changes of one project to all who listen. It looks for them only
// while somebody does, once for all.
type feed struct {
	server *Server
	watch  func(context.Context) (Poll, error)

	mu   sync.Mutex
	to   map[chan string]bool // events as they are written
	stop context.CancelFunc   // ends the looking; nil: nobody looks
}

func newFeed(s *Server, watch func(context.Context) (Poll, error)) *feed {
	return &feed{server: s, watch: watch, to: map[chan string]bool{}}
}

// listen begins to receive.
func (f *feed) listen(ctx context.Context) (chan string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop == nil {
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		poll, err := f.watch(ctx)
		if err != nil {
			cancel()
			return nil, err
		}
		f.stop = cancel
		f.server.streams.Go(func() { f.run(ctx, poll) })
	}
	ch := make(chan string, maxBehind)
	f.to[ch] = true
	return ch, nil
}

// leave ends a client's listening. The last one ends the looking.
func (f *feed) leave(ch chan string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.to, ch)
	if len(f.to) == 0 && f.stop != nil {
		f.stop()
		f.stop = nil
	}
}

// run looks for changes until ctx ends.
func (f *feed) run(ctx context.Context, poll Poll) {
	tick := time.NewTicker(f.server.limits.poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.server.closing.Done():
			return
		case <-tick.C:
		}
		events, err := poll(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.server.logger.Warn("changes cannot be followed", "error", err)
		}
		for _, e := range events {
			f.broadcast(e)
		}
	}
}

// broadcast gives an event to all who listen. One that is too far behind is dropped: it comes
// back and hears that it missed something.
func (f *feed) broadcast(e Event) {
	data, err := json.Marshal(e.Data)
	if err != nil {
		f.server.logger.Warn("an event cannot be written", "error", err)
		return
	}
	text := fmt.Sprintf("event: %s\ndata: %s\n\n", e.Kind, data)
	f.mu.Lock()
	defer f.mu.Unlock()
	for ch := range f.to {
		select {
		case ch <- text:
		default:
			delete(f.to, ch)
			close(ch)
		}
	}
}

// serve answers GET /events. A client that reconnects sends its last id. It gets a missed
// event, so that it reloads what it shows.
func (f *feed) serve(w http.ResponseWriter, r *http.Request) {
	ch, err := f.listen(r.Context())
	if err != nil {
		f.server.fail(w, r, err)
		return
	}
	defer f.leave(ch)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	write := func(text string) bool {
		_, err := w.Write([]byte(text))
		return err == nil && control.Flush() == nil
	}
	first := "retry: 2000\nid: 1\n\n"
	if r.Header.Get("Last-Event-ID") != "" {
		first += "event: missed\ndata: {}\n\n"
	}
	if !write(first) {
		return
	}
	ctx, end := f.server.ending(r.Context())
	defer end()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		text := ": ping\n\n"
		select {
		case <-ctx.Done():
			return
		case e, ok := <-ch:
			if !ok {
				return
			}
			text = e
		case <-ping.C:
		}
		if !write(text) {
			return
		}
	}
}
