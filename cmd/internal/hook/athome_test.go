package hook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The project may be the home directory, also by a link. Then a file of the user's is not
// disconnected, connected or examined as the project's.
func TestProjectIsHome(t *testing.T) {
	p := fresh(t)
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
			if edits := c.edits(p, Project); serves(edits) == slices.Contains([]string{"gemini", "cursor", "codex"}, c.name) && c.servers[Project] != "" {
				t.Errorf("%s: %v", c.name, edits)
			}
		}
	}
	disconnectAll(t, p, ConnectOptions{})
	if d := cmp.Diff(before, tree(t, filepath.Dir(p.Home))); d != "" {
		t.Error(d)
	}
}

// What was once noted as the project's, in the home directory, goes with the
// user's.
func TestProjectWasHome(t *testing.T) {
	p := fresh(t)
	before := tree(t, filepath.Dir(p.Home))
	connectAll(t, p, ConnectOptions{Clients: []string{"gemini"}})
	log, err := p.readRecord()
	if err != nil {
		t.Fatal(err)
	}
	log.Files[0].Scope = Project
	if err := p.save(log); err != nil {
		t.Fatal(err)
	}
	disconnectAll(t, p, ConnectOptions{})
	// The directory of our data was there when the record was written again.
	_ = os.Remove(p.Data)
	if d := cmp.Diff(before, tree(t, filepath.Dir(p.Home))); d != "" {
		t.Error(d)
	}
}
