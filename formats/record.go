// Package formats reads and writes facts in all their forms: the fact file (native JSON),
// the interchange forms (JSONL, array) and the AAAK briefing. It has no policy.
//
// # The fact file
//
// [Document] is the whole of knowledge.json. Its fields are a superset of those that
// lean-ctx writes, so that program's files parse as they are. Unknown fields are kept in
// Extra and written back, in a fact file and in a journal's commit. Enum values are plain
// strings for the same reason.
//
// encoding/json does not know the tag of Extra. So what holds one of these types is written
// by this package, by Encode of internal/journal, or for an answer by JSON of internal/prose.
//
// The same Document gives the same bytes. Facts are in the order of folded category, folded
// key, valid_from, recorded_from and id. [EncodeNative] has the order of the other lists.
// Equal records keep their order, and so does every list inside a record. Unknown members
// come last, by name.
//
// go-json-experiment/json reads and writes by the struct tags. Its option embed keeps unknown
// members. encoding/json was rejected: it matches names without case and drops unknown members.
// It cannot name the place of a mistake, and takes twice as long.
package formats

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Schema is the version of the fact file, and of a store's files, that this build writes, and the newest
// that it reads. Since version 2 patterns and gotchas are facts: a build that knows only version 1 would
// have each twice.
const Schema = 2

// Unknown is the members of an object that this build does not know, in JSON.
type Unknown = map[string]Raw

// Raw is a value as JSON, nested maxDepth levels at most.
type Raw jsontext.Value

// Source says where one assertion of a fact came from.
type Source struct {
	Kind       string    `json:"kind"`                // user, agent, tool, import
	Ref        string    `json:"ref,omitzero"`        // what the asserter pointed at: a file and line, a URL, an entry
	By         string    `json:"by,omitzero"`         // agent id, or the name of the client
	Person     string    `json:"person,omitzero"`     // the user's name; none: not known
	At         time.Time `json:"at"`                  // recorded time of the assertion
	Confidence float64   `json:"confidence,omitzero"` // 0..1, as given with this assertion
	Replica    string    `json:"replica,omitzero"`    // the replica that it came from through the repository; none: this store's own

	// Files are the project's files that stood behind the assertion, as they were
	// then. A confirmation without a file takes those of the version again.
	Files []FileState `json:"files,omitempty"`

	Extra Unknown `json:",embed"`
}

// FileState is what a file, or some lines of it, was like.
type FileState struct {
	Ref      string    `json:"ref"`      // path in the project, with slashes, and lines: src/auth.ts:12-20
	Checksum string    `json:"checksum"` // sha256 of the lines, its first 16 hex digits
	Size     int64     `json:"size"`     // bytes of the file
	Modified time.Time `json:"modified"`

	Extra Unknown `json:",embed"`
}

// Belief is a valid period as it was held during a recorded period that is
// over. A version whose valid period changed keeps one for each earlier state.
type Belief struct {
	ValidFrom     time.Time  `json:"valid_from"`
	ValidUntil    *time.Time `json:"valid_until"`
	RecordedFrom  time.Time  `json:"recorded_from"`
	RecordedUntil time.Time  `json:"recorded_until"`

	Extra Unknown `json:",embed"`
}

