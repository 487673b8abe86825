package transfer

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/formats/foreign"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/state"
)

// The ways to treat a fact that is there already.
const (
	mergeSkip    = "skip-existing" // keep ours
	mergeReplace = "replace"       // theirs supersedes ours
	mergeAppend  = "append"        // theirs becomes history where ours says nothing
)

// Incoming names a file to import.
type Incoming struct {
	File        string `json:"file" arg:"1" alias:"path" jsonschema:"an export, JSONL, an array, another program's memory, or a directory of notes"`
	Merge       string `json:"merge,omitempty" enum:"skip-existing,replace,append" jsonschema:"what to do with facts that are there already (default skip-existing)"`
	DryRun      bool   `json:"dry_run,omitempty" jsonschema:"say what would happen, write nothing"`
	SkipBad     bool   `json:"skip_bad,omitempty" jsonschema:"import the good lines of a file with bad ones"`
	KeepPrivacy bool   `json:"keep_privacy,omitempty" jsonschema:"project_only stays; else it becomes shared, since the earlier lean-ctx wrote it by default"`
	MaxMiB      int    `json:"max_mib,omitempty" jsonschema:"largest size of the file in MiB (default 256)"`

	Data            io.Reader `json:"-"` // instead of the file, when the caller has it
	DisputeOutdated bool      `json:"-"` // with skip-existing: another value than ours becomes a dispute

	moved bool // the project's own memory, which goes to another place: it keeps its marks, whoever has it moved

	Progress func(done, total int) `json:"-"` // called with the progress; may be nil
}

// Imported is what became of an import. A fact counts once, however many
// versions it has; a record of JSONL or an array counts by itself.
type Imported struct {
	File     string            `json:"file"`
	Kind     string            `json:"kind"`              // native, leanctx, array, jsonl, foreign
	Program  string            `json:"program,omitempty"` // that wrote it, when it is another one
	Parsed   int               `json:"parsed"`
	Added    int               `json:"added"`
	Skipped  int               `json:"skipped"`
	Removed  int               `json:"removed,omitempty"` // of the skipped: removed or erased here
	Replaced int               `json:"replaced"`
	Ended    []string          `json:"ended,omitempty"` // facts that their file no longer has
	Lists    int               `json:"lists"`           // relations and reminders that were new
	Redacted int               `json:"redacted"`
	Bad      []BadLine         `json:"bad,omitempty"`
	NotAdded []BadLine         `json:"not_added,omitempty"` // by append: what is believed here leaves no room
	InPart   []BadLine         `json:"in_part,omitempty"`   // by append: added for a shorter period
	LeftOut  []foreign.LeftOut `json:"left_out,omitempty"`  // what a fact has no place for
	Missing  []string          `json:"missing,omitempty"`   // facts whose item in a room's file was deleted, or the file
	Disputed int               `json:"disputed,omitempty"`  // what stands against what has more authority
	DryRun   bool              `json:"dry_run"`
	ID       string            `json:"id,omitempty"`       // undo takes it back by this; empty: it changed nothing, or too much
	Proposed bool              `json:"proposed,omitempty"` // a native file, of which nothing counts as confirmed
	First    []formats.Record  `json:"-"`                  // of those that would be added or replaced
}

// BadLine is a line that could not be imported, or only in part.
type BadLine struct {
	Line    int    `json:"line,omitempty"`    // 1 is the first; 0 in a fact file, whose problems name the fact
	Element int    `json:"element,omitempty"` // of an array, 1 is the first
	Problem string `json:"problem"`
}

func badLine(at formats.Position, problem string) BadLine {
	return BadLine{at.Line, at.Element, problem}
}

func (b BadLine) String() string {
	if b.Line == 0 && b.Element == 0 {
		return b.Problem
	}
	return formats.Position{Line: b.Line, Element: b.Element}.String() + ": " + b.Problem
}

// BadFileError says which lines of a file could not be read.
type BadFileError struct {
	File string
	Bad  []BadLine
}

func (e *BadFileError) Error() string { return e.TextIn(prose.MCP) }

