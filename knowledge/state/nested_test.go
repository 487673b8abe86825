package state

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
)

// A member that this build does not know is kept as a commit has it, and a snapshot with it can be read
// again. A commit with one that is nested too deep is not understood, however deep it is.
func TestNestedMemberOfACommit(t *testing.T) {
	for _, depth := range []int{1000, 1001, 5000, 1_000_000} {
		dir := t.TempDir()
		l := openLog(t, dir)
		must(t, l.Update(t.Context(), func(_ *State, now time.Time) ([]Event, error) {
			return []Event{{Put: &fact.Version{ID: "f-1", Category: "c", Key: "k", Value: "v", CreatedAt: now, ValidFrom: now, RecordedFrom: now, LastConfirmed: now,
				Extra: formats.Unknown{"later": formats.Raw(`"deep"`)}}}}, nil
		}))
		must(t, l.Close())
		file := filepath.Join(dir, "knowledge.journal")
		text, err := os.ReadFile(file)
		must(t, err)
		header, line, _ := bytes.Cut(text, []byte("\n"))
		body := bytes.Replace(bytes.TrimSpace(line)[9:], []byte(`"deep"`), []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)), 1)
		must(t, os.WriteFile(file, fmt.Appendf(nil, "%s\n%08x %s\n", header, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)), body), 0o600))
		must(t, os.Remove(filepath.Join(dir, "knowledge.head")))
		l, err = Open(dir, nil)
		if depth > 1000 {
			must(t, err) // what was understood can be read, and nothing is written
			must(t, l.View(t.Context(), func(st *State) error {
				if n := len(st.Versions(fact.IDOf("c", "k"))); n != 0 {
					t.Errorf("%d levels: %d versions of a commit that is not understood", depth, n)
				}
				return nil
			}))
			err := l.Update(t.Context(), func(*State, time.Time) ([]Event, error) { return nil, nil })
			if !errors.Is(err, journal.ErrNewer) || len(err.Error()) > 1000 {
				t.Errorf("%d levels: %.2000v", depth, err)
			}
			continue
		}
		must(t, err)
		must(t, l.Compact(t.Context()))
		must(t, l.Close())
		must(t, openLog(t, dir).View(t.Context(), func(st *State) error {
			if n := len(st.Versions(fact.IDOf("c", "k"))[0].Extra["later"]); n != 2*depth {
				t.Errorf("%d levels: a member of %d bytes", depth, n)
			}
			return nil
		}))
	}
}
