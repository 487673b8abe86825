package app

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"leanctx/agents/session"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/history"
)

// maxSaid is how many turns an answer about facts quotes.
const maxSaid = 3

// withSaid adds to operations that find facts what was said in sessions, and to those that tell how the store is what is kept
// of them, for callers that may see it.
func (s *stores) withSaid(o *op.Operation) {
	switch o.Name {
	case "session":
		s.withTold(o)
	case "status", "health":
		op.Adjust(o, func(_ context.Context, sc op.Scope, q *knowledge.Examining) error {
			if mayReadSessions(sc) {
				q.Sessions = func(ctx context.Context) *knowledge.KeptSessions { return s.keptSessions(ctx, sc) }
			}
			return nil
		})
	case "remove":
		op.Adjust(o, func(_ context.Context, sc op.Scope, q *knowledge.Withdrawal) error {
			if mayReadSessions(sc) {
				q.Sessions = func(ctx context.Context, holds func(string) bool) (ids []string) {
					for _, store := range s.sessionStores(ctx, sc, false) {
						ids, _ = store.Holding(ctx, holds) // of what cannot be read nothing is named
					}
					return ids
				}
			}
			return nil
		})
	case "search":
		op.Adjust(o, func(_ context.Context, sc op.Scope, q *knowledge.Lookup) error {
			if mayReadSessions(sc) {
				q.Said = func(ctx context.Context, text string, all bool) []knowledge.Said { return s.said(ctx, sc, text, all) }
			}
			return nil
		})
	case "grep":
		op.Adjust(o, func(_ context.Context, sc op.Scope, q *history.Expression) error {
			if mayReadSessions(sc) {
				q.Said = func(ctx context.Context, regexp string, all bool, limit int) (list []knowledge.Said) {
					for name, store := range s.sessionStores(ctx, sc, all) {
						found, err := store.Grep(ctx, session.Expression{Regexp: regexp, Limit: limit})
						for _, x := range found.Matches {
							if err == nil && len(list) < limit {
								list = append(list, knowledge.Said{Session: x.Session, Turn: x.N, At: x.At, Role: x.Role, Text: x.Line, Project: name})
							}
						}
					}
					return list
				}
			}
			return nil
		})
	case "why":
		op.Adjust(o, func(_ context.Context, sc op.Scope, q *history.Subject) error {
			if mayReadSessions(sc) {
				q.Asserted = func(ctx context.Context, category, key string) (list []knowledge.Said) {
					for _, store := range s.sessionStores(ctx, sc, false) {
						found, err := store.Assertions(ctx, category, key)
						for _, x := range found {
							if err == nil {
								list = append(list, said(x, ""))
							}
						}
					}
					return list
				}
			}
			return nil
		})
	}
}

// keptSessions tells what is kept of a project's sessions; nil: that is not known.
func (s *stores) keptSessions(ctx context.Context, sc op.Scope) *knowledge.KeptSessions {
	w, err := s.of(ctx, sc)
	if err != nil {
		return nil
	}
	store, err := w.sessions()
	if err != nil {
		return nil
	}
	var x knowledge.KeptSessions
	x.Count, x.Bytes = store.Size()
	if err := w.keepsSessions(); err != nil {
		x.Why = err.Error()
		if hint, ok := errors.AsType[*refusal.HintError](err); ok {
			x.Why = hint.Problem
		}
	} else if given, ok := session.ConsentIn(s.config.DataDir); ok {
		x.Since = given.Since
	}
	return &x
}

// withTold adds to the operation that shows a session what hooks told it.
func (s *stores) withTold(o *op.Operation) {
	op.Adjust(o, func(_ context.Context, sc op.Scope, q *session.Reading) error {
		q.Told = func(ctx context.Context, client, name string) (facts, untrue []string) {
			w, err := s.of(ctx, sc)
			if err != nil {
				return nil, nil
			}
			told := hook.ToldIn(s.config.DataDir, w.project.Hash, name, time.Now())
			for _, x := range told {
				if id := x.Name.Category + "/" + x.Name.Key; !slices.Contains(facts, id) {
					facts = append(facts, id)
				}
			}
			store, err := w.factStore()
			if err != nil || len(told) == 0 {
				return facts, nil
			}
			own := hook.Joined{Client: client, Session: name}.Name(w.project.Hash)
			changes, err := briefing.Changes(ctx, store, told, func(author string) bool { return author == own })
			for i := range changes {
				if err == nil {
					untrue = append(untrue, changes[i].Line())
				}
			}
			return facts, untrue
		}
		return nil
	})
}

// mayReadSessions reports whether a caller may see what was said: a named token needs the right.
func mayReadSessions(sc op.Scope) bool { return sc.Grant == nil || sc.Grant.Sessions }

// said is what was said about a text, of this project or of all. What cannot be read is left out: the answer is about facts.
func (s *stores) said(ctx context.Context, sc op.Scope, text string, all bool) (list []knowledge.Said) {
	own := "" // what was said in the caller's own session it knows
	if w, err := s.of(ctx, sc); err == nil {
		if j, ok := w.joined(); ok {
			own = j.Session
		}
	}
	for name, store := range s.sessionStores(ctx, sc, all) {
		found, err := store.Quotes(ctx, session.Quoting{Query: text, Most: maxSaid, Not: own})
		if err != nil {
			continue
		}
		for _, x := range found {
			list = append(list, said(x, name))
		}
	}
	return list[:min(len(list), maxSaid)]
}

// said is a quote as answers about facts have it.
func said(x session.Quote, project string) knowledge.Said {
	return knowledge.Said{Session: x.Session, Turn: x.N, At: x.At, Role: x.Role, Text: x.Text, Project: project}
}

// sessionStores gives the sessions of the call's project, and with all those of the other projects that it may read, each
// with the project's name. Only what is kept on this machine is there.
func (s *stores) sessionStores(ctx context.Context, sc op.Scope, all bool) func(func(string, *session.Store) bool) {
	return func(yield func(string, *session.Store) bool) {
		w, err := s.of(ctx, sc)
		if err != nil {
			return
		}
		store, err := w.sessions()
		person := !sc.ByAgent() && sc.Caller.Workspace == nil
		if err != nil || !yield(filepath.Base(w.project.Root), store) || !all || !person {
			return // what was said in another project is told to no agent
		}
		settings, _, err := s.settings(sc)
		if err != nil || !settings.CrossProjectSearch {
			return
		}
		projects, _, err := s.projectRegistry(sc)
		if err != nil {
			return
		}
		list, err := projects.List(ctx)
		if err != nil {
			return
		}
		for _, p := range list {
			if p.Hash == w.project.Hash || !sc.Grant.Reaches(p.Hash) {
				continue
			}
			theirs, err := s.config.For(p.Root, p.Root)
			if err != nil || !theirs.CrossProjectSearch {
				continue
			}
			other := session.Open(session.Dir(s.config.DataDir, p.Hash), nil)
			if !yield(p.Name, other) {
				return
			}
		}
	}
}
