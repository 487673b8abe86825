package app

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"leanctx/cmd/internal/config"
)

// serveTeams runs `team serve` and gives the lines that it prints.
func serveTeams(t *testing.T, args ...string) (lines []string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- Main(ctx, append([]string{"team", "serve", "--addr", "127.0.0.1:0"}, args...), strings.NewReader(""), in, io.Discard)
		in.Close()
	}()
	t.Cleanup(func() {
		stop()
		go func() { _, _ = io.Copy(io.Discard, out) }()
		<-done
	})
	for scan := bufio.NewScanner(out); len(lines) < 2 && scan.Scan(); {
		lines = append(lines, scan.Text())
	}
	return lines
}

// A server on loopback wants a token too: it is made in its directory, for its user alone, and no
// command line has it. What is printed can be run as it stands.
func TestTeamServeWantsAToken(t *testing.T) {
	dir := home(t)
	disk := filepath.Join(dir, "it's streams")
	lines := serveTeams(t, "--dir", disk)
	if len(lines) != 2 {
		t.Fatalf("printed %q", lines)
	}
	text, err := os.ReadFile(filepath.Join(disk, "token"))
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(text))
	if info, err := os.Stat(filepath.Join(disk, "token")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 || len(token) < 20 {
		t.Errorf("%v %v, a token of %d", info, err, len(token))
	}
	if strings.Contains(strings.Join(lines, "\n"), token) {
		t.Errorf("it prints the token: %q", lines)
	}
	_, command, _ := strings.Cut(lines[1], "lean-ctx ")
	url := strings.Fields(command)[2]
	t.Setenv(config.DataDirVar, filepath.Join(dir, "a"))
	if code, _, errs := do(t, "", "team", "join", url, "--name", "shop"); code == 0 || !strings.Contains(errs, "with --token-file") {
		t.Errorf("without the token: %d %s", code, errs)
	}
	if !strings.HasSuffix(command, ` --token-file '`+strings.ReplaceAll(filepath.Join(disk, "token"), "'", `'\''`)+`'`) {
		t.Errorf("it cannot be pasted: %s", command)
	}
	if code, out, errs := do(t, "", "team", "join", url, "--name", "shop", "--token-file", filepath.Join(disk, "token")); code != 0 || !strings.Contains(out, "joined team shop") {
		t.Errorf("with the token: %d %s%s", code, out, errs)
	}
	if m, err := filepath.Glob(filepath.Join(dir, "a", "teams", "*", "team.json")); err != nil || len(m) != 1 {
		t.Fatal(m, err)
	} else if kept, err := os.ReadFile(m[0]); err != nil || strings.Contains(string(kept), token) {
		t.Errorf("the membership has the token: %s, %v", kept, err)
	}
}

// The token's file is read as it is, or refused: a link or a file that others can read is not
// what the server made.
func TestTeamTokenFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "streams")
	path, err := teamToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := os.ReadFile(path)
	if again, err := teamToken(dir); err != nil || again != path {
		t.Errorf("%s, %v", again, err)
	}
	if now, _ := os.ReadFile(path); string(now) != string(first) {
		t.Error("another token was made")
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := teamToken(dir); err == nil {
		t.Error("a file that others can read is taken")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", path); err != nil {
		t.Fatal(err)
	}
	if _, err := teamToken(dir); err == nil {
		t.Error("a link is taken")
	}
	if code, _, errs := do(t, "", "team", "serve", "--addr", "127.0.0.1:0", "--cluster", "127.0.0.1:0", "--dir", t.TempDir()); code != usage || !strings.Contains(errs, "need one token") {
		t.Errorf("a cluster without a token: %d %s", code, errs)
	}
	sent := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(sent, []byte("a token that is sent"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := do(t, "", "team", "serve", "--addr", "127.0.0.1:0", "--cluster", "127.0.0.1:0", "--dir", t.TempDir(), "--token-file", sent); code != usage || !strings.Contains(errs, "cannot prove to each other") {
		t.Errorf("a cluster whose token is sent: %d %s", code, errs)
	}
}
