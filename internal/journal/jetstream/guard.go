package jetstream

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"

	"leanctx/internal/prose"
)

// Who listens at a server's address need not be the server. Until it has proven itself, by TLS,
// nothing that it says may end this program: the NATS client makes room for a message of whatever
// size it is told.

// guarded is a connection that ends where the other side announces more than a server of ours sends.
type guarded struct {
	net.Conn
	encrypted atomic.Bool // TLS has begun: what is read is not the protocol itself

	line    []byte
	payload int64 // bytes of a message that are still to come
	ending  bool  // and then the end of its line
}

const (
	maxLine    = 64 << 10
	maxMessage = 64 << 20

	tlsHandshake = 0x16 // the first byte of TLS
)

var errNoServer = errors.New("what answers there is no server of ours")

func (g *guarded) Write(p []byte) (int, error) {
	if len(p) > 0 && p[0] == tlsHandshake {
		g.encrypted.Store(true)
	}
	return g.Conn.Write(p)
}

func (g *guarded) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if !g.encrypted.Load() && !g.plausible(p[:n]) {
		return 0, errNoServer
	}
	return n, err
}

// plausible follows the protocol as the client does.
func (g *guarded) plausible(text []byte) bool {
	for len(text) > 0 {
		if g.payload > 0 {
			n := min(g.payload, int64(len(text)))
			g.payload, text = g.payload-n, text[n:]
			continue
		}
		before, after, whole := bytes.Cut(text, []byte("\n"))
		text = after
		if g.ending { // the client takes whatever comes until there
			g.ending = !whole
			continue
		}
		if g.line = append(g.line, before...); len(g.line) > maxLine {
			return false
		}
		if whole {
			size, ok := announced(g.line)
			if !ok {
				return false
			}
			g.line = g.line[:0]
			if size >= 0 {
				g.payload, g.ending = size, true
			}
		}
	}
	return true
}

// announced is the size of the message that follows a line, -1 if none does.
func announced(line []byte) (size int64, ok bool) {
	words := bytes.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' || c == '\r' })
	if len(words) == 0 || !bytes.EqualFold(words[0], []byte("MSG")) && !bytes.EqualFold(words[0], []byte("HMSG")) {
		return -1, true
	}
	size, err := strconv.ParseInt(string(words[len(words)-1]), 10, 64)
	return size, err == nil && 0 <= size && size <= maxMessage
}

// said is an error whose text somebody else may have written: one line, clipped, without what a terminal or a
// model would take for more than a text.
type said struct{ error }

func (e said) Error() string { return prose.ShortLine(e.error.Error()) }
func (e said) Unwrap() error { return e.error }

// roots are the certificates of a file.
func roots(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: there is no certificate in it", file)
	}
	return p, nil
}
