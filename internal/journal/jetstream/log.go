package jetstream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"leanctx/internal/journal"
)

// Log is one log of a stream.
type Log struct {
	s       *Stream
	subject string

	known atomic.Pointer[lastMessage]
}

// lastMessage is the last message that is known, and the connection on which it was seen.
type lastMessage struct {
	on    connection
	place uint64
	id    string // the message's
}

// connection distinguishes one connection from the next.
type connection struct {
	d          *dial
	reconnects uint64
}

func (d *dial) connection() connection { return connection{d, d.nc.Stats().Reconnects} }

// Log returns the log with a name of letters, digits, dots and hyphens.
func (s *Stream) Log(name string) journal.Remote { return s.Named(s.subject(name)) }

// Named returns the log with a [journal.Remote.Name].
func (s *Stream) Named(name string) journal.Remote {
	l := &Log{s: s, subject: name}
	l.known.Store(&lastMessage{})
	return l
}

// The headers of a message, next to those of JetStream.
const (
	machineHeader = "Lean-Ctx-Machine"
	objectHeader  = "Lean-Ctx-Object" // the commit is this object of the object store
)

// Name is [journal.Remote.Name].
func (l *Log) Name() string { return l.subject }

// Redact is [journal.Redacting.Redact].
func (l *Log) Redact() func(string) string { return l.s.o.Redact }

var _ journal.Redacting = (*Log)(nil)

// Wait is [journal.Remote.Wait].
func (l *Log) Wait() time.Duration { return l.s.o.Wait }

// electing reports whether a cluster has no leader at the moment, or too few servers.
func electing(err error) bool {
	return isCode(err, codeUnavailable, codeNoPeers) || errors.Is(err, nats.ErrNoResponders)
}

// electionTimeout is how long a fetch waits for a leader.
const electionTimeout = 10 * time.Second

// Codes that have no name in the client: a message with the same id is being
// settled, JetStream is temporarily unavailable, and a stream with three
// replicas finds fewer servers.
const (
	codeInProcess   = 10158
	codeUnavailable = 10008
	codeNoPeers     = 10005
)

// Codes of a server without room: the account's limit, the server's, its storage, and the stream's limit.
const (
	codeAccountFull = 10002
	codeServerFull  = 10023
	codeStorageFull = 10047
	codeStreamFull  = 10077
)

func full(err error) bool {
	return isCode(err, codeAccountFull, codeServerFull, codeStorageFull, codeStreamFull)
}

func isCode(err error, codes ...jetstream.ErrorCode) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	for _, c := range codes {
		if ok && api.ErrorCode == c {
			return true
		}
	}
	return false
}

const (
	firstAnswer   = 250 * time.Millisecond // how long a publish waits before it is repeated, doubled each time
	longestAnswer = 4 * time.Second
	firstPause    = 10 * time.Millisecond
	longestPause  = 500 * time.Millisecond
)

// Publish is [journal.Remote.Publish].
func (l *Log) Publish(ctx context.Context, last uint64, commit []byte) (uint64, error) {
	d, err := l.s.connected(ctx)
	if err != nil {
		return 0, err
	}
	if d.ahead > maxAhead {
		return 0, fmt.Errorf("%s: this machine's clock is %s ahead of the server's; set the clock, nothing was written", l.s.Where(), d.ahead.Round(time.Minute))
	}
	msg, err := l.message(ctx, d, commit)
	if err != nil {
		return 0, err
	}
	id := l.s.id + "-" + strconv.FormatUint(l.s.ids.Add(1), 10)
	p := publication{l: l, d: d, msg: msg, id: id, last: last, seq: journal.SeqOf(commit)}
	place, err := p.run(ctx)
	if err == nil {
		l.known.Store(&lastMessage{d.connection(), place, id})
	}
	return place, err
}

