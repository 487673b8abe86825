package op

import (
	"context"
	"slices"
	"sync"
)

// Workspace is where the client of a call over MCP works. The calls of a session stay in its
// projects, whatever their project argument says.
type Workspace struct {
	Roots []string // the directories that the client offered; none: it did not say
	Bound *Binding // of the connection; nil: the call has none
}

// Binding is the project of a connection that does not know where it works: the first one that
// a call names. It is safe for concurrent use.
type Binding struct {
	mu      sync.Mutex
	project string
}

// Bind makes a path the connection's project, if it has none, and returns the one it has.
func (b *Binding) Bind(path string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.project == "" {
		b.project = path
	}
	return b.project
}

// Note adds a notice to the answer of the call that ctx belongs to, once.
func Note(ctx context.Context, text string) {
	if c, ok := ctx.Value(noticesKey{}).(*call); ok && !slices.Contains(c.notices, text) {
		c.notices = append(c.notices, text)
	}
}
