package jetstream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"leanctx/internal/atomicfile"
	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream/teamtls"
)

// Server says where the servers are and how to sign in. It holds names of
// files, no secrets.
type Server struct {
	URL       string `json:"server"`               // nats://host:4222, or tls://; several, comma-separated
	Creds     string `json:"creds,omitempty"`      // a credentials file: JWT and nkey seed
	NKey      string `json:"nkey,omitempty"`       // a file with an nkey seed
	TokenFile string `json:"token_file,omitempty"` // a file with the seed of an nkey, or a token
	CA        string `json:"ca,omitempty"`         // certificates that sign the servers'
	Cert      string `json:"cert,omitempty"`       // our own certificate, and its key
	Key       string `json:"key,omitempty"`
}

// Project is what the stream's metadata says of its project.
type Project struct {
	Hash         string   // the project's hash on the machine that made the stream, and in its commits
	ID           string   // its identity, if it does not depend on a path
	FirstCommits []string // of its Git history
}

// Options of a [Stream].
type Options struct {
	Server
	Stream  string           // the stream's name
	Machine string           // this machine's name, of letters, digits and hyphens; the host's
	Now     func() time.Time // the clock; time.Now
	Wait    time.Duration    // how long a view of a log waits for newer commits; 0: it fetches none
	Settle  time.Duration    // how long after a failure the stream may seem to end too early; 2 s
	Each    uint64           // in a stream that it makes, a log gets a new snapshot after that number of commits; 4096

	Redact func(text string) string // applied to every text of a commit before it is folded; nil: none

	Unproven bool // it joined when a server had no certificate of the token: where the server offers no TLS it goes on without

	SawTLS bool   // the servers were reached by TLS before: no other connection is made
	OnTLS  func() // called once when they are reached by TLS for the first time; may be nil
}

// Stream is the stream of one project. It connects when it is first used. It
// may be used by several goroutines.
type Stream struct {
	o   Options
	id  string // begins each message id of ours
	ids atomic.Uint64

	look     time.Duration // how often a follower looks when no message says that there is something new
	reported atomic.Int64  // when a follower last reported what this machine has, in Unix nanoseconds

	mu     sync.Mutex
	dial   *dial
	closed bool
}

// dial is a connection, or the attempt to make one.
type dial struct {
	done   chan struct{} // closed when the fields below are set, which do not change from then on
	nc     *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	ahead  time.Duration // of our clock before the server's
	err    error
	failed time.Time
}

// format is the version of what is in the stream. It changes with the schema of any log. Formats 1
// and 2 were those of versions before the first release.
const format = 3

// The members of a stream's metadata that are ours.
const (
	formatKey  = "lean-ctx"
	projectKey = "lean-ctx-project"
	idKey      = "lean-ctx-id"
	firstKey   = "lean-ctx-first-commits"
	eachKey    = "lean-ctx-snapshot-each" // after how many commits a log gets a new snapshot
)

const (
	connectTimeout = 2 * time.Second
	redialAfter    = time.Second   // how long a failed attempt counts
	duplicates     = 2 * time.Hour // how long a server knows message ids
	maxAhead       = time.Hour     // how far our clock may be ahead of the server's
)

// Open returns the stream with the name. Nothing is connected yet.
func Open(o *Options) *Stream {
	s := &Stream{o: *o, id: rand.Text(), look: 10 * time.Second}
	s.o.Settle = cmp.Or(s.o.Settle, 2*time.Second)
	if s.o.Now == nil {
		s.o.Now = time.Now
	}
	if s.o.Machine == "" {
		s.o.Machine, _ = os.Hostname() // without one, messages name no machine
	}
	return s
}

// Close closes the connection. An attempt to make one is not waited for.
func (s *Stream) Close() error {
	s.mu.Lock()
	d := s.dial
	s.closed, s.dial = true, nil
	s.mu.Unlock()
	if d == nil {
		return nil
	}
	select {
	case <-d.done:
		if d.nc != nil {
			d.nc.Close()
		}
	default: // connect closes what it makes
	}
	return nil
}

