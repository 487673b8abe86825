package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/internal/refusal"
	"leanctx/knowledge/replica"
)

// syncTool is `lean-ctx sync`.
func syncTool(s *stores) *op.Tool {
	const summary = "Share the project's facts through its repository."
	return &op.Tool{Name: "sync", Command: "sync", Summary: summary,
		Operations: []op.Operation{op.New("", "Write what was remembered here into .lean-ctx/ of the repository, and take in what others wrote there.", op.Changes, repositorySync{s}.sync)}}
}

// repositorySync keeps a project's facts and those in its repository the same.
type repositorySync struct{ stores *stores }

type syncing struct {
	Check bool `json:"check,omitempty" jsonschema:"change nothing; the exit code is 4 if something is not yet written or taken in"`
}

func (c repositorySync) sync(ctx context.Context, sc op.Scope, a syncing) (replica.Report, error) {
	w, err := c.stores.of(ctx, sc)
	if err != nil {
		return replica.Report{}, err
	}
	if m := w.project.at; m.in() {
		return replica.Report{}, fmt.Errorf("this project is in team %s, which has its facts already: a project in a team has no sync", m.Stream)
	}
	return w.sync(ctx, replica.Options{Check: a.Check})
}

func (w projectStores) sync(ctx context.Context, o replica.Options) (replica.Report, error) {
	store, err := w.factStore()
	if err != nil {
		return replica.Report{}, err
	}
	if err := w.sameHistory(ctx); err != nil {
		return replica.Report{}, err
	}
	o.Root, o.Project = w.project.Root, recognised(w.project)
	return replica.Sync(ctx, store, o)
}

// sameHistory refuses to write a project's facts into a repository with another history: they
// could be pushed to others with it. What is not known, in a shallow clone, is not different.
func (w projectStores) sameHistory(ctx context.Context) error {
	projects, err := w.registry(config.Share)
	if err != nil {
		return err
	}
	here, err := projects.FirstCommits(ctx, w.project.Root)
	ours := w.project.FirstCommits
	if err != nil || len(here) == 0 || len(ours) == 0 || slices.ContainsFunc(here, func(c string) bool { return slices.Contains(ours, c) }) {
		return err
	}
	return &refusal.HintError{
		Problem: fmt.Sprintf("the repository at %s has another history than project %s: its first commit is %.12s and not %.12s", w.project.Root, w.project.Hash, here[0], ours[0]),
		Hint:    "lean-ctx project unlink makes it a separate project; lean-ctx project link " + w.project.Hash + " says that it is the same",
	}
}

// recognised is how a project is recognised in its clones. A remote that is a path says
// something about this machine only.
func recognised(p projectPlace) replica.Project {
	r := replica.Project{FirstCommits: p.FirstCommits, Remote: p.Remote}
	if filepath.IsAbs(r.Remote) || strings.HasPrefix(r.Remote, ".") || !strings.Contains(r.Remote, "/") || filepath.VolumeName(r.Remote) != "" {
		r.Remote = ""
	}
	return r
}

// repositoryFacts counts the facts in a project's repository. A project in a team has no sync.
func repositoryFacts(p projectPlace) int {
	if p.at.in() {
		return 0
	}
	return replica.CountFacts(p.Root)
}

// takeIn has connect take in what the repository brings. It writes nothing there.
func (c repositorySync) takeIn(ctx context.Context, sc op.Scope, root string) (notes []string) {
	if replica.CountFacts(root) == 0 {
		return nil
	}
	w, err := c.stores.of(ctx, sc)
	var r replica.Report
	if err == nil && !w.project.at.in() {
		r, err = w.sync(ctx, replica.Options{TakeIn: true})
	}
	switch {
	case err != nil:
		return []string{"The memory of this repository was not taken in: " + err.Error()}
	case r.TakenIn > 0:
		return []string{r.Text()}
	}
	return nil
}
