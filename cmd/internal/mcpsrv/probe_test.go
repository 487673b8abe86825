package mcpsrv

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A program that is no server is an error, with its output.
func TestProbeOfNoServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	for text, want := range map[string]string{
		"echo hello":                     "",
		"echo no such store >&2; exit 3": "its output: no such store",
		`read x; echo '{"id":1,"error":{"message":"too old"}}'`: "",
	} {
		path := filepath.Join(t.TempDir(), "server")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Probe(t.Context(), exec.Command(path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, _, err := Probe(t.Context(), exec.Command(filepath.Join(t.TempDir(), "gone"))); err == nil {
		t.Error("a program that is not there started")
	}
}