// TextIn is the error in the caller's syntax.
func (e *BadFileError) TextIn(call prose.Syntax) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, nothing was imported (%s imports the rest)", e.File, prose.Count(len(e.Bad), "bad line"), call("", "skip_bad", true))
	for _, bad := range e.Bad[:min(5, len(e.Bad))] {
		b.WriteString("\n  " + prose.ShortLine(fmt.Sprint(bad)))
	}
	if more := len(e.Bad) - 5; more > 0 {
		fmt.Fprintf(&b, "\n  … %d more", more)
	}
	return b.String()
}

// Import takes facts in, in one commit: others see all of them or none. A native file keeps its
// recorded times, ids and sources; records are asserted with source kind import and marked until
// somebody confirms them. What was retracted or erased here stays away, unless merge is replace.
// Nobody else can write from when it is decided until it is on disk: some seconds for 100,000 facts.
func Import(ctx context.Context, s *knowledge.Store, in Incoming) (Imported, error) {
	if in.Merge == "" {
		in.Merge = mergeSkip
	}
	if !slices.Contains([]string{mergeSkip, mergeReplace, mergeAppend}, in.Merge) {
		return Imported{}, refusal.Argument("merge", "merge %q is none of skip-existing, replace, append", prose.Clip(in.Merge, 40))
	}
	read, err := in.read(s.Options().ProjectRoot)
	if err != nil {
		return Imported{}, err
	}
	parsed, other, err := in.parse(s.Options().ProjectRoot, read)
	if err != nil {
		return Imported{}, err
	}
	m := &merger{store: s, in: in, r: Imported{File: in.name(), Kind: string(parsed.Kind), DryRun: in.DryRun}}
	if other != nil {
		m.r.Program, m.r.LeftOut = other.Program, other.LeftOut
		m.reading, m.labeled = readingOf(s.Options().ProjectRoot, in, read, other), other.Labeled
	}
	if n := len(read.passed); n > 0 {
		m.r.LeftOut = append(m.r.LeftOut, foreign.LeftOut{What: "files without Markdown: " + listed(read.passed), Count: n})
	}
	if len(read.rooms) > 0 {
		m.r.Kind = formatMarkdown
		m.takeRooms(read)
	}
	m.r.Proposed = parsed.Kind == formats.Native && m.proposes()
	if err := m.take(ctx, parsed); err != nil {
		return Imported{}, err
	}
	if len(m.r.Bad) > 0 && !in.SkipBad {
		return Imported{}, &BadFileError{in.name(), m.r.Bad}
	}
	if in.DryRun {
		err = s.View(ctx, func(st *state.State, now time.Time) error { _, err := m.decide(ctx, st, now); return err })
	} else {
		err = s.Update(ctx, func(st *state.State, now time.Time) ([]state.Event, error) { return m.decide(ctx, st, now) })
	}
	if err == nil && !in.DryRun && len(m.events) > 0 {
		m.r.ID, err = undoable(ctx, s, state.ImportID(m.now))
	}
	m = &merger{in: in, r: m.r, all: m.all, told: m.told} // the snapshot and the index take memory too
	if err == nil && !in.DryRun {
		// Whatever it added: an import before may have been killed here.
		s.Settle(ctx, func(indexed int) { m.progress(2*m.all + min(indexed, m.all)) })
	}
	m.progress(3 * m.all)
	return m.r, err
}

// undoable is the id of an import that can be taken back, else empty.
func undoable(ctx context.Context, s *knowledge.Store, id string) (string, error) {
	err := s.ViewSome(ctx, func(st state.Reader, _ time.Time) error {
		if c, ok := st.ImportCommit(id, s.Now()); !ok || c.Final != "" {
			id = ""
		}
		return nil
	})
	return id, err
}

func (in Incoming) name() string {
	if in.File == "" || in.File == "-" {
		return "standard input"
	}
	return filepath.Base(in.File)
}

