package knowledge_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/internal/refusal"
	. "leanctx/knowledge"
	"leanctx/knowledge/words"
)

// The environment of the abuse: how long (a duration; hours if you like) and from which seed. The children
// are told the rest.
const (
	abuseTime = "LEAN_CTX_ABUSE"
	abuseSeed = "LEAN_CTX_ABUSE_SEED"
	abuseDir  = "LEAN_CTX_ABUSE_DIR"
	abuseSelf = "LEAN_CTX_ABUSE_SELF"
)

// Four processes remember, recall and sync on one project. Two are servers; two are commands
// that open and close. Meanwhile index files are deleted, cut and flipped, and processes are
// killed. Each answer is what a scan of the facts gives: nothing is missing and nothing
// superseded is told as current.
func TestIndexAbuse(t *testing.T) {
	seed, _ := strconv.ParseUint(cmp.Or(os.Getenv(abuseSeed), "1"), 10, 64)
	long, err := time.ParseDuration(cmp.Or(os.Getenv(abuseTime), "2s"))
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv(abuseDir); dir != "" {
		self, _ := strconv.Atoi(os.Getenv(abuseSelf))
		abuser(t, dir, self, seed)
		return
	}
	t.Logf("seed %d (%s), for %s (%s)", seed, abuseSeed, long, abuseTime)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	r := rand.New(rand.NewPCG(seed, 0))
	var wg sync.WaitGroup
	kills := [4]chan time.Duration{}
	for i := range kills {
		kills[i] = make(chan time.Duration)
		wg.Go(func() { abused(ctx, t, dir, i, seed, kills[i]) })
	}
	damaged, killed := 0, 0
	for ctx.Err() == nil {
		if r.IntN(40) == 0 {
			select {
			case kills[r.IntN(4)] <- 0:
				killed++
			case <-ctx.Done():
			}
		}
		if wreckOne(r, filepath.Join(dir, "index")) {
			damaged++
		}
		pause(ctx, time.Duration(r.IntN(int(50*time.Millisecond))))
	}
	wg.Wait()
	t.Logf("%d files damaged, %d processes killed", damaged, killed)
}

// pause is part of the abuse, not a wait for something.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// abused runs one of the processes again and again until ctx ends; each is ended when kill says so.
func abused(ctx context.Context, t *testing.T, dir string, self int, seed uint64, kill chan time.Duration) {
	for run := uint64(0); ctx.Err() == nil; run++ {
		var out bytes.Buffer
		c := exec.Command(os.Args[0], "-test.run=^TestIndexAbuse$", "-test.v")
		c.Env = append(os.Environ(), abuseDir+"="+dir, abuseSelf+"="+strconv.Itoa(self),
			abuseSeed+"="+strconv.FormatUint(seed*1000+run, 10), "GORACE=atexit_sleep_ms=0")
		c.Stdout, c.Stderr = &out, &out
		stdin, err := c.StdinPipe() // its end tells the child to stop, also if we are killed
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Error(err)
			return
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		select {
		case <-kill:
			_ = c.Process.Kill()
			<-ended
			stdin.Close()
			continue
		case <-ctx.Done():
			stdin.Close()
			err = <-ended
		case err = <-ended:
		}
		if err != nil {
			t.Errorf("process %d, seed %d: %v\n%s", self, seed*1000+run, err, &out)
			return
		}
	}
}

// wreckOne damages one file of the index.
func wreckOne(r *rand.Rand, dir string) bool {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && path != dir && e.Name() != "index.lock" {
			found = append(found, path)
		}
		return nil
	})
	if len(found) == 0 {
		return false
	}
	path := found[r.IntN(len(found))]
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	switch {
	case r.IntN(40) == 0:
		return os.RemoveAll(dir) == nil
	case r.IntN(3) == 0:
		return os.RemoveAll(path) == nil
	case info.IsDir():
		return false
	}
	// A file that a reader has mapped is not to be written into: that ends the
	// reader. So another file takes its place.
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return false
	}
	if r.IntN(2) == 0 {
		data = data[:r.IntN(len(data))]
	} else {
		data[r.IntN(len(data))] ^= 1 << r.IntN(8)
	}
	other := filepath.Join(dir, fmt.Sprint("other-", r.Uint64()))
	return os.WriteFile(other, data, 0o600) == nil && os.Rename(other, path) == nil
}

