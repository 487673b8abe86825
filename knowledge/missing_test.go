package knowledge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	. "leanctx/knowledge"
	"leanctx/knowledge/index"
)

// A command answers before it writes any index. There may be none on disk, half of one, or one of another version of the
// program. The next command finds what it wrote. It writes none beside that of a newer version.
func TestAnsweredBeforeIndexed(t *testing.T) {
	whole := filled(t, 100)
	want := ask249(t, named(t, whole))
	for name, spoil := range map[string]func(dir string) error{
		"missing":         func(dir string) error { return os.RemoveAll(filepath.Join(dir, "index")) },
		"half":            func(dir string) error { return os.Remove(segments(dir)[0]) },
		"cut":             func(dir string) error { return os.Truncate(segments(dir)[0], 100) },
		"emptied":         func(dir string) error { return os.Truncate(segments(dir)[0], 0) },
		"a flipped byte":  func(dir string) error { return flip(segments(dir)[0], 100, 1) },
		"earlier version": func(dir string) error { return otherMapping(generations(dir)[0], -1) },
		"newer version":   func(dir string) error { return otherMapping(generations(dir)[0], 1) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := copied(t, whole)
			if len(generations(dir)) != 1 {
				t.Fatalf("%d generations", len(generations(dir)))
			}
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			var logged logText
			s, err := Open(dir, &Options{ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e", Logger: slog.New(slog.NewTextHandler(&logged, nil))})
			if err != nil {
				t.Fatal(err)
			}
			if got := ask249(t, s); got != want {
				t.Errorf("answered\n%s\nwant\n%s", got, want)
			}
			setAside := name != "missing" && name != "newer version"
			if left := generations(dir); len(left) != 0 && name != "newer version" {
				t.Errorf("written before the answer: %v", left)
			}
			aside, _ := filepath.Glob(filepath.Join(dir, "index", "*.damaged"))
			if warned := strings.Contains(logged.String(), "set aside"); warned != setAside || len(aside) != 0 != setAside {
				t.Errorf("set aside: %v, logged: %s", aside, &logged)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			for range 20 { // a busy machine may need longer than a command works after its answer
				if index.Exists(filepath.Join(dir, "index")) {
					break
				}
				s := must[*Store](t)(Open(dir, &Options{ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e"}))
				if ask249(t, s); s.Close() != nil {
					t.Error("not closed")
				}
			}
			if !index.Exists(filepath.Join(dir, "index")) {
				t.Error("not written after the answer")
			}
			if got := ask249(t, named(t, dir)); got != want {
				t.Errorf("then answered\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A server answers right after its index was damaged, replaced or deleted under it. Damage that it
// reads is logged, and the index set aside.
func TestIndexDamagedUnderAServer(t *testing.T) {
	whole := filled(t, 100)
	for name, c := range map[string]struct {
		spoil func(dir string) error
		read  bool
	}{
		"flipped":         {func(dir string) error { return flip(segments(dir)[0], 0, -1) }, true},
		"earlier version": {func(dir string) error { return otherMapping(generations(dir)[0], -1) }, false},
		"newer version":   {func(dir string) error { return otherMapping(generations(dir)[0], 1) }, false},
		"deleted":         {func(dir string) error { return os.RemoveAll(filepath.Join(dir, "index")) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copied(t, whole)
			var logged logText
			s := must[*Store](t)(Open(dir, &Options{ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e", LongLived: true, Logger: slog.New(slog.NewTextHandler(&logged, nil))}))
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			want := ask249(t, s)
			if err := c.spoil(dir); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got := ask249(t, s); got != want {
					t.Errorf("answered\n%s\nwant\n%s", got, want)
				}
			}
			aside, _ := filepath.Glob(filepath.Join(dir, "index", "*.damaged"))
			if told := strings.Contains(logged.String(), "damaged"); told != c.read || len(aside) != 0 != c.read {
				t.Errorf("set aside: %v, logged: %s", aside, &logged)
			}
		})
	}
}

// logText is a log that is read while it is written.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func ask249(t *testing.T, s *Store) string {
	t.Helper()
	return must[Recalled](t)(s.Recall(t.Context(), Question{Query: "service 249", Limit: 5})).Text()
}

// generations are the directories of the index that may be used.
func generations(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, "index", "[0-9]*-????????"))
	return found
}

func segments(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(generations(dir)[0], "store", "*.zap"))
	return found
}

// flip changes n bytes of a file in place, all from at on if n is negative.
func flip(path string, at, n int) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n < 0 {
		n = len(data) - at
	}
	for i := at; i < at+n; i++ {
		data[i] ^= 0x55
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(data[at:at+n], int64(at)); err != nil {
		return err
	}
	return f.Close()
}

// otherMapping makes a generation one of an earlier version of the program (by -1) or a newer one (by 1).
func otherMapping(generation string, by float64) error {
	path := filepath.Join(generation, "generation.json")
	line, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, text, _ := bytes.Cut(line, []byte(" "))
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	m["mapping"] = m["mapping"].(float64) + by
	if text, err = json.Marshal(m); err != nil {
		return err
	}
	return os.WriteFile(path, fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(text), text), 0o600)
}