// message holds a commit, or names the object that does.
func (l *Log) message(ctx context.Context, d *dial, commit []byte) (*nats.Msg, error) {
	m := nats.NewMsg(l.subject)
	m.Header.Set(machineHeader, l.s.o.Machine)
	if int64(len(commit)) < d.nc.MaxPayload()*3/4 {
		m.Data = commit
		return m, nil
	}
	name := fmt.Sprintf("%s%d-%s", l.objects(commitObjects), journal.SeqOf(commit), rand.Text())
	if err := l.s.Put(ctx, name, commit); err != nil {
		return nil, err
	}
	m.Header.Set(objectHeader, name)
	return m, nil
}

// publication is a publish until its outcome is known.
type publication struct {
	l    *Log
	d    *dial
	msg  *nats.Msg
	id   string
	last uint64
	seq  uint64 // the commit's number
	sent bool   // an attempt had no answer: it may still be stored
}

func (p *publication) run(ctx context.Context) (uint64, error) {
	for pause, answer := firstPause, firstAnswer; ; pause, answer = min(2*pause, longestPause), min(2*answer, longestAnswer) {
		place, err := p.try(ctx, answer)
		if err == nil {
			return place, nil
		}
		if !errors.Is(err, errAgain) {
			return 0, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			if p.sent {
				return 0, fmt.Errorf("%s: %w: there was no answer in time; the server may have the commit, the next command shows it: %w", p.l.s.Where(), journal.ErrInDoubt, err)
			}
			return 0, p.l.s.offline(err)
		}
	}
}

// errAgain means that the outcome is not known yet.
var errAgain = errors.New("no answer")

func (p *publication) try(ctx context.Context, answer time.Duration) (uint64, error) {
	once, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	if err := p.checkConnection(once); err != nil {
		return 0, err
	}
	ack, err := p.d.js.PublishMsg(once, p.msg, jetstream.WithMsgID(p.id), jetstream.WithExpectLastSequencePerSubject(p.last), jetstream.WithRetryAttempts(0))
	switch {
	case err == nil:
		return ack.Sequence, nil
	case isCode(err, jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant):
		return p.look(once)
	case isCode(err, codeInProcess) || electing(err) || errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrReconnectBufExceeded):
		return 0, fmt.Errorf("%w: %w", errAgain, err) // it is being settled; or this attempt was not sent, or nobody took it
	case errors.Is(err, nats.ErrConnectionClosed):
		if p.sent {
			return 0, fmt.Errorf("%s: %w: %w", p.l.s.Where(), journal.ErrInDoubt, err)
		}
		return 0, p.l.s.offline(err)
	}
	if _, answered := errors.AsType[*jetstream.APIError](err); answered {
		if p.sent {
			return 0, fmt.Errorf("%w: %w", errAgain, err)
		}
		if full(err) {
			err = fmt.Errorf("%w: %w", journal.ErrFull, err)
		}
		return 0, fmt.Errorf("%s refused the commit, nothing was written: %w", p.l.s.Where(), err)
	}
	p.sent = true
	return 0, fmt.Errorf("%w: %w", errAgain, err)
}

// look finds out what a refused publish means. A message of ours can only be the one right after
// the last. A snapshot of another machine may have replaced both meanwhile.
func (p *publication) look(ctx context.Context) (uint64, error) {
	next, err := p.d.stream.GetMsg(ctx, p.last+1, jetstream.WithGetMsgSubject(p.l.subject))
	switch {
	case err == nil && next.Header.Get(jetstream.MsgIDHeader) == p.id:
		return next.Sequence, nil
	case !p.sent:
		return 0, journal.ErrConflict // a fetch waits until the last message is settled
	case err != nil:
		return 0, fmt.Errorf("%w: %w", errAgain, err) // the last message is being settled
	}
	there := p.seq
	err = p.l.give(ctx, next.Sequence, next.Header, next.Data, func(_ uint64, commit []byte) error {
		there = journal.SeqOf(commit)
		return nil
	})
	switch {
	case errors.Is(err, journal.ErrGone) || err == nil && there > p.seq:
		return 0, fmt.Errorf("%s: %w: the answer was lost, and a snapshot has taken the place of what was written then; look whether it is there", p.l.s.Where(), journal.ErrInDoubt)
	case err != nil:
		return 0, fmt.Errorf("%w: %w", errAgain, err)
	}
	return 0, journal.ErrConflict // another commit has the number
}

