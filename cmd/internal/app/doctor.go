package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/agents/session"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
	"leanctx/embed"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/replica"
	"leanctx/overview/project"
)

type checkup struct {
	Start []string `json:"start,omitempty" jsonschema:"clients whose server to start although a file of the project names another program: it asks first"`
	Fix   bool     `json:"fix,omitempty" jsonschema:"connect clients again whose settings are wrong, and delete damaged files that were set aside"`
}

func (c clientCommands) doctor(ctx context.Context, sc op.Scope, a checkup) (op.Result, error) {
	p, err := c.machine(ctx, sc)
	if err != nil {
		return nil, err
	}
	for _, name := range a.Start {
		if !slices.Contains(hook.Names(), name) {
			return nil, &refusal.HintError{Problem: fmt.Sprintf("unknown client %q", name), Hint: "known clients: " + strings.Join(hook.Names(), ", ")}
		}
	}
	p.Person = sc.ByPerson()
	if len(a.Start) > 0 {
		if !p.Person {
			return nil, &op.ForbiddenError{What: "doctor --start is for a person: ask the user to type it at a terminal"}
		}
		p.MayStart = c.mayStart(a.Start)
	}
	x := p.Examine(ctx, build().Version)
	if a.Fix {
		fixed, err := p.Fix(x)
		if err != nil {
			return nil, err
		}
		if len(fixed.Files)+len(fixed.Notes) > 0 && sc.Output != "json" {
			fmt.Fprintln(c.out, fixed.Text())
		}
		x = p.Examine(ctx, build().Version)
	}
	memory := examination{run: c.run, scope: sc, fix: a.Fix}
	memory.examine(ctx)
	x.Findings = append(x.Findings, memory.found...)
	var problem error
	if n := x.Problems(); n > 0 {
		problem = errors.New(prose.Count(n, "problem") + " found")
	}
	return c.shown(sc, x, problem)
}

// mayStart asks at the terminal whether to start what a project's file names for one of some clients. One answer
// holds for the same command line.
func (c clientCommands) mayStart(clients []string) func(client string, line []string) bool {
	answers, in := map[string]bool{}, bufio.NewReader(c.in)
	return func(client string, line []string) bool {
		if !slices.Contains(clients, client) {
			return false
		}
		command := fmt.Sprintf("%q", line)
		answer, asked := answers[command]
		if !asked {
			fmt.Fprintf(c.errs, "A file of this project has %s run %s. Start it? [y/N] ", client, command)
			typed, _ := in.ReadString('\n')
			answer = strings.EqualFold(strings.TrimSpace(typed), "y")
			answers[command] = answer
		}
		return answer
	}
}

// examination is doctor's look at the configuration, the model and the memory of a project.
type examination struct {
	*run
	scope op.Scope
	fix   bool
	found []hook.Finding
}

func (x *examination) fine(subject, text string) {
	x.found = append(x.found, hook.Finding{Level: hook.Fine, Subject: subject, Text: text})
}

func (x *examination) problem(subject, text, fix string) {
	x.found = append(x.found, hook.Finding{Level: hook.Problem, Subject: subject, Text: text, Fix: fix})
}

func (x *examination) examine(ctx context.Context) {
	settings, _, err := x.stores.settings(x.scope)
	if err != nil {
		x.problem("configuration", err.Error(), "fix the file")
		return
	}
	if idle := settings.Ineffective(); len(idle) > 0 {
		x.problem("configuration", strings.Join(idle, "; "), "change the file, or put what you want into "+x.stores.config.UserFile())
	} else {
		x.fine("configuration", "can be read")
	}
	for _, text := range settings.Changes {
		x.found = append(x.found, hook.Finding{Level: hook.Remark, Subject: "configuration", Text: text, Fix: "this project's file says so: look whether you want it"})
	}
	switch {
	case x.stores.config.HooksOff:
		x.problem("hooks", "they are switched off: "+config.HooksVar, "unset it, or leave it so if you mean it")
	case !settings.Hooks:
		where := x.stores.config.UserFile()
		if user, err := x.stores.config.User(); err == nil && user.Hooks {
			where = "the file of the project (see configuration)"
		}
		x.problem("hooks", "they are switched off: hooks in "+where, "take it out of there, or leave it so if you mean it")
	}
	x.model()
	projects, dir, err := x.stores.projectRegistry(x.scope)
	if err != nil {
		x.problem("projects", err.Error(), "")
		return
	}
	p, err := projects.Lookup(ctx, dir)
	switch {
	case err != nil:
		x.problem("project", err.Error(), "")
	case !p.Known && !x.stores.config.Named && x.scope.Project == "" && x.stores.everything(p.Root):
		x.found = append(x.found, hook.Finding{Level: hook.Remark, Subject: "project", Text: p.Root + " is no project unless it is named: nothing is kept here",
			Fix: "cd to a project, or name one: lean-ctx doctor --project PATH"})
	case !p.Known:
		x.fine("project", p.Root+": nothing is remembered of it yet")
		if brings := repositoryBrings(projectPlace{Project: p, at: &membership{}}); brings != "" {
			x.fine("sync", brings+": lean-ctx sync")
		}
	default:
		x.store(ctx)
		x.team(ctx)
	}
	if err == nil {
		x.person(ctx, projects, p.Root)
		x.sessions(settings, p.Hash)
	}
}

