package cost

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/spool"
	"leanctx/internal/tokens"
)

const (
	folder     = "costs"
	flushAfter = 800 * time.Millisecond // delay between the first queued receipt and the write: a kill loses no more than a second
	maxQueue   = 16384                  // receipts that may wait; further ones are dropped (the disk hangs)
	maxName    = 120                    // characters; longer names are cut
)

// Actor is the caller of a handle. It is used for receipts that do not name one.
type Actor struct {
	Agent   string // agent id; may be empty
	Client  string // the client's name, under which calls without an agent are listed
	Session string // one connection, or one shell
}

// Options of a usage. The zero value works.
type Options struct {
	ProjectRoot string
	ProjectHash string           // the project to report on, and of receipts that name none
	LongLived   bool             // a server: writes in the background
	Now         func() time.Time // default time.Now
	Logger      *slog.Logger
	Fault       func(op, name string) error // for tests: called before each file operation
}

// Usage is the token usage of one project. It is safe for concurrent use, by any
// number of processes.
type Usage struct {
	*core
	actor Actor
}

// core is the state that all handles on a usage share.
type core struct {
	dir  string
	opts Options

	flushing sync.Mutex // serialises writes

	mu     sync.Mutex // guards the rest
	queue  []line     // receipts that are not written yet
	closed bool
}

// Open returns the usage kept in dir, the data directory. It opens no file.
func Open(dir string, o *Options) (*Usage, error) {
	c := &core{dir: dir}
	if o != nil {
		c.opts = *o
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	c.opts.Logger = cmp.Or(c.opts.Logger, slog.New(slog.DiscardHandler))
	if c.opts.Fault == nil {
		c.opts.Fault = func(string, string) error { return nil }
	}
	return &Usage{core: c}, nil
}

// As is the same usage for another caller.
func (u *Usage) As(a Actor) *Usage {
	return &Usage{core: u.core, actor: Actor{clean(a.Agent), clean(a.Client), clean(a.Session)}}
}

// Close writes the queue. Later notes are dropped.
func (u *Usage) Close() error {
	u.flush()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed, u.queue = true, nil
	return nil
}

// Receipt describes one call of a tool. Empty Agent, Client, Session, Project and At are
// those of the usage and the clock.
type Receipt struct {
	Tool, Action    string // "ctx_knowledge", "recall"
	Agent           string // an agent's id
	Client          string
	Session         string
	Project         string // 16 hex digits
	Intent          Intent
	In, Out         string // the input and output; only counted, never stored
	InSize, OutSize int    // bytes, if the text is not available
	At              time.Time
}

// Intent is how a call showed what the session works on.
type Intent string

// The intents of calls.
const (
	Unstated Intent = ""
	Explicit Intent = "explicit" // the call names its task
	Inferred Intent = "inferred" // the call takes up a task of the project
)

// line is a receipt, or a reset, as it is written.
type line struct {
	At        int64  `json:"at"` // Unix milliseconds
	Project   string `json:"p"`
	Session   string `json:"s,omitempty"`
	Agent     string `json:"a,omitempty"`
	Client    string `json:"c,omitempty"`
	Tool      string `json:"t,omitempty"`
	Action    string `json:"x,omitempty"`
	Intent    Intent `json:"n,omitempty"`
	In        int    `json:"i"` // tokens
	Out       int    `json:"o"`
	BytesIn   int    `json:"bi"`
	BytesOut  int    `json:"bo"`
	Estimated bool   `json:"e,omitempty"`
	Reset     bool   `json:"reset,omitempty"` // earlier lines do not count any more
}

func (r *Receipt) line() line {
	n := line{
		At: r.At.UnixMilli(), Project: clean(r.Project), Session: clean(r.Session), Agent: clean(r.Agent), Client: clean(r.Client), Intent: r.Intent,
		Tool: clean(r.Tool), Action: clean(r.Action), BytesIn: max(r.InSize, len(r.In), 0), BytesOut: max(r.OutSize, len(r.Out), 0),
	}
	n.In, n.Out = count(r.In, n.BytesIn), count(r.Out, n.BytesOut)
	n.Estimated = r.In == "" && n.BytesIn > 0 || r.Out == "" && n.BytesOut > 0
	return n
}

// count is about how many tokens a text has, or, if only its size is known, a quarter of that.
func count(text string, bytes int) int {
	if text == "" {
		return (bytes + 3) / 4
	}
	return tokens.Estimate(text)
}

// clean makes a name fit into one line of a report.
func clean(name string) string { return prose.Line(prose.Clip(strings.TrimSpace(name), maxName)) }

// Note records a receipt. It never blocks and never fails. After Close it does nothing.
func (u *Usage) Note(r Receipt) {
	r.Agent = cmp.Or(r.Agent, u.actor.Agent)
	r.Client = cmp.Or(r.Client, u.actor.Client)
	r.Session = cmp.Or(r.Session, u.actor.Session)
	r.Project = cmp.Or(r.Project, u.opts.ProjectHash)
	if r.At.IsZero() {
		r.At = u.opts.Now()
	}
	u.add(r.line())
}

// add puts a receipt into the queue. In a server the first one also sets the time at which the
// queue is written.
func (c *core) add(n line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.queue) >= maxQueue {
		return
	}
	if c.queue = append(c.queue, n); c.opts.LongLived && len(c.queue) == 1 {
		time.AfterFunc(flushAfter, c.flush)
	}
}