// Where names the stream and its server, for messages.
func (s *Stream) Where() string {
	return fmt.Sprintf("team %s at %s", s.o.Stream, strings.ReplaceAll(s.o.URL, "nats://", ""))
}

// connected returns the connection to an existing stream of ours.
func (s *Stream) connected(ctx context.Context) (*dial, error) {
	d, err := s.dialed(ctx)
	if err != nil {
		return nil, err
	}
	if d.stream == nil {
		return nil, fmt.Errorf("%s: %w: there is no such stream; was it deleted, or the server's disk set back?", s.Where(), journal.ErrDiverged)
	}
	return d, nil
}

// dialed returns the connection. One attempt is made at a time. It continues when
// the context of a waiting caller ends.
func (s *Stream) dialed(ctx context.Context) (*dial, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, journal.ErrClosed
	}
	d := s.dial
	if d != nil && !d.failed.IsZero() && time.Since(d.failed) > redialAfter {
		d = nil
	}
	if d == nil {
		d = &dial{done: make(chan struct{})}
		s.dial = d
		go s.connect(d)
	}
	s.mu.Unlock()
	select {
	case <-d.done:
		return d, d.err
	case <-ctx.Done():
		return nil, s.offline(ctx.Err())
	}
}

func (s *Stream) connect(d *dial) {
	nc, err := s.connectServer()
	if err == nil {
		d.nc = nc
		err = d.find(s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.closed {
		err = journal.ErrClosed
	}
	if err != nil && nc != nil {
		nc.Close()
		d.nc = nil
	}
	if err != nil {
		d.err, d.failed = s.explain(err), time.Now()
	}
	close(d.done)
}

func (s *Stream) connectServer() (*nats.Conn, error) {
	o := []nats.Option{
		nats.Name("lean-ctx"), nats.Timeout(connectTimeout), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond),
		nats.ReconnectBufSize(-1), // a publish without a connection fails, so we know that it was not sent
		nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		nats.IgnoreDiscoveredServers(), // only those that were named: a server that has proven nothing names others
	}
	o = append(o, nats.SkipHostLookup(), nats.SetCustomDialer(here{net.Dialer{Timeout: connectTimeout}}))
	if s.o.Creds != "" {
		o = append(o, nats.UserCredentials(s.o.Creds))
	}
	seed := s.o.NKey
	var team *teamtls.Authority
	if s.o.TokenFile != "" {
		token, err := atomicfile.ReadSecret(s.o.TokenFile)
		if err != nil {
			return nil, err
		}
		if token = bytes.TrimSpace(token); teamtls.IsSeed(token) {
			seed = s.o.TokenFile
			if team, err = teamtls.New(token); err != nil {
				return nil, err
			}
		} else {
			o = append(o, nats.Token(strings.TrimSpace(string(token))))
		}
	}
	if seed != "" {
		k, err := nats.NkeyOptionFromSeed(seed)
		if err != nil {
			return nil, err
		}
		o = append(o, k)
	}
	if s.o.CA != "" {
		o = append(o, nats.RootCAs(s.o.CA))
	}
	if s.o.Cert != "" {
		o = append(o, nats.ClientCert(s.o.Cert, s.o.Key))
	}
	if s.onlyTLS() || team != nil && !s.o.Unproven {
		o = append(o, nats.Secure())
	}
	var wanted atomic.Bool
	o = append(o, s.certificate(&wanted))
	if team != nil { // the server proves that it has the token, before anything is sent
		var trusted *x509.CertPool
		if s.o.CA != "" {
			var err error
			if trusted, err = roots(s.o.CA); err != nil {
				return nil, err
			}
		}
		o = append(o, func(o *nats.Options) error {
			team.Check(o.TLSConfig, trusted)
			return nil
		})
	}
	nc, err := nats.Connect(s.o.URL, o...)
	if err != nil {
		err = unproven{err}
	}
	if err != nil && wanted.Load() {
		err = s.refusedCertificate(err)
	}
	if err == nil && !s.o.SawTLS && s.o.OnTLS != nil {
		if _, plain := nc.TLSConnectionState(); plain == nil {
			s.o.OnTLS()
		}
	}
	return nc, err
}

// here dials localhost as 127.0.0.1, where a server listens: at ::1 another user's program could hand
// on what both sides say, and be let in in our place.
type here struct{ net.Dialer }

func (d here) Dial(network, address string) (net.Conn, error) {
	if host, port, err := net.SplitHostPort(address); err == nil && strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		address = net.JoinHostPort("127.0.0.1", port)
	}
	c, err := d.Dialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &guarded{Conn: c}, nil
}

