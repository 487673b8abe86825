//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/internal/journal/jetstream/natsserver"
	"leanctx/internal/proctest"
)

// cluster is processes of `lean-ctx team serve`, and a project.
type cluster struct {
	servers  []*teamServer
	project  string
	home     string
	serving  []string // arguments of each server
	signedIn []string // and of each machine that joins
}

// teamServer is one of them. Its addresses are those of proxies, so that they stay when it is
// started anew on other ports.
type teamServer struct {
	dir     string
	addr    string            // of its own
	clients []*proctest.Proxy // one for each machine
	peers   *proctest.Proxy
	cmd     *exec.Cmd
}

// startCluster starts one server, or three.
func startCluster(t *testing.T, servers int, change ...func(*cluster, *testing.T)) *cluster {
	t.Helper()
	c := &cluster{home: t.TempDir()}
	c.project = filepath.Join(c.home, "my-app")
	if err := os.Mkdir(c.project, 0o700); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(c.home, "token")
	seed, err := natsserver.NewSeed()
	if err == nil {
		err = os.WriteFile(token, seed, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.serving, c.signedIn = []string{"--token-file", token}, []string{"--token-file", token}
	for range servers {
		c.servers = append(c.servers, &teamServer{dir: t.TempDir(), peers: proctest.NewProxy(t)})
	}
	for _, do := range change {
		do(c, t)
	}
	for i := range c.servers {
		c.start(t, i)
	}
	return c
}

// secure has the servers want certificates and a token, of machines and of each other.
func (c *cluster) secure(t *testing.T) {
	t.Helper()
	a := proctest.NewAuthority(t)
	cert, key := a.Signed(t, time.Now().Add(time.Hour))
	token := c.serving[1]
	c.serving = []string{"--tls-cert", cert, "--tls-key", key, "--tls-ca", a.File, "--token-file", token}
	c.signedIn = []string{"--cert", cert, "--key", key, "--ca", a.File, "--token-file", token}
}

// start starts a server and waits until it listens.
func (c *cluster) start(t *testing.T, i int) {
	t.Helper()
	s, routes := c.servers[i], []string{}
	for j, other := range c.servers {
		if j != i {
			routes = append(routes, other.peers.Addr())
		}
	}
	args := append([]string{"team", "serve", "--dir", s.dir, "--addr", "127.0.0.1:0"}, c.serving...)
	if len(routes) > 0 {
		args = append(args, "--name", "n"+strconv.Itoa(i), "--cluster", "127.0.0.1:0", "--routes", strings.Join(routes, ","))
	}
	s.cmd = exec.CommandContext(t.Context(), "lean-ctx", args...)
	s.cmd.Env = c.env(s.dir)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	s.cmd.Stderr = &errs
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(s.cmd) })
	listens := func(line, before string) (addr string) {
		if _, after, ok := strings.Cut(line, before); ok {
			addr = strings.TrimRight(strings.Fields(after)[0], ",")
		}
		return addr
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if addr := listens(strings.Replace(lines.Text(), "tls://", "nats://", 1), "Serving teams at nats://"); addr != "" {
			s.addr = addr
			for _, p := range s.clients {
				p.To(addr)
			}
		}
		if addr := listens(lines.Text(), "of the cluster connect to "); addr != "" {
			s.peers.To(addr)
		} else if !strings.Contains(lines.Text(), "team join") || len(routes) > 0 {
			continue
		}
		go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the process
		return
	}
	_ = s.cmd.Wait() // it ended by itself
	t.Fatalf("server %d did not start: %s", i, errs.String())
}

// kill ends a server as a power cut does.
func (c *cluster) kill(t *testing.T, i int) {
	t.Helper()
	if err := c.servers[i].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.servers[i].cmd.Wait() // it was killed
}

// stop ends a server in order. It hands over what it leads first.
func (c *cluster) stop(t *testing.T, i int) {
	t.Helper()
	if err := c.servers[i].cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.servers[i].cmd.Wait() // its exit code says that it was interrupted
}

// end ends a process, before its files are removed. It may have ended already.
func end(c *exec.Cmd) {
	_ = c.Process.Kill()
	_ = c.Wait()
}

func (c *cluster) env(dataDir string) []string {
	return append(os.Environ(), "LEAN_CTX_DATA_DIR="+dataDir, "LEAN_CTX_PROJECT_ROOT="+c.project, "HOME="+c.home, "USERPROFILE="+c.home)
}

// machine is a data directory, and its connections to the servers.
type machine struct {
	env     []string
	url     string
	proxies []*proctest.Proxy
}

