package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The project may be the home directory, also by a link. Then a file of the user's is not
// disconnected, connected or examined as the project's.
func TestProjectIsHome(t *testing.T) {
	p := newMachine(t)
	elsewhere := p
	before := tree(t, filepath.Dir(p.Home))
	w := ConnectOptions{Clients: []string{"gemini", "cursor", "claude-code"}}
	connectAll(t, elsewhere, w)
	connected := tree(t, p.Home)
	link := filepath.Join(t.TempDir(), "link")
	roots := []string{p.Home}
	if os.Symlink(p.Home, link) == nil {
		roots = append(roots, link)
	}
	for _, root := range roots {
		p.Root = root
		if r := disconnectAll(t, p, ConnectOptions{Scope: Project}); !strings.Contains(r.Text(), "Nothing is connected in scope project") {
			t.Error(r.Text())
		}
		_, err := p.Connect(ConnectOptions{Clients: []string{"cursor"}, Scope: Project})
		if err == nil || !strings.Contains(err.Error(), "home directory") {
			t.Error(err)
		}
		if d := cmp.Diff(connected, tree(t, p.Home)); d != "" {
			t.Error(d)
		}
		for _, c := range clients() {
			if edits := c.edits(p, Project); len(edits) > 0 {
				t.Errorf("%s: %v", c.name, edits)
			}
		}
	}
	disconnectAll(t, p, ConnectOptions{})
	if d := cmp.Diff(before, tree(t, filepath.Dir(p.Home))); d != "" {
		t.Error(d)
	}
}
