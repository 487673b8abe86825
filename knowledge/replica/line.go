package replica

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
)

// Policy is the version of the rules by which lines are replayed. A change of the rules
// that changes what old lines lead to needs a new one. A line has the first one that replays it right.
const (
	Policy        = policySources
	policyFirst   = 1
	policyNames   = 2 // an erasure has all names of the fact, and the ids of the lines about it
	policyParts   = 3 // the versions of a fact may stand in several lines
	policySources = 4 // so may the sources of a version
)

// Line is one statement of one replica. Which members it has depends on Op.
type Line struct {
	ID   string            `json:"id"`             // replica and number: 9c41e07d-17
	At   time.Time         `json:"at"`             // recorded time at the writer
	Seen map[string]uint64 `json:"seen,omitempty"` // how far its writer had read the others, if that changed since its last line
	By   string            `json:"by,omitempty"`
	Op   string            `json:"op"`

	// Person is the name of the user who speaks. It decides nothing, and former versions leave it out.
	Person string `json:"person,omitempty"`

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
	Examples   []string            `json:"examples,omitempty"`
	Pinned     *bool               `json:"pinned,omitempty"`
	Privacy    string              `json:"privacy,omitempty"`
	Archetype  string              `json:"archetype,omitempty"` // where it was given
	Reason     string              `json:"reason,omitempty"`    // of a retraction; local when the fact stays with its writer

	To       *formats.Name       `json:"to,omitempty"` // of a rename
	Merge    bool                `json:"merge,omitempty"`
	Name     string              `json:"name,omitempty"`    // of an erased fact: the hashed name
	Names    []formerName        `json:"names,omitempty"`   // of an erased fact: those that it had before
	Renamed  *hashedRename       `json:"renamed,omitempty"` // what a renaming that is gone did
	Versions []*formats.Fact     `json:"versions,omitempty"`
	More     bool                `json:"more,omitempty"` // these are further versions of the fact: one line has no room for all
	Rest     bool                `json:"rest,omitempty"` // the first of these is there, and these are further sources of it
	Pattern  *formats.Pattern    `json:"pattern,omitempty"`
	Gotcha   *formats.Gotcha     `json:"gotcha,omitempty"`
	Relation *formats.Relation   `json:"relation,omitempty"`
	Reminder *formats.Reminder   `json:"reminder,omitempty"`
	Pair     *formats.JudgedPair `json:"pair,omitempty"`
	Dispute  *formats.Dispute    `json:"dispute,omitempty"`
	Project  *Project            `json:"project,omitempty"`
	Public   string              `json:"public,omitempty"` // of the first line: the key that verifies the others
	Lines    []string            `json:"lines,omitempty"`  // of an acceptance: the digests of lines of others; of an erasure: the ids of those about the fact

	Redacted string `json:"redacted,omitempty"` // in the copy alone: digest of the line before a secret was taken out of it here; formerly its checksum
	Policy   int    `json:"policy"`

	text       []byte // as it was read or written, with its signature and its checksum
	body       int    // how much of the text is signed, but for the last brace
	sig        []byte // nil: it has none
	digest     string // of what is signed: two lines with the same digest are one
	writer     writer
	seq        uint64
	foreign    bool // another replica wrote it: in the copy alone
	erasedHere bool // the store erased what it said: in the copy alone
	former     bool // a former version took it in: it counts as it did then
	redacted   bool // a secret was taken out of it here: in the copy alone

	// What a fold finds out: see [Folded.part].
	trusted  bool // its writer is
	guards   bool // nobody outside may change what it is about
	own      bool // this store wrote it
	standing standing

	home  bool // it stands in the file of its replica
	fresh bool // it was found in the repository, and is not in the copy yet
	stays bool // it is left out, since it is about what is local here: see [Folded.meetsHome]

	newer *NewerError // what is not known of it

	topics []string // see subjects
	named  bool     // topics is known

	read  reading   // how far its writer had read each replica
	place int       // among the lines of its writer
	all   bool      // its writer had read all lines before it: it is of this store, and new
	order time.Time // At, never before the lines of its replica with lower numbers
}

// formerName is a hashed name of an erased fact, and until when it had the name.
type formerName struct {
	Name  string    `json:"name"`
	Until time.Time `json:"until"`
	By    string    `json:"by,omitempty"` // writer and number of the line that gave the fact another name; empty: none did
}

