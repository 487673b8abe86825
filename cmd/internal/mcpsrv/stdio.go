package mcpsrv

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
)

// ServeStdio serves one client over two streams with one JSON-RPC message on each line. It
// returns at the end of input, after all requests are answered, or when ctx ends. It closes
// in, if in can be closed.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	p := newPipe(in, out, s.order)
	p.grace = s.options.Grace
	p.logger = s.options.Logger
	p.session = rand.Text() // each connection has its own agent
	// Not Server.Run, which logs an interruption as an error.
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

// leave ends the subscriptions and agents of a connection.
func (s *Server) leave(session *mcp.ServerSession) {
	s.watch.drop(func(x subscription) bool { return x.session == session })
	s.workspaces.Delete(session)
	if s.options.Left != nil {
		s.options.Left(session.ID())
	}
}

// order says which requests of a connection may run at the same time.
type order int

const (
	unordered order = iota // runs at once
	shared                 // runs beside others, but not beside one that is exclusive
	exclusive              // runs after all before it are answered
	long                   // like exclusive, but requests that read do not wait for it
	endless                // unordered, and does not end by itself
	orders    = iota
)

// mayRun reports whether a request may run, given the orders of the unanswered ones before it.
func (o order) mayRun(before [orders]bool) bool {
	switch o {
	case shared:
		return !before[exclusive]
	case exclusive, long:
		return !before[shared] && !before[exclusive] && !before[long]
	}
	return true
}

// order is the order of a request. A request that is no operation is unordered.
func (s *Server) order(req *jsonrpc.Request) order {
	switch req.Method {
	case listenMethod:
		return endless
	case "resources/read", "prompts/get":
		return shared
	case "tools/call":
	default:
		return unordered
	}
	var p mcp.CallToolParamsRaw
	if json.Unmarshal(req.Params, &p) != nil {
		return unordered
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
	return exclusive
}

// maxPending is the number of unanswered requests at which reading pauses. Requests that do not
// end by themselves are not of them: that many can be open beside them, and more are refused.
const maxPending = 1024

// pipe is the stdio transport. The SDK's own transport ends the session at the first line
// that it cannot read. At the end of input it cancels running requests, so that most piped
// requests get no answer. pipe answers unreadable lines, with their id if they have one. It
// keeps the order that [order] says, and reports the end of input after all requests are
// answered.
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
	answered  chan struct{} // an answer was sent
	writeMu   sync.Mutex    // lines are written whole

	mu      sync.Mutex
	pending []*pendingRequest // without an answer yet, in the order in which they came

	atEnd    bool // the end of input was read
	deadline <-chan time.Time
}

// pendingRequest is a request without an answer.
type pendingRequest struct {
	*jsonrpc.Request
	order     order
	running   bool
	cancelled bool // at the end of input
}

func newPipe(in io.Reader, out io.Writer, o func(*jsonrpc.Request) order) *pipe {
	return &pipe{
		in: in, out: out, order: o, logger: slog.New(slog.DiscardHandler),
		lines: make(chan line), closed: make(chan struct{}), answered: make(chan struct{}, 1),
	}
}

// Connect starts reading. The transport is its only connection.
func (p *pipe) Connect(context.Context) (mcp.Connection, error) {
	go p.scan()
	return p, nil
}

// SessionID is the id of the connection.
func (p *pipe) SessionID() string { return p.session }

// Close ends the connection. A read from standard input may stay blocked until the process
// ends. Nothing waits for it.
func (p *pipe) Close() error {
	p.closeOnce.Do(func() {
		close(p.closed)
		if c, ok := p.in.(io.Closer); ok {
			c.Close()
		}
	})
	return nil
}

// Read returns the next message for the SDK.
func (p *pipe) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, pending, open := p.next()
		if msg != nil {
			return msg, nil
		}
		if p.atEnd && pending == 0 {
			return nil, io.EOF
		}
		lines := p.lines
		if p.atEnd || pending-open >= maxPending {
			lines = nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.closed:
			return nil, io.EOF
		case <-p.answered:
		case <-p.deadline:
			p.logger.Warn("requests were still running after the end of input", "count", pending)
			return nil, io.EOF
		case l := <-lines:
			if msg := p.accept(l); msg != nil {
				return msg, nil
			}
		}
	}
}

