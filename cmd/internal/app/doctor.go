package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
	"leanctx/embed"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/advice"
)

func (r *run) doctorTool() *op.Tool {
	return &op.Tool{Name: "doctor", Command: "doctor", Summary: "Check the clients, the server and the store.",
		Operations: []op.Operation{op.New("", "Check the clients, the server and the store; say what is wrong and what to do. The exit code is 1 if there is a problem.", op.Changes, r.doctor)}}
}

type checkup struct {
	Fix bool `json:"fix,omitempty" jsonschema:"connect clients again whose settings are wrong, and delete damaged files that were set aside"`
}

func (r *run) doctor(ctx context.Context, sc op.Scope, a checkup) (op.Result, error) {
	p, err := r.stores.machine(ctx, sc)
	if err != nil {
		return nil, err
	}
	x := p.Examine(ctx, build().Version)
	if a.Fix {
		fixed, err := p.Fix(x)
		if err != nil {
			return nil, err
		}
		if len(fixed.Files)+len(fixed.Notes) > 0 && sc.Output != "json" {
			fmt.Fprintln(r.out, fixed.Text())
		}
		x = p.Examine(ctx, build().Version)
	}
	x.Findings = append(x.Findings, r.stores.examine(ctx, sc, a.Fix)...)
	problem := ""
	if n := x.Problems(); n > 0 {
		problem = prose.Count(n, "problem") + " found"
	}
	return r.shown(sc, x, problem)
}

// examine checks the configuration, the model and the store of this project.
func (s *stores) examine(ctx context.Context, sc op.Scope, fix bool) []hook.Finding {
	if _, _, err := s.settings(sc); err != nil {
		return []hook.Finding{{Level: hook.Problem, Subject: "configuration", Text: err.Error(), Fix: "fix the file"}}
	}
	found := []hook.Finding{{Level: hook.Fine, Subject: "configuration", Text: "can be read"}, s.models()}
	projects, dir, err := s.projectRegistry(sc)
	if err != nil {
		return append(found, hook.Finding{Level: hook.Problem, Subject: "projects", Text: err.Error()})
	}
	p, err := projects.Lookup(ctx, dir)
	switch {
	case err != nil:
		return append(found, hook.Finding{Level: hook.Problem, Subject: "project", Text: err.Error()})
	case !p.Known:
		return append(found, hook.Finding{Level: hook.Fine, Subject: "project", Text: p.Root + ": nothing is remembered of it yet"})
	}
	return append(append(found, s.health(ctx, sc, fix)...), s.teamHealth(ctx, sc)...)
}

// absentWord is a word that no fact contains. A search for it opens the index, which rebuilds
// a damaged one, and counts as no retrieval of a fact.
const absentWord = "lean-ctx-doctor-looks-for-nothing"

func (s *stores) health(ctx context.Context, sc op.Scope, fix bool) []hook.Finding {
	sc.Effect = op.Reads // it works on a disk that cannot be written
	store, err := s.facts(ctx, sc)
	var h advice.Report
	if err == nil {
		_, err = store.Recall(ctx, knowledge.Question{Query: absentWord, Mode: "lexical", Limit: 1})
	}
	if err == nil {
		h, err = advice.Health(ctx, store, knowledge.Nothing{})
	}
	switch {
	case errors.Is(err, journal.ErrNewer):
		return []hook.Finding{{Level: hook.Problem, Subject: "store", Text: err.Error()}} // it says what to do
	case err != nil:
		return []hook.Finding{{Level: hook.Problem, Subject: "store", Text: err.Error(), Fix: "lean-ctx knowledge health"}}
	}
	f := hook.Finding{Level: hook.Fine, Subject: "store", Text: fmt.Sprintf("%s, %s contradictory, no damage", prose.Count(h.Facts, "fact"), prose.Count(len(h.Contradictions), "pair"))}
	if h.Gone != "" {
		f.Level, f.Text, f.Fix = hook.Problem, h.Damage[0], "put a backup in its place, or lean-ctx doctor --fix to begin anew"
		if fix {
			if err := s.removeAside([]string{h.Gone}); err != nil {
				f.Text = err.Error()
			} else {
				f.Level, f.Fix = hook.Fine, ""
			}
		}
		return []hook.Finding{f}
	}
	var removed []hook.Finding
	if fix && len(h.SetAside) > 0 {
		text := "deleted, which was set aside: " + strings.Join(h.SetAside, "; ")
		if err := s.removeAside(h.SetAside); err != nil {
			return []hook.Finding{{Level: hook.Problem, Subject: "store", Text: err.Error()}}
		}
		removed, h.SetAside = []hook.Finding{{Level: hook.Fine, Subject: "store", Text: text}}, nil
	}
	if n := len(h.Damage) + len(h.SetAside); n > 0 {
		var traces []string
		for _, text := range append(h.Damage, h.SetAside...) {
			traces = append(traces, strings.TrimSuffix(text, "."))
		}
		f = hook.Finding{Level: hook.Problem, Subject: "store", Text: prose.Count(n, "trace") + " of damage: " + strings.Join(traces, "; "),
			Fix: "the rest is whole and in use; see what was in those files, then lean-ctx doctor --fix deletes them"}
		if len(h.SetAside) == 0 { // nothing was written since
			f.Fix = "the rest is whole and in use; lean-ctx compact sets the damaged file aside"
		}
	} else if h.Clock != "" {
		f.Level, f.Text = hook.Problem, h.Clock
	}
	index := hook.Finding{Level: hook.Fine, Subject: "index", Text: h.Index}
	if h.Reindexing {
		index.Text = "damaged or missing; it is being rebuilt"
	}
	return append(append(removed, f, index), s.syncFinding(ctx, sc, store)...)
}

// removeAside deletes files of the data directory that were set aside.
func (s *stores) removeAside(paths []string) error {
	root, err := os.OpenRoot(s.config.DataDir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, path := range paths {
		rel, err := filepath.Rel(s.config.DataDir, path)
		if err == nil {
			err = root.Remove(rel)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// models checks whether a model is installed, and compares the checksums of its files. It
// does not load the model, which takes seconds; embeddings_status says more.
func (s *stores) models() hook.Finding {
	f := hook.Finding{Level: hook.Fine, Subject: "model"}
	dir, m, err := embed.Current(s.config.ModelsDir)
	if err == nil {
		err = embed.Verify(dir)
	}
	switch {
	case errors.Is(err, embed.ErrNoModel):
		f.Text = "none installed, the built-in encoder is used"
	case err != nil:
		f.Level, f.Text = hook.Problem, hook.Line(err.Error())+"; until then the built-in encoder is used"
		f.Fix = "lean-ctx embeddings install MODEL, or move " + s.config.ModelsDir + " away"
		if m != nil {
			f.Fix += " (it came from " + m.Source + ")"
		}
	default:
		f.Text = m.Name + " in " + dir
	}
	return f
}