// hashedRename is a renaming that tells no names.
type hashedRename struct {
	From string `json:"from"`
	To   string `json:"to"`
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

// The members at the end of a line, in this order. Each has a fixed length.
//
// sig is the writer's signature of the line without these members. crc is the checksum of all
// before it. from stands in the copy alone: whether a former version took the line of another
// replica in, or it was erased here, and the fingerprint of the key that verified it, zeros where none did.
const (
	fromMember, fromLen = `,"from":"`, len(`,"from":"-0123456789abcdef"`)
	sigMember, sigLen   = `,"sig":"`, len(`,"sig":""`) + 86
	crcMember, crcLen   = `,"crc":"`, len(`,"crc":"1f83d9ab"}`)
	fromNobody          = "0000000000000000"
	fromFormer          = "f" // before the fingerprint: a former version took the line in
	fromErased          = "e" // what the line said was erased here
	fromRedacted        = "r" // a secret was taken out of it here, so its member redacted is ours
	fromBoth            = "b" // a former version took it in, and a secret was taken out of it here
	fromNow             = "-"
)

// maxLine is the most bytes of a line of a repository. A value has 64 KiB, and a fact some versions.
// maxOwnLine is that of a line in the copy: former versions wrote longer ones.
const (
	maxLine    = 1 << 20
	maxOwnLine = 16 << 20
)

func checksum(text []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)) }

// encode makes the text of a line, with its signature. A line without a key is that of a former
// version, or is left in the copy of another's line.
func (l *Line) encode(key ed25519.PrivateKey) error {
	l.Policy = policyFirst
	if l.Op == opErase || l.Renamed != nil {
		l.Policy = policyNames
	}
	if l.More {
		l.Policy = policyParts
	}
	if l.Rest {
		l.Policy = policySources
	}
	text, err := journal.Encode(l)
	if err != nil {
		return err
	}
	l.text, l.body, l.named = text, len(text)-1, false
	l.digest = digest(text)
	l.sign(key)
	return l.identify()
}

// sign gives the text of a line its last members anew.
func (l *Line) sign(key ed25519.PrivateKey) {
	l.sig = nil
	if key != nil {
		l.sig = ed25519.Sign(key, l.signed())
	}
	l.text = l.tail("")
}

// tail is the text with its last members. from is empty outside the copy.
func (l *Line) tail(from string) []byte {
	text := slices.Clone(l.text[:l.body])
	if from != "" {
		text = append(append(append(text, fromMember...), from...), '"')
	}
	if l.sig != nil {
		text = append(base64.RawStdEncoding.AppendEncode(append(text, sigMember...), l.sig), '"')
	}
	sum := checksum(append(text, '}'))
	return append(text, crcMember+sum+`"}`...)
}

// signed is what the signature is of.
func (l *Line) signed() []byte { return append(slices.Clone(l.text[:l.body]), '}') }

