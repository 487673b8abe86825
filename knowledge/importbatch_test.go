package knowledge_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/transfer"
)

// batched is a store whose imports are commits of a few facts each.
func batched(t *testing.T, most int, fault func(op, name string) error) *story {
	s := testStore(t, &Options{Fault: fault})
	s.batch = most
	return s
}

var recordedHere = regexp.MustCompile(`"(timestamp|valid_from)":"[^"]*"`)

// current is what the store believes, without when it was told.
func (s *story) current(t *testing.T) string {
	t.Helper()
	r, err := transfer.Export(t.Context(), s.Store, transfer.Outgoing{Format: "jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	return recordedHere.ReplaceAllString(r.Data, "")
}

// A large import is several commits, with the outcome of a single one. So it is for names that come again far apart,
// in another spelling, with other values, and for the counts. A second time everything is there.
func TestImportInBatches(t *testing.T) {
	var b strings.Builder
	for i := range 160 {
		fmt.Fprintf(&b, `{"category":"%s-%d","key":"key %d","value":"value %d of %d","confidence":0.%d}`+"\n",
			[]string{"Room", "room"}[i/80], i%7, i%70, i/70, i, 1+i%9)
	}
	text := b.String()
	for _, merge := range []string{"skip-existing", "replace", "append"} {
		t.Run(merge, func(t *testing.T) {
			whole, parts := testStore(t, nil), batched(t, 10, nil)
			for _, s := range []*story{whole, parts} {
				s.remember(t, Assertion{Category: "room-3", Key: "key 3", Value: "ours"})
			}
			dry, err := transfer.Import(t.Context(), parts.Store, transfer.Incoming{Merge: merge, Data: strings.NewReader(text), DryRun: true, BatchSize: 10})
			if err != nil {
				t.Fatal(err)
			}
			want, got := whole.load(t, merge, text), parts.load(t, merge, text)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if dry.DryRun = false; dry.Added != got.Added || dry.Skipped != got.Skipped || dry.Replaced != got.Replaced {
				t.Errorf("it said %s, and did %s", dry.Text(), got.Text())
			}
			if diff := cmp.Diff(whole.current(t), parts.current(t)); diff != "" {
				t.Error(diff)
			}
			if whole.seq(t) != 2 || parts.seq(t) < 8 {
				t.Errorf("commits: %d, in batches %d", whole.seq(t), parts.seq(t))
			}
			if again := parts.load(t, "skip-existing", text); again.Added+again.Replaced != 0 {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

// A fact file comes whole in batches: exported again it is the same but for the notes of the import.
func TestNativeImportInBatches(t *testing.T) {
	from := rich(t).whole(t)
	whole, parts := testStore(t, nil), batched(t, 2, nil)
	for _, s := range []*story{whole, parts} {
		s.load(t, "", from)
	}
	if diff := cmp.Diff(itsOwn.ReplaceAllString(whole.whole(t), ""), itsOwn.ReplaceAllString(parts.whole(t), "")); diff != "" {
		t.Error(diff)
	}
	if parts.seq(t) < 3 {
		t.Errorf("%d commits", parts.seq(t))
	}
}

// An import that ends in the middle says what is in, and repeated it makes what it would have made.
func TestImportEndedInTheMiddle(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, `{"category":"room-%d","key":"key %d","value":"value %d"}`+"\n", i%7, i, i)
	}
	whole := testStore(t, nil)
	whole.load(t, "", b.String())
	for _, at := range []int{1, 3, 6} {
		syncs := 0
		s := batched(t, 30, func(op, name string) error {
			if op == "sync" && strings.HasSuffix(name, ".journal") {
				if syncs++; syncs == at+1 {
					return os.ErrPermission
				}
			}
			return nil
		})
		_, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(b.String()), BatchSize: s.batch})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d facts of the file were imported and stay", 30*at)) {
			t.Errorf("after %d: %v", at, err)
		}
		if r := s.load(t, "", b.String()); r.Skipped != 30*at || r.Added != 200-30*at {
			t.Errorf("again: %+v", r)
		}
		if diff := cmp.Diff(whole.current(t), s.current(t)); diff != "" {
			t.Error(diff)
		}
	}
}

// An import tells how far it is, up to its end, and never goes back.
func TestImportTellsHowFarItIs(t *testing.T) {
	s := batched(t, 30, nil)
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, `{"category":"room","key":"key %d","value":"value %d"}`+"\n", i, i)
	}
	told, calls := 0, 0
	_, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(lines.String()), BatchSize: 30, Progress: func(done, total int) {
		if done < told || total != 300 {
			t.Errorf("told %d of %d after %d", done, total, told)
		}
		told, calls = done, calls+1
	}})
	if err != nil || told != 300 || calls < 100 {
		t.Errorf("told %d in %d calls: %v", told, calls, err)
	}
}
