package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Redacting is a [Remote] whose commits come from machines that may not redact as this one does.
// What comes from it is redacted before it is folded or written here.
type Redacting interface {
	// Redact takes secrets out of a text; nil: nothing is taken out.
	Redact() func(text string) string
}

func (o *Options) redact() func(string) string {
	if r, ok := o.Remote.(Redacting); ok {
		return r.Redact()
	}
	return nil
}

// original begins a commit that was redacted. What follows is the checksum that it has in the
// remote log: prev of the next commit names that one.
//
//	4c1a09d2 {"sum":"1f83d9ab","seq":1201,"prev":"5be0cd19",…}
const original = `{"sum":"`

// withoutSecrets is a line of the remote log as it is written here.
func (o *Options) withoutSecrets(ln line) line {
	redact := o.redact()
	if redact == nil || ln.lost {
		return ln
	}
	body := RedactJSON(ln.body, redact)
	if ln.redacted { // once more, since a rule may be newer
		ln.body, ln.own = body, checksum(body)
		return ln
	}
	if bytes.Equal(body, ln.body) && !bytes.HasPrefix(body, []byte(original)) {
		return ln
	}
	ln.body = fmt.Appendf(nil, `%s%08x",%s`, original, ln.sum, bytes.TrimPrefix(bytes.TrimSpace(body), []byte("{")))
	ln.own, ln.redacted = checksum(ln.body), true
	return ln
}

// asRedacted is a line that was read from a file here. If it was redacted, its checksum becomes
// that of the original.
func asRedacted(ln line) line {
	rest, ok := bytes.CutPrefix(ln.body, []byte(original))
	if !ok || len(rest) < sumLen {
		return ln
	}
	if sum, ok := parseSum(rest[:sumLen]); ok {
		ln.own, ln.sum, ln.redacted = ln.sum, sum, true
	}
	return ln
}

// minSecret is the length in bytes of the shortest text that is looked at.
const minSecret = 12

// named is the object of a fact, as far as it was read.
type named struct{ member, category, key string }

// RedactJSON redacts every string of a JSON text but the names of members. A text that is no JSON
// is redacted as it is. The rest stays to the byte.
func RedactJSON(text []byte, redact func(string) string) []byte {
	var out []byte
	copied := 0
	objects := []named{{}}
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if dec.PeekKind() != '"' {
			t, err := dec.ReadToken()
			switch {
			case errors.Is(err, io.EOF):
				return append(out, text[copied:]...)
			case err != nil:
				return []byte(redact(string(text)))
			case t.Kind() == '{' || t.Kind() == '[':
				objects = append(objects, named{})
			case t.Kind() == '}' || t.Kind() == ']':
				objects = objects[:len(objects)-1]
			}
			continue
		}
		kind, length := dec.StackIndex(dec.StackDepth())
		quoted, err := dec.ReadValue()
		if err != nil {
			return []byte(redact(string(text)))
		}
		unquoted, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil && !utf8Only(err) {
			return []byte(redact(string(text)))
		}
		s, in := string(unquoted), &objects[len(objects)-1]
		if kind == '{' && length%2 == 0 {
			in.member = s
			continue
		}
		switch in.member {
		case "category":
			in.category = s
		case "key":
			in.key = s
		}
		if len(s) < minSecret {
			continue
		}
		clean := in.redacted(s, redact)
		if clean == s {
			continue
		}
		end := int(dec.InputOffset())
		out = append(out, text[copied:end-len(quoted)]...)
		out, _ = jsontext.AppendQuote(out, strings.ToValidUTF8(clean, "\ufffd"))
		copied = end
	}
}

// utf8Only reports whether all that is wrong with a string is its UTF-8: it was replaced.
func utf8Only(err error) bool { return strings.Contains(err.Error(), "UTF-8") }

// redacted is a member of the object without its secrets. The value of a fact can be one because of
// the fact's name alone.
func (n *named) redacted(s string, redact func(string) string) string {
	if n.member == "value" && n.category+n.key != "" {
		head := n.category + " " + n.key + ": "
		if rest, ok := strings.CutPrefix(redact(head+s), head); ok {
			return rest
		}
	}
	return redact(s)
}
