package agents

import (
	"context"
)

// Copies names what is written in the project's diaries, on its scratchpad and
// in its handoffs that holds something: diary:cursor-a3f8/12, message:17,
// handoff:h-3. It is for who erases something elsewhere; nothing is changed, and
// private messages are named like others, without a word of theirs.
func (s *Store) Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error) {
	ids, _, err := s.writers(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		list, err := s.diaries.Entries(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if holds(e.Text) || holds(e.Context) {
				refs = append(refs, e.Ref(id))
			}
		}
	}
	var more []string
	err = s.view(ctx, func(p *project, _ moment) error {
		more = p.copies(holds)
		return nil
	})
	return append(refs, more...), err
}

// copies are those in the registry. A finding that somebody is still to read
// stands there twice.
func (p *project) copies(holds func(text string) bool) (refs []string) {
	named := map[uint64]bool{}
	name := func(m *message) {
		if !named[m.Number] && holds(m.Text) {
			named[m.Number] = true
			refs = append(refs, m.ref())
		}
	}
	for m := range p.messages.all() {
		name(m)
	}
	for _, m := range p.messages.findings {
		name(m)
	}
	for _, h := range p.handoffs {
		if holds(h.Summary) {
			refs = append(refs, "handoff:"+h.ID)
		}
	}
	for _, a := range p.agents {
		if holds(a.Message) || holds(a.Role) {
			refs = append(refs, "agent:"+a.ID)
		}
	}
	return refs
}
