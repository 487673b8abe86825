package knowledge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// The ways to treat a fact that is there already.
const (
	mergeSkip    = "skip-existing" // keep ours
	mergeReplace = "replace"       // theirs supersedes ours
	mergeAppend  = "append"        // theirs becomes history where ours says nothing
)

// Incoming names a file to import.
type Incoming struct {
	File        string `json:"file" arg:"1" jsonschema:"the file: an export, JSONL, an array, or lean-ctx's own knowledge.json"`
	Merge       string `json:"merge,omitempty" short:"m" enum:"skip-existing,replace,append" jsonschema:"what to do with facts that are there already (default skip-existing)"`
	DryRun      bool   `json:"dry_run,omitempty" jsonschema:"say what would happen, write nothing"`
	SkipBad     bool   `json:"skip_bad,omitempty" jsonschema:"import the good lines of a file with bad ones"`
	KeepPrivacy bool   `json:"keep_privacy,omitempty" jsonschema:"keep lean-ctx's project_only, which is its default"`

	Data io.Reader `json:"-"` // instead of the file, when the caller has it
}

// Imported is what became of an import. A fact counts once, however many
// versions it has; a record of JSONL or an array counts by itself.
type Imported struct {
	File     string           `json:"file"`
	Kind     string           `json:"kind"` // native, leanctx, array, jsonl
	Parsed   int              `json:"parsed"`
	Added    int              `json:"added"`
	Skipped  int              `json:"skipped"`
	Replaced int              `json:"replaced"`
	Lessons  int              `json:"lessons"` // patterns, gotchas, relations, reminders that were new
	Redacted int              `json:"redacted"`
	Bad      []BadLine        `json:"bad,omitempty"`
	DryRun   bool             `json:"dry_run"`
	First    []formats.Record `json:"-"` // of those that would be added
}

// BadLine is a line that could not be imported.
type BadLine struct {
	Line    int    `json:"line,omitempty"` // 1 is the first; 0 in a fact file, whose problems name the fact
	Problem string `json:"problem"`
}

func (b BadLine) String() string {
	if b.Line == 0 {
		return b.Problem
	}
	return fmt.Sprintf("line %d: %s", b.Line, b.Problem)
}

// BadFileError says which lines of a file could not be read.
type BadFileError struct {
	File string
	Bad  []BadLine
}

func (e *BadFileError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, nothing was imported (skip_bad imports the rest)", e.File, prose.Count(len(e.Bad), "bad line"))
	for _, bad := range e.Bad[:min(5, len(e.Bad))] {
		fmt.Fprintf(&b, "\n  %v", bad)
	}
	if more := len(e.Bad) - 5; more > 0 {
		fmt.Fprintf(&b, "\n  … %d more", more)
	}
	return b.String()
}

// Import takes facts in, in one commit, or in several where they are more than
// 50,000: see importEach. A native file keeps its recorded
// times, ids and sources; records are asserted with source kind import and
// marked until somebody confirms them. What was retracted or erased here stays
// away, unless merge is replace.
func (s *Store) Import(ctx context.Context, in Incoming) (Imported, error) {
	if in.Merge == "" {
		in.Merge = mergeSkip
	}
	if !slices.Contains([]string{mergeSkip, mergeReplace, mergeAppend}, in.Merge) {
		return Imported{}, refusal.Argument("merge", "merge %q is none of skip-existing, replace, append", prose.Clip(in.Merge, 40))
	}
	parsed, err := in.parse()
	if err != nil {
		return Imported{}, err
	}
	m := &merger{store: s, in: in, r: Imported{File: in.name(), Kind: string(parsed.Kind), DryRun: in.DryRun}}
	m.clean(&parsed)
	if len(m.r.Bad) > 0 && !in.SkipBad {
		return Imported{}, &BadFileError{in.name(), m.r.Bad}
	}
	if len(parsed.Records) > importEach || parsed.Document != nil && len(parsed.Document.Facts) > importEach {
		defer sparing()()
	}
	err = m.commitAll(ctx, parsed)
	if err == nil && !in.DryRun && m.r.Parsed >= syncTail { // whatever it added: an import before may have been killed here
		s.afterImport(ctx)
	}
	return m.r, err
}

// afterImport does at once what a server would do in the background, so that
// the next command does not read a journal that is as long as the store. The
// snapshot is rewritten only when what was imported is a good part of it: the
// price is that of the import. The facts are safe already. An import that was
// killed after its last commit leaves all this to the one that repeats it.
func (s *Store) afterImport(ctx context.Context) {
	at, compact := s.log.Stats(), s.log.SyncKeys
	if at.JournalBytes > at.Limit() {
		if compact = s.log.Compact; at.JournalBytes > roomEach/4 {
			compact = s.log.Unload
		}
	}
	if err := compact(ctx); err != nil {
		s.board.Add("the journal was not compacted: %v", err)
	}
	if err := s.SyncIndex(ctx); err != nil {
		s.board.Add("the index was not written: %v", err)
	}
}

func (in Incoming) name() string {
	if in.File == "" || in.File == "-" {
		return "standard input"
	}
	return filepath.Base(in.File)
}

func (in Incoming) parse() (formats.Parsed, error) {
	if in.Data != nil {
		return formats.ParseDocument(in.Data)
	}
	if err := required("file", strings.TrimSpace(in.File)); err != nil {
		return formats.Parsed{}, err
	}
	data, err := os.ReadFile(in.File)
	if errors.Is(err, fs.ErrNotExist) {
		return formats.Parsed{}, refusal.NotFound("No such file: %s", in.File)
	}
	if err != nil {
		return formats.Parsed{}, err
	}
	parsed, err := formats.ParseDocument(bytes.NewReader(data))
	if err == nil && parsed.Kind == formats.LeanCtx {
		// its lessons and links are in files of their own beside it
		if d, e := formats.ReadLeanCtxDir(os.DirFS(filepath.Dir(in.File))); e == nil && len(d.Facts) == len(parsed.Document.Facts) {
			parsed.Document = d
		}
	}
	return parsed, err
}

// Text gives the answer's lines.
func (r Imported) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Parsed %s from %s", prose.Count(r.Parsed, "fact"), prose.Line(r.File))
	if r.DryRun {
		fmt.Fprintf(&b, "\n[DRY RUN] Would add: %d, skip: %d, replace: %d", r.Added, r.Skipped, r.Replaced)
		for _, x := range r.First {
			fmt.Fprintf(&b, "\n  [%s/%s]: %s", prose.Line(x.Category), prose.Line(x.Key), prose.Brief(x.Value))
		}
		if more := r.Added + r.Replaced - len(r.First); more > 0 {
			fmt.Fprintf(&b, "\n  … %d more", more)
		}
	} else {
		fmt.Fprintf(&b, "\nImport complete: %d added, %d skipped, %d replaced", r.Added, r.Skipped, r.Replaced)
	}
	if r.Lessons > 0 {
		fmt.Fprintf(&b, "\nPatterns, gotchas, relations and reminders: %d new", r.Lessons)
	}
	if r.Redacted > 0 {
		fmt.Fprintf(&b, "\nRedacted before storing: %s", prose.Count(r.Redacted, "secret"))
	}
	for _, bad := range r.Bad[:min(5, len(r.Bad))] {
		fmt.Fprintf(&b, "\n  left out: %v", bad)
	}
	if more := len(r.Bad) - 5; more > 0 {
		fmt.Fprintf(&b, "\n  … %d more were left out", more)
	}
	return b.String()
}
