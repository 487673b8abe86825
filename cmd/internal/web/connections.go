package web

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

// maxStrangers is how many connections may be open that have not yet made a request with a token. Beyond that the one that
// has waited longest is closed: another user's program can open as many as it likes, and each takes a file of ours.
const maxStrangers = 128

// connections are those of a server that nobody has shown a token on, the oldest first.
type connections struct {
	mu        sync.Mutex
	strangers []net.Conn
}

type connKey struct{}

// withConn lets a request know its connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// state follows a connection from its beginning to its end.
func (l *connections) state(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if oldest := l.add(c); oldest != nil {
			_ = oldest.Close() // its own goroutine sees that
		}
	case http.StateClosed, http.StateHijacked:
		l.drop(c)
	}
}

// add gives the connection that must make room.
func (l *connections) add(c net.Conn) (oldest net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.strangers = append(l.strangers, c)
	if len(l.strangers) > maxStrangers {
		oldest, l.strangers = l.strangers[0], l.strangers[1:]
	}
	return oldest
}

func (l *connections) drop(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.strangers = slices.DeleteFunc(l.strangers, func(x net.Conn) bool { return x == c })
}

// knows keeps the connection of a request that has shown a token.
func (l *connections) knows(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		l.drop(c)
	}
}
