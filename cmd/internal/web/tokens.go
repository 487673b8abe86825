package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/cmd/internal/op"
	"leanctx/internal/atomicfile"
)

// Tokens knows who may come in.
type Tokens struct {
	own  *token // of this machine's user; nil: there is none
	open *token // of whoever comes without one; nil: nobody is let in

	file   string // named tokens; empty: none
	logger *slog.Logger

	mu    sync.Mutex
	named []*token
	read  os.FileInfo // of what named was read from; nil: there was no file
}

// token is one token and what it is good for. Its exported fields are those of the file of
// named tokens.
type token struct {
	Name     string   `json:"name"`     // empty for the user of this machine
	Token    string   `json:"token"`    // empty once its sum is known
	Projects []string `json:"projects"` // hashes, or "*" for all
	Rights   string   `json:"rights"`   // read or write

	sum    [sha256.Size]byte
	grant  *op.Grant
	valid  context.Context // ends when the token is revoked
	revoke context.CancelFunc
}

type callerKey struct{}

// callerOf is the token by which a request was let in.
func callerOf(ctx context.Context) *token { return ctx.Value(callerKey{}).(*token) }

// ownTokenName is the file of the data directory with the token of this machine.
const ownTokenName = "serve.token"

// OwnToken is the token of this machine. It is made at the first call, in a file that
// only the user can read. Several servers of one data directory share it.
func OwnToken(dataDir string) (string, error) {
	path := filepath.Join(dataDir, ownTokenName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dataDir, 0o700); err != nil {
			return "", err
		}
		// It appears under its name whole: another process must not read half of it.
		err := atomicfile.WriteFile(path, []byte(rand.Text()+"\n"), atomicfile.Options{Sync: true, New: true})
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	if err := private(path); err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if t := strings.TrimSpace(string(data)); len(t) >= minToken {
		return t, nil
	}
	return "", fmt.Errorf("%s holds no token: remove it, and a new one is made", path)
}

// ProjectToken is the token of this machine for one project alone, which connect writes into the
// settings of clients. It is made from the token of this machine, so a server knows it without a list.
func ProjectToken(dataDir, hash string) (string, error) {
	own, err := OwnToken(dataDir)
	if err != nil {
		return "", err
	}
	return projectToken(sha256.Sum256([]byte(own)), hash), nil
}

// projectToken is the token for a project, where own is the sum of the token of this machine.
func projectToken(own [sha256.Size]byte, hash string) string {
	mac := hmac.New(sha256.New, own[:])
	mac.Write([]byte("lean-ctx project " + hash))
	return hex.EncodeToString(mac.Sum(nil))
}

// private refuses a file with tokens that others may read.
func private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s can be read by others (mode %04o): chmod 600 it, and change the tokens if anybody may have read them", path, info.Mode().Perm())
	}
	return nil
}

// minToken is in characters. A shorter one could be guessed.
const minToken = 16

// NewTokens makes what knows the token of this machine (own, may be empty) and the named
// tokens of a file (may be empty). With open, a request without a token is let in too.
func NewTokens(own, file string, open bool, logger *slog.Logger) (*Tokens, error) {
	t := &Tokens{file: file, logger: slog.New(slog.DiscardHandler)}
	if own != "" {
		t.own = newToken(token{Token: own}, &op.Grant{})
	}
	if open {
		t.open = newToken(token{Name: "open"}, &op.Grant{NoFiles: true})
	}
	err := t.refresh()
	if logger != nil {
		t.logger = logger
	}
	return t, err
}

func newToken(t token, g *op.Grant) *token {
	t.sum, t.grant, t.Token = sha256.Sum256([]byte(t.Token)), g, ""
	t.valid, t.revoke = context.WithCancel(context.Background())
	return &t
}

