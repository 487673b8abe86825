package natsserver

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// The seed of an nkey is what clients sign with; any other text is what they send.
func TestWhatClientsNeed(t *testing.T) {
	seed, err := NewSeed()
	if err != nil {
		t.Fatal(err)
	}
	var so server.Options
	if wants(&so, string(seed)) == nil || so.Authorization != "" || len(so.Nkeys) != 1 {
		t.Errorf("a seed: %+v", so.Nkeys)
	}
	so = server.Options{}
	if wants(&so, "a token") != nil || so.Authorization != "a token" || so.Nkeys != nil {
		t.Errorf("a token: %+v", so)
	}
}

func secretFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func newSeed(t *testing.T) string {
	t.Helper()
	seed, err := NewSeed()
	if err != nil {
		t.Fatal(err)
	}
	return string(seed)
}

// A cluster whose servers could not prove themselves to each other does not start, on one machine either.
func TestNoClusterWithoutProof(t *testing.T) {
	for _, token := range []string{"", "a token that is sent"} {
		o := &Options{Addr: "127.0.0.1:0", Dir: t.TempDir(), Cluster: "127.0.0.1:0", Name: "a"}
		if token != "" {
			o.TokenFile = secretFile(t, token)
		}
		s, err := Start(o)
		if !errors.Is(err, ErrNoProof) {
			t.Errorf("token %q: %v", token, err)
		}
		if err == nil {
			s.Close()
		}
	}
}

// Servers of one seed find each other. Another server, and whatever anybody hears who listens in a server's place, gets in nowhere.
func TestOnlyTheSeedOpensACluster(t *testing.T) {
	heard := make(chan []byte, 100)
	sink, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sink.Close() })
	go func() {
		for {
			c, err := sink.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = c.Write([]byte("INFO {\"server_id\":\"X\",\"server_name\":\"x\",\"cluster\":\"lean-ctx\",\"auth_required\":true,\"headers\":true,\"proto\":1}\r\n"))
				_ = c.SetReadDeadline(time.Now().Add(time.Second))
				b, _ := io.ReadAll(c)
				heard <- b
			}()
		}
	}()
	seed := newSeed(t)
	serve := func(name, token string, routes ...string) *Server {
		s, err := Start(&Options{Addr: "127.0.0.1:0", Dir: t.TempDir(), Name: name, Cluster: "127.0.0.1:0", Routes: routes, TokenFile: secretFile(t, token)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	a := serve("a", seed, sink.Addr().String())
	b := serve("b", seed, a.Cluster())
	for end := time.Now().Add(10 * time.Second); a.now().NumRoutes() == 0 || b.now().NumRoutes() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("two servers of one seed do not find each other")
		}
	}
	said := <-heard
	if bytes.Contains(said, []byte("CONNECT")) || bytes.Contains(said, []byte(seed)) {
		t.Errorf("sent to whoever listens: %q", said)
	}
	for _, to := range []string{a.Cluster(), strings.TrimPrefix(strings.TrimPrefix(a.URL(), "nats://"), "tls://")} {
		c, err := net.Dial("tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(said)
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		answer, _ := io.ReadAll(c)
		c.Close()
		if bytes.Contains(answer, []byte("PONG")) || bytes.Contains(answer, []byte("RS+")) {
			t.Errorf("what was heard opens %s: %q", to, answer)
		}
	}
	stranger := serve("c", newSeed(t), a.Cluster(), b.Cluster())
	time.Sleep(time.Second)
	if n := stranger.now().NumRoutes(); n != 0 {
		t.Errorf("a server of another seed is in the cluster: %d", n)
	}
}