// next is the first pending request that may run now. If there is none, pending are all, and open
// those that do not end by themselves. After the end of input, if only those are left, it cancels
// each in the client's name. The SDK then answers it.
func (p *pipe) next() (msg jsonrpc.Message, pending, open int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var before [orders]bool
	for _, r := range p.pending {
		if !r.running && r.order.mayRun(before) {
			r.running = true
			return r.Request, 0, 0
		}
		before[r.order] = true
	}
	open = p.open()
	if p.atEnd && open == len(p.pending) {
		for _, r := range p.pending {
			params, err := json.Marshal(&mcp.CancelledParams{RequestID: r.ID.Raw(), Reason: "end of input"})
			if !r.cancelled && err == nil {
				r.cancelled = true
				return &jsonrpc.Request{Method: "notifications/cancelled", Params: params}, 0, 0
			}
		}
	}
	return nil, len(p.pending), open
}

// open is the number of pending requests that do not end by themselves.
func (p *pipe) open() (n int) {
	for _, r := range p.pending {
		if r.order == endless {
			n++
		}
	}
	return n
}

// accept returns the message of a line that is no request. A request becomes pending. An
// unreadable line is answered.
func (p *pipe) accept(l line) jsonrpc.Message {
	switch {
	case l.err != nil:
		p.atEnd = true
		p.deadline = time.After(p.grace)
		if !errors.Is(l.err, io.EOF) {
			p.logger.Warn("input ended", "error", l.err)
		}
		return nil
	case l.long:
		p.refuse(nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("message over %d MiB", maxLine>>20)})
		return nil
	}
	msg, id, wrong := parse(l.data)
	if wrong != nil {
		p.refuse(id, wrong)
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
	r := &pendingRequest{Request: req, order: p.order(req)}
	p.mu.Lock()
	taken, full := p.find(req.ID) >= 0, r.order == endless && p.open() >= maxPending
	if !taken && !full {
		p.pending = append(p.pending, r)
	}
	p.mu.Unlock()
	switch {
	case taken:
		p.refuse(nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a request with this id is still running: " + string(l.data)})
	case full:
		id, _ := json.Marshal(req.ID.Raw()) // a number or a string
		p.refuse(id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("%d subscriptions are open: cancel one", maxPending)})
	}
	return nil
}

// find is the place of a pending request, or -1.
func (p *pipe) find(id jsonrpc.ID) int {
	return slices.IndexFunc(p.pending, func(r *pendingRequest) bool { return r.ID == id })
}

// withdraw removes a request that waits, if the client cancels it: it gets no answer. The SDK
// cancels a running one.
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
	if i := p.find(id); i >= 0 && !p.pending[i].running {
		p.pending = slices.Delete(p.pending, i, i+1)
	}
}

// Write sends a message. If it is an answer, its request is done.
func (p *pipe) Write(_ context.Context, msg jsonrpc.Message) error {
	resp, answer := msg.(*jsonrpc.Response)
	if answer {
		resp.Error = normalized(resp.Error)
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	err = p.send(data)
	if !answer {
		return err
	}
	p.mu.Lock()
	if i := p.find(resp.ID); i >= 0 {
		p.pending = slices.Delete(p.pending, i, i+1)
	}
	p.mu.Unlock()
	select {
	case p.answered <- struct{}{}:
	default:
	}
	return err
}

// send writes one line.
func (p *pipe) send(data []byte) error {
	p.writeMu.Lock()
	defer p.writeMu.Unlock()
	_, err := p.out.Write(append(data, '\n'))
	return err
}

// maxLine is in bytes. A longer message is refused, without its id.
const maxLine = 16 << 20

// line is one line of input, or an error.
type line struct {
	data []byte
	long bool // longer than maxLine
	err  error
}

// scan sends the lines of the input to a channel.
func (p *pipe) scan() {
	r := bufio.NewReaderSize(p.in, 64<<10)
	for {
		l := readLine(r)
		if l.err == nil && len(l.data) == 0 && !l.long {
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

// readLine reads a line of up to maxLine bytes, and passes over the rest of a longer one.
// The last line may lack its line feed.
func readLine(r *bufio.Reader) line {
	var l line
	for {
		part, err := r.ReadSlice('\n')
		if l.data = append(l.data, part...); len(l.data) > maxLine {
			l.data, l.long = l.data[:0], true
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.data = bytes.TrimSpace(bytes.TrimPrefix(l.data, []byte("\ufeff"))) // the byte order mark that some shells add
		if err != nil && len(l.data) == 0 && !l.long {
			l.err = err
		}
		return l
	}
}
