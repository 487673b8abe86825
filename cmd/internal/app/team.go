package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/agents/share"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/transfer"
	"leanctx/tasks"
)

// teamCommands are the actions of `lean-ctx team`.
type teamCommands struct{ *run }

func teamTool(r *run) *op.Tool {
	c := teamCommands{r}
	return &op.Tool{
		Name: "team", Command: "team", Summary: "Share a project's memory between machines.",
		Operations: []op.Operation{
			op.New("join", "Share this project's memory with a team. What is remembered here is published once.", op.Changes, c.join, "server").
				Shown("server", "nats://127.0.0.1:4222").ByPerson(),
			op.New("status", "Show the team of this project: machines, lag, last writer, sizes.", op.Reads, c.status),
			op.New("leave", "Leave the team. This machine keeps the whole memory.", op.Changes, c.leave).ByPerson(),
			op.New("serve", "Run a server for teams: NATS with JetStream, each write synced.", op.Reads, c.serveTeam).ByPerson(),
		},
	}
}

type joinArgs struct {
	Server    string `json:"server" arg:"1" jsonschema:"the NATS server, nats://host:4222"`
	Creds     string `json:"creds,omitempty" jsonschema:"credentials file: JWT and nkey"`
	NKey      string `json:"nkey,omitempty" jsonschema:"file with an nkey seed"`
	TokenFile string `json:"token_file,omitempty" jsonschema:"file with a token"`
	CA        string `json:"ca,omitempty" jsonschema:"certificates that sign the server's"`
	Cert      string `json:"cert,omitempty" jsonschema:"own certificate for TLS, with --key"`
	Key       string `json:"key,omitempty" jsonschema:"key of the certificate"`
	Name      string `json:"name,omitempty" jsonschema:"the project's name in the team (default: by its identity); --project NAME says the same"`
}

// server is the arguments with whole paths, and without secrets.
func (a joinArgs) server(c *config.Config) (jetstream.Server, error) {
	s := jetstream.Server{URL: a.Server}
	for one := range strings.SplitSeq(a.Server, ",") {
		u, err := url.Parse(one)
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return s, &refusal.HintError{Problem: fmt.Sprintf("%q is no server", one), Hint: "give nats://host:4222, or tls://host:4222"}
		}
		if u.User != nil {
			return s, &refusal.HintError{Problem: "the server's address has a secret in it", Hint: "put it into a file: --token-file, --creds or --nkey"}
		}
	}
	s.Creds, s.NKey, s.TokenFile, s.CA, s.Cert, s.Key = a.Creds, a.NKey, a.TokenFile, a.CA, a.Cert, a.Key
	files := []*string{&s.Creds, &s.NKey, &s.TokenFile, &s.CA, &s.Cert, &s.Key}
	err := c.Paths(files...)
	for _, f := range files {
		if *f != "" && err == nil {
			_, err = os.Stat(*f)
		}
	}
	return s, err
}

// signsIn reports whether a file is named by which to sign in.
func (a joinArgs) signsIn() bool { return a.Creds+a.NKey+a.TokenFile+a.CA+a.Cert+a.Key != "" }

// streamName is a name as NATS accepts it.
func streamName(name string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		if inName(c) {
			return c
		}
		return '_'
	}, name), "_")
}

// inName reports whether the name of a team may have a character.
func inName(c rune) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// teamName is what a project is called in its team if nobody names it. The directory's
// name is the last choice: another project may have the same.
func teamName(p projectPlace) string {
	first := ""
	if len(p.FirstCommits) > 0 {
		first = p.Name + "-" + p.FirstCommits[0][:min(12, len(p.FirstCommits[0]))]
	}
	return streamName(cmp.Or(p.ID, p.Remote, first, p.Name))
}