// checkConnection makes sure that the stream still ends as we know it. On a new
// connection its server may have been set back.
func (p *publication) checkConnection(ctx context.Context) error {
	at, on := *p.l.known.Load(), p.d.connection()
	switch {
	case at.on == on && at.place == p.last:
		return nil
	case !p.sent:
		return journal.ErrConflict // the fetch that follows compares the last message
	case p.last == 0:
		return nil
	}
	m, err := p.d.stream.GetMsg(ctx, p.last)
	if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	if err != nil || m.Subject != p.l.subject || m.Header.Get(jetstream.MsgIDHeader) != at.id {
		return fmt.Errorf("%s: %w: the connection was lost, and the commit before this one is not there any more", p.l.s.Where(), journal.ErrInDoubt)
	}
	p.l.known.Store(&lastMessage{on, at.place, at.id})
	return nil
}

const (
	singleGets     = 16              // how many messages are requested one by one before a consumer is made
	messageTimeout = 5 * time.Second // how long one message of a consumer may take; the client's own limit of a request
)

// Fetch is [journal.Remote.Fetch].
func (l *Log) Fetch(parent context.Context, from uint64, take func(uint64, []byte) error) error {
	d, err := l.s.connected(parent)
	if err != nil {
		return err
	}
	at := d.connection()
	last, err := l.fetchLast(parent, d, from)
	if err != nil {
		return err
	}
	ctx, cancel := journal.WithoutLockTimeout(parent) // the server answers: each message has its own timeout
	defer cancel()
	if last != nil && last.Sequence == from {
		err = l.give(ctx, last.Sequence, last.Header, last.Data, take)
	} else if last != nil {
		err = l.span(ctx, d, from, last.Sequence, func(at uint64, h nats.Header, data []byte) error { return l.give(ctx, at, h, data, take) })
	}
	if err == nil {
		now := &lastMessage{on: at}
		if last != nil {
			now.place, now.id = last.Sequence, last.Header.Get(jetstream.MsgIDHeader)
		}
		l.known.Store(now)
	}
	if errors.Is(err, journal.ErrOffline) && errors.Is(context.Cause(parent), context.DeadlineExceeded) {
		return l.s.offline(context.DeadlineExceeded) // ctx only says that it was canceled
	}
	return err
}

// fetchLast returns the last message, nil if there is none.
func (l *Log) fetchLast(ctx context.Context, d *dial, from uint64) (*jetstream.RawStreamMsg, error) {
	start, answer := time.Now(), firstAnswer
	for pause := firstPause; ; pause, answer = min(2*pause, longestPause), min(2*answer, longestAnswer) {
		// A request whose connection breaks is never answered, also when there is a new connection.
		once, cancel := context.WithTimeout(ctx, answer)
		m, err := d.stream.GetLastMsgForSubject(once, l.subject)
		cancel()
		lost := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil || !d.nc.IsConnected()
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			m, err = nil, nil
		}
		wait := connectTimeout
		if electing(err) {
			wait = electionTimeout
		}
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			err = fmt.Errorf("%s: %w: the stream was deleted", l.s.Where(), journal.ErrDiverged)
		} else {
			err = l.s.explain(err)
		}
		if err != nil && (lost || wait > connectTimeout) && time.Since(start) < wait {
			err = nil // a connection that was lost is made again, and a leader elected
		} else if err != nil || from == 0 || m != nil && m.Sequence >= from {
			return m, err
		} else if time.Since(start) > l.s.o.Settle {
			return nil, fmt.Errorf("%s: %w: it ends before message %d, which this machine has. Was its disk set back? Nothing is written", l.s.Where(), journal.ErrDiverged, from)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, l.s.offline(ctx.Err())
		}
	}
}