// Fact is one version of a fact: one value under a (category, key).
// All times are UTC; both periods are half-open, nil until means open.
type Fact struct {
	ID                string     `json:"id"`
	Category          string     `json:"category"`
	Key               string     `json:"key"`
	Value             string     `json:"value"`
	SourceSession     string     `json:"source_session"`
	Confidence        float64    `json:"confidence"` // 0..1, as asserted; never decayed in place
	CreatedAt         time.Time  `json:"created_at"`
	LastConfirmed     time.Time  `json:"last_confirmed"`
	RetrievalCount    int        `json:"retrieval_count"`
	LastRetrieved     *time.Time `json:"last_retrieved"`
	ValidFrom         time.Time  `json:"valid_from"`
	ValidUntil        *time.Time `json:"valid_until"`
	Supersedes        Optional   `json:"supersedes"` // id of the version this one took the place of
	ConfirmationCount int        `json:"confirmation_count"`
	FeedbackUp        int        `json:"feedback_up"`
	FeedbackDown      int        `json:"feedback_down"`
	LastFeedback      *time.Time `json:"last_feedback"`
	Privacy           string     `json:"privacy"` // shared, project_only, local; others are kept and read as shared
	ImportedFrom      Optional   `json:"imported_from"`
	TakenIn           bool       `json:"taken_in,omitzero"` // it came with the repository, and nobody has confirmed it here
	Archetype         string     `json:"archetype"`
	RevisionCount     int        `json:"revision_count"`
	RecordedFrom      time.Time  `json:"recorded_from"`
	RecordedUntil     *time.Time `json:"recorded_until"`
	AssertedBy        string     `json:"asserted_by"`
	Sources           []Source   `json:"sources"`
	Tags              []string   `json:"tags"`
	Aliases           []string   `json:"aliases"`
	Questions         []string   `json:"questions,omitempty"`    // that somebody would ask who does not know the value's words
	QuestionsAt       *time.Time `json:"questions_at,omitempty"` // when they were given; nil: with an assertion
	Examples          []string   `json:"examples,omitempty"`     // of a pattern, beside the value
	Also              bool       `json:"also"`                   // one of several values, true beside the others
	RenamedAt         *time.Time `json:"renamed_at,omitempty"`   // when it got its category and key; nil: it always had them
	Pinned            bool       `json:"pinned"`
	ArchivedAt        *time.Time `json:"archived_at"`
	RestoredAt        *time.Time `json:"restored_at,omitempty"` // when it was last brought back into the active set
	Retraction
	Beliefs []Belief `json:"earlier_periods,omitempty"`
	Outcome string   `json:"outcome"` // what the assertion that made it turned out to be

	Extra Unknown `json:",embed"`
}

// Retraction says that a version was taken back, or was given its end. The zero value
// says that it was not.
type Retraction struct {
	RetractedAt     *time.Time `json:"retracted_at,omitempty"`    // recorded time
	RetractedBy     string     `json:"retracted_by,omitempty"`    // who withdrew it; empty: nobody noted it
	RetractedPerson string     `json:"retracted_person,omitzero"` // the name of the user who did
	RetractedReason string     `json:"retracted_reason,omitzero"` // in the words of whoever withdrew it
}

// Pattern is a convention of the project, in the form that it has in a fact file beside the
// facts, and in what former versions wrote. It is a fact of the room pattern: see package fact.
type Pattern struct {
	Type          string    `json:"pattern_type"`
	Description   string    `json:"description"`
	Examples      []string  `json:"examples"`
	Questions     []string  `json:"questions,omitempty"`
	SourceSession string    `json:"source_session"`
	CreatedAt     time.Time `json:"created_at"`
	AssertedBy    string    `json:"asserted_by,omitempty"` // who recorded it last

	Extra Unknown `json:",embed"`
}

// Gotcha is a mistake not to repeat, in the form that it has in a fact file beside the facts, and
// in what former versions wrote. It is a fact of the room gotcha: see package fact.
type Gotcha struct {
	ID          string    `json:"id"`
	Category    string    `json:"category"`
	Severity    string    `json:"severity"` // critical, warning, info
	Trigger     string    `json:"trigger"`
	Resolution  string    `json:"resolution"`
	Questions   []string  `json:"questions,omitempty"`
	Occurrences int       `json:"occurrences"`
	FirstSeen   time.Time `json:"first_seen"`
	LastSeen    time.Time `json:"last_seen"`
	Confidence  float64   `json:"confidence"`
	Source      string    `json:"source"`
	AssertedBy  string    `json:"asserted_by,omitempty"` // who recorded it last

	Extra Unknown `json:",embed"`
}

// Name points at a fact.
type Name struct {
	Category string `json:"category"`
	Key      string `json:"key"`
}

// Relation is a typed, directed link between two facts.
type Relation struct {
	From          RelationEnd `json:"from"`
	To            RelationEnd `json:"to"`
	Kind          string      `json:"kind"`
	CreatedAt     time.Time   `json:"created_at"`
	LastSeen      *time.Time  `json:"last_seen"`
	Count         int         `json:"count"`
	SourceSession string      `json:"source_session"`
	TakenIn       bool        `json:"taken_in,omitzero"`    // it came with the repository, and nobody has confirmed it here
	SourceKind    string      `json:"source_kind,omitzero"` // user: a user made it, or made it again

	Extra Unknown `json:",embed"`
}

// RelationEnd is a fact that a relation begins or ends at. A [Name] alone has no unknown members:
// it must stay comparable.
type RelationEnd struct {
	Name

	Extra Unknown `json:",embed"`
}