// person says by whom facts are that a person asserts here.
func (x *examination) person(ctx context.Context, projects *project.Registry, root string) {
	name, notCounted := projects.Persons(ctx, root)
	text := "what you say yourself is by " + prose.Line(name)
	if notCounted == "" || notCounted == name {
		x.fine("you", text)
		return
	}
	x.found = append(x.found, hook.Finding{Level: hook.Remark, Subject: "you",
		Text: fmt.Sprintf("%s; the name in this repository's own configuration, %s, does not count: whoever works in a clone can write it", text, prose.Line(prose.Clip(notCounted, 64))),
		Fix:  "if it is yours: git config --global user.name " + op.ShellWord(prose.Line(prose.Clip(notCounted, 64)))})
}

// sessions says whether what is said and done in a project is kept, since when, and how much there is.
func (x *examination) sessions(settings config.Settings, project string) {
	store := session.Open(session.Dir(x.stores.config.DataDir, project), nil)
	n, bytes := store.Size()
	held := fmt.Sprintf("%s of this project, %.1f MB", prose.Count(n, "session"), float64(bytes)/1e6)
	if err := x.stores.keeps(settings, store); err != nil {
		f := hook.Finding{Level: hook.Remark, Subject: "sessions", Text: err.Error() + "; there are " + held}
		if hint, ok := errors.AsType[*refusal.HintError](err); ok {
			f.Text, f.Fix = hint.Problem+"; there are "+held, hint.Hint
		}
		x.found = append(x.found, f)
		return
	}
	given, _ := session.ConsentIn(x.stores.config.DataDir)
	x.fine("sessions", fmt.Sprintf("what is said and done is kept on this machine since %s: %s", given.Since.Format(time.DateOnly), held))
}

// model checks whether a model is installed, and compares the checksums of its files. It
// does not load the model, which takes seconds; embeddings_status says more.
func (x *examination) model() {
	models := x.stores.config.ModelsDir
	dir, m, err := embed.Current(models)
	if err == nil {
		err = embed.Verify(dir)
	}
	switch {
	case errors.Is(err, embed.ErrNoModel):
		x.fine("model", "none installed, the built-in encoder is used")
	case err != nil:
		fix := "lean-ctx embeddings install MODEL, or move " + models + " away"
		if m != nil {
			fix += " (it came from " + m.Source + ")"
		}
		x.problem("model", prose.ShortLine(err.Error())+"; until then the built-in encoder is used", fix)
	default:
		x.fine("model", m.Name+" in "+dir)
	}
}

const startOverAdvice = "put a backup in its place, or lean-ctx doctor --fix to start over"

