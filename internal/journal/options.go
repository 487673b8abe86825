package journal

import (
	"cmp"
	"log/slog"
	"time"
)

// Options of a [Log]. Nil and zero values work: a log named "state" of schema 1.
type Options struct {
	Name        string           // file stem: "knowledge" makes knowledge.json, knowledge.journal, knowledge.lock
	Schema      int              // the newest schema this program reads, and the one it writes; 1
	Now         func() time.Time // the clock; time.Now
	LockTimeout time.Duration    // how long to wait for another process; 5 s
	LongLived   bool             // compact in the background: when the journal has grown, and when idle
	Logger      *slog.Logger     // where background work and warnings are told; nowhere

	// Fault is for tests, of other packages too: it is called before every
	// operation that changes a file (op is create, write, sync, truncate,
	// rename, link or remove; the name of a directory sync is "."). The
	// operation fails with the error it returns, if any. It may kill the process.
	Fault func(op, name string) error
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Name = cmp.Or(c.Name, "state")
	c.Schema = cmp.Or(c.Schema, 1)
	c.LockTimeout = cmp.Or(c.LockTimeout, 5*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
