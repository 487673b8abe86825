package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"time"

	fastjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Header is what a snapshot says about itself. A machine may embed it as the first
// member of its document.
type Header struct {
	Schema     int       `json:"schema"`
	At         time.Time `json:"updated_at,omitzero"` // recorded time of commit Seq
	Checksum   string    `json:"checksum"`            // "00000000" for Encode; the journal then writes the true one over it
	Seq        uint64    `json:"seq"`                 // the last commit it includes
	Generation uint64    `json:"generation"`          // how many times the journal was rewritten
}

// EncodeDocument writes a document as [Machine.Encode] is to: indented, a member a line.
func EncodeDocument(w io.Writer, document any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(document)
}

// Encode writes a value as a commit has its events: compact, an empty list as [], with the
// members of an embedded map. encoding/json would leave those out. A string has one form, also in
// such a member, however it was escaped where it came from.
func Encode(value any) ([]byte, error) {
	return fastjson.Marshal(value, encoding)
}

// encoding is that of [Encode].
var encoding = fastjson.JoinOptions(jsonv1.OmitEmptyWithLegacySemantics(true), fastjson.Deterministic(true),
	jsontext.EscapeForJS(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// DecodeDocument reads what [EncodeDocument] or [Encode] wrote, in a third of the time that
// encoding/json takes: a command that counts unread messages reads all of them.
func DecodeDocument(data []byte, document any) error {
	return fastjson.Unmarshal(data, document, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

const (
	noChecksum  = "00000000"
	sumMember   = `"checksum": "`
	sumSearched = 64 << 10 // bytes at the start of a snapshot that contain the checksum
)

// snapshot is one that was read, good or not.
type snapshot struct {
	name string
	head Header
	data []byte
	good bool
}

// readSnapshot reads and checks a snapshot; nil if there is none. Damage is no
// error, but a newer schema and another program's file are.
func (d *directory) readSnapshot(name string) (*snapshot, error) {
	f, err := d.open(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &snapshot{name: name}
	if s.data, err = f.readAll(); err != nil {
		return nil, err
	}
	var ours bool
	s.head, ours = sniff(s.data)
	if ours && s.head.Schema > d.o.Schema {
		return nil, d.errorf(name, ErrNewer, "its schema is %d, this program knows %d; install a newer one", s.head.Schema, d.o.Schema)
	}
	at := checksumAt(s.data)
	if !ours && at < 0 && isObject(s.data) {
		return nil, d.errorf(name, ErrForeign, "it has no schema; it is left as it is")
	}
	s.good = ours && hasChecksum(s.data)
	return s, nil
}

// hasChecksum reports whether a snapshot has the checksum that it says.
func hasChecksum(data []byte) bool {
	at := checksumAt(data)
	return at >= 0 && sumWithout(data, at) == string(data[at:at+sumLen])
}

// sniff reads the scalars in front of the first list or object. ok tells
// whether the first of them is the schema.
func sniff(data []byte) (h Header, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return h, false
	}
	for n := 0; ; n++ {
		name, err := dec.Token()
		if err != nil {
			return h, ok
		}
		value, err := dec.Token()
		if _, nested := value.(json.Delim); err != nil || nested {
			return h, ok
		}
		number, isNumber := value.(float64)
		text, _ := value.(string)
		if n == 0 && name != "schema" {
			return h, false
		}
		ok = ok || n == 0 && isNumber
		switch name {
		case "schema":
			h.Schema = int(min(number, math.MaxInt32)) // however far ahead, newer it is
		case "seq":
			h.Seq = uint64(number) // exact up to 2^53 commits
		case "generation":
			h.Generation = uint64(number)
		case "updated_at":
			h.At, _ = time.Parse(time.RFC3339Nano, text)
		}
	}
}

func isObject(data []byte) bool {
	return json.Valid(data) && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// checksumAt is the offset of the checksum's digits, -1 if there are none. A
// value cannot be taken for it: in a JSON string the quotes are escaped.
func checksumAt(data []byte) int {
	at := bytes.Index(data[:min(len(data), sumSearched)], []byte(sumMember))
	if at < 0 || at+len(sumMember)+sumLen >= len(data) {
		return -1
	}
	return at + len(sumMember)
}

// sumWithout is the checksum of data with the digits at an offset as zeros.
func sumWithout(data []byte, at int) string {
	sum := crc32.Update(0, castagnoli, data[:at])
	sum = crc32.Update(sum, castagnoli, []byte(noChecksum))
	return hexSum(crc32.Update(sum, castagnoli, data[at+sumLen:]))
}

// encodeSnapshot encodes a state and puts the checksum in.
func encodeSnapshot[S, E any](m Machine[S, E], s S, h Header) ([]byte, error) {
	h.Checksum = noChecksum
	var b bytes.Buffer
	if err := m.Encode(&b, s, h); err != nil {
		return nil, err
	}
	text := b.Bytes()
	if !placed(text) {
		return nil, errNoPlace
	}
	return withChecksum(text), nil
}

// placed reports whether a document, or its beginning, has zeros where the checksum goes.
func placed(text []byte) bool {
	at := checksumAt(text)
	return at >= 0 && string(text[at:at+sumLen]) == noChecksum
}

var errNoPlace = errors.New("snapshot has no " + strconv.Quote("checksum") + " of zeros among its first members")

// snapshotPart is how many bytes of a snapshot are in memory while it is written.
const snapshotPart = 128 << 10

// writeSnapshot makes a file with what encodeSnapshot gives, and syncs it. It does not keep it all in
// memory, where it would take several times the state. The beginning, which has the checksum, is written last.
func writeSnapshot[S, E any](ctx context.Context, at files, name string, m Machine[S, E], s S, h Header) error {
	return at.writeWith(name, func(f *file) error {
		h.Checksum = noChecksum
		w := snapshotWriter{ctx: ctx, f: f, part: make([]byte, 0, snapshotPart)}
		if err := m.Encode(&w, s, h); err != nil {
			return err
		}
		return w.end()
	})
}

type snapshotWriter struct {
	ctx   context.Context
	f     *file
	first []byte // the beginning; nil: it is part
	part  []byte // at off
	off   int64
	sum   uint32 // of what is before part
}

func (w *snapshotWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if len(w.part) == cap(w.part) {
			if err := w.flush(); err != nil {
				return n, err
			}
		}
		k := min(len(p), cap(w.part)-len(w.part))
		w.part, p, n = append(w.part, p[:k]...), p[k:], n+k
	}
	return n, nil
}

func (w *snapshotWriter) flush() error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	w.sum = crc32.Update(w.sum, castagnoli, w.part)
	switch {
	case w.first != nil && len(w.part) == 0:
		return nil
	case w.first == nil:
		w.first, w.part, w.off = w.part, make([]byte, 0, snapshotPart), int64(len(w.part))
		return nil
	}
	_, err := w.f.WriteAt(w.part, w.off)
	w.off += int64(len(w.part))
	w.part = w.part[:0]
	return err
}

// end writes what is left, and the beginning with the checksum.
func (w *snapshotWriter) end() error {
	if err := w.flush(); err != nil {
		return err
	}
	if !placed(w.first) {
		return errNoPlace
	}
	copy(w.first[checksumAt(w.first):], hexSum(w.sum))
	_, err := w.f.WriteAt(w.first, 0)
	return err
}

// withChecksum sets the checksum of a document that has a place for it.
func withChecksum(text []byte) []byte {
	if at := checksumAt(text); at >= 0 {
		copy(text[at:], noChecksum)
		copy(text[at:], hexSum(checksum(text)))
	}
	return text
}