// store checks the project's facts, their index, and what the repository has of them.
func (x *examination) store(ctx context.Context) {
	sc := x.scope
	sc.Effect = op.Reads // it works on a disk that cannot be written
	store, err := x.stores.facts(ctx, sc)
	var h advice.Report
	if err == nil {
		h, err = advice.Health(ctx, store, knowledge.Examining{})
	}
	switch {
	case errors.Is(err, journal.ErrNewer):
		x.problem("store", err.Error(), "") // it says what to do
		return
	case err != nil:
		x.problem("store", err.Error(), "lean-ctx knowledge health")
		return
	case h.Gone != "" && !x.fix:
		x.problem("store", h.Damage[0], startOverAdvice)
		return
	case h.Gone != "":
		if err := x.remove(h.Gone); err != nil {
			x.problem("store", err.Error(), startOverAdvice)
			return
		}
		x.fine("store", h.Damage[0])
		return
	}
	if x.fix && len(h.SetAside) > 0 {
		if err := x.remove(h.SetAside...); err != nil {
			x.problem("store", err.Error(), "")
			return
		}
		x.fine("store", "deleted, which was set aside: "+strings.Join(h.SetAside, "; "))
		h.SetAside = nil
	}
	switch n := len(h.Damage) + len(h.SetAside); {
	case n > 0:
		var traces []string
		for _, text := range append(h.Damage, h.SetAside...) {
			traces = append(traces, strings.TrimSuffix(text, "."))
		}
		fix := "the rest is whole and in use; see what was in those files, then lean-ctx doctor --fix deletes them"
		if len(h.SetAside) == 0 { // nothing was written since
			fix = "the rest is whole and in use; lean-ctx compact sets the damaged file aside"
		}
		x.problem("store", prose.Count(n, "trace")+" of damage: "+strings.Join(traces, "; "), fix)
	case h.Clock != "":
		x.problem("store", h.Clock, "")
	default:
		x.fine("store", fmt.Sprintf("%s, %s contradictory, no damage", prose.Count(h.Facts, "fact"), prose.Count(len(h.Contradictions), "pair")))
	}
	if h.IndexBlocked != "" {
		x.problem("index", h.Index, "move that away, then lean-ctx compact makes the index")
	} else {
		x.fine("index", h.Index)
	}
	x.repository(ctx, sc)
}

// remove deletes files of the data directory that were set aside.
func (x *examination) remove(paths ...string) error {
	data := x.stores.config.DataDir
	root, err := os.OpenRoot(data)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, path := range paths {
		rel, err := filepath.Rel(data, path)
		if err == nil {
			err = root.Remove(rel)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// repository checks whether the store and the repository agree.
func (x *examination) repository(ctx context.Context, sc op.Scope) {
	w, err := x.stores.of(ctx, sc)
	if err != nil {
		return
	}
	brings := repositoryBrings(w.project)
	if brings == "" {
		return
	}
	if store, err := w.factStore(); err == nil && knowledge.RepositoryBrings(ctx, store) != "" {
		x.fine("sync", brings+": lean-ctx sync")
		return
	}
	r, err := w.sync(ctx, replica.Options{Check: true})
	switch {
	case err != nil:
		x.problem("sync", err.Error(), "lean-ctx sync")
	case len(r.Warnings) > 0:
		x.problem("sync", strings.Join(r.Warnings, "; "), "lean-ctx sync")
	default:
		x.fine("sync", r.Text())
	}
}

// clockOff is how much two clocks may differ without being spoken of.
const clockOff = time.Minute

// team checks the team that the project is in, if any.
func (x *examination) team(ctx context.Context) {
	sc := x.scope
	sc.Effect = op.Reads
	t, err := teamCommands{x.run}.status(ctx, sc, noArgs{})
	switch {
	case errors.Is(err, errNoTeam):
		return
	case err != nil:
		x.problem("team", err.Error(), "")
		return
	case t.Unproven:
		x.found = append(x.found, hook.Finding{Level: hook.Remark, Subject: "team", Text: unproven, Fix: unprovenAdvice})
	}
	switch {
	case t.SetBack:
		x.problem("team", prose.ShortLine(t.Problem), "reads work, "+t.asOf()+". "+setBackAdvice)
		return
	case !t.Reachable:
		x.stores.away.Store(true) // said here
		x.problem("team", prose.ShortLine(t.Problem), "reads work, "+t.asOf()+"; start the server, or check the network and the credentials")
		return
	}
	s := t.Status
	x.fine("team", fmt.Sprintf("%s at %s is reachable in %s: NATS %s, format %s, %s behind", t.Team, t.Server, s.RTT.Round(10*time.Microsecond), s.Version, s.Format, prose.Count(int(t.Behind), "commit")))
	if t.Full {
		x.problem("team", "the server has no room and refuses writes: "+prose.ShortLine(t.Problem), "make room on the server's disk, or raise its limit; reads work")
	}
	if s.Ahead.Abs() > clockOff {
		x.problem("team", fmt.Sprintf("this machine's clock and the server's differ by %s", s.Ahead.Abs().Round(time.Second)), "set the clock")
	}
	if s.MaxBytes > 0 && s.Bytes > uint64(s.MaxBytes)/10*9 {
		x.problem("team", fmt.Sprintf("the stream has %s of at most %s", size(s.Bytes), size(uint64(s.MaxBytes))), "raise the stream's limit on the server; a full stream refuses writes")
	}
	if s.Current < s.Replicas {
		x.problem("team", fmt.Sprintf("%d of %d replicas have everything", s.Current, s.Replicas), "start the other servers of the cluster")
	}
}
