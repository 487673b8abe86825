package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"leanctx/tasks"
)

// stream reads server-sent events.
type stream struct {
	io.Closer
	r *bufio.Reader
}

func (f *fixture) listen(t *testing.T, lastID string) *stream {
	t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(f.request(t, http.MethodGet, "/events", "", func(r *http.Request) {
		if lastID != "" {
			r.Header.Set("Last-Event-ID", lastID)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("%s %s", answer.Status, kind)
	}
	return &stream{answer.Body, bufio.NewReader(answer.Body)}
}

// next is the next event, without comments and retry.
func (s *stream) next(t *testing.T) map[string]string {
	t.Helper()
	e := map[string]string{}
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line = strings.TrimSpace(line); line == "" && e["event"] != "" {
			return e
		}
		name, value, _ := strings.Cut(line, ": ")
		e[name] = value
	}
}

// Who listens is told of what anybody writes, and who comes back is told that it may have
// missed something.
func TestEvents(t *testing.T) {
	f := serve(t, nil)
	first, second := f.listen(t, ""), f.listen(t, "")
	defer first.Close()
	if _, err := f.tasks[f.server.o.Own.Root].Create(t.Context(), tasks.Draft{Title: "one"}); err != nil { // as another surface does
		t.Fatal(err)
	}
	one := first.next(t)
	if got := second.next(t); got["data"] != one["data"] || one["event"] != "task" || one["id"] != "1" { // a browser sends the id when it comes back
		t.Errorf("got %v and %v", one, got)
	}
	second.Close()
	f.post(t, "/api/task/create", `{"title":"two"}`)
	two := first.next(t)
	back := f.listen(t, "1")
	defer back.Close()
	if got := back.next(t); got["event"] != "missed" {
		t.Errorf("who comes back is told %v", got)
	}
	elsewhere, err := http.DefaultTransport.RoundTrip(f.request(t, http.MethodGet, "/p/"+there+"/events", "", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Body.Close()
	other := stream{elsewhere.Body, bufio.NewReader(elsewhere.Body)}
	f.post(t, "/p/"+there+"/api/task/create", `{"title":"three"}`)
	if got := other.next(t); got["event"] != "task" || got["data"] == two["data"] {
		t.Errorf("of the other project: %v", got)
	}
}

// A client that never reads is dropped once it is too far behind, and the others are told all
// the same.
func TestAClientThatNeverReads(t *testing.T) {
	f, told, _ := serveTold(t)
	deaf := f.deaf(t)
	defer deaf.Close()
	reading := f.listen(t, "")
	defer reading.Close()
	for f.listeners() < 2 {
		runtime.Gosched()
	}
	const size = 256 << 10
	for n := 0; f.listeners() == 2; n++ {
		if n > 1000 {
			t.Fatal("it is still served")
		}
		told <- []Event{{"task", strings.Repeat("x", size)}}
		if got := reading.next(t); len(got["data"]) < size {
			t.Fatalf("event %d has %d bytes", n, len(got["data"]))
		}
	}
}

// One event that nobody takes ends the stream in time.
func TestAnEventThatIsNotTaken(t *testing.T) {
	f, told, ended := serveTold(t)
	f.server.limits.write = 10 * time.Millisecond
	told <- []Event{{"task", strings.Repeat("x", 16<<20)}} // more than the system holds for a connection
	deaf := f.deaf(t)
	defer deaf.Close()
	<-ended
}

// serveTold is a server whose events come from a channel. The other channel tells that
// nobody listens any more.
func serveTold(t *testing.T) (*fixture, chan<- []Event, <-chan bool) {
	told, ended := make(chan []Event, 1), make(chan bool, 1)
	return serve(t, func(o *Options, _ *storeOptions) {
		o.Watch = func(ctx context.Context, _ Project) (Poll, error) {
			context.AfterFunc(ctx, func() { ended <- true })
			return func(context.Context) ([]Event, error) {
				select {
				case list := <-told:
					return list, nil
				default:
					return nil, nil
				}
			}, nil
		}
	}), told, ended
}

// deaf listens to events and never reads one.
func (f *fixture) deaf(t *testing.T) net.Conn {
	c, err := net.Dial("tcp", f.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", own)
	return c
}

// listeners is how many clients listen to events.
func (f *fixture) listeners() int {
	feed := f.server.mount(f.server.o.Own, "").feed
	feed.mu.Lock()
	defer feed.mu.Unlock()
	return len(feed.to)
}

// Nothing looks for changes while nobody listens.
func TestNobodyListens(t *testing.T) {
	f, _, ended := serveTold(t)
	f.listen(t, "").Close()
	<-ended
}
