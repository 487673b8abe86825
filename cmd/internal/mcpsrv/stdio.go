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

// order is the order of a request. A request that is no operation is unordered.
func (s *Server) order(req *jsonrpc.Request) order {
	switch req.Method {
	case "subscriptions/listen":
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

// maxWaiting is the number of waiting requests at which reading pauses.
const maxWaiting = 1024

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
	changed   chan struct{} // an answer was sent
	writeMu   sync.Mutex    // lines are written whole

	mu      sync.Mutex
	pending map[jsonrpc.ID]order // requests without an answer yet
	waiting []*jsonrpc.Request   // pending requests that wait
	running [orders]int          // the number of running requests

	atEnd    bool              // the end of input was read
	last     []jsonrpc.Message // read after all requests that end by themselves are answered
	deadline <-chan time.Time
}

func newPipe(in io.Reader, out io.Writer, o func(*jsonrpc.Request) order) *pipe {
	return &pipe{
		in: in, out: out, order: o, logger: slog.New(slog.DiscardHandler),
		lines: make(chan line), closed: make(chan struct{}), changed: make(chan struct{}, 1),
		pending: make(map[jsonrpc.ID]order),
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
		if req := p.turn(); req != nil {
			return req, nil
		}
		if p.atEnd && p.last == nil {
			p.last = p.cancels()
		}
		if len(p.last) > 0 {
			msg := p.last[0]
			p.last = p.last[1:]
			return msg, nil
		}
		if p.atEnd && p.unanswered() == 0 {
			return nil, io.EOF
		}
		lines := p.lines
		if p.atEnd || p.full() {
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

// turn is the first waiting request, if it may run now.
func (p *pipe) turn() *jsonrpc.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 || !p.mayRun(p.pending[p.waiting[0].ID]) {
		return nil
	}
	req := p.waiting[0]
	p.waiting = p.waiting[1:]
	p.running[p.pending[req.ID]]++
	return req
}

// mayRun reports whether a request of an order may run beside the running ones.
func (p *pipe) mayRun(o order) bool {
	return p.running[exclusive] == 0 && (o == shared || p.running[shared]+p.running[long] == 0)
}

// full reports whether reading must pause.
func (p *pipe) full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting) >= maxWaiting
}

func (p *pipe) unanswered() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending)
}

// cancels cancels, in the client's name, the requests that do not end by themselves, and the
// SDK answers them. It is nil while others run.
func (p *pipe) cancels() []jsonrpc.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pending) > p.running[endless] {
		return nil
	}
	all := []jsonrpc.Message{}
	for id := range p.pending {
		if params, err := json.Marshal(&mcp.CancelledParams{RequestID: id.Raw(), Reason: "end of input"}); err == nil {
			all = append(all, &jsonrpc.Request{Method: "notifications/cancelled", Params: params})
		}
	}
	return all
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
		p.refuse(nil, jsonrpc.CodeInvalidRequest, "message over "+strconv.Itoa(maxLine>>20)+" MiB")
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
		p.refuse(nil, jsonrpc.CodeInvalidRequest, "a request with this id is still running: "+string(l.data))
		return nil
	case !now:
		return nil
	}
	return req
}

// admit registers a request. now tells whether it may run at once. ok is false if another
// request has its id.
func (p *pipe) admit(req *jsonrpc.Request) (now, ok bool) {
	o := p.order(req)
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, taken := p.pending[req.ID]; taken {
		return false, false
	}
	p.pending[req.ID] = o
	if (o == shared || o == exclusive || o == long) && (len(p.waiting) > 0 || !p.mayRun(o)) {
		p.waiting = append(p.waiting, req)
		return false, true
	}
	p.running[o]++
	return true, true
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
	i := slices.IndexFunc(p.waiting, func(h *jsonrpc.Request) bool { return h.ID == id })
	if i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		delete(p.pending, id)
	}
}

// Write sends a message. If it is an answer, its request is done.
func (p *pipe) Write(_ context.Context, msg jsonrpc.Message) error {
	resp, ok := msg.(*jsonrpc.Response)
	if ok {
		resp.Error = normalized(resp.Error)
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	err = p.send(data)
	if ok {
		p.answered(resp.ID)
	}
	return err
}

// answered removes an answered request.
func (p *pipe) answered(id jsonrpc.ID) {
	p.mu.Lock()
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
