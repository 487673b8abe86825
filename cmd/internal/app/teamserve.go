package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/internal/atomicfile"
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
	TokenFile string   `json:"token_file,omitempty" jsonschema:"clients must have the token in this file (default: token in --dir, which is made)"`
	Insecure  bool     `json:"insecure,omitempty" jsonschema:"allow an address beyond loopback without TLS; clients send no token there"`
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
		Logger: newLogger(c.stores.config, c.errs, slog.LevelWarn),
	}
	if err := c.stores.config.Paths(&o.Dir, &o.Cert, &o.Key, &o.CA, &o.TokenFile); err != nil {
		return "", err
	}
	if err := config.PrivateDir("directory", o.Dir); err != nil {
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
	switch {
	case !loopback && !a.Insecure && o.Cert == "":
		return "", &refusal.HintError{Problem: "everybody on the network could read and write", Hint: "give --tls-cert and --tls-key, or --insecure"}
	case o.TokenFile == "" && o.CA == "" && o.Cluster != "":
		return "", &refusal.HintError{Problem: "the servers of a cluster need one token", Hint: "give each the same --token-file (or --tls-ca for certificates)"}
	case o.TokenFile == "" && o.CA == "":
		var err error
		if o.TokenFile, err = teamToken(o.Dir); err != nil {
			return "", err
		}
	}
	s, err := natsserver.Start(&o)
	if errors.Is(err, natsserver.ErrNoProof) {
		return "", &refusal.HintError{
			Problem: err.Error(),
			Hint:    "give each the same --token-file with the seed that `team serve` makes (copy DIR/token of the first one), or --tls-cert, --tls-key and --tls-ca",
		}
	}
	if err != nil {
		return "", err
	}
	defer s.Close()
	how := ""
	if o.TokenFile != "" {
		how = " --token-file " + shellQuoted(o.TokenFile)
	}
	fmt.Fprintf(c.out, "Serving teams at %s, in %s\nJoin from a project with: lean-ctx team join %s%s\n", s.URL(), o.Dir, s.URL(), how)
	if s.Cluster() != "" {
		fmt.Fprintf(c.out, "The other servers of the cluster connect to %s\n", s.Cluster())
	}
	return "Stopped.", s.Wait(ctx)
}

// teamToken is the file with the token of a server for teams. It is made at the first call, for
// its user alone: whoever reads it is a member of every team of the server. It is the seed of an
// nkey, which no client sends: another user's program may listen while the server is away.
func teamToken(dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "token")
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		seed, err := natsserver.NewSeed()
		if err != nil {
			return "", err
		}
		err = atomicfile.WriteFile(path, append(seed, '\n'), atomicfile.Options{Sync: true, New: true})
		if errors.Is(err, fs.ErrExist) { // another server made it at the same time
			err = nil
		}
		return path, err
	}
	if err == nil && (!info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0) {
		err = fmt.Errorf("%s can be read by others, or is no file: remove it, and a new token is made", path)
	}
	return path, err
}

// shellQuoted is a path as a shell takes it.
func shellQuoted(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,"
	if path != "" && strings.Trim(path, plain) == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
