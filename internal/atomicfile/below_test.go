package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

// A file below a directory is written without following a link, whichever part of its name is one, and a file that is there is
// replaced: what it was a second name of stays as it is.
func TestWriteBelowFollowsNoLink(t *testing.T) {
	far := t.TempDir()
	precious := filepath.Join(far, "precious")
	for name, plant := range map[string]func(top string) error{
		"nothing is there":    func(string) error { return nil },
		"a file":              func(top string) error { return os.WriteFile(folderIn(t, top, "e/f")+"/x.md", []byte("old"), 0o666) },
		"a link to a file":    func(top string) error { return os.Symlink(precious, folderIn(t, top, "e/f")+"/x.md") },
		"a second name":       func(top string) error { return os.Link(precious, folderIn(t, top, "e/f")+"/x.md") },
		"a link to a folder":  func(top string) error { return os.Symlink(far, filepath.Join(top, "e")) },
		"a link far inside":   func(top string) error { return os.Symlink(far, folderIn(t, top, "e")+"/f") },
		"a link to one there": func(top string) error { return os.Symlink(folderIn(t, top, "other"), filepath.Join(top, "e")) },
		"another's folder":    func(top string) error { return os.Chown(folderIn(t, top, "e"), 12345, 12345) },
		"a file for a folder": func(top string) error { return os.WriteFile(filepath.Join(top, "e"), nil, 0o600) },
	} {
		top := t.TempDir()
		if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := plant(top); err != nil {
			t.Logf("not proven: %s: %v", name, err)
			continue
		}
		good := name == "nothing is there" || name == "a file" || name == "a link to a file" || name == "a second name"
		err := WriteBelow(top, "e/f/x.md", []byte("new"))
		if (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
		if text, _ := os.ReadFile(precious); string(text) != "precious" {
			t.Errorf("%s: it wrote through", name)
		}
		if list, _ := os.ReadDir(far); len(list) != 1 {
			t.Errorf("%s: it wrote to %v", name, list)
		}
		if text, _ := os.ReadFile(filepath.Join(top, "e/f/x.md")); good != (string(text) == "new") {
			t.Errorf("%s: it is %q", name, text)
		}
		if info, err := os.Lstat(filepath.Join(top, "e/f/x.md")); good && (err != nil || info.Mode() != 0o600) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if list, _ := os.ReadDir(filepath.Join(top, "e/f")); good && len(list) != 1 {
			t.Errorf("%s: %v is left", name, list)
		}
	}
}

func folderIn(t *testing.T, top, name string) string {
	t.Helper()
	dir := filepath.Join(top, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
