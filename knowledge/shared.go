package knowledge

import (
	"context"
	"slices"
	"sync"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// What is shared through the repository, and what stays here. Package replica writes
// and reads the repository.

// IsLocal reports whether the newest version of a fact stays on this machine.
func IsLocal(vs []*fact.Version) bool {
	var last *fact.Version
	for _, v := range vs {
		if last == nil || !v.RecordedFrom.Before(last.RecordedFrom) {
			last = v
		}
	}
	return last != nil && last.Privacy == PrivacyLocal
}

// keepHome makes a fact local. The versions that others know end for them: they are
// retracted here too, and stay as history. The others become local themselves.
func keepHome(st state.Reader, n fact.ID, now, present time.Time) (events []state.Event) {
	known := func(v *fact.Version) bool {
		return st.Replica != nil && (v.TakenIn || !v.RecordedFrom.After(st.Replica.Synced))
	}
	any := false
	for _, v := range st.Versions(n) {
		if any = any || known(v); !known(v) {
			w := *v
			w.Privacy = PrivacyLocal
			events = append(events, state.Event{Put: &w})
		}
	}
	if !any {
		return events
	}
	over := state.NewOverlay(st, nil)
	over.Fold(events...)
	for _, e := range Retract(over, n, "", nil, formats.Retraction{RetractedAt: &now, RetractedBy: PrivacyLocal, RetractedReason: PrivacyLocal}, present) {
		if e.Put.Privacy != PrivacyLocal {
			events = append(events, e)
		}
	}
	return events
}

// TakeIn commits what decide returns for the newest state, in nobody's name. What it
// erases is off the disk when TakeIn returns.
func TakeIn(ctx context.Context, s *Store, decide func(*state.State, time.Time) ([]state.Event, error)) error {
	if err := s.As(Actor{}).Update(ctx, decide); err != nil {
		return err
	}
	return s.eraser.tidy(ctx, false)
}

// HasProjectOnly reports whether other projects must not find some facts of a store. All facts are read
// for the first answer. From then on only what has changed since is looked at.
func HasProjectOnly(ctx context.Context, s *Store) (found bool, err error) {
	known := false
	err = s.ViewSome(ctx, func(k state.Reader, _ time.Time) error {
		found, known = s.private.since(k)
		return nil
	})
	if err != nil || known {
		return found, err
	}
	err = s.View(ctx, func(st *state.State, _ time.Time) error {
		found = s.private.in(st)
		return nil
	})
	return found, err
}

// privateFact remembers a fact that is for the project alone, or that there was none at an instant.
type privateFact struct {
	mu    sync.Mutex
	known bool
	at    time.Time // of the newest commit that was looked at
	fact  fact.ID   // one that has a version of the project alone; zero: there was none
}

func projectOnly(v *fact.Version) bool { return v.Privacy == PrivacyProjectOnly }

// since says whether there is such a fact, if what has changed since the last look tells.
func (p *privateFact) since(k state.Reader) (found, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.known:
		return false, false
	case p.fact != fact.ID{}:
		known = slices.ContainsFunc(k.Versions(p.fact), projectOnly)
		return known, known
	case k.At.Equal(p.at):
		return false, true
	}
	changed, known := k.ChangedSince(p.at)
	if !known {
		return false, false
	}
	p.at = k.At
	if i := slices.IndexFunc(changed, projectOnly); i >= 0 {
		p.fact = fact.IDOf(changed[i].Category, changed[i].Key)
	}
	return p.fact != fact.ID{}, true
}

// in looks at all facts.
func (p *privateFact) in(st *state.State) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.at, p.fact = true, st.At(), fact.ID{}
	for n, v := range st.Each() {
		if projectOnly(v) {
			p.fact = n
			break
		}
	}
	return p.fact != fact.ID{}
}

// RepositoryBrings says how many facts the repository holds for a store that has never taken any in.
// It is for a person: what a repository brings is not to be put before a model unasked.
func RepositoryBrings(ctx context.Context, s *Store) (text string) {
	brings := s.opts.RepositoryBrings
	if brings == nil {
		return ""
	}
	never := false
	if err := s.ViewSome(ctx, func(k state.Reader, _ time.Time) error { never = k.Replica == nil; return nil }); err != nil || !never {
		return ""
	}
	return brings()
}