// give passes one message on.
func (l *Log) give(ctx context.Context, place uint64, h nats.Header, data []byte, take func(uint64, []byte) error) error {
	name := h.Get(objectHeader)
	if name == "" {
		return take(place, data)
	}
	var whole []byte
	err := l.s.settled(ctx, func() (err error) {
		whole, err = l.s.Fetch(ctx, name)
		return err
	})
	if err != nil {
		return err
	}
	return take(place, whole)
}

// settled retries try while it returns ErrGone or ErrConflict, for as long as one server of a
// cluster may lag behind the others.
func (s *Stream) settled(ctx context.Context, try func() error) error {
	for start, pause := time.Now(), firstPause; ; pause = min(2*pause, longestPause) {
		err := try()
		if !errors.Is(err, journal.ErrGone) && !errors.Is(err, journal.ErrConflict) || time.Since(start) > s.o.Settle {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return s.offline(ctx.Err())
		}
	}
}

// span gives the messages of this log between two places.
func (l *Log) span(ctx context.Context, d *dial, from, to uint64, each func(uint64, nats.Header, []byte) error) error {
	for range singleGets {
		m, err := d.stream.GetMsg(ctx, max(from, 1), jetstream.WithGetMsgSubject(l.subject))
		if err != nil {
			return l.s.explain(err)
		}
		if err := each(m.Sequence, m.Header, m.Data); err != nil || m.Sequence >= to {
			return err
		}
		from = m.Sequence + 1
	}
	c, err := d.js.OrderedConsumer(ctx, l.s.o.Stream, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{l.subject}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from,
	})
	if err != nil {
		return l.s.explain(err)
	}
	messages, err := c.Messages()
	if err != nil {
		return l.s.explain(err)
	}
	defer messages.Stop()
	for {
		once, cancel := context.WithTimeout(ctx, messageTimeout)
		m, err := messages.Next(jetstream.NextContext(once))
		cancel()
		if err != nil {
			return l.s.explain(err)
		}
		meta, err := m.Metadata()
		if err != nil {
			return l.s.explain(err)
		}
		if err := each(meta.Sequence.Stream, m.Headers(), m.Data()); err != nil || meta.Sequence.Stream >= to {
			return err
		}
	}
}

// redial is how often a follower without a connection looks.
const redial = 2 * time.Second

// Follow is [journal.Remote.Follow]. A subscription says that there is
// something new; it may miss messages, so a follower also looks from time to time.
func (l *Log) Follow(ctx context.Context, changed func() error) {
	news := make(chan struct{}, 1)
	var sub *nats.Subscription
	for first := true; ; first = false {
		wait := l.s.look
		if sub == nil {
			wait = redial
			sub = l.subscribe(ctx, news)
			if first || sub != nil { // it looks after it has subscribed, so that nothing comes in between
				wait = 0
			}
		}
		select {
		case <-ctx.Done():
			if sub != nil {
				_ = sub.Unsubscribe() // the connection may be gone, and the subscription with it
			}
			return
		case <-news:
		case <-time.After(wait):
		}
		l.s.catchUp(ctx, changed)
	}
}

// subscribe has news filled when others publish a message; nil without a connection.
func (l *Log) subscribe(ctx context.Context, news chan<- struct{}) *nats.Subscription {
	d, err := l.s.connected(ctx)
	if err != nil {
		return nil
	}
	sub, err := d.nc.Subscribe(l.subject, func(m *nats.Msg) {
		if strings.HasPrefix(m.Header.Get(jetstream.MsgIDHeader), l.s.id) {
			return
		}
		select {
		case news <- struct{}{}:
		default: // it is full already
		}
	})
	if err != nil {
		return nil
	}
	return sub
}