// onlyTLS reports whether a connection without TLS is refused, before anything is sent: where
// there was TLS before, where a file for TLS was named, and where a secret would leave this machine.
func (s *Stream) onlyTLS() bool {
	secret := s.o.Creds != "" || s.o.NKey != "" || s.o.TokenFile != ""
	return s.o.SawTLS || s.o.CA != "" || s.o.Cert != "" || secret && !s.o.loopback()
}

// loopback reports whether all servers are on this machine.
func (s Server) loopback() bool {
	for one := range strings.SplitSeq(s.URL, ",") {
		u, err := url.Parse(one)
		if err != nil {
			return false
		}
		ip, err := netip.ParseAddr(u.Hostname())
		if u.Hostname() != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
			return false
		}
	}
	return true
}

// certificate has wanted report whether a server wanted to see a certificate of ours.
func (s *Stream) certificate(wanted *atomic.Bool) nats.Option {
	return func(o *nats.Options) error {
		if o.TLSConfig == nil {
			o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		o.TLSConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			wanted.Store(true)
			if s.o.Cert == "" {
				return &tls.Certificate{}, nil
			}
			c, err := tls.LoadX509KeyPair(s.o.Cert, s.o.Key)
			return &c, err
		}
		return nil
	}
}

// What a server says that asked for a certificate of ours.
var (
	errNoCertificate      = errors.New("the server wants a client certificate; join with --cert and --key")
	errCertificateRefused = errors.New("the server refuses the certificate")
)

// refusedCertificate explains the error of such a server. Without a certificate of ours there is no
// other reason: NATS asks nobody whom it would let in without. With one, the server either sends
// an alert, or the connection ends right after the handshake.
func (s *Stream) refusedCertificate(err error) error {
	if s.o.Cert == "" {
		return fmt.Errorf("%w: %w", errNoCertificate, err)
	}
	at, network := errors.AsType[*net.OpError](err)
	if alert := network && at.Op == "remote error"; alert || errors.Is(err, nats.ErrTLS) && !(network && at.Timeout()) { // crypto/tls calls an alert so
		return fmt.Errorf("%w in %s: %w", errCertificateRefused, s.o.Cert, err)
	}
	return err
}

