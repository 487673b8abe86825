package formats

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// errLayout says that a file is not laid out as EncodeNative does.
var errLayout = errors.New("the file is not laid out as this build writes it")

// The lines of a fact file between which the facts stand.
const (
	lineFacts   = `  "facts": [`
	lineNoFacts = `  "facts": [],`
	lineOpen    = "    {"
	lineClose   = "    }"
	lineEnd     = "  ]"
)

// FactSeparator is what stands in a fact file between one fact and the next.
const FactSeparator = ",\n    "

// Rest is a fact file without its facts.
type Rest struct {
	From, To int64  // the offsets in the file between which all facts stand
	Text     []byte // what is not between them: a fact file without facts
}

// WalkNative reads a fact file to its end, as [EncodeNative] wrote it, and
// gives use the text of every fact and the offset where it begins; the text is
// good until use returns. A file in any other layout, though it may say the
// same, is an error.
func WalkNative(r io.Reader, use func(text []byte, at int64) error) (Rest, error) {
	w := &walk{r: bufio.NewReaderSize(r, flushAt)}
	var rest Rest
	some, err := w.head(&rest)
	if err != nil {
		return Rest{}, err
	}
	for more := some; more; {
		if more, err = w.fact(use); err != nil {
			return Rest{}, err
		}
	}
	rest.To = rest.From
	if some {
		if err := w.next(); err != nil {
			return Rest{}, err
		}
		if !bytes.HasPrefix(w.line, []byte(lineEnd)) {
			return Rest{}, errLayout
		}
		rest.To = w.begin + int64(len(lineEnd)) - 1
		rest.Text = append(append(rest.Text, w.line[len(lineEnd)-1:]...), '\n')
	}
	tail, err := io.ReadAll(w.r)
	rest.Text = append(rest.Text, tail...)
	return rest, err
}

// walk goes through a file line by line.
type walk struct {
	r          *bufio.Reader
	line       []byte // without its line feed
	begin, end int64  // where the line begins and the next one does
	text       []byte
}

func (w *walk) next() error {
	w.line, w.begin = w.line[:0], w.end
	for {
		part, err := w.r.ReadSlice('\n')
		w.line = append(w.line, part...)
		w.end += int64(len(part))
		switch {
		case err == nil:
			w.line = w.line[:len(w.line)-1]
			return nil
		case errors.Is(err, io.EOF):
			return errLayout
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// head takes the lines before the facts and tells whether there are any facts.
func (w *walk) head(rest *Rest) (some bool, err error) {
	for {
		if err := w.next(); err != nil {
			return false, err
		}
		line := string(w.line)
		rest.Text = append(rest.Text, line...)
		if line == lineFacts || line == lineNoFacts {
			rest.From = w.begin + int64(len(lineFacts))
			if line == lineNoFacts {
				rest.Text = append(rest.Text, '\n')
			}
			return line == lineFacts, nil
		}
		rest.Text = append(rest.Text, '\n')
	}
}

// fact takes one fact and tells whether another one follows.
func (w *walk) fact(use func(text []byte, at int64) error) (more bool, err error) {
	if err := w.next(); err != nil {
		return false, err
	}
	if string(w.line) != lineOpen {
		return false, errLayout
	}
	at := w.begin + int64(len(lineOpen)) - 1
	w.text = append(w.text[:0], '{')
	for {
		if err := w.next(); err != nil {
			return false, err
		}
		w.text = append(append(w.text, '\n'), w.line...)
		switch string(w.line) {
		case lineClose + ",":
			w.text, more = w.text[:len(w.text)-1], true
		case lineClose:
		default:
			continue
		}
		return more, use(w.text, at)
	}
}

// DecodeFacts reads facts that stand one after another in a fact file, commas
// between them.
func DecodeFacts(text []byte) ([]*Fact, error) {
	r := newReader(text, 1)
	var list []*Fact
	for {
		f := unsaid()
		if err := r.read(f); err != nil {
			return nil, err
		}
		if err := f.settle(time.Time{}); err != nil {
			return nil, err
		}
		list = append(list, f)
		if r.peek() != ',' {
			return list, r.end()
		}
		r.pos++
	}
}
