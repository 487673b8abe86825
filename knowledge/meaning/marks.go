package meaning

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"leanctx/internal/atomicfile"
)

// Vectors are a cache like the text index, and kept in step like it. A mark for each encoder
// says up to which commit all that holds has vectors. So a command need not look at every fact
// to know which lack one. What came after the mark is the tail. Marks lie beside the text index;
// without them, or with fewer vectors than they promise, all is looked at again. What lacks a
// vector is known by the vectors that there are, never by a mark alone: a mark may go at any
// time.

// Progress says what the vectors of an encoder are complete to, or that they were
// looked at then and some were missing.
type Progress struct {
	At      time.Time `json:"at"`
	Epoch   string    `json:"epoch"`
	Entries int       `json:"entries"` // that there were at least
	Lacking bool      `json:"lacking,omitempty"`
}

// Marks are those of a store.
type Marks struct {
	Path string // of their file

	mu   sync.Mutex
	read bool
	all  map[string]Progress
	fed  map[string]uint64 // the commit that this process has brought an encoder to
}

// load reads the marks once. Called under the lock.
func (x *Marks) load() {
	if x.read {
		return
	}
	x.read, x.all, x.fed = true, map[string]Progress{}, map[string]uint64{}
	if data, err := os.ReadFile(x.Path); err == nil {
		_ = json.Unmarshal(data, &x.all) // what cannot be read is no mark
	}
	if x.all == nil {
		x.all = map[string]Progress{}
	}
}

// Forget makes all vectors be looked at anew.
func (x *Marks) Forget() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read, x.all, x.fed = true, map[string]Progress{}, map[string]uint64{}
	if err := os.Remove(x.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Of is the mark of an encoder, and the commit that this process has brought it
// to, 0 for none.
func (x *Marks) Of(encoder string) (Progress, uint64, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load()
	m, ok := x.all[encoder]
	return m, x.fed[encoder], ok
}

// Set notes how far an encoder came. The file is a cache: where it cannot be
// written, the next process looks at all facts.
func (x *Marks) Set(encoder string, m Progress, fed uint64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load()
	same := x.all[encoder] == m
	x.all[encoder], x.fed[encoder] = m, fed
	if same {
		return nil
	}
	data, err := json.MarshalIndent(x.all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(x.Path), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFile(x.Path, append(data, '\n'), atomicfile.Options{})
}
