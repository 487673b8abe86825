package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"time"

	fastjson "github.com/go-json-experiment/json"
)

// # Files
//
// For a log with the name "knowledge":
//
//	knowledge.json              S       the snapshot: the state at commit N
//	knowledge.json.prev         S.prev  the snapshot before, at commit M ≤ N
//	knowledge.json.new          S.new   a snapshot being written
//	knowledge.json.fetched              a snapshot of a remote log being installed; see remotesnapshot.go
//	knowledge.journal           J       the commits since N (or since some B ≤ N)
//	knowledge.journal.prev      J.prev  the commits since M
//	knowledge.journal.new       J.new   a journal being written
//	knowledge.head                      the last commit that was answered; see [witness]
//	knowledge.doubt                     commits that a remote log may have or not; see remote.go
//	knowledge.lock                      held by the process that writes J or switches files
//	knowledge.compact.lock              held by the process that writes S.new
//	knowledge.journal.torn              torn writes that were cut off, one after another
//	knowledge.journal.corrupt-<time>    a damaged journal, set aside whole; knowledge.json.corrupt-<time> likewise
//	knowledge.json.rescued-<time>       a state that a process had in memory when its commits vanished from the files
//
// Directories have mode 0700, files 0600. Nothing is made before the first
// Update. Lock files are never removed.
//
// # The journal
//
// A line is a CRC-32C (Castagnoli) in eight hex digits, a space, JSON, and a
// line feed. The checksum is that of the JSON. The first line is the header:
//
//	9d1f03aa {"journal":1,"schema":1,"generation":3,"base":1200,"prev":"5be0cd19","at":"…","repairs":0}
//
// Every other line is one commit, all of its events or none:
//
//	1f83d9ab {"seq":1201,"prev":"5be0cd19","at":"2026-03-20T09:30:00.000000001Z","events":[…]}
//
//   - seq counts commits from 1 without a gap. at is the recorded time. It
//     strictly increases: max(clock, last + 1 ns).
//   - prev is the checksum of the commit before, "00000000" for the first. Two
//     commits with the same seq and checksum therefore have the same history.
//   - base is the commit after which the file begins. Commits up to base are in
//     the snapshot. After a crash in a compaction, some later ones are too.
//   - generation counts how often the journal was rewritten. repairs counts the
//     rewrites in which a commit was lost.
//   - {"seq":1207,"prev":"…","lost":true} takes the place of a lost commit.
//   - {"sum":"…","seq":1208,…} is a commit of a remote log without its secrets; see [original].
//
// # The snapshot
//
// One JSON object, written by [Machine.Encode]. Its first member is "schema". "checksum" is the
// CRC-32C of the file with its own eight digits as zeros. It is in the first 64 KiB. "seq",
// "generation" and "updated_at" are scalars before the first list or object. A reader checks
// the schema first and refuses a newer one with [ErrNewer], whatever else is wrong with the
// file. Then it checks the checksum, and then it decodes the document. A JSON object with neither
// "schema" in front nor a checksum is another program's: [ErrForeign]. Nothing in its directory
// is ever written.

// castagnoli is read only; its checksum is computed by the processor.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

func hexSum(sum uint32) string { return fmt.Sprintf("%08x", sum) }

// format is the version of the journal's own layout.
const format = 1

// header is the first line of a journal.
type header struct {
	Journal    int       `json:"journal"`
	Schema     int       `json:"schema"`
	Generation uint64    `json:"generation"`
	Base       uint64    `json:"base"` // the commits after this one are in the file
	Prev       string    `json:"prev"` // checksum of commit Base
	At         time.Time `json:"at"`   // recorded time of commit Base
	Repairs    int       `json:"repairs"`
	Remote     string    `json:"remote,omitempty"` // the log of several machines that this is a copy of
	Left       uint64    `json:"left,omitempty"`   // the last commit of such a copy that is an ordinary log now
}

func (h header) prev() uint32 {
	sum, _ := parseSum([]byte(h.Prev))
	return sum
}

func (h header) line() line { return jsonLine(h) }

// jsonLine is a line of JSON that is no commit.
func jsonLine(v any) line {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // only a year beyond 9999 could do this, and commits refuse it first
	}
	return line{sum: checksum(body), body: body}
}

