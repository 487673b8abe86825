// Package natsserver runs a NATS server with JetStream in this process. It is
// the only importer of nats-server.
//
// Every write is synced before it is acknowledged. The server is for small
// teams and for trying things out; three of them make a cluster.
package natsserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"leanctx/internal/atomicfile"
	"leanctx/internal/journal/jetstream/teamtls"
)

// Options of a [Server].
type Options struct {
	Addr      string // host:port; port 0 is a free one
	Dir       string // where the streams are kept
	Cert, Key string // TLS files; none: connections are not encrypted
	CA        string // clients must have a certificate that this one signed
	TokenFile string // clients, and the other servers of a cluster, must have what is in this file: the seed of an nkey, or a token

	Name    string   // of this server, in a cluster
	Cluster string   // host:port for the other servers; none: no cluster
	Routes  []string // host:port of the other servers

	Logger *slog.Logger // nil: nothing is logged

	MaxPayload int32 // bytes of a message; 8 MiB

	// Free says how much of the disk of Dir is free, and its size; nil asks the system.
	Free func(dir string) (free, size uint64, err error)
}

// Server is a running NATS server.
type Server struct {
	o    *server.Options
	made bool // its certificate is of the token's seed, which each client has
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu  sync.Mutex // held while it is restarted
	s   *server.Server
	err error // why it could not be restarted
}

// startTimeout is how long a server may take to read its streams.
const startTimeout = 30 * time.Second

// Start starts a server. A directory that another server uses is an error.
func Start(o *Options) (*Server, error) {
	host, port, err := hostPort(o.Addr)
	if err != nil {
		return nil, err
	}
	so := &server.Options{
		ServerName: o.Name, Host: host, Port: port, NoSigs: true,
		JetStream: true, StoreDir: o.Dir, SyncAlways: true, MaxPayload: cmp.Or(o.MaxPayload, 8<<20),
	}
	if most := maxFiles() / 2; most > 0 { // whoever may connect takes files, which the streams need too
		so.MaxConn = min(most, server.DEFAULT_MAX_CONNECTIONS)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	_, _, unknown := o.free()
	if unknown == nil { // else NATS keeps its own limit
		so.JetStreamMaxStore = math.MaxInt64 // watch looks at the disk as it is, not as it was at the start
	}
	secret := ""
	if o.TokenFile != "" {
		token, err := atomicfile.ReadSecret(o.TokenFile)
		if err != nil {
			return nil, err
		}
		if secret = strings.TrimSpace(string(token)); secret == "" {
			return nil, fmt.Errorf("%s: there is no token in it", o.TokenFile)
		}
	}
	team := wants(so, secret)
	if so.TLSConfig, err = o.tls(); err != nil {
		return nil, err
	}
	made := so.TLSConfig == nil && team != nil
	if made {
		if so.TLSConfig, err = team.Server(); err != nil {
			return nil, err
		}
		so.TLS, so.TLSTimeout = true, 5
	}
	if o.Cluster != "" {
		if err := o.cluster(so, secret, team); err != nil {
			return nil, err
		}
	}
	s := &Server{o: so, made: made}
	if s.s, err = start(so, o.Logger); err != nil {
		return nil, fmt.Errorf("the server at %s did not start; is the port free, and %s not in use? %w", o.Addr, o.Dir, err)
	}
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	if w := (watch{s: s, o: o}); unknown == nil {
		w.look()
		s.wg.Go(func() { w.loop(ctx) })
	}
	return s, nil
}

func (o *Options) free() (free, size uint64, err error) {
	if o.Free != nil {
		return o.Free(o.Dir)
	}
	return diskFree(o.Dir)
}

func start(o *server.Options, l *slog.Logger) (*server.Server, error) {
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	if l != nil {
		s.SetLoggerV2(logger{l}, false, false, false)
	}
	s.Start()
	if !s.ReadyForConnections(startTimeout) {
		s.Shutdown()
		return nil, errors.New("it is not ready for connections")
	}
	return s, nil
}

// restart restarts the server at the same addresses.
func (s *Server) restart(l *slog.Logger) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.o.Clone()
	if at, ok := s.s.Addr().(*net.TCPAddr); ok {
		o.Port = at.Port // it may have been any
	}
	if at := s.s.ClusterAddr(); at != nil {
		o.Cluster.Port = at.Port
	}
	s.s.Shutdown()
	s.s.WaitForShutdown()
	n, err := start(o, l)
	if err != nil {
		s.err = fmt.Errorf("the server stopped, and could not be started again: %w", err)
		return s.err
	}
	s.s = n
	return nil
}

func (s *Server) now() *server.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.s
}

