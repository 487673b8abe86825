// Package notice keeps what a user should know beside an answer until it is
// told: what a store found out itself, and the warnings of its journal.
package notice

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"leanctx/internal/journal"
)

// Pending is what is still to be told. The zero value is empty; it is safe for
// concurrent use.
type Pending struct {
	mu     sync.Mutex
	list   []string
	warned int // how many of the journal's warnings were told
}

// Add notes something, unless the same waits to be told already.
func (b *Pending) Add(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(b.list, text) {
		b.list = append(b.list, text)
	}
}

// Take gives, once each, what was added, and then those of a journal's
// warnings that are new. warnings are all of them, in the journal's order.
func (b *Pending) Take(warnings []journal.Warning) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.list
	b.list = nil
	for _, w := range warnings[min(b.warned, len(warnings)):] {
		out = append(out, w.Text)
	}
	b.warned = len(warnings)
	return out
}

// Damage is what a journal's warnings say, and the paths of what was set aside
// in its directory.
func Damage(dir string, warnings []journal.Warning, stats journal.Stats) (told, aside []string) {
	for _, w := range warnings {
		told = append(told, w.Text)
	}
	for _, name := range stats.SetAside {
		aside = append(aside, filepath.Join(dir, name))
	}
	return told, aside
}
