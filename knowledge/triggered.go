package knowledge

import (
	"context"
	"path"
	"strings"

	"leanctx/formats"
	"leanctx/knowledge/ledger"
)

// Triggered lists the open reminders whose path matches a file, the soonest
// due first. The file is named from the project's root, with / between the
// parts. In a glob ** stands for any number of directories, * and ? stay within
// one; without a / it matches a name in any directory, and a directory matches
// all that is in it. Reading changes nothing.
func (s *Store) Triggered(ctx context.Context, file string) ([]formats.Reminder, error) {
	file = path.Clean(strings.ReplaceAll(file, `\`, "/"))
	if file == "." || file == ".." || strings.HasPrefix(file, "../") {
		return nil, nil
	}
	var out []formats.Reminder
	err := s.view(ctx, func(st *ledger.State, _ moment) error {
		out = nil
		for _, r := range openReminders(st.Reminders) {
			if r.Path != "" && matchesPath(r.Path, file) {
				out = append(out, r)
			}
		}
		return nil
	})
	return out, err
}

// matchesPath tells whether a glob stands for a file.
func matchesPath(glob, file string) bool {
	glob = strings.TrimPrefix(strings.ReplaceAll(glob, `\`, "/"), "./")
	whole := strings.TrimSuffix(glob, "/")
	if !strings.Contains(whole, "/") && whole == glob {
		if ok, err := path.Match(glob, path.Base(file)); err == nil && ok {
			return true
		}
	}
	parts, globs := strings.Split(file, "/"), strings.Split(whole, "/")
	// What is in a directory is meant by its name.
	return matchesParts(globs, parts) || !strings.HasSuffix(whole, "*") && matchesParts(append(globs, "**"), parts)
}

// matchesParts matches part by part. It goes back to the last ** that it met
// only: what an earlier one could take, that one can take as well, and going
// back to all of them would take exponential time.
func matchesParts(globs, parts []string) bool {
	i, j, star, from := 0, 0, -1, 0
	for j < len(parts) {
		if i < len(globs) && globs[i] == "**" {
			star, from = i, j
			i++
			continue
		}
		if i < len(globs) {
			if ok, err := path.Match(globs[i], parts[j]); err == nil && ok {
				i, j = i+1, j+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		i, j = star+1, from
	}
	for i < len(globs) && globs[i] == "**" {
		i++
	}
	return i == len(globs)
}
