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
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/cmd/internal/cli"
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
func (a joinArgs) server(path func(string) (string, error)) (jetstream.Server, error) {
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
	for _, f := range []struct {
		to   *string
		from string
	}{{&s.Creds, a.Creds}, {&s.NKey, a.NKey}, {&s.TokenFile, a.TokenFile}, {&s.CA, a.CA}, {&s.Cert, a.Cert}, {&s.Key, a.Key}} {
		if f.from == "" {
			continue
		}
		whole, err := path(f.from)
		if err == nil {
			_, err = os.Stat(whole)
		}
		if err != nil {
			return s, err
		}
		*f.to = whole
	}
	return s, nil
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
	Again     bool   `json:"again,omitempty"` // it was in the team already
	Made      bool   `json:"made,omitempty"`  // the team did not exist
	Published int    `json:"published"`       // facts
	Skipped   int    `json:"skipped"`         // facts that the team had
	Tasks     int    `json:"tasks"`
	Agents    int    `json:"agents"`
	Facts     int    `json:"facts"`           // of the team, now
	Local     int    `json:"local,omitempty"` // facts that stay at home
}

func (j joinedTeam) Text() string {
	if j.Again {
		return fmt.Sprintf("Already in team %s at %s; nothing was published again.", j.Team, j.Server)
	}
	how := "Joined"
	if j.Made {
		how = "Made and joined"
	}
	kept := ""
	if j.Local > 0 {
		kept = "\n" + prose.Count(j.Local, "local fact") + " kept aside at home, and back when you leave the team."
	}
	return fmt.Sprintf("%s team %s at %s: %s published, %d already there; %s and %s published. The team has %s.\nRestart running servers of this project (MCP clients), so that they share too.%s",
		how, j.Team, j.Server, prose.Count(j.Published, "fact"), j.Skipped, prose.Count(j.Tasks, "task"), prose.Count(j.Agents, "agent"), prose.Count(j.Facts, "fact"), kept)
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
	p, err := s.resolve(ctx, sc)
	if err != nil {
		return none, err
	}
	m := p.at
	server, err := a.server(s.config.Path)
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
	n := &membership{Server: server, Stream: name, Machine: machine, State: joining, Since: time.Now().UTC(), hash: p.Hash, dataDir: s.config.DataDir}
	stream := jetstream.Open(n.options(0))
	defer stream.Close()
	known, made, err := stream.Join(ctx, jetstream.Project{Hash: p.Hash, ID: p.ID, FirstCommits: p.FirstCommits}, a.Name != "")
	if err != nil {
		return none, err
	}
	n.Project = known.Hash
	from, err := s.former(ctx, sc, p, m)
	if err != nil {
		return none, err
	}
	defer from.close()
	if m.State == left { // the copy was an ordinary store since: it is kept aside, and the team's copy begins anew
		if err := os.Rename(m.teamDir(), m.teamDir()+".left-"+time.Now().UTC().Format("20060102T150405Z")); err != nil {
			return none, err
		}
	}
	if err := n.write(); err != nil {
		return none, err
	}
	j := joinedTeam{Team: name, Server: server.URL, Made: made, Local: from.local}
	n.State = member
	if err := s.publish(ctx, sc, p, n, from, &j); err != nil {
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

// former is what a project has before it joins.
type former struct {
	facts  []byte // an export
	local  int    // facts that are not in it
	agents *agents.Store
	tasks  *tasks.Store
}

func (f former) close() { _ = errors.Join(f.agents.Close(), f.tasks.Close()) }

func (s *stores) former(ctx context.Context, sc op.Scope, p located, m *membership) (f former, err error) {
	store, err := s.store(sc, p)
	if err != nil {
		return f, err
	}
	x, err := transfer.Export(ctx, store, transfer.Outgoing{})
	if err != nil {
		return f, err
	}
	if f.facts, _, f.local, err = split(x.Data); err != nil {
		return f, err
	}
	if f.agents, err = agents.Open(m.agentsDir(), &agents.Options{ProjectRoot: p.Root, ProjectHash: m.project(), Logger: s.logger}); err != nil {
		return f, err
	}
	f.tasks, err = tasks.Open(m.agentsDir(), &tasks.Options{ProjectRoot: p.Root, ProjectHash: m.project(), Logger: s.logger})
	return f, err
}

// split parts an export into what a team gets and the facts that never leave this machine.
// Those stay in the former store while the project is in the team, and come back when it
// leaves.
func split(export string) (shared, local []byte, n int, err error) {
	d, err := formats.DecodeNative([]byte(export))
	if err != nil {
		return nil, nil, 0, err
	}
	encode := func(d *formats.Document) []byte {
		var b bytes.Buffer
		err = errors.Join(err, formats.EncodeNative(&b, d))
		return b.Bytes()
	}
	own := &formats.Document{Schema: d.Schema}
	names := map[string]bool{}
	d.Facts = slices.DeleteFunc(d.Facts, func(v *formats.Fact) bool {
		if v.Privacy == knowledge.PrivacyLocal {
			own.Facts, names[v.Category+"/"+v.Key] = append(own.Facts, v), true
		}
		return v.Privacy == knowledge.PrivacyLocal
	})
	return encode(d), encode(own), len(names), err
}

// publish fills the team's copy and adds what was remembered here.
func (s *stores) publish(ctx context.Context, sc op.Scope, p located, m *membership, from former, j *joinedTeam) error {
	p.at = m
	o, err := s.options(sc, p)
	if err != nil {
		return err
	}
	m.share(s, o)
	o.LongLived, o.Semantic, o.Vectors, o.Detach = false, nil, nil, nil
	store, err := knowledge.Open(m.knowledgeDir(), o)
	if err != nil {
		return err
	}
	defer store.Close()
	store = store.As(actor(sc, ""))
	if len(from.facts) > 0 {
		in, err := transfer.Import(ctx, store, transfer.Incoming{File: "the memory of " + m.Machine, Data: bytes.NewReader(from.facts), KeepPrivacy: true})
		if err != nil {
			return err
		}
		j.Published, j.Skipped = in.Added+in.Replaced, in.Skipped
	}
	to, err := agents.Open(m.agentsDir(), &agents.Options{ProjectRoot: p.Root, ProjectHash: m.Project, Machine: m.Machine, Team: m.team(s), Logger: s.logger})
	if err != nil {
		return err
	}
	defer to.Close()
	if j.Agents, err = from.agents.CopyTo(ctx, to); err != nil {
		return err
	}
	work, err := tasks.Open(m.agentsDir(), &tasks.Options{ProjectRoot: p.Root, ProjectHash: m.Project, Team: m.team(s), Logger: s.logger})
	if err != nil {
		return err
	}
	defer work.Close()
	if j.Tasks, err = from.tasks.CopyTo(ctx, work); err != nil {
		return err
	}
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
	Behind    uint64           `json:"behind"` // commits of the facts that this machine has not fetched
	Seq       uint64           `json:"seq"`    // the last commit of the facts here
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
	line("server", "NATS %s, %s away", t.Status.Version, t.Status.RTT.Round(10*time.Microsecond))
	line("stream", "%s, %s and %s of objects, %d of %s current", prose.Count(int(t.Status.Messages), "commit"), size(t.Status.Bytes), size(t.Status.Objects), t.Status.Current, prose.Count(t.Status.Replicas, "replica"))
	if t.Status.LastBy != "" {
		line("last writer", "%s, %s", t.Status.LastBy, t.Status.LastAt.UTC().Format(time.RFC3339))
	}
	for _, m := range t.Status.Machines {
		line("machine", "%s, seen %s, %d behind then", m.Name, m.At.UTC().Format(time.RFC3339), t.Status.Last-min(m.Last, t.Status.Last))
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
	p, err := s.lookup(ctx, sc)
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
	if t.Reachable = err == nil; err != nil {
		t.Problem = err.Error()
	}
	return t, nil
}

// statusWait is how long `team status` and doctor wait for the server.
const statusWait = 3 * time.Second

type leftTeam struct {
	Team  string `json:"team"`
	Facts int    `json:"facts"`
	Old   string `json:"old,omitempty"` // why newer commits could not be fetched
	Dir   string `json:"dir"`
}

func (l leftTeam) Text() string {
	text := fmt.Sprintf("Left team %s. %s stay here, in %s. Every write of this machine had been acknowledged; none is unsent.\nRestart running servers of this project (MCP clients).", l.Team, prose.Count(l.Facts, "fact"), l.Dir)
	if l.Old != "" {
		text += "\nThe newest commits of others may be missing: " + l.Old + "."
	}
	return text
}

func (s *stores) leaveTeam(ctx context.Context, sc op.Scope, _ noArgs) (leftTeam, error) {
	p, err := s.lookup(ctx, sc)
	if err != nil {
		return leftTeam{}, err
	}
	m := p.at
	if !m.in() {
		return leftTeam{}, errNoTeam
	}
	l := leftTeam{Team: m.Stream, Dir: m.teamDir()}
	store, err := s.store(sc, p)
	if err != nil {
		return l, err
	}
	wait, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	if err := store.Fetch(wait); err != nil {
		l.Old = err.Error()
	}
	x, err := transfer.Export(ctx, store, transfer.Outgoing{})
	if err != nil {
		return l, err
	}
	l.Facts = x.Facts
	dirs := []string{m.knowledgeDir(), m.agentsDir(), filepath.Join(m.agentsDir(), "diaries"), filepath.Join(m.agentsDir(), "shared", p.Hash)}
	for _, dir := range dirs {
		if err := journal.Detach(ctx, dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return l, err
		}
	}
	m.State = left
	if err := m.write(); err != nil {
		return l, err
	}
	return l, s.bringBack(ctx, sc, p, m)
}

// bringBack adds the local facts of the store that the project had before it joined.
func (s *stores) bringBack(ctx context.Context, sc op.Scope, p located, m *membership) error {
	before := &membership{hash: m.hash, dataDir: m.dataDir}
	old, err := knowledge.Open(before.knowledgeDir(), &knowledge.Options{ProjectRoot: p.Root, ProjectHash: p.Hash, Logger: s.logger})
	if err != nil {
		return err
	}
	defer old.Close()
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

// serveTeamArgs say where a server for teams listens.
type serveTeamArgs struct {
	Addr      string   `json:"addr,omitempty" jsonschema:"where to listen, host:port (default 127.0.0.1:4222)"`
	Dir       string   `json:"dir,omitempty" jsonschema:"where the streams are kept (default streams in the data directory)"`
	TLSCert   string   `json:"tls_cert,omitempty" jsonschema:"certificate, PEM; with --tls-key"`
	TLSKey    string   `json:"tls_key,omitempty" jsonschema:"key of the certificate, PEM"`
	TLSCA     string   `json:"tls_ca,omitempty" jsonschema:"clients must have a certificate that this one signed"`
	TokenFile string   `json:"token_file,omitempty" jsonschema:"clients must give the token in this file"`
	Insecure  bool     `json:"insecure,omitempty" jsonschema:"listen on another than a loopback address without a token or without TLS"`
	Name      string   `json:"name,omitempty" jsonschema:"of this server in a cluster"`
	Cluster   string   `json:"cluster,omitempty" jsonschema:"where to listen for the other servers of a cluster, host:port"`
	Routes    []string `json:"routes,omitempty" jsonschema:"the other servers of the cluster, host:port each"`
}

// serveTeam runs a server until it is interrupted.
func (r *run) serveTeam(ctx context.Context, _ op.Scope, a serveTeamArgs) (plainText, error) {
	a.Addr, a.Dir = cmp.Or(a.Addr, "127.0.0.1:4222"), cmp.Or(a.Dir, filepath.Join(r.stores.config.DataDir, "streams"))
	o := natsserver.Options{Addr: a.Addr, Name: a.Name, Cluster: a.Cluster, Routes: a.Routes}
	for _, f := range []struct {
		to   *string
		from string
	}{{&o.Dir, a.Dir}, {&o.Cert, a.TLSCert}, {&o.Key, a.TLSKey}, {&o.CA, a.TLSCA}, {&o.TokenFile, a.TokenFile}} {
		if f.from != "" {
			path, err := r.stores.config.Path(f.from)
			if err != nil {
				return "", err
			}
			*f.to = path
		}
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
	s.Wait(ctx)
	return "Stopped.", nil
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
