package ledger

import (
	"encoding/json"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// Event is one change of the state, as the journal keeps it. Exactly one
// member is set. Events say what is so afterwards, not what to do: folding
// one twice changes nothing more.
type Event struct {
	Open      *Opened                    `json:"open,omitempty"`
	Put       *fact.Version              `json:"put,omitempty"`
	Confirm   *Confirmation              `json:"confirm,omitempty"`
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

// Opened names the project, in a store's first commit.
type Opened struct {
	Root string `json:"project_root"`
	Hash string `json:"project_hash"`
}

// Confirmation is the change that happens most, so it is written small: the
// cost of a write must not grow with how often a fact was confirmed.
type Confirmation struct {
	Category   string         `json:"category"`
	Key        string         `json:"key"`
	ID         string         `json:"id"`
	Confidence float64        `json:"confidence"` // the version's, from now on
	Source     formats.Source `json:"source"`
	Tags       []string       `json:"tags,omitempty"` // whole lists, when they changed
	Aliases    []string       `json:"aliases,omitempty"`
	Pinned     *bool          `json:"pinned,omitempty"`
	Privacy    string         `json:"privacy,omitempty"`
}

// The kinds of a note in the store's own log.
const (
	NoteImport      = "import"
	NoteAdopt       = "adopt" // a store of the existing program was taken over
	NoteConsolidate = "consolidate"
	NoteMaintenance = "maintenance"
)

// Note is an entry in the store's own log.
func Note(kind, summary string, at time.Time) Event {
	return Event{Note: &formats.Insight{Summary: summary, FromSessions: []string{}, Timestamp: at, Kind: kind}}
}

// about is the fact whose versions a put or a confirmation changes.
func (e Event) about() (n fact.ID, ok bool) {
	switch {
	case e.Put != nil:
		return fact.IDOf(e.Put.Category, e.Put.Key), true
	case e.Confirm != nil:
		return fact.IDOf(e.Confirm.Category, e.Confirm.Key), true
	}
	return n, false
}

func (s *State) fold(e Event) {
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
	default:
		s.Beside.fold(e)
		if e.Pattern != nil || e.Gotcha != nil {
			s.changed = append(s.changed, lessonsID)
		}
		if e.Note != nil && e.Note.Kind == NoteImport {
			s.epoch++
		}
	}
}

func (s *State) confirm(c *Confirmation) {
	n := fact.IDOf(c.Category, c.Key)
	vs := s.Versions(n)
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

func (s *State) erase(t formats.Tombstone) {
	n := fact.IDOf(t.Category, t.Key)
	for _, v := range s.Versions(n) {
		delete(s.names, v.ID)
	}
	s.set(n, nil)
	s.tombstones[n] = t
	s.unlink(n)
	s.epoch++
}