// flush writes the queue.
func (c *core) flush() {
	c.flushing.Lock()
	defer c.flushing.Unlock()
	c.mu.Lock()
	lines := c.queue
	c.queue = nil
	c.mu.Unlock()
	if len(lines) == 0 {
		return
	}
	if err := c.append(lines, false); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.opts.Logger.Warn("token counts were lost", "calls", len(lines), "error", err)
	}
}

// append writes lines to the month's file, or to the newest file if that is of a
// later month: lines are read in the order of the files, also if a clock was set back. After an
// error it does not retry, because part of the lines may be in the file.
func (c *core) append(lines []line, sync bool) error {
	texts := make([][]byte, len(lines))
	for i := range lines {
		text, err := json.Marshal(&lines[i])
		if err != nil {
			return err
		}
		texts[i] = text
	}
	if c.opts.LongLived || sync {
		if err := os.MkdirAll(c.dir, 0o700); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	months, err := fs.Glob(root.FS(), folder+"/*.jsonl") // sorted
	if err != nil {
		return err
	}
	name := slices.Max(append(months, path.Join(folder, c.opts.Now().UTC().Format("2006-01")+".jsonl")))
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := c.opts.Fault("write", name); err != nil {
		return err
	}
	if _, err := spool.Append(file, texts...); err != nil || !sync {
		return err
	}
	return file.Sync() // a power cut must not undo a reset that was confirmed
}

// totals is the cost of the project's calls, by agents.
func (u *Usage) totals(ctx context.Context) (*totals, error) {
	t, err := u.read(ctx)
	if err == nil {
		t.attribute()
	}
	return t, err
}

// read reads the cost of the project's calls, including this process's queue.
func (u *Usage) read(ctx context.Context) (*totals, error) {
	u.flush()
	root, err := os.OpenRoot(u.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return newTotals(), nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	months, err := fs.Glob(root.FS(), folder+"/*.jsonl") // sorted by time
	if err != nil {
		return nil, err
	}
	t := newTotals()
	for _, name := range months {
		data, err := root.ReadFile(name)
		if err != nil {
			return nil, err
		}
		t = t.read(data, u.opts.ProjectHash)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// read adds a file's lines that belong to the project. It skips damaged lines.
func (t *totals) read(data []byte, project string) *totals {
	mark, _ := json.Marshal(project)
	for text := range bytes.Lines(data) {
		if !bytes.Contains(text, mark) {
			continue // cheaper than decoding the line
		}
		var n line
		switch {
		case json.Unmarshal(text, &n) != nil || n.Project != project || min(n.In, n.Out, n.BytesIn, n.BytesOut) < 0:
		case n.Reset:
			t = newTotals()
			t.since = time.UnixMilli(n.At).UTC()
		default:
			t.add(&n)
		}
	}
	return t
}
