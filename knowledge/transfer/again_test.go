package transfer_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/transfer"
)

func openStore(t *testing.T, project string) *knowledge.Store {
	t.Helper()
	s, err := knowledge.Open(t.TempDir(), &knowledge.Options{ProjectRoot: project})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.As(knowledge.Actor{Kind: knowledge.KindUser})
}

// believed is the current values of a store, in order.
func believed(t *testing.T, s *knowledge.Store) (values []string) {
	t.Helper()
	err := s.View(t.Context(), func(st *state.State, now time.Time) error {
		for _, vs := range st.Sorted() {
			for _, v := range fact.AllCurrent(vs, now) {
				values = append(values, v.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(values)
	return values
}

// However a file is edited between its imports, exactly what it says last is believed, as if it were
// imported for the first time.
func TestImportedFileIsBelievedAsItIs(t *testing.T) {
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 1))
		pick := func(list ...string) string { return list[random.IntN(len(list))] }
		statement := func() string {
			text := pick("use", "never use", "run", "ask before") + " " + pick("npm", "pnpm", "make", "the cache") + " " + pick("for packages", "before a commit", "in tests") + fmt.Sprint(" ", random.IntN(4))
			switch random.IntN(8) {
			case 0:
				return "- " + pick("Database", "Queue", "Build") + ": " + text
			case 1:
				return "```sh\n" + text + "\n```"
			case 2:
				return "## " + pick("Build", "Tests", "Style")
			case 3:
				return "Do all of this:\n\n- " + text + "\n- " + text + " too"
			}
			return "- " + text
		}
		project := t.TempDir()
		file := filepath.Join(project, "CLAUDE.md")
		s := openStore(t, project)
		text := []string{"# Rules"}
		for round := range 8 {
			for range 1 + random.IntN(6) {
				at := 1 + random.IntN(len(text))
				switch {
				case at == len(text) || random.IntN(3) == 0:
					text = slices.Insert(text, at, statement())
				case random.IntN(2) == 0:
					text[at] = statement()
				default:
					text = slices.Delete(text, at, at+1)
				}
			}
			text = append(text, "- the last rule stays")
			if err := os.WriteFile(file, []byte(strings.Join(text, "\n\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := transfer.Import(t.Context(), s, transfer.Incoming{File: file})
			if err != nil {
				t.Fatal(err)
			}
			fresh := openStore(t, project)
			if _, err := transfer.Import(t.Context(), fresh, transfer.Incoming{File: file}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(believed(t, fresh), believed(t, s)); d != "" {
				t.Fatalf("seed %d, round %d: %+v\n%s\n%s", seed, round, r, d, strings.Join(text, "\n"))
			}
		}
	}
}
