package args

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A path has one name, whichever way it is given, and none outside.
func TestPath(t *testing.T) {
	root := t.TempDir()
	outside := t.TempDir()
	for _, dir := range []string{"src/deep", "other"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"alias": "src", "out": outside, "nowhere": filepath.Join(outside, "gone"), "loop": "loop", "src/up": ".."} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Skip(err) // Windows may forbid it
		}
	}
	for given, want := range map[string]string{
		"src/a.go": "src/a.go", "./src//a.go": "src/a.go", "src/deep/../a.go": "src/a.go",
		"alias/a.go": "src/a.go", "src/": "src", ".": ".", "new/dir/a.go": "new/dir/a.go",
		filepath.Join(root, "src/a.go"): "src/a.go", root: ".", "src/up/other": "other", "a b/c?.go": "a b/c?.go",
		"..a": "..a",
	} {
		if got, err := Path(root, given); got != want || err != nil {
			t.Errorf("%q is %q, %v, want %q", given, got, err, want)
		}
	}
	for _, given := range []string{"..", "src/../..", "out/a.go", "out", "nowhere", "nowhere/x", "loop", "/", outside, root + "x"} {
		if got, err := Path(root, given); err == nil {
			t.Errorf("%q is %q", given, got)
		}
	}
}

func TestPathRefused(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Path(root, "file/secret"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("below a file: %v", err)
	}
	for _, given := range []string{"a\x00b", "a\xff", strings.Repeat("a", MaxPath+1)} {
		if got, err := Path(root, given); err == nil {
			t.Errorf("%.20q is %q", given, got)
		}
	}
}

// A regular expression whose counts make it large is refused: each byte of a text may be tried at each of its steps.
func TestRegexpsAreBounded(t *testing.T) {
	for _, ok := range []string{`(?i)jwt|oauth`, `\bT-[0-9]{4,8}\b`, `[a-z]{1,100}`, strings.Repeat("a", 900)} {
		if _, err := Regexp(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, wrong := range []string{strings.Repeat(`.{0,999}`, 3) + "Z", `(?:(?:a{50}){50}b)`, strings.Repeat(`.{0,999}`, 120) + "Z", "(", "", strings.Repeat("a", 1001)} {
		if _, err := Regexp(wrong); err == nil {
			t.Errorf("%.40q is accepted", wrong)
		}
	}
}

// A search ends when its caller goes, and when its time is over.
func TestASearchEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	search := Search{Context: ctx, Until: time.Now().Add(MaxSearch)}
	if !search.Goes() {
		t.Error("it ends at once")
	}
	if over := (Search{Context: ctx, Until: time.Now().Add(-time.Second)}); over.Goes() {
		t.Error("it goes on when its time is over")
	}
	if cancel(); search.Goes() {
		t.Error("it goes on when its caller has gone")
	}
}
