package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"leanctx/cmd/internal/op"
	"leanctx/internal/journal/jetstream/natsserver"
	"leanctx/internal/refusal"
)

// serveTeamArgs say where a server for teams listens.
type serveTeamArgs struct {
	Addr      string   `json:"addr,omitempty" jsonschema:"where to listen, host:port (default 127.0.0.1:4222)"`
	Dir       string   `json:"dir,omitempty" jsonschema:"where the streams are kept (default streams in the data directory)"`
	TLSCert   string   `json:"tls_cert,omitempty" jsonschema:"certificate, PEM; with --tls-key"`
	TLSKey    string   `json:"tls_key,omitempty" jsonschema:"key of the certificate, PEM"`
	TLSCA     string   `json:"tls_ca,omitempty" jsonschema:"clients must have a certificate that this one signed"`
	TokenFile string   `json:"token_file,omitempty" jsonschema:"clients must give the token in this file"`
	Insecure  bool     `json:"insecure,omitempty" jsonschema:"allow an address beyond loopback without a token or without TLS"`
	Name      string   `json:"name,omitempty" jsonschema:"name of this server in a cluster"`
	Cluster   string   `json:"cluster,omitempty" jsonschema:"where to listen for the other servers of a cluster, host:port"`
	Routes    []string `json:"routes,omitempty" jsonschema:"the other servers of the cluster, host:port each"`
}

// serveTeam runs a server until it is interrupted.
func (c teamCommands) serveTeam(ctx context.Context, _ op.Scope, a serveTeamArgs) (plainText, error) {
	a.Addr, a.Dir = cmp.Or(a.Addr, "127.0.0.1:4222"), cmp.Or(a.Dir, filepath.Join(c.stores.config.DataDir, "streams"))
	o := natsserver.Options{
		Addr: a.Addr, Name: a.Name, Cluster: a.Cluster, Routes: a.Routes,
		Dir: a.Dir, Cert: a.TLSCert, Key: a.TLSKey, CA: a.TLSCA, TokenFile: a.TokenFile,
		Logger: slog.New(slog.NewTextHandler(c.errs, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if err := c.stores.config.Paths(&o.Dir, &o.Cert, &o.Key, &o.CA, &o.TokenFile); err != nil {
		return "", err
	}
	loopback := true
	for _, addr := range []string{a.Addr, cmp.Or(a.Cluster, a.Addr)} {
		_, local, err := (serveArgs{Addr: addr, Insecure: true, TokenFile: "given"}).check()
		if err != nil {
			return "", err
		}
		loopback = loopback && local
	}
	if !loopback && !a.Insecure && (o.Cert == "" || o.TokenFile == "" && o.CA == "") {
		return "", &refusal.HintError{Problem: "everybody on the network could read and write", Hint: "give --tls-cert, --tls-key and --token-file (or --tls-ca), or --insecure"}
	}
	s, err := natsserver.Start(&o)
	if err != nil {
		return "", err
	}
	defer s.Close()
	fmt.Fprintf(c.out, "Serving teams at %s, in %s\nJoin from a project with: lean-ctx team join %s\n", s.URL(), o.Dir, s.URL())
	if s.Cluster() != "" {
		fmt.Fprintf(c.out, "The other servers of the cluster connect to %s\n", s.Cluster())
	}
	return "Stopped.", s.Wait(ctx)
}
