package mcpsrv

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
)

// ServeStdio serves one client over a pair of streams, one JSON-RPC message a
// line, until the end of input or of ctx. At the end of input every request
// that was read is answered before it returns. It closes in if it can be
// closed.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	p := newPipe(in, out, s.order)
	p.grace = s.options.Grace
	p.logger = s.options.Logger
	p.session = rand.Text() // an agent of another connection is another agent
	// Not Server.Run, which logs an ordinary interruption as an error.
	session, err := s.mcp.Connect(ctx, p, nil)
	if err != nil {
		return err
	}
	defer s.leave(session)
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { closed <- session.Close() })
	err = session.Wait()
	if !stop() {
		return errors.Join(ctx.Err(), <-closed)
	}
	return err
}

// leave ends what a connection had under way.
func (s *Server) leave(session *mcp.ServerSession) {
	s.watch.drop(session)
	if s.options.Left != nil {
		s.options.Left(session.ID())
	}
}

// order says how a request stands to others of the same connection.
type order int

const (
	free    order = iota // at once, whatever else is going on
	shared               // beside others, but not beside one that is alone
	alone                // when all before it are answered
	long                 // like one that is alone, but what reads does not wait for it
	open                 // free, and not expected to end by itself
	closing              // open, and told to end
	orders  = iota
)

// order is the order of a request. What is not an operation is free.
func (s *Server) order(req *jsonrpc.Request) order {
	switch req.Method {
	case "subscriptions/listen":
		return open
	case "resources/read", "prompts/get":
		return shared
	case "tools/call":
	default:
		return free
	}
	var p mcp.CallToolParamsRaw
	if json.Unmarshal(req.Params, &p) != nil {
		return free
	}
	t, ok := s.tools[p.Name]
	if !ok || t.Effect() == op.Reads {
		return shared
	}
	args, _ := arguments(p.Arguments)
	switch {
	case t.EffectOf(args) == op.Reads:
		return shared
	case t.TakesLong(args):
		return long
	}
	return alone
}

// maxHeld is how many requests may wait their turn before reading pauses.
const maxHeld = 1024

// pipe is the stdio transport. The SDK's own gives up on the first line it
// cannot read, taking the client's session with it, and cancels what is in
// flight at the end of input, so that a request piped in is mostly never
// answered. This one answers what it cannot read, by its id where it has one,
// keeps requests in order as [order] says, and reports the end of input only
// when all that was read is answered.
type pipe struct {
	in      io.Reader
	out     io.Writer
	order   func(*jsonrpc.Request) order
	grace   time.Duration
	logger  *slog.Logger
	session string

	lines     chan line
	closed    chan struct{}
	closeOnce sync.Once
	changed   chan struct{} // an answer went out
	writeMu   sync.Mutex    // whole lines

	mu      sync.Mutex
	pending map[jsonrpc.ID]order // requests that were read and not answered
	held    []*jsonrpc.Request   // those of them that wait their turn
	running [orders]int          // the others, counted
	unasked map[jsonrpc.ID]bool  // those of them that the client cancelled: nobody waits for an answer

	ended    bool // the end of input was read
	deadline <-chan time.Time
}

func newPipe(in io.Reader, out io.Writer, o func(*jsonrpc.Request) order) *pipe {
	return &pipe{
		in: in, out: out, order: o, logger: slog.New(slog.DiscardHandler),
		lines: make(chan line), closed: make(chan struct{}), changed: make(chan struct{}, 1),
		pending: make(map[jsonrpc.ID]order), unasked: make(map[jsonrpc.ID]bool),
	}
}

// Connect starts reading; it makes a transport and its one connection the same
// thing.
func (p *pipe) Connect(context.Context) (mcp.Connection, error) {
	go p.scan()
	return p, nil
}

// SessionID is the connection's name.
func (p *pipe) SessionID() string { return p.session }

// Close ends the connection. A reader of an operating system's stream may stay
// blocked until the process ends; nothing waits for it.
func (p *pipe) Close() error {
	p.closeOnce.Do(func() {
		close(p.closed)
		if c, ok := p.in.(io.Closer); ok {
			c.Close()
		}
	})
	return nil
}

// Read is the next message for the SDK.
func (p *pipe) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if req := p.turn(); req != nil {
			return req, nil
		}
		if msg, done := p.ending(); msg != nil {
			return msg, nil
		} else if done {
			return nil, io.EOF
		}
		lines := p.lines
		if p.ended || p.full() {
			lines = nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.closed:
			return nil, io.EOF
		case <-p.changed:
		case <-p.deadline:
			p.logger.Warn("requests were still running after the end of input", "count", p.unanswered())
			return nil, io.EOF
		case l := <-lines:
			if msg := p.accept(l); msg != nil {
				return msg, nil
			}
		}
	}
}

// turn is the first of the held requests, if it may run now.
func (p *pipe) turn() *jsonrpc.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.held) == 0 || !p.free(p.pending[p.held[0].ID]) {
		return nil
	}
	req := p.held[0]
	p.held = p.held[1:]
	p.running[p.pending[req.ID]]++
	return req
}

// free reports whether a request of an order may run beside those that do.
func (p *pipe) free(o order) bool {
	return p.running[alone] == 0 && (o == shared || p.running[shared]+p.running[long] == 0)
}

// full reports whether so many requests wait that reading should too.
func (p *pipe) full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held) >= maxHeld
}

