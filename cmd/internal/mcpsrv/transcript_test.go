package mcpsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"leanctx/cmd/internal/op"
	"leanctx/knowledge"
)

var update = flag.Bool("update", false, "write the transcripts anew")

// real is the real table over a store in a temporary directory, under a clock
// that goes on a second with each look at it.
func real(t *testing.T) []*op.Tool {
	t.Helper()
	var looks atomic.Int64
	morning := time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
	store, err := knowledge.Open(t.TempDir(), &knowledge.Options{
		ProjectRoot: "/home/you/my-app", ProjectHash: "0123456789abcdef",
		Now: func() time.Time { return morning.Add(time.Duration(looks.Add(1)) * time.Second) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	st := op.Stores{
		Knowledge: func(_ context.Context, sc op.Scope) (*knowledge.Store, error) {
			return store.As(knowledge.Actor{Agent: sc.Caller.Name, Kind: sc.Caller.Kind}), nil
		},
		Library: func(context.Context, op.Scope) (*knowledge.Library, error) {
			return &knowledge.Library{Own: store}, nil
		},
	}
	return op.All(st)[:2]
}

// What is written down of a conversation is what happens.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(schemas, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("transcripts: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Files) != 2 {
				t.Fatalf("%v: want two files, in and out", err)
			}
			in, want := archive.Files[0].Data, string(archive.Files[1].Data)
			var out bytes.Buffer
			if err := New(real(t), &Options{Version: "test", Grace: time.Hour}).ServeStdio(t.Context(), bytes.NewReader(in), &out); err != nil {
				t.Fatal(err)
			}
			got := transcript(t, in, out.Bytes())
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("if this is meant: go test ./cmd/internal/mcpsrv -run Transcripts -update\n%s", diff)
			}
		})
	}
}

var ids = regexp.MustCompile(`\bf-[0-9a-f]{6,}\b`)

// transcript is the answers in the order of their requests, those without an
// id last.
func transcript(t *testing.T, in, out []byte) string {
	t.Helper()
	var order []string
	for line := range bytes.Lines(in) {
		var r answer
		if json.Unmarshal(line, &r) == nil && r.ID != nil {
			order = append(order, string(r.ID))
		}
	}
	place := func(line string) int {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if i := slices.Index(order, string(a.ID)); i >= 0 {
			return i
		}
		return len(order)
	}
	lines := slices.Collect(strings.Lines(string(out)))
	slices.SortStableFunc(lines, func(a, b string) int { return place(a) - place(b) })
	return ids.ReplaceAllString(strings.Join(lines, ""), "f-ID")
}
