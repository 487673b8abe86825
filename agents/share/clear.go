package share

import (
	"context"
	"fmt"
	"time"

	"leanctx/internal/prose"
)

// Clearing asks to take the caller's shares back; it has no arguments.
type Clearing struct{}

// Cleared says what was taken back.
type Cleared struct {
	Shares int `json:"shares"`
	Files  int `json:"files"`
}

// Clear removes what the caller shared, had or not, with its contents.
func (s *Store) Clear(ctx context.Context, _ Clearing) (Cleared, error) {
	me, err := s.self(ctx)
	if err != nil {
		return Cleared{}, err
	}
	var c Cleared
	var ids []string
	_, err = s.log.Update(ctx, func(st *state, _ time.Time) ([]event, error) {
		c, ids = Cleared{}, nil
		for _, x := range st.sorted() {
			if x.From == me {
				ids = append(ids, x.ID)
				c.Shares++
				c.Files += len(x.Files)
			}
		}
		if len(ids) == 0 {
			return nil, nil
		}
		return []event{{Clear: ids}}, nil
	})
	if err != nil {
		return Cleared{}, err
	}
	s.drop(ids...)
	return c, nil
}

// Text gives the answer's line.
func (c Cleared) Text() string {
	if c.Shares == 0 {
		return "Nothing to clear: you have no shares."
	}
	return fmt.Sprintf("Cleared %s (%s)", prose.Count(c.Shares, "share"), prose.Count(c.Files, "file"))
}