// ending says, once the input has ended, whether all is answered. Requests
// that do not end by themselves are ended by a cancellation in the client's
// name, which the SDK answers too.
func (p *pipe) ending() (cancel jsonrpc.Message, done bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		return nil, false
	}
	if len(p.pending) > p.running[open] {
		return nil, false
	}
	for id, o := range p.pending {
		if o == open {
			p.pending[id] = closing
			p.running[open]--
			p.running[closing]++
			params, err := json.Marshal(&mcp.CancelledParams{RequestID: id.Raw(), Reason: "end of input"})
			if err != nil {
				return nil, true
			}
			return &jsonrpc.Request{Method: "notifications/cancelled", Params: params}, false
		}
	}
	return nil, true
}

func (p *pipe) unanswered() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending)
}

// accept is what a line holds for the SDK now, or nothing: what cannot be read
// is answered here, and what must wait is held.
func (p *pipe) accept(l line) jsonrpc.Message {
	switch {
	case l.err != nil:
		p.ended = true
		p.deadline = time.After(p.grace)
		if !errors.Is(l.err, io.EOF) {
			p.logger.Warn("input ended", "error", l.err)
		}
		return nil
	case l.long != nil:
		p.refuse(l.long.id(), jsonrpc.CodeInvalidRequest, "message over "+strconv.Itoa(maxLine>>20)+" MiB")
		return nil
	}
	msg, bad := parse(l.data)
	if bad != nil {
		p.refuse(bad.id, bad.code, bad.text)
		return nil
	}
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return msg
	}
	if !req.IsCall() {
		p.withdraw(req)
		return req
	}
	now, ok := p.admit(req)
	switch {
	case !ok:
		p.refuse(nil, jsonrpc.CodeInvalidRequest, "a request with this id is still running: "+shortened(string(l.data)))
		return nil
	case !now:
		return nil
	}
	return req
}

// admit takes note of a request. now is whether it may run already; ok is
// false when its id is taken.
func (p *pipe) admit(req *jsonrpc.Request) (now, ok bool) {
	o := p.order(req)
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, taken := p.pending[req.ID]; taken {
		return false, false
	}
	p.pending[req.ID] = o
	if (o == shared || o == alone || o == long) && (len(p.held) > 0 || !p.free(o)) {
		p.held = append(p.held, req)
		return false, true
	}
	p.running[o]++
	return true, true
}

// withdraw takes a held request out when the client cancels it. One that runs
// already is the SDK's to cancel. Neither gets an answer, as the protocol wants it.
func (p *pipe) withdraw(req *jsonrpc.Request) {
	var params mcp.CancelledParams
	if req.Method != "notifications/cancelled" || json.Unmarshal(req.Params, &params) != nil {
		return
	}
	id, err := jsonrpc.MakeID(params.RequestID)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.held, func(h *jsonrpc.Request) bool { return h.ID == id })
	if i >= 0 {
		p.held = slices.Delete(p.held, i, i+1)
		delete(p.pending, id)
	} else if o, runs := p.pending[id]; runs && o != open {
		p.unasked[id] = true
	}
}

// Write sends a message, and takes note of it when it is an answer.
func (p *pipe) Write(_ context.Context, msg jsonrpc.Message) error {
	resp, ok := msg.(*jsonrpc.Response)
	if ok {
		resp.Error = worded(resp.Error)
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if !ok {
		return p.send(data)
	}
	if !p.cancelled(resp.ID) {
		err = p.send(data)
	}
	p.answered(resp.ID)
	return err
}

// cancelled reports whether the client took a request back.
func (p *pipe) cancelled(id jsonrpc.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unasked[id]
}

// answered takes a request off the books.
func (p *pipe) answered(id jsonrpc.ID) {
	p.mu.Lock()
	delete(p.unasked, id)
	if o, ok := p.pending[id]; ok {
		delete(p.pending, id)
		p.running[o]--
	}
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// send writes one line.
func (p *pipe) send(data []byte) error {
	p.writeMu.Lock()
	defer p.writeMu.Unlock()
	_, err := p.out.Write(append(data, '\n'))
	return err
}

// maxLine is in bytes. A longer message is refused by its id.
const maxLine = 16 << 20

// line is one line of input, or why there is none.
type line struct {
	data []byte
	long *idScanner // set instead of data for a line over maxLine
	err  error
}

// scan sends on the lines of the input.
func (p *pipe) scan() {
	r := bufio.NewReaderSize(p.in, 64<<10)
	for {
		l := readLine(r)
		if l.err == nil && l.long == nil && len(l.data) == 0 {
			continue
		}
		select {
		case p.lines <- l:
		case <-p.closed:
			return
		}
		if l.err != nil {
			return
		}
	}
}

// readLine reads a line of up to maxLine bytes. Of a longer one it keeps
// nothing but the id. A last line without its line feed counts.
func readLine(r *bufio.Reader) line {
	var l line
	for {
		part, err := r.ReadSlice('\n')
		switch {
		case l.long != nil:
			l.long.feed(part)
		case len(l.data)+len(part) > maxLine:
			l.long = &idScanner{}
			l.long.feed(l.data)
			l.long.feed(part)
			l.data = nil
		default:
			l.data = append(l.data, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.data = bytes.TrimSpace(bytes.TrimPrefix(l.data, []byte("\ufeff"))) // a mark that some shells put before what they pipe
		if err != nil && len(l.data) == 0 && l.long == nil {
			l.err = err
		}
		return l
	}
}
