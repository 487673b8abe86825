package index_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"leanctx/internal/proctest"
	"leanctx/knowledge/index"
)

// job is what another process does in a test.
type job struct {
	Do     string
	Dir    string
	Number int
	Rounds int
}

func TestMain(m *testing.M) {
	flag.Set("rapid.checks", strconv.Itoa(proctest.Rounds(20))) // each takes some 20 syncs; the command line may ask for more
	proctest.Main(m, job.run)
}

func (j job) run(ctx context.Context) error {
	switch j.Do {
	case "sync":
		return j.sync(ctx)
	case "read":
		return j.read(ctx)
	}
	return errors.New("unknown job")
}

// sync lets the journal of a process grow by a commit a round, and brings the index along.
func (j job) sync(ctx context.Context) error {
	x, err := index.Open(j.Dir, nil)
	if err != nil {
		return err
	}
	defer func() { x.Close() }()
	for n := range uint64(j.Rounds) {
		// All processes see the same journal: commit n adds fact n.
		at := x.Position().Seq
		for ; at <= n; at++ {
			if err := x.Apply(position(at+1), []index.Doc{numbered(at)}, nil); err != nil {
				return err
			}
		}
		if err := x.Sync(ctx, nil); err != nil && !errors.Is(err, index.ErrBusy) {
			return err
		}
		for i := range n + 1 {
			if text, err := x.Fact(ctx, numbered(i).ID); err != nil || !bytes.Equal(text, numbered(i).Stored) {
				return fmt.Errorf("fact %d after commit %d: %q, %w", i, n+1, text, err)
			}
		}
		if c := x.Count(); c < int(n+1) {
			return fmt.Errorf("%d facts after commit %d", c, n+1)
		}
	}
	return nil
}

func numbered(n uint64) index.Doc {
	return doc("testing", fmt.Sprintf("fact-%d", n), fmt.Sprintf("value %d", n))
}

// read answers from a directory that this process may not write.
func (j job) read(ctx context.Context) error {
	x, err := index.Open(j.Dir, nil)
	if err != nil {
		return err
	}
	hits, err := x.Search(ctx, index.Query{Terms: terms("redis")})
	if err != nil || len(hits) != j.Number {
		return fmt.Errorf("%d hits, %w", len(hits), err)
	}
	if err := x.Apply(position(9), []index.Doc{doc("testing", "more", "redis")}, nil); err != nil {
		return err
	}
	if err := x.Sync(ctx, nil); !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("sync where nothing may be written: %w", err)
	}
	return x.Close()
}

// logged collects what is logged.
func logged() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

// sample builds an index of a few facts, of which three are found by "redis", and gives the path of its generation.
func sample(t testing.TB) (dir, generation string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "index")
	build(t, dir, 3, doc("decision", "cache", "redis in front"), doc("decision", "queue", "redis streams"), doc("testing", "fixture", "a redis in memory"), doc("testing", "other", "nothing"))
	return dir, onlyGeneration(t, dir)
}

func onlyGeneration(t testing.TB, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "3-*"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0]
}

