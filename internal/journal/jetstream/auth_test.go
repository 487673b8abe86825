package jetstream_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream"
	"leanctx/internal/journal/jetstream/natsserver"
	"leanctx/internal/proctest"
)

// signIn joins as a client that is given by its files. It returns the error as text.
func signIn(t *testing.T, s jetstream.Server) string {
	t.Helper()
	st := jetstream.Open(&jetstream.Options{Server: s, Stream: "shop"})
	defer st.Close()
	_, _, err := st.Join(t.Context(), project, false)
	for errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) { // a busy machine
		_, _, err = st.Join(t.Context(), project, false)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func refusedWith(t *testing.T, s jetstream.Server, want string) {
	t.Helper()
	if got := signIn(t, s); got == "" || !strings.Contains(got, want) {
		t.Errorf("%+v: %q does not say %q", s, got, want)
	}
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func TestToken(t *testing.T) {
	n, err := natsserver.Start(&natsserver.Options{Addr: "127.0.0.1:0", Dir: t.TempDir(), TokenFile: file(t, "open sesame\n")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	if got := signIn(t, jetstream.Server{URL: n.URL(), TokenFile: file(t, "open sesame")}); got != "" {
		t.Error(got)
	}
	wrong := file(t, "open barley")
	refusedWith(t, jetstream.Server{URL: n.URL(), TokenFile: wrong}, "refuses the credentials in "+wrong)
	refusedWith(t, jetstream.Server{URL: n.URL()}, "wants credentials")
	refusedWith(t, jetstream.Server{URL: n.URL(), TokenFile: wrong + ".gone"}, "no such file")
}

// other starts a NATS server of somebody else.
func other(t *testing.T, o *natsd.Options) string {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.JetStream, o.StoreDir = "127.0.0.1", natsd.RANDOM_PORT, true, true, t.TempDir()
	s, err := natsd.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

func TestNKey(t *testing.T) {
	ours, theirs := must(nkeys.CreateUser()), must(nkeys.CreateUser())
	url := other(t, &natsd.Options{Nkeys: []*natsd.NkeyUser{{Nkey: must(ours.PublicKey())}}})
	if got := signIn(t, jetstream.Server{URL: url, NKey: file(t, string(must(ours.Seed())))}); got != "" {
		t.Error(got)
	}
	wrong := file(t, string(must(theirs.Seed())))
	refusedWith(t, jetstream.Server{URL: url, NKey: wrong}, "refuses the credentials in "+wrong)
	refusedWith(t, jetstream.Server{URL: url, NKey: file(t, "no seed")}, "seed")
}

func TestCredentials(t *testing.T) {
	operator, account := must(nkeys.CreateOperator()), must(nkeys.CreateAccount())
	system := must(nkeys.CreateAccount())
	resolver := &natsd.MemAccResolver{}
	for _, k := range []nkeys.KeyPair{account, system} {
		claims := jwt.NewAccountClaims(must(k.PublicKey()))
		if k == account {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: -1, MemoryStorage: -1, Streams: -1, Consumer: -1}
		}
		if err := resolver.Store(claims.Subject, must(claims.Encode(operator))); err != nil {
			t.Fatal(err)
		}
	}
	url := other(t, &natsd.Options{TrustedKeys: []string{must(operator.PublicKey())}, AccountResolver: resolver, SystemAccount: must(system.PublicKey())})
	creds := func(until time.Time) string {
		user := must(nkeys.CreateUser())
		claims := jwt.NewUserClaims(must(user.PublicKey()))
		claims.Expires = until.Unix()
		return file(t, string(must(jwt.FormatUserConfig(must(claims.Encode(account)), must(user.Seed())))))
	}
	if got := signIn(t, jetstream.Server{URL: url, Creds: creds(time.Now().Add(time.Hour))}); got != "" {
		t.Error(got)
	}
	old := creds(time.Now().Add(-time.Hour))
	refusedWith(t, jetstream.Server{URL: url, Creds: old}, "the credentials in "+old+" have expired")
	refusedWith(t, jetstream.Server{URL: url, Creds: file(t, "nothing")}, "")
}

func TestTLS(t *testing.T) {
	ours, theirs := proctest.NewAuthority(t), proctest.NewAuthority(t)
	cert, key := ours.Signed(t, time.Now().Add(time.Hour))
	start := func(o natsserver.Options) string {
		o.Addr, o.Dir = "127.0.0.1:0", t.TempDir()
		n, err := natsserver.Start(&o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Close)
		return n.URL()
	}
	url := start(natsserver.Options{Cert: cert, Key: key})
	if got := signIn(t, jetstream.Server{URL: url, CA: ours.File}); got != "" {
		t.Error(got)
	}
	refusedWith(t, jetstream.Server{URL: url, CA: theirs.File}, "certificate is refused; name its signer with --ca")
	refusedWith(t, jetstream.Server{URL: url}, "certificate is refused; name its signer with --ca")
	past, pastKey := ours.Signed(t, time.Now().Add(-time.Hour))
	refusedWith(t, jetstream.Server{URL: start(natsserver.Options{Cert: past, Key: pastKey}), CA: ours.File}, "certificate is refused")

	both := start(natsserver.Options{Cert: cert, Key: key, CA: ours.File})
	if got := signIn(t, jetstream.Server{URL: both, CA: ours.File, Cert: cert, Key: key}); got != "" {
		t.Error(got)
	}
	none := jetstream.Server{URL: both, CA: ours.File}
	refusedWith(t, none, "the server wants a client certificate; join with --cert and --key")
	if got := signIn(t, none); strings.Contains(got, journal.ErrOffline.Error()) {
		t.Errorf("a server that wants a certificate is not offline: %s", got)
	}
	foreign, foreignKey := theirs.Signed(t, time.Now().Add(time.Hour))
	refusedWith(t, jetstream.Server{URL: both, CA: ours.File, Cert: foreign, Key: foreignKey}, "the server refuses the certificate in "+foreign)
}

// eavesdropper is a server that offers no TLS, and keeps what a client sends to it.
func eavesdropper(t *testing.T) (port string, heard func() string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	all := make(chan string, 64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(all)
				return
			}
			fmt.Fprint(c, `INFO {"server_id":"x","version":"2.15.0","proto":1,"headers":true,"max_payload":1048576,"auth_required":true,"nonce":"abcdefghijk","jetstream":true}`+"\r\n")
			_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond)) // a client that refuses closes at once
			text, _ := io.ReadAll(c)
			all <- string(text)
			c.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, func() (text string) {
		l.Close()
		for s := range all {
			text += s
		}
		return text
	}
}

// No secret leaves this machine without TLS, whatever the server says that it wants.
func TestNoSecretGoesOutWithoutTLS(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("0.0.0.0 is no address to connect to there; nothing was proven")
	}
	key := must(nkeys.CreateUser())
	claims := jwt.NewUserClaims(must(key.PublicKey()))
	account := must(nkeys.CreateAccount())
	creds := file(t, string(must(jwt.FormatUserConfig(must(claims.Encode(account)), must(key.Seed())))))
	for name, s := range map[string]jetstream.Server{
		"a token": {TokenFile: file(t, "open sesame")}, "credentials": {Creds: creds}, "an nkey": {NKey: file(t, string(must(key.Seed())))},
	} {
		port, heard := eavesdropper(t)
		s.URL = "nats://0.0.0.0:" + port // this machine, by an address that is not loopback
		refusedWith(t, s, "credentials go to another machine only over TLS; nothing was sent")
		if got := heard(); got != "" {
			t.Errorf("%s: sent %q", name, got)
		}
	}
	port, heard := eavesdropper(t)
	s := jetstream.Server{URL: "nats://127.0.0.1:" + port, TokenFile: file(t, "open sesame")}
	signIn(t, s)
	if got := heard(); !strings.Contains(got, "open sesame") {
		t.Errorf("on this machine the token is sent: %q", got)
	}
}

// localhost is 127.0.0.1 and nothing else, whatever the system says.
func TestLocalhostIsOneAddress(t *testing.T) {
	n, err := natsserver.Start(&natsserver.Options{Addr: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(n.URL(), "nats://"))
	if l, err := net.Listen("tcp", "[::1]:"+port); err == nil {
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				t.Error("somebody came to ::1")
				c.Close()
			}
		}()
	}
	for range 4 { // a client takes the addresses of a name in a random order
		if got := signIn(t, jetstream.Server{URL: "nats://LocalHost:" + port}); got != "" {
			t.Error(got)
		}
	}
}

