package tasks

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Selection asks for tasks in full, by pages: the one whose state was set last comes
// first. Limit must be positive.
type Selection struct {
	Context string    // only tasks of this context: the topmost task's id
	State   string    // only tasks in this state, in any spelling
	Since   time.Time // only tasks whose state was set at this time or later
	After   *Place    // continue after this place
	Limit   int
}

// Place is where a page ended.
type Place struct {
	At time.Time // when the task's state was set
	ID string
}

// Page is the result of Select.
type Page struct {
	Tasks []Details
	Total int    // number of matching tasks on all pages
	Next  *Place // nil: this was the last page
}

// Select lists tasks of the project with all that belongs to them. Unlike List it leaves
// out nothing for its age.
func (s *core) Select(ctx context.Context, q Selection) (Page, error) {
	var only State
	if q.State != "" {
		var err error
		if only, err = parseState(q.State); err != nil {
			return Page{}, err
		}
	}
	var found Page
	err := s.view(ctx, func(p project, now time.Time) error {
		found = Page{}
		var all []*record
		for _, r := range p {
			if (only == "" || r.State == only) && !r.stated().Before(q.Since) && (q.Context == "" || p.root(r) == q.Context) {
				all = append(all, r)
			}
		}
		order := func(a time.Time, id string, b time.Time, other string) int {
			return cmp.Or(b.Compare(a), strings.Compare(id, other))
		}
		slices.SortFunc(all, func(a, b *record) int { return order(a.stated(), a.ID, b.stated(), b.ID) })
		found.Total = len(all)
		if q.After != nil {
			i, found := slices.BinarySearchFunc(all, q.After, func(r *record, at *Place) int { return order(r.stated(), r.ID, at.At, at.ID) })
			if found {
				i++
			}
			all = all[i:]
		}
		t := p.tree()
		for _, r := range all[:min(len(all), q.Limit)] {
			found.Tasks = append(found.Tasks, t.details(r, now))
		}
		if len(all) > q.Limit {
			last := all[q.Limit-1]
			found.Next = &Place{last.stated(), last.ID}
		}
		return nil
	})
	return found, err
}

// stated is when the task's state was set, or its work last reported on.
func (r *record) stated() time.Time {
	if n := len(r.History); n > 0 {
		return r.History[n-1].At
	}
	return r.CreatedAt
}

// Continue adds a message of the giver to a task, under the giver's id of it. If the task
// waited for its giver, it is Working again, in the same commit.
func (s *Store) Continue(ctx context.Context, m Comment, messageID string) (Commented, error) {
	return s.comment(ctx, m, messageID, true)
}
