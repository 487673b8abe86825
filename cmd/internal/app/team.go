package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/agents/share"
	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream"
	"leanctx/internal/journal/jetstream/natsserver"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/transfer"
	"leanctx/tasks"
)

// teamTool is `lean-ctx team`.
func (r *run) teamTool() *op.Tool {
	return &op.Tool{
		Name: "team", Command: "team", Summary: "Share a project's memory between machines.",
		Operations: []op.Operation{
			op.New("join", "Share this project's memory with a team. What is remembered here is published once.", op.Changes, r.joinTeam, "server").
				Shown("server", "nats://127.0.0.1:4222"),
			op.New("status", "Show the team of this project: machines, lag, last writer, sizes.", op.Reads, r.stores.teamStatus),
			op.New("leave", "Leave the team. A whole local memory is left behind.", op.Changes, r.stores.leaveTeam),
			op.New("serve", "Run a server for teams: NATS with JetStream, each write synced.", op.Reads, r.serveTeam),
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
			return s, &cli.UsageError{Problem: fmt.Sprintf("%q is no server", one), Advice: "give nats://host:4222, or tls://host:4222"}
		}
		if u.User != nil {
			return s, &cli.UsageError{Problem: "the server's address has a secret in it", Advice: "put it into a file: --token-file, --creds or --nkey"}
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

// streamName is a name as NATS accepts it.
func streamName(name string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			return c
		}
		return '_'
	}, name), "_")
}

// teamName is what a project is called in its team if nobody names it. The directory's
// name is the last choice: another project may have the same.
func teamName(p located) string {
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
		text += "\n" + prose.Count(j.Local, "local fact") + " kept aside at home, and back when you leave the team."
	}
	return text + "\nRestart running servers of this project (MCP clients), so that they share too."
}

