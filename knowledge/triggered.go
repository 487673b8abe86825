package knowledge

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
)

// Triggered lists the open reminders whose path matches a file, the soonest
// due first. The file is named from the project's root, with / between the
// parts; package reminder says which globs match it. Reading changes nothing.
func (s *Store) Triggered(ctx context.Context, file string) ([]formats.Reminder, error) {
	file = path.Clean(strings.ReplaceAll(file, `\`, "/"))
	if file == "." || file == ".." || strings.HasPrefix(file, "../") {
		return nil, nil
	}
	var out []formats.Reminder
	err := s.Look(ctx, func(st state.Known, _ time.Time) error {
		out = nil
		for _, r := range reminder.Open(st.Reminders) {
			if reminder.AtFile(r, file) {
				out = append(out, r)
			}
		}
		return nil
	})
	return out, err
}

// GotchasAt lists the gotchas whose trigger names a file, the worst first. The
// file is named as for [Store.Triggered].
func (s *Store) GotchasAt(ctx context.Context, file string) ([]formats.Gotcha, error) {
	file = path.Clean(strings.ReplaceAll(file, `\`, "/"))
	var out []formats.Gotcha
	err := s.Look(ctx, func(st state.Known, _ time.Time) error {
		out = nil
		for _, g := range st.Gotchas {
			if slices.ContainsFunc(strings.Fields(g.Trigger), func(word string) bool { return reminder.Names(word, file) }) {
				out = append(out, g)
			}
		}
		return nil
	})
	worst := []string{"critical", "warning", "info"}
	slices.SortStableFunc(out, func(a, b formats.Gotcha) int {
		return cmp.Compare(slices.Index(worst, a.Severity), slices.Index(worst, b.Severity))
	})
	return out, err
}
