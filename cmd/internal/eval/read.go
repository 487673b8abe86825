package eval

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strconv"
	"strings"
)

// scan yields the lines of a gzip file with their numbers, from 1. The last
// pair may be an error, which names the file.
func scan(fsys fs.FS, name string) iter.Seq2[int, lineOrError] {
	return func(yield func(int, lineOrError) bool) {
		n := 0
		fail := func(err error) { yield(n, lineOrError{err: fmt.Errorf("%s: line %d: %w", name, n, err)}) }
		f, err := fsys.Open(name)
		if err != nil {
			fail(err)
			return
		}
		defer f.Close()
		z, err := gzip.NewReader(bufio.NewReader(f))
		if err != nil {
			fail(err)
			return
		}
		r := bufio.NewReader(z)
		for {
			n++
			line, err := r.ReadBytes('\n')
			if len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) && !yield(n, lineOrError{line: line}) {
				return
			}
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				fail(err)
				return
			}
		}
	}
}

type lineOrError struct {
	line []byte
	err  error
}

// plain reads a whole file of text.
func plain(fsys fs.FS, name string) ([]string, error) {
	data, err := fs.ReadFile(fsys, name)
	return strings.Split(string(data), "\n"), err
}

// records reads a file of JSON lines. A line that is none is an error with its
// number: figures over half of a set would be no figures.
func records[T any](fsys fs.FS, name string) ([]T, error) {
	var out []T
	for n, l := range scan(fsys, name) {
		if l.err != nil {
			return nil, l.err
		}
		var r T
		if err := json.Unmarshal(l.line, &r); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// grades say for a query how relevant documents are: 1 and more. What is not
// listed is not relevant.
type grades map[string]int

// judgements reads a file of three columns, query, document, grade, under one
// line of headings.
func judgements(fsys fs.FS, name string) (map[string]grades, error) {
	out := map[string]grades{}
	for n, l := range scan(fsys, name) {
		if l.err != nil {
			return nil, l.err
		}
		if n == 1 {
			continue
		}
		fields := strings.Split(strings.TrimRight(string(l.line), "\r\n"), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s: line %d: %d columns, not 3", name, n, len(fields))
		}
		grade, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		if grade < 1 {
			continue
		}
		if out[fields[0]] == nil {
			out[fields[0]] = grades{}
		}
		out[fields[0]][fields[1]] = grade
	}
	return out, nil
}
