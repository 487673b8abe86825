//go:build unix

package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"leanctx/internal/proctest"
)

var (
	long   = flag.Bool("long", false, "run the long rounds of a team: three servers, eight machines with four processes each")
	rounds = flag.Int("rounds", 100, "how many of them")
)

// worker is an agent: a process of `lean-ctx mcp` that is started anew when it was killed.
type worker struct {
	t     *testing.T
	m     *machine
	name  string
	agent string

	mu  sync.Mutex // guards cmd, which the rounds kill
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	ids int
}

func (w *worker) start() error {
	c := exec.CommandContext(w.t.Context(), "lean-ctx", "mcp")
	c.Env = w.m.env
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cmd, w.in, w.out = c, in, bufio.NewReader(out)
	return c.Start()
}

func (w *worker) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cmd != nil && w.cmd.Process != nil {
		_ = w.cmd.Process.Kill() // it may have ended
	}
}

// outcome is what became of a call.
type outcome int

const (
	done    outcome = iota
	refused         // by what another agent has
	nothing         // the servers were away, and nothing was written
	unknown         // it may be done or not
)

// call calls a tool. A process that was killed is started anew for the next call.
func (w *worker) call(tool string, args map[string]any) (text string, o outcome) {
	if w.cmd == nil {
		if err := w.start(); err != nil {
			w.t.Error(err)
		}
	}
	w.ids++
	args["agent"] = w.agent
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": w.ids, "method": "tools/call", "params": map[string]any{
		"name": tool, "arguments": args,
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}},
	}})
	if err != nil {
		w.t.Error(err)
	}
	var a struct {
		ID     int
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	_, err = w.in.Write(append(request, '\n'))
	for err == nil && a.ID != w.ids {
		var line []byte
		if line, err = w.out.ReadBytes('\n'); err == nil {
			err = json.Unmarshal(line, &a)
		}
	}
	if err != nil {
		_ = w.cmd.Wait() // it was killed
		w.cmd = nil
		return "", unknown
	}
	for _, c := range a.Result.Content {
		text += c.Text
	}
	switch {
	case !a.Result.IsError:
		return text, done
	case strings.Contains(text, "in doubt"):
		return text, unknown
	case strings.Contains(text, "offline"), strings.Contains(text, "locked"):
		return text, nothing
	}
	return text, refused
}

// try is a claim of a path or a task, or the release of a path, as a worker saw it.
type try struct {
	by      string
	what    string
	release bool
	token   uint64 // of a path that was given
	outcome outcome
	called  time.Duration
	ended   time.Duration
}

// lock is what is believed of a path or a task.
type lock struct {
	holder string
	token  uint64 // the last one that is known
}

// locks is the specification: one holder at a time, and tokens that grow. Of a call whose
// outcome is unknown both outcomes are possible.
var locks = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		by := map[string][]porcupine.Operation{}
		for _, o := range history {
			what := o.Input.(try).what
			by[what] = append(by[what], o)
		}
		return slices.Collect(maps.Values(by))
	},
	Init: func() []any { return []any{lock{}} },
	Step: func(state, input, _ any) (next []any) {
		l, t := state.(lock), input.(try)
		free, mine := l.holder == "", l.holder == t.by
		switch {
		case t.outcome == refused && (t.release && mine || !t.release && (free || mine)):
			return nil
		case t.outcome == refused:
			return []any{l}
		case t.outcome == unknown:
			next = append(next, l)
			if t.release && mine {
				next = append(next, lock{"", l.token})
			} else if !t.release && free {
				next = append(next, lock{t.by, l.token})
			}
			return next
		case t.release && mine:
			return []any{lock{"", l.token}}
		case !t.release && free && (t.token == 0 || t.token > l.token), !t.release && mine && t.token >= l.token:
			return []any{lock{t.by, t.token}}
		}
		return nil
	},
}

// history is what all workers saw.
type history struct {
	start time.Time
	acked atomic.Int64
	stop  atomic.Bool
	task  atomic.Value // the newest task's id

	mu    sync.Mutex
	tries []try
	facts map[string]outcome
}

