//go:build unix

package main

import (
	"bufio"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"leanctx/cmd/internal/app"
)

var realProgram = flag.Bool("real", false, "pack the real program, which takes a minute")

// standIn answers as the program does, as far as these tests look.
const standIn = `#!/bin/sh
case "$1" in
version) echo "lean-ctx ` + app.Version + `" ;;
task) exit 3 ;;
mcp)
	sleep 60 &
	trap 'kill $!; exit 130' INT TERM
	read -r line
	echo '{"name":"lean-ctx"}'
	wait ;;
*) exit 2 ;;
esac
`

// packed is where everything is for a program of this machine.
func packed(t *testing.T) string {
	t.Helper()
	i := slices.IndexFunc(targets(), func(x target) bool { return x.OS == runtime.GOOS && x.Arch == runtime.GOARCH })
	if testing.Short() || i < 0 {
		t.Skip("SKIPPED: -short, or a platform that nothing is released for")
	}
	programs, out := t.TempDir(), t.TempDir()
	x := targets()[i]
	path := filepath.Join(programs, program+"_"+x.OS+"_"+x.Arch, program)
	if *realProgram {
		ran(t, nil, root, "go", "build", "-ldflags", "-s -w", "-o", path, "./cmd/lean-ctx")
	} else if err := put(path, []byte(standIn), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-programs", programs, "-out", out, "-source", root, "-licenses", licensesDir(t), "-repository", repository}, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out
}

func ran(t *testing.T, env []string, dir, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// needs skips a test where a program is missing.
func needs(t *testing.T, names ...string) {
	t.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			t.Skipf("SKIPPED: %s is not on PATH, so the packages are not installed", n)
		}
	}
}

// The packages start the program that is in them.
func TestProgramInPackages(t *testing.T) {
	out := packed(t)
	t.Run("npm", func(t *testing.T) { withNpm(t, out) })
	t.Run("mcpb", func(t *testing.T) { withMCPB(t, out) })
}

// The packages, packed and installed without a network, start the program:
// its output, its exit codes, MCP over its pipes, and signals go through.
func withNpm(t *testing.T, out string) {
	needs(t, "npm", "node", "npx")
	home := t.TempDir()
	env := []string{"HOME=" + home, "npm_config_cache=" + filepath.Join(home, "cache"), "npm_config_update_notifier=false", "LEAN_CTX_DATA_DIR=" + filepath.Join(home, "data")}
	tarballs := t.TempDir()
	dirs, err := filepath.Glob(filepath.Join(out, "npm", "*"))
	if err != nil || len(dirs) != 2 {
		t.Fatalf("%v, packages %v", err, dirs)
	}
	for _, d := range dirs {
		ran(t, env, d, "npm", "pack", "--pack-destination", tarballs)
	}
	files, err := filepath.Glob(filepath.Join(tarballs, "*.tgz"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, tarballs %v", err, files)
	}
	project := t.TempDir()
	ran(t, env, project, "npm", append([]string{"install", "--offline", "--no-audit", "--no-fund", "--prefix", project}, files...)...)
	if got := ran(t, env, project, "npx", "--offline", "lean-ctx", "version"); !strings.Contains(got, "lean-ctx "+app.Version) {
		t.Errorf("got %s", got)
	}
	bin := filepath.Join(project, "node_modules", ".bin", "lean-ctx")
	for want, args := range map[int][]string{2: {"nonsense"}, 3: {"task", "get", "t-0000"}} {
		c := exec.CommandContext(t.Context(), bin, args...)
		c.Env, c.Dir = append(os.Environ(), env...), project
		if exit, ok := errors.AsType[*exec.ExitError](c.Run()); !ok || exit.ExitCode() != want {
			t.Errorf("%v: %v, want exit code %d", args, exit, want)
		}
	}
	for signal, want := range map[syscall.Signal]int{syscall.SIGTERM: 130, syscall.SIGINT: 130} {
		served(t, exec.CommandContext(t.Context(), bin, "mcp"), append(env, "LEAN_CTX_PROJECT_ROOT="+project), signal, want)
	}
	if err := os.RemoveAll(filepath.Join(project, "node_modules", "@lean-ctx")); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), bin, "version")
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "lean-ctx: hint: install lean-ctx again") {
		t.Errorf("without the program: %v, %s", err, out)
	}
}

// served shakes hands with a server, sends it a signal and sees how it ends.
func served(t *testing.T, c *exec.Cmd, env []string, signal syscall.Signal, want int) {
	t.Helper()
	c.Env = append(os.Environ(), env...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	if _, err := io.WriteString(in, hello+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(answer, `"name":"lean-ctx"`) {
		t.Fatalf("got %s, %v", answer, err)
	}
	if err := c.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if exit, ok := errors.AsType[*exec.ExitError](c.Wait()); !ok || exit.ExitCode() != want {
		t.Errorf("%v: %v, want exit code %d", signal, exit, want)
	}
}

// mcpbVersion is the release of the bundles' own tool that is asked.
const mcpbVersion = "@anthropic-ai/mcpb@2.1.2"

// The bundles' own tool takes the manifest and the bundle, and what it unpacks
// is a server.
func withMCPB(t *testing.T, out string) {
	needs(t, "npm", "node")
	tool := t.TempDir()
	c := exec.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1", "--prefix", tool, mcpbVersion)
	if said, err := c.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: npm does not give %s, so the bundle is not checked with it: %v\n%s", mcpbVersion, err, said)
	}
	mcpb := filepath.Join(tool, "node_modules", ".bin", "mcpb")
	bundles, err := filepath.Glob(filepath.Join(out, "*.mcpb"))
	if err != nil || len(bundles) != 1 {
		t.Fatalf("%v, bundles %v", err, bundles)
	}
	dir := filepath.Join(t.TempDir(), "unpacked")
	ran(t, nil, out, mcpb, "unpack", bundles[0], dir)
	if said := ran(t, nil, dir, mcpb, "validate", filepath.Join(dir, "manifest.json")); !strings.Contains(said, "validation passes") {
		t.Error(said)
	}
	again := filepath.Join(t.TempDir(), "again.mcpb")
	ran(t, nil, dir, mcpb, "pack", dir, again)
	env := []string{"LEAN_CTX_DATA_DIR=" + t.TempDir(), "LEAN_CTX_PROJECT_ROOT=" + t.TempDir()}
	served(t, exec.CommandContext(t.Context(), filepath.Join(dir, "server", program), "mcp"), env, syscall.SIGTERM, 130)
}
