package jetstream

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/nats-io/nats.go"

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

// unproven is the error of a connection that was not made. Whoever listens there wrote its text, in an error or in a certificate:
// only what it is about is told, in words of ours.
type unproven struct{ error }

func (e unproven) Error() string {
	for _, known := range []error{
		nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired, nats.ErrAuthorization, nats.ErrSecureConnWanted,
		nats.ErrSecureConnRequired, nats.ErrNoServers, nats.ErrTimeout, nats.ErrStaleConnection, nats.ErrMaxConnectionsExceeded, context.DeadlineExceeded, context.Canceled, io.EOF,
	} {
		if errors.Is(e.error, known) {
			return known.Error()
		}
	}
	if at, ok := errors.AsType[*net.OpError](e.error); ok {
		return at.Error() // of this machine, or an alert of TLS
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](e.error); ok {
		return certificateProblem(bad)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](e.error); ok {
		return "it does not speak TLS"
	}
	return "it does not answer as a NATS server does"
}

func (e unproven) Unwrap() error { return e.error }

func certificateProblem(err error) string {
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "it is for other names"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "it is signed by an unknown authority"
	}
	if bad, ok := errors.AsType[x509.CertificateInvalidError](err); ok && bad.Reason == x509.Expired {
		return "it has expired, or is not valid yet"
	}
	return "it is not valid"
}

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
