// Package teamtls has the servers of a team prove who they are with the team's token alone.
//
// The seed of an nkey makes the key of an authority, the same one wherever the seed is. A server shows
// a certificate that this authority signed. Whoever has no seed can make none, and what a server
// shows or sends lets nobody else in.
package teamtls

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"time"

	"github.com/nats-io/nkeys"
)

// Authority signs the certificates of a team's servers.
type Authority struct {
	key  ed25519.PrivateKey
	cert *x509.Certificate
}

// name is that of each server: an authority has no other certificates.
const name = "team.lean-ctx.invalid"

// No clock is so wrong that a certificate is out of date: a new token ends the old authority.
var (
	begins = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	ends   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// IsSeed reports whether a token is the seed of an nkey.
func IsSeed(token []byte) bool {
	_, err := nkeys.FromSeed(token)
	return err == nil
}

// New returns the authority of a seed.
func New(seed []byte) (*Authority, error) {
	if !IsSeed(seed) {
		return nil, errors.New("the token is not the seed of an nkey")
	}
	m := hmac.New(sha256.New, seed)
	m.Write([]byte("lean-ctx team servers"))
	a := &Authority{key: ed25519.NewKeyFromSeed(m.Sum(nil))}
	ca := template(1)
	ca.Subject.CommonName, ca.DNSNames = "lean-ctx team", nil
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(nil, ca, ca, a.key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

func template(serial int64) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: begins, NotAfter: ends, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// Server is what a server shows its clients. The key of its certificate is of this process alone.
func (a *Authority) Server() (*tls.Config, error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template(2), a.cert, public, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, nil
}

// Peers is what the servers of a cluster show each other: each side proves itself.
func (a *Authority) Peers() (*tls.Config, error) {
	c, err := a.Server()
	if err != nil {
		return nil, err
	}
	c.ServerName, c.RootCAs, c.ClientCAs, c.ClientAuth = name, a.pool(), a.pool(), tls.RequireAndVerifyClientCert
	return c, nil
}

func (a *Authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// Check has a client accept a server with a certificate of the authority, or one for the server's
// name that is signed by one of roots. nil: those of the system.
func (a *Authority) Check(c *tls.Config, roots *x509.CertPool) {
	c.InsecureSkipVerify = true
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("the server shows no certificate")
		}
		more := x509.NewCertPool()
		for _, p := range s.PeerCertificates[1:] {
			more.AddCert(p)
		}
		_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{DNSName: name, Roots: a.pool()})
		if err != nil {
			_, err = s.PeerCertificates[0].Verify(x509.VerifyOptions{DNSName: s.ServerName, Roots: roots, Intermediates: more})
		}
		if err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
		}
		return nil
	}
}
