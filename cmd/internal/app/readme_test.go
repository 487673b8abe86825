package app

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"leanctx/cmd/internal/op"
)

var update = flag.Bool("update", false, "write the README's generated parts anew")

const readme = "../../../README.md"

// The README shows what the program prints and takes, not what it once did.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	want := section(t, string(data), "reference", op.Reference(op.All(op.Stores{})))
	want = section(t, want, "demo", "```text\n"+demonstration(t)+"```\n")
	if want == string(data) {
		return
	}
	if !*update {
		t.Fatal("README.md is not what the program prints: go test ./cmd/internal/app -run TestReadme -update")
	}
	if err := os.WriteFile(readme, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

// section puts text between the marks of a name.
func section(t *testing.T, doc, name, text string) string {
	t.Helper()
	begin, end := "<!-- "+name+":begin -->\n", "<!-- "+name+":end -->\n"
	before, rest, ok := strings.Cut(doc, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("README.md lacks the marks of %q", name)
	}
	return before + begin + text + end + after
}

// demonstration runs the program as the README says.
func demonstration(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "lean-ctx.exe") // the ending matters on Windows only
	if out, err := exec.Command("go", "build", "-o", exe, "leanctx/cmd/lean-ctx").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command(exe, "demo")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("demo: %v\n%s", err, stderr.String())
	}
	return string(out)
}