// find looks for the stream and checks that it is ours.
func (d *dial) find(s *Stream) (err error) {
	if d.js, err = jetstream.New(d.nc); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	stream, err := d.js.Stream(ctx, s.o.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	info := stream.CachedInfo()
	if err := s.check(info); err != nil {
		return err
	}
	d.stream, d.ahead = stream, s.o.Now().Sub(info.TimeStamp)
	return nil
}

// check refuses a stream that is not one of ours.
func (s *Stream) check(info *jetstream.StreamInfo) error {
	made, ok := info.Config.Metadata[formatKey]
	n, err := strconv.Atoi(made)
	switch {
	case !ok || err != nil || !slices.Contains(info.Config.Subjects, s.subject(">")):
		return fmt.Errorf("%s: %w: the stream was made by another program; choose another name", s.Where(), journal.ErrForeign)
	case n > format:
		return fmt.Errorf("%s: %w: its format is %d, this program knows %d; install a newer one", s.Where(), journal.ErrNewer, n, format)
	case n < format:
		return fmt.Errorf("%s: %w or by an early version of this one: its format is %d; leave the team and join under another name with --project", s.Where(), journal.ErrForeign, n)
	}
	return nil
}

func (s *Stream) subject(log string) string { return "leanctx." + s.o.Stream + "." + log }

func (s *Stream) bucket() string { return "leanctx-" + s.o.Stream }

// OtherProjectError says that a stream is that of another project.
type OtherProjectError struct{ Where, Theirs, Ours string }

func (e *OtherProjectError) Error() string {
	return fmt.Sprintf("%s is another project's: %s there, %s here; choose another name with --project", e.Where, e.Theirs, e.Ours)
}

// Join finds the stream of a project, or makes it. It returns the project as
// the stream knows it. Two projects are the same if they share a first commit
// or the identity. If neither can be compared, sure decides.
func (s *Stream) Join(ctx context.Context, p Project, sure bool) (joined Project, made bool, err error) {
	d, err := s.dialed(ctx)
	if err != nil {
		return p, false, err
	}
	if d.stream == nil {
		if d, err = s.create(ctx, d, p); err != nil {
			return p, false, err
		}
		made = true
	}
	theirs := projectOf(d.stream.CachedInfo())
	if made && theirs.Hash != p.Hash {
		made = false // another machine made it at the same time
	}
	if same(theirs, p, sure) {
		return theirs, made, nil
	}
	return p, false, &OtherProjectError{s.Where(), theirs.describe(), p.describe()}
}

func projectOf(info *jetstream.StreamInfo) Project {
	m := info.Config.Metadata
	return Project{Hash: m[projectKey], ID: m[idKey], FirstCommits: strings.Fields(m[firstKey])}
}

// same compares what both know, the first commits first.
func same(a, b Project, sure bool) bool {
	switch {
	case len(a.FirstCommits) > 0 && len(b.FirstCommits) > 0:
		return slices.ContainsFunc(a.FirstCommits, func(c string) bool { return slices.Contains(b.FirstCommits, c) })
	case a.ID != "" && b.ID != "":
		return a.ID == b.ID
	}
	return sure || a.Hash == b.Hash
}

func (p Project) describe() string {
	switch {
	case len(p.FirstCommits) > 0:
		return fmt.Sprintf("first commit %.12s", p.FirstCommits[0])
	case p.ID != "":
		return "identity " + p.ID
	}
	return "project " + p.Hash
}

// create makes the stream. It returns the connection that knows it.
func (s *Stream) create(ctx context.Context, d *dial, p Project) (*dial, error) {
	replicas := 1
	if d.nc.ConnectedClusterName() != "" {
		replicas = 3
	}
	c := jetstream.StreamConfig{
		Name: s.o.Stream, Description: "a project's memory, kept by lean-ctx", Subjects: []string{s.subject(">")},
		Storage: jetstream.FileStorage, Replicas: replicas, Duplicates: duplicates,
		Discard:  jetstream.DiscardNew, // a full stream refuses, and forgets nothing
		Metadata: map[string]string{formatKey: strconv.Itoa(format), projectKey: p.Hash, idKey: p.ID, firstKey: strings.Join(p.FirstCommits, " ")},
	}
	if s.o.Each > 0 {
		c.Metadata[eachKey] = strconv.FormatUint(s.o.Each, 10)
	}
	stream, err := d.js.CreateStream(ctx, c)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another machine makes it too
		stream, err = d.js.Stream(ctx, s.o.Stream)
	}
	if err != nil {
		return nil, s.explain(err)
	}
	if err := s.check(stream.CachedInfo()); err != nil {
		return nil, err
	}
	if _, err := d.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: s.bucket(), Replicas: replicas}); err != nil {
		return nil, s.explain(err)
	}
	found := *d
	found.stream, found.ahead = stream, s.o.Now().Sub(stream.CachedInfo().TimeStamp)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dial == d { // not closed meanwhile
		s.dial = &found
	}
	return &found, nil
}

