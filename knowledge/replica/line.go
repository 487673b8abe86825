package replica

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge"
)

// Policy is the version of the rules by which lines are replayed. A change of the rules
// that changes what old lines lead to needs a new one.
const Policy = 1

// Line is one statement of one replica. Which members it has depends on Op.
type Line struct {
	ID   string            `json:"id"`             // replica and number: 9c41e07d-17
	At   time.Time         `json:"at"`             // recorded time at the writer
	Seen map[string]uint64 `json:"seen,omitempty"` // how far its writer had read the others, if that changed since its last line
	By   string            `json:"by,omitempty"`
	Op   string            `json:"op"`

	Category   string              `json:"category,omitempty"`
	Key        string              `json:"key,omitempty"`
	Value      string              `json:"value,omitempty"`
	Confidence *float64            `json:"confidence,omitempty"`
	ValidFrom  *time.Time          `json:"valid_from,omitempty"`
	ValidUntil *time.Time          `json:"valid_until,omitempty"`
	Correct    bool                `json:"correct,omitempty"`
	Also       bool                `json:"also,omitempty"`
	Replaces   string              `json:"replaces,omitempty"`
	Source     string              `json:"source,omitempty"`
	SourceKind string              `json:"source_kind,omitempty"`
	Files      []formats.FileState `json:"files,omitempty"`
	Session    string              `json:"session,omitempty"`
	Tags       []string            `json:"tags,omitempty"`
	Aliases    []string            `json:"aliases,omitempty"`
	Questions  []string            `json:"questions,omitempty"`
	Pinned     *bool               `json:"pinned,omitempty"`
	Privacy    string              `json:"privacy,omitempty"`
	Reason     string              `json:"reason,omitempty"` // of a retraction; local when the fact stays with its writer

	To       *formats.Name       `json:"to,omitempty"` // of a rename
	Merge    bool                `json:"merge,omitempty"`
	Name     string              `json:"name,omitempty"` // of an erased fact: the hashed name
	Versions []*formats.Fact     `json:"versions,omitempty"`
	Pattern  *formats.Pattern    `json:"pattern,omitempty"`
	Gotcha   *formats.Gotcha     `json:"gotcha,omitempty"`
	Relation *formats.Relation   `json:"relation,omitempty"`
	Reminder *formats.Reminder   `json:"reminder,omitempty"`
	Pair     *formats.JudgedPair `json:"pair,omitempty"`
	Dispute  *formats.Dispute    `json:"dispute,omitempty"`
	Project  *Project            `json:"project,omitempty"`

	Redacted string `json:"redacted,omitempty"` // checksum of the line before a secret was taken out of it here
	Policy   int    `json:"policy"`
	CRC      string `json:"crc,omitempty"` // crc32 (Castagnoli) of the line without this member

	text    []byte // as it was read or written
	replica string
	seq     uint64
	vector  map[string]uint64 // how far its writer had read each replica
	all     bool              // its writer had read all lines before it: it is of this store, and new
	order   time.Time         // At, never before the lines of its replica with lower numbers
}

// Project is how a project is recognised in its clones.
type Project struct {
	FirstCommits []string `json:"first_commits,omitempty"`
	Remote       string   `json:"remote,omitempty"`
}

func (p Project) empty() bool { return len(p.FirstCommits) == 0 && p.Remote == "" }

// NewerError says that a line is of a newer version of the program. Then nothing is
// taken in: what the line leads to is not known.
type NewerError struct{ ID, What string }

func (e *NewerError) Error() string {
	return fmt.Sprintf("line %s is of a newer version (%s): update lean-ctx; nothing was changed", e.ID, e.What)
}

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errDamaged = errors.New("is damaged")
)

// sumLen is the length of ,"crc":"1f83d9ab"} at the end of a line.
const sumLen = 18

// maxLine is the most bytes of a line. A value has 64 KiB, and a fact some versions.
const maxLine = 16 << 20

func checksum(text []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)) }

// encode makes the text of a line, with its checksum.
func (l *Line) encode() error {
	l.CRC, l.Policy = "", Policy
	text, err := journal.Encode(l)
	if err != nil {
		return err
	}
	l.CRC = checksum(text)
	l.text = append(text[:len(text)-1], `,"crc":"`+l.CRC+`"}`...)
	return l.identify()
}

// parse reads a line. The error is errDamaged, or a [NewerError].
func parse(text []byte) (*Line, error) {
	n := len(text) - sumLen
	if n < 2 || n > maxLine || !bytes.HasPrefix(text[n:], []byte(`,"crc":"`)) || !bytes.HasSuffix(text, []byte(`"}`)) {
		return nil, errDamaged
	}
	sum := crc32.Update(crc32.Checksum(text[:n], castagnoli), castagnoli, []byte("}"))
	if want, err := strconv.ParseUint(string(text[n+8:n+16]), 16, 32); err != nil || uint32(want) != sum {
		return nil, errDamaged
	}
	var head struct {
		ID, Op string
		Policy int
	}
	l := &Line{text: bytes.Clone(text)}
	err := formats.Decode(text, l)
	if err != nil && json.Unmarshal(text, &head) != nil {
		return nil, errDamaged
	}
	if err != nil {
		l = &Line{ID: head.ID, Op: head.Op, Policy: head.Policy, text: l.text}
	}
	if l.identify() != nil {
		return nil, errDamaged
	}
	if _, ok := operations[l.Op]; !ok {
		return nil, &NewerError{l.ID, fmt.Sprintf("operation %.40q", l.Op)}
	}
	if l.Policy > Policy {
		return nil, &NewerError{l.ID, "policy " + strconv.Itoa(l.Policy)}
	}
	if err != nil || !l.sound() {
		return nil, errDamaged
	}
	return l, nil
}

// identify takes the id apart.
func (l *Line) identify() error {
	replica, number, _ := strings.Cut(l.ID, "-")
	seq, err := strconv.ParseUint(number, 10, 63)
	if err != nil || seq == 0 || !validReplica(replica) {
		return errDamaged
	}
	l.replica, l.seq = replica, seq
	return nil
}

func validReplica(id string) bool {
	return len(id) == 8 && strings.Trim(id, "0123456789abcdef") == ""
}

// checked is the assertion of a line.
func (l *Line) checked() knowledge.Checked {
	c := knowledge.Checked{
		Category: l.Category, Key: l.Key, Value: l.Value, Confidence: 0.8, From: l.ValidFrom, Until: l.ValidUntil,
		Correct: l.Correct, Also: l.Also, Replaces: l.Replaces, Tags: l.Tags, Aliases: l.Aliases, Questions: l.Questions,
		Pinned: l.Pinned, Privacy: l.Privacy, Session: l.Session,
	}
	if l.Confidence != nil {
		c.Confidence = *l.Confidence
	}
	c.Source = formats.Source{Kind: cmp.Or(l.SourceKind, knowledge.KindAgent), Ref: l.Source, By: l.By, Confidence: c.Confidence, Files: l.Files}
	return c
}

// gone is what is left of a line about an erased fact: its place in the order, and the
// hashed name.
func (l *Line) gone(name string) *Line {
	g := &Line{ID: l.ID, At: l.At, Seen: l.Seen, Op: opGone, Name: name}
	_ = g.encode() // there is nothing in it that cannot be encoded
	return g
}
