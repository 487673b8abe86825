package share

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"leanctx/internal/secret"
)

func (b *bed) refuse(as string, o Offer, want ...string) {
	b.Helper()
	_, err := b.as(as).Push(b.Context(), o)
	if err == nil {
		b.Errorf("%+v was shared", o)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			b.Errorf("%v does not say %q", err, w)
		}
	}
}

// Whatever is in the way is named, and then nothing is stored.
func TestBadFiles(t *testing.T) {
	b := newBed(t)
	b.write("good.md", "text")
	b.write("logo.png", "\x89PNG\r\n\x1a\n\x00\x00")
	b.write("latin.txt", "caf\xe9")
	b.write("limit.txt", strings.Repeat("a", MaxFile))
	b.write("over.txt", strings.Repeat("a", MaxFile+1))
	b.write("src/x.go", "package x")
	big, err := os.Create(filepath.Join(b.root, "big.log"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(big.Truncate(50<<20), big.Close()); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(outside, []byte("root"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{"logo.png", "logo.png is binary"},
		{"latin.txt", "latin.txt is binary"},
		{"over.txt", "over.txt is too big: 1.0 MiB, at most 1"},
		{"big.log", "big.log is too big: 50.0 MiB"},
		{"none.md", "none.md does not exist"},
		{"src", "src is a directory"},
		{".", ". is a directory"},
		{"../../etc/passwd", "../../etc/passwd is outside the project"},
		{"src/../../x", "is outside the project"},
		{outside, "is outside the project"},
		{"a\nb.md", "control characters"},
		{"x\x00y", "is not a valid file name"},
		{strings.Repeat("é", 300), strings.Repeat("é", 80) + "… "},
		{"", "needs paths"},
		{" ", "needs paths"},
	} {
		b.refuse(cursor, Offer{Paths: []string{c.path}}, c.want)
	}
	b.refuse(cursor, Offer{}, "needs paths")
	b.refuse(cursor, Offer{Paths: []string{"good.md", "logo.png", "big.log"}}, "nothing was shared", "logo.png", "big.log")
	if _, err := os.Stat(b.dir); err == nil {
		t.Error("something was stored")
	}
	b.refuse(cursor, Offer{Paths: []string{"good.md"}, Message: strings.Repeat("m", MaxMessage+1)}, "message has 65537 bytes")
	b.refuse(cursor, Offer{Paths: []string{"good.md"}, ToAgent: "nobody"}, "No agent found: nobody")
	b.refuse(cursor, Offer{Paths: []string{"good.md"}, ToAgent: cursor}, "name another agent")
	b.refuse("", Offer{Paths: []string{"good.md"}}, "needs agent")
	b.refuse("cursor", Offer{Paths: []string{"good.md"}}, "No agent found: cursor")
	b.refuse("ghost-0000", Offer{Paths: []string{"good.md"}}, "No agent found: ghost-0000")
	b.refuse("../x\x1b", Offer{Paths: []string{"good.md"}}, `No agent found: ../x\u{1b} (`)
	if _, err := b.s.Pull(t.Context(), PullArgs{}); err == nil {
		t.Error("nobody pulled")
	}
	if got := b.push(cursor, "", "", filepath.Join(b.root, "good.md")); got.Files[0].Path != "good.md" {
		t.Errorf("%+v", got)
	}
}

// Git's own files, and names that a rule finds sensitive, are not shared, under whatever
// name they are reached.
func TestSensitiveNames(t *testing.T) {
	b := newBed(t)
	r, err := secret.New([]secret.Rule{{ID: "env", Pattern: `(^|/)\.env$`}})
	if err != nil {
		t.Fatal(err)
	}
	b.o.Redactor = r
	b.reopen()
	for _, name := range []string{".git/config", "sub/.git/HEAD", ".env", "app/.env", "good.md", "settings/dev", "gitdata/config"} {
		b.write(name, "text")
	}
	for link, to := range map[string]string{"config.md": ".git/config", "env.md": "app/.env", "link/.env": "../settings/dev", "link/.git": "../gitdata"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(b.root, link)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(b.root, link)); err != nil && runtime.GOOS != "windows" {
			t.Fatal(err)
		}
	}
	for _, path := range []string{".git/config", "./sub/../.git/config", "sub/.git/HEAD", "config.md", ".GIT/config", "link/.git/config", filepath.Join(b.root, "link/.git/config")} {
		if (path == "config.md" || strings.Contains(path, "link")) && runtime.GOOS == "windows" {
			continue
		}
		b.refuse(cursor, Offer{Paths: []string{"good.md", path}}, "nothing was shared", "belongs to Git")
	}
	for _, path := range []string{".env", "app/.env", "env.md", "link/.env"} {
		if (path == "env.md" || path == "link/.env") && runtime.GOOS == "windows" {
			continue
		}
		b.refuse(cursor, Offer{Paths: []string{path}}, "nothing was shared", "is sensitive (env)")
	}
	b.push(cursor, claude, "", "good.md")
}

func TestLinks(t *testing.T) {
	b := newBed(t)
	b.write("good.md", "text")
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "key"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"inside.md": "good.md", "out.md": filepath.Join(outside, "key"), "dir": outside, "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(b.root, from)); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip(err)
			}
			t.Fatal(err)
		}
	}
	b.refuse(cursor, Offer{Paths: []string{"out.md"}}, "out.md is outside the project")
	b.refuse(cursor, Offer{Paths: []string{"dir/key"}}, "dir/key is outside the project")
	b.refuse(cursor, Offer{Paths: []string{"loop"}}, "loop cannot be resolved")
	if runtime.GOOS != "windows" { // such a name can be no file's there
		b.write("line\nfeed.md", "text")
		if err := os.Symlink("line\nfeed.md", filepath.Join(b.root, "plain.md")); err != nil {
			t.Fatal(err)
		}
		b.refuse(cursor, Offer{Paths: []string{"plain.md"}}, "plain.md has control characters in its name")
	}
	b.push(cursor, claude, "", "inside.md")
	// a file that is put out of the project after it was shared
	if err := errors.Join(os.Remove(filepath.Join(b.root, "good.md")), os.Symlink(filepath.Join(outside, "key"), filepath.Join(b.root, "good.md"))); err != nil {
		t.Fatal(err)
	}
	if got := b.pull(claude, true); got.Shares[0].Files[0].State != stateUnreadable || *got.Shares[0].Files[0].Content != "text" {
		t.Errorf("%+v", got)
	}
	// the project under another name
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(b.root, link); err != nil {
		t.Fatal(err)
	}
	b.write("other.md", "text")
	if got := b.push(cursor, "", "", filepath.Join(link, "other.md")); got.Files[0].Path != "other.md" {
		t.Errorf("%+v", got)
	}
}

