package args

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFileIsRegularBoundedAndInside(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write := func(name, text string) string {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	link := func(to, name string) string {
		name = filepath.Join(root, name)
		if err := os.Symlink(to, name); err != nil {
			t.Skip("no symbolic links here: what follows them is not proven")
		}
		return name
	}
	plain, secret := write(filepath.Join(root, "a.md"), "0123456789"), write(filepath.Join(outside, "secret"), "s")
	for _, tt := range []struct {
		name string
		most int64
		want string
	}{
		{plain, 10, ""},
		{plain, 9, "more than"},
		{secret, 10, ""}, // named as it is
		{link(plain, "in.md"), 10, ""},
		{link(secret, "out.md"), 10, "leads out of the project"},
		{filepath.Join(link(outside, "dir"), "secret"), 10, "leads out of the project"},
		{link("out.md", "twice.md"), 10, "leads out of the project"},
		{link("/dev/zero", "zero.md"), 10, "leads out of the project"},
		{os.DevNull, 10, "no regular file"},
		{"/dev/zero", 10, "no regular file"},
		{root, 10, "no regular file"},
	} {
		if _, err := os.Stat(tt.name); err != nil {
			continue // no such device here
		}
		text, err := File(root, tt.name, tt.most)
		switch {
		case tt.want == "" && err != nil, tt.want == "" && len(text) == 0:
			t.Errorf("%s: %q, %v", tt.name, text, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %q, %v, not %q", tt.name, text, err, tt.want)
		}
	}
}