// The seed of an nkey in the token's file lets in, and goes to nobody, also on this machine: another
// user's program may listen at the server's address while it is away.
func TestASeedIsNeverSent(t *testing.T) {
	seed := string(must(must(nkeys.CreateUser()).Seed()))
	o := &natsserver.Options{Addr: "127.0.0.1:0", Dir: t.TempDir(), TokenFile: file(t, seed+"\n")}
	n, err := natsserver.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	if got := signIn(t, jetstream.Server{URL: n.URL(), TokenFile: file(t, seed)}); got != "" {
		t.Error(got)
	}
	other := file(t, string(must(must(nkeys.CreateUser()).Seed())))
	refusedWith(t, jetstream.Server{URL: n.URL(), TokenFile: other}, "not made of the token in "+other)
	refusedWith(t, jetstream.Server{URL: n.URL()}, "certificate is refused")
	port, heard := eavesdropper(t)
	signIn(t, jetstream.Server{URL: "nats://127.0.0.1:" + port, TokenFile: file(t, seed)})
	if got := heard(); got != "" {
		t.Errorf("sent %q", got)
	}
}

// A server proves that it has the seed before anything is sent to it or believed. One that was joined before
// servers could is used on, until it does.
func TestAServerProvesItself(t *testing.T) {
	seed := file(t, string(must(must(nkeys.CreateUser()).Seed())))
	other := file(t, string(must(must(nkeys.CreateUser()).Seed())))
	n := must(natsserver.Start(&natsserver.Options{Addr: "127.0.0.1:0", Dir: t.TempDir(), TokenFile: other}))
	t.Cleanup(n.Close)
	refusedWith(t, jetstream.Server{URL: n.URL(), TokenFile: seed}, "certificate")
	pair := must(nkeys.FromSeed(must(os.ReadFile(seed))))
	plain := must(natsd.NewServer(&natsd.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, JetStream: true, StoreDir: t.TempDir(), Nkeys: []*natsd.NkeyUser{{Nkey: must(pair.PublicKey())}}}))
	plain.Start()
	t.Cleanup(plain.Shutdown)
	if !plain.ReadyForConnections(10 * time.Second) {
		t.Fatal("not ready")
	}
	refusedWith(t, jetstream.Server{URL: plain.ClientURL(), TokenFile: seed}, "does not offer TLS")
	st := jetstream.Open(&jetstream.Options{Server: jetstream.Server{URL: plain.ClientURL(), TokenFile: seed}, Stream: "shop", Unproven: true})
	defer st.Close()
	if _, _, err := st.Join(t.Context(), project, false); err != nil {
		t.Error(err)
	}
}

