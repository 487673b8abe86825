package knowledge_test

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"leanctx/internal/journal"
	. "leanctx/knowledge"
)

// teamLog is a team's log in memory.
type teamLog struct{ commits [][]byte }

func (l *teamLog) Name() string        { return "leanctx.x.knowledge" }
func (l *teamLog) Wait() time.Duration { return time.Minute }
func (l *teamLog) Fetch(_ context.Context, from uint64, take func(uint64, []byte) error) error {
	for i := max(from, 1); i <= uint64(len(l.commits)); i++ {
		if err := take(i, l.commits[i-1]); err != nil {
			return err
		}
	}
	return nil
}
func (l *teamLog) Publish(_ context.Context, last uint64, commit []byte) (uint64, error) {
	if last != uint64(len(l.commits)) {
		return 0, journal.ErrConflict
	}
	l.commits = append(l.commits, append([]byte(nil), commit...))
	return last + 1, nil
}
func (l *teamLog) Newest(context.Context) (journal.Mark, uint64, error) {
	return journal.Mark{}, 1 << 20, nil
}
func (l *teamLog) Load(context.Context, journal.Mark) ([]byte, error) { return nil, journal.ErrGone }
func (l *teamLog) Save(_ context.Context, m journal.Mark, _ []byte) (journal.Mark, error) {
	return m, nil
}
func (l *teamLog) Trim(context.Context, journal.Mark, func([]byte) bool) error { return nil }
func (l *teamLog) Follow(ctx context.Context, _ func() error)                  { <-ctx.Done() }

// Whatever users and agents do by this program, the rules of a team hold it for theirs to do: no event of it
// is void on another machine.
func TestWhatThisProgramWritesIsVoidNowhere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ctx, log := rt.Context(), &teamLog{}
		now := time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC)
		open := func() *Store {
			s, err := Open(t.TempDir(), &Options{Now: func() time.Time { return now }, ProjectRoot: "/home/u/app", ProjectHash: "14958352f5925e3e", Team: func(string) journal.Remote { return log }})
			if err != nil {
				rt.Fatal(err)
			}
			return s
		}
		a, b := open(), open()
		defer a.Close()
		defer b.Close()
		actors := []Actor{{Kind: KindUser}, {Agent: "codex-1", Kind: KindAgent}, {Agent: "claude-2", Kind: KindAgent}, {Kind: KindTool}}
		keys := []string{"k", "l"}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 100_000).Draw(rt, "seconds")) * time.Second)
			s := a.As(rapid.SampledFrom(actors).Draw(rt, "actor"))
			key := rapid.SampledFrom(keys).Draw(rt, "key")
			day := func(label string) string {
				if n := rapid.IntRange(-9, 9).Draw(rt, label); n != 0 {
					return now.AddDate(0, 0, n).Format(time.DateOnly)
				}
				return ""
			}
			var err error
			switch op := rapid.IntRange(0, 11).Draw(rt, "op"); op {
			case 0, 1, 2, 3, 4:
				x := Assertion{Category: "c", Key: key, Value: rapid.SampledFrom([]string{"A", "B", "A and B"}).Draw(rt, "value"), ValidFrom: day("from"), ValidUntil: day("until"),
					Correct: op == 1, Also: op == 2 && rapid.Bool().Draw(rt, "also")}
				if op == 3 {
					x.Pinned = new(rapid.Bool().Draw(rt, "pinned"))
				}
				if op == 4 {
					x.Replaces = "*"
				}
				_, err = s.Remember(ctx, x)
			case 5:
				_, err = s.Remove(ctx, Withdrawal{Category: "c", Key: key, Until: day("ends")})
			case 6:
				_, err = s.Remove(ctx, Withdrawal{Category: "c", Key: key, Erase: true})
			case 7:
				_, err = Rename(ctx, s, NewName{Category: "c", Key: key, To: "c/" + rapid.SampledFrom(keys).Draw(rt, "to"), Merge: rapid.SampledFrom([]string{"true", "false"}).Draw(rt, "merge")})
			case 8:
				_, err = Undo(ctx, s, UndoArgs{})
			case 9:
				_, err = Feedback(ctx, s, Vote{Category: "c", Key: key, Vote: "down"})
			case 10:
				_, err = Questions(ctx, s, FactQuestions{Category: "c", Key: key, Questions: "why?"})
			case 11:
				_, err = s.Remember(ctx, Assertion{Category: "c", Key: key, Value: "C", Confidence: new(.1)})
			}
			_ = err // refused is as good as done
		}
		if err := b.Fetch(ctx); err != nil {
			rt.Fatal(err)
		}
		for _, s := range []*Store{a, b} {
			for _, w := range s.Condition().Warnings {
				if w.Kind == journal.Void {
					rt.Fatalf("%s: %s", w.Text, log.commits[w.Seq-1])
				}
			}
		}
	})
}
