package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/replica"
)

// syncTool is `lean-ctx sync`.
func syncTool(s *stores) *op.Tool {
	const summary = "Share the project's facts through its repository."
	c := repositorySync{s}
	return &op.Tool{Name: "sync", Command: "sync", Summary: summary, Operations: []op.Operation{
		op.New("", "Write what was remembered here into .lean-ctx/ of the repository, and take in what others wrote there.", op.Changes, c.sync),
		op.New("trust", "Have what a replica writes count like what is said here: one's own other machine, a colleague's. Shows the key by which it is known.", op.Changes, c.trust, "replica"),
		op.New("untrust", "Take the trust in a replica back. What it did so far stays.", op.Changes, c.untrust, "replica"),
		op.New("replicas", "List who wrote into the repository, with keys, and who is trusted.", op.Reads, c.replicas),
	}}
}

// repositorySync keeps a project's facts and those in its repository the same.
type repositorySync struct{ stores *stores }

type syncing struct {
	Check bool `json:"check,omitempty" jsonschema:"change nothing; the exit code is 4 if something is not yet written or taken in"`
	Yes   bool `json:"yes,omitempty" short:"y" jsonschema:"also take in what replicas that are not trusted would change (a person at a terminal; in CI: LEAN_CTX_SYNC_ACCEPT=1)"`
}

type trustedReplica struct {
	Replica string `json:"replica,omitempty" arg:"1" jsonschema:"its id, or the fingerprint of its key (lean-ctx sync replicas)"`
}

// at is the project of a call. A project in a team has no sync. The page of somebody who reaches no
// files of this machine has none either: the memory in the repository is files.
func (c repositorySync) at(ctx context.Context, sc op.Scope) (projectStores, error) {
	if g := sc.Grant; g != nil && g.NoFiles {
		return projectStores{}, &op.ForbiddenError{What: "sync reads and writes the repository's files, which this access does not reach"}
	}
	w, err := c.stores.of(ctx, sc)
	if err != nil {
		return w, err
	}
	if m := w.project.at; m.in() {
		return w, fmt.Errorf("this project is in team %s, which has its facts already: a project in a team has no sync", m.Stream)
	}
	return w, nil
}

func (c repositorySync) sync(ctx context.Context, sc op.Scope, a syncing) (replica.Report, error) {
	w, err := c.at(ctx, sc)
	if err != nil {
		return replica.Report{}, err
	}
	if a.Yes && !sc.ByPerson() {
		return replica.Report{}, &refusal.HintError{
			Problem: "only a person takes in what replicas that are not trusted would change",
			Hint:    "ask the user to run lean-ctx sync --yes at a terminal",
		}
	}
	return w.sync(ctx, replica.Options{Check: a.Check, Accept: a.Yes || w.config.SyncAccept && heedsVariable(sc), ByUser: a.Yes})
}

// heedsVariable reports whether the variable that accepts what waits counts for a caller: for CI alone. At a terminal it may come
// from a workspace's settings, which are files of the repository, and a person can type --yes.
func heedsVariable(sc op.Scope) bool { return sc.Caller.Kind == knowledge.KindTool && sc.Agent == "" }

func (c repositorySync) trust(ctx context.Context, sc op.Scope, a trustedReplica) (t replica.Trusting, err error) {
	w, store, err := c.person(ctx, sc)
	if err != nil {
		return t, err
	}
	if t, err = replica.Trust(ctx, store, w.project.Root, a.Replica); err != nil {
		return t, err
	}
	r, err := w.sync(ctx, replica.Options{})
	t.Sync = &r
	return t, err
}

func (c repositorySync) untrust(ctx context.Context, sc op.Scope, a trustedReplica) (t replica.Trusting, err error) {
	_, store, err := c.person(ctx, sc)
	if err != nil {
		return t, err
	}
	return replica.Untrust(ctx, store, a.Replica)
}

func (c repositorySync) replicas(ctx context.Context, sc op.Scope, _ noArgs) (t replica.Trusting, err error) {
	w, err := c.at(ctx, sc)
	if err != nil {
		return t, err
	}
	store, err := w.factStore()
	if err != nil {
		return t, err
	}
	t.Replicas, err = replica.Replicas(ctx, store, w.project.Root)
	return t, err
}

// person refuses a call that no person makes at a terminal.
func (c repositorySync) person(ctx context.Context, sc op.Scope) (w projectStores, store *knowledge.Store, err error) {
	if !sc.ByPerson() {
		return w, nil, &refusal.HintError{Problem: "only a person at a terminal says which replicas are trusted", Hint: "ask the user to run it"}
	}
	if w, err = c.at(ctx, sc); err == nil {
		store, err = w.factStore()
	}
	return w, store, err
}

func (w projectStores) sync(ctx context.Context, o replica.Options) (replica.Report, error) {
	store, err := w.factStore()
	if err != nil {
		return replica.Report{}, err
	}
	if err := w.sameHistory(ctx); err != nil {
		return replica.Report{}, err
	}
	o.Root, o.Project, o.Redact = w.project.Root, recognised(w.project), w.userRedactor().Clean
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

// repositoryBrings says how many facts a project's repository holds; nothing where it holds none. A
// project in a team has no sync.
func repositoryBrings(p projectPlace) string {
	if p.at.in() {
		return ""
	}
	c := replica.CountFacts(p.Root)
	switch {
	case c.More:
		return "This repository brings at least " + prose.Count(c.Facts, "fact")
	case c.Facts > 0:
		return "This repository brings " + prose.Count(c.Facts, "fact")
	}
	return ""
}