func (h *history) note(x try) {
	x.ended = time.Since(h.start)
	if x.outcome == done {
		h.acked.Add(1)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tries = append(h.tries, x)
}

var token = regexp.MustCompile(`token (\d+)`)

// work remembers, claims and releases until the end.
func (w *worker) work(h *history) {
	holds, tried := "", ""
	for i := 0; !h.stop.Load(); i++ {
		key := w.name + "-" + strconv.Itoa(i)
		_, o := w.call("ctx_knowledge", map[string]any{"action": "remember", "category": "team", "key": key, "value": "fact " + key})
		h.mu.Lock()
		h.facts[key] = o
		h.mu.Unlock()
		if o == done {
			h.acked.Add(1)
		}

		x := try{by: w.agent, what: holds, release: true, called: time.Since(h.start)}
		if holds == "" {
			x.what, x.release = "src/"+strconv.Itoa(rand.IntN(6))+".go", false
		}
		text, o := w.call("ctx_agent", map[string]any{"action": map[bool]string{true: "release", false: "claim"}[x.release], "path": x.what, "ttl": "10h"})
		if x.outcome = o; o == done && !x.release {
			x.token, _ = strconv.ParseUint(token.FindStringSubmatch(text)[1], 10, 64)
		}
		h.note(x)
		if holds = ""; o == done && !x.release {
			holds = x.what
		}

		if id := h.task.Load().(string); id != tried {
			tried = id
			x := try{by: w.agent, what: id, called: time.Since(h.start)}
			_, x.outcome = w.call("ctx_task", map[string]any{"action": "claim", "task_id": id})
			h.note(x)
		}
	}
}

// linearizable checks what was seen of paths and tasks. A call of unknown outcome is over as soon as a
// later one was acknowledged: its commit was decided on an older state, and is refused after that.
func (h *history) linearizable(t *testing.T) {
	var ops []porcupine.Operation
	clients, given := map[string]int{}, map[uint64]string{}
	count := map[outcome]int{}
	for _, x := range h.tries {
		count[x.outcome]++
		if _, ok := clients[x.by]; !ok {
			clients[x.by] = len(clients)
		}
		if x.outcome == nothing {
			continue
		}
		if x.outcome == unknown {
			over := time.Since(h.start)
			for _, y := range h.tries {
				if y.outcome == done && y.called > x.ended && isTask(y.what) == isTask(x.what) {
					over = min(over, y.ended)
				}
			}
			x.ended = over
		}
		if by, ok := given[x.token]; ok && x.token > 0 && by != x.by+x.what {
			t.Errorf("token %d was given twice: %s and %s", x.token, by, x.by+x.what)
		}
		given[x.token] = x.by + x.what
		ops = append(ops, porcupine.Operation{ClientId: clients[x.by], Input: x, Call: int64(x.called), Return: int64(x.ended)})
	}
	if !porcupine.CheckOperations(locks.ToModel(), ops) { // the test's own time limit ends this
		t.Errorf("%d claims and releases are not linearizable", len(ops))
	}
	t.Logf("claims and releases: %d done, %d refused, %d unknown, %d while the servers were away", count[done], count[refused], count[unknown], count[nothing])
}

func isTask(what string) bool { return !strings.HasPrefix(what, "src/") }

// faults are what the rounds do. Each returns what ends it.
func faults(t *testing.T, c *cluster, ms []*machine, ws []*worker, r *rand.Rand) map[string]func() func() {
	m := func() *machine { return ms[r.IntN(len(ms))] }
	network := func(f proctest.Fault, cut bool) func() func() {
		return func() func() {
			m := m()
			for _, p := range m.proxies {
				p.Set(f)
			}
			return func() {
				for _, p := range m.proxies {
					if p.Set(proctest.Pass); cut {
						p.Cut()
					}
				}
			}
		}
	}
	killServers := func(n int) func() func() {
		return func() func() {
			which := r.Perm(len(c.servers))[:n]
			for _, i := range which {
				c.kill(t, i)
			}
			return func() {
				for _, i := range which {
					c.start(t, i)
				}
			}
		}
	}
	all := map[string]func() func(){
		"a server is killed": killServers(1),
		"a client is killed": func() func() {
			ws[r.IntN(len(ws))].kill()
			return func() {}
		},
		"connections are cut":     func() func() { return network(proctest.Pass, true)() },
		"answers are lost":        network(proctest.DropAnswers, true),
		"an answer is halved":     network(proctest.Halve, false),
		"the network is slow":     network(proctest.Slow, false),
		"a machine is cut off":    network(proctest.DropAll, true),
		"connections are refused": network(proctest.Refuse, true),
	}
	if len(c.servers) > 1 {
		all["two servers are killed"] = killServers(2)
		all["a server is cut off from the others"] = func() func() {
			p := c.servers[r.IntN(len(c.servers))].peers
			p.Set(proctest.DropAll)
			return func() { p.Set(proctest.Pass); p.Cut() }
		}
	}
	return all
}

// lateEach is after how many rounds another machine joins.
const lateEach = 10

// snapshotEach has the logs of the team's stream get a new snapshot after so many commits.
func (c *cluster) snapshotEach(t *testing.T, commits int) {
	t.Helper()
	js := c.jetstream(t)
	st, err := js.Stream(t.Context(), "my-app")
	if err != nil {
		t.Fatal(err)
	}
	config := st.CachedInfo().Config
	config.Metadata["lean-ctx-snapshot-each"] = strconv.Itoa(commits)
	if _, err := js.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) jetstream(t *testing.T) jetstream.JetStream {
	t.Helper()
	seed, err := nats.NkeyOptionFromSeed(c.signedIn[len(c.signedIn)-1])
	if err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect("nats://"+c.servers[0].addr, seed, nats.Secure(&tls.Config{InsecureSkipVerify: true}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// kept tells what the stream has: its commits, and the number of the last one that there ever was.
func (c *cluster) kept(t *testing.T) (messages, last uint64) {
	t.Helper()
	st, err := c.jetstream(t).Stream(t.Context(), "my-app")
	if err != nil {
		t.Fatal(err)
	}
	return st.CachedInfo().State.Msgs, st.CachedInfo().State.LastSeq
}

// Servers, clients and the network fail at random while agents on several machines remember,
// claim and release. Snapshots are made all the time, and machines join late. What was acknowledged
// is there once, and the same on every machine.
func TestTeamRounds(t *testing.T) {
	t.Parallel()
	servers, machines, processes, n, progress, pause, each := 1, 2, 2, 3, int64(4), time.Duration(0), 8
	if *long {
		servers, machines, processes, n, progress, pause, each = 3, 8, 4, *rounds, 30, 500*time.Millisecond, 40
	}
	seed := uint64(1) // a short run has the same faults each time
	if *long {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))

	c := startCluster(t, servers)
	var ms []*machine
	var ws []*worker
	h := &history{start: time.Now(), facts: map[string]outcome{}}
	lagging := c.machine(t) // it fetches nothing until the end
	c.snapshotEach(t, each)
	for i := range machines {
		m := c.machine(t)
		ms = append(ms, m)
		for j := range processes {
			w := &worker{t: t, m: m, name: fmt.Sprintf("w%d%d", i, j)}
			w.agent = jsonField(t, m.must(t, "agent", "register", "worker", w.name, "--json"), "agent_id")
			ws = append(ws, w)
		}
	}
	newTask := func(round int) {
		code, out := 1, ""
		for code != 0 { // in doubt, or the servers are still away; two tasks do no harm
			code, out = ms[0].run(t, "task", "create", fmt.Sprint("round ", round), "--json")
		}
		h.task.Store(jsonField(t, out, "id"))
	}
	newTask(0)
	var wg sync.WaitGroup
	for _, w := range ws {
		wg.Go(func() { w.work(h) })
	}
	stop := func() { h.stop.Store(true); wg.Wait() }
	defer func() {
		stop()
		for _, w := range ws {
			if w.cmd != nil {
				end(w.cmd)
			}
		}
	}()
	wait := func(n int64, most time.Duration) {
		for want, late := h.acked.Load()+n, time.Now().Add(most); h.acked.Load() < want && time.Now().Before(late); {
			time.Sleep(time.Millisecond)
		}
	}
	all := faults(t, c, ms, ws, r)
	kinds := slices.Sorted(maps.Keys(all))
	for round := range n {
		kind := kinds[r.IntN(len(kinds))]
		before, begun := h.acked.Load(), time.Now()
		over := all[kind]()
		wait(progress, pause)
		during := h.acked.Load() - before
		over()
		wait(progress, time.Minute)
		if t.Logf("round %d: %s: %d acknowledged meanwhile, %v in all", round, kind, during, time.Since(begun).Round(time.Millisecond)); h.acked.Load() == before+during {
			t.Fatal("nothing is acknowledged any more")
		}
		newTask(round + 1)
		if round%lateEach == 1 { // a machine that comes later
			m := c.machine(t)
			w := &worker{t: t, m: m, name: fmt.Sprint("late", round)}
			w.agent = jsonField(t, m.must(t, "agent", "register", "worker", w.name, "--json"), "agent_id")
			ms, ws = append(ms, m), append(ws, w)
			wg.Go(func() { w.work(h) })
		}
	}
	stop()

	ms = append(ms, lagging)
	want := ms[0].must(t, "knowledge", "export", "--shared")
	for i, m := range ms[1:] {
		if got := m.must(t, "knowledge", "export", "--shared"); got != want {
			t.Errorf("machine %d has other facts than machine 0:\n%s\n%s", i+1, got, want)
		}
	}
	var there struct {
		Facts []struct {
			Key, Value    string
			Confirmations int `json:"confirmation_count"`
		}
	}
	if err := json.Unmarshal([]byte(want), &there); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range there.Facts {
		if o, ok := h.facts[f.Key]; !ok || o == nothing || o == refused || found[f.Key] || f.Confirmations != 1 || f.Value != "fact "+f.Key {
			t.Errorf("%+v, which was answered with %d", f, o)
		}
		found[f.Key] = true
	}
	count := map[outcome]int{}
	for key, o := range h.facts {
		if count[o]++; o == done && !found[key] {
			t.Errorf("%s was acknowledged and is not there", key)
		}
	}
	t.Logf("facts: %d acknowledged, %d in doubt, %d while the servers were away, %d there", count[done], count[unknown], count[nothing], len(found))
	h.linearizable(t)
	messages, last := c.kept(t)
	t.Logf("the stream has %d of %d commits, and %d machines joined", messages, last, len(ms))
	if *long && messages > last/2 {
		t.Error("no snapshot was made")
	}
}

// jsonField is the first field with a name.
func jsonField(t *testing.T, text, name string) string {
	t.Helper()
	m := regexp.MustCompile(`"` + name + `":\s*"([^"]+)"`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal(text)
	}
	return m[1]
}
