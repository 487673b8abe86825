// Package notice collects warnings for the user until an answer shows them: a store's own
// findings and the warnings of its journal.
package notice

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"leanctx/internal/journal"
)

// Pending holds the warnings that were not shown yet. The zero value is empty. It is safe
// for concurrent use.
type Pending struct {
	mu     sync.Mutex
	list   []string
	warned int // number of the journal's warnings already taken
}

// Add adds a warning, unless the same one is already waiting.
func (b *Pending) Add(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(b.list, text) {
		b.list = append(b.list, text)
	}
}

// Take returns the added warnings and the journal's new ones, each once. warnings are all
// warnings of the journal, in its order.
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

// Damage returns the texts of a journal's warnings and the paths of the files set aside in
// its directory.
func Damage(dir string, warnings []journal.Warning, stats journal.Stats) (found, aside []string) {
	for _, w := range warnings {
		if w.Kind != journal.Offline { // the copy is whole, and its answers say how old it is
			found = append(found, w.Text)
		}
	}
	if stats.Torn != "" {
		found = append(found, stats.Torn)
	}
	for _, name := range stats.SetAside {
		aside = append(aside, filepath.Join(dir, name))
	}
	return found, aside
}
