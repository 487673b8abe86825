package agents

import (
	"cmp"
	"context"
	"slices"
	"time"

	"leanctx/agents/diary"
)

// Finding is what an agent wrote down and what may become a fact.
type Finding struct {
	Kind string    // decision, insight, blocker, finding; discovery: a diary's, for searches
	Text string    // in the agent's words
	By   string    // agent id
	Ref  string    // names it for good: diary:cursor-a3f8/12, message:17
	At   time.Time // when it was written
}

// Findings lists what was written since an instant in the project's diaries,
// but for progress, and what was posted as a finding, decision, insight or
// blocker, but for those that have expired. A message to one agent counts like
// one to all, for the scratchpad is the project's; a private one never does. The
// oldest comes first.
func (s *Store) Findings(ctx context.Context, since time.Time) ([]Finding, error) {
	ids, _, err := s.writers(ctx)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, id := range ids {
		list, err := s.diaries.Entries(ctx, id)
		if err != nil {
			return nil, err
		}
		first, _ := slices.BinarySearchFunc(list, since, func(e diary.Entry, t time.Time) int { return e.At.Compare(t) })
		for _, e := range list[first:] {
			if e.Type != diary.Progress {
				out = append(out, Finding{e.Type, e.Text, id, e.Ref(id), e.At})
			}
		}
	}
	var posted []Finding
	err = s.view(ctx, func(p *project, at moment) error {
		posted = nil
		for _, m := range p.messages.findings {
			if !m.At.Before(since) && !m.expired(at.now) {
				posted = append(posted, Finding{m.Category, m.Text, m.From, m.ref(), m.At})
			}
		}
		return nil
	})
	out = append(out, posted...)
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Ref, b.Ref)) })
	return out, err
}
