package vectors

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Whatever was put, replaced and forgotten: a command, which has no slots, has
// the answers of a process that keeps all in memory, and so has a scan that was
// begun before.
func TestColdWarmAndBegunAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "vectors")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		keys, all := vectorsOf(rapid.Uint64().Draw(t, "seed"), 60, 16)
		writer := Open(dir, &Options{LongLived: rapid.Bool().Draw(t, "a server writes")})
		var begun *Comparison
		reader := Open(dir, nil)
		for range rapid.IntRange(1, 12).Draw(t, "puts") {
			if begun == nil && rapid.Bool().Draw(t, "begin") {
				begun = reader.Compare(context.Background(), "a@1", all[0])
				defer begun.Close()
			}
			var some []Key
			var vectors [][]float32
			for range rapid.IntRange(1, 30).Draw(t, "n") {
				i, j := rapid.IntRange(0, 59).Draw(t, "key"), rapid.IntRange(0, 59).Draw(t, "vector")
				some, vectors = append(some, keys[i]), append(vectors, all[j])
			}
			if err := writer.Put(context.Background(), a16, some, vectors); err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 5).Draw(t, "forget") == 0 {
				if err := writer.Forget(some[0].ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		q := Query{Encoder: "a@1", Vector: all[0], Limit: rapid.IntRange(1, 70).Draw(t, "limit")}
		warm := Open(dir, &Options{LongLived: true})
		warm.Missing("a@1", keys)
		want, err := warm.Scan(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string]*Index{"cold": Open(dir, nil), "reader": reader, "writer": writer} {
			got, err := x.Scan(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-warm +it):\n%s", name, diff)
			}
			if diff := gocmp.Diff(warm.Status(), x.Status()); diff != "" {
				t.Fatalf("%s: status (-warm +it):\n%s", name, diff)
			}
		}
		if begun != nil {
			got, err := begun.Scan(context.Background(), q.Limit, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("begun (-warm +begun):\n%s", diff)
			}
		}
	})
}

// A scan that was begun over values in the file gives what a scan gives, also
// after the file was changed or taken away, and more than once.
func TestBegunScanUnderItsFeet(t *testing.T) {
	dir, keys, all := large(t)
	name := filepath.Join(dir, vectorFile)
	good := readWhole(t, dir)
	for what, change := range map[string]func() error{
		"nothing":  func() error { return nil },
		"deleted":  func() error { return os.Remove(name) },
		"emptied":  func() error { return os.Truncate(name, 0) },
		"cut":      func() error { return os.Truncate(name, int64(len(good)/2)) },
		"appended": func() error { return Open(dir, nil).Put(t.Context(), named{"a@1", 256}, keys[7:8], all[9:10]) },
		"reset":    func() error { return Open(dir, nil).Reset() },
	} {
		t.Run(what, func(t *testing.T) {
			if err := os.WriteFile(name, good, 0o600); err != nil {
				t.Fatal(err)
			}
			c := Open(dir, nil).Compare(t.Context(), "a@1", all[7])
			defer c.Close()
			if _, err := c.Scan(t.Context(), 5, nil); err != nil {
				t.Fatal(err)
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			want := scan(t, Open(dir, nil), "a@1", all[7], 5)
			for range 2 {
				got, err := c.Scan(t.Context(), 5, nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Fatalf("(-a new scan +the one that was begun)\n%s", diff)
				}
			}
		})
	}
}

// What cannot be compared has no hits or the error of a scan, and a comparison
// that nobody waits for ends.
func TestComparisonsOfNothing(t *testing.T) {
	x := Open(t.TempDir(), nil)
	keys, all := vectorsOf(1, 40, 16)
	put(t, x, a16, keys, all)
	for name, q := range map[string]Query{
		"another encoder": {Encoder: "b@1", Vector: all[0]}, "zeros": {Encoder: "a@1", Vector: make([]float32, 16)},
		"another size": {Encoder: "a@1", Vector: all[0][:8]}, "no vector": {Encoder: "a@1"},
	} {
		c := x.Compare(t.Context(), q.Encoder, q.Vector)
		q.Limit = 3
		want, wantErr := x.Scan(t.Context(), q)
		got, err := c.Scan(t.Context(), 3, nil)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || len(got) != len(want) {
			t.Errorf("%s: %v, %v, want %v, %v", name, got, err, want, wantErr)
		}
		c.Close()
		c.Close()
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	c := x.Compare(ctx, "a@1", all[0])
	if hits, err := c.Scan(t.Context(), 3, nil); err != nil || len(hits) != 3 {
		t.Errorf("begun by who gave up: %v, %v", hits, err)
	}
	if hits, err := c.Scan(t.Context(), 0, nil); err != nil || len(hits) != 0 {
		t.Errorf("no hit asked for: %v, %v", hits, err)
	}
	if _, err := c.Scan(ctx, 3, nil); err == nil {
		t.Error("who gave up has an answer")
	}
	c.Close()
}
