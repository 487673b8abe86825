//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// overHTTP starts lean-ctx serve and gives its address and token.
func overHTTP(t *testing.T) (s *exec.Cmd, url, token string) {
	t.Helper()
	s = exec.CommandContext(t.Context(), "lean-ctx", "serve", "--addr", "127.0.0.1:0")
	data := t.TempDir()
	s.Env = append(os.Environ(), "LEAN_CTX_DATA_DIR="+data, "LEAN_CTX_PROJECT_ROOT="+t.TempDir())
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if at, ok := strings.CutPrefix(lines.Text(), "Serving at "); ok {
			own, err := os.ReadFile(filepath.Join(data, "serve.token"))
			if err != nil {
				t.Fatal(err)
			}
			return s, at, strings.TrimSpace(string(own))
		}
	}
	t.Fatal("it said nothing")
	return nil, "", ""
}

// A server that is killed while many clients write has kept all that it acknowledged.
func TestKilledUnderLoadLosesNothing(t *testing.T) {
	s, url, token := overHTTP(t)
	const clients, enough = 8, 60
	var (
		mu   sync.Mutex
		kept []string
		once sync.Once
		wg   sync.WaitGroup
	)
	for c := range clients {
		wg.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("k%d-%d", c, i)
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/knowledge/remember", strings.NewReader(`{"category":"a","key":"`+key+`","value":"kept"}`))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Content-Type", "application/json")
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					return // it was killed
				}
				answer.Body.Close()
				if answer.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", key, answer.Status)
					return
				}
				mu.Lock()
				kept = append(kept, key)
				n := len(kept)
				mu.Unlock()
				if n >= enough {
					once.Do(func() { _ = s.Process.Signal(syscall.SIGKILL) })
				}
			}
		})
	}
	wg.Wait()
	_ = s.Wait() // it was killed
	export := exec.CommandContext(t.Context(), "lean-ctx", "knowledge", "export", "--format", "jsonl")
	export.Env = s.Env
	facts, err := export.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range kept {
		if !strings.Contains(string(facts), `"`+key+`"`) {
			t.Errorf("%s was acknowledged and is lost", key)
		}
	}
	if len(kept) < enough {
		t.Errorf("only %d were acknowledged", len(kept))
	}
}
