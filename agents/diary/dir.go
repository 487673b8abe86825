package diary

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/notice"
)

// Owner says whose diary a file is.
type Owner struct {
	AgentID   string `json:"agent_id"`
	AgentType string `json:"agent_type"`
	Project   string `json:"project_hash"`
	Root      string `json:"project_root"`
}

// diary is one agent's.
type diary struct {
	owner   Owner
	entries []Entry // the oldest first; never changed
}

// event is an entry, with the owner in a diary's first commit.
type event struct {
	Owner *Owner `json:"owner,omitempty"`
	Entry *Entry `json:"entry,omitempty"`
}

type machine struct{}

func (machine) New() *diary { return &diary{} }

func (machine) Fold(d *diary, c journal.Commit[event]) *diary {
	for _, e := range c.Events {
		if e.Owner != nil {
			d.owner = *e.Owner
		}
		if e.Entry != nil {
			d.entries = append(d.entries, *e.Entry)
		}
	}
	return d
}

func (machine) Clone(d *diary) *diary { return new(*d) }

// document is a diary as its file.
type document struct {
	Schema int `json:"schema"`
	Owner
	UpdatedAt  time.Time `json:"updated_at"`
	Checksum   string    `json:"checksum"`
	Seq        uint64    `json:"seq"`
	Generation uint64    `json:"generation"`
	Entries    []Entry   `json:"entries"`
}

func (machine) Encode(w io.Writer, d *diary, h journal.Header) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(document{h.Schema, d.owner, h.At.UTC(), h.Checksum, h.Seq, h.Generation, append([]Entry{}, d.entries...)})
}

func (machine) Decode(data []byte) (*diary, error) {
	var d document
	err := json.Unmarshal(data, &d)
	return &diary{d.Owner, d.Entries}, err
}

var _ journal.Machine[*diary, event] = machine{}

// schema is the newest one of a diary's files that this program reads.
const schema = 1

const (
	suffix  = ".journal"
	maxOpen = 8
	grown   = 256 << 10 // bytes of a journal after which a server writes the diary's file anew
)

// Options of a directory. The zero value works.
type Options struct {
	LongLived bool             // a server: it keeps the diaries' journals short
	Now       func() time.Time // default time.Now
	Logger    *slog.Logger
	Notices   *notice.Pending             // is told what was found wrong with a file; may be nil
	Fault     func(op, name string) error // for crash tests: called before each file operation
}

type journalLog = journal.Log[*diary, event]

// Dir is the diaries of a directory, a few of them open: each holds two files.
// It is safe for concurrent use, by any number of processes.
type Dir struct {
	dir  string
	opts Options

	mu   sync.Mutex
	open []*openDiary // the last used one last
}

type openDiary struct {
	id    string
	log   *journalLog
	shown int // how many of the log's warnings were given as notices
}

// New is the diaries of a directory, which need not exist.
func New(dir string, o *Options) *Dir {
	s := &Dir{dir: dir}
	if o != nil {
		s.opts = *o
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.New(slog.DiscardHandler)
	}
	return s
}

// Close closes the diaries that are open.
func (s *Dir) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, b := range s.open {
		errs = append(errs, b.log.Close())
	}
	s.open = nil
	return errors.Join(errs...)
}

// Writers are the ids of those who have a diary, in order.
func (s *Dir) Writers() ([]string, error) {
	files, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []string
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), suffix); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Size is how many bytes the journal of a diary has: another size says that
// something was written.
func (s *Dir) Size(id string) (int64, error) {
	fi, err := os.Stat(filepath.Join(s.dir, id+suffix))
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// Entries are those of a diary, the oldest first. They must not be changed.
func (s *Dir) Entries(ctx context.Context, id string) (list []Entry, err error) {
	err = s.with(id, func(log *journalLog) error {
		return log.View(ctx, func(d *diary, _ journal.Head) error {
			list = slices.Clip(d.entries)
			return nil
		})
	})
	return list, err
}

// Tail is the last entries of a diary, the newest first.
func (s *Dir) Tail(ctx context.Context, id string, most int) ([]Entry, error) {
	all, err := s.Entries(ctx, id)
	out := slices.Clone(all[max(0, len(all)-most):])
	slices.Reverse(out)
	return out, err
}

// Enter adds an entry, and gives it its number and time.
func (s *Dir) Enter(ctx context.Context, o Owner, e Entry) (Entry, error) {
	err := s.with(o.AgentID, func(log *journalLog) error {
		_, err := log.Update(ctx, func(d *diary, now time.Time) ([]event, error) {
			if e.Number, e.At = 1, now.UTC(); len(d.entries) > 0 {
				e.Number = d.entries[len(d.entries)-1].Number + 1
			}
			x := event{Entry: new(e)}
			if d.owner != o { // it is new, or its first commit is lost
				x.Owner = &o
			}
			return []event{x}, nil
		})
		if err != nil || !s.opts.LongLived {
			return err
		}
		if size := log.Stats(); size.JournalBytes > max(grown, size.SnapshotBytes/4) {
			if err := log.Compact(ctx); err != nil { // the entry is safe
				s.opts.Logger.Warn("a diary was not compacted", "agent", o.AgentID, "error", err)
			}
		}
		return nil
	})
	return e, err
}

// Compact writes a diary into its readable file.
func (s *Dir) Compact(ctx context.Context, id string) error {
	err := s.with(id, func(log *journalLog) error { return log.Compact(ctx) })
	if err != nil {
		return fmt.Errorf("diary of %s: %w", id, err)
	}
	return nil
}

// Damage tells what is wrong with a diary or was since it was opened, and gives
// the paths of what was set aside. That it cannot be read is among what is told.
func (s *Dir) Damage(ctx context.Context, id string) (found, aside []string) {
	_, err := s.Entries(ctx, id)
	if err == nil {
		err = s.with(id, func(log *journalLog) error {
			found, aside = notice.Damage(s.dir, log.Warnings(), log.Stats())
			return nil
		})
	}
	if err != nil {
		found = append(found, err.Error())
	}
	for i, text := range found {
		found[i] = warning(id, text)
	}
	return found, aside
}

func warning(id, text string) string { return fmt.Sprintf("diary of %s: %s", id, text) }

// with runs do on a diary, which need not exist.
func (s *Dir) with(id string, do func(*journalLog) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.open, func(b *openDiary) bool { return b.id == id }); i >= 0 {
		b := s.open[i]
		s.open = append(slices.Delete(s.open, i, i+1), b)
		return s.use(b, do)
	}
	log, err := journal.Open(s.dir, machine{}, &journal.Options{
		Name: id, Schema: schema, Now: s.opts.Now, Logger: s.opts.Logger, Fault: s.opts.Fault,
	})
	if err != nil {
		return err
	}
	b := &openDiary{id: id, log: log}
	s.open = append(s.open, b)
	var closed error
	if len(s.open) > maxOpen {
		closed = s.open[0].log.Close()
		s.open = slices.Delete(s.open, 0, 1)
	}
	return cmp.Or(s.use(b, do), closed)
}

// use runs do, and tells what it found wrong with the files.
func (s *Dir) use(b *openDiary, do func(*journalLog) error) error {
	err := do(b.log)
	warnings := b.log.Warnings()
	for _, w := range warnings[min(b.shown, len(warnings)):] {
		if s.opts.Notices != nil {
			s.opts.Notices.Add("%s", warning(b.id, w.Text))
		}
	}
	b.shown = len(warnings)
	return err
}
