package state

import (
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// Event is one change of the state, as the journal keeps it. Exactly one
// member is set. Events say what is so afterwards, not what to do: folding
// one twice changes nothing more.
type Event struct {
	Author    *Author             `json:"author,omitempty"`
	Open      *Opened             `json:"open,omitempty"`
	Put       *fact.Version       `json:"put,omitempty"`
	Confirm   *Confirmation       `json:"confirm,omitempty"`
	Questions *NewQuestions       `json:"questions,omitempty"`
	Relate    *formats.Relation   `json:"relate,omitempty"`
	Unrelate  *formats.Relation   `json:"unrelate,omitempty"`
	Remind    *formats.Reminder   `json:"remind,omitempty"`
	Judge     *formats.JudgedPair `json:"judge,omitempty"`
	Dispute   *formats.Dispute    `json:"dispute,omitempty"`
	Note      *formats.Insight    `json:"note,omitempty"`
	Erase     *formats.Tombstone  `json:"erase,omitempty"`
	Extra     formats.Unknown     `json:"extra,omitempty"` // members of an imported file that we do not know
	Rename    *formats.Rename     `json:"rename,omitempty"`
	Revive    *formats.Tombstone  `json:"revive,omitempty"` // an import with replace may bring an erased name back
	Replace   *Replacement        `json:"replace,omitempty"`
	Replica   *formats.Replica    `json:"replica,omitempty"`

	// Former versions of the program wrote these: see former.go.
	Pattern   *formats.Pattern `json:"pattern,omitempty"`
	Unpattern *formats.Pattern `json:"unpattern,omitempty"`
	Gotcha    *formats.Gotcha  `json:"gotcha,omitempty"`
	Ungotcha  string           `json:"ungotcha,omitempty"`

	others bool // it came by a team's log
}

// Replacement sets whole facts and whole lists, as the shared order of what all
// replicas wrote has them. A list that is nil stays.
type Replacement struct {
	Facts     []Replaced            `json:"facts,omitempty"`
	Relations *[]formats.Relation   `json:"relations,omitzero"`
	Reminders *[]formats.Reminder   `json:"reminders,omitzero"`
	Judged    *[]formats.JudgedPair `json:"judged_pairs,omitzero"`
	Disputed  *[]formats.Dispute    `json:"disputes,omitzero"`
	Renames   *[]formats.Rename     `json:"renames,omitzero"`

	// Former versions of the program wrote these: see former.go.
	Patterns *[]formats.Pattern `json:"patterns,omitzero"`
	Gotchas  *[]formats.Gotcha  `json:"gotchas,omitzero"`
}

// Replaced is a fact with all its versions from now on; none: there is no such fact.
type Replaced struct {
	Category string          `json:"category"`
	Key      string          `json:"key"`
	Versions []*fact.Version `json:"versions,omitempty"`
}

// Opened names the project, in a store's first commit.
type Opened struct {
	Root string `json:"project_root"`
	Hash string `json:"project_hash"`
}

// Confirmation is the most frequent change, so it is written small. The cost of a write must not
// grow with how often a fact was confirmed.
type Confirmation struct {
	Category   string         `json:"category"`
	Key        string         `json:"key"`
	ID         string         `json:"id"`
	Confidence float64        `json:"confidence"` // the version's, from now on
	Source     formats.Source `json:"source"`
	Tags       []string       `json:"tags,omitempty"` // whole lists, when they changed
	Aliases    []string       `json:"aliases,omitempty"`
	Questions  []string       `json:"questions,omitempty"`
	Examples   []string       `json:"examples,omitempty"` // the whole list, when it changed
	Pinned     *bool          `json:"pinned,omitempty"`
	Privacy    string         `json:"privacy,omitempty"`
	Archetype  string         `json:"archetype,omitempty"`

	// Unasked says that nobody asked for it: what nobody has confirmed here stays so.
	Unasked bool `json:"unasked,omitempty"`
}

// NewQuestions gives a version its questions. It is no confirmation.
type NewQuestions struct {
	Category  string    `json:"category"`
	Key       string    `json:"key"`
	ID        string    `json:"id"`
	Questions []string  `json:"questions"`
	At        time.Time `json:"at"`
}

// Author is who makes a commit. It is a commit's first event.
type Author struct {
	By    string    `json:"by,omitempty"`
	Kind  string    `json:"kind"`
	Clock time.Time `json:"clock"`
	Undo  bool      `json:"undo,omitempty"` // the commit takes the author's last one back

	Import string `json:"import,omitempty"` // or the import of this id
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