// Reminder is prospective memory: a text that surfaces when its trigger is met.
type Reminder struct {
	ID        string     `json:"id"`
	Text      string     `json:"text"`
	Path      string     `json:"path,omitempty"`    // glob
	Keyword   string     `json:"keyword,omitempty"` // a word of a query or task
	Due       *time.Time `json:"due,omitempty"`
	Task      string     `json:"task,omitempty"` // <id>:<State>
	State     string     `json:"state"`          // open, done
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by,omitempty"`
	DoneAt    *time.Time `json:"done_at"`
	TakenIn   bool       `json:"taken_in,omitzero"` // it came with the repository, and nobody has confirmed it here
	Replica   string     `json:"replica,omitempty"` // which other replica it is of; empty: of this store

	Extra Unknown `json:",embed"`
}

// JudgedPair is a verdict on two facts that might have been in conflict.
// KeyA and KeyB are "category/key".
type JudgedPair struct {
	KeyA     string    `json:"key_a"`
	KeyB     string    `json:"key_b"`
	Verdict  string    `json:"verdict"` // supersedes, compatible, unrelated
	JudgedAt time.Time `json:"judged_at"`

	Extra Unknown `json:",embed"`
}

// The states of a [Dispute].
const (
	DisputeOpen     = "open"
	DisputeAccepted = "accepted"
	DisputeRejected = "rejected"
	DisputeClosed   = "closed"  // its value became believed, or its opponent ended
	DisputeRefused  = "refused" // not recorded: too many about one fact are open
)

// Dispute is an assertion that stands against a believed version of a fact and
// had not the authority to replace it.
type Dispute struct {
	ID         string     `json:"id"`
	Category   string     `json:"category"`
	Key        string     `json:"key"`
	Value      string     `json:"value,omitempty"` // of a removal: the one of several values, or the rival's; else all are meant
	Confidence float64    `json:"confidence,omitzero"`
	Source     Source     `json:"source"`
	At         time.Time  `json:"at"`
	ValidFrom  *time.Time `json:"valid_from,omitempty"` // as given
	ValidUntil *time.Time `json:"valid_until,omitempty"`
	Correct    bool       `json:"correct,omitzero"`  // it says that the believed value never was true
	Also       bool       `json:"also,omitzero"`     // it would be true beside the others
	Privacy    string     `json:"privacy,omitzero"`  // as given
	Replaces   string     `json:"replaces,omitzero"` // the value, of several, that it would take the place of; * for all
	Removal    bool       `json:"removal,omitzero"`  // it says that the fact is no longer true, from ValidUntil on if that is given
	Rename     *Name      `json:"rename,omitempty"`  // it says that the fact should go by this name
	Reason     string     `json:"reason,omitzero"`   // of a removal: why, as given
	Merge      bool       `json:"merge,omitzero"`    // of a rename: also if there is a fact of that name
	Rival      *Name      `json:"rival,omitempty"`   // of a removal: the fact that has Value, which contradicts or supersedes this one
	Against    string     `json:"against"`           // id of the believed version
	State      string     `json:"state"`             // open, accepted, rejected, closed
	Settled    *Source    `json:"settled,omitempty"` // who judged it and when

	Extra Unknown `json:",embed"`
}

// Insight is a note in the store's own log: an import, a consolidation, a
// maintenance pass.
type Insight struct {
	Summary      string    `json:"summary"`
	FromSessions []string  `json:"from_sessions"`
	Timestamp    time.Time `json:"timestamp"`
	Kind         string    `json:"kind,omitempty"` // import, consolidate, maintenance

	Extra Unknown `json:",embed"`
}

// Tombstone remembers that a fact was erased, without its value.
type Tombstone struct {
	Category string    `json:"category"`
	Key      string    `json:"key"`
	ErasedAt time.Time `json:"erased_at"`

	Names    []FormerName `json:"names,omitempty"`    // that it had before
	Versions []string     `json:"versions,omitempty"` // the ids of what was erased
	TakenIn  bool         `json:"taken_in,omitzero"`  // it came with the repository: it keeps nobody here from using the name

	Extra Unknown `json:",embed"`
}

// FormerName is a hashed name that an erased fact had, and until when it had it.
type FormerName struct {
	Name  string    `json:"name"`
	Until time.Time `json:"until"`
}