// line is one line whose checksum is right.
type line struct {
	off  int64  // where it begins
	sum  uint32 // its checksum; of a redacted commit, that of the original
	body []byte // the JSON
	seq  uint64
	prev uint32
	lost bool

	redacted bool   // see [original]
	own      uint32 // the checksum of body, if it is redacted
}

// written is the checksum that the line has in a file.
func (l line) written() uint32 {
	if l.redacted {
		return l.own
	}
	return l.sum
}

// appendTo appends the line in the form that it has in a file.
func (l line) appendTo(b []byte) []byte {
	b = fmt.Appendf(b, "%08x ", l.written())
	b = append(b, l.body...)
	return append(b, '\n')
}

// size is how many bytes the line takes in a file.
func (l line) size() int64 { return int64(sumLen + 1 + len(l.body) + 1) }

// commitLine is the line of a commit. seq and prev come first, so that they can be
// read without decoding the events.
func commitLine(seq uint64, prev uint32, at time.Time, events any) (line, error) {
	recorded, err := Encode(at)
	if err != nil {
		return line{}, fmt.Errorf("recorded time: %w", err)
	}
	var text bytes.Buffer // the events of an import may take a gigabyte, so they are written here once
	fmt.Fprintf(&text, `{"seq":%d,"prev":"%08x","at":%s,"events":`, seq, prev, recorded)
	if err := fastjson.MarshalWrite(&text, events, encoding); err != nil {
		return line{}, fmt.Errorf("events: %w", err)
	}
	text.WriteByte('}')
	body := text.Bytes()
	return line{sum: checksum(body), body: body, seq: seq, prev: prev}, nil
}

// lostLine is the placeholder of a commit that is damaged beyond reading.
func lostLine(seq uint64, prev uint32) line {
	l := jsonLine(link{Seq: seq, Prev: hexSum(prev), Lost: true})
	l.seq, l.prev, l.lost = seq, prev, true
	return l
}

// sumLen is the length of a checksum in hex; a line's JSON begins one further.
const sumLen = 8

func parseSum(b []byte) (uint32, bool) {
	if len(b) != sumLen || bytes.ContainsAny(b, "ABCDEF") { // as we write them, so that any flipped bit shows
		return 0, false
	}
	sum, err := strconv.ParseUint(string(b), 16, 32)
	return uint32(sum), err == nil
}

// parseLine checks a line given without its line feed.
func parseLine(text []byte, off int64) (line, bool) {
	if len(text) < sumLen+3 || text[sumLen] != ' ' {
		return line{}, false
	}
	sum, ok := parseSum(text[:sumLen])
	body := text[sumLen+1:]
	if !ok || checksum(body) != sum {
		return line{}, false
	}
	return line{off: off, sum: sum, body: body}, true
}

// link is what a line says about its place in the chain of commits.
type link struct {
	Seq   uint64 `json:"seq"`
	Prev  string `json:"prev"`
	Lost  bool   `json:"lost,omitempty"`
	Place uint64 `json:"place,omitempty"` // in a witness only
}

// parseCommit reads the place of a commit, not its events.
func parseCommit(l line) (line, bool) {
	var at link
	text := l.body
	if before, _, ok := bytes.Cut(text, []byte(`,"events":`)); ok { // quotes in a string are escaped
		text = append(before[:len(before):len(before)], '}')
	}
	if DecodeDocument(text, &at) != nil || at.Seq == 0 {
		return line{}, false
	}
	l.seq, l.lost = at.Seq, at.Lost
	l.prev, _ = parseSum([]byte(at.Prev))
	return l, true
}

// The witness is the one line of knowledge.head. It names the last commit that was
// acknowledged:
//
//	8a2f5c01 {"seq":1207,"prev":"1f83d9ab"}
//
// Here prev is that commit's own checksum. The file is written under the lock after each
// commit, without an fsync. It is read before the journal, so an intact journal always has its
// commit. If it has not, the journal was cut at a line end, emptied, deleted, or replaced by
// another copy. A file that cannot be parsed is no witness.
type witness struct {
	seq   uint64
	sum   uint32
	place uint64 // of the commit in the remote log, if there is one
}

func (w witness) text() []byte {
	return jsonLine(link{Seq: w.seq, Prev: hexSum(w.sum), Place: w.place}).appendTo(nil)
}

