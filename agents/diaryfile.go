package agents

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"leanctx/internal/journal"
)

// entry is one of a diary, as it is stored.
type entry struct {
	Number  int       `json:"number"`
	Type    string    `json:"entry_type"`
	Text    string    `json:"content"`
	Context string    `json:"context,omitempty"`
	At      time.Time `json:"timestamp"`
}

// owner says whose diary a file is.
type owner struct {
	AgentID   string `json:"agent_id"`
	AgentType string `json:"agent_type"`
	Project   string `json:"project_hash"`
	Root      string `json:"project_root"`
}

// diary is one agent's, in a file of its own: it outlives the agent, and
// no other agent's entries have to be read for it.
type diary struct {
	owner   owner
	entries []entry // the oldest first; never changed
}

// diaryEvent is an entry, with the owner in a diary's first commit.
type diaryEvent struct {
	Owner *owner `json:"owner,omitempty"`
	Entry *entry `json:"entry,omitempty"`
}

type diaryMachine struct{}

func (diaryMachine) New() *diary { return &diary{} }

func (diaryMachine) Fold(d *diary, c journal.Commit[diaryEvent]) *diary {
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

func (diaryMachine) Clone(d *diary) *diary { return new(*d) }

func (diaryMachine) Encode(w io.Writer, d *diary, h journal.Header) error {
	b := bufio.NewWriter(w)
	o := d.owner
	fmt.Fprintf(b, "{\n  \"schema\": %d,\n  \"agent_id\": %s,\n  \"agent_type\": %s,\n  \"project_hash\": %s,\n  \"project_root\": %s,\n",
		h.Schema, quote(o.AgentID), quote(o.AgentType), quote(o.Project), quote(o.Root))
	fmt.Fprintf(b, "  \"updated_at\": %q,\n  \"checksum\": %q,\n  \"seq\": %d,\n  \"generation\": %d",
		h.At.UTC().Format(time.RFC3339Nano), h.Checksum, h.Seq, h.Generation)
	if err := list(b, "entries", slices.Values(d.entries)); err != nil {
		return err
	}
	b.WriteString("\n}\n")
	return b.Flush()
}

func (diaryMachine) Decode(data []byte) (*diary, error) {
	var d struct {
		owner
		Entries []entry `json:"entries"`
	}
	err := json.Unmarshal(data, &d)
	return &diary{d.owner, d.Entries}, err
}

type diaryLog = journal.Log[*diary, diaryEvent]

// diaries are the diaries that are open. They are few: each holds two files.
type diaries struct {
	mu   sync.Mutex
	open []*openDiary // the last used one last
}

type openDiary struct {
	id   string
	log  *diaryLog
	told int // how many of the log's warnings were
}

const (
	diaryDir   = "diaries"
	maxOpen    = 8
	diaryGrown = 256 << 10 // bytes of a journal after which a server writes the diary's file anew
)

// withDiary runs do on an agent's diary, which need not exist.
func (s *Store) withDiary(id string, do func(*diaryLog) error) error {
	d := &s.diaries
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.IndexFunc(d.open, func(o *openDiary) bool { return o.id == id }); i >= 0 {
		o := d.open[i]
		d.open = append(slices.Delete(d.open, i, i+1), o)
		return s.withOpen(o, do)
	}
	log, err := journal.Open(filepath.Join(s.dir, diaryDir), diaryMachine{}, &journal.Options{
		Name: id, Schema: schema, Now: s.opts.Now, Logger: s.opts.Logger, Fault: s.opts.Fault,
	})
	if err != nil {
		return err
	}
	o := &openDiary{id: id, log: log}
	d.open = append(d.open, o)
	var closed error
	if len(d.open) > maxOpen {
		closed = d.open[0].log.Close()
		d.open = slices.Delete(d.open, 0, 1)
	}
	return cmp.Or(s.withOpen(o, do), closed)
}

// withOpen runs do, and tells what it found wrong with the files.
func (s *Store) withOpen(o *openDiary, do func(*diaryLog) error) error {
	err := do(o.log)
	warnings := o.log.Warnings()
	for _, w := range warnings[min(o.told, len(warnings)):] {
		s.notices.Add("%s", diaryWarning(o.id, w.Text))
	}
	o.told = len(warnings)
	return err
}

func (d *diaries) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, o := range d.open {
		errs = append(errs, o.log.Close())
	}
	d.open = nil
	return errors.Join(errs...)
}

// entries are an agent's, the oldest first. They must not be changed.
func (s *Store) entries(ctx context.Context, id string) (list []entry, err error) {
	err = s.withDiary(id, func(log *diaryLog) error {
		return log.View(ctx, func(d *diary, _ journal.Head) error {
			list = slices.Clip(d.entries)
			return nil
		})
	})
	return list, err
}

// tail are an agent's last entries, the newest first.
func (s *Store) tail(ctx context.Context, id string, most int) ([]entry, error) {
	all, err := s.entries(ctx, id)
	out := slices.Clone(all[max(0, len(all)-most):])
	slices.Reverse(out)
	return out, err
}

// enter adds an entry.
func (s *Store) enter(ctx context.Context, o owner, e *entry) error {
	return s.withDiary(o.AgentID, func(log *diaryLog) error {
		_, err := log.Update(ctx, func(d *diary, now time.Time) ([]diaryEvent, error) {
			x := diaryEvent{Entry: e}
			if e.Number, e.At = 1, now.UTC(); len(d.entries) > 0 {
				e.Number = d.entries[len(d.entries)-1].Number + 1
			}
			if d.owner != o { // it is new, or its first commit is lost
				x.Owner = &o
			}
			return []diaryEvent{x}, nil
		})
		if err != nil || !s.opts.LongLived {
			return err
		}
		if size := log.Stats(); size.JournalBytes > max(diaryGrown, size.SnapshotBytes/4) {
			if err := log.Compact(ctx); err != nil { // the entry is safe
				s.opts.Logger.Warn("a diary was not compacted", "agent", o.AgentID, "error", err)
			}
		}
		return nil
	})
}
