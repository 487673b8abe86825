package web

import (
	"bytes"
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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"leanctx/cmd/internal/op"
	"leanctx/internal/args"
	"leanctx/internal/atomicfile"
)

// Tokens knows who may come in.
type Tokens struct {
	own  *token // of this machine's user; nil: there is none
	open *token // of whoever comes without one; nil: nobody is let in

	start *token              // of random text: what it signs is this running server's
	leads map[string]handOver // by their codes

	file   string // named tokens; empty: none
	logger *slog.Logger

	mu sync.Mutex

	// code logs one browser in, in place of own, and is good for nothing else. It ends with its
	// first use and some minutes after it was made. nextCode is called when there is another one, if
	// it is not nil.
	code     string
	codeMade time.Time
	nextCode func()

	named    []*token
	text     []byte            // of the file that named was read from
	projects map[string]*token // made of own, by the project's hash
}

// token is one token and what it is good for. Its exported fields are those of the file of
// named tokens.
type token struct {
	Name     string   `json:"name"`     // empty for the user of this machine
	Token    string   `json:"token"`    // empty once its sum is known
	Projects []string `json:"projects"` // hashes, or "*" for all
	Rights   rights   `json:"rights"`   // read or write, and sessions: one text, or a list

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
	data, err := atomicfile.ReadSecret(path)
	if err != nil {
		return "", err
	}
	if t := strings.TrimSpace(string(data)); len(t) >= minToken {
		return t, nil
	}
	return "", fmt.Errorf("%s holds no token: remove it, and a new one is made", path)
}

// ProjectToken is a token of this machine that is good for one project alone. It is made from
// [OwnToken]: no file keeps it, and whoever removes serve.token ends it too.
func ProjectToken(dataDir, hash string) (string, error) {
	if !isHash(hash) {
		return "", fmt.Errorf("%q is no project: it must be 16 hex digits", hash)
	}
	text, err := OwnToken(dataDir)
	if err != nil {
		return "", err
	}
	return projectToken(newToken(token{Token: text}, nil), hash), nil
}

func projectToken(own *token, hash string) string {
	return hash + "-" + hex.EncodeToString(own.derive("project token", hash)[:16])
}

// derive makes bytes that only who knows the token can make. Each purpose has its own.
func (t *token) derive(purpose, data string) []byte {
	m := hmac.New(sha256.New, t.sum[:])
	fmt.Fprintf(m, "lean-ctx %s\x00%s", purpose, data)
	return m.Sum(nil)
}

// minToken is in characters. A shorter one could be guessed.
const minToken = 16