// Document is a whole fact file. Seq, Generation and RecordedAt belong to the
// store that wrote it and are left out of an export.
type Document struct {
	Schema      int       `json:"schema"`
	ProjectRoot string    `json:"project_root"`
	ProjectHash string    `json:"project_hash"`
	UpdatedAt   time.Time `json:"updated_at"`
	Checksum    string    `json:"checksum"` // crc32 (Castagnoli, 8 hex digits) of the file with this field's digits as 0
	Seq         uint64    `json:"seq,omitzero"`
	Generation  uint64    `json:"generation,omitzero"`

	Facts       []*Fact      `json:"facts"`
	Patterns    []Pattern    `json:"patterns"`
	Gotchas     []Gotcha     `json:"gotchas"`
	Relations   []Relation   `json:"relations"`
	Reminders   []Reminder   `json:"reminders"`
	JudgedPairs []JudgedPair `json:"judged_pairs"`
	Disputes    []Dispute    `json:"disputes,omitempty"`
	History     []Insight    `json:"history"`
	Tombstones  []Tombstone  `json:"tombstones,omitempty"`
	Renames     []Rename     `json:"renames,omitempty"`      // which fact had which name, and until when
	Commits     []Commit     `json:"last_commits,omitempty"` // the last one of each author, for a day
	Replica     *Replica     `json:"replica,omitempty"`      // nil: nothing is shared through the repository

	Extra Unknown `json:",embed"`
}

// Commit is an author's last commit, with what is needed to take it back.
type Commit struct {
	By      string    `json:"by,omitempty"`
	Kind    string    `json:"kind"`  // of the author, as in a [Source]
	At      time.Time `json:"at"`    // recorded time
	Clock   time.Time `json:"clock"` // the wall clock then
	Undo    bool      `json:"undo,omitzero"`
	Import  string    `json:"import,omitempty"`  // the id of the import that it is: i-…
	Final   string    `json:"final,omitempty"`   // why it cannot be taken back; empty: it can
	BuiltOn bool      `json:"built_on,omitzero"` // a later commit changed some of it
	Touched []string  `json:"touched,omitempty"`

	// What there was before, and the ids of versions that there were not.
	Facts     []*Fact    `json:"facts,omitempty"`
	Made      []string   `json:"made,omitempty"`
	Relations []Relation `json:"relations,omitempty"`
	Reminders []Reminder `json:"reminders,omitempty"`
	Disputes  []Dispute  `json:"disputes,omitempty"`
	Renamed   *Rename    `json:"renamed,omitempty"`
}

// Replica is a store that shares its facts through the repository.
type Replica struct {
	ID     string            `json:"id"`               // random, 8 hex digits
	Former []string          `json:"former,omitempty"` // ids it had before
	Seq    uint64            `json:"seq"`              // number of its last line
	Seen   map[string]uint64 `json:"seen"`             // number of the last line it has read, by replica
	At     time.Time         `json:"at"`               // the latest time of a line it knows
	Lines  int               `json:"lines"`            // how many lines its state is made of
	Commit uint64            `json:"commit"`           // the store's commit that made it so
	Synced time.Time         `json:"synced"`           // when that was

	Key     string           `json:"key,omitempty"`     // the public key of its lines, base64; none: a former version wrote them
	Trusted []TrustedReplica `json:"trusted,omitempty"` // whose lines count like its own
	Refold  bool             `json:"refold,omitzero"`   // they changed since the last sync
}

// TrustedReplica is a replica that a person named as trusted.
type TrustedReplica struct {
	ID   string    `json:"id"`
	Key  string    `json:"key"` // public, base64
	Name string    `json:"name,omitempty"`
	At   time.Time `json:"at"`
}

// Rename gives a fact another name, with its whole history. What is linked to it
// follows. If there is a fact of that name already, the two become one.
type Rename struct {
	From Name      `json:"old_name"`
	To   Name      `json:"new_name"`
	At   time.Time `json:"at"`
	// ByRoom says that an archetype which the former room told is told by the new one. Former versions left it as it was.
	ByRoom bool `json:"archetype_by_room,omitzero"`
}

// Record is one asserted fact of an interchange file (JSONL, array).
type Record struct {
	Category      string     `json:"category"`
	Key           string     `json:"key"`
	Value         string     `json:"value"`
	Confidence    *float64   `json:"confidence,omitempty"`
	Source        string     `json:"source,omitempty"`
	ValidFrom     *time.Time `json:"valid_from,omitempty"`
	ValidUntil    *time.Time `json:"valid_until,omitempty"`
	Confirmations int        `json:"confirmations,omitzero"`
	Timestamp     *time.Time `json:"timestamp,omitempty"`
	Privacy       string     `json:"privacy,omitempty"` // left out: shared
	Tags          []string   `json:"tags,omitempty"`
	Questions     string     `json:"questions,omitempty"` // divided by ;
	Examples      []string   `json:"examples,omitempty"`  // of a pattern
	Also          bool       `json:"also,omitzero"`       // true beside the other values of the key
}
