package transfer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/formats/foreign"
	"leanctx/internal/args"
	"leanctx/internal/atomicfile"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/replica"
	"leanctx/knowledge/state"
)

// The forms of an export.
const (
	formatJSON  = "json"
	formatJSONL = "jsonl"
	formatArray = "array" // formatMarkdown is in rooms.go
)

// Outgoing asks for the whole store as a file.
type Outgoing struct {
	Format string `json:"format,omitempty" short:"f" enum:"json,jsonl,array,md" jsonschema:"json: everything; jsonl, array: the current facts, patterns and gotchas; md: a directory with a file for each room (default json)"`
	Shared bool   `json:"shared,omitempty" jsonschema:"only what sync shares, the same bytes on every machine (json)"`
	File   string `json:"file,omitempty" flag:"output" short:"o" jsonschema:"where to write it; without it the answer is the export"`
	Force  bool   `json:"force,omitempty" jsonschema:"with md: overwrite files that somebody edited or wrote"`

	Below string `json:"-"` // a directory above File: folders below it are made, and no link is followed; see [atomicfile.WriteBelow]
}

// Exported is a finished export.
type Exported struct {
	Format string `json:"format"`
	File   string `json:"file,omitempty"`
	Facts  int    `json:"facts"` // active ones
	Data   string `json:"data,omitempty"`

	Kept    []string          `json:"kept,omitempty"`     // edited files of rooms that are gone
	LeftOut []foreign.LeftOut `json:"left_out,omitempty"` // what the format has no place for
}

// Text gives the export itself, or where it was written.
func (e Exported) Text() string {
	if e.File == "" {
		return strings.TrimSuffix(e.Data, "\n")
	}
	text := fmt.Sprintf("Exported to %s (%s, format=%s)", prose.Line(e.File), prose.Count(e.Facts, "active fact"), e.Format)
	if len(e.LeftOut) > 0 {
		text += "\n  left out, " + leftOut(e.LeftOut)
	}
	if len(e.Kept) > 0 {
		text += "\n  edited files of rooms that are gone, kept as they are: " + listed(e.Kept)
	}
	return text
}

// Export writes every version, link and note (json). Or it writes the current facts in a form
// that other programs read (jsonl, array) or that people edit (md). A file is replaced whole or
// not at all.
func Export(ctx context.Context, s *knowledge.Store, o Outgoing) (Exported, error) {
	if o.Format == "" {
		o.Format = formatJSON
	}
	if o.Shared && o.Format != formatJSON {
		return Exported{}, refusal.Argument("shared", "shared is for format=json")
	}
	if o.Format == formatMarkdown {
		return exportRooms(ctx, s, o)
	}
	r := Exported{Format: o.Format, File: o.File}
	var b bytes.Buffer
	err := s.View(ctx, func(st *state.State, now time.Time) error {
		b.Reset()
		r.Facts = active(st, now)
		if o.Format != formatJSON {
			r.LeftOut = otherThanFacts(st, now)
		}
		switch o.Format {
		case formatJSON:
			if o.Shared {
				d, err := replica.Document(st, s.Dir())
				if err != nil {
					return err
				}
				r.Facts = activeIn(st, now, d.Facts)
				locate(s, d)
				return fact.EncodeFile(&b, d)
			}
			return fact.EncodeFile(&b, exportOf(st, s))
		case formatJSONL:
			return formats.EncodeJSONL(&b, recordsOf(st, s, now))
		case formatArray:
			return formats.EncodeArray(&b, recordsOf(st, s, now))
		}
		return refusal.Argument("format", "format %q is none of json, jsonl, array, md", prose.Clip(o.Format, 40))
	})
	if err != nil {
		return Exported{}, err
	}
	if o.File == "" {
		r.Data = b.String()
		if len(r.LeftOut) > 0 { // the answer is the export
			s.Warn("left out, %s", leftOut(r.LeftOut))
		}
		return r, nil
	}
	if err := insideProject(s, o.File); err != nil {
		return r, err
	}
	return r, o.write(o.File, b.Bytes())
}

// write writes a file of an export.
func (o *Outgoing) write(file string, data []byte) error {
	if o.Below == "" {
		return atomicfile.WriteOutput(file, data)
	}
	name, err := filepath.Rel(o.Below, file)
	if err != nil {
		return err
	}
	return atomicfile.WriteBelow(o.Below, name, data)
}

