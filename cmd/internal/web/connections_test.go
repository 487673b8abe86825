package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Another user's program opens as many connections as it likes and says nothing. Who has a token gets in all the same, and a
// connection that has shown one stays.
func TestSilentConnectionsShutNobodyOut(t *testing.T) {
	f := serve(t, nil)
	hs := httptest.NewUnstartedServer(f.server)
	hs.Config.ConnContext, hs.Config.ConnState = withConn, f.server.conns.state
	hs.Start()
	defer hs.Close()
	at := strings.TrimPrefix(hs.URL, "http://")
	dial := func() net.Conn {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ask := func(c net.Conn) int {
		if _, err := fmt.Fprintf(c, "GET /projects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", own); err != nil {
			return 0
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return 0
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode
	}
	known := dial()
	if got := ask(known); got != 200 {
		t.Fatalf("at first: %d", got)
	}
	var silent []net.Conn
	for range 3 * maxStrangers {
		silent = append(silent, dial())
	}
	if got := ask(dial()); got != 200 {
		t.Errorf("a new connection with a token: %d", got)
	}
	if got := ask(known); got != 200 {
		t.Errorf("the one that was there: %d", got)
	}
	closed := 0
	for _, c := range silent {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); err == io.EOF || err != nil && strings.Contains(err.Error(), "reset") {
			closed++
		}
	}
	if closed < 2*maxStrangers-1 {
		t.Errorf("%d of %d silent connections were closed", closed, len(silent))
	}
	f.server.conns.mu.Lock()
	defer f.server.conns.mu.Unlock()
	if n := len(f.server.conns.strangers); n > maxStrangers {
		t.Errorf("%d are kept", n)
	}
}

// Requests without a token fill no log.
func TestRefusedRequestsAreCounted(t *testing.T) {
	f := serve(t, nil)
	for range 500 {
		_, _ = f.do(t, f.request(t, http.MethodGet, "/", "", bare))
	}
	if n := strings.Count(f.log.String(), "\n"); n > 50 {
		t.Errorf("%d lines for 500 requests", n)
	}
	time.Sleep(time.Second)
	_, _ = f.do(t, f.request(t, http.MethodGet, "/", "", bare))
	if !strings.Contains(f.log.String(), "more requests without a token") {
		t.Errorf("how many there were is not told:\n%s", f.log.String())
	}
}
