package search

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"leanctx/internal/proctest"
)

// grown gives facts in slices, a few at a time, and counts what was asked for.
type grown struct {
	docs  []Doc
	epoch string
	asked []string
	after func(slices int) // each
}

func (g *grown) more(after string, most int) (Slice, error) {
	g.asked = append(g.asked, after)
	if g.after != nil {
		g.after(len(g.asked))
	}
	from := 0
	if after != "" {
		from = 1 + slices.IndexFunc(g.docs, func(d Doc) bool { return d.ID == after })
	}
	to := min(from+min(most, 400), len(g.docs))
	return Slice{Generation: Generation{At: at(9), Epoch: g.epoch}, Docs: g.docs[from:to], Last: g.docs[to-1].ID, Done: to == len(g.docs)}, nil
}

// flip changes a byte in the middle of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 0x40
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func answers(t *testing.T, x *Index) (out [][]string) {
	for q := range said(madeUps(0, 1500), 40) {
		out = append(out, ids(t, x, q))
	}
	return out
}

// What was written of an index before its writer ended is gone on from, by another process too, and the whole is what
// it would have been at once.
func TestGrow(t *testing.T) {
	dir, docs := t.TempDir(), madeUps(0, 1500)
	whole := mustOpen(t, "")
	mustAdd(t, whole, docs...)
	want := answers(t, whole)
	g := &grown{docs: docs, epoch: "e"}
	for n := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		g.asked, g.after = nil, func(int) { cancel() }
		done, err := mustOpen(t, dir).Grow(ctx, g.more)
		if err != nil || done {
			t.Fatalf("part %d: %v %v", n, done, err)
		}
		if len(g.asked) != 1 || (g.asked[0] == "") != (n == 0) {
			t.Fatalf("part %d began after %q", n, g.asked)
		}
		if _, _, ok := mustOpen(t, dir).Since(); ok {
			t.Fatal("half an index is taken for one")
		}
	}
	g.asked, g.after = nil, nil
	x := mustOpen(t, dir)
	mustAdd(t, x, Doc{ID: docs[3].ID, Category: "auth", Key: "new", Value: "said since"})
	if done, err := x.Grow(t.Context(), g.more); err != nil || !done || len(g.asked) != 1 || g.asked[0] == "" {
		t.Fatalf("%v, %v, asked for %q", done, err, g.asked)
	}
	if got := ids(t, x, docs[3].Key); slices.Contains(got, docs[3].ID) {
		t.Error("what was said since does not hide what it replaced")
	}
	for _, x := range []*Index{mustOpen(t, dir), mustOpen(t, dir)} {
		for i, got := range answers(t, x) {
			if !slices.Equal(got, want[i]) {
				t.Errorf("%d: %v, want %v", i, got, want[i])
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
		t.Errorf("left %v", left)
	}
	g.asked = nil
	if done, err := mustOpen(t, dir).Grow(t.Context(), g.more); !done || err != nil || len(g.asked) != 1 {
		t.Errorf("a second time: %v %v, asked %q", done, err, g.asked)
	}
}

// One that ends while segments are merged has an index that answers, of the segments there are; another merges them.
func TestGrowEndsInTheMiddle(t *testing.T) {
	docs := madeUps(0, 1500)
	whole := mustOpen(t, "")
	mustAdd(t, whole, docs...)
	want := answers(t, whole)
	check := func(x *Index) {
		t.Helper()
		for i, got := range answers(t, x) {
			if !slices.Equal(got, want[i]) {
				t.Errorf("%d: %v, want %v", i, got, want[i])
			}
		}
	}
	whole1, scattered := false, 0
	for looks := 4; !whole1; looks++ { // four are for its slices
		dir := t.TempDir()
		x := mustOpen(t, dir)
		g := &grown{docs: docs, epoch: "e"}
		if done, err := x.Grow(proctest.Countdown(t.Context(), looks), g.more); err != nil || !done {
			t.Fatal(done, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
			t.Errorf("after %d looks there are %v", looks, left)
		}
		if whole1 = len(segments(t, dir)) == 1; whole1 == x.Scattered(t.Context()) {
			t.Errorf("%d segments, scattered: %v", len(segments(t, dir)), !whole1)
		}
		if whole1 {
			break
		}
		scattered++
		if scattered == 3 { // in the middle
			check(mustOpen(t, dir))
		}
		mustAdd(t, x, docs[3])
		if err := x.Sync(t.Context(), Generation{At: at(9), Epoch: "e"}, forbidden(t)); err != nil {
			t.Fatal(err)
		}
		if n := len(segments(t, dir)); n != 1 || x.Scattered(t.Context()) || x.Pending() != 0 {
			t.Errorf("%d segments, %d in memory", n, x.Pending())
		}
		if scattered == 3 {
			check(x)
		}
	}
	if scattered < 6 { // of what is stored and of each field at least once
		t.Errorf("a merge looked %d times whether to go on", scattered)
	}
}

// A Sync that ends while segments are merged leaves them to another.
func TestSyncEndsInTheMiddle(t *testing.T) {
	for looks := 0; ; looks++ {
		dir := t.TempDir()
		x := mustOpen(t, dir)
		mustSync(t, x, 1, madeUps(0, 600))
		mustAdd(t, x, madeUps(600, 1000)...)
		err := x.Sync(proctest.Countdown(t.Context(), looks), Generation{At: at(2), Epoch: "e"}, forbidden(t))
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
			t.Errorf("after %d looks there are %v", looks, left)
		}
		n := len(segments(t, dir))
		if err == nil && n == 1 {
			return
		}
		if err != nil && x.Pending() != 400 || err == nil && (n != 2 || x.Pending() != 0) {
			t.Errorf("after %d looks: %d segments, %d in memory, %v", looks, n, x.Pending(), err)
		}
		mustSync(t, x, 2, nil)
		if n := len(segments(t, dir)); n != 1 || x.Pending() != 0 {
			t.Errorf("after %d looks and another Sync: %d segments", looks, n)
		}
		if hits := search1(t, mustOpen(t, dir), madeUp(900).Key); len(hits) == 0 || hits[0].ID != madeUp(900).ID {
			t.Errorf("after %d looks: %v", looks, hits)
		}
	}
}

// Half an index that is damaged, of another epoch or cut short is begun anew.
func TestGrowAnew(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, part string){
		"header": func(t *testing.T, part string) { flip(t, filepath.Join(part, headerName)) },
		"segment cut": func(t *testing.T, part string) {
			if err := os.Truncate(filepath.Join(part, "1.zap"), 100); err != nil {
				t.Fatal(err)
			}
		},
		"segment flipped": func(t *testing.T, part string) { flip(t, filepath.Join(part, "1.zap")) },
		"segment gone": func(t *testing.T, part string) {
			if err := os.Remove(filepath.Join(part, "1.zap")); err != nil {
				t.Fatal(err)
			}
		},
		"epoch": nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir, docs := t.TempDir(), madeUps(0, 1500)
			whole := mustOpen(t, "")
			mustAdd(t, whole, docs...)
			g := &grown{docs: docs, epoch: "e"}
			ctx, cancel := context.WithCancel(t.Context())
			g.after = func(n int) {
				if n == 2 {
					cancel()
				}
			}
			if done, err := mustOpen(t, dir).Grow(ctx, g.more); done || err != nil {
				t.Fatal(done, err)
			}
			if g.after = nil; spoil != nil {
				spoil(t, filepath.Join(dir, partName))
			} else {
				g.epoch = "f"
			}
			var done bool
			for range 3 { // damage inside a segment is found out when it is read
				var err error
				if done, err = mustOpen(t, dir).Grow(t.Context(), g.more); err == nil {
					break
				} else if !errors.Is(err, ErrDamaged) && !lost(err) {
					t.Fatal(err)
				}
			}
			if !done {
				t.Fatal("not made")
			}
			x := mustOpen(t, dir)
			if _, epoch, _ := x.Since(); epoch != g.epoch {
				t.Errorf("epoch %q", epoch)
			}
			want := answers(t, whole)
			for i, got := range answers(t, x) {
				if !slices.Equal(got, want[i]) {
					t.Errorf("%d: %v, want %v", i, got, want[i])
				}
			}
		})
	}
}

// Each file operation of it that fails is an error, and the next one makes it.
func TestGrowFaults(t *testing.T) {
	docs := madeUps(0, 1500)
	for fail := 0; ; fail++ {
		dir, n := t.TempDir(), 0
		x, err := Open(dir, &Options{Fault: func(string, string) error {
			if n++; n == fail+1 {
				return errors.New("injected")
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		g := &grown{docs: docs, epoch: "e"}
		if _, err := x.Grow(t.Context(), g.more); n <= fail {
			return // there are no more
		} else if err == nil {
			if _, _, ok := mustOpen(t, dir).Since(); !ok {
				t.Fatalf("fault %d: no error, no index", fail)
			}
			continue // a link that fails is made a copy
		}
		if done, err := mustOpen(t, dir).Grow(t.Context(), g.more); !done || err != nil {
			t.Fatalf("after fault %d: %v %v", fail, done, err)
		}
	}
}
