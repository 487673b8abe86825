package jetstream_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream/natsserver"
	"leanctx/internal/proctest"
)

// A server whose disk has no room left refuses writes with an answer, and goes on when there is
// room. What it acknowledged is there.
func TestDiskNearlyFull(t *testing.T) {
	t.Parallel()
	var free atomic.Uint64
	free.Store(1 << 30)
	fillAndFree(t, t.TempDir(), &natsserver.Options{Free: func(string) (uint64, uint64, error) { return free.Load(), 1 << 40, nil }},
		func() { free.Store(1 << 20) }, func() { free.Store(1 << 30) })
}

// The same with a disk that is really full, and was full before the server noticed.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := smallDisk(t, dir, 8<<20); err != nil {
		t.Skipf("SKIPPED, a small disk cannot be mounted here: %v", err)
	}
	filler := filepath.Join(dir, "filler")
	fillAndFree(t, filepath.Join(dir, "streams"), &natsserver.Options{}, func() { fillDisk(t, filler) }, func() {
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	})
}

// fillDisk writes a file until there is no room.
func fillDisk(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, zeros{}); err == nil {
		t.Fatal("the disk does not become full")
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func fillAndFree(t *testing.T, dir string, o *natsserver.Options, fill, free func()) {
	t.Helper()
	o.Addr, o.Dir = "127.0.0.1:0", dir
	n, err := natsserver.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	a, b := join(t, n.URL()), join(t, n.URL())
	want := counters{}
	write := func(key string, wait time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		_, err := a.Update(ctx, func(counters, time.Time) ([]event, error) {
			return []event{{Key: key, Pad: strings.Repeat("x", 8<<10)}}, nil
		})
		if err == nil {
			want[key]++
		}
		return err
	}
	if err := write("before", time.Minute); err != nil {
		t.Fatal(err)
	}
	fill()
	const soon = 300 * time.Millisecond                                                          // a write of the server that fails has no answer
	for err = write("full", soon); !errors.Is(err, journal.ErrFull); err = write("full", soon) { // it is noticed soon
		if err != nil && !errors.Is(err, journal.ErrInDoubt) && !errors.Is(err, journal.ErrOffline) && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if got := b.newest(t); got["before"] != 1 || got["full"] < want["full"] {
		t.Errorf("while it is full: %v, want %v", got, want)
	}
	if err := a.stream.Report(t.Context(), 1); !errors.Is(err, journal.ErrFull) {
		t.Errorf("a report to a full server: %v", err)
	}
	free()
	for err = write("after", time.Minute); err != nil; err = write("after", time.Minute) {
		if !errors.Is(err, journal.ErrFull) && !errors.Is(err, journal.ErrOffline) {
			t.Fatal(err)
		}
	}
	for _, h := range []*home{a, b} {
		if got := h.newest(t); got["before"] != 1 || got["after"] != 1 || got["full"] < want["full"] {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// In a cluster the server whose disk is full steps aside: the others take writes, also those of
// its clients. When there is room it comes back by itself and has everything.
func TestDiskNearlyFullInACluster(t *testing.T) {
	t.Parallel()
	var free [3]atomic.Uint64
	dirs := make([]string, 3)
	for i := range free {
		free[i].Store(1 << 30)
		dirs[i] = t.TempDir()
	}
	fillAndFreeOne(t, dirs, func(i int) func(string) (uint64, uint64, error) {
		return func(string) (uint64, uint64, error) { return free[i].Load(), 1 << 40, nil }
	}, func(i int) { free[i].Store(1 << 20) }, func(i int) { free[i].Store(1 << 30) })
}

// The same with disks that are really full, before the server noticed: with -long.
func TestDiskFullInACluster(t *testing.T) {
	if !*long {
		t.Skip("three small disks: -long")
	}
	t.Parallel()
	dirs := make([]string, 3)
	for i := range dirs {
		dirs[i] = t.TempDir()
		if err := smallDisk(t, dirs[i], 16<<20); err != nil {
			t.Skipf("SKIPPED, a small disk cannot be mounted here: %v", err)
		}
	}
	filler := func(i int) string { return filepath.Join(dirs[i], "filler") }
	fillAndFreeOne(t, dirs, nil, func(i int) { fillDisk(t, filler(i)) }, func(i int) {
		if err := os.Remove(filler(i)); err != nil {
			t.Fatal(err)
		}
	})
}

func fillAndFreeOne(t *testing.T, dirs []string, diskFree func(i int) func(string) (uint64, uint64, error), fill, free func(i int)) {
	t.Helper()
	servers, peers, urls := make([]*natsserver.Server, 3), make([]*proctest.Proxy, 3), make([]string, 3)
	for i := range peers {
		peers[i] = proctest.NewProxy(t)
	}
	token := file(t, string(must(must(nkeys.CreateUser()).Seed())))
	for i := range servers {
		o := &natsserver.Options{TokenFile: token, Addr: "127.0.0.1:0", Dir: filepath.Join(dirs[i], "streams"), Name: fmt.Sprint("n", i), Cluster: "127.0.0.1:0"}
		for j, p := range peers {
			if j != i {
				o.Routes = append(o.Routes, p.Addr())
			}
		}
		if diskFree != nil {
			o.Free = diskFree(i)
		}
		s, err := natsserver.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		servers[i], urls[i] = s, s.URL()
		peers[i].To(s.Cluster())
	}
	settled := func(o *options, _ *journal.Options) { o.TokenFile, o.Settle = token, time.Minute } // a new leader may be late
	all := join(t, strings.Join(urls, ","), settled)
	write := func(h *home, key string) {
		t.Helper()
		_, err := h.Update(t.Context(), add(key))
		for errors.Is(err, journal.ErrOffline) || errors.Is(err, journal.ErrInDoubt) || errors.Is(err, journal.ErrFull) {
			_, err = h.Update(t.Context(), add(key))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	current := func(n int) {
		t.Helper()
		for st, err := all.stream.Status(t.Context()); err != nil || st.Current != n; st, err = all.stream.Status(t.Context()) {
			if err != nil && !errors.Is(err, journal.ErrOffline) {
				t.Fatal(err)
			}
		}
	}
	write(all, "before")
	current(3)
	start := time.Now()
	lap := func(what string) { t.Logf("%s after %v", what, time.Since(start).Round(time.Millisecond)) }
	leader := leaderOf(t, urls, token)
	fill(leader)
	write(all, "while it becomes full")
	current(2)
	lap("its server steps aside")
	only := join(t, urls[leader], settled) // its server has a full disk
	write(all, "full")
	lap("a write")
	write(only, "through the full server")
	lap("a write through the full server")
	free(leader)
	current(3)
	lap("everything is on three servers again")
	servers[(leader+1)%3].Close()
	write(all, "after")
	lap("without another one")
	want := all.newest(t)
	for _, key := range []string{"before", "full", "through the full server", "after"} {
		if want[key] < 1 {
			t.Errorf("%q is lost: %v", key, want)
		}
	}
	if got := only.newest(t); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// leaderOf is the number of the server that leads the stream.
func leaderOf(t *testing.T, urls []string, token string) int {
	t.Helper()
	nc, err := nats.Connect(strings.Join(urls, ","), must(nats.NkeyOptionFromSeed(token)), nats.Secure(&tls.Config{InsecureSkipVerify: true}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := natsjs.New(nc, natsjs.WithDefaultTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	n := int(s.CachedInfo().Cluster.Leader[1] - '0')
	return n
}
