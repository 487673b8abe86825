package config

import (
	"runtime"
	"testing"
)

// A path that is another directory for each process is no data directory.
func TestNoDataDirectoryOfAProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no /proc")
	}
	for _, path := range []string{"/proc/self/cwd/.lc", "/proc/self/root/x", "/tmp/../proc/1/cwd", "/dev/fd/3", "//proc/self/cwd"} {
		t.Setenv(DataDirVar, path)
		if c, err := Load("", ""); err == nil {
			t.Errorf("%s: %s", path, c.DataDir)
		}
	}
	t.Setenv(DataDirVar, t.TempDir())
	if _, err := Load("", ""); err != nil {
		t.Error(err)
	}
}