// parseWitness returns the zero witness, which every journal satisfies, if text
// is none.
func parseWitness(text []byte) (w witness) {
	text, _, _ = bytes.Cut(text, []byte("\n"))
	var at link
	if l, ok := parseLine(text, 0); ok && json.Unmarshal(l.body, &at) == nil {
		w.seq, w.place = at.Seq, at.Place
		w.sum, _ = parseSum([]byte(at.Prev))
	}
	return w
}

// content is what a journal file, or a part of one, holds.
type content struct {
	head     header
	headLine line
	hasHead  bool
	claim    header // what a damaged header seems to contain
	lines    []line // intact commits in the order of the file
	bad      int    // whole lines that are damaged
	badTail  int    // of these, the ones after the last intact line
	whole    int64  // offset after the last line feed
	torn     []byte // what follows it
}

// scan reads lines. base is the offset of data in the file; at 0 the first
// line is the header.
func scan(data []byte, base int64) content {
	c := content{whole: base}
	for {
		n := bytes.IndexByte(data, '\n')
		if n < 0 {
			c.torn = data
			return c
		}
		c.take(data[:n], c.whole)
		c.whole += int64(n) + 1
		data = data[n+1:]
	}
}

func (c *content) take(text []byte, off int64) {
	l, ok := parseLine(text, off)
	if !ok {
		c.salvage(text, off)
	} else if !c.add(l) {
		c.bad++
		c.badTail++
	}
}

// add takes an intact line for the header, if it is the first, or a commit.
func (c *content) add(l line) bool {
	if l.off == 0 && bytes.HasPrefix(l.body, []byte(`{"journal":`)) && json.Unmarshal(l.body, &c.head) == nil {
		c.headLine, c.hasHead = l, true
		return true
	}
	l, ok := parseCommit(asRedacted(l))
	if ok {
		c.lines = append(c.lines, l)
		c.badTail = 0
	}
	return ok
}

// salvage looks for intact lines inside a damaged one. If only the line feed
// between two lines was hit, both can still be read: the JSON shows where the
// first one ends.
func (c *content) salvage(text []byte, off int64) {
	c.bad++
	for len(text) > 0 {
		n := 0
		if len(text) > sumLen+1 {
			n = jsonLen(text[sumLen+1:])
		}
		end := min(sumLen+1+n, len(text))
		if l, ok := parseLine(text[:end], off); !ok || !c.add(l) {
			break
		}
		next := min(end+1, len(text)) // past what was the line feed
		text, off = text[next:], off+int64(next)
	}
	switch {
	case len(text) == 0:
	case off > 0:
		c.badTail++
	case len(text) > sumLen: // the header is no commit, and may still say that a newer program wrote it
		_ = json.Unmarshal(text[sumLen+1:], &c.claim) // damaged: mostly it is no JSON
		_, rest, _ := bytes.Cut(text, []byte(`"remote":"`))
		if name, _, ok := bytes.Cut(rest, []byte(`"`)); ok {
			c.claim.Remote = string(name)
		}
	}
}

// jsonLen is the length of the JSON value that text begins with, 0 if there is none.
func jsonLen(text []byte) int {
	dec := json.NewDecoder(bytes.NewReader(text))
	var v json.RawMessage
	if dec.Decode(&v) != nil {
		return 0
	}
	return int(dec.InputOffset())
}

// has reports whether a journal has the commit of a head, or begins after it.
func (c content) has(at Head) bool {
	if c.hasHead && c.head.Base == at.Seq && c.head.prev() == at.Sum {
		return true
	}
	return slices.ContainsFunc(c.lines, func(l line) bool { return l.is(at) })
}

// is reports whether a line is the commit of a head.
func (l line) is(at Head) bool { return l.seq == at.Seq && l.sum == at.Sum && !l.lost }

// after returns the lines whose commits come after seq.
func after(lines []line, seq uint64) []line {
	return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.seq <= seq })
}

// union sorts the commits of two journals. Where both have one, the first wins
// unless it lost it.
func union(a, b []line) []line {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y line) int {
		if c := cmp.Compare(x.seq, y.seq); c != 0 || x.lost == y.lost {
			return c
		}
		if x.lost {
			return 1
		}
		return -1
	})
	return slices.CompactFunc(all, func(x, y line) bool { return x.seq == y.seq })
}

func lastSeq(lines []line) uint64 {
	if len(lines) == 0 {
		return 0
	}
	return lines[len(lines)-1].seq
}
