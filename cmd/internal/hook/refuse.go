package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// refuse words why a file was left alone, and what to put there by hand.
func (s step) refuse(r Touched, err error) Touched {
	r = s.worded(r, err)
	if errors.Is(err, fs.ErrPermission) {
		r.Problem += ": make it writable, or put the entry there yourself"
	}
	r.Snippet = s.snippet()
	return r
}

// leave words why something of ours may still be in a file, and what to take
// out by hand.
func (s step) leave(r Touched, err error) Touched {
	r = s.worded(r, err)
	var parts []string
	for _, w := range s.wants {
		if w.name == server {
			parts = append(parts, fmt.Sprintf("the entry %q of %q", server, strings.Join(w.keys, ".")))
		}
	}
	if s.hooks {
		parts = append(parts, fmt.Sprintf("the hooks that call %q", server+" hook"))
	}
	switch s.format {
	case whole:
		parts = append(parts, "the file, if it is ours")
	case marked:
		parts = append(parts, fmt.Sprintf("the lines from %q to %q", adviceBegin, adviceEnd))
	}
	r.Note = "Take out by hand: " + strings.Join(parts, ", and ")
	return r
}

func (s step) worded(r Touched, err error) Touched {
	r.Outcome = refused
	r.Problem = err.Error()
	if e, ok := errors.AsType[*FileError](err); ok {
		placed := *e
		if placed.Path == "" {
			placed.Path = s.path
		}
		r.Problem = placed.Error()
	}
	return r
}
