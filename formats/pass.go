package formats

import (
	"encoding/json"
	"math"
	"time"
)

// record is a type of the fact file: its members in the order of the file, and
// the ones that this build does not know.
type record interface {
	fields(p *pass)
	extra() *map[string]json.RawMessage
}

// pass carries one object through the list of its members, either writing all
// of them or reading those that come next in the text. A text in our own order
// is read in one pass through the list; any other order takes more of them.
type pass struct {
	w    *writer // set when writing
	r    *reader // set when reading
	name []byte  // reading: the member that comes next
	done bool
	seen int
	err  error
}

// is reports whether the member that comes next in the text is this one.
func (p *pass) is(name string) bool {
	return string(p.name) == name && !p.done && p.err == nil
}

// took notes what came of reading the member's value and goes to the next.
func (p *pass) took(err error) {
	p.seen++
	if err != nil {
		p.err = within(err, string(p.name))
		return
	}
	switch p.r.peek() {
	case ',':
		p.r.pos++
		p.advance()
	case '}':
		p.r.pos++
		p.name, p.done = nil, true
	default:
		p.err = p.r.want("a comma or }")
	}
}

func (p *pass) advance() {
	if p.name, p.err = p.r.bytes("the name of a member"); p.err == nil {
		p.err = p.r.expect(':', "a colon")
	}
}

// unknown keeps the member that comes next as it is.
func (p *pass) unknown(extra *map[string]json.RawMessage) {
	name := string(p.name)
	raw, err := p.r.raw()
	if err == nil {
		if *extra == nil {
			*extra = map[string]json.RawMessage{}
		}
		(*extra)[name] = raw
	}
	p.took(err)
}

// read reads one object into rec.
func (r *reader) read(rec record) error {
	if err := r.expect('{', "an object"); err != nil {
		return err
	}
	if r.peek() == '}' {
		r.pos++
		return nil
	}
	p := pass{r: r}
	p.advance()
	for !p.done && p.err == nil {
		before := p.seen
		rec.fields(&p)
		if p.seen == before && p.err == nil {
			p.unknown(rec.extra())
		}
	}
	return p.err
}

// write writes rec as an object.
func (w *writer) write(rec record) {
	w.open('{')
	rec.fields(&pass{w: w})
	w.extra(*rec.extra())
	w.close('}')
}

// member writes or reads one member through the two functions given. A null
// leaves what is there.
func member[T any](p *pass, name string, v *T, write func(*writer, T), read func(*reader) (T, error)) {
	if p.w != nil {
		p.w.name(name)
		write(p.w, *v)
		return
	}
	if !p.is(name) {
		return
	}
	if p.r.null() {
		p.took(nil)
		return
	}
	x, err := read(p.r)
	if err == nil {
		*v = x
	}
	p.took(err)
}

func (p *pass) text(name string, s *string) { member(p, name, s, (*writer).text, (*reader).text) }

// word is a text of which a file has few different ones.
func (p *pass) word(name string, s *string) { member(p, name, s, (*writer).text, (*reader).word) }

func (p *pass) flag(name string, b *bool) { member(p, name, b, (*writer).flag, (*reader).flag) }

func (p *pass) number(name string, f *float64) {
	member(p, name, f, (*writer).number, (*reader).number)
}

func (p *pass) time(name string, t *time.Time) { member(p, name, t, (*writer).time, (*reader).time) }

// textOmit is a text that is left out when it is empty. So are, by their name,
// the other kinds.
func (p *pass) textOmit(name string, s *string) {
	if p.w == nil || *s != "" {
		p.text(name, s)
	}
}

func (p *pass) wordOmit(name string, s *string) {
	if p.w == nil || *s != "" {
		p.word(name, s)
	}
}

// optional is a text that is null when it is empty.
func (p *pass) optional(name string, s *Optional) {
	if p.w != nil && *s == "" {
		p.w.name(name)
		p.w.null()
		return
	}
	p.text(name, (*string)(s))
}

func (p *pass) count(name string, n *int) {
	member(p, name, n, func(w *writer, n int) { w.count(int64(n)) }, func(r *reader) (int, error) {
		n, err := r.count()
		if err == nil && (n > math.MaxInt || n < math.MinInt) {
			return 0, r.fail("%d does not fit", n)
		}
		return int(n), err
	})
}

// serial is a number that is left out when it is 0.
func (p *pass) serial(name string, n *uint64) {
	if p.w == nil || *n != 0 {
		member(p, name, n, (*writer).serial, (*reader).serial)
	}
}

// maybe is a time that may be null.
func (p *pass) maybe(name string, t **time.Time) {
	member(p, name, t, func(w *writer, t *time.Time) {
		if t == nil {
			w.null()
			return
		}
		w.time(*t)
	}, func(r *reader) (*time.Time, error) {
		t, err := r.time()
		return &t, err
	})
}

func (p *pass) maybeOmit(name string, t **time.Time) {
	if p.w == nil || *t != nil {
		p.maybe(name, t)
	}
}

func (p *pass) numberOmit(name string, f *float64) {
	if p.w == nil || *f != 0 {
		p.number(name, f)
	}
}

// nameEnd is one end of a relation.
type nameEnd struct {
	*Name
	unknown *map[string]json.RawMessage
}

func (e *nameEnd) fields(p *pass) {
	p.word("category", &e.Category)
	p.text("key", &e.Key)
}

func (e *nameEnd) extra() *map[string]json.RawMessage { return e.unknown }

func (p *pass) end(name string, n *Name, unknown *map[string]json.RawMessage) {
	e := nameEnd{n, unknown}
	switch {
	case p.w != nil:
		p.w.name(name)
		p.w.write(&e)
	case !p.is(name):
	case p.r.null():
		p.took(nil)
	default:
		p.took(p.r.read(&e))
	}
}
