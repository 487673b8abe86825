package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A hook's share of a transcript takes little time, however large the rest is: 50 MB of turns, a line of 100 MB, and 2 GB
// without an end of a line. What stands before and after such a line is kept.
func TestLargeTranscriptsInPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT PROVEN: large transcripts")
	}
	user := func(n int) string {
		return fmt.Sprintf(userLine, fmt.Sprint("u", n), fmt.Sprintf("prompt %d %s", n, strings.Repeat("of many words ", 200)))
	}
	// pieces takes in until nothing is left, and says how long the longest piece took.
	pieces := func(s *Store, path string, most int64) (turns int, longest time.Duration) {
		for range 1000 {
			began := time.Now()
			got := take(t, s, path, most)
			longest = max(longest, time.Since(began))
			turns += got.Turns
			if !got.More {
				break
			}
		}
		return turns, longest
	}
	t.Run("50 MB", func(t *testing.T) {
		var b strings.Builder
		n := 0
		for ; b.Len() < 50<<20; n++ {
			b.WriteString(user(n))
		}
		s := open(t)
		turns, longest := pieces(s, put(t, filepath.Join(t.TempDir(), sessionName), b.String()), 1<<20)
		t.Logf("%d turns, the longest piece %v", turns, longest)
		if turns != n {
			t.Errorf("%d turns, want %d", turns, n)
		}
	})
	t.Run("100,000 turns", func(t *testing.T) {
		var b strings.Builder
		const n = 100_000
		for i := range n {
			line := fmt.Sprintf(userLine, fmt.Sprint("u", i), fmt.Sprint("prompt ", i))
			at := time.Date(2026, 11, 22, 14, 5, i, 0, time.UTC) // of one second, two of so many would pass for one
			b.WriteString(strings.Replace(line, "2026-11-22T14:05:00Z", at.Format(time.RFC3339), 1))
		}
		s := open(t)
		turns, longest := pieces(s, put(t, filepath.Join(t.TempDir(), sessionName), b.String()), 1<<20)
		t.Logf("the longest piece %v", longest)
		r, err := s.Records(t.Context())
		if err != nil || turns != n || r[0].Fold.Turns != n || r[0].Fold.Prompts != n {
			t.Error(turns, err)
		}
	})
	t.Run("a line of 100 MB", func(t *testing.T) {
		s := open(t)
		path := put(t, filepath.Join(t.TempDir(), sessionName), user(1)+`{"type":"user","uuid":"x","message":{"content":"`+strings.Repeat("x", 100<<20)+"\"}}\n"+user(2))
		turns, longest := pieces(s, path, 1<<20)
		t.Logf("the longest piece %v", longest)
		if turns != 2 {
			t.Errorf("%d turns", turns)
		}
	})
	t.Run("2 GB", func(t *testing.T) {
		s := open(t)
		path := put(t, filepath.Join(t.TempDir(), sessionName), user(1))
		if err := os.Truncate(path, 2<<30); err != nil {
			t.Skip("NOT PROVEN:", err)
		}
		turns := 0
		for range 20 { // a hook's worth, again and again
			began := time.Now()
			turns += take(t, s, path, 1<<20).Turns
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("a piece took %v", took)
			}
		}
		if turns != 1 {
			t.Errorf("%d turns", turns)
		}
	})
}
