package cost

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Receipt says that a tool was called. Empty Agent, Session, Project and At are
// those of the ledger and the clock.
type Receipt struct {
	Tool, Action    string // "ctx_knowledge", "recall"
	Agent           string // an agent's id
	Session         string
	Project         string // 16 hex digits
	In, Out         string // what went in and came out; only counted, never stored
	InSize, OutSize int    // bytes, where the text is not at hand
	At              time.Time
}

// line is a receipt as it is written.
type line struct {
	At        int64  `json:"at"` // Unix milliseconds
	Project   string `json:"p"`
	Session   string `json:"s,omitempty"`
	Agent     string `json:"a,omitempty"`
	Tool      string `json:"t"`
	Action    string `json:"x,omitempty"`
	In        int    `json:"i"` // tokens
	Out       int    `json:"o"`
	BytesIn   int    `json:"bi"`
	BytesOut  int    `json:"bo"`
	Estimated bool   `json:"e,omitempty"`
}

func (r *Receipt) line() line {
	n := line{
		At: r.At.UnixMilli(), Project: clean(r.Project), Session: clean(r.Session), Agent: clean(r.Agent),
		Tool: clean(r.Tool), Action: clean(r.Action), BytesIn: max(r.InSize, len(r.In), 0), BytesOut: max(r.OutSize, len(r.Out), 0),
	}
	n.In, n.Out, n.Estimated = Estimate(n.BytesIn), Estimate(n.BytesOut), n.BytesIn+n.BytesOut > 0
	return n
}

// castagnoli is read only.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (n *line) appendTo(b []byte) []byte {
	body, err := json.Marshal(n)
	if err != nil {
		return b // numbers and strings cannot do this
	}
	return fmt.Appendf(b, "%08x %s\n", crc32.Checksum(body, castagnoli), body)
}

// parseLine reads a line without its line feed; ok is false if it is damaged.
func parseLine(text []byte) (n line, ok bool) {
	const sum = 8
	if len(text) <= sum || text[sum] != ' ' {
		return n, false
	}
	body := text[sum+1:]
	var want [sum]byte
	hex.Encode(want[:], binary.BigEndian.AppendUint32(nil, crc32.Checksum(body, castagnoli)))
	if string(text[:sum]) != string(want[:]) || json.Unmarshal(body, &n) != nil {
		return n, false
	}
	return n, n.In >= 0 && n.Out >= 0 && n.BytesIn >= 0 && n.BytesOut >= 0
}

// parseLines reads the intact lines of a block, of one project if it is named.
func parseLines(data []byte, project string) []line {
	var out []line
	mark, _ := json.Marshal(project)
	for text := range bytes.Lines(data) {
		if project != "" && !bytes.Contains(text, mark) {
			continue // cheaper than decoding it
		}
		if n, ok := parseLine(bytes.TrimSuffix(text, []byte("\n"))); ok && (project == "" || n.Project == project) {
			out = append(out, n)
		}
	}
	return out
}

// maxName is how many bytes of a name are kept.
const maxName = 120

// clean makes a name fit for one line of a report.
func clean(name string) string {
	name = strings.TrimSpace(strings.ToValidUTF8(name, "\uFFFD"))
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, name)
	if len(name) <= maxName {
		return name
	}
	cut := maxName - len("…")
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + "…"
}