func files(t testing.TB, top string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A generation with a file that is damaged in any way is not used. It is logged and set aside, and the next index
// answers right.
func TestDamageIsLoggedAndSetAside(t *testing.T) {
	_, generation := sample(t)
	for _, path := range files(t, generation) {
		name, _ := filepath.Rel(generation, path)
		for what, damage := range map[string]func(string, []byte) error{
			"flipped first":  func(p string, b []byte) error { b[0] ^= 1; return os.WriteFile(p, b, 0o600) },
			"flipped middle": func(p string, b []byte) error { b[len(b)/2] ^= 64; return os.WriteFile(p, b, 0o600) },
			"flipped last":   func(p string, b []byte) error { b[len(b)-1] ^= 128; return os.WriteFile(p, b, 0o600) },
			"cut":            func(p string, b []byte) error { return os.Truncate(p, int64(len(b)/2)) },
			"emptied":        func(p string, b []byte) error { return os.Truncate(p, 0) },
			"longer":         func(p string, b []byte) error { return os.WriteFile(p, append(b, b...), 0o600) },
			"deleted":        func(p string, _ []byte) error { return os.Remove(p) },
		} {
			t.Run(filepath.ToSlash(name)+" "+what, func(t *testing.T) {
				dir, generation := sample(t)
				p := filepath.Join(generation, name)
				b, err := os.ReadFile(p)
				if err != nil {
					t.Fatal(err)
				}
				if err := damage(p, b); err != nil {
					t.Fatal(err)
				}
				log, text := logged()
				x := open(t, dir, &index.Options{Log: log})
				if _, ok := x.OnDisk(); ok || x.Count() != 0 {
					t.Errorf("it is used, with %d facts", x.Count())
				}
				if !strings.Contains(text.String(), "damaged") {
					t.Errorf("logged: %q", text)
				}
				if left, _ := filepath.Glob(filepath.Join(dir, "3-*")); len(left) != 1 || !strings.HasSuffix(left[0], ".damaged") {
					t.Errorf("not set aside: %v", left)
				}
				build(t, dir, 3, doc("decision", "cache", "redis in front"))
				if hits := found(t, open(t, dir, nil), index.Query{Terms: terms("redis")}); len(hits) != 1 {
					t.Errorf("after a new build: %v", hits)
				}
			})
		}
	}
}

// A second damaged generation takes the place of the first one that was set aside, whatever the
// directory is called.
func TestOneDamagedGenerationIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]")
	log, _ := logged()
	for range 2 {
		build(t, dir, 3, doc("a", "b", "c"))
		for _, name := range files(t, dir) {
			if strings.HasSuffix(name, "root.bolt") && !strings.Contains(name, ".damaged") {
				if err := os.Truncate(name, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		open(t, dir, &index.Options{Log: log})
	}
	if left, _ := fs.Glob(os.DirFS(dir), "*.damaged"); len(left) != 1 {
		t.Errorf("set aside: %v", left)
	}
}

// An older generation that is whole answers where the newest one is damaged.
func TestOlderGenerationTakesOver(t *testing.T) {
	dir, older := sample(t)
	kept := filepath.Join(t.TempDir(), filepath.Base(older))
	if err := os.CopyFS(kept, os.DirFS(older)); err != nil {
		t.Fatal(err)
	}
	build(t, dir, 4, doc("a", "b", "c"))
	if err := os.Rename(kept, older); err != nil {
		t.Fatal(err)
	}
	newer, _ := filepath.Glob(filepath.Join(dir, "4-*", "extra"))
	if err := os.WriteFile(newer[0], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log, _ := logged()
	x := open(t, dir, &index.Options{Log: log})
	if x.Position().Seq != 3 || x.Count() != 4 || string(x.Extra()) != "extra" {
		t.Errorf("at %d, %d facts, extra %q", x.Position().Seq, x.Count(), x.Extra())
	}
}

// A generation of an earlier version of the program is set aside like a damaged one, and the log says what it is.
func TestGenerationOfAnEarlierVersionIsSetAside(t *testing.T) {
	dir, generation := sample(t)
	log, text := logged()
	index.OtherMapping(t, generation, -1)
	x := open(t, dir, &index.Options{Log: log})
	if _, ok := x.OnDisk(); ok || !strings.Contains(text.String(), "earlier version") || strings.Contains(text.String(), "index is damaged") {
		t.Errorf("used: %v, logged: %q", ok, text)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "3-*")); len(left) != 1 || left[0] != generation+".damaged" {
		t.Errorf("not set aside: %v", left)
	}
	build(t, dir, 3, doc("decision", "cache", "redis"))
	if x = open(t, dir, nil); x.Count() != 1 {
		t.Errorf("%d facts after a new build", x.Count())
	}
}

// A generation of a newer version of the program is left alone, and nothing is written beside it: two versions that
// work side by side do not take each other's index away in turns. Who erases a fact removes it all the same.
func TestGenerationOfANewerVersionStays(t *testing.T) {
	dir, generation := sample(t)
	mine := open(t, dir, nil) // opened before
	log, text := logged()
	index.OtherMapping(t, generation, 1)
	x := open(t, dir, &index.Options{Log: log})
	if _, ok := x.OnDisk(); ok || !strings.Contains(text.String(), "newer version") {
		t.Errorf("used: %v, logged: %q", ok, text)
	}
	for _, of := range []*index.Index{x, mine} {
		if err := of.Apply(position(4), []index.Doc{doc("decision", "cache", "redis")}, nil); err != nil {
			t.Fatal(err)
		}
		if hits := found(t, of, index.Query{Terms: terms("redis")}); len(hits) == 0 {
			t.Error("the facts in memory are not found")
		}
		if err := of.Sync(t.Context(), nil); !errors.Is(err, index.ErrBusy) {
			t.Errorf("sync: %v", err)
		}
	}
	if err := index.Build(t.Context(), dir, position(4), slices.Values([]index.Doc{doc("a", "b", "c")}), nil, nil); !errors.Is(err, index.ErrBusy) {
		t.Errorf("build: %v", err)
	}
	if onlyGeneration(t, dir) != generation {
		t.Error("it is another one")
	}
	if err := index.Remove(dir); err != nil || index.Exists(dir) {
		t.Errorf("still there after it was removed: %v", err)
	}
}

// Damage under an open index is noticed by the answer that meets it, and by no other.
func TestDamageUnderAReader(t *testing.T) {
	dir, generation := sample(t)
	log, text := logged()
	x := open(t, dir, &index.Options{Log: log})
	for _, path := range files(t, generation) {
		if filepath.Ext(path) != ".zap" {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b { // in place: the mapped pages change
			b[i] ^= 0x55
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.Write(b)
			err = cmp.Or(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := x.Search(t.Context(), index.Query{Terms: terms("redis")})
	if err == nil {
		_, err = x.Fact(t.Context(), "decision/cache")
	}
	if !errors.Is(err, index.ErrDamaged) || !strings.Contains(text.String(), "damaged") {
		t.Errorf("error %v, logged %q", err, text)
	}
	x = open(t, dir, nil)
	if _, ok := x.OnDisk(); ok {
		t.Error("it is used again")
	}
}

// An error that is not the disk's leaves the generation where it is.
func TestErrorOfOurOwnIsNoDamage(t *testing.T) {
	dir, _ := sample(t)
	log, text := logged()
	x := open(t, dir, &index.Options{Log: log})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, index.Query{Terms: terms("redis")}); errors.Is(err, index.ErrDamaged) {
		t.Error(err)
	}
	many := make([]index.Term, 2000)
	for i := range many {
		many[i].Text = "redi"
	}
	if _, err := x.Search(t.Context(), index.Query{Terms: many}); errors.Is(err, index.ErrDamaged) {
		t.Error(err)
	}
	onlyGeneration(t, dir)
	if text.Len() > 0 {
		t.Errorf("logged: %s", text)
	}
}

// A reader whose generation was replaced and removed goes on with it.
func TestReaderOutlivesItsGeneration(t *testing.T) {
	dir, generation := sample(t)
	x := open(t, dir, nil)
	build(t, dir, 4, doc("decision", "cache", "memcached now"))
	if _, err := os.Stat(generation); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("the older generation is still there")
	}
	hits := found(t, x, index.Query{Terms: terms("redis")})
	if len(hits) != 3 {
		t.Fatalf("%v", hits)
	}
	if stored, err := x.Fact(t.Context(), hits[0].ID); err != nil || len(stored) == 0 {
		t.Errorf("%q, %v", stored, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if hits := found(t, x, index.Query{Terms: terms("redis")}); len(hits) != 3 {
		t.Errorf("%v", hits)
	}
	if err := x.Apply(position(4), []index.Doc{doc("decision", "cache", "memcached now")}, nil); err != nil {
		t.Error(err)
	}
	if err := x.Sync(t.Context(), nil); !errors.Is(err, index.ErrDamaged) {
		t.Errorf("synced a generation that is gone: %v", err)
	}
}

// Several processes that sync one index lose nothing and never answer from before what they applied.
func TestProcessesSyncTogether(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	const rounds = 25
	commands := make([]*exec.Cmd, 3)
	for i := range commands {
		commands[i] = proctest.Command(t, job{Do: "sync", Dir: dir, Rounds: rounds})
		commands[i].Stderr = new(strings.Builder)
		if err := commands[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range commands {
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %s", err, c.Stderr)
		} else if warned := c.Stderr.(*strings.Builder).String(); warned != "" {
			t.Errorf("warned of: %s", warned)
		}
	}
	x := open(t, dir, nil)
	if at := x.Position().Seq; at == 0 || x.Count() != int(at) {
		t.Errorf("%d facts at commit %d", x.Count(), at)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left) // the generation and the lock
	}
}

// An index whose generation was replaced by one that is newer, but older than itself, writes what is new on top of it.
func TestSyncOnWhatAnotherWrote(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	build(t, dir, 1, numbered(0))
	behind, ahead := open(t, dir, nil), open(t, dir, nil)
	for _, x := range []*index.Index{ahead, behind} {
		if err := x.Apply(position(2), []index.Doc{numbered(1)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := ahead.Apply(position(3), []index.Doc{numbered(2)}, []string{numbered(0).ID}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*index.Index{behind, ahead} {
		if err := x.Sync(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []*index.Index{ahead, open(t, dir, nil)} {
		if p, n := x.Pending(), x.Count(); p != 0 || n != 2 || x.Position().Seq != 3 {
			t.Errorf("%d pending, %d facts at %v", p, n, x.Position())
		}
		for i, want := range [][]byte{nil, numbered(1).Stored, numbered(2).Stored} {
			if text, err := x.Fact(t.Context(), numbered(uint64(i)).ID); err != nil || !bytes.Equal(text, want) {
				t.Errorf("fact %d: %q, %v", i, text, err)
			}
		}
	}
	onlyGeneration(t, dir)
}

// A writer that was killed leaves nothing that is used, and the next one clears it away.
func TestLeftoversAreCleared(t *testing.T) {
	dir, generation := sample(t)
	left := filepath.Join(dir, "tmp-9-abcdefgh")
	if err := os.CopyFS(left, os.DirFS(generation)); err != nil {
		t.Fatal(err)
	}
	if x := open(t, dir, nil); x.Position().Seq != 3 {
		t.Errorf("at %d", x.Position().Seq)
	}
	build(t, dir, 4, doc("a", "b", "c"))
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is still there")
	}
}

// A build that is stopped, and one whose turn it is not, change nothing.
func TestStoppedBuildChangesNothing(t *testing.T) {
	dir, _ := sample(t)
	many := make([]index.Doc, 50)
	for i := range many {
		many[i] = numbered(uint64(i))
	}
	for looks := range 52 {
		err := index.Build(proctest.Countdown(t.Context(), looks), dir, position(9), slices.Values(many), nil, nil)
		if looks < 51 && !errors.Is(err, context.Canceled) {
			t.Errorf("after %d looks: %v", looks, err)
		}
		if looks < 51 {
			onlyGeneration(t, dir)
		}
	}
	if x := open(t, dir, nil); x.Count() != 50 {
		t.Errorf("%d facts", x.Count())
	}
}

// Close ends every goroutine that an index started.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		dir, _ := sample(t)
		x, err := index.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		found(t, x, index.Query{Terms: terms("redis cache")})
		if err := x.Apply(position(4), []index.Doc{doc("decision", "cache", "memcached")}, nil); err != nil {
			t.Fatal(err)
		}
		if err := x.Sync(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for runtime.NumGoroutine() > before { // else the test's own deadline ends it, and shows them
		runtime.Gosched()
	}
}
