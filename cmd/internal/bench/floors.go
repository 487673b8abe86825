package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The floors, as the table calls them.
const (
	floorProgram = "an empty Go program"
	floorAppend  = "append and fsync"
	floorScan    = "scan of all values"
	floorPage    = "read of 4 KiB of the fact file"
	floorWrite   = "write and fsync of as many bytes"
	floorRead    = "read of the fact file"
	floorServer  = "a server of an empty project"
	floorInput   = "the facts as JSON lines"
)

// scan looks for a text in the values of all facts: what an answer would cost
// without any index, when it need not be ranked.
func (b *bed) scan(text func(i int) string) timed {
	found := 0
	return stretch(func(_ context.Context, i int) error {
		word := text(i)
		for _, v := range b.values {
			if strings.Contains(v, word) {
				found++
			}
		}
		return nil
	})
}

// page reads a little of a file: the least that a store has to do which keeps
// its facts in one.
func (b *bed) page() timed {
	page := make([]byte, 4<<10)
	return stretch(func(context.Context, int) error {
		f, err := os.Open(filepath.Join(b.store, "knowledge.json"))
		if err != nil {
			return err
		}
		_, err = f.ReadAt(page, 0)
		return errors.Join(err, f.Close())
	})
}

// readFacts reads all of the fact file.
func (b *bed) readFacts() timed {
	return stretch(func(context.Context, int) error {
		_, err := os.ReadFile(filepath.Join(b.store, "knowledge.json"))
		return err
	})
}

// write writes a new file of so many bytes beside the store and syncs it.
func (b *bed) write(size int64) timed {
	block := make([]byte, 1<<20)
	return func(context.Context, int) (time.Duration, error) {
		path := b.input + ".floor"
		start := time.Now()
		f, err := os.Create(path)
		if err != nil {
			return 0, err
		}
		for left := size; left > 0 && err == nil; left -= int64(len(block)) {
			_, err = f.Write(block[:min(left, int64(len(block)))])
		}
		err = errors.Join(err, f.Sync(), f.Close())
		return time.Since(start), errors.Join(err, os.Remove(path))
	}
}

// appender appends to a file beside the store as many bytes as the journal
// has just grown by.
type appender struct {
	file    *os.File
	journal string
	size    int64  // of the journal
	line    []byte // as long as the last commit
}

func (b *bed) appender() (*appender, error) {
	return appending(b.input+".floor", filepath.Join(b.store, "knowledge.journal"))
}

// appending appends to a file what a journal grows by.
func appending(file, journal string) (*appender, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	a := &appender{file: f, journal: journal}
	return a, a.grown()
}

// grown looks how long the last commit was. A journal that was cut by a
// snapshot meanwhile does not tell; then the one before it stands.
func (a *appender) grown() error {
	info, err := os.Stat(a.journal)
	if err != nil {
		return err
	}
	if n := info.Size() - a.size; n > 0 {
		a.line = make([]byte, n)
	}
	a.size = info.Size()
	return nil
}

func (a *appender) floor(context.Context, int) (time.Duration, error) {
	if err := a.grown(); err != nil {
		return 0, err
	}
	start := time.Now()
	_, err := a.file.Write(a.line)
	err = errors.Join(err, a.file.Sync())
	return time.Since(start), err
}

func (a *appender) close() error { return errors.Join(a.file.Close(), os.Remove(a.file.Name())) }
