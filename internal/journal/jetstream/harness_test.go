package jetstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream"
	"leanctx/internal/journal/jetstream/natsserver"
	"leanctx/internal/proctest"
)

// event of the tests' machine: it counts one up, or forgets all but x.
type event struct {
	Key string `json:"key"`
	Pad string `json:"pad,omitempty"`
}

type counters map[string]int

type machine struct{}

func (machine) New() counters             { return counters{} }
func (machine) Clone(s counters) counters { return maps.Clone(s) }
func (machine) Fold(s counters, c journal.Commit[event]) counters {
	for _, e := range c.Events {
		if e.Key == "forget" {
			maps.DeleteFunc(s, func(key string, _ int) bool { return key != "x" })
		} else {
			s[e.Key]++
		}
	}
	return s
}

type document struct {
	journal.Header
	Counters counters `json:"counters"`
}

func (machine) Encode(w io.Writer, s counters, h journal.Header) error {
	return journal.EncodeDocument(w, document{h, s})
}

func (machine) Decode(data []byte) (counters, error) {
	d := document{Counters: counters{}}
	err := json.Unmarshal(data, &d)
	if d.Counters["unreadable"] > 0 {
		err = errors.New("unreadable")
	}
	return d.Counters, err
}

type testLog = journal.Log[counters, event]

func add(key string) func(counters, time.Time) ([]event, error) {
	return func(counters, time.Time) ([]event, error) { return []event{{Key: key}}, nil }
}

var project = jetstream.Project{Hash: "0123456789abcdef", FirstCommits: []string{"c0ffee"}}

// server is one NATS server behind a proxy, whose address stays when the
// server is started anew.
type server struct {
	*proctest.Proxy
	dir        string
	nats       *natsserver.Server
	maxPayload int32
}

func serve(t testing.TB) *server { t.Helper(); return serveMessages(t, 0) }

// A message of a server of [serveSmall] has at most so many bytes. largePad makes a commit larger.
const smallPayload = 64 << 10

var largePad = strings.Repeat("large ", smallPayload/4)

// serveSmall is a server where a commit need not be very large to be kept in an object.
func serveSmall(t testing.TB) *server { t.Helper(); return serveMessages(t, smallPayload) }

func serveMessages(t testing.TB, maxPayload int32) *server {
	t.Helper()
	s := &server{dir: t.TempDir(), maxPayload: maxPayload}
	s.Proxy = proctest.NewProxy(t)
	s.start(t)
	t.Cleanup(func() { s.nats.Close() })
	return s
}

func (s *server) start(t testing.TB) {
	t.Helper()
	n, err := natsserver.Start(&natsserver.Options{Addr: "127.0.0.1:0", Dir: s.dir, MaxPayload: s.maxPayload})
	if err != nil {
		t.Fatal(err)
	}
	s.nats = n
	u, err := url.Parse(n.URL())
	if err != nil {
		t.Fatal(err)
	}
	s.To(u.Host)
}

// restart stops the server, has do change its files, and starts it anew.
func (s *server) restart(t testing.TB, do func()) {
	t.Helper()
	s.nats.Close()
	do()
	s.start(t)
}

// url is where clients connect.
func (s *server) url() string { return "nats://" + s.Addr() }

type options = jetstream.Options

// home is one machine: a directory and a connection.
type home struct {
	*testLog
	url    string
	dir    string
	stream *jetstream.Stream
}

// join has a machine open the log of the project's stream.
func join(t testing.TB, url string, change ...func(*jetstream.Options, *journal.Options)) *home {
	t.Helper()
	h := &home{dir: filepath.Join(t.TempDir(), "[home]")} // a directory may have such a name
	h.open(t, url, change...)
	_, _, err := h.stream.Join(t.Context(), project, false)
	for errors.Is(err, journal.ErrOffline) {
		_, _, err = h.stream.Join(t.Context(), project, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *home) open(t testing.TB, url string, change ...func(*jetstream.Options, *journal.Options)) {
	t.Helper()
	so := &jetstream.Options{Server: jetstream.Server{URL: url}, Stream: "shop", Settle: 50 * time.Millisecond, Wait: time.Minute}
	o := &journal.Options{LockTimeout: time.Minute}
	for _, f := range change {
		f(so, o)
	}
	h.stream, h.url = jetstream.Open(so), url
	if o.Remote == nil {
		o.Remote = h.stream.Log("counters")
	}
	l, err := journal.Open(h.dir, machine{}, o)
	if err != nil {
		t.Fatal(err)
	}
	h.testLog = l
	t.Cleanup(h.close)
}

func (h *home) close() {
	_ = h.testLog.Close()
	_ = h.stream.Close()
}

// update and what rests on it, expunge and fetch try again while the server seems to be away: a
// busy machine may need longer to connect than a command waits. Nothing was written then.
func (h *home) update(t testing.TB, decide func(counters, time.Time) ([]event, error)) (journal.Head, error) {
	return proctest.Again(journal.ErrOffline, func() (journal.Head, error) { return h.Update(t.Context(), decide) })
}

func (h *home) expunge(t testing.TB, holds func([]byte) bool) error {
	_, err := proctest.Again(journal.ErrOffline, func() (struct{}, error) { return struct{}{}, h.Expunge(t.Context(), holds) })
	return err
}

func (h *home) write(t testing.TB, decide func(counters, time.Time) ([]event, error)) journal.Head {
	t.Helper()
	head, err := h.update(t, decide)
	if err != nil {
		t.Fatal(err)
	}
	return head
}

func (h *home) add(t testing.TB, key string) journal.Head { t.Helper(); return h.write(t, add(key)) }

func fetch(t testing.TB, l interface{ Fetch(context.Context) error }) error {
	_, err := proctest.Again(journal.ErrOffline, func() (struct{}, error) { return struct{}{}, l.Fetch(t.Context()) })
	return err
}

// newest is the newest state of the team.
func (h *home) newest(t testing.TB) counters {
	t.Helper()
	if err := fetch(t, h); err != nil {
		t.Fatal(err)
	}
	return h.copied(t)
}

// copied is the state of the machine's copy.
func (h *home) copied(t testing.TB) (s counters) {
	t.Helper()
	if err := h.View(t.Context(), func(now counters, _ journal.Head) error { s = maps.Clone(now); return nil }); err != nil {
		t.Fatal(err)
	}
	return s
}

func (h *home) head(t testing.TB) (at journal.Head) {
	t.Helper()
	if err := h.View(t.Context(), func(_ counters, h journal.Head) error { at = h; return nil }); err != nil {
		t.Fatal(err)
	}
	return at
}

// copyDir is what a disk holds.
func copyDir(t testing.TB, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// linesOf are the commits of a log of its own that counted to n.
func linesOf(t testing.TB, n int) (bodies [][]byte) {
	t.Helper()
	dir := t.TempDir()
	l, err := journal.Open(dir, machine{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var wg sync.WaitGroup
	for w := range 64 { // they share each fsync
		wg.Go(func() {
			for i := w; i < n; i += 64 {
				if _, err := l.Update(context.Background(), add("x")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	text, err := os.ReadFile(filepath.Join(dir, "state.journal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n"))[1:] {
		_, body, _ := bytes.Cut(line, []byte(" "))
		bodies = append(bodies, body)
	}
	return bodies
}

func journalOf(h *home) string { return filepath.Join(h.dir, "state.journal") }

// damage flips a bit in one of the last commits of the copy.
func (h *home) damage(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(journalOf(h))
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-300] ^= 1
	if err := os.WriteFile(journalOf(h), text, 0o600); err != nil {
		t.Fatal(err)
	}
}
