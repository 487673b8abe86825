package knowledge

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
)

// event is one change of the state, as the journal keeps it. Exactly one
// member is set. Events say what is so afterwards, not what to do: folding
// one twice changes nothing more.
type event struct {
	Open      *opened                    `json:"open,omitempty"`
	Put       *fact.Version              `json:"put,omitempty"`
	Confirm   *confirmation              `json:"confirm,omitempty"`
	Pattern   *formats.Pattern           `json:"pattern,omitempty"`
	Unpattern *formats.Pattern           `json:"unpattern,omitempty"`
	Gotcha    *formats.Gotcha            `json:"gotcha,omitempty"`
	Ungotcha  string                     `json:"ungotcha,omitempty"`
	Relate    *formats.Relation          `json:"relate,omitempty"`
	Unrelate  *formats.Relation          `json:"unrelate,omitempty"`
	Remind    *formats.Reminder          `json:"remind,omitempty"`
	Judge     *formats.JudgedPair        `json:"judge,omitempty"`
	Note      *formats.Insight           `json:"note,omitempty"`
	Erase     *formats.Tombstone         `json:"erase,omitempty"`
	Extra     map[string]json.RawMessage `json:"extra,omitempty"`  // members of an imported file that we do not know
	Revive    *formats.Tombstone         `json:"revive,omitempty"` // an import with replace may bring an erased name back
}

// opened names the project, in a store's first commit.
type opened struct {
	Root string `json:"project_root"`
	Hash string `json:"project_hash"`
}

// confirmation is the change that happens most, so it is written small: the
// cost of a write must not grow with how often a fact was confirmed.
type confirmation struct {
	Category   string   `json:"category"`
	Key        string   `json:"key"`
	ID         string   `json:"id"`
	Confidence float64  `json:"confidence"` // the version's, from now on
	Source     Source   `json:"source"`
	Tags       []string `json:"tags,omitempty"` // whole lists, when they changed
	Aliases    []string `json:"aliases,omitempty"`
	Pinned     *bool    `json:"pinned,omitempty"`
	Privacy    string   `json:"privacy,omitempty"`
}

func (s *state) fold(e event) {
	switch {
	case e.Open != nil:
		s.root, s.hash = e.Open.Root, e.Open.Hash
	case e.Put != nil:
		s.put(e.Put)
	case e.Confirm != nil:
		s.confirm(e.Confirm)
	case e.Erase != nil:
		s.erase(*e.Erase)
	case e.Revive != nil:
		delete(s.tombstones, fact.IDOf(e.Revive.Category, e.Revive.Key))
	case e.Judge != nil:
		s.judged = append(s.judged, *e.Judge)
	case e.Note != nil:
		s.note(*e.Note)
	case e.Extra != nil:
		s.extra = e.Extra
	default:
		s.foldLesson(e)
	}
}

// lessonsChanged stands in the list of changed facts for patterns and gotchas.
var lessonsChanged = fact.ID{}

func (s *state) foldLesson(e event) {
	if e.Pattern != nil || e.Gotcha != nil {
		s.changed = append(s.changed, lessonsChanged)
	}
	switch {
	case e.Pattern != nil:
		s.patterns = upsert(s.patterns, *e.Pattern, samePattern)
	case e.Unpattern != nil:
		s.patterns = without(s.patterns, *e.Unpattern, samePattern)
	case e.Gotcha != nil:
		s.gotchas = upsert(s.gotchas, *e.Gotcha, sameGotcha)
	case e.Ungotcha != "":
		s.gotchas = without(s.gotchas, formats.Gotcha{ID: e.Ungotcha}, sameGotcha)
	case e.Relate != nil:
		s.relations = upsert(s.relations, *e.Relate, sameRelation)
	case e.Unrelate != nil:
		s.relations = without(s.relations, *e.Unrelate, sameRelation)
	case e.Remind != nil:
		s.reminders = upsert(s.reminders, *e.Remind, func(a, b formats.Reminder) bool { return a.ID == b.ID })
	}
}

func (s *state) confirm(c *confirmation) {
	n := fact.IDOf(c.Category, c.Key)
	vs := s.versions(n)
	i := slices.IndexFunc(vs, func(v *fact.Version) bool { return v.ID == c.ID })
	if i < 0 {
		return // a damaged commit took the version with it; the loss is reported by the journal
	}
	v := *vs[i]
	v.ConfirmationCount++
	v.RevisionCount++
	v.Confidence, v.LastConfirmed, v.ArchivedAt = c.Confidence, c.Source.At, nil
	v.Sources = append(v.Sources, c.Source) // shares the array: older copies do not see past their length
	if c.Tags != nil {
		v.Tags = c.Tags
	}
	if c.Aliases != nil {
		v.Aliases = c.Aliases
		s.changed = append(s.changed, n)
	}
	if c.Pinned != nil {
		v.Pinned = *c.Pinned
	}
	if c.Privacy != "" {
		v.Privacy = c.Privacy
	}
	vs = slices.Clone(vs)
	vs[i] = &v
	s.set(n, vs)
}

func (s *state) note(h formats.Insight) {
	s.history = append(s.history, h)
	if h.Kind == noteImport {
		s.epoch++
	}
}

func (s *state) erase(t formats.Tombstone) {
	n := fact.IDOf(t.Category, t.Key)
	for _, v := range s.versions(n) {
		delete(s.names, v.ID)
	}
	s.set(n, nil)
	s.tombstones[n] = t
	s.relations = slices.DeleteFunc(slices.Clone(s.relations), func(r formats.Relation) bool {
		return fact.IDOf(r.From.Category, r.From.Key) == n || fact.IDOf(r.To.Category, r.To.Key) == n
	})
	s.epoch++
}

// upsert and without leave the old slice as it was.
func upsert[T any](list []T, x T, same func(a, b T) bool) []T {
	if i := slices.IndexFunc(list, func(y T) bool { return same(x, y) }); i >= 0 {
		list = slices.Clone(list)
		list[i] = x
		return list
	}
	return append(list, x)
}

func without[T any](list []T, x T, same func(a, b T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(y T) bool { return same(x, y) })
}

// machine tells the journal how the state is made, folded and written.
type machine struct {
	partials *partials // nil: states are always whole
}

func (machine) New() *state { return newState() }

func (machine) Fold(s *state, c journal.Commit[event]) *state {
	for _, e := range c.Events {
		s.fold(e)
	}
	return s
}

func (machine) Clone(s *state) *state { return s.clone() }

func (machine) Encode(w io.Writer, s *state, h journal.Header) error {
	if s.base != nil {
		return s.rewrite(w, h)
	}
	return formats.EncodeNative(w, s.document(h))
}

func (machine) Decode(data []byte) (*state, error) {
	d, err := formats.DecodeNative(data)
	if err != nil {
		return nil, err
	}
	return fromDocument(d), nil
}

var _ journal.Machine[*state, event] = machine{}

// The kinds of a note in the store's own log.
const (
	noteImport      = "import"
	noteAdopt       = "adopt" // a store of the existing program was taken over
	noteConsolidate = "consolidate"
	noteMaintenance = "maintenance"
)

func note(kind, summary string, at time.Time) event {
	return event{Note: &formats.Insight{Summary: summary, FromSessions: []string{}, Timestamp: at, Kind: kind}}
}
