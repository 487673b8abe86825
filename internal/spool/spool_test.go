package spool

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A line that a killed process left torn takes no other line with it.
func TestATornLineTakesNoOtherWithIt(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	for cut := range len("\nfirst\n") + 1 {
		if err := os.WriteFile(name, []byte("\nfirst\n")[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		n, err := Append(f, []byte("second"), []byte("third"))
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil || len(data) != cut+n {
			t.Errorf("%d bytes after %d, %d were written: %v", len(data), cut, n, err)
		}
		lines := slices.Collect(bytes.Lines(data))
		if n := len(lines); n < 2 || string(lines[n-2]) != "second\n" || string(lines[n-1]) != "third\n" {
			t.Errorf("cut at %d: %q", cut, lines)
		}
	}
}