// joinTeam takes --project for the project's name in the team, unless it is a directory.
func (r *run) joinTeam(ctx context.Context, sc op.Scope, a joinArgs) (joinedTeam, error) {
	if name := r.globals.Project; name != "" && a.Name == "" {
		if _, err := os.Stat(name); err != nil && !strings.ContainsAny(name, `/\`) {
			a.Name, sc.Project = name, "."
		}
	}
	return r.stores.joinTeam(ctx, sc, a)
}

func (s *stores) joinTeam(ctx context.Context, sc op.Scope, a joinArgs) (joinedTeam, error) {
	var none joinedTeam
	p, err := s.project(ctx, sc)
	if err != nil {
		return none, err
	}
	m := p.at
	server, err := a.server(s.config)
	if err != nil {
		return none, err
	}
	name := cmp.Or(streamName(a.Name), teamName(p))
	if m.in() {
		if m.Stream == name && m.URL == server.URL {
			return joinedTeam{Team: name, Server: m.URL, Again: true}, nil
		}
		return none, fmt.Errorf("this project is in team %s at %s; leave that first: lean-ctx team leave", m.Stream, m.URL)
	}
	machine := m.Machine
	if machine == "" {
		machine = machineName()
	}
	n := &membership{Server: server, Stream: name, Machine: machine, State: joining, Since: time.Now().UTC(), Joins: m.joins() + 1, hash: p.Hash, dataDir: s.config.DataDir}
	stream := jetstream.Open(n.options(0))
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
	n.State = member
	j := joinedTeam{Team: name, Server: server.URL, Made: made}
	if err := s.publish(ctx, sc, p, located{Project: p.Project, at: n}, &j); err != nil {
		return none, fmt.Errorf("the project has not joined; its memory is as it was; join again to go on: %w", err)
	}
	if err := n.write(); err != nil {
		return none, err
	}
	s.report(ctx, n)
	return j, nil
}

// report tells the team what this machine has, after it fetched. It is only for `team
// status`: if the server does not answer, the next one tells it.
func (s *stores) report(ctx context.Context, m *membership) {
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	st, err := s.stream(m).Status(ctx)
	if err == nil {
		err = s.stream(m).Report(ctx, st.Last)
	}
	if err != nil {
		s.logger.Debug("the team was not told of this machine", "error", err)
	}
}

func machineName() string {
	host, _ := os.Hostname() // without one the digits tell the machines apart
	b := make([]byte, 2)
	_, _ = rand.Read(b) // never fails
	return streamName(host) + "-" + hex.EncodeToString(b)
}

// split parts an export into what a team gets and what never leaves this machine: local
// facts, and all that names one. It stays in the former store while the project is in the
// team, and comes back when it leaves. n is how many local facts there are.
func split(export string) (shared, local []byte, n int, err error) {
	d, err := formats.DecodeNative([]byte(export))
	if err != nil {
		return nil, nil, 0, err
	}
	names := map[formats.Name]bool{}
	folded := func(x formats.Name) formats.Name {
		return formats.Name{Category: formats.FoldName(x.Category), Key: formats.FoldName(x.Key)}
	}
	isLocal := func(x *formats.Name) bool { return x != nil && names[folded(*x)] }
	pairName := func(text string) *formats.Name {
		category, key, _ := strings.Cut(text, "/")
		return &formats.Name{Category: category, Key: key}
	}
	own := &formats.Document{Schema: d.Schema}
	d.Facts, own.Facts = partition(d.Facts, func(v *formats.Fact) bool { return v.Privacy == knowledge.PrivacyLocal })
	for _, v := range own.Facts {
		names[folded(formats.Name{Category: v.Category, Key: v.Key})] = true
	}
	d.Relations, own.Relations = partition(d.Relations, func(r formats.Relation) bool { return isLocal(&r.From) || isLocal(&r.To) })
	d.Disputes, own.Disputes = partition(d.Disputes, func(x formats.Dispute) bool {
		return isLocal(&formats.Name{Category: x.Category, Key: x.Key}) || isLocal(x.Rename) || isLocal(x.Rival)
	})
	d.JudgedPairs, own.JudgedPairs = partition(d.JudgedPairs, func(j formats.JudgedPair) bool {
		return isLocal(pairName(j.KeyA)) || isLocal(pairName(j.KeyB))
	})
	var texts [2]bytes.Buffer
	err = errors.Join(formats.EncodeNative(&texts[0], d), formats.EncodeNative(&texts[1], own))
	return texts[0].Bytes(), texts[1].Bytes(), len(names), err
}

// partition parts a list by a condition.
func partition[T any](list []T, holds func(T) bool) (others, those []T) {
	for _, x := range list {
		if holds(x) {
			those = append(those, x)
		} else {
			others = append(others, x)
		}
	}
	return others, those
}

// publish fills the copies of the new membership and adds what was remembered under the
// former one. A copy that an earlier attempt began is made anew.
func (s *stores) publish(ctx context.Context, sc op.Scope, from, to located, j *joinedTeam) error {
	if err := errors.Join(os.RemoveAll(to.at.knowledgeDir()), os.RemoveAll(to.at.agentsDir())); err != nil {
		return err
	}
	if err := s.publishFacts(ctx, sc, from, to, j); err != nil {
		return err
	}
	old, w := s.in(sc, from), s.in(sc, to)
	since := time.Time{}
	if from.at.State == left {
		since = from.at.Since // what is older has been with a team
	}
	var err error
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

func (s *stores) publishFacts(ctx context.Context, sc op.Scope, from, to located, j *joinedTeam) error {
	old, err := s.store(sc, from)
	if err != nil {
		return err
	}
	store, err := s.store(sc, to)
	if err != nil {
		return err
	}
	x, err := transfer.Export(ctx, old, transfer.Outgoing{})
	if err != nil {
		return err
	}
	facts, _, local, err := split(x.Data)
	if err != nil {
		return err
	}
	in, err := transfer.Import(ctx, store, transfer.Incoming{File: "the memory of " + to.at.Machine, Data: bytes.NewReader(facts), KeepPrivacy: true, Contest: true})
	if err != nil {
		return err
	}
	j.Published, j.Skipped, j.Disputed, j.Local = in.Added+in.Replaced, in.Skipped, in.Disputed, local
	all, err := transfer.Export(ctx, store, transfer.Outgoing{})
	j.Facts = all.Facts
	return err
}

type teamState struct {
	Team      string           `json:"team"`
	Server    string           `json:"server"`
	Machine   string           `json:"machine"`
	Reachable bool             `json:"reachable"`
	Problem   string           `json:"problem,omitempty"`
	Full      bool             `json:"full,omitempty"` // the server has no room, and refuses writes
	Behind    uint64           `json:"behind"`         // commits of the facts that this machine has not fetched
	Seq       uint64           `json:"seq"`            // the last commit of the facts here
	At        time.Time        `json:"at,omitzero"`
	Bytes     int64            `json:"bytes"` // of the copy of the facts
	Status    jetstream.Status `json:"status"`
}

func (t teamState) Text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&b, "Team %s at %s\n", t.Team, t.Server)
	line("this machine", "%s, commit %d of the facts, %s", t.Machine, t.Seq, size(uint64(t.Bytes)))
	if !t.Reachable {
		line("server", "not reachable: %s", t.Problem)
		line("", "Reads work, as of %s. Writes are refused until it answers.", t.At.UTC().Format(time.RFC3339))
		return b.String()
	}
	line("lag", "%s behind", prose.Count(int(t.Behind), "commit"))
	if t.Full {
		line("full", "Writes are refused: the server's disk, or a limit of it, leaves no room. Reads work.")
	}
	line("server", "NATS %s, %s away", t.Status.Version, t.Status.RTT.Round(10*time.Microsecond))
	line("stream", "%s, %s and %s of objects, %d of %s current", prose.Count(int(t.Status.Messages), "commit"), size(t.Status.Bytes), size(t.Status.Objects), t.Status.Current, prose.Count(t.Status.Replicas, "replica"))
	if t.Status.LastBy != "" {
		line("last writer", "%s, %s", prose.Line(t.Status.LastBy), t.Status.LastAt.UTC().Format(time.RFC3339))
	}
	for _, m := range t.Status.Machines {
		if m.Name != t.Machine {
			line("machine", "%s, %d behind, seen %s", prose.Line(m.Name), t.Status.Last-min(m.Last, t.Status.Last), prose.Ago(t.Status.Now, m.At))
		}
	}
	return b.String()
}

func size(n uint64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// errNoTeam means that the project is in no team.
var errNoTeam = errors.New("this project is in no team; join one with: lean-ctx team join nats://HOST:4222")

func (s *stores) teamStatus(ctx context.Context, sc op.Scope, _ noArgs) (teamState, error) {
	p, err := s.project(ctx, sc)
	if err != nil {
		return teamState{}, err
	}
	m := p.at
	if !m.in() {
		return teamState{}, errNoTeam
	}
	store, err := s.store(sc, p)
	if err != nil {
		return teamState{}, err
	}
	t := teamState{Team: m.Stream, Server: m.URL, Machine: m.Machine}
	was := store.Condition().Journal
	wait, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	err = store.Fetch(wait)
	now := store.Condition().Journal
	t.Seq, t.At, t.Bytes, t.Behind = now.Seq, now.At, now.SnapshotBytes+now.JournalBytes, now.Seq-was.Seq
	if err == nil {
		t.Status, err = s.stream(m).Status(wait)
	}
	if err == nil {
		err = s.stream(m).Report(wait, t.Status.Last)
	}
	t.Full = errors.Is(err, journal.ErrFull)
	if t.Reachable = err == nil || t.Full; err != nil {
		t.Problem = err.Error()
	}
	return t, nil
}

// statusWait is how long `team status` and doctor wait for the server.
const statusWait = 3 * time.Second

type leftTeam struct {
	Team    string `json:"team"`
	Facts   int    `json:"facts"`
	InDoubt int    `json:"in_doubt,omitempty"` // writes that the team may have or not
	Old     string `json:"old,omitempty"`      // why newer commits could not be fetched
	Dir     string `json:"dir"`
}

func (l leftTeam) Text() string {
	text := fmt.Sprintf("Left team %s. %s stay here, in %s.", l.Team, prose.Count(l.Facts, "fact"), l.Dir)
	if l.InDoubt == 0 {
		text += " Every write of this machine had been acknowledged; none is unsent."
	} else {
		text += fmt.Sprintf(" %s of this machine had no answer: kept here, and the team may have it or not.", prose.Count(l.InDoubt, "write"))
	}
	if l.Old != "" {
		text += "\nThe newest commits of others may be missing: " + l.Old + "."
	}
	return text + "\nRestart running servers of this project (MCP clients)."
}

func (s *stores) leaveTeam(ctx context.Context, sc op.Scope, _ noArgs) (leftTeam, error) {
	p, err := s.project(ctx, sc)
	if err != nil {
		return leftTeam{}, err
	}
	m := p.at
	if !m.in() {
		return leftTeam{}, errNoTeam
	}
	l := leftTeam{Team: m.Stream, Dir: m.copyDir()}
	d, err := journal.Detach(ctx, s.stream(m).Named, statusWait,
		m.knowledgeDir(), m.agentsDir(), filepath.Join(m.agentsDir(), "diaries"), filepath.Join(m.agentsDir(), "shared", p.Hash))
	if err != nil {
		return l, err
	}
	if l.InDoubt = d.InDoubt; d.Old != nil {
		l.Old = d.Old.Error()
	}
	before := located{Project: p.Project, at: m.before()}
	m.State, m.Since = left, time.Now().UTC()
	if err := m.write(); err != nil {
		return l, err
	}
	if err := s.bringBack(ctx, sc, before, p); err != nil {
		return l, err
	}
	store, err := s.store(sc, p)
	if err != nil {
		return l, err
	}
	x, err := transfer.Export(ctx, store, transfer.Outgoing{})
	l.Facts = x.Facts
	return l, err
}

// bringBack adds the local facts of the store that the project had before it joined.
func (s *stores) bringBack(ctx context.Context, sc op.Scope, before, p located) error {
	old, err := s.store(sc, before)
	if err != nil {
		return err
	}
	x, err := transfer.Export(ctx, old, transfer.Outgoing{})
	if err != nil {
		return err
	}
	_, local, n, err := split(x.Data)
	if err != nil || n == 0 {
		return err
	}
	store, err := s.store(sc, p)
	if err == nil {
		_, err = transfer.Import(ctx, store, transfer.Incoming{File: "local facts", Data: bytes.NewReader(local), KeepPrivacy: true})
	}
	return err
}

// eraseBefore erases facts also from the stores that the project had before it joined.
func (s *stores) eraseBefore(ctx context.Context, sc op.Scope, p located, names []knowledge.Name) error {
	for m := p.at; m.moved(); {
		m = m.before()
		if _, err := os.Stat(m.knowledgeDir()); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		store, err := s.store(sc, located{Project: p.Project, at: m})
		if err != nil {
			return err
		}
		if err := store.EraseShared(ctx, names); err != nil {
			return err
		}
	}
	return nil
}

// serveTeamArgs say where a server for teams listens.
type serveTeamArgs struct {
	Addr      string   `json:"addr,omitempty" jsonschema:"where to listen, host:port (default 127.0.0.1:4222)"`
	Dir       string   `json:"dir,omitempty" jsonschema:"where the streams are kept (default streams in the data directory)"`
	TLSCert   string   `json:"tls_cert,omitempty" jsonschema:"certificate, PEM; with --tls-key"`
	TLSKey    string   `json:"tls_key,omitempty" jsonschema:"key of the certificate, PEM"`
	TLSCA     string   `json:"tls_ca,omitempty" jsonschema:"clients must have a certificate that this one signed"`
	TokenFile string   `json:"token_file,omitempty" jsonschema:"clients must give the token in this file"`
	Insecure  bool     `json:"insecure,omitempty" jsonschema:"allow an address beyond loopback without a token or without TLS"`
	Name      string   `json:"name,omitempty" jsonschema:"of this server in a cluster"`
	Cluster   string   `json:"cluster,omitempty" jsonschema:"where to listen for the other servers of a cluster, host:port"`
	Routes    []string `json:"routes,omitempty" jsonschema:"the other servers of the cluster, host:port each"`
}

// serveTeam runs a server until it is interrupted.
func (r *run) serveTeam(ctx context.Context, _ op.Scope, a serveTeamArgs) (plainText, error) {
	a.Addr, a.Dir = cmp.Or(a.Addr, "127.0.0.1:4222"), cmp.Or(a.Dir, filepath.Join(r.stores.config.DataDir, "streams"))
	o := natsserver.Options{
		Addr: a.Addr, Name: a.Name, Cluster: a.Cluster, Routes: a.Routes,
		Dir: a.Dir, Cert: a.TLSCert, Key: a.TLSKey, CA: a.TLSCA, TokenFile: a.TokenFile,
		Logger: slog.New(slog.NewTextHandler(r.errs, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if err := r.stores.config.Paths(&o.Dir, &o.Cert, &o.Key, &o.CA, &o.TokenFile); err != nil {
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
		return "", &cli.UsageError{Problem: "everybody on the network could read and write", Advice: "give --tls-cert, --tls-key and --token-file (or --tls-ca), or --insecure"}
	}
	s, err := natsserver.Start(&o)
	if err != nil {
		return "", err
	}
	defer s.Close()
	fmt.Fprintf(r.out, "Serving teams at %s, in %s\nJoin from a project with: lean-ctx team join %s\n", s.URL(), o.Dir, s.URL())
	if s.Cluster() != "" {
		fmt.Fprintf(r.out, "The other servers of the cluster connect to %s\n", s.Cluster())
	}
	return "Stopped.", s.Wait(ctx)
}

// teamHealth is what doctor says of the project's team; nothing without one.
func (s *stores) teamHealth(ctx context.Context, sc op.Scope) []hook.Finding {
	t, err := s.teamStatus(ctx, sc, noArgs{})
	switch {
	case errors.Is(err, errNoTeam):
		return nil
	case err != nil:
		return []hook.Finding{{Level: hook.Problem, Subject: "team", Text: err.Error()}}
	case !t.Reachable:
		return []hook.Finding{{Level: hook.Problem, Subject: "team", Text: hook.Line(t.Problem), Fix: "reads work, as of " + t.At.UTC().Format(time.RFC3339) + "; start the server, or check the network and the credentials"}}
	}
	x := t.Status
	found := []hook.Finding{{Level: hook.Fine, Subject: "team", Text: fmt.Sprintf("%s at %s is reachable in %s: NATS %s, format %s, %s behind", t.Team, t.Server, x.RTT.Round(10*time.Microsecond), x.Version, x.Format, prose.Count(int(t.Behind), "commit"))}}
	problem := func(text, fix string) {
		found = append(found, hook.Finding{Level: hook.Problem, Subject: "team", Text: text, Fix: fix})
	}
	if t.Full {
		problem("the server has no room and refuses writes: "+hook.Line(t.Problem), "make room on the server's disk, or raise its limit; reads work")
	}
	if x.Ahead.Abs() > clockOff {
		problem(fmt.Sprintf("this machine's clock and the server's differ by %s", x.Ahead.Abs().Round(time.Second)), "set the clock")
	}
	if x.MaxBytes > 0 && x.Bytes > uint64(x.MaxBytes)/10*9 {
		problem(fmt.Sprintf("the stream has %s of at most %s", size(x.Bytes), size(uint64(x.MaxBytes))), "raise the stream's limit on the server; a full stream refuses writes")
	}
	if x.Current < x.Replicas {
		problem(fmt.Sprintf("%d of %d replicas have everything", x.Current, x.Replicas), "start the other servers of the cluster")
	}
	return found
}

// clockOff is how much two clocks may differ without being spoken of.
const clockOff = time.Minute
