package knowledge

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Vectors are a cache like the text index, and kept in step like it: a mark
// for each encoder says up to which commit all that holds has vectors, so that
// a command need not look at every fact to know which lack one. What came
// after the mark is the tail. Marks lie beside the text index; without them,
// or with fewer vectors than they promise, all is looked at again.

// learnt says what the vectors of an encoder are complete to.
type learnt struct {
	At      time.Time `json:"at"`
	Epoch   string    `json:"epoch"`
	Entries int       `json:"entries"` // that there were at least
}

// marks are those of a store.
type marks struct {
	lacking atomic.Bool // a question would have needed vectors that there are not

	mu   sync.Mutex
	read bool
	all  map[string]learnt
	fed  map[string]fedTo // how far this process has brought them
}

const marksName = "vectors.json"

func (s *Store) marksPath() string { return filepath.Join(s.dir, "index", marksName) }

// load reads the marks once. Called under the lock.
func (x *marks) load(path string) {
	if x.read {
		return
	}
	x.read, x.all, x.fed = true, map[string]learnt{}, map[string]fedTo{}
	if data, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(data, &x.all) // what cannot be read is no mark
	}
	if x.all == nil {
		x.all = map[string]learnt{}
	}
}

// forget makes all vectors be looked at anew.
func (x *marks) forget(path string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read, x.all, x.fed = true, map[string]learnt{}, map[string]fedTo{}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// of is the mark of an encoder.
func (x *marks) of(path, encoder string) (learnt, fedTo, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load(path)
	m, ok := x.all[encoder]
	return m, x.fed[encoder], ok
}

// set notes how far an encoder came. The file is a cache: where it cannot be
// written, the next process looks at all facts.
func (x *marks) set(path, encoder string, m learnt, fed fedTo) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load(path)
	same := x.all[encoder] == m
	x.all[encoder], x.fed[encoder] = m, fed
	if same {
		return nil
	}
	data, err := json.MarshalIndent(x.all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), marksName+".tmp-")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