// machine has the project join the team on a new machine.
func (c *cluster) machine(t *testing.T) *machine {
	t.Helper()
	m := c.alone(t)
	m.must(t, append([]string{"team", "join", m.url}, c.signedIn...)...)
	return m
}

// alone is a new machine that is in no team yet.
func (c *cluster) alone(t *testing.T) *machine {
	t.Helper()
	m := &machine{env: c.env(t.TempDir())}
	var urls []string
	for _, s := range c.servers {
		p := proctest.NewProxy(t)
		p.To(s.addr)
		s.clients, m.proxies, urls = append(s.clients, p), append(m.proxies, p), append(urls, "nats://"+p.Addr())
	}
	m.url = strings.Join(urls, ",")
	return m
}

// run runs a command and gives its exit code and what it printed.
func (m *machine) run(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "lean-ctx", args...)
	c.Env = m.env
	text, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(text)
	} else if err != nil {
		t.Fatal(err)
	}
	return 0, string(text)
}

// away is the exit code when the team's server does not answer.
const away = 11

// must runs a command until the servers answer: a cluster elects a leader first.
func (m *machine) must(t *testing.T, args ...string) string {
	t.Helper()
	code, out := m.run(t, args...)
	for code == away || old(out) {
		code, out = m.run(t, args...)
	}
	if code != 0 {
		t.Fatalf("lean-ctx %s: exit code %d: %s", strings.Join(args, " "), code, out)
	}
	return out
}

// old reports whether a command answered from the copy.
func old(out string) bool { return strings.Contains(out, "this is the copy of") }

// A cluster, with TLS and a token everywhere, goes on without one of its three servers. Without two it acknowledges nothing, and
// what is known is still read. When they are back, all machines have the same facts.
func TestTeamCluster(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 3, (*cluster).secure)
	a, b := c.machine(t), c.machine(t)
	a.must(t, "remember", "all/up", "three servers")

	c.stop(t, 0)
	a.must(t, "remember", "one/down", "two servers")
	if got := b.must(t, "recall", "servers"); !strings.Contains(got, "two servers") {
		t.Errorf("a fact of the other machine is not found: %s", got)
	}

	c.kill(t, 1)
	// A server that was the leader a moment ago may have the fact. Then it is in doubt.
	code, out := a.run(t, "remember", "two/down", "one server")
	if code == 0 || code != away && !strings.Contains(out, "in doubt") {
		t.Errorf("without a majority: exit code %d: %s", code, out)
	}
	if code, out := b.run(t, "recall", "servers"); code != 0 || !strings.Contains(out, "two servers") {
		t.Errorf("the copy is not read: exit code %d: %s", code, out)
	}

	c.start(t, 0)
	c.start(t, 1)
	b.must(t, "remember", "all/back", "three servers again")
	want := a.must(t, "knowledge", "export", "--shared")
	for _, fact := range []string{"three servers", "two servers", "three servers again"} {
		if strings.Count(want, `"value": "`+fact+`"`) != 1 {
			t.Errorf("%q is not there once: %s", fact, want)
		}
	}
	if got := b.must(t, "knowledge", "export", "--shared"); got != want {
		t.Errorf("the machines differ:\n%s\n%s", got, want)
	}
}

// A join that is killed at any point of its talk with the server leaves the memory that the
// project had, which can be written at once. Joining again publishes all of it, once.
func TestTeamJoinKilled(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	m := c.alone(t)
	values := []string{"the first value"}
	m.must(t, "remember", "kept/first", values[0])
	m.must(t, "task", "create", "the first task")
	rounds := max(1, proctest.Rounds(6))
	for i := range rounds {
		p := m.proxies[0]
		p.DropAfter(8 + 60*i/rounds)
		join := exec.CommandContext(t.Context(), "lean-ctx", append([]string{"team", "join", m.url}, c.signedIn...)...)
		join.Env = m.env
		if err := join.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = join.Wait(); close(ended) }() // it is killed, or has joined
		select {
		case <-p.Dropped:
		case <-ended:
		}
		_ = join.Process.Kill()
		<-ended
		p.DropAfter(-1)
		p.Set(proctest.Pass)
		p.Cut()
		values = append(values, "the value of round "+strconv.Itoa(i))
		m.must(t, "remember", "kept/round-"+strconv.Itoa(i), values[i+1])
	}
	m.must(t, append([]string{"team", "join", m.url}, c.signedIn...)...)
	got := c.machine(t).must(t, "knowledge", "export", "--shared")
	for _, v := range values {
		if strings.Count(got, `"value": "`+v+`"`) != 1 {
			t.Errorf("%q is not there once: %s", v, got)
		}
	}
	if strings.Contains(got, `"rival"`) || !strings.Contains(m.must(t, "knowledge", "disputes"), "No ") {
		t.Errorf("a value stands against itself: %s", got)
	}
	if got := c.machine(t).must(t, "task", "list"); strings.Count(got, "the first task") != 1 {
		t.Errorf("the task: %s", got)
	}
}

