package briefing

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Told is a value that somebody was told.
type Told struct {
	ID   string  // of the version
	Name fact.ID // of the fact
	At   time.Time
}

// Change is a value that was told and is since then no longer true, or disputed.
type Change struct {
	Was     *fact.Version
	Now     *fact.Version // what took its place; nil: nothing did
	Dispute string        // the id of the dispute, if it still is believed
	By      string
	At      time.Time
}

// ID names the change: each is told once.
func (c *Change) ID() string {
	id := "changed-" + c.Was.ID + "-" + c.Dispute
	if c.Now != nil {
		id += c.Now.ID
	}
	return id
}

// Changes finds what is no longer as it was told. What the reader was told since, what became the same again and what the
// reader did itself is none. Erased values are named by nobody.
func Changes(ctx context.Context, s *knowledge.Store, told []Told, own func(author string) bool) (list []Change, err error) {
	known := map[string]bool{}
	for _, x := range told {
		known[x.ID] = true
	}
	err = s.ViewSome(ctx, func(k state.Reader, now time.Time) error {
		list = nil
		seen, last := map[string]bool{}, map[fact.ID]time.Time{}
		for _, x := range slices.Backward(told) {
			if at, ok := last[x.Name]; seen[x.ID] || ok && x.At.Before(at) { // of a fact what was told last counts
				continue
			}
			seen[x.ID], last[x.Name] = true, x.At
			vs := k.Versions(x.Name)
			was := fact.WithID(vs, x.ID)
			if was == nil {
				continue
			}
			if p, ok := fact.HeldAt(was, x.At); !ok || !p.Contains(x.At) {
				continue // it was told as something of the past, or of the future
			}
			current := fact.AllCurrentAt(vs, now)
			if slices.ContainsFunc(current, func(v *fact.Version) bool { return v.ID == x.ID }) {
				for _, d := range state.OpenDisputes(k, k.Disputes(x.Name), now) {
					by := cmp.Or(d.Source.By, d.Source.Kind)
					if d.Against == x.ID && d.At.After(x.At) && !own(by) {
						list = append(list, Change{Was: was, Dispute: d.ID, By: by, At: d.At})
					}
				}
				continue
			}
			c := Change{Was: was, By: was.RetractedBy, At: endOf(was, now)}
			if len(current) > 0 {
				c.Now = current[len(current)-1]
				c.By, c.At = cmp.Or(c.Now.AssertedBy, knowledge.AuthorOf(c.Now)), c.Now.RecordedFrom
			}
			same := func(v *fact.Version) bool {
				return known[v.ID] || strings.TrimSpace(v.Value) == strings.TrimSpace(was.Value)
			}
			if own(c.By) || slices.ContainsFunc(current, same) {
				continue
			}
			list = append(list, c)
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b Change) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Was.ID, b.Was.ID)) })
	return list, err
}

// endOf is when a version ceased to be true.
func endOf(v *fact.Version, now time.Time) time.Time {
	for _, t := range []*time.Time{v.RetractedAt, v.RecordedUntil, v.ValidUntil} {
		if t != nil && !t.After(now) {
			return *t
		}
	}
	return now
}

// changeBytes is how much of a value a change tells.
const changeBytes = 120

// Text is the change in a line, for who was told.
func (c *Change) Text() string { return "CHANGED since you were told: " + c.Line() }

// Line is the change in a line.
func (c *Change) Line() string {
	short := func(v *fact.Version) string { return prose.ShortLine(prose.Clip(fact.Text(v), changeBytes)) }
	text := "[" + prose.ShortLine(c.Was.Category) + "/" + prose.ShortLine(c.Was.Key) + "] " + short(c.Was)
	var about []string
	switch {
	case c.Dispute != "":
		text += " is disputed"
		about = append(about, c.Dispute)
	case c.Now != nil:
		text += " → " + short(c.Now) + fact.TrustIn(c.Now).Mark()
	default:
		text += " is no longer true"
	}
	if c.By != "" {
		about = append(about, prose.ShortLine(prose.Clip(c.By, 40)))
	}
	about = append(about, c.At.UTC().Format("2006-01-02 15:04"))
	return text + " (" + strings.Join(about, ", ") + ")"
}