// otherThanFacts is what a store has beside the current values of its facts, their questions, tags and
// examples.
func otherThanFacts(st *state.State, now time.Time) (out []foreign.LeftOut) {
	others, aliases, pins := 0, 0, 0
	for _, vs := range st.Sorted() {
		current := fact.AllCurrent(vs, now)
		others += len(vs) - len(current)
		for _, v := range current {
			aliases += len(v.Aliases)
			if v.Pinned {
				pins++
			}
		}
	}
	for _, x := range []foreign.LeftOut{
		{What: "version", Count: others}, {What: "relation", Count: len(st.Relations)}, {What: "reminder", Count: len(st.Reminders)},
		{What: "dispute", Count: len(st.Disputed)}, {What: "judgement", Count: len(st.Judged)}, {What: "alias", Count: aliases}, {What: "pin", Count: pins},
	} {
		if x.Count > 0 {
			out = append(out, x)
		}
	}
	return out
}

// leftOut tells what an export leaves out.
func leftOut(list []foreign.LeftOut) string {
	names := map[string]string{"version": "version that is past or planned", "alias": "other name"}
	var parts []string
	for _, x := range list {
		part := prose.Count(x.Count, cmp.Or(names[x.What], x.What))
		if x.What == "version" && x.Count > 1 {
			part = prose.Number(x.Count) + " versions that are past or planned"
		}
		parts = append(parts, part)
	}
	return "but in an export as json: " + strings.Join(parts, ", ")
}

// insideProject refuses a file or a directory of the project that leads out of it over a link: anybody
// who writes into the repository could have an export replace a file of the user.
func insideProject(s *knowledge.Store, name string) error {
	if err := args.Inside(s.Options().ProjectRoot, name); err != nil {
		return refusal.Argument("file", "%s %v", prose.Line(name), err)
	}
	return nil
}

// export is the fact file without what belongs to this store alone: its place
// in the journal, and the notes of imports into it. It has the retrievals that
// were counted beside the facts.
func exportOf(st *state.State, s *knowledge.Store) *formats.Document {
	o := s.Options()
	d := st.Document(journal.Header{At: st.At()})
	if d.ProjectHash == "" {
		d.ProjectRoot, d.ProjectHash = o.ProjectRoot, o.ProjectHash
	}
	d.History = slices.DeleteFunc(slices.Clone(d.History), func(h formats.Insight) bool { return h.Kind == state.NoteImport || h.Kind == state.NoteAdopt })
	d.Commits, d.Replica = nil, nil
	read := s.Retrievals()
	locate(s, d)
	for i, v := range d.Facts {
		if r := read(v); r.Count != v.RetrievalCount {
			w := *v
			w.RetrievalCount, w.LastRetrieved = r.Count, &r.Last
			d.Facts[i] = &w
		}
	}
	return d
}

// locate writes the sources of a document as they would be kept now.
func locate(s *knowledge.Store, d *formats.Document) {
	d.Facts, d.Disputes, d.Reminders = slices.Clone(d.Facts), slices.Clone(d.Disputes), slices.Clone(d.Reminders)
	for i, v := range d.Facts {
		d.Facts[i] = s.Located(v)
	}
	for i, x := range d.Disputes {
		d.Disputes[i] = s.LocatedDispute(x)
	}
	for i := range d.Reminders {
		d.Reminders[i].Path = s.Relative(d.Reminders[i].Path)
	}
}

// records are the current facts, archived ones too, in the order of names.
func recordsOf(st *state.State, s *knowledge.Store, now time.Time) []formats.Record {
	out := []formats.Record{}
	for _, vs := range st.Sorted() {
		for _, v := range fact.AllCurrent(vs, now) {
			out = append(out, recordOf(s.Located(v)))
		}
	}
	return out
}

func recordOf(v *fact.Version) formats.Record {
	r := formats.Record{
		Category: v.Category, Key: v.Key, Value: v.Value, Confidence: &v.Confidence, ValidFrom: &v.ValidFrom,
		ValidUntil: v.ValidUntil, Confirmations: v.ConfirmationCount, Timestamp: &v.LastConfirmed, Also: v.Also,
	}
	r.Questions, r.Tags, r.Examples = strings.Join(v.Questions, "; "), v.Tags, v.Examples
	if v.Privacy == knowledge.PrivacyProjectOnly {
		r.Privacy = v.Privacy
	}
	if len(v.Sources) > 0 {
		r.Source = v.Sources[0].Ref
		if r.Source == "" {
			r.Source = v.Sources[0].By
		}
	}
	return r
}