func TestTooMuch(t *testing.T) {
	b := newBed(t)
	var paths []string
	for i := range 5 {
		name := string(rune('a'+i)) + ".txt"
		b.write(name, strings.Repeat("a ", MaxFile/2))
		paths = append(paths, name)
	}
	b.refuse(cursor, Offer{Paths: paths}, "more than 4 MiB or 100 files")
	paths = nil
	for i := range MaxFiles + 1 {
		name := "n/" + strings.Repeat("x", i+1)
		b.write(name, "x")
		paths = append(paths, name)
	}
	b.refuse(cursor, Offer{Paths: paths}, "more than 4 MiB or 100 files")
	if o := b.push(cursor, "", "", paths[:MaxFiles]...); len(o.Files) != MaxFiles {
		t.Error(len(o.Files))
	}
}

// A comma belongs to the name.
func TestCommas(t *testing.T) {
	b := newBed(t)
	b.write("a,b.md", "text")
	b.write("c.md", "text")
	if o := b.push(cursor, "", "", "a,b.md", "c.md", "./c.md"); len(o.Files) != 2 {
		t.Errorf("%+v", o.Files)
	}
}

func TestDamagedContents(t *testing.T) {
	b := newBed(t)
	b.write("a.md", "text")
	b.write("b.md", "more")
	o := b.push(cursor, claude, "", "a.md", "b.md")
	dir := filepath.Join(b.dir, filesDir, o.ID)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, hash([]byte("text"))), []byte("txet"), 0o600), os.Remove(filepath.Join(dir, hash([]byte("more"))))); err != nil {
		t.Fatal(err)
	}
	b.same(b.pull(claude, true).Text(), "1 shared context from cursor-a3f8:\n  a.md (1 tok) [damaged] + b.md (1 tok) [damaged]")
}

var errFault = errors.New("no space left on device")

// Whichever file operation is the last, there is the whole share or none.
func TestFaults(t *testing.T) {
	for n := 0; ; n++ {
		b := newBed(t)
		b.write("a.md", "text")
		b.write("b.md", "more")
		left, hit := n, ""
		b.o.Fault = func(op, name string) error {
			if left--; left < 0 {
				hit = op + " " + name
				return errFault
			}
			return nil
		}
		b.reopen()
		_, err := b.as(cursor).Push(t.Context(), Offer{Paths: []string{"a.md", "b.md"}})
		if hit == "" {
			if err != nil || n < 8 {
				t.Fatalf("%d operations, %v", n, err)
			}
			return
		}
		if !errors.Is(err, errFault) {
			t.Errorf("%s: %v", hit, err)
		}
		b.o.Fault = nil
		b.reopen()
		for _, x := range b.pull(claude, true).Shares {
			if len(x.Files) != 2 || x.Files[0].Content == nil || x.Files[1].Content == nil {
				t.Errorf("%s: half a share: %+v", hit, x)
			}
		}
		b.push(cursor, "", "", "a.md")
		if got := b.pull(claude, true); len(got.Shares) != 1 {
			t.Errorf("%s: %+v", hit, got)
		}
	}
}

// What a killed push left goes an hour later; what belongs to a share never.
func TestOrphans(t *testing.T) {
	b := newBed(t)
	b.write("a.md", "text")
	first := b.push(cursor, "", "", "a.md")
	old := time.Now().Add(-2 * orphanAfter)
	for _, id := range []string{"s-dead", "s-young"} {
		if err := b.s.writeContents(id, map[string]string{hash(nil): ""}); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"s-dead", first.ID} {
		if err := os.Chtimes(filepath.Join(b.dir, filesDir, id), old, old); err != nil {
			t.Fatal(err)
		}
	}
	b.push(cursor, "", "", "a.md")
	for id, want := range map[string]bool{"s-dead": false, "s-young": true, first.ID: true} {
		if _, err := os.Stat(filepath.Join(b.dir, filesDir, id)); (err == nil) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
	if got := b.pull(claude, true); len(got.Shares) != 2 {
		t.Errorf("%+v", got)
	}
}
