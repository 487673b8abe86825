package formats

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// ReadLeanCtxDir reads a project's directory of lean-ctx, the program whose
// place ours takes: knowledge.json and, when they are there, gotchas.json and
// relations.json. The document's Schema is 0.
//
// Defaults are that program's: privacy project_only, archetype by category, one
// confirmation, one revision; valid_from, last_confirmed and recorded_from are
// created_at. Confidences outside 0..1, which its command line accepted, are
// clamped. Known enum values are spelled in snake_case, unknown ones stay.
// Supersedes, there an MD5 or (older) a name, becomes the id of that version
// if the file has it, else stays.
//
// Its log of errors, pending errors and statistics of gotchas are not read.
// A knowledge.json that has a schema is not that program's: an error.
func ReadLeanCtxDir(fsys fs.FS) (*Document, error) {
	data, err := fs.ReadFile(fsys, "knowledge.json")
	if err != nil {
		return nil, err
	}
	d, err := DecodeNative(data)
	if err != nil {
		return nil, fmt.Errorf("knowledge.json: %w", err)
	}
	if d.Schema != 0 {
		return nil, fmt.Errorf("knowledge.json has schema %d: it is our own fact file, not one to take over", d.Schema)
	}
	var mistakes struct {
		Gotchas []Gotcha `json:"gotchas"`
	}
	if err := readSibling(fsys, "gotchas.json", &mistakes); err != nil {
		return nil, err
	}
	var links struct {
		Edges []Relation `json:"edges"`
	}
	if err := readSibling(fsys, "relations.json", &links); err != nil {
		return nil, err
	}
	d.Gotchas = append(d.Gotchas, mistakes.Gotchas...)
	d.Relations = append(d.Relations, links.Edges...)
	d.adoptLists()
	return d, nil
}

// readSibling reads a file that need not be there. That program wrote these
// files in place, so an empty one is what a crash left: nothing.
func readSibling(fsys fs.FS, name string, into any) error {
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, into, decoding); err != nil {
		return fmt.Errorf("%s: %w", name, mistake(err, data, 1))
	}
	return nil
}

// adopt gives facts the defaults and spellings that lean-ctx means.
func (d *Document) adopt() {
	for _, f := range d.Facts {
		or(&f.Privacy, absent, "project_only")
		f.Privacy = snake(f.Privacy, "project_only", "linked_projects", "team")
		f.Archetype = snake(f.Archetype, "architecture", "gotcha", "decision", "pattern", "convention",
			"workflow", "dependency", "preference", "observation", "fact")
		if f.Confidence = clamp(f.Confidence); f.RevisionCount == 0 {
			f.RevisionCount = 1 // what its imports write
		}
		if f.ConfirmationCount == 0 {
			f.ConfirmationCount = 1
		}
	}
	d.adoptLists()
}

func (d *Document) adoptLists() {
	for i := range d.Gotchas {
		g := &d.Gotchas[i]
		g.Severity = snake(g.Severity, "critical", "warning", "info")
		g.Source = snake(g.Source, "auto_detected", "agent_reported", "cross_session_correlated", "promoted")
		g.Confidence = clamp(g.Confidence)
		g.Occurrences = max(g.Occurrences, 1)
	}
	for i := range d.Relations {
		r := &d.Relations[i]
		r.Kind = snake(r.Kind, "depends_on", "related_to", "supports", "contradicts", "supersedes")
		r.Count = max(r.Count, 1)
	}
	for i := range d.JudgedPairs {
		j := &d.JudgedPairs[i]
		j.Verdict = snake(j.Verdict, "supersedes", "compatible", "unrelated")
	}
}

// snake spells an enum value as ours are if it is one of those known: some of
// that program's versions wrote ProjectOnly for project_only.
func snake(s string, known ...string) string {
	bare := strings.ReplaceAll(s, "_", "")
	for _, k := range known {
		if strings.EqualFold(bare, strings.ReplaceAll(k, "_", "")) {
			return k
		}
	}
	return s
}

func clamp(f float64) float64 { return min(max(f, 0), 1) }

// link turns what supersedes says into ids.
func (d *Document) link() {
	byDigest := map[string]*Fact{}
	byName := map[string][]*Fact{}
	for _, f := range d.Facts {
		if f.Supersedes != "" && len(byName) == 0 {
			for _, g := range d.Facts {
				byDigest[g.digest()] = g
				byName[g.Category+"/"+g.Key] = append(byName[g.Category+"/"+g.Key], g)
			}
		}
		old := byDigest[string(f.Supersedes)]
		if old == nil && string(f.Supersedes) == f.Category+"/"+f.Key {
			old = f.before(byName[string(f.Supersedes)])
		}
		if old != nil && old != f {
			f.Supersedes = Optional(old.ID)
		}
	}
}

// before is the latest of versions that is older than f; nil if there is none.
func (f *Fact) before(versions []*Fact) (last *Fact) {
	for _, v := range versions {
		if v.CreatedAt.Before(f.CreatedAt) && (last == nil || !v.CreatedAt.Before(last.CreatedAt)) {
			last = v
		}
	}
	return last
}

// digest is the name lean-ctx gives a version when another takes its place.
func (f *Fact) digest() string {
	layout := "2006-01-02T15:04:05"
	switch ns := f.CreatedAt.Nanosecond(); {
	case ns == 0:
	case ns%int(time.Millisecond) == 0:
		layout += ".000"
	case ns%int(time.Microsecond) == 0:
		layout += ".000000"
	default:
		layout += ".000000000"
	}
	sum := md5.Sum([]byte(strings.Join([]string{
		f.Category, f.Key, f.Value, f.SourceSession, f.CreatedAt.UTC().Format(layout + "+00:00"),
	}, "\n")))
	return hex.EncodeToString(sum[:])
}
