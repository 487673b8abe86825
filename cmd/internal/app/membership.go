package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"leanctx/agents/share"
	"leanctx/cmd/internal/config"
	"leanctx/internal/atomicfile"
	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream"
	"leanctx/internal/secret"
)

// teamWait is how long a command that reads waits for newer commits of its team.
const teamWait = 100 * time.Millisecond

// membership is where a project's stores are, and the team that shares them. It is read
// from teams/<hash>/team.json. A project that was never in a team has no such file, and its
// stores are where they always were. Those of a team are copies of its stream, in
// teams/<hash>. They stay there when the project leaves. When it joins again it gets
// other copies, in teams/<hash>/2 and so on: until all is published, the former stores are
// in use and nothing of them is changed.
type membership struct {
	jetstream.Server
	Schema  int       `json:"schema"`
	Stream  string    `json:"stream"`
	Project string    `json:"project_hash"` // the project's hash in the stream
	Machine string    `json:"machine"`      // this machine's name in the team
	State   string    `json:"state"`
	Since   time.Time `json:"since"`             // when it came into this state
	Joins   int       `json:"joins,omitempty"`   // how often the project has joined a team; 0: once
	Leaving bool      `json:"leaving,omitempty"` // a `team leave` has begun, and not ended
	TLS     bool      `json:"tls,omitempty"`     // the server was reached by TLS, and must be from then on

	hash    string
	dataDir string
	former  bool // the project's stores are others now, and only a join, leave or erase opens these
}

// The states of a membership.
const (
	joining = "joining" // publishing what was remembered here; the stores are still the former ones
	member  = "member"
	left    = "left"
)

const (
	teamsDir   = "teams"
	teamFile   = "team.json"
	teamSchema = 1
)

func (s *stores) membership(hash string) (*membership, error) {
	m := &membership{hash: hash, dataDir: s.config.DataDir}
	text, err := os.ReadFile(m.file())
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, err // it may be whole: a process can have too many files open
	}
	if err = json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w: it says which team the project is in", m.file(), errors.Join(journal.ErrCorrupt, err))
	}
	if m.Schema > teamSchema {
		return nil, fmt.Errorf("%s: %w: install a newer version", m.file(), journal.ErrNewer)
	}
	return m, nil
}

func (m *membership) teamDir() string { return filepath.Join(m.dataDir, teamsDir, m.hash) }
func (m *membership) file() string    { return filepath.Join(m.teamDir(), teamFile) }

// moved reports whether the stores are in the team's directory.
func (m *membership) moved() bool { return m.State == member || m.State == left }

// in reports whether the project is in a team.
func (m *membership) in() bool { return m.State == member }

// key tells the open stores of a project from those that it had before it joined or left.
func (m *membership) key() string {
	if m.moved() || m.former {
		return strings.Join([]string{m.hash, m.State, m.Stream, strconv.Itoa(m.joins()), strconv.FormatBool(m.former), strconv.FormatBool(m.Leaving)}, " ")
	}
	return m.hash
}

// joins is how often the project has joined: its stores are those of the last time.
func (m *membership) joins() int {
	if m.moved() {
		return max(m.Joins, 1)
	}
	return 0
}

// before is the membership that the project had before it joined last.
func (m *membership) before() *membership {
	b := &membership{hash: m.hash, dataDir: m.dataDir, former: true}
	if n := m.joins() - 1; n > 0 {
		b.State, b.Joins, b.Project = left, n, m.Project
	}
	return b
}

// copyDir is where the copies of a team are.
func (m *membership) copyDir() string {
	if n := m.joins(); n > 1 {
		return filepath.Join(m.teamDir(), strconv.Itoa(n))
	}
	return m.teamDir()
}

func (m *membership) knowledgeDir() string {
	if m.moved() {
		return filepath.Join(m.copyDir(), "knowledge")
	}
	return filepath.Join(m.dataDir, "knowledge", m.hash)
}