// NewTokens makes what knows the token of this machine (own, may be empty) and the named
// tokens of a file (may be empty). With open, a request without a token is let in too.
func NewTokens(own, file string, open bool, logger *slog.Logger) (*Tokens, error) {
	t := &Tokens{file: file, logger: slog.New(slog.DiscardHandler), projects: map[string]*token{},
		start: newToken(token{Token: rand.Text()}, nil), leads: map[string]handOver{}}
	if own != "" {
		t.own, t.code, t.codeMade = newToken(token{Token: own}, &op.Grant{Sessions: true}), newCode(), time.Now()
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

func parseTokens(path string, data []byte) (all []*token, err error) {
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
	g := &op.Grant{NoFiles: true, ReadOnly: !slices.Contains(t.Rights, "write"), Sessions: slices.Contains(t.Rights, "sessions")}
	switch {
	case t.Name == "":
		return nil, errors.New(`"name" is missing`)
	case args.ClaimsUser(t.Name, ""):
		return nil, fmt.Errorf("%q would be read as the user: give another name", t.Name)
	case len(t.Token) < minToken:
		return nil, fmt.Errorf("%s: \"token\" must have at least %d characters, such as: %s", t.Name, minToken, rand.Text())
	case len(t.Projects) == 0:
		return nil, fmt.Errorf(`%s: "projects" must list hashes, or "*" for all`, t.Name)
	case !t.Rights.valid():
		return nil, fmt.Errorf(`%s: "rights" must be "read" or "write", or a list of one of them and "sessions"`, t.Name)
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

// rights are what a token may do. One text is a list of one.
type rights []string

// UnmarshalJSON reads a text or a list.
func (r *rights) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*r = rights{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(r))
}

// valid reports whether the rights are known, with exactly one of read and write.
func (r rights) valid() bool {
	access := 0
	for _, x := range r {
		switch x {
		case "read", "write":
			access++
		case "sessions":
		default:
			return false
		}
	}
	return access == 1
}

// refresh reads the named tokens again, and revokes those that are gone or changed. If the
// file cannot be read, there are none: one that was taken out must not live on because of a
// mistake beside it. The texts are compared, not the file's size and time: a file may be
// written twice within one tick of the clock.
func (t *Tokens) refresh() error {
	if t.file == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	text, err := atomicfile.ReadSecret(t.file)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return err // it is as it was
	}
	if err == nil && t.text != nil && bytes.Equal(text, t.text) {
		return nil
	}
	var named []*token
	if err == nil {
		named, err = parseTokens(t.file, text)
	}
	if err != nil && t.named != nil {
		t.logger.Error("no named token is valid", "error", err)
	}
	for _, old := range t.named {
		i := slices.IndexFunc(named, func(n *token) bool {
			return n.Name == old.Name && n.sum == old.sum && slices.Equal(n.Rights, old.Rights) && slices.Equal(n.Projects, old.Projects)
		})
		if i >= 0 {
			named[i] = old
		} else {
			old.revoke()
		}
	}
	t.named, t.text = named, text
	return err
}

// find is the token with a text, or nil.
func (t *Tokens) find(text string) *token {
	if found := t.findListed(text); found != nil {
		return found
	}
	if hash, _, _ := strings.Cut(text, "-"); t.own != nil && isHash(hash) && subtle.ConstantTimeCompare([]byte(text), []byte(projectToken(t.own, hash))) == 1 {
		return t.ofProject(hash)
	}
	return nil
}

// Code logs one browser of this machine's user in at this server. It is empty where there is no
// token of this machine.
func (t *Tokens) Code() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.code
}

// codeLasts is how long a code logs somebody in.
const codeLasts = 10 * time.Minute

// newCode is a code as a person copies or types it: 60 random bits.
func newCode() string {
	text := rand.Text()
	return text[:4] + "-" + text[4:8] + "-" + text[8:12]
}

// takeCode reports whether a text is the code, and makes another one then. One that has ended only
// makes another one.
func (t *Tokens) takeCode(text string) bool {
	text = strings.ToUpper(strings.TrimSpace(text))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.code == "" || subtle.ConstantTimeCompare([]byte(text), []byte(t.code)) != 1 {
		return false
	}
	ended := time.Since(t.codeMade) > codeLasts
	t.code, t.codeMade = newCode(), time.Now()
	if t.nextCode != nil {
		go t.nextCode() // who is told may take its time
	}
	return !ended
}

// findLogin is the token that logs a browser in with a text, or nil. It uses a code up. By a code comes
// the person who sees the terminal; the token of this machine can be read by each of its programs.
func (t *Tokens) findLogin(text string) (found *token, person bool) {
	if t.takeCode(text) {
		return t.own, true
	}
	return t.findListed(text), false
}

// findListed is the token with a text, without those of projects, which are for clients and log
// nobody in. Every token is compared, in constant time.
func (t *Tokens) findListed(text string) (found *token) {
	sum := sha256.Sum256([]byte(text))
	for _, k := range t.all() {
		if subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 1 {
			found = k
		}
	}
	return found
}

// isOwn reports whether a request was let in by the token of this machine's user.
func (t *Tokens) isOwn(k *token) bool { return t.own != nil && t.own.sum == k.sum }

// all are the tokens that are valid now, without those of projects.
func (t *Tokens) all() []*token {
	_ = t.refresh() // it has logged what is wrong
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Clone(t.named)
	if t.own != nil {
		all = append(all, t.own)
	}
	return all
}

// ofProject is the token of this machine for one project.
func (t *Tokens) ofProject(hash string) *token {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.projects[hash] == nil {
		t.projects[hash] = newToken(token{Token: projectToken(t.own, hash)}, &op.Grant{Projects: []string{hash}, Sessions: true})
	}
	return t.projects[hash]
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
