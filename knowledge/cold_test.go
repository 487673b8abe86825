package knowledge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/index"
	"leanctx/knowledge/listing"
)

// What a command lists from the summaries of the index is what it lists from the
// facts: rooms, a room, the latest, the briefing. That holds for a generation that
// was built, for one that was brought further, and for commits since.
func TestListsFromTheIndex(t *testing.T) {
	t.Parallel()
	s := testStore(t, nil)
	say := func(from, to int) {
		for i := from; i < to; i++ {
			a := Assertion{Category: []string{"Architecture", "decision", "status", "deployment"}[i%4], Key: fmt.Sprintf("key %d", i), Value: fmt.Sprintf("value %d", i), Confidence: new(.5 + float64(i%5)/10)}
			switch i % 13 {
			case 1:
				a.Pinned = new(true)
			case 2:
				a.ValidUntil = "2026-09-01"
			case 3:
				a.ValidFrom = "2026-06-01"
			case 4:
				a.Source = "user"
			}
			s.remember(t, a)
			if i%7 == 0 {
				s.remember(t, Assertion{Category: a.Category, Key: a.Key, Value: "now it is another"})
			}
			if i%11 == 0 {
				must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: a.Category, Key: a.Key}))
			}
			s.now = s.now.Add(time.Hour)
		}
	}
	say(0, 150)
	must[Maintained](t)(s.Maintain(t.Context(), true))
	s.days(120)
	if n := must[Maintained](t)(s.Maintain(t.Context(), true)); n.Archived == 0 {
		t.Fatal("nothing is dormant")
	}
	dir := filepath.Join(s.dir, "index")
	answers := func(what string) (texts []string) {
		cold, err := Open(s.dir, &Options{ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e", Now: func() time.Time { return s.now }})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(r interface{ Text() string }, err error) {
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			texts = append(texts, r.Text())
		}
		ctx := t.Context()
		ask(listing.Rooms(ctx, cold, listing.RoomQuery{}))
		ask(cold.Recall(ctx, Question{Category: "architecture"}))
		ask(cold.Recall(ctx, Question{Category: "status", IncludeArchived: true, Limit: 100}))
		ask(cold.Recall(ctx, Question{}))
		ask(briefing.Wakeup(ctx, cold, briefing.Query{Since: "1d"}))
		ask(briefing.Wakeup(ctx, cold, briefing.Query{Since: "200d"}))
		if err := cold.Close(); err != nil {
			t.Error(err)
		}
		return texts
	}
	compare := func(what string) {
		t.Helper()
		if !index.Exists(dir) {
			t.Fatal(what + ": no index")
		}
		got := answers(what)
		aside := dir + ".aside"
		if err := os.Rename(dir, aside); err != nil {
			t.Fatal(err)
		}
		want := answers(what + ", without an index")
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(aside, dir); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-facts +index):\n%s", what, d)
		}
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	compare("built")
	say(100, 110)
	say(150, 155)
	compare("with commits since")
	say(155, 230)
	if err := s.SyncIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	compare("brought further")
}