type joinedTeam struct {
	Team      string `json:"team"`
	Server    string `json:"server"`
	Again     bool   `json:"again,omitempty"`    // it was in the team already
	Made      bool   `json:"made,omitempty"`     // the team did not exist
	Published int    `json:"published"`          // facts
	Skipped   int    `json:"skipped"`            // facts that the team had
	Disputed  int    `json:"disputed,omitempty"` // facts that have another value in the team
	Tasks     int    `json:"tasks"`
	Shares    int    `json:"shares"`
	agents.Copied
	Facts int `json:"facts"`           // of the team, now
	Local int `json:"local,omitempty"` // facts that stay at home
}

func (j joinedTeam) Text() string {
	if j.Again {
		return fmt.Sprintf("Already in team %s at %s; nothing was published again.", j.Team, j.Server)
	}
	how := "Joined"
	if j.Made {
		how = "Made and joined"
	}
	text := fmt.Sprintf("%s team %s at %s: %s published, %d already there; %s and %s published. The team has %s.",
		how, j.Team, j.Server, prose.Count(j.Published, "fact"), j.Skipped, prose.Count(j.Tasks, "task"), prose.Count(j.Agents, "agent"), prose.Count(j.Facts, "fact"))
	if j.Messages+j.Handoffs+j.Shares > 0 {
		text += fmt.Sprintf("\nStill open and published: %s, %s, %s.", prose.Count(j.Messages, "message"), prose.Count(j.Handoffs, "handoff"), prose.Count(j.Shares, "share"))
	}
	if j.Disputed > 0 {
		text += fmt.Sprintf("\nDisputed: %d, which the team has with another value: see lean-ctx knowledge disputes", j.Disputed)
	}
	if len(j.Held) > 0 {
		text += "\nNot published, since an agent of the team has a claim there: " + prose.Line(strings.Join(j.Held, ", "))
	}
	if j.Local > 0 {
		text += "\n" + prose.Count(j.Local, "local fact") + " set aside on this machine until you leave the team."
	}
	return text + "\nRestart running servers of this project (MCP clients), so that they share too."
}

// join takes --project for the project's name in the team, unless it is a directory.
func (c teamCommands) join(ctx context.Context, sc op.Scope, a joinArgs) (joinedTeam, error) {
	var none joinedTeam
	what := "name"
	if name := c.globals.Project; name != "" && a.Name == "" {
		if _, err := os.Stat(c.stores.config.Project); err != nil {
			a.Name, sc.Project, what = name, cmp.Or(os.Getenv(config.ProjectVar), "."), "directory, and no name"
		}
	}
	if strings.ContainsFunc(a.Name, func(c rune) bool { return !inName(c) }) {
		return none, &refusal.HintError{Problem: fmt.Sprintf("%q is no %s of a project in a team", a.Name, what), Hint: "a name has the letters a to z and A to Z, digits, - and _"}
	}
	p, err := c.stores.project(ctx, sc)
	if err != nil {
		return none, err
	}
	m := p.at
	server, err := a.server(c.stores.config)
	if err != nil {
		return none, err
	}
	name := cmp.Or(a.Name, teamName(p))
	if m.in() {
		if m.Stream == name && m.URL == server.URL {
			if a.signsIn() && m.Server != server { // a server that asks for other credentials now
				again := *m
				again.Server = server
				o := again.options(0)
				o.Unproven, o.OnTLS = false, func() { again.TLS = true }
				stream := jetstream.Open(o)
				defer stream.Close()
				if _, _, err := stream.Join(ctx, jetstream.Project{Hash: p.Hash, ID: p.ID, FirstCommits: p.FirstCommits}, a.Name != ""); err != nil {
					return none, err
				}
				if err := again.write(); err != nil {
					return none, err
				}
			}
			return joinedTeam{Team: name, Server: m.URL, Again: true}, nil
		}
		return none, fmt.Errorf("this project is in team %s at %s; leave that first: lean-ctx team leave", m.Stream, m.URL)
	}
	n := &membership{Server: server, Stream: name, Machine: cmp.Or(m.Machine, machineName()), State: joining, Since: time.Now().UTC(), Joins: m.joins() + 1, hash: p.Hash, dataDir: c.stores.config.DataDir}
	o := n.options(0)
	o.OnTLS = func() { n.TLS = true }
	stream := jetstream.Open(o)
	defer stream.Close()
	known, made, err := stream.Join(ctx, jetstream.Project{Hash: p.Hash, ID: p.ID, FirstCommits: p.FirstCommits}, a.Name != "")
	if err != nil {
		return none, err
	}
	n.Project = known.Hash
	if m.State == "" {
		if err := n.write(); err != nil { // the machine's name stays if it must join again
			return none, err
		}
	}
	open, err := m.closeFence(ctx, c.stores, fenceWait)
	if err != nil {
		return none, err
	}
	defer open()
	n.State = member
	j := joinedTeam{Team: name, Server: server.URL, Made: made}
	if err := c.publish(ctx, sc, p, projectPlace{Project: p.Project, at: n}, &j); err != nil {
		return none, fmt.Errorf("the project has not joined; its memory is as it was; join again to continue: %w", err)
	}
	if err := n.write(); err != nil {
		return none, err
	}
	wait, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	if _, err := c.report(wait, n); err != nil { // it is only for `team status`, and the next one reports again
		c.stores.logger.Debug("the team was not told of this machine", "error", err)
	}
	return j, nil
}