// parse takes apart what was read. The memory says what else there is when another
// program wrote it; else it is nil.
func (in Incoming) parse(root string, x input) (formats.Parsed, *foreign.Memory, error) {
	if len(x.rooms) > 0 && len(x.files) == 0 {
		return formats.Parsed{}, nil, nil
	}
	other, err := in.foreign(root, x)
	if err != nil {
		return formats.Parsed{}, nil, err
	}
	if other != nil {
		p := formats.Parsed{Kind: formats.Foreign, Records: other.Records, Bad: other.Bad}
		for _, line := range other.Lines {
			p.Lines = append(p.Lines, formats.Position{Line: line})
		}
		return p, other, nil
	}
	parsed, err := formats.ParseDocument(x.text)
	if err == nil && parsed.Kind == formats.LeanCtx && in.Data == nil {
		// its gotchas and links are in files of their own beside it
		if d, e := formats.ReadLeanCtxDir(os.DirFS(filepath.Dir(in.File))); e == nil && len(d.Facts) == len(parsed.Document.Facts) {
			parsed.Document = d
		}
	}
	if err != nil {
		err = refusal.Argument("file", "%s: %v", in.name(), err)
	}
	return parsed, nil, err
}

// maxFirst is how many records a dry run names.
const maxFirst = 10

// Text gives the answer's lines.
func (r Imported) Text() string { return r.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (r Imported) TextIn(call prose.Syntax) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Parsed %s from %s", prose.Count(r.Parsed, "fact"), prose.Line(r.File))
	switch {
	case r.Program != "" && r.Program != r.File:
		fmt.Fprintf(&b, " (%s)", prose.Line(r.Program))
	case r.Proposed:
		what := "a fact file of lean-ctx"
		if r.Kind == formatMarkdown {
			what = "rooms of lean-ctx that this store did not write"
		}
		b.WriteString(" (" + what + ": what it says is marked until somebody confirms it)")
	}
	if r.DryRun {
		fmt.Fprintf(&b, "\n[DRY RUN] Would add: %d, skip: %d, replace: %d", r.Added, r.Skipped, r.Replaced)
		for _, x := range r.First {
			fmt.Fprintf(&b, "\n  [%s/%s]: %s", prose.Name(x.Category), prose.Name(x.Key), prose.Brief(x.Value))
		}
		if more := r.Added + r.Replaced - len(r.First); more > 0 {
			fmt.Fprintf(&b, "\n  … %d more", more)
		}
	} else {
		fmt.Fprintf(&b, "\nImport complete: %d added, %d skipped, %d replaced", r.Added, r.Skipped, r.Replaced)
	}
	if r.Removed > 0 && r.Proposed {
		fmt.Fprintf(&b, "\n  %d of the skipped were removed here: a person brings them back", r.Removed)
	} else if r.Removed > 0 {
		fmt.Fprintf(&b, "\n  %d of the skipped were removed here: %s brings them back", r.Removed, call("", "merge", mergeReplace))
	}
	if len(r.Ended) > 0 {
		verb := "Ended"
		if r.DryRun {
			verb = "Would end"
		}
		fmt.Fprintf(&b, "\n%s what the file no longer says: %s", verb, listed(r.Ended))
	}
	if r.Lists > 0 {
		fmt.Fprintf(&b, "\nRelations and reminders: %d new", r.Lists)
	}
	if r.Redacted > 0 {
		fmt.Fprintf(&b, "\nRedacted before storing: %s", prose.Count(r.Redacted, "secret"))
	}
	if r.Disputed > 0 {
		fmt.Fprintf(&b, "\nDisputed: %d, see %s", r.Disputed, call("disputes"))
	}
	if len(r.Missing) > 0 {
		fmt.Fprintf(&b, "\n  deleted in the file and kept here: %s; %s", listed(r.Missing), call("remove"))
	}
	for _, l := range r.LeftOut {
		fmt.Fprintf(&b, "\n  no place for %s", prose.CountOf(l.Count, l.What))
	}
	for _, list := range []struct {
		what     string
		lines    []BadLine
		maxShown int
	}{{"left out", r.Bad, 5}, {"not added", r.NotAdded, 20}, {"added in part", r.InPart, 20}} {
		for _, line := range list.lines[:min(list.maxShown, len(list.lines))] {
			fmt.Fprintf(&b, "\n  %s: %v", list.what, line)
		}
		if more := len(list.lines) - list.maxShown; more > 0 {
			fmt.Fprintf(&b, "\n  … %d more %s (the JSON answer has all)", more, list.what)
		}
	}
	if r.ID != "" {
		fmt.Fprintf(&b, "\n  to take it back: %s", call("undo", "import", r.ID))
	}
	return b.String()
}

// Warned reports whether anything of the file is not in.
func (r Imported) Warned() bool { return len(r.Bad)+len(r.NotAdded)+len(r.InPart) > 0 }
