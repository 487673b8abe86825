package diary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/notice"
)

// Owner identifies the agent whose diary a file is.
type Owner struct {
	AgentID   string `json:"agent_id"`
	AgentType string `json:"agent_type"`
	Project   string `json:"project_hash"`
	Root      string `json:"project_root"`
}

// diary is one agent's diary.
type diary struct {
	owner   Owner
	entries []Entry // the oldest first; the slice is never changed in place
}

// event is a new entry. A diary's first commit also has its owner.
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

// document is the form of a diary in its snapshot file.
type document struct {
	journal.Header
	Owner
	Entries []Entry `json:"entries"`
}

func (machine) Encode(w io.Writer, d *diary, h journal.Header) error {
	return journal.EncodeDocument(w, document{h, d.owner, append([]Entry{}, d.entries...)})
}

func (machine) Decode(data []byte) (*diary, error) {
	var d document
	err := journal.DecodeDocument(data, &d)
	return &diary{d.Owner, d.Entries}, err
}

var _ journal.Machine[*diary, event] = machine{}

// schema is the version of a diary's files. Newer ones are refused.
const schema = 1

const (
	suffix    = ".journal"
	maxOpen   = 8
	compactAt = 256 << 10 // journal size in bytes at which a server compacts a diary
)

// Options of a directory. The zero value works.
type Options struct {
	LongLived bool             // a server: it keeps the diaries' journals short
	Now       func() time.Time // default time.Now
	Logger    *slog.Logger
	Notices   *notice.Pending             // receives warnings about damaged files; may be nil
	Fault     func(op, name string) error // for crash tests: called before each file operation
	Team      journal.Team                // the machines that share the diaries; nil: this one alone
	Fence     journal.Fence               // of the diaries while they move to a team or back; may be nil
}

type journalLog = journal.Log[*diary, event]

// Dir is a directory of diaries. It keeps a few of them open, because each needs two
// files. It is safe for concurrent use, by any number of processes.
type Dir struct {
	dir  string
	opts Options

	mu   sync.Mutex
	open map[string]*openDiary // by the agent's id
}

type openDiary struct {
	log   *journalLog
	shown int // number of the log's warnings that became notices
}

// New returns the diaries of a directory, which need not exist.
func New(dir string, o *Options) *Dir {
	s := &Dir{dir: dir, open: map[string]*openDiary{}}
	if o != nil {
		s.opts = *o
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.New(slog.DiscardHandler))
	s.opts.Notices = cmp.Or(s.opts.Notices, new(notice.Pending))
	return s
}

// Close closes the diaries that are open.
func (s *Dir) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closeAll()
}

// closeAll closes the diaries. mu is held.
func (s *Dir) closeAll() error {
	var errs []error
	for _, b := range s.open {
		b.log.SettleOrLog()
		errs = append(errs, b.log.Close())
	}
	clear(s.open)
	return errors.Join(errs...)
}

// Writers lists the ids of the agents that have a diary, sorted.
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

// Entries lists a diary's entries, the oldest first. The caller must not change the slice.
func (s *Dir) Entries(ctx context.Context, id string) (list []Entry, err error) {
	err = s.with(id, func(log *journalLog) error {
		return log.View(ctx, func(d *diary, _ journal.Head) error {
			list = slices.Clip(d.entries)
			return nil
		})
	})
	return list, err
}

// Tail lists the last entries of a diary, the newest first.
func (s *Dir) Tail(ctx context.Context, id string, most int) ([]Entry, error) {
	all, err := s.Entries(ctx, id)
	out := slices.Clone(all[max(0, len(all)-most):])
	slices.Reverse(out)
	return out, err
}

// Enter adds an entry and sets its number and time.
func (s *Dir) Enter(ctx context.Context, o Owner, e Entry) (Entry, error) {
	err := s.with(o.AgentID, func(log *journalLog) error {
		_, err := log.Update(ctx, func(d *diary, now time.Time) ([]event, error) {
			if e.Number, e.At = 1, now.UTC(); len(d.entries) > 0 {
				e.Number = d.entries[len(d.entries)-1].Number + 1
			}
			x := event{Entry: new(e)}
			if d.owner != o { // the diary is new, or its first commit was lost
				x.Owner = &o
			}
			return []event{x}, nil
		})
		if err != nil || !s.opts.LongLived {
			return err
		}
		if size := log.Stats(); size.JournalBytes > max(compactAt, size.SnapshotBytes/4) {
			if err := log.Compact(ctx); err != nil { // only logged: the entry is safe
				s.opts.Logger.Warn("a diary was not compacted", "agent", o.AgentID, "error", err)
			}
		}
		return nil
	})
	return e, err
}

// Compact writes a diary into its snapshot file.
func (s *Dir) Compact(ctx context.Context, id string) error {
	err := s.with(id, func(log *journalLog) error { return log.Compact(ctx) })
	if err != nil {
		return fmt.Errorf("diary of %s: %w", id, err)
	}
	return nil
}

// Damage reports what is or was wrong with a diary since it was opened, also that it
// cannot be read. aside lists the paths of files that were set aside.
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

// with runs do on a diary, which need not exist, and reports damage found in its files as notices.
func (s *Dir) with(id string, do func(*journalLog) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.open[id]
	if b == nil {
		if len(s.open) >= maxOpen {
			if err := s.closeAll(); err != nil {
				return err
			}
		}
		log, err := journal.Open(s.dir, machine{}, &journal.Options{
			Name: id, Schema: schema, Now: s.opts.Now, Logger: s.opts.Logger, Fault: s.opts.Fault,
			Remote: s.opts.Team.Log("diary." + id), Fence: s.opts.Fence,
		})
		if err != nil {
			return err
		}
		b = &openDiary{log: log}
		s.open[id] = b
	}
	err := do(b.log)
	warnings := b.log.Warnings()
	for _, w := range warnings[min(b.shown, len(warnings)):] {
		s.opts.Notices.Add("%s", warning(id, w.Text))
	}
	b.shown = len(warnings)
	return err
}

// CopyTo adds to a diary in another directory the entries that it does not have there.
func (s *Dir) CopyTo(ctx context.Context, id string, to *Dir) error {
	var all diary
	err := s.with(id, func(log *journalLog) error {
		_, err := log.Update(ctx, func(d *diary, _ time.Time) ([]event, error) { // a write that has begun ends first
			all = diary{d.owner, slices.Clip(d.entries)}
			return nil, nil
		})
		return err
	})
	if err != nil || len(all.entries) == 0 {
		return err
	}
	return to.with(id, func(log *journalLog) error {
		_, err := log.Update(ctx, func(d *diary, _ time.Time) (events []event, err error) {
			if len(d.entries) == 0 {
				events = append(events, event{Owner: &all.owner})
			}
			for _, e := range all.entries[min(len(d.entries), len(all.entries)):] {
				events = append(events, event{Entry: &e})
			}
			return events, nil
		})
		return err
	})
}