// A leave that is killed in the middle is brought to its end by the next write, which then goes
// where the memory is.
func TestTeamLeaveKilled(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	m := c.alone(t)
	m.must(t, "remember", "me/note", "only mine", "--privacy", "local")
	m.must(t, append([]string{"team", "join", m.url}, c.signedIn...)...)
	m.must(t, "remember", "kept/before", "the shared value")
	p := m.proxies[0]
	p.DropAfter(6)
	leave := exec.CommandContext(t.Context(), "lean-ctx", "team", "leave")
	leave.Env = m.env
	if err := leave.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = leave.Wait(); close(ended) }() // it is killed, or has left
	select {
	case <-p.Dropped:
	case <-ended:
	}
	_ = leave.Process.Kill()
	<-ended
	p.DropAfter(-1)
	p.Set(proctest.Pass)
	p.Cut()
	code, state := m.run(t, "team", "status")
	if code == 0 || !strings.Contains(state, "in no team") && !strings.Contains(state, "lean-ctx team leave") {
		t.Errorf("team status: exit code %d: %s", code, state)
	}
	if got := m.must(t, "recall", "shared value"); !strings.Contains(got, "kept/before") {
		t.Errorf("it is not read: %s", got)
	}
	got := m.must(t, "remember", "kept/after", "the value at home")
	if strings.Contains(state, "lean-ctx team leave") != strings.Contains(got, "It was brought to its end") {
		t.Errorf("%s%s", state, got)
	}
	got = m.must(t, "recall", "only mine, value")
	for _, name := range []string{"me/note", "kept/before", "kept/after"} {
		if !strings.Contains(got, name) {
			t.Errorf("%s is not there: %s", name, got)
		}
	}
	if code, out := m.run(t, "team", "leave"); code != 1 || !strings.Contains(out, "in no team") {
		t.Errorf("team leave: exit code %d: %s", code, out)
	}
}

// What is written while a project joins a team, or leaves it, is acknowledged only if it is there
// afterwards. The command that moves the project stops in the middle, since its network is gone.
func TestWritesWhileTheProjectMoves(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1)
	m, other := c.alone(t), c.machine(t)
	m.must(t, "remember", "auth/token", "Uses JWT")
	m.must(t, "task", "create", "First task")
	id := regexp.MustCompile(`cursor-[0-9a-f]+`).FindString(m.must(t, "agent", "register", "cursor"))
	m.must(t, "--agent", id, "agent", "diary", "first entry")

	move := func(pieces int, command ...string) {
		t.Helper()
		p, text := m.proxies[0], "written during "+command[1]
		if err := os.WriteFile(filepath.Join(c.project, text), []byte("shared text"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.DropAfter(pieces)
		moved := make(chan string, 1)
		go func() {
			_, out := m.run(t, command...)
			moved <- out
		}()
		select {
		case <-p.Dropped:
		case out := <-moved:
			t.Errorf("%v did not stop: %s", command, out)
			moved <- out
		}
		var written sync.WaitGroup
		for _, args := range [][]string{
			{"remember", "during/" + command[1], text}, {"task", "create", text}, {"--agent", id, "agent", "diary", text}, {"--agent", id, "share", "push", text},
		} {
			written.Go(func() {
				code, out := m.run(t, args...)
				for code == away {
					code, out = m.run(t, args...)
				}
				if code != 0 {
					t.Errorf("%v: %s", args, out)
				}
			})
		}
		all := make(chan struct{})
		go func() { written.Wait(); close(all) }()
		select { // without a fence they are acknowledged now
		case <-all:
		case <-time.After(200 * time.Millisecond):
		}
		p.DropAfter(-1)
		p.Set(proctest.Pass)
		p.Cut()
		t.Log(<-moved)
		<-all
		code, out := m.run(t, command...) // it may have given up
		for code == away {
			code, out = m.run(t, command...)
		}
		if code != 0 && command[1] == "join" {
			t.Fatal(out)
		}
		on := []*machine{m}
		if command[1] == "join" {
			on = append(on, other)
		}
		for _, x := range on {
			for _, args := range [][]string{{"recall", text}, {"task", "list"}, {"agent", "recall_diary", id}, {"share", "list"}} {
				if got := x.must(t, args...); !strings.Contains(got, text) {
					t.Errorf("%v does not say %q: %s", args, text, got)
				}
			}
		}
	}
	move(20, append([]string{"team", "join", m.url}, c.signedIn...)...)
	move(7, "team", "leave")
}
