package knowledge

import (
	"context"
	"path"
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
	err := s.View(ctx, func(st *state.State, _ time.Time) error {
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
