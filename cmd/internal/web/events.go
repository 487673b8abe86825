package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
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
	mostKept  = 256 // events kept for clients that come back
	mostAhead = 64  // events that a client may be behind before it is dropped
)

// feed gives the changes of one project to all who listen. It looks for them only
// while somebody does, once for all.
type feed struct {
	server *Server
	watch  func(context.Context) (Poll, error)
	boot   string // tells the ids of this process from those of another

	mu   sync.Mutex
	to   map[chan sent]bool
	past []sent
	last uint64
	stop context.CancelFunc // ends the looking; nil: nobody looks
}

// sent is an event as it is written.
type sent struct {
	number uint64
	text   string
}

func newFeed(s *Server, watch func(context.Context) (Poll, error)) *feed {
	return &feed{server: s, watch: watch, boot: strconv.FormatInt(time.Now().UnixNano(), 36), to: map[chan sent]bool{}}
}

// listen begins to receive. missed are the events since the one that the client saw last;
// known is false if there may have been others.
func (f *feed) listen(ctx context.Context, lastID string) (ch chan sent, missed []sent, known bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop == nil {
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		poll, err := f.watch(ctx)
		if err != nil {
			cancel()
			return nil, nil, false, err
		}
		f.stop = cancel
		f.past = nil // nobody looked for a while
		f.boot = strconv.FormatInt(time.Now().UnixNano(), 36)
		f.server.streams.Go(func() { f.run(ctx, poll) })
	}
	ch = make(chan sent, mostAhead)
	f.to[ch] = true
	boot, number, _ := strings.Cut(lastID, ".")
	seen, err := strconv.ParseUint(number, 10, 64)
	if lastID == "" {
		return ch, nil, true, nil
	}
	if err != nil || boot != f.boot || seen > f.last || len(f.past) > 0 && seen+1 < f.past[0].number {
		return ch, nil, false, nil
	}
	for _, e := range f.past {
		if e.number > seen {
			missed = append(missed, e)
		}
	}
	return ch, missed, true, nil
}

// leave ends a client's listening. The last one ends the looking.
func (f *feed) leave(ch chan sent) {
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
			f.tell(e)
		}
	}
}

// tell gives an event to all who listen. One that is too far behind is dropped: it comes
// back and asks for what it missed.
func (f *feed) tell(e Event) {
	data, err := json.Marshal(e.Data)
	if err != nil {
		f.server.logger.Warn("an event cannot be written", "error", err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	s := sent{f.last, fmt.Sprintf("id: %s.%d\nevent: %s\ndata: %s\n\n", f.boot, f.last, e.Kind, data)}
	if f.past = append(f.past, s); len(f.past) > mostKept {
		f.past = append([]sent(nil), f.past[1:]...)
	}
	for ch := range f.to {
		select {
		case ch <- s:
		default:
			delete(f.to, ch)
			close(ch)
		}
	}
}

// serve answers GET /events.
func (f *feed) serve(w http.ResponseWriter, r *http.Request) {
	ch, missed, known, err := f.listen(r.Context(), r.Header.Get("Last-Event-ID"))
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
	first := []string{"retry: 2000\n\n"}
	if !known { // whoever shows something loads it again
		first = append(first, "event: missed\ndata: {}\n\n")
	}
	for _, e := range missed {
		first = append(first, e.text)
	}
	if !write(strings.Join(first, "")) {
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
			text = e.text
		case <-ping.C:
		}
		if !write(text) {
			return
		}
	}
}