func machineName() string {
	host, _ := os.Hostname() // without one the digits tell the machines apart
	b := make([]byte, 2)
	_, _ = rand.Read(b) // never fails
	return streamName(host) + "-" + hex.EncodeToString(b)
}

// publish fills the copies of the new membership and adds what was remembered under the
// former one. A copy that an earlier attempt began is rebuilt.
func (c teamCommands) publish(ctx context.Context, sc op.Scope, from, to projectPlace, j *joinedTeam) error {
	if err := errors.Join(os.RemoveAll(to.at.knowledgeDir()), os.RemoveAll(to.at.agentsDir())); err != nil {
		return err
	}
	old, w := c.stores.in(sc, from), c.stores.in(sc, to)
	facts, err := old.factStore()
	if err != nil {
		return err
	}
	store, err := w.factStore()
	if err != nil {
		return err
	}
	x, err := transfer.Publish(ctx, facts, store, "the memory of "+to.at.Machine)
	if err != nil {
		return err
	}
	j.Published, j.Skipped, j.Disputed, j.Local = x.Added+x.Replaced, x.Skipped, x.Disputed, x.Local
	if j.Facts, err = transfer.Count(ctx, store); err != nil {
		return err
	}
	since := time.Time{}
	if from.at.State == left {
		since = from.at.Since // what is older has been with a team
	}
	if j.Tasks, err = copyStore(ctx, old.tasks, w.tasks, since, (*tasks.Store).CopyTo); err != nil {
		return err
	}
	if j.Shares, err = copyStore(ctx, old.shares, w.shares, since, (*share.Store).CopyTo); err != nil {
		return err
	}
	j.Copied, err = copyStore(ctx, old.agents, w.agents, since, (*agents.Store).CopyTo)
	return err
}

// copyStore opens two stores and copies one to the other.
func copyStore[S, R any](ctx context.Context, from, to func() (S, error), since time.Time, copy func(S, context.Context, S, time.Time) (R, error)) (none R, err error) {
	a, err := from()
	if err != nil {
		return none, err
	}
	b, err := to()
	if err != nil {
		return none, err
	}
	return copy(a, ctx, b, since)
}

// errNoTeam means that the project is in no team.
var errNoTeam = errors.New("this project is in no team; join one with: lean-ctx team join nats://HOST:4222")

// errLeaving means that the project is about to leave its team.
var errLeaving = errors.New("this project began to leave its team and has not ended; run it again: lean-ctx team leave")

type leftTeam struct {
	Team    string `json:"team"`
	Facts   int    `json:"facts"`
	InDoubt int    `json:"in_doubt,omitempty"` // writes that the team may have or not
	Old     string `json:"old,omitempty"`      // why newer commits could not be fetched
	Newer   string `json:"newer,omitempty"`    // what only a newer version understands
	Dir     string `json:"dir"`
}

