package hook

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed agents.md
var advice string

const (
	adviceBegin = "<!-- lean-ctx:begin v1 -->"
	adviceEnd   = "<!-- lean-ctx:end -->"
)

// Advise writes our block into the project's AGENTS.md. It is done only when
// asked for: the file is everybody's, and what a client shows of the server's
// instructions says the same.
func (p Place) Advise(dry bool) Touched {
	return p.advised(dry, func(t *text) {
		from, to, ok := t.adviceLines()
		block := strings.ReplaceAll(adviceBegin+"\n"+strings.TrimSpace(advice)+"\n"+adviceEnd+"\n", "\n", t.newline())
		switch {
		case ok && string(t.data[from:to]) == block:
		case ok:
			t.replace(from, to, block)
		case len(t.data) == 0:
			t.replace(0, 0, block)
		default:
			lead := t.newline()
			if !bytes.HasSuffix(t.data, []byte("\n")) {
				lead += t.newline()
			}
			t.replace(len(t.data), len(t.data), lead+block)
		}
	}, connected)
}

// Unadvise takes our block out of AGENTS.md, and reports whether it was there.
func (p Place) Unadvise(dry bool) (Touched, bool) {
	r := p.advised(dry, func(t *text) {
		if from, to, ok := t.adviceLines(); ok {
			t.replace(t.withBlank(from), to, "")
		}
	}, removed)
	return r, r.Outcome != unchanged
}

// adviceLines is where our block stands.
func (t *text) adviceLines() (from, to int, ok bool) {
	from = bytes.Index(t.data, []byte(adviceBegin))
	if from < 0 {
		return 0, 0, false
	}
	n := bytes.Index(t.data[from:], []byte(adviceEnd))
	if n < 0 {
		return 0, 0, false
	}
	return from, t.lineEnd(from + n), true
}

func (p Place) advised(dry bool, change func(*text), outcome string) Touched {
	s := step{client: "AGENTS.md", scope: Project, path: filepath.Join(p.Root, "AGENTS.md"), format: whole, text: advice}
	r := Touched{Client: s.client, Scope: s.scope, Path: s.path, Outcome: unchanged}
	f, err := readFile(s.path)
	if err != nil {
		return s.refuse(r, err)
	}
	t := &text{data: slices.Clone(f.data)}
	if change(t); bytes.Equal(t.data, f.data) {
		return r
	}
	if r.Outcome = outcome; dry {
		r.Diff = diff(f.data, t.data)
		return r
	}
	if f.new {
		f.mode = 0o644
	}
	if len(t.data) == 0 {
		err = os.Remove(f.path)
	} else {
		err = f.write(t.data)
	}
	if err != nil {
		return s.refuse(r, err)
	}
	return r
}
