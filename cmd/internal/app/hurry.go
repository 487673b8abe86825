package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"leanctx/cmd/internal/hook"
	"leanctx/internal/secret"
)

// What a hook reads beside the facts is bounded. The agents and tasks of all projects are in two files, which
// agents write, and a hook that does not end within [hook.Deadline] says nothing at all: then a flood in one project would
// keep the rules of every project from every session.
const (
	hookBytes = 16 << 20 // most bytes of one of those files
	hookShare = 3        // both together have a third of the hook's time
)

// The names of the files of a store of agents.
const (
	agentsStem = "registry"
	tasksStem  = "tasks"
)

// hurry is what a hook has had no time for.
type hurry struct {
	until time.Time

	mu   sync.Mutex
	done map[string]error // by store: whether it was read
}

// tooLargeError says that a file of agents is too large for a hook.
type tooLargeError struct {
	path string
	size int64
}

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, more than the %d that a hook reads", e.path, e.size, hookBytes)
}

// leftOut says what was not read because there is too much of it, and how it can be asked for.
func (h *hurry) leftOut() (lines []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, stem := range slices.Sorted(maps.Keys(h.done)) {
		if large, ok := errors.AsType[*tooLargeError](h.done[stem]); ok {
			what, ask := "messages and claims of agents", `ctx_agent {"action":"sync"}`
			if stem == tasksStem {
				what, ask = "tasks", `ctx_task {"action":"list"}`
			}
			lines = append(lines, fmt.Sprintf("LEFT OUT %s: all projects have %d MiB of them, and hooks read %d: %s", what, large.size>>20, hookBytes>>20, ask))
		}
	}
	return lines
}

// newHurry begins to count the time of a hook that must end when ctx does.
func newHurry(ctx context.Context) *hurry {
	left := hook.Deadline
	if end, limited := ctx.Deadline(); limited {
		left = time.Until(end)
	}
	return &hurry{until: time.Now().Add(left / hookShare), done: map[string]error{}}
}

// readStore is a store whose files are read whole, at first use.
type readStore interface {
	io.Closer
	Load(ctx context.Context) error
}

// readInTime is openOf for a store of agents. A hook gets it only if its files are small enough and were read in time.
func readInTime[T readStore](w projectStores, stem string, start func(*membership, *secret.Redactor) (T, error)) (none T, err error) {
	h := w.hurry
	if h == nil {
		return openOf(w, start)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	err, known := h.done[stem]
	if !known {
		err = h.read(w.project.at.agentsDir(), stem, func() error {
			store, err := openOf(w, start)
			if err == nil {
				err = store.Load(context.Background())
			}
			return err
		})
		h.done[stem] = err
	}
	if err != nil {
		return none, err
	}
	return openOf(w, start)
}

// read calls f, which reads the files of a store, and waits for it as long as there is time.
func (h *hurry) read(dir, stem string, f func() error) error {
	var size int64
	for _, end := range []string{".json", ".journal"} {
		if info, err := os.Stat(filepath.Join(dir, stem+end)); err == nil {
			size += info.Size()
		}
	}
	if size > hookBytes {
		return &tooLargeError{filepath.Join(dir, stem+".json"), size}
	}
	ended := make(chan error, 1)
	go func() { ended <- f() }() // it ends with the process
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Until(h.until)):
		return errors.New(filepath.Join(dir, stem+".json") + " could not be read in time")
	}
}
