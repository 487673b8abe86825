package hook

import (
	"bytes"
	_ "embed"
	"path/filepath"
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
func (p Place) Advise(dry bool) (Touched, error) {
	log, err := p.record()
	if err != nil {
		return Touched{}, err
	}
	return p.connect(p.advice(), log, dry)
}

// advice is the block as a step. It belongs to the project, for whomever
// clients were connected beside it: any disconnect that leaves no client of
// the project takes it out.
func (p Place) advice() step {
	return step{client: "AGENTS.md", scope: Project, path: filepath.Join(p.Root, "AGENTS.md"), format: marked}
}

// putAdvice makes the block stand in a text, and reports whether it did not.
func (t *text) putAdvice() bool {
	block := strings.ReplaceAll(adviceBegin+"\n"+strings.TrimSpace(advice)+"\n"+adviceEnd+"\n", "\n", t.newline())
	from, to, ok := t.adviceLines()
	switch {
	case ok && string(t.data[from:to]) == block:
		return false
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
	return true
}

// takeAdvice takes the block out, and reports whether it was there.
func (t *text) takeAdvice() bool {
	from, to, ok := t.adviceLines()
	if ok {
		t.replace(t.withBlank(from), to, "")
	}
	return ok
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
