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

	away string // what says that the copy may be old, until somebody takes it
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
	b.look(warnings)
	out := b.list
	b.list = nil
	return out
}

// Away returns what says that the copy may be old, once. It stands apart, since all stores of a project say
// it at the same time, and once is enough for an answer.
func (b *Pending) Away(warnings []journal.Warning) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look(warnings)
	text := b.away
	b.away = ""
	return text
}

// look sorts the journal's new warnings.
func (b *Pending) look(warnings []journal.Warning) {
	for _, w := range warnings[min(b.warned, len(warnings)):] {
		if w.Kind == journal.Offline {
			b.away = w.Text
		} else {
			b.list = append(b.list, w.Text)
		}
	}
	b.warned = len(warnings)
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
