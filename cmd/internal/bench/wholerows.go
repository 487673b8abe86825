package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"leanctx/knowledge"
)

// amount is a measure that there is once.
func amount(value, floor float64) Cell {
	return Cell{Runs: 1, P50: value, P95: value, FloorP50: new(floor), FloorP95: new(floor)}
}

func diskRows() []row {
	one := func(name string, of func(disk) int64) row {
		return row{groupDisk, name, Bytes, floorInput, false, func(_ context.Context, b *bed) (Cell, error) {
			info, err := os.Stat(b.input)
			if err != nil {
				return Cell{}, err
			}
			return amount(float64(of(b.disk)), float64(info.Size())), nil
		}}
	}
	return []row{
		one("fact file", func(d disk) int64 { return d.facts }),
		one("journal", func(d disk) int64 { return d.journal }),
		one("text index", func(d disk) int64 { return d.index }),
		one("key table and the rest", func(d disk) int64 { return d.other }),
	}
}

const resident = "resident after some calls"

func memoryRows() []row {
	one := func(name string, of func(memory) float64) row {
		return row{groupMemory, name, Bytes, floorServer, false, func(ctx context.Context, b *bed) (Cell, error) {
			if err := b.cool(); err != nil {
				return Cell{}, err
			}
			full, err := b.memory(ctx, b.data)
			if err != nil || of(full) == 0 {
				return Cell{}, err
			}
			empty, err := b.memory(ctx, b.data+"-empty")
			return amount(of(full), of(empty)), err
		}}
	}
	return []row{
		one(resident, func(m memory) float64 { return m.resident }),
		one("at its highest", func(m memory) float64 { return m.highest }),
	}
}

// memory is what the kernel says a process takes, in bytes; 0 where it does
// not say.
type memory struct{ resident, highest float64 }

// memory asks a server on a data directory some questions of each kind and
// looks at what it takes then. Both rows are about the same server.
func (b *bed) memory(ctx context.Context, data string) (m memory, err error) {
	if m, ok := b.memories[data]; ok {
		return m, nil
	}
	s, err := b.serve(ctx, data)
	if err != nil {
		return m, err
	}
	defer func() { err = s.end(err) }()
	for i := range 20 {
		for _, r := range recalls() {
			if err := s.recall(r.ask(b.questions, i)); err != nil {
				return m, err
			}
		}
	}
	f := b.corpus.next()
	for _, arguments := range []map[string]any{
		{"action": "remember", "category": f.Category, "key": f.Key, "value": f.Value},
		{"action": "wakeup"}, {"action": "status"}, {"action": "rooms"}, {"action": "timeline", "category": f.Category},
	} {
		if err := s.call("ctx_knowledge", arguments); err != nil {
			return m, err
		}
	}
	status := read(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	m = memory{kibibytes(status, "VmRSS"), kibibytes(status, "VmHWM")}
	b.memories[data] = m
	return m, nil
}

// kibibytes is a line "name: n kB" of /proc, in bytes.
func kibibytes(status, name string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(colon(status, name), " kB"), 64)
	if err != nil {
		return 0
	}
	return n * 1024
}

func wholeRows() []row {
	return []row{
		{groupWhole, "open, an exact key, close", Micros, floorPage, false, opened},
		{groupWhole, "import of all facts", Micros, floorWrite, false, func(_ context.Context, b *bed) (Cell, error) { return b.imported, nil }},
		{groupWhole, "index made anew", Micros, floorRead, false, indexed},
		{groupWhole, "compact", Micros, floorWrite, false, compacted},
	}
}

// opened is what a command pays for the store itself, beside the start of the
// process.
func opened(ctx context.Context, b *bed) (Cell, error) {
	if err := b.cool(); err != nil {
		return Cell{}, err
	}
	do := stretch(func(ctx context.Context, i int) error {
		return b.briefly(func(s *knowledge.Store) error {
			_, err := s.Recall(ctx, pick(b.questions.keys, i).question())
			return err
		})
	})
	return turns(ctx, b.effort(usualInServer, serverBudget), do, b.page())
}

// indexed makes the text index of a store that has lost it.
func indexed(ctx context.Context, b *bed) (Cell, error) {
	if err := b.cool(); err != nil {
		return Cell{}, err
	}
	do := func(ctx context.Context, _ int) (took time.Duration, err error) {
		if err := os.RemoveAll(filepath.Join(b.store, "index")); err != nil {
			return 0, err
		}
		err = b.briefly(func(s *knowledge.Store) error {
			start := time.Now()
			err := s.SyncIndex(ctx)
			took = time.Since(start)
			return err
		})
		return took, err
	}
	return turns(ctx, b.rarely(), do, b.readFacts())
}

// compacted is the compaction as a command: it writes the whole fact file.
func compacted(ctx context.Context, b *bed) (Cell, error) {
	if err := b.cool(); err != nil {
		return Cell{}, err
	}
	info, err := os.Stat(filepath.Join(b.store, "knowledge.json"))
	if err != nil {
		return Cell{}, err
	}
	do := stretch(func(ctx context.Context, _ int) error {
		_, err := b.command(ctx, "compact")
		return err
	})
	return turns(ctx, b.rarely(), do, b.write(info.Size()))
}
