package proctest

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy passes TCP connections on to a server, and disturbs them as it is told. Its address
// stays the same when the server gets another one.
type Proxy struct {
	Dropped chan struct{} // signals that a piece was dropped that is no ping of NATS

	listener net.Listener
	backend  atomic.Value // string
	fault    atomic.Int32
	left     atomic.Int64 // pieces until [DropAll]; negative: nothing is counted

	mu    sync.Mutex
	conns []net.Conn
}

// Fault is what a [Proxy] does to connections.
type Fault int32

// The faults. A piece is what one read of a connection gives.
const (
	Pass        Fault = iota
	DropAnswers       // nothing of the server comes through; connections stay
	DropAll           // nothing comes through either way; connections stay
	Halve             // half of the next answer, and then its connection is closed
	Refuse            // new connections are closed at once
	Slow              // each piece comes later
)

// slowness is how much later.
const slowness = 20 * time.Millisecond

// NewProxy returns a proxy on a free port of the loopback interface. It ends with the test.
func NewProxy(t testing.TB) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, Dropped: make(chan struct{}, 1)}
	p.left.Store(-1)
	t.Cleanup(func() { l.Close(); p.Cut() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(c)
		}
	}()
	return p
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// To names the server for new connections.
func (p *Proxy) To(addr string) { p.backend.Store(addr) }

// Set makes a fault begin, and the one before end.
func (p *Proxy) Set(f Fault) { p.fault.Store(int32(f)) }

// DropAfter makes [DropAll] begin after a number of further pieces, of both directions.
func (p *Proxy) DropAfter(pieces int) { p.left.Store(int64(pieces)) }

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

func (p *Proxy) pass(client net.Conn) {
	addr, _ := p.backend.Load().(string)
	if addr == "" || Fault(p.fault.Load()) == Refuse {
		client.Close()
		return
	}
	server, err := net.Dial("tcp", addr)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, client, server)
	p.mu.Unlock()
	go p.copy(server, client, false)
	p.copy(client, server, true)
}

func (p *Proxy) copy(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	for b := make([]byte, 64<<10); ; {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if p.left.Load() >= 0 && p.left.Add(-1) < 0 {
			p.Set(DropAll)
		}
		switch Fault(p.fault.Load()) {
		case DropAll:
			p.dropped(b[:n])
			continue
		case DropAnswers:
			if answers {
				p.dropped(b[:n])
				continue
			}
		case Halve:
			if answers {
				p.Set(Pass)
				_, _ = to.Write(b[:n/2]) // the connection ends here anyway
				return
			}
		case Slow:
			time.Sleep(slowness)
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// dropped tells of a piece. Both sides send pings at times of their own, which say nothing of
// the request that a test waits for.
func (p *Proxy) dropped(piece []byte) {
	if s := string(piece); s == "PING\r\n" || s == "PONG\r\n" {
		return
	}
	select {
	case p.Dropped <- struct{}{}:
	default: // told already
	}
}
