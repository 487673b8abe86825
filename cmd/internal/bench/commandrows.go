package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leanctx/knowledge"
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
		unindexed(),
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

// unindexed is a recall that finds no index: every run of it, for the one before
// may have begun to make it anew. Deleting it is not measured.
func unindexed() row {
	return row{groupCommand, recallUnindexed, Micros, floorProgram, true, func(ctx context.Context, b *bed) (Cell, error) {
		r := recalls()[0]
		run := func(ctx context.Context, i int) (time.Duration, error) {
			if err := os.RemoveAll(filepath.Join(b.store, "index")); err != nil {
				return 0, err
			}
			q := r.ask(b.questions, i)
			start := time.Now()
			out, err := b.command(ctx, "knowledge", "recall", q.Query)
			took := time.Since(start)
			if err == nil {
				b.judge(r, q, strings.HasPrefix(out, "No facts "))
			}
			return took, err
		}
		cell, err := turns(ctx, b.effort(usualInCommand, commandBudget), run, b.empty.floor(b.project))
		if err != nil {
			return cell, err
		}
		return cell, b.briefly(func(s *knowledge.Store) error { return errors.Join(s.SyncKeys(ctx), s.SyncIndex(ctx)) })
	}}
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