func (s *Stream) offline(err error) error {
	return fmt.Errorf("%s: %w: %w", s.Where(), journal.ErrOffline, err)
}

// explain names the server, and reports whether it gave an answer.
func (s *Stream) explain(err error) error {
	if err == nil || errors.Is(err, journal.ErrOffline) || errors.Is(err, journal.ErrForeign) || errors.Is(err, journal.ErrNewer) {
		return err
	}
	if _, ok := err.(said); !ok {
		err = said{err}
	}
	files := cmp.Or(s.o.Creds, s.o.NKey, s.o.TokenFile)
	switch {
	case errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) || errors.Is(err, nats.ErrAccountAuthExpired):
		return fmt.Errorf("%s: the credentials in %s have expired; ask for new ones: %w", s.Where(), files, err)
	case errors.Is(err, nats.ErrAuthorization) && expired(s.o.Creds, s.o.Now()):
		return fmt.Errorf("%s: the credentials in %s have expired; ask for new ones: %w", s.Where(), files, err)
	case errors.Is(err, nats.ErrAuthorization):
		if files == "" {
			return fmt.Errorf("%s: the server wants credentials; join with --creds, --nkey or --token-file: %w", s.Where(), err)
		}
		return fmt.Errorf("%s: the server refuses the credentials in %s: %w", s.Where(), files, err)
	case errors.Is(err, nats.ErrSecureConnWanted):
		why := "the one that has this token does; start `lean-ctx team serve` there again, with the newest version"
		switch {
		case s.o.SawTLS:
			why = "it was reached by TLS before"
		case !s.o.loopback():
			why = "credentials go to another machine only over TLS"
		}
		return fmt.Errorf("%s: the server does not offer TLS, and %s; nothing was sent: %w", s.Where(), why, err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%s: the server has no JetStream: %w", s.Where(), err)
	case full(err):
		return fmt.Errorf("%s: %w: %w", s.Where(), journal.ErrFull, err)
	case errors.Is(err, errNoCertificate) || errors.Is(err, errCertificateRefused):
		return fmt.Errorf("%s: %w", s.Where(), err)
	}
	for _, gone := range []error{
		nats.ErrNoServers, nats.ErrTimeout, nats.ErrConnectionClosed, nats.ErrConnectionReconnecting, nats.ErrDisconnected, nats.ErrNoResponders,
		nats.ErrReconnectBufExceeded, nats.ErrStaleConnection, context.DeadlineExceeded, context.Canceled, jetstream.ErrNoStreamResponse, io.EOF,
	} {
		if errors.Is(err, gone) {
			return s.offline(err)
		}
	}
	if _, ok := errors.AsType[net.Error](err); ok || electing(err) {
		return s.offline(err)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		if s.o.TokenFile != "" {
			return fmt.Errorf("%s: the server's certificate is refused: it was not made of the token in %s; take the server's own (DIR/token), or name the signer of another certificate with --ca: %w", s.Where(), s.o.TokenFile, err)
		}
		return fmt.Errorf("%s: the server's certificate is refused; name its signer with --ca, or the server's token with --token-file: %w", s.Where(), err)
	}
	return fmt.Errorf("%s: %w", s.Where(), err)
}

// expired reports whether a credentials file has expired. A server says of
// such a file only that it refuses it.
func expired(creds string, now time.Time) bool {
	text, err := os.ReadFile(creds)
	if err != nil {
		return false
	}
	token, err := jwt.ParseDecoratedJWT(text)
	if err != nil {
		return false
	}
	claims, err := jwt.DecodeUserClaims(token)
	return err == nil && claims.Expires > 0 && now.Unix() >= claims.Expires
}
