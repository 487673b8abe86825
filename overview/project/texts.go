package project

import (
	"io/fs"
	"os"
	"sync"
	"time"

	"leanctx/internal/atomicfile"
)

// texts are small files of repositories as they were read last. A server looks at them at each call, and
// reads again only what has changed. Whose a file is, and whether it is a link, is looked at each time.
type texts struct {
	mu   sync.Mutex
	read map[string]readText
}

type readText struct {
	stamp fs.FileInfo
	text  string
}

const (
	maxTexts = 256      // files
	maxText  = 16 << 10 // bytes of one
)

// of is the text of a file. stamp is what was just seen of it, by its name.
func (t *texts) of(name string, stamp fs.FileInfo, read func() (string, error)) (string, error) {
	t.mu.Lock()
	last, ok := t.read[name]
	t.mu.Unlock()
	if ok && atomicfile.Unchanged(last.stamp, stamp) {
		return last.text, nil
	}
	text, err := read()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.read, name)
	if err == nil && len(text) <= maxText && atomicfile.Settled(stamp, time.Now()) {
		if t.read == nil || len(t.read) >= maxTexts {
			t.read = map[string]readText{}
		}
		t.read[name] = readText{stamp, text}
	}
	return text, err
}

// stats are those of one look. What several questions are about is looked at once, so that their
// answers agree.
type stats map[string]statted

type statted struct {
	info fs.FileInfo
	err  error
}

func (m stats) of(name string) (fs.FileInfo, error) {
	x, ok := m[name]
	if !ok {
		x.info, x.err = os.Stat(name)
		m[name] = x
	}
	return x.info, x.err
}
