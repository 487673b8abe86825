package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Link names two facts and how the first stands to the second.
type Link struct {
	Category string `json:"category" arg:"1" short:"c" jsonschema:"room of the first fact"`
	Key      string `json:"key" arg:"2" short:"k" jsonschema:"the first fact"`
	Target   string `json:"target" arg:"3" alias:"query" jsonschema:"the second fact, as category/key"`
	Kind     string `json:"kind,omitempty" enum:"depends_on,related_to,supports,contradicts,supersedes" alias:"value" jsonschema:"how they are linked (default related_to); contradicts opens a dispute, supersedes ends the second fact"`
	Source   string `json:"source,omitempty" jsonschema:"user when the user said so"`
}

// Unlink names the link that goes.
type Unlink struct {
	Category string `json:"category" arg:"1" short:"c" jsonschema:"room of the first fact"`
	Key      string `json:"key" arg:"2" short:"k" jsonschema:"the first fact"`
	Target   string `json:"target" arg:"3" alias:"query" jsonschema:"the second fact, as category/key"`
	Kind     string `json:"kind,omitempty" enum:"depends_on,related_to,supports,contradicts,supersedes" jsonschema:"which link goes (default related_to); with contradicts the dispute that it opened is closed, with supersedes the second fact stays ended"`
	Source   string `json:"source,omitempty" jsonschema:"user when the user said so"`
}

// The kinds of a link that do something to the second fact.
const (
	contradicts = "contradicts"
	supersedes  = "supersedes"
)

// ValidRelation reports whether a link may be of a kind.
func ValidRelation(kind string) bool { return slices.Contains(relationKinds, kind) }

var relationKinds = []string{"depends_on", "related_to", "supports", contradicts, supersedes}

// Linked is what became of a link.
type Linked struct {
	Outcome     string           `json:"outcome"` // added, reinforced, removed, disputed
	Relation    formats.Relation `json:"relation"`
	Ended       []string         `json:"ended,omitempty"` // ids of the second fact's versions that are no longer true
	DisputeNote                  // the dispute that the link opened
}

// NotDone says what stays believed if the link should have ended it. A link that contradicts is made.
func (l Linked) NotDone() string {
	if l.Outcome == string(Disputed) {
		return l.DisputeNote.NotDone()
	}
	return ""
}

// Text gives the answer's lines.
func (l Linked) Text() string { return l.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (l Linked) TextIn(call prose.Syntax) string {
	r := l.Relation
	text := fmt.Sprintf("Relation %s: %s -(%s)-> %s", l.Outcome, Slashed(r.From.Name), prose.Line(r.Kind), Slashed(r.To.Name))
	switch d := l.Dispute; {
	case l.Outcome == string(Disputed):
		return l.DisputeNote.TextIn(call)
	case d != nil:
		text += fmt.Sprintf("\n  %s against %s%s", disputeSummary(*d), fact.TrustIn(l.Old).Quote(l.Old.Value), recordOf(*d, "both stay", "accept|reject", call))
	case len(l.Ended) > 0:
		text += fmt.Sprintf("\n  %s is no longer current", Slashed(r.To.Name))
	}
	return text
}

// Slashed is a name as answers show it: category/key.
func Slashed(n Name) string { return prose.Name(n.Category) + "/" + prose.Name(n.Key) }

// Relate links two facts; the same link again is reinforced. A link that
// supersedes ends the second fact, one that contradicts opens a dispute.
func Relate(ctx context.Context, s *Store, l Link) (Linked, error) {
	var r Linked
	by := s.Source(l.Source, 1)
	err := s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		want, err := linkOf(st, l)
		if err != nil {
			return nil, err
		}
		r = Linked{Outcome: "added", Relation: want}
		r.Relation.CreatedAt, r.Relation.SourceSession = now, s.actor.Session
		if known, ok := state.Relations.Find(st.Lists, want); ok {
			r.Outcome = "reinforced"
			if !known.TakenIn { // of a stranger's the link alone counts
				r.Relation = known
			}
		}
		r.Relation.Count++
		if by.Kind == KindUser {
			r.Relation.SourceKind = KindUser
		}
		r.Relation.LastSeen = &now
		events, err := effect(s, st, &r, by, now)
		if err == nil && r.Outcome != string(Disputed) {
			events = append(events, state.Event{Relate: &r.Relation})
		}
		return events, err
	})
	return r, err
}

// effect is what a link does to the second fact: supersedes ends it, contradicts
// opens a dispute.
func effect(s *Store, st state.Reader, l *Linked, by Source, now time.Time) (events []state.Event, err error) {
	from, to := l.Relation.From.Name, l.Relation.To.Name
	switch l.Relation.Kind {
	case supersedes:
		events, l.DisputeNote, err = Supersede(st, from, to, by, now, s.present(now))
		if l.Warned() {
			l.Outcome = string(Disputed)
			break
		}
		for _, e := range events {
			l.Ended = append(l.Ended, e.Put.ID)
		}
	case contradicts:
		rival, old := fact.Current(st.Versions(fact.IDOf(from.Category, from.Key)), s.present(now)), fact.Current(st.Versions(fact.IDOf(to.Category, to.Key)), s.present(now))
		if rival != nil && old != nil {
			events, l.DisputeNote = openDispute(st, rivalry(rival, by), old, s.present(now))
		}
	}
	return events, err
}

