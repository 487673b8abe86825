package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// warmRows are what a server takes in small stores of real words, where most stores are: beside a
// synced append, a ping and, where they are installed, other memory servers that hold as many facts.
func warmRows() []row {
	const group = "warm, real words"
	small := func(facts int) float64 {
		if facts > 10_000 {
			return -1
		}
		return 0
	}
	remember := func(b *bench, _ int) (float64, error) {
		return b.call("remember", object{"category": "warm", "key": b.name(), "value": b.real(9)})
	}
	recall := func(b *bench, _ int) (float64, error) { return b.call("recall", object{"query": b.real(3)}) }
	rows := []row{
		{group: group, name: "remember", runs: 301, plus: small, run: remember, floors: []floor{{fsync.name, 4, fsync.run}}},
		{group: group, name: "recall", runs: 301, plus: small, run: recall, floors: []floor{ping(11)}},
		{group: group, name: "a change after 3,000 of its fact", runs: 101, plus: small, run: manyChanges,
			floors: []floor{{"its first hundred changes", 2, func(b *bench, _ int) (float64, error) { return b.changes, nil }}}},
		{group: group, name: "processor time, 8 clients", runs: 5, plus: small, run: func(b *bench, _ int) (float64, error) { return b.busy(8) },
			floors: []floor{{"one client", 2, func(b *bench, _ int) (float64, error) { return b.busy(1) }}}},
	}
	for _, p := range peers {
		beside := func(name string, times float64, run func(b *bench, i int) (float64, error), theirs func(*bench, *peerServer) (float64, error)) row {
			return row{group: group, name: name + ", beside " + p.name, runs: 101, plus: small, run: run, bytes: theirs == nil,
				most: p.most, needs: func(b *bench) bool { return p.installed(b.peers) },
				floors: []floor{{p.name, times, func(b *bench, _ int) (float64, error) {
					s, err := b.peer(p)
					switch {
					case err != nil:
						return 0, err
					case theirs == nil:
						return memoryOf(s.process.Process.Pid), nil
					}
					return theirs(b, s)
				}}}}
		}
		memory := beside("resident memory", .8, func(b *bench, i int) (float64, error) {
			if _, err := recall(b, i); err != nil {
				return 0, err
			}
			return memoryOf(b.server.process.Process.Pid), nil
		}, nil)
		memory.runs = 1
		rows = append(rows,
			beside("remember", .6, remember, func(b *bench, s *peerServer) (float64, error) {
				return timed(func() error { return s.store(b.name(), b.real(9)) })
			}),
			beside("recall", .8, recall, func(b *bench, s *peerServer) (float64, error) {
				return timed(func() error { return s.search(b.real(3)) })
			}),
			memory)
	}
	return rows
}

// real returns n of the generator's real words, by chance.
func (b *bench) real(n int) string {
	all := strings.Fields(projectWords)
	words := make([]string, n)
	for i := range words {
		words[i] = all[b.gen.rng.IntN(len(all))]
	}
	return strings.Join(words, " ")
}

// name is a new name of a fact.
func (b *bench) name() string {
	b.named++
	return fmt.Sprint("w", b.named)
}

// manyChanges changes a fact again, that has changed 3,000 times when it is first asked to.
func manyChanges(b *bench, i int) (float64, error) {
	change := func() (float64, error) {
		return b.call("remember", object{"category": "warm", "key": "changed", "value": b.real(9) + " " + b.name(), "source": "user"})
	}
	if b.changes == 0 {
		var first []float64
		for n := range 3_000 {
			took, err := change()
			if err != nil {
				return 0, err
			}
			if n < 100 {
				first = append(first, took)
			}
		}
		b.changes = quantile(first, .5)
	}
	return change()
}

// busy is the processor time that the server takes for a remember, of several clients at once; 0
// where the system does not say.
func (b *bench) busy(clients int) (float64, error) {
	s, err := b.serve()
	if err != nil {
		return 0, err
	}
	const each = 40
	facts := make(chan object, clients*each)
	for range cap(facts) {
		facts <- object{"category": "warm", "key": b.name(), "value": b.real(9)}
	}
	close(facts)
	before, errs := processorOf(s.process.Process.Pid), make([]error, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for f := range facts {
				_, err := s.call("remember", f)
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	wg.Wait()
	return float64(processorOf(s.process.Process.Pid)-before) / float64(clients*each) / float64(time.Microsecond), errors.Join(errs...)
}

// processorOf is the processor time of a process, in steps of 10 ms as Linux counts it.
func processorOf(pid int) time.Duration {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(data), ") ")
	var sum time.Duration
	for i, f := range strings.Fields(rest) {
		if n, err := strconv.Atoi(f); err == nil && (i == 11 || i == 12) { // utime, stime
			sum += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return sum
}

// peer is another memory server that is measured beside ours. -peers names the folder where
// `npm install` put it.
type peer struct {
	name          string
	program       string // below the folder
	most          int    // facts of the largest store that it is measured with
	env           func(dir string) []string
	store, search func(key, text string) (tool string, args object)
}

var peers = []peer{
	{"mnemon-mcp", "node_modules/mnemon-mcp/dist/index.js", 10_000,
		func(dir string) []string { return []string{"MNEMON_DB_PATH=" + filepath.Join(dir, "mnemon.db")} },
		func(key, text string) (string, object) {
			return "memory_add", object{"title": key, "content": text, "layer": "semantic", "entity_name": key, "entity_type": "concept", "scope": "bench"}
		},
		func(_, text string) (string, object) { return "memory_search", object{"query": text, "limit": 10} }},
	{"server-memory", "node_modules/@modelcontextprotocol/server-memory/dist/index.js", 1_000, // each call writes all
		func(dir string) []string { return []string{"MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.jsonl")} },
		func(key, text string) (string, object) {
			return "create_entities", object{"entities": []object{{"name": key, "entityType": "fact", "observations": []string{text}}}}
		},
		func(_, text string) (string, object) { return "search_nodes", object{"query": text} }},
}

func (p peer) installed(folder string) bool {
	if folder == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(folder, p.program))
	return err == nil
}

// peerServer is a running peer.
type peerServer struct {
	peer
	session *mcp.ClientSession
	ctx     context.Context
	process *exec.Cmd
}

// peer starts a peer and gives it as many facts as the store has.
func (b *bench) peer(p peer) (*peerServer, error) {
	if s := b.running[p.name]; s != nil {
		return s, nil
	}
	dir := filepath.Join(b.dir, p.name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &peerServer{peer: p, ctx: b.ctx, process: exec.CommandContext(b.ctx, "node", filepath.Join(b.peers, p.program))}
	s.process.Dir, s.process.Env = dir, append(cleanEnv(dir), p.env(dir)...)
	client := mcp.NewClient(&mcp.Implementation{Name: "measure", Version: "1"}, nil)
	var err error
	if s.session, err = client.Connect(b.ctx, &mcp.CommandTransport{Command: s.process, TerminateDuration: time.Minute}, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	if b.running == nil {
		b.running = map[string]*peerServer{}
	}
	b.running[p.name] = s
	for range b.n {
		if err := s.store(b.name(), b.real(9)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *peerServer) store(key, text string) error { return s.call(s.peer.store(key, text)) }

func (s *peerServer) search(text string) error { return s.call(s.peer.search("", text)) }

func (s *peerServer) call(tool string, args object) error {
	answer, err := s.session.CallTool(s.ctx, &mcp.CallToolParams{Name: tool, Arguments: maps.Clone(args)})
	if err == nil && answer.IsError {
		err = fmt.Errorf("%s: %s: an error", s.name, tool)
	}
	return err
}