func (l leftTeam) Text() string {
	text := fmt.Sprintf("Left team %s. The memory of %s stays here, in %s.", l.Team, prose.Count(l.Facts, "fact"), l.Dir)
	if l.InDoubt == 0 {
		text += " Every write of this machine had been acknowledged; none is unsent."
	} else {
		text += fmt.Sprintf(" %s of this machine had no answer: kept here, and the team may have it or not.", prose.Count(l.InDoubt, "write"))
	}
	if l.Old != "" {
		text += "\nThe newest commits of others may be missing: " + l.Old + "."
	}
	if l.Newer != "" {
		text += "\nThe memory takes no writes, and local facts are not back in it, until a newer version is installed: " + l.Newer + "."
	}
	return text + "\nRestart running servers of this project (MCP clients)."
}

func (c teamCommands) leave(ctx context.Context, sc op.Scope, _ noArgs) (leftTeam, error) {
	p, err := c.stores.find(ctx, sc)
	if err != nil {
		return leftTeam{}, err
	}
	if !p.at.in() {
		return leftTeam{}, errNoTeam
	}
	l, err := c.stores.leave(ctx, sc, p, fenceWait)
	if err != nil {
		err = fmt.Errorf("the project has not left its team yet; leave again to continue: %w", err)
	}
	return l, err
}

// leave has a project leave its team. It goes on where an earlier attempt ended.
func (s *stores) leave(ctx context.Context, sc op.Scope, p projectPlace, wait time.Duration) (leftTeam, error) {
	m := p.at
	open, err := m.closeFence(ctx, s, wait)
	if err != nil {
		return leftTeam{}, err
	}
	defer open()
	l := leftTeam{Team: m.Stream, Dir: m.copyDir()}
	begun := *m
	begun.Leaving = true
	if err := begun.write(); err != nil {
		return l, err
	}
	d, err := journal.Detach(ctx, s.stream(m).Named, statusWait,
		m.knowledgeDir(), m.agentsDir(), filepath.Join(m.agentsDir(), "diaries"), filepath.Join(m.agentsDir(), "shared", p.Hash))
	if err != nil {
		return l, err
	}
	if l.InDoubt = d.InDoubt; d.Old != nil {
		l.Old = d.Old.Error()
	}
	n := *m
	n.State, n.Since, n.Leaving = left, time.Now().UTC(), false
	former, err := s.in(sc, projectPlace{Project: p.Project, at: m.before()}).factStore()
	if err != nil {
		return l, err
	}
	store, err := s.in(sc, projectPlace{Project: p.Project, at: &n}).factStore()
	if err != nil {
		return l, err
	}
	err = transfer.BringBack(ctx, former, store)
	if err == nil {
		err = knowledge.TidyErased(ctx, store) // what was fetched last may be an erasure
	}
	for _, w := range store.Condition().Warnings {
		if w.Kind == journal.Unknown { // a commit that is not understood keeps nobody in a team
			l.Newer = strings.TrimSuffix(w.Text, ".")
		}
	}
	if errors.Is(err, journal.ErrNewer) {
		l.Newer, err = strings.TrimSuffix(err.Error(), "."), nil
	}
	if err != nil {
		return l, err
	}
	if l.Facts, err = transfer.Count(ctx, store); err != nil {
		return l, err
	}
	return l, n.write() // last: until then the project is in the team, and leaves it again
}

// finishLeave ends a `team leave` that was killed. Until then the project's copies take no writes.
func (s *stores) finishLeave(ctx context.Context, sc op.Scope, p projectPlace) error {
	l, err := s.leave(ctx, sc, p, finishWait)
	switch {
	case err == nil:
		s.warn("`lean-ctx team leave` had been interrupted. It was brought to its end. " + l.Text())
	case errors.Is(err, journal.ErrElsewhere): // another process has ended it
		err = nil
	case !errors.Is(err, journal.ErrLocked):
		err = fmt.Errorf("%w: %w", errLeaving, err)
	}
	return err
}
