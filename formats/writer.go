package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// flushAt is how much text a writer holds before it passes it on.
const flushAt = 64 << 10

// writer lays out JSON as encoding/json would: two spaces a level, or none of
// it when compact. The first error sticks.
type writer struct {
	out     io.Writer // nil: all stays in buf
	buf     []byte
	depth   int
	compact bool
	fresh   bool // the list or object just opened: no comma yet
	err     error
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) flush() {
	if w.out == nil || w.err != nil {
		return
	}
	if _, err := w.out.Write(w.buf); err != nil {
		w.fail(err)
	}
	w.buf = w.buf[:0]
}

func (w *writer) open(c byte) {
	w.buf = append(w.buf, c)
	w.depth++
	w.fresh = true
}

func (w *writer) close(c byte) {
	w.depth--
	if !w.fresh {
		w.line()
	}
	w.buf = append(w.buf, c)
	w.fresh = false
	if len(w.buf) >= flushAt {
		w.flush()
	}
}

func (w *writer) line() {
	if w.compact {
		return
	}
	w.buf = append(w.buf, '\n')
	for range w.depth {
		w.buf = append(w.buf, ' ', ' ')
	}
}

// element makes room for the next value of a list or member of an object.
func (w *writer) element() {
	if !w.fresh {
		w.buf = append(w.buf, ',')
	}
	w.fresh = false
	w.line()
}

func (w *writer) name(name string) {
	w.element()
	w.text(name)
	w.buf = append(w.buf, ':')
	if !w.compact {
		w.buf = append(w.buf, ' ')
	}
}

func (w *writer) null() { w.buf = append(w.buf, "null"...) }

func (w *writer) flag(b bool) { w.buf = strconv.AppendBool(w.buf, b) }

func (w *writer) count(n int64) { w.buf = strconv.AppendInt(w.buf, n, 10) }

func (w *writer) serial(n uint64) { w.buf = strconv.AppendUint(w.buf, n, 10) }

// number writes f in the shortest form that reads back as f, in the spelling of
// encoding/json: 1e-7, not 1e-07.
func (w *writer) number(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.fail(fmt.Errorf("%v cannot be written as a number", f))
		return
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		w.buf = strconv.AppendFloat(w.buf, f, 'e', -1, 64)
		if n := len(w.buf); w.buf[n-4] == 'e' && w.buf[n-3] == '-' && w.buf[n-2] == '0' {
			w.buf = append(w.buf[:n-2], w.buf[n-1])
		}
		return
	}
	w.buf = strconv.AppendFloat(w.buf, f, 'f', -1, 64)
}

// time writes t in UTC with as many digits of a second as it has.
func (w *writer) time(t time.Time) {
	t = t.UTC()
	if y := t.Year(); y < 1 || y > 9999 {
		w.fail(fmt.Errorf("year %d cannot be written: a time lies in the years 1 to 9999", y))
		return
	}
	w.buf = append(w.buf, '"')
	w.buf = t.AppendFormat(w.buf, time.RFC3339Nano)
	w.buf = append(w.buf, '"')
}

const hexDigits = "0123456789abcdef"

// text writes s as a JSON string. Bytes that are not UTF-8 become U+FFFD. The
// two separators that end a line in JavaScript are escaped, < > & are not.
func (w *writer) text(s string) {
	b := append(w.buf, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			if !(r == utf8.RuneError && size == 1) && r != 0x2028 && r != 0x2029 {
				i += size
				continue
			}
		}
		b = appendEscape(append(b, s[from:i]...), s[i:i+size])
		i += size
		from = i
	}
	w.buf = append(append(b, s[from:]...), '"')
}

// appendEscape writes one character that may not stand in a JSON string as it is.
func appendEscape(b []byte, s string) []byte {
	switch c := s[0]; c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	if s[0] < 0x20 {
		return append(b, '\\', 'u', '0', '0', hexDigits[s[0]>>4], hexDigits[s[0]&15])
	}
	if len(s) == 3 { // U+2028, U+2029
		return append(b, '\\', 'u', '2', '0', '2', hexDigits[s[2]&15])
	}
	return append(b, "\uFFFD"...)
}

// extra writes the members that this build does not know, by name.
func (w *writer) extra(members map[string]json.RawMessage) {
	if len(members) == 0 {
		return
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w.name(name)
		w.raw(name, members[name])
	}
}

func (w *writer) raw(name string, value json.RawMessage) {
	var b bytes.Buffer
	err := json.Compact(&b, value)
	if err == nil && !w.compact {
		compact := bytes.Clone(b.Bytes())
		b.Reset()
		prefix := string(bytes.Repeat([]byte("  "), w.depth))
		err = json.Indent(&b, compact, prefix, "  ")
	}
	if err != nil {
		w.fail(fmt.Errorf("unknown member %q: %w", name, err))
		return
	}
	w.buf = append(w.buf, bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD"))...)
}
