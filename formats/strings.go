package formats

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// text takes a string. An escaped half of a surrogate pair becomes U+FFFD; what
// is not UTF-8 is an error, for no program writes such JSON on purpose.
func (r *reader) text() (string, error) {
	b, err := r.bytes("a string")
	return string(b), err
}

// word is text for strings of which a file has few different ones.
func (r *reader) word() (string, error) {
	b, err := r.bytes("a string")
	if err != nil || len(b) > 64 {
		return string(b), err
	}
	if s, ok := r.words[string(b)]; ok {
		return s, nil
	}
	s := string(b)
	if len(r.words) < 4096 {
		r.words[s] = s
	}
	return s, nil
}

// bytes takes a string; what it gives may be a part of the reader's text.
func (r *reader) bytes(what string) ([]byte, error) {
	if r.peek() != '"' {
		return nil, r.want(what)
	}
	r.pos++
	from, ascii := r.pos, true
	for i := from; i < len(r.data); i++ {
		switch c := r.data[i]; {
		case c == '"':
			if b := r.data[from:i]; !ascii && !utf8.Valid(b) {
				return nil, r.fail("a string that is not UTF-8")
			}
			r.pos = i + 1
			return r.data[from:i], nil
		case c == '\\':
			r.pos = i
			return r.unquote(from)
		case c < 0x20:
			r.pos = i
			return nil, r.fail("a string must not hold the character %U as it is", c)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	r.pos = len(r.data)
	return nil, r.fail("the file ends inside a string")
}

// unquote goes on with a string that began at from, at its first backslash.
func (r *reader) unquote(from int) ([]byte, error) {
	b := bytes.Clone(r.data[from:r.pos])
	for r.pos < len(r.data) {
		switch c := r.data[r.pos]; {
		case c == '"':
			if !utf8.Valid(b) {
				return nil, r.fail("a string that is not UTF-8")
			}
			r.pos++
			return b, nil
		case c == '\\':
			var err error
			if b, err = r.escape(b); err != nil {
				return nil, err
			}
		case c < 0x20:
			return nil, r.fail("a string must not hold the character %U as it is", c)
		default:
			b = append(b, c)
			r.pos++
		}
	}
	return nil, r.fail("the file ends inside a string")
}

// escape appends what the escape at the reader's place stands for.
func (r *reader) escape(b []byte) ([]byte, error) {
	if r.pos+1 >= len(r.data) {
		r.pos = len(r.data)
		return nil, r.fail("the file ends inside a string")
	}
	c := r.data[r.pos+1]
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), c); i >= 0 {
		r.pos += 2
		return append(b, "\"\\/\b\f\n\r\t"[i]), nil
	}
	u, ok := r.hex(r.pos)
	if !ok {
		return nil, r.fail(`\%s is no escape of a JSON string`, clip(string(rune(c))))
	}
	r.pos += 6
	if utf16.IsSurrogate(u) {
		if low, ok := r.hex(r.pos); ok && utf16.DecodeRune(u, low) != utf8.RuneError {
			r.pos += 6
			return utf8.AppendRune(b, utf16.DecodeRune(u, low)), nil
		}
	}
	return utf8.AppendRune(b, u), nil // half a pair becomes U+FFFD
}

// hex reads \uXXXX at i.
func (r *reader) hex(i int) (rune, bool) {
	if i+6 > len(r.data) || r.data[i] != '\\' || r.data[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(r.data[i+2:i+6]), 16, 32)
	return rune(n), err == nil
}

// raw takes any value, of which it checks the grammar, without its white space.
func (r *reader) raw() (json.RawMessage, error) {
	r.peek()
	from := r.pos
	if err := r.skip(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, r.data[from:r.pos]); err != nil {
		r.pos = from
		return nil, r.fail("not JSON: %v", err)
	}
	return b.Bytes(), nil
}

// skip passes over any value. It finds the end; it does not check the grammar
// inside.
func (r *reader) skip() error {
	for depth := 0; ; {
		switch c := r.peek(); c {
		case '{', '[':
			r.pos++
			if depth++; depth > maxDepth {
				return r.fail("nested deeper than %d levels", maxDepth)
			}
			continue
		case '}', ']':
			if depth == 0 {
				return r.want("a value")
			}
			r.pos++
			depth--
		case ',', ':':
			if depth == 0 {
				return r.want("a value")
			}
			r.pos++
			continue
		case '"':
			if _, err := r.bytes("a string"); err != nil {
				return err
			}
		default:
			if err := r.scalar(); err != nil {
				return err
			}
		}
		if depth == 0 {
			return nil
		}
	}
}

// scalar passes over a number, true, false or null.
func (r *reader) scalar() error {
	if c := r.peek(); c == 't' || c == 'f' {
		_, err := r.flag()
		return err
	}
	if r.null() {
		return nil
	}
	_, err := r.digits("a value")
	return err
}
