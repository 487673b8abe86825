package bench

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"leanctx/knowledge"
)

// bed is a store of one size and what the rows need to measure it.
type bed struct {
	Options
	n     int
	empty program
	row   row // that is being measured

	project string // a directory, and the working directory of the children
	data    string // LEAN_CTX_DATA_DIR
	store   string // the project's in it
	input   string // the JSON lines that were imported

	corpus    *corpus
	questions questions
	values    []string // of all facts, for the scan
	imported  Cell
	firstText time.Duration // that this process encoded
	disk      disk
	warmed    *knowledge.Store
	odd       []string       // rows with answers that were not as expected, in order
	counts    map[string]int // how many
	first     map[string]string
	memories  map[string]memory // of a server, by its data directory
}

func newBed(o Options, n int, dir string, empty program) *bed {
	dir = filepath.Join(dir, fmt.Sprint(n))
	return &bed{
		Options: o, n: n, empty: empty, counts: map[string]int{}, first: map[string]string{}, memories: map[string]memory{},
		project: filepath.Join(dir, "my-app"), data: filepath.Join(dir, "data"), input: filepath.Join(dir, "facts.jsonl"),
	}
}

func (b *bed) tell(text string) { b.Progress(fmt.Sprintf("%s facts: %s", grouped(b.n), text)) }

// close lets go of the store; nothing of one size may slow the next one down.
func (b *bed) close() error {
	err := b.cool()
	b.corpus, b.values = nil, nil
	runtime.GC()
	if b.Keep == "" {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(b.project)))
	}
	return err
}

// tail is how many facts are in the journal behind the fact file and in no
// index on disk: what an ordinary hour leaves there.
const tail = 32

// make makes the store as people do: an import, then facts one by one, and a
// compaction in between.
func (b *bed) make(ctx context.Context) error {
	if err := os.MkdirAll(b.project, 0o700); err != nil {
		return err
	}
	facts, err := b.generate()
	if err != nil {
		return err
	}
	if b.imported, err = b.importAll(ctx); err != nil {
		return err
	}
	stores, err := filepath.Glob(filepath.Join(b.data, "knowledge", "*"))
	if err != nil || len(stores) != 1 {
		return cmp.Or(err, fmt.Errorf("%s holds %d stores after an import", b.data, len(stores)))
	}
	b.store = stores[0]
	if err := b.adorn(ctx, facts); err != nil {
		return err
	}
	for _, line := range [][]string{{"compact"}, {"knowledge", "embeddings-reindex"}} {
		if _, err := b.command(ctx, line...); err != nil {
			return err
		}
	}
	return b.briefly(func(s *knowledge.Store) error {
		for range tail {
			if _, err := s.Remember(ctx, b.corpus.next().assertion()); err != nil {
				return err
			}
		}
		b.disk, err = usage(b.store)
		return err
	})
}

// generate makes the facts and writes them down as JSON lines.
func (b *bed) generate() (facts []fact, err error) {
	b.corpus = newCorpus(b.Seed, b.n)
	f, err := os.OpenFile(b.input, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	facts = make([]fact, b.n)
	b.values = make([]string, b.n)
	for i := range facts {
		facts[i] = b.corpus.next()
		b.values[i] = facts[i].Value
		if err := facts[i].write(w); err != nil {
			return nil, err
		}
	}
	b.questions = b.corpus.ask(facts)
	return facts, w.Flush()
}

// adorn gives facts what the interchange form has no place for, and the store
// some lessons, then brings the index to it.
func (b *bed) adorn(ctx context.Context, facts []fact) error {
	return b.briefly(func(s *knowledge.Store) error {
		for _, f := range facts {
			if len(f.aliases)+len(f.tags) == 0 {
				continue
			}
			if _, err := s.Remember(ctx, f.assertion()); err != nil {
				return err
			}
		}
		for range min(max(b.n/1000, 4), 50) {
			if _, err := s.Pattern(ctx, knowledge.Lesson{Type: "naming", Value: b.corpus.value(), Examples: []string{b.corpus.name()}}); err != nil {
				return err
			}
			if _, err := s.Gotcha(ctx, knowledge.Mistake{Trigger: b.corpus.value(), Resolution: b.corpus.value()}); err != nil {
				return err
			}
		}
		return s.SyncIndex(ctx)
	})
}

// assertion is the fact as it is remembered.
func (f fact) assertion() knowledge.Assertion {
	return knowledge.Assertion{
		Category: f.Category, Key: f.Key, Value: f.Value, Confidence: new(f.Confidence), Source: f.Source, Tags: f.tags, Aliases: f.aliases,
	}
}

// briefly opens the store as a command does, for the time of a function.
func (b *bed) briefly(do func(*knowledge.Store) error) error {
	s, err := knowledge.Open(b.store, nil)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// warm is the store as it is in a server that has answered before: whole in
// memory, its index open and in step.
func (b *bed) warm(ctx context.Context) (*knowledge.Store, error) {
	if b.warmed != nil {
		return b.warmed, nil
	}
	s, err := knowledge.Open(b.store, &knowledge.Options{LongLived: true})
	if err != nil {
		return nil, err
	}
	b.warmed = s
	if _, err := s.Recall(ctx, knowledge.Question{Query: "anything"}); err != nil {
		return nil, err
	}
	return s, s.SyncIndex(ctx)
}

// cool closes what warm opened: what is measured next has the disk and the
// processors for itself.
func (b *bed) cool() error {
	if b.warmed == nil {
		return nil
	}
	err := b.warmed.Close()
	b.warmed = nil
	runtime.GC()
	return err
}

// unexpected keeps, of a row's answers that are not what its questions want,
// the first one and their number.
func (b *bed) unexpected(what string) {
	name := b.row.group + ": " + b.row.name
	if b.counts[name] == 0 {
		b.odd = append(b.odd, name)
		b.first[name] = what
	}
	b.counts[name]++
}

func (b *bed) notes() (notes []string) {
	for _, name := range b.odd {
		times := "once"
		if n := b.counts[name]; n > 1 {
			times = fmt.Sprintf("%d times", n)
		}
		notes = append(notes, fmt.Sprintf("%s, %s facts: %s: %s", name, grouped(b.n), times, b.first[name]))
	}
	return notes
}

// disk is what a store takes, in bytes.
type disk struct{ facts, journal, index, other int64 }

func usage(store string) (d disk, err error) {
	err = filepath.WalkDir(store, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(store, path)
		switch {
		case rel == "knowledge.json":
			d.facts += info.Size()
		case rel == "knowledge.journal":
			d.journal += info.Size()
		case strings.HasPrefix(filepath.ToSlash(rel), "index/"):
			d.index += info.Size()
		default:
			d.other += info.Size()
		}
		return err
	})
	return d, err
}