func readTokens(path string) (all []*token, err error) {
	if err := private(path); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f struct {
		Tokens []token `json:"tokens"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf(`%s must be JSON such as {"tokens":[{"name":"ci","token":"…","projects":["*"],"rights":"read"}]}: %w`, path, err)
	}
	for i, t := range f.Tokens {
		g, err := t.allows()
		n := newToken(t, g)
		if err == nil && slices.ContainsFunc(all, func(o *token) bool { return o.Name == n.Name || o.sum == n.sum }) {
			err = errors.New("another one has the same name or text")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: token %d: %w", path, i+1, err)
		}
		all = append(all, n)
	}
	return all, nil
}

// allows is the grant of a named token.
func (t *token) allows() (*op.Grant, error) {
	g := &op.Grant{NoFiles: true, ReadOnly: t.Rights == "read"}
	switch {
	case t.Name == "":
		return nil, errors.New(`"name" is missing`)
	case len(t.Token) < minToken:
		return nil, fmt.Errorf("%s: \"token\" must have at least %d characters, such as: %s", t.Name, minToken, rand.Text())
	case len(t.Projects) == 0:
		return nil, fmt.Errorf(`%s: "projects" must list hashes, or "*" for all`, t.Name)
	case t.Rights != "read" && t.Rights != "write":
		return nil, fmt.Errorf(`%s: "rights" must be "read" or "write"`, t.Name)
	case slices.Contains(t.Projects, "*"):
		return g, nil
	}
	for _, hash := range t.Projects {
		if !isHash(hash) {
			return nil, fmt.Errorf("%s: %q is no project: give its 16 hex digits (lean-ctx project list)", t.Name, hash)
		}
	}
	g.Projects = t.Projects
	return g, nil
}

// refresh reads the named tokens again if their file has changed, and revokes those that
// are gone or changed. If the file cannot be read, there are none: one that was taken out
// must not live on because of a mistake beside it.
func (t *Tokens) refresh() error {
	if t.file == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m, err := os.Stat(t.file) // before the file is read: what is written after it is read again
	if err == nil && t.read != nil && os.SameFile(m, t.read) && m.Size() == t.read.Size() && m.ModTime().Equal(t.read.ModTime()) {
		return nil
	}
	var named []*token
	if err == nil {
		named, err = readTokens(t.file)
	}
	if err != nil && (m != nil || t.read != nil) {
		t.logger.Error("no named token is valid", "error", err)
	}
	for _, old := range t.named {
		i := slices.IndexFunc(named, func(n *token) bool {
			return n.Name == old.Name && n.sum == old.sum && n.Rights == old.Rights && slices.Equal(n.Projects, old.Projects)
		})
		if i >= 0 {
			named[i] = old
		} else {
			old.revoke()
		}
	}
	t.named, t.read = named, m
	return err
}

// find is the token with a text, or nil. Every token is compared, in constant time. The token of a
// project is good for requests to that project alone; hash is the one that is requested.
func (t *Tokens) find(text, hash string) (found *token) {
	_ = t.refresh() // it has logged what is wrong
	sum := sha256.Sum256([]byte(text))
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.named
	if t.own != nil {
		all = append([]*token{t.own}, all...)
		if isHash(hash) {
			p := newToken(token{Token: projectToken(t.own.sum, hash)}, &op.Grant{Projects: []string{hash}})
			p.valid = t.own.valid
			all = append(all, p)
		}
	}
	for _, k := range all {
		if subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 1 {
			found = k
		}
	}
	return found
}

// Watch notices a change of the tokens' file also when nobody makes a request, so that
// the streams of a revoked token end. It returns with ctx.
func (t *Tokens) Watch(ctx context.Context, every time.Duration) {
	if t.file == "" {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = t.refresh()
		}
	}
}

// tokenOf is the token of a request.
func tokenOf(r *http.Request) (text string, any bool) {
	if kind, rest, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(rest), true
	}
	if r.Header.Get("Authorization") != "" {
		return "", true
	}
	if c, err := r.Cookie(cookieName(r)); err == nil {
		return c.Value, true
	}
	return "", false
}

// cookieName has the port in it: browsers keep one set of cookies for all ports of a host.
func cookieName(r *http.Request) string {
	_, port := splitHost(r.Host)
	return "lean-ctx" + strings.TrimSuffix("-"+port, "-")
}

// cookieLasts is how long a browser stays logged in.
const cookieLasts = 30 * 24 * time.Hour

// authorized lets in who has a token.
func (s *Server) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Query().Has("token") {
			s.logIn(w, r)
			return
		}
		t := s.o.Tokens.open
		if text, any := tokenOf(r); any {
			t = s.o.Tokens.find(text, s.requested(r))
		}
		if t == nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="lean-ctx"`)
			refuse(w, http.StatusUnauthorized, "unauthorized", unauthorized)
			return
		}
		*callerOf(r.Context()) = *t
		next.ServeHTTP(w, r)
	})
}

// requested is the hash of the project that a request is about.
func (s *Server) requested(r *http.Request) string {
	if path, named := strings.CutPrefix(r.URL.Path, "/p/"); named {
		hash, _, _ := strings.Cut(path, "/")
		return hash
	}
	return s.o.Own.Hash
}

const unauthorized = "a token is needed: open the address that lean-ctx serve printed, or send Authorization: Bearer …"

// logIn takes the token out of the address, where it would stay in the browser's history,
// and puts it into a cookie.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	text := q.Get("token")
	if s.o.Tokens.find(text, "") == nil {
		refuse(w, http.StatusUnauthorized, "unauthorized", unauthorized)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: text, Path: "/", MaxAge: int(cookieLasts.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.o.TLS,
	})
	q.Del("token")
	to := &url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: q.Encode()} // never another host
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

// sameSite refuses requests for another host and those of other sites' pages.
func (s *Server) sameSite(next http.Handler) http.Handler {
	sites := http.NewCrossOriginProtection() // by Sec-Fetch-Site, where a browser sends it
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.ourHost(r.Host) {
			refuse(w, http.StatusForbidden, "forbidden", "this server has another name: --host gives it one more")
			return
		}
		if o := r.Header.Get("Origin"); o != "" && !sameOrigin(o, r.Host) || sites.Check(r) != nil {
			refuse(w, http.StatusForbidden, "forbidden", "requests from pages of other sites are refused")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ourHost reports whether a Host header names this server. An address needs no DNS, so
// nobody else can make it point here.
func (s *Server) ourHost(hostport string) bool {
	host, _ := splitHost(hostport)
	if slices.ContainsFunc(s.o.Hosts, func(n string) bool { return strings.EqualFold(n, host) }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost"
	}
	return !s.o.Loopback || ip.Unmap().IsLoopback()
}

// splitHost is a Host header in lower case, without and with its port.
func splitHost(hostport string) (host, port string) {
	u := url.URL{Host: strings.ToLower(hostport)}
	return strings.TrimSuffix(u.Hostname(), "."), u.Port()
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}