// factStamp is another text whenever something was written about the project's facts.
func (m *membership) factStamp() string {
	var b strings.Builder
	for _, name := range []string{"knowledge.json", "knowledge.journal"} {
		if info, err := os.Stat(filepath.Join(m.knowledgeDir(), name)); err == nil {
			fmt.Fprintf(&b, "%d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

func (m *membership) agentsDir() string {
	if m.moved() {
		return filepath.Join(m.copyDir(), "agents")
	}
	return filepath.Join(m.dataDir, "agents")
}

// project is the hash that commits name.
func (m *membership) project() string {
	if m.moved() {
		return m.Project
	}
	return m.hash
}

func (m *membership) machine() string {
	if m.moved() {
		return m.Machine
	}
	return ""
}

// team returns the remote logs, nil without a team. A project that is leaving has none: some of
// its copies may not be copies any more.
func (m *membership) team(s *stores) journal.Team {
	if !m.in() || m.Leaving {
		return nil
	}
	return s.stream(m).Log
}

func (m *membership) contents(s *stores) share.Contents {
	if !m.in() {
		return nil
	}
	return s.stream(m)
}

// teamLock is a shared lock for writers of a project's stores. Moving the project to a team or
// back takes it exclusively.
const teamLock = "team.lock"

// fence lets a writer in while the project's stores are those that it opened. A project that was
// never in a team has no fence yet.
func (m *membership) fence(s *stores) journal.Fence {
	if m.former {
		return nil
	}
	return func() (leave func(), err error) {
		leave = func() {}
		if s.moving.Load() {
			return leave, nil // who closed the fence is inside
		}
		lock, err := m.enter(s, journal.TryShared)
		if errors.Is(err, fs.ErrNotExist) {
			return leave, nil
		}
		return func() { _ = lock.Unlock() }, err // with the file closed the lock is gone
	}
}

// closeFence keeps everybody else out of the project's stores until open is called.
func (m *membership) closeFence(ctx context.Context, s *stores, wait time.Duration) (open func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		lock, err := m.enter(s, journal.TryLock)
		if err == nil {
			s.moving.Store(true)
			return func() {
				s.moving.Store(false)
				_ = lock.Unlock()
			}, nil
		}
		if !errors.Is(err, journal.ErrLocked) {
			return nil, err
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// fenceWait is how long a join or leave waits for writes that have begun, which may wait for an answer.
const fenceWait = 15 * time.Second

// finishWait is how long a write waits for a `team leave` that is still under way.
const finishWait = 5 * time.Second

// enter locks the fence, unless the project joined a team or left one since m was read.
func (m *membership) enter(s *stores, try func(*os.Root, string) (*journal.FileLock, bool, error)) (*journal.FileLock, error) {
	dir, err := os.OpenRoot(m.teamDir())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	lock, ok, err := try(dir, teamLock)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w: the project joins a team or leaves it, or is being written to; try again", m.teamDir(), journal.ErrLocked)
	}
	now, err := s.membership(m.hash)
	if err == nil && now.key() != m.key() {
		err = fmt.Errorf("%s: %w: try again", m.file(), journal.ErrElsewhere)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return lock, nil
}

// stream is the connection to a project's team. It is opened at its first use.
func (s *stores) stream(m *membership) *jetstream.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.teams[m.key()]; t != nil {
		return t
	}
	o := m.options(s.teamWait)
	own := sync.OnceValue(s.userRedactor)
	o.Redact = func(text string) string { return cleaned(own(), text) }
	t := jetstream.Open(o)
	s.teams[m.key()] = t
	return t
}

func (m *membership) options(wait time.Duration) *jetstream.Options {
	return &jetstream.Options{
		Server: m.Server, Stream: m.Stream, Machine: m.Machine, Wait: wait, SawTLS: m.TLS, OnTLS: m.noteTLS, Unproven: m.State == member && !m.TLS,
		Redact: func(text string) string { return cleaned(secret.BuiltIn(), text) },
	}
}

func cleaned(r *secret.Redactor, text string) string {
	text, _ = r.Clean(text)
	return text
}

// userRedactor has the user's own rules too, unless they cannot be read.
func (s *stores) userRedactor() *secret.Redactor {
	r, err := userRules(s.config)
	if err != nil {
		s.logger.Warn("what comes from the team is redacted by the built-in rules alone", "error", err)
	}
	return r
}

// userRules are the built-in rules and the user's own, or the built-in ones alone, with the reason.
func userRules(c *config.Config) (*secret.Redactor, error) {
	settings, err := c.User()
	if err == nil {
		var r *secret.Redactor
		if r, err = secret.New(settings.Sensitive); err == nil {
			return r, nil
		}
	}
	return secret.BuiltIn(), err
}

// noteTLS remembers that the server was reached by TLS. A join that is under way writes it itself.
func (m *membership) noteTLS() {
	now, err := (&stores{config: &config.Config{DataDir: m.dataDir}}).membership(m.hash)
	if err != nil || !now.in() || now.URL != m.URL || now.TLS {
		return
	}
	now.TLS = true
	_ = now.write() // the next connection writes it
}

// write stores the membership, whole or not at all.
func (m *membership) write() error {
	m.Schema = teamSchema
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(m.teamDir(), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(m.teamDir(), teamFile), append(text, '\n'), atomicfile.Options{Sync: true})
}
