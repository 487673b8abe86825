package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Detached is what [Detach] found.
type Detached struct {
	InDoubt int   // commits of this machine that the remote log may have or not; the logs have them
	Old     error // why newer commits could not be fetched
}

// Detach makes the copies in dirs ordinary logs. Each first fetches what is new, for at most wait.
// A commit in doubt that the remote log does not have is then added: its writer was told that it
// may be kept. A copy is cut before a commit that no log could have. No process writes the copies meanwhile, because each sees the header.
func Detach(ctx context.Context, remote func(name string) Remote, wait time.Duration, dirs ...string) (d Detached, err error) {
	for _, dir := range dirs {
		names, _ := fs.Glob(os.DirFS(dir), "*.journal") // the pattern is well-formed
		for _, name := range names {
			if err := d.detach(ctx, remote, wait, dir, strings.TrimSuffix(name, ".journal")); err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

// leaveTimeout is how long Detach waits for a write, which may wait for its answer.
const leaveTimeout = 15 * time.Second

func (d *Detached) detach(ctx context.Context, remote func(name string) Remote, wait time.Duration, dir, stem string) error {
	data, err := os.ReadFile(filepath.Join(dir, stem+".journal"))
	if err != nil {
		return err
	}
	c := scan(data, 0)
	h := c.head
	if !c.hasHead { // the header of J.prev names the same log
		older, _ := os.ReadFile(filepath.Join(dir, namesOf(stem).journalPrev)) // there may be none
		h = cmp.Or(scan(older, 0).head, c.claim)
	}
	if _, err := os.Stat(filepath.Join(dir, namesOf(stem).doubt)); err != nil && h.Remote == "" {
		if len(data) > 0 && !c.hasHead {
			d.Old = fmt.Errorf("%s: its header is damaged, so it is not known which log it is a copy of", filepath.Join(dir, stem+".journal"))
		}
		return nil // it is no copy
	}
	o := &Options{Name: stem, Schema: h.Schema, LockTimeout: leaveTimeout, cutUnknown: true}
	if h.Remote != "" {
		o.Remote = remote(h.Remote)
	}
	l, err := Open(dir, blank{}, o)
	if err != nil {
		return err
	}
	var events []anyEvent
	n := 0
	err = l.exclusively(ctx, func() error {
		if h.Remote != "" && !errors.Is(d.Old, ErrOffline) {
			hurried, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			err := l.mem.unknown // it would only be fetched again
			if err == nil {
				err = l.replica.fetch(hurried)
			}
			if _, ok := errors.AsType[*unknownCommitError](err); ok && !l.mem.loaded {
				l.mu.Lock()
				if failed := l.mem.load(true); failed != nil {
					err = failed
				}
				l.mu.Unlock()
			}
			if !l.mem.loaded {
				return err // the copy could not be written
			}
			d.Old = cmp.Or(err, d.Old)
		}
		events, n = l.j.readDoubts(l.j.pos)
		l.o.Remote, l.replica = nil, nil
		return l.j.makeReady()
	})
	if err == nil && n > 0 {
		_, err = l.Update(ctx, func(struct{}, time.Time) ([]anyEvent, error) { return events, nil })
	}
	if err == nil {
		d.InDoubt += n
		err = l.j.forgetDoubts()
	}
	return errors.Join(err, l.Close())
}

// keepDoubt notes a commit whose publish had no answer.
func (d *directory) keepDoubt(ln line) error { return d.extend(d.names.doubt, ln.appendTo(nil)) }

// doubtful reports whether there may be commits in doubt.
func (d *directory) doubtful() bool {
	_, err := d.stat(d.names.doubt)
	return err == nil
}

// readDoubts returns the events of the commits in doubt that may follow last, and how many
// commits they are. One whose number another commit has is in the log, or will never be.
func (d *directory) readDoubts(last position) (events []anyEvent, n int) {
	text, _ := d.read(d.names.doubt) // mostly there is none
	for _, ln := range scan(text, 0).lines {
		var c Commit[anyEvent]
		if ln.seq == last.seq+1 && ln.prev == last.prev && DecodeDocument(ln.body, &c) == nil {
			events, n = append(events, c.Events...), n+1
		}
	}
	return events, n
}

func (d *directory) forgetDoubts() error { return d.remove(d.names.doubt) }

// anyEvent is an event of any log: an object.
type anyEvent map[string]json.RawMessage

// blank is a machine that knows no states.
type blank struct{}

func (blank) New() struct{}                                { return struct{}{} }
func (blank) Fold(s struct{}, _ Commit[anyEvent]) struct{} { return s }
func (blank) Clone(s struct{}) struct{}                    { return s }
func (blank) Encode(io.Writer, struct{}, Header) error     { return errors.ErrUnsupported }
func (blank) Decode([]byte) (struct{}, error)              { return struct{}{}, nil }