// digest is what an acceptance names a line by: 144 bits of SHA-256 of what is signed.
func digest(signed []byte) string {
	sum := sha256.Sum256(signed)
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// formerCRC is the checksum that the line has without a signature.
func (l *Line) formerCRC() string { return checksum(l.signed()) }

// parse reads a line of a repository. The error is errDamaged, or a [NewerError] with a line of which
// only its writer, its number and its signature are known.
func parse(text []byte) (*Line, error) { return parseLine(text, maxLine, false) }

// parseLine reads a line, which may be one of the copy.
func parseLine(text []byte, most int, copied bool) (*Line, error) {
	n := len(text) - crcLen
	if n < 2 || n > most || !bytes.HasPrefix(text[n:], []byte(crcMember)) || !bytes.HasSuffix(text, []byte(`"}`)) {
		return nil, errDamaged
	}
	sum := crc32.Update(crc32.Checksum(text[:n], castagnoli), castagnoli, []byte("}"))
	if want, err := strconv.ParseUint(string(text[n+8:n+16]), 16, 32); err != nil || uint32(want) != sum {
		return nil, errDamaged
	}
	l := &Line{text: bytes.Clone(text)}
	if i := n - sigLen; i >= 2 && bytes.HasPrefix(text[i:n], []byte(sigMember)) {
		if sig, err := base64.RawStdEncoding.DecodeString(string(text[i+len(sigMember) : n-1])); err == nil && len(sig) == ed25519.SignatureSize {
			l.sig, n = sig, i
		}
	}
	from := ""
	if i := n - fromLen; copied && i >= 2 && bytes.HasPrefix(text[i:n], []byte(fromMember)) {
		from, n = string(text[i+len(fromMember):n-1]), i
	}
	l.body = n
	signed := l.signed()
	l.digest = digest(signed)
	var head struct {
		ID, Op string
		Policy int
	}
	bare := Line{text: l.text, body: l.body, sig: l.sig, digest: l.digest}
	err := formats.Decode(signed, l)
	if err != nil && json.Unmarshal(signed, &head) != nil {
		return nil, errDamaged
	}
	if err != nil {
		bare.ID, bare.Op, bare.Policy = head.ID, head.Op, head.Policy
		l = &bare
	}
	if l.identify() != nil {
		return nil, errDamaged
	}
	if l.foreign = from != ""; l.foreign && from[1:] != fromNobody {
		l.writer.key = from[1:]
	}
	if l.foreign {
		how := from[:1]
		l.former, l.erasedHere, l.redacted = how == fromFormer || how == fromBoth, how == fromErased, how == fromRedacted || how == fromBoth
	}
	if l.redacted && len(l.Redacted) == len(l.digest) {
		l.digest = l.Redacted
	}
	if _, ok := operations[l.Op]; !ok {
		l.newer = &NewerError{l.ID, fmt.Sprintf("operation %.40q", l.Op)}
		return l, l.newer
	}
	if l.Policy > Policy {
		l.newer = &NewerError{l.ID, "policy " + strconv.Itoa(l.Policy)}
		return l, l.newer
	}
	if err != nil || !l.sound() {
		return nil, errDamaged
	}
	return l, nil
}

// lineHead is the replica that a line names, and whether it is signed, without reading it.
func lineHead(text []byte) (id string, signed bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"id":"`))
	if i := len(text) - crcLen - sigLen; ok && len(rest) > 8 {
		id, signed = string(rest[:8]), i > 0 && bytes.HasPrefix(text[i:], []byte(sigMember))
	}
	return id, signed
}

// verified reports whether one of some keys verifies a line, without reading it.
func verified(text []byte, keys []ed25519.PublicKey) bool {
	n := len(text) - crcLen - sigLen
	if n < 2 {
		return false
	}
	sig, err := base64.RawStdEncoding.DecodeString(string(text[n+len(sigMember) : n+sigLen-1]))
	signed := append(slices.Clone(text[:n]), '}')
	return err == nil && slices.ContainsFunc(keys, func(key ed25519.PublicKey) bool { return ed25519.Verify(key, signed, sig) })
}

// identify takes the id apart.
func (l *Line) identify() error {
	replica, number, _ := strings.Cut(l.ID, "-")
	seq, err := strconv.ParseUint(number, 10, 63)
	if err != nil || seq == 0 || !validReplica(replica) {
		return errDamaged
	}
	l.writer.id, l.seq = replica, seq
	return nil
}

func validReplica(id string) bool {
	return len(id) == 8 && strings.Trim(id, "0123456789abcdef") == ""
}

// checked is the assertion of a line.
func (l *Line) checked() knowledge.Checked {
	c := knowledge.Checked{
		Category: l.Category, Key: l.Key, Value: l.Value, Confidence: knowledge.DefaultConfidence, From: l.ValidFrom, Until: l.ValidUntil,
		Correct: l.Correct, Also: l.Also, Replaces: l.Replaces, Tags: l.Tags, Aliases: l.Aliases, Questions: l.Questions, Examples: l.Examples,
		Pinned: l.Pinned, Privacy: l.Privacy, Archetype: l.Archetype, Session: l.Session,
	}
	if l.Confidence != nil {
		c.Confidence = *l.Confidence
	}
	switch l.standing {
	case acceptedByTool, acceptedByUser:
		c.Authority = l.by().Kind // the value is its writer's, and to take it in was for who accepted it
	}
	c.Source = formats.Source{Kind: cmp.Or(l.SourceKind, knowledge.KindAgent), Ref: l.Source, By: l.By, Person: fact.Person(l.Person), Confidence: c.Confidence, Files: l.Files}
	return c
}

// author is who a line says that it is by; empty if it does not say. Anybody can write it.
func (l *Line) author() string { return cmp.Or(fact.Person(l.Person), l.By) }

// gone is what is left of a line about an erased fact: its place in the order, the hashed name, and
// whether a user, a file or a tool said it, so that who erases more is known to have been allowed to.
// A line of this store is signed anew.
func (l *Line) gone(name string, key ed25519.PrivateKey) *Line {
	g := &Line{ID: l.ID, At: l.At, Seen: l.Seen, Op: opGone, Name: name, Renamed: l.renaming(), foreign: l.foreign, writer: l.writer, former: l.former}
	if kind := l.claimedKind(); knowledge.Authority(kind) > knowledge.Authority(knowledge.KindAgent) {
		g.SourceKind = kind
	}
	if l.foreign {
		key = nil
	}
	_ = g.encode(key) // there is nothing in it that cannot be encoded
	return g
}

// renaming is what a line about another name does; nil for any other line.
func (l *Line) renaming() *hashedRename {
	if l.Op == opRename {
		return &hashedRename{hashed(l.fact()), hashed(*l.To)}
	}
	return l.Renamed
}
