package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// Each command has a page, and no text in it is taken for markup.
func TestManual(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795302000")
	dir := filepath.Join(t.TempDir(), "man1")
	if err := run([]string{"-man", dir}, io.Discard); err != nil {
		t.Fatal(err)
	}
	for name, parts := range map[string][]string{
		"lean-ctx.1":                    {`.TH "LEAN-CTX" "1" "Nov 2026"`, "- as an argument is standard input", "\\fBLEAN_CTX_DATA_DIR\\fP", ".SH EXIT STATUS\n.TP\n\\fB0\\fP\nDone."},
		"lean-ctx-knowledge-remember.1": {"Assert a fact", "lean-ctx knowledge remember [room/key] <value> [flags]", "\\fB--valid-from\\fP", `lean-ctx knowledge remember "JWT RS256" --category architecture`},
		"lean-ctx-overview.1":           {"lean-ctx overview [task] [flags]"},
	} {
		text := string(content(t, dir, name))
		for _, part := range parts {
			if !strings.Contains(strings.ReplaceAll(text, `\-`, "-"), part) {
				t.Errorf("%s has no\n%s\n%s", name, part, text)
			}
		}
	}
}
