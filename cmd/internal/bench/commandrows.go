package bench

import (
	"context"
	"strings"
	"time"
)

// commandBudget bounds the time of one row at one size.
const commandBudget = 3 * time.Second

func commandRows() (all []row) {
	for _, r := range recalls() {
		all = append(all, asCommand(r.name, r.chart, func(ctx context.Context, b *bed, i int) error {
			q := r.ask(b.questions, i)
			args := []string{"knowledge", "recall", "--category", q.Category, "--key", q.Key}
			if q.Query != "" {
				args = []string{"knowledge", "recall", q.Query}
			}
			out, err := b.command(ctx, args...)
			if err == nil {
				b.judge(r, q, strings.HasPrefix(out, "No facts "))
			}
			return err
		}))
	}
	remembered := asCommand(remember, true, func(ctx context.Context, b *bed, _ int) error {
		f := b.corpus.next()
		_, err := b.command(ctx, "knowledge", "remember", f.Value, "--category", f.Category, "--key", f.Key)
		return err
	})
	all = append(all, meantCommands()...)
	return append(all,
		remembered,
		asCommand("hook session-start", false, func(ctx context.Context, b *bed, _ int) error {
			_, err := b.command(ctx, "hook", "claude-code", "session-start")
			return err
		}),
		fixed("wakeup", true, "wakeup"),
		fixed("timeline of a room", false, "timeline", rooms[len(rooms)-1]),
		fixed("rooms", false, "rooms"),
		fixed("status", false, "status"),
		asCommand("first answer of a server", false, func(ctx context.Context, b *bed, i int) error {
			s, err := b.serve(ctx, b.data)
			if err != nil {
				return err
			}
			return s.end(s.recall(pick(b.questions.keys, i).question()))
		}),
	)
}

// fixed is a command that is the same each time.
func fixed(name string, chart bool, args ...string) row {
	return asCommand(name, chart, func(ctx context.Context, b *bed, _ int) error {
		_, err := b.command(ctx, append([]string{"knowledge"}, args...)...)
		return err
	})
}

// asCommand is a row of something that is a process, beside one that does
// nothing.
func asCommand(name string, chart bool, do func(ctx context.Context, b *bed, i int) error) row {
	return row{groupCommand, name, Micros, floorProgram, chart, func(ctx context.Context, b *bed) (Cell, error) {
		run := stretch(func(ctx context.Context, i int) error { return do(ctx, b, i) })
		return turns(ctx, b.effort(usualInCommand, commandBudget), run, b.empty.floor(b.project))
	}}
}
