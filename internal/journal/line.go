package journal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"time"
)

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
}

func (h header) prev() uint32 {
	sum, _ := parseSum([]byte(h.Prev))
	return sum
}

func (h header) line() line {
	body, err := json.Marshal(h)
	if err != nil {
		panic(err) // only a year beyond 9999 could do this, and commits refuse it first
	}
	return line{sum: checksum(body), body: body}
}

// line is one line whose checksum is right.
type line struct {
	off  int64  // where it begins
	sum  uint32 // its checksum
	body []byte // the JSON
	seq  uint64
	prev uint32
	lost bool
}

// appendTo appends the line as it stands in a file.
func (l line) appendTo(b []byte) []byte {
	var sum [4]byte
	sum[0], sum[1], sum[2], sum[3] = byte(l.sum>>24), byte(l.sum>>16), byte(l.sum>>8), byte(l.sum)
	b = hex.AppendEncode(b, sum[:])
	b = append(b, ' ')
	b = append(b, l.body...)
	return append(b, '\n')
}

// commitLine is the line of a commit. Its first members stand in this order
// so that seq and prev can be read without decoding the events.
func commitLine(seq uint64, prev uint32, at time.Time, events any) (line, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"seq":%d,"prev":"%08x","at":`, seq, prev)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(at); err != nil {
		return line{}, fmt.Errorf("recorded time: %w", err)
	}
	b.Truncate(b.Len() - 1) // the encoder's line feed
	b.WriteString(`,"events":`)
	if err := enc.Encode(events); err != nil {
		return line{}, fmt.Errorf("events: %w", err)
	}
	b.Truncate(b.Len() - 1)
	b.WriteByte('}')
	return line{sum: checksum(b.Bytes()), body: b.Bytes(), seq: seq, prev: prev}, nil
}

// lostLine stands for a commit that is damaged beyond reading.
func lostLine(seq uint64, prev uint32) line {
	body := fmt.Appendf(nil, `{"seq":%d,"prev":"%08x","lost":true}`, seq, prev)
	return line{sum: checksum(body), body: body, seq: seq, prev: prev, lost: true}
}

// sumLen is the length of a checksum in hex; a line's JSON begins one further.
const sumLen = 8

func parseSum(b []byte) (uint32, bool) {
	var sum [4]byte
	if len(b) != sumLen || bytes.ContainsAny(b, "ABCDEF") { // as we write them, so that any flipped bit shows
		return 0, false
	}
	if _, err := hex.Decode(sum[:], b); err != nil {
		return 0, false
	}
	return uint32(sum[0])<<24 | uint32(sum[1])<<16 | uint32(sum[2])<<8 | uint32(sum[3]), true
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

// parseCommit reads seq, prev and lost of a commit line, not its events.
func parseCommit(l line) (line, bool) {
	if c, ok := parseCommitFast(l); ok {
		return c, true
	}
	var c struct {
		Seq  uint64 `json:"seq"`
		Prev string `json:"prev"`
		Lost bool   `json:"lost"`
	}
	if json.Unmarshal(l.body, &c) != nil || c.Seq == 0 {
		return line{}, false
	}
	l.seq, l.lost = c.Seq, c.Lost
	l.prev, _ = parseSum([]byte(c.Prev))
	return l, true
}

// parseCommitFast does it for lines exactly as commitLine and lostLine make them.
func parseCommitFast(l line) (line, bool) {
	rest, ok := bytes.CutPrefix(l.body, []byte(`{"seq":`))
	digits, rest, comma := bytes.Cut(rest[:min(len(rest), 64)], []byte(`,"prev":"`))
	if !ok || !comma || len(rest) <= sumLen {
		return l, false
	}
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	prev, isSum := parseSum(rest[:sumLen])
	l.seq, l.prev = seq, prev
	l.lost = bytes.Equal(rest[sumLen:], []byte(`","lost":true}`))
	known := l.lost || bytes.HasPrefix(rest[sumLen:], []byte(`","at":`))
	return l, err == nil && seq > 0 && isSum && known
}

// content is what a journal file, or a part of one, holds.
type content struct {
	head     header
	headLine line
	hasHead  bool
	claim    header // what a damaged header seems to say
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
	} else if !c.takeLine(l) {
		c.bad++
		c.badTail++
	}
}

func (c *content) takeHeader(l line) bool {
	if !bytes.HasPrefix(l.body, []byte(`{"journal":`)) || json.Unmarshal(l.body, &c.head) != nil {
		return false
	}
	c.headLine, c.hasHead = l, true
	return true
}

// salvage looks for intact lines inside a damaged one: when only the line feed
// between two of them was hit, both can still be read. The JSON tells where the
// first ends.
func (c *content) salvage(text []byte, off int64) {
	c.bad++
	for len(text) > 0 {
		n := 0
		if len(text) > sumLen+1 {
			n = jsonLen(text[sumLen+1:])
		}
		end := min(sumLen+1+n, len(text))
		if l, ok := parseLine(text[:end], off); !ok || !c.takeLine(l) {
			c.giveUp(text, off)
			return
		}
		next := min(end+1, len(text)) // past what once was the line feed
		text, off = text[next:], off+int64(next)
	}
}

// giveUp counts a damaged line. If it is the header it is no commit, and may
// still tell that a newer program wrote it.
func (c *content) giveUp(text []byte, off int64) {
	if off > 0 {
		c.badTail++
	} else if len(text) > sumLen {
		_ = json.Unmarshal(text[sumLen+1:], &c.claim) // damaged: mostly it is no JSON
	}
}

func (c *content) takeLine(l line) bool {
	if l.off == 0 && c.takeHeader(l) {
		return true
	}
	l, ok := parseCommit(l)
	if ok {
		c.lines = append(c.lines, l)
		c.badTail = 0
	}
	return ok
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

// after returns the lines whose commits come after seq.
func after(lines []line, seq uint64) []line {
	return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.seq <= seq })
}
