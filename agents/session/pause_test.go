package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// spoken is a transcript of Claude Code in which the user says something each minute from noon on.
func spoken(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, `{"type":"user","uuid":"u-%d","sessionId":"e3025ff2","cwd":"/home/ann/my-app","timestamp":"2026-11-22T12:%02d:00Z","message":{"role":"user","content":"word%d is said"}}`+"\n", i, i, i)
	}
	return b.String()
}

// minute is a time of [spoken].
func minute(n int) time.Time { return time.Date(2026, 11, 22, 12, n, 30, 0, time.UTC) }

// consented is a data directory with the sessions of a project in it.
func consented(t *testing.T) (data string, s *Store) {
	t.Helper()
	data = t.TempDir()
	if _, err := Consenting(data, "connect", minute(-60), nil, true); err != nil {
		t.Fatal(err)
	}
	return data, Open(Dir(data, "5eed"), nil)
}

func wordsOf(t *testing.T, s *Store) string {
	t.Helper()
	names, err := s.files()
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := s.whole(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	var said []string
	for i := range 60 {
		if strings.Contains(all.String(), fmt.Sprintf("word%d ", i)) {
			said = append(said, fmt.Sprint(i))
		}
	}
	return strings.Join(said, " ")
}

// What was said while sessions were off is not taken in when they are on again in the middle of the session: not from
// the transcript, not from a fork of it, not by an import.
func TestWhatWasSaidWhileOffIsNeverKept(t *testing.T) {
	for _, way := range []string{"project", "setting"} {
		for _, most := range []int64{0, 1} {
			t.Run(fmt.Sprint(way, most), func(t *testing.T) {
				data, s := consented(t)
				path := put(t, filepath.Join(t.TempDir(), sessionName), spoken(0, 3))
				all := func(path string) {
					for {
						if got := take(t, s, path, most); !got.More {
							return
						}
					}
				}
				all(path)
				now := minute(2)
				s.options.Now = func() time.Time { return now }
				if way == "project" {
					for range 2 { // the second time changes nothing
						if err := s.Switch(true); err != nil {
							t.Fatal(err)
						}
						if err := os.Chtimes(filepath.Join(s.dir, offName), now, now); err != nil {
							t.Fatal(err)
						}
					}
				} else if err := Pause(data, "claude-code", path, now); err != nil {
					t.Fatal(err)
				}
				put(t, path, spoken(0, 6))
				now = minute(5)
				if way == "project" {
					if err := s.Switch(false); err != nil {
						t.Fatal(err)
					}
				} else if err := Resume(data, "claude-code", path, now); err != nil {
					t.Fatal(err)
				}
				put(t, path, spoken(0, 8))
				all(path)
				all(put(t, filepath.Join(t.TempDir(), forkName), spoken(0, 9)))
				if got := wordsOf(t, s); got != "0 1 2 6 7 8" {
					t.Error("kept:", got)
				}
			})
		}
	}
}

// What was said before somebody agreed is not taken in by hooks, however much it is; a person may take it in.
func TestWhatWasSaidBeforeTheConsentIsForAPerson(t *testing.T) {
	_, s := consented(t)
	path := put(t, filepath.Join(t.TempDir(), sessionName), spoken(0, 8))
	hook := s.Since(minute(5))
	for range 20 {
		take(t, hook, path, 1)
	}
	if got := wordsOf(t, s); got != "6 7" {
		t.Error("hooks kept:", got)
	}
	other := Open(Dir(t.TempDir(), "5eed"), nil)
	take(t, other, path, 0)
	if got := wordsOf(t, other); got != "0 1 2 3 4 5 6 7" {
		t.Error("an import kept:", got)
	}
}

// A call whose result came while sessions were off, and one that was made then and still waits, leave no word.
func TestACallAtThePauseLeavesNoWord(t *testing.T) {
	call := func(id, at string) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"a-%s","sessionId":"e3025ff2","timestamp":"2026-11-22T12:%s:00Z","message":{"content":[{"type":"tool_use","id":"%s","name":"Bash","input":{"command":"echo word%s now"}}]}}`+"\n", id, at, id, id)
	}
	result := func(id, at string) string {
		return fmt.Sprintf(`{"type":"user","uuid":"r-%s","sessionId":"e3025ff2","timestamp":"2026-11-22T12:%s:00Z","message":{"content":[{"type":"tool_result","tool_use_id":"%s","content":"word5%s gave"}]}}`+"\n", id, at, id, id)
	}
	_, s := consented(t)
	path := put(t, filepath.Join(t.TempDir(), sessionName), spoken(0, 1)+call("1", "01"))
	if err := note(filepath.Dir(s.dir), pause{Project: "5eed", Off: minute(1), On: minute(5)}); err != nil {
		t.Fatal(err)
	}
	put(t, path, spoken(0, 1)+call("1", "01")+result("1", "03")+call("2", "04")+spoken(8, 9))
	take(t, s, path, 0)
	put(t, path, spoken(0, 1)+call("1", "01")+result("1", "03")+call("2", "04")+spoken(8, 9)+result("2", "07")+spoken(9, 10))
	take(t, s, path, 0)
	if got := wordsOf(t, s); got != "0 8 9" {
		t.Error("kept:", got)
	}
}