// abuser is one of the processes. The facts of its room are written by nobody else, so it knows them.
func abuser(t *testing.T, dir string, self int, seed uint64) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		stop()
	}()
	a := &abuse{t: t, r: rand.New(rand.NewPCG(seed, uint64(self)+1)), room: fmt.Sprintf("room%d", self)}
	for ctx.Err() == nil && !t.Failed() {
		s, err := Open(dir, &Options{LongLived: self < 2})
		if err != nil {
			t.Fatal(err)
		}
		a.store = s
		steps := 1 + a.r.IntN(4)
		if self < 2 {
			steps = 400
		}
		for range steps {
			if ctx.Err() == nil && !t.Failed() {
				a.step(context.WithoutCancel(ctx))
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

type abuse struct {
	t     *testing.T
	r     *rand.Rand
	room  string
	store *Store
	old   []string // words of values that are no more
}

var abuseWords = []string{"alpha", "beta", "gamma", "delta", "epsilon"}

func (a *abuse) step(ctx context.Context) {
	switch n := a.r.IntN(20); {
	case n < 9:
		a.remember(ctx)
	case n < 17:
		a.ask(ctx)
	case n < 19:
		_ = a.store.SyncIndex(ctx) // what becomes of it must not show in any answer
	default:
		_ = a.store.Compact(ctx)
	}
}

// remember gives one of the room's keys another value. The second word is its own.
func (a *abuse) remember(ctx context.Context) {
	key := fmt.Sprint("k", a.r.IntN(40))
	was, err := a.store.Recall(ctx, Question{Category: a.room, Key: key})
	if err != nil {
		a.t.Errorf("recall %s/%s: %v", a.room, key, err)
		return
	}
	for _, f := range was.Facts {
		a.old = append(a.old, strings.Fields(f.Value)[1])
	}
	own := []byte("qx")
	for range 14 {
		own = append(own, "bcdfghjklmnpqrtv"[a.r.IntN(16)])
	}
	value := abuseWords[a.r.IntN(len(abuseWords))] + " " + string(own)
	if _, err := remembered(ctx, a.store, Assertion{Category: a.room, Key: key, Value: value}); err != nil {
		a.t.Errorf("remember %s/%s: %v", a.room, key, err)
	}
}

// ask compares a recall by words with a scan.
func (a *abuse) ask(ctx context.Context) {
	all, err := a.store.Recall(ctx, Question{Category: a.room, Limit: refusal.MaxLimit})
	if err != nil {
		a.t.Errorf("list %s: %v", a.room, err)
		return
	}
	query := abuseWords[a.r.IntN(len(abuseWords))]
	switch n := a.r.IntN(3); {
	case n == 0 && len(a.old) > 0:
		query = a.old[a.r.IntN(len(a.old))]
	case n == 1 && len(all.Facts) > 0:
		query = strings.Fields(all.Facts[a.r.IntN(len(all.Facts))].Value)[1]
	}
	var want, got []string
	terms := words.Terms(query)
	for _, f := range all.Facts {
		if slices.Contains(words.Terms(f.Value), terms[len(terms)-1]) {
			want = append(want, f.Key+": "+f.Value)
		}
	}
	r, err := a.store.Recall(ctx, Question{Query: query, Category: a.room, Limit: refusal.MaxLimit})
	if err != nil {
		a.t.Errorf("recall %q in %s: %v", query, a.room, err)
		return
	}
	for _, f := range r.Facts {
		got = append(got, f.Key+": "+f.Value)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		a.t.Errorf("recall %q in %s:\n%s\nwant\n%s", query, a.room, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
