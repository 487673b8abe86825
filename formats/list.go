package formats

import "strconv"

// texts is a list of strings.
func (p *pass) texts(name string, list *[]string) {
	visitList(p, name, list, func(w *writer, s *string) { w.text(*s) }, func(r *reader, s *string) (err error) {
		*s, err = r.text()
		return err
	})
}

// visitList is a list whose elements go through the two functions given. A nil
// list is written as an empty one; an empty one is read as nil.
func visitList[T any](p *pass, name string, list *[]T, write func(*writer, *T), read func(*reader, *T) error) {
	if p.w != nil {
		p.w.name(name)
		p.w.open('[')
		for i := range *list {
			p.w.element()
			write(p.w, &(*list)[i])
		}
		p.w.close(']')
		return
	}
	if !p.is(name) {
		return
	}
	if p.r.null() {
		p.took(nil)
		return
	}
	got, err := readList(p.r, read)
	if err == nil {
		*list = got
	}
	p.took(err)
}

func readList[T any](r *reader, read func(*reader, *T) error) (list []T, err error) {
	if err := r.expect('[', "a list"); err != nil {
		return nil, err
	}
	if r.peek() == ']' {
		r.pos++
		return nil, nil
	}
	for {
		list = append(list, *new(T))
		if err := read(r, &list[len(list)-1]); err != nil {
			return nil, within(err, "["+strconv.Itoa(len(list)-1)+"]")
		}
		switch r.peek() {
		case ',':
			r.pos++
		case ']':
			r.pos++
			return list, nil
		default:
			return nil, r.want("a comma or ]")
		}
	}
}

// recordOf is a pointer to a T that is a record.
type recordOf[T any] interface {
	*T
	record
}

func writeRecord[T any, P recordOf[T]](w *writer, x *T) { w.write(P(x)) }

func readRecord[T any, P recordOf[T]](r *reader, x *T) error { return r.read(P(x)) }

// records is a list of objects.
func records[T any, P recordOf[T]](p *pass, name string, list *[]T) {
	visitList(p, name, list, writeRecord[T, P], readRecord[T, P])
}

// facts is the list of facts. What one of them leaves out is marked, for
// [Fact.settle].
func (p *pass) facts(name string, list *[]*Fact) {
	visitList(p, name, list, func(w *writer, f **Fact) { w.write(*f) }, func(r *reader, f **Fact) error {
		*f = unsaid()
		return r.read(*f)
	})
}
