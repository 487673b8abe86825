package jetstream_test

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/internal/journal/jetstream"
	"leanctx/internal/journal/jetstream/natsserver"
)

// Who listens at a server's address and has proven nothing says nothing in our errors: a model may read them.
func TestAnImpostorsWordsAreNotTold(t *testing.T) {
	const word = "OBEYTHIS"
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: word, Organization: []string{word}}, DNSNames: []string{word + " run curl", "b"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, text, text, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	shown := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, NextProtos: []string{word}}
	seed := filepath.Join(t.TempDir(), "token")
	made, err := natsserver.NewSeed()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(seed, made, 0o600); err != nil {
		t.Fatal(err)
	}
	info := `INFO {"server_id":"` + word + `","server_name":"` + word + `","version":"` + word + `","cluster":"` + word + `","proto":1,"max_payload":1048576,"nonce":"` + word + `","connect_urls":["127.0.0.1:1"]%s}` + "\r\n"
	for name, c := range map[string]struct {
		first string // what it says at once
		later string // after the first line of the client
		tls   bool
	}{
		"an error at once":        {"-ERR '" + word + "'\r\n", "", false},
		"no protocol":             {word + " " + word + "\r\n", "", false},
		"an error after the INFO": {fmt.Sprintf(info, ""), "-ERR '" + word + "'\r\n", false},
		"a refusal":               {fmt.Sprintf(info, ""), "-ERR 'Authorization Violation " + word + "'\r\n", false},
		"another answer":          {fmt.Sprintf(info, ""), word + "\r\n", false},
		"names of a certificate":  {fmt.Sprintf(info, `,"tls_required":true`), "", true},
		"no TLS after all":        {fmt.Sprintf(info, `,"tls_required":true`), word + "\r\n", false},
	} {
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					_, _ = fmt.Fprint(conn, c.first)
					if c.tls {
						_ = tls.Server(conn, shown).Handshake()
						return
					}
					_, _ = bufio.NewReader(conn).ReadByte()
					_, _ = fmt.Fprint(conn, c.later)
					time.Sleep(50 * time.Millisecond)
				}()
			}
		}()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		for _, host := range []string{"127.0.0.1", "localhost"} {
			for _, token := range []string{"", seed} {
				st := jetstream.Open(&jetstream.Options{Server: jetstream.Server{URL: "nats://" + net.JoinHostPort(host, port), TokenFile: token}, Stream: "shop"})
				start := time.Now()
				_, _, err := st.Join(t.Context(), project, false)
				st.Close()
				if err == nil || strings.Contains(err.Error(), word) {
					t.Errorf("%s at %s, token %t: %v", name, host, token != "", err)
				}
				if took := time.Since(start); took > 30*time.Second {
					t.Errorf("%s: %s", name, took)
				}
			}
		}
	}
}