// Unrelate removes a link, and closes the dispute that it opened. A user's link only a user removes. A dispute that somebody of more
// authority opened stays, and the link with it.
func Unrelate(ctx context.Context, s *Store, l Unlink) (Linked, error) {
	var r Linked
	by := s.Source(l.Source, 1)
	err := s.UpdateSome(ctx, func(st state.Reader, _ time.Time) ([]state.Event, error) {
		want, err := linkOf(st, Link(l))
		if err != nil {
			return nil, err
		}
		r = Linked{Outcome: "removed", Relation: want}
		known, ok := state.Relations.Find(st.Lists, want)
		if !ok {
			return nil, refusal.NotFound("No relation found: %s -(%s)-> %s", Slashed(want.From.Name), want.Kind, Slashed(want.To.Name))
		}
		if known.SourceKind == KindUser && !known.TakenIn && Authority(by.Kind) < Authority(KindUser) {
			return nil, refusal.ForUser("%s -(%s)-> %s is a user's, and for the user to remove", Slashed(want.From.Name), want.Kind, Slashed(want.To.Name))
		}
		events := []state.Event{{Unrelate: &want}}
		for _, d := range st.Disputes(fact.IDOf(want.To.Category, want.To.Key)) {
			if want.Kind == contradicts && d.State == formats.DisputeOpen && d.Rival != nil && fact.IDOf(d.Rival.Category, d.Rival.Key) == fact.IDOf(want.From.Category, want.From.Key) {
				if Authority(by.Kind) < Authority(d.Source.Kind) {
					return nil, refusal.ForUser("%s is for the user to judge", d.ID)
				}
				d.State = formats.DisputeClosed // what opened it is taken back
				events = append(events, state.Event{Dispute: &d})
			}
		}
		return events, nil
	})
	return r, err
}

// linkOf is the relation of a link. Both ends must exist.
func linkOf(st state.Reader, l Link) (formats.Relation, error) {
	if l.Kind == "" {
		l.Kind = "related_to"
	}
	if !ValidRelation(l.Kind) {
		return formats.Relation{}, refusal.Argument("kind", "kind %q is none of %s", prose.Clip(l.Kind, 40), strings.Join(relationKinds, ", "))
	}
	from, to, err := PairOf(st, l.Category, l.Key, l.Target)
	return formats.Relation{From: formats.RelationEnd{Name: from}, To: formats.RelationEnd{Name: to}, Kind: l.Kind}, err
}

// PairOf resolves a fact and a target to two facts that exist and differ.
func PairOf(st state.Reader, category, key, target string) (from, to Name, err error) {
	if err := refusal.Required("category", category, "key", key, "target", target); err != nil {
		return from, to, err
	}
	vs := st.Versions(fact.IDOf(category, key))
	if len(vs) == 0 {
		return from, to, NotFound(category, key)
	}
	from = Name{Category: vs[0].Category, Key: vs[0].Key}
	n, ok := resolve(st, target, category)
	if !ok {
		advice := ""
		if !strings.Contains(target, "/") {
			advice = " (give target as category/key)"
		}
		if c, k, ok := strings.Cut(target, "/"); ok {
			if near := Nearest(st, Name{Category: c, Key: k}, st.At); near != "" {
				advice = "; did you mean " + prose.Name(near) + "?"
			}
		}
		return from, to, refusal.NotFound("No fact found: %s%s", prose.Line(target), advice)
	}
	vs = st.Versions(n)
	to = Name{Category: vs[0].Category, Key: vs[0].Key}
	if from == to {
		return from, to, refusal.Argument("target", "target is the fact itself")
	}
	return from, to, nil
}

// resolve reads "category/key", where either may hold slashes, or a key of the
// same category.
func resolve(st state.Reader, target, category string) (fact.ID, bool) {
	for i, r := range target {
		if r == '/' {
			if n := fact.IDOf(target[:i], target[i+1:]); len(st.Versions(n)) > 0 {
				return n, true
			}
		}
	}
	n := fact.IDOf(category, target)
	return n, len(st.Versions(n)) > 0
}

// Judged reports whether there is a verdict on two facts.
func Judged(judged []formats.JudgedPair, a, b fact.ID) bool {
	name := func(n fact.ID) string { return n.Category + "/" + n.Key }
	x, y := name(a), name(b)
	return slices.ContainsFunc(judged, func(p formats.JudgedPair) bool {
		k, l := formats.FoldName(p.KeyA), formats.FoldName(p.KeyB)
		return k == x && l == y || k == y && l == x
	})
}
