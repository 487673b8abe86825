package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What goes wrong with a transcript costs a session nothing. Here is what no other test of the package tells.

// A clock that jumps, in the transcript or here, neither loses nor repeats a turn, and a session never ends before it began.
func TestAClockThatJumps(t *testing.T) {
	_, s := consented(t)
	path := put(t, filepath.Join(t.TempDir(), sessionName), spoken(10, 12)+spoken(2, 4)+spoken(50, 51))
	now := minute(20)
	s.options.Now = func() time.Time { return now }
	for _, back := range []int{0, -60 * 24 * 365, 60 * 24 * 365} {
		now = minute(20 + back)
		take(t, s, path, 100)
	}
	take(t, s, path, 0)
	if got := wordsOf(t, s); got != "2 3 10 11 50" {
		t.Error("kept:", got)
	}
	r, err := s.Records(t.Context())
	if err != nil || len(r) != 1 || r[0].Fold.Turns != 5 || r[0].last().Before(r[0].Fold.First) || !r[0].last().Equal(minute(50).Add(-30*time.Second)) {
		t.Error(r[0].Fold, err)
	}
}

// What a user pastes is kept in part, and it is said how much is left out and where it stands.
func TestAPasteOfFiveMegabytes(t *testing.T) {
	s := open(t)
	text := "look at this log " + strings.Repeat("all is well here and ", 250_000)
	got := take(t, s, put(t, filepath.Join(t.TempDir(), sessionName), spoken(0, 1)+fmt.Sprintf(userLine, "p", text)+spoken(1, 2)), 0)
	turns := turnsOf(t, s, got.ID)
	if len(turns) != 3 || len(turns[1].Text) > maxText || len(turns[1].Text)+turns[1].LeftOut < len(text)-1 || turns[1].From == nil || turns[1].From.At == 0 {
		t.Error(len(turns), len(turns[1].Text), turns[1].LeftOut)
	}
	if x, err := s.Show(t.Context(), Reading{ID: got.ID}); err != nil || len(x.Text()) > outlineBytes {
		t.Error(err, len(x.Text()))
	}
}

// A turn that is only an image says nothing, and what follows it is kept.
func TestATurnThatIsOnlyAnImage(t *testing.T) {
	_, s := consented(t)
	image := `{"type":"user","uuid":"i","sessionId":"e3025ff2","timestamp":"2026-11-22T12:05:00Z","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"` + strings.Repeat("word7 ", 1000) + `"}}]}}` + "\n"
	got := take(t, s, put(t, filepath.Join(t.TempDir(), sessionName), spoken(0, 1)+image+spoken(8, 9)), 0)
	if words := wordsOf(t, s); words != "0 8" || got.Turns != 2 {
		t.Error(words, got)
	}
}

// A session stays one session of one project when its directory changes: to another work tree, or to one outside.
func TestASessionThatMovesStaysOne(t *testing.T) {
	_, s := consented(t)
	s.options.Within = func(dir string) bool { return strings.HasPrefix(dir, "/home/ann/my-app") }
	there := strings.ReplaceAll(spoken(3, 5), "/home/ann/my-app", "/home/ann/elsewhere")
	beside := strings.ReplaceAll(spoken(5, 6), "/home/ann/my-app", "/home/ann/my-app-wt")
	path := put(t, filepath.Join(t.TempDir(), sessionName), spoken(0, 3))
	first := take(t, s, path, 0)
	put(t, path, spoken(0, 3)+there+beside)
	if again := take(t, s, path, 0); again.ID != first.ID || again.Turns != 3 {
		t.Error(again)
	}
	if got := wordsOf(t, s); got != "0 1 2 3 4 5" {
		t.Error(got)
	}
	// Resumed in another directory, it is written there anew: the turns that are known come once.
	moved := put(t, filepath.Join(t.TempDir(), sessionName), spoken(0, 3)+there+beside+spoken(6, 7))
	if again := take(t, s, moved, 0); again.Turns != 1 {
		t.Error(again)
	}
	// The project that it went to has none of it: it began elsewhere.
	_, other := consented(t)
	other.options.Within = func(dir string) bool { return strings.HasPrefix(dir, "/home/ann/elsewhere") }
	if _, err := other.TakeIn(t.Context(), "claude-code", path, 0); !errors.Is(err, ErrElsewhere) {
		t.Error(err)
	}
}

// /clear begins a session of its own, and is no prompt.
func TestClearBeginsAnotherSession(t *testing.T) {
	_, s := consented(t)
	command := strings.ReplaceAll(spoken(1, 2), "word1 is said", "<command-name>/clear</command-name>\\n<command-message>clear</command-message>\\n<command-args></command-args>")
	before := take(t, s, put(t, filepath.Join(t.TempDir(), sessionName), spoken(0, 1)), 0)
	after := take(t, s, put(t, filepath.Join(t.TempDir(), forkName), command+spoken(2, 3)), 0)
	if before.ID == after.ID || before.Turns != 1 || after.Turns != 1 {
		t.Error(before, after)
	}
	if got := wordsOf(t, s); got != "0 2" {
		t.Error(got)
	}
}

// A rollout that was cut back and renamed brings what is new in it, and repeats nothing.
func TestARolloutThatWasCutBackAndRenamed(t *testing.T) {
	name := "rollout-2026-11-22T14-05-00-019f8aa1-c3a4-7c2e-9d11-0123456789ab.jsonl"
	for _, version := range []string{"codex-0.171.0", "codex-0.118.0"} {
		s := open(t)
		path := fixture(t, version+"/session.jsonl", name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := s.TakeIn(t.Context(), "codex", path, 0)
		if err != nil || whole.Turns == 0 {
			t.Fatal(whole, err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		half := strings.Join(lines[:len(lines)/2], "")
		renamed := put(t, filepath.Join(t.TempDir(), strings.Replace(name, "14-05-00", "14-06-00", 1)), half)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			client, more string
			turns        int
		}{{path, "", 0}, {renamed, "", 0}, {renamed, `{"timestamp":"2026-11-22T15:00:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"another way then"}}` + "\n", 1}} {
			if x.client == renamed {
				put(t, renamed, half+x.more)
			}
			if got, err := s.TakeIn(t.Context(), "codex", x.client, 0); err != nil || got.Turns != x.turns {
				t.Error(version, x, got, err)
			}
		}
	}
}

// A folder that cannot be read, of ours or of the client, is an error, and nothing is lost by it.
func TestFoldersThatCannotBeRead(t *testing.T) {
	s, path := open(t), fixture(t, "claude-code-2.1.197/session.jsonl", sessionName)
	if err := os.MkdirAll(filepath.Dir(s.dir), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, s.dir, "no folder")
	if got, err := s.TakeIn(t.Context(), "claude-code", path, 0); err == nil || got.Turns != 0 {
		t.Error(got, err)
	}
	if err := os.Remove(s.dir); err != nil {
		t.Fatal(err)
	}
	if got := take(t, s, path, 0); got.Turns != 20 {
		t.Error(got)
	}
	if got, err := s.TakeIn(t.Context(), "claude-code", filepath.Join(path, "below a file.jsonl"), 0); err == nil && got.Turns != 0 {
		t.Error(got)
	}
}