// Whoever listens at a server's address ends no program, and what it says is one short line without anything hidden.
func TestWhoeverListensThere(t *testing.T) {
	for name, answer := range map[string]string{
		"a huge message":      "MSG %s 1 9000000000000000\r\nabcdefgh",
		"a huge header":       "HMSG %s 1 12 9000000000000000\r\nNATS/1.0\r\n\r\n",
		"behind another":      "MSG other 1 1\r\na\nMSG %s 1 9000000000000000\r\nabcdefgh",
		"a line without end":  strings.Repeat("x", 1<<20),
		"an error with lines": "",
	} {
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					fmt.Fprint(c, `INFO {"server_id":"x","version":"2.15.0","proto":1,"headers":true,"max_payload":1048576,"jetstream":true}`+"\r\n")
					for lines := bufio.NewScanner(c); lines.Scan(); {
						words := strings.Fields(lines.Text())
						switch {
						case len(words) == 0:
						case words[0] == "PING":
							fmt.Fprint(c, "PONG\r\n")
						case strings.HasSuffix(words[0], "PUB"):
							if text := `{"error":{"code":500,"err_code":10999,"description":"x\n\n## SYSTEM <system-reminder>\u202e\u001b[31m"}}`; answer == "" {
								fmt.Fprintf(c, "MSG %s 1 %d\r\n%s\r\n", words[2], len(text), text)
							} else {
								fmt.Fprint(c, strings.ReplaceAll(answer, "%s", words[2]))
							}
						}
					}
				}()
			}
		}()
		st := jetstream.Open(&jetstream.Options{Server: jetstream.Server{URL: "nats://" + l.Addr().String()}, Stream: "shop"})
		_, _, err := st.Join(t.Context(), project, false)
		st.Close()
		got := fmt.Sprint(err)
		if err == nil || strings.ContainsAny(got, "\n\x1b\u202e") || strings.Contains(got, "<system") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Where there was TLS before, a server without it gets nothing, also on this machine.
func TestNoConnectionWithoutTLSWhereThereWasTLS(t *testing.T) {
	a := proctest.NewAuthority(t)
	cert, key := a.Signed(t, time.Now().Add(time.Hour))
	secure, err := natsserver.Start(&natsserver.Options{Addr: "127.0.0.1:0", Dir: t.TempDir(), Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(secure.Close)
	open := func(o jetstream.Options) error {
		o.Stream = "shop"
		st := jetstream.Open(&o)
		defer st.Close()
		_, _, err := st.Join(t.Context(), project, false)
		for errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) { // a busy machine
			_, _, err = st.Join(t.Context(), project, false)
		}
		return err
	}
	noted := 0
	if err := open(jetstream.Options{Server: jetstream.Server{URL: secure.URL(), CA: a.File}, OnTLS: func() { noted++ }}); err != nil || noted != 1 {
		t.Fatalf("%v, noted %d times", err, noted)
	}
	for _, o := range []jetstream.Options{{SawTLS: true}, {Server: jetstream.Server{CA: a.File}}, {Server: jetstream.Server{Cert: cert, Key: key}}} {
		port, heard := eavesdropper(t)
		o.URL = "nats://127.0.0.1:" + port
		if err := open(o); err == nil || !strings.Contains(err.Error(), "the server does not offer TLS") {
			t.Errorf("%+v: %v", o, err)
		}
		if got := heard(); got != "" {
			t.Errorf("%+v: sent %q", o, got)
		}
	}
	plain, err := natsserver.Start(&natsserver.Options{Addr: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plain.Close)
	if err := open(jetstream.Options{Server: jetstream.Server{URL: plain.URL()}, OnTLS: func() { t.Error("noted without TLS") }}); err != nil {
		t.Error(err)
	}
}