// NewSeed makes the seed of an nkey, as a token's file may hold.
func NewSeed() ([]byte, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	return pair.Seed()
}

// wants sets what a server asks clients for. The seed of an nkey stays with the client, which signs
// with it what the server sends. So whoever listens in the server's place learns nothing. team is the
// authority that the seed makes. Any other text is a token, which clients send.
func wants(so *server.Options, secret string) (team *teamtls.Authority) {
	pair, err := nkeys.FromSeed([]byte(secret))
	if err == nil {
		var public string
		if public, err = pair.PublicKey(); err == nil {
			if team, err = teamtls.New([]byte(secret)); err == nil {
				so.Nkeys = []*server.NkeyUser{{Nkey: public}}
				return team
			}
		}
	}
	so.Authorization = secret
	return nil
}

// clusterName is also the name with which the servers of a cluster sign in, where a token is no seed.
const clusterName = "lean-ctx"

// ErrNoProof says that the servers of a cluster could not prove to each other who they are.
var ErrNoProof = errors.New("the servers of a cluster cannot prove to each other who they are")

// cluster sets how the servers of a cluster talk to each other. Each proves itself to the other one
// before anything is sent, on one machine too: another user's program may listen in the place of a
// server that is away. What proves it can be repeated by nobody.
func (o *Options) cluster(so *server.Options, secret string, team *teamtls.Authority) (err error) {
	so.ReconnectErrorReports = 60 // of a server that is away, not each of its attempts a second
	c := &so.Cluster
	c.Name = clusterName
	if c.Host, c.Port, err = hostPort(o.Cluster); err != nil {
		return err
	}
	c.TLSTimeout = 5 // seconds
	var user *url.Userinfo
	switch {
	case team != nil:
		if c.TLSConfig, err = team.Peers(); err != nil {
			return err
		}
	case o.Cert != "" && o.CA != "":
		c.TLSConfig = so.TLSConfig.Clone()
		c.TLSConfig.RootCAs = c.TLSConfig.ClientCAs // each is also the client of the others
		if secret != "" {
			c.Username, c.Password = clusterName, secret
			user = url.UserPassword(c.Username, c.Password)
		}
	default:
		return ErrNoProof
	}
	for _, r := range o.Routes {
		so.Routes = append(so.Routes, &url.URL{Scheme: "nats-route", User: user, Host: r})
	}
	return nil
}

func (o *Options) tls() (*tls.Config, error) {
	if o.Cert == "" {
		if o.Key != "" || o.CA != "" {
			return nil, errors.New("TLS needs a certificate and its key")
		}
		return nil, nil
	}
	return server.GenTLSConfig(&server.TLSConfigOpts{CertFile: o.Cert, KeyFile: o.Key, CaFile: o.CA, Verify: o.CA != "", Timeout: 5})
}

func hostPort(addr string) (string, int, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%s: %q is no port", addr, port)
	}
	if n == 0 {
		return host, server.RANDOM_PORT, nil
	}
	return host, int(n), nil
}

// URL is where clients connect.
func (s *Server) URL() string {
	u := s.now().ClientURL()
	if s.made {
		u = strings.Replace(u, "tls://", "nats://", 1)
	}
	return u
}

// Cluster is where the other servers of the cluster connect; empty without one.
func (s *Server) Cluster() string {
	if a := s.now().ClusterAddr(); a != nil {
		return a.String()
	}
	return ""
}

// Wait returns when ctx ends or the server stops by itself. Then it may say why.
func (s *Server) Wait(ctx context.Context) error {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for last := (*server.Server)(nil); last != s.now(); {
			last = s.now()
			last.WaitForShutdown()
		}
	}()
	select {
	case <-ctx.Done():
		return nil
	case <-stopped:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.err
	}
}

// Close stops the server. What it acknowledged is on disk.
func (s *Server) Close() {
	s.stop()
	s.wg.Wait()
	last := s.now()
	last.Shutdown()
	last.WaitForShutdown()
}

// logger passes the server's notes on.
type logger struct{ l *slog.Logger }

func (l logger) Noticef(format string, v ...any) { l.l.Info(fmt.Sprintf(format, v...)) }
func (l logger) Warnf(format string, v ...any)   { l.l.Warn(fmt.Sprintf(format, v...)) }
func (l logger) Fatalf(format string, v ...any)  { l.l.Error(fmt.Sprintf(format, v...)) }
func (l logger) Errorf(format string, v ...any)  { l.l.Error(fmt.Sprintf(format, v...)) }
func (l logger) Debugf(format string, v ...any)  { l.l.Debug(fmt.Sprintf(format, v...)) }
func (l logger) Tracef(format string, v ...any)  {}
