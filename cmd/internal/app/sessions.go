package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/agents/session"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/formats"
	"leanctx/formats/transcript"
	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
	"leanctx/overview/project"
)

// sessions opens what was said and done in a project.
func (w projectStores) sessions() (*session.Store, error) {
	settings, _, err := w.settings(w.scope)
	if err == nil && w.project.other {
		err = &op.ForbiddenError{What: "what was said in sessions of " + w.project.Name + " is told in that project alone"}
	}
	if err != nil {
		return nil, err
	}
	return openOf(w, func(*membership, *secret.Redactor) (*session.Store, error) {
		// A repository's rules are for what leaves this machine: they would run over all that a client writes, in each hook.
		settings.Brought = nil
		r, err := settings.Redactor()
		if err != nil {
			return nil, err
		}
		roots := w.roots()
		return session.Open(session.Dir(w.config.DataDir, w.project.Hash), &session.Options{
			Clean:   func(text string) string { clean, _ := r.Clean(text); return clean },
			Within:  func(dir string) bool { _, ok := relativeIn(roots, dir); return ok },
			Own:     w.ownTranscript,
			Rel:     func(path string) (string, bool) { return relativeIn(roots, path) },
			Prompts: settings.Sessions == config.SessionsPrompts,
			Days:    settings.SessionsDays,
		}), nil
	})
}

// transcriptVars are the variables that name another folder of a client.
var transcriptVars = map[string]string{"claude-code": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}

// transcriptFolders is where clients keep their transcripts, as the environment says.
func (s *stores) transcriptFolders() map[string]string {
	folders := map[string]string{}
	home, err := s.config.Home()
	if err != nil {
		return folders
	}
	for _, client := range transcript.Names() {
		instead := ""
		if name := transcriptVars[client]; name != "" {
			instead = config.Getenv(name)
		}
		folders[client] = transcript.Folder(client, home, instead)
	}
	return folders
}

// knownFolders is where a client keeps its transcripts. What the environment of a person named counts, and not that of this
// process: an agent has it say what it likes.
func (s *stores) knownFolders(client string) []string {
	if c, given := session.ConsentIn(s.config.DataDir); given && len(c.Folders[client]) > 0 {
		return c.Folders[client]
	}
	if folder := s.transcriptFolders()[client]; folder != "" {
		return []string{folder} // nobody has said so yet
	}
	return nil
}

// ownTranscript reports whether a transcript lies where its client keeps them. Elsewhere anybody may have written it: an
// agent in its project, or who gave the project to others.
func (s *stores) ownTranscript(client, path string) bool {
	return slices.ContainsFunc(s.knownFolders(client), func(folder string) bool {
		root, err := filepath.EvalSymlinks(folder)
		if err != nil {
			root = folder
		}
		for _, at := range []string{path, filepath.Dir(path)} { // no link leads out of the folder
			if to, err := filepath.EvalSymlinks(at); err == nil {
				at = to
			}
			if _, ok := formats.PathIn(root, at); !ok && filepath.Clean(at) != filepath.Clean(root) {
				return false
			}
		}
		return true
	})
}

// roots are the directories of the project.
func (w projectStores) roots() []string {
	roots := []string{filepath.FromSlash(w.project.Root)}
	for _, place := range w.project.Places {
		roots = append(roots, filepath.FromSlash(place.Root))
	}
	for _, root := range roots {
		if to, err := filepath.EvalSymlinks(root); err == nil && to != root {
			roots = append(roots, to)
		}
	}
	return roots
}

// relativeIn is a path from the root that it is in.
func relativeIn(roots []string, path string) (string, bool) {
	for _, root := range roots {
		if rel, ok := formats.PathIn(root, path); ok {
			return rel, true
		}
		if filepath.Clean(path) == filepath.Clean(root) {
			return ".", true
		}
	}
	return "", false
}

// keepsSessions says why sessions of a project are not kept; nil: they are.
func (w projectStores) keepsSessions() error {
	settings, _, err := w.settings(w.scope)
	if err != nil {
		return err
	}
	store, err := w.sessions()
	if err != nil {
		return err
	}
	return w.keeps(settings, store)
}

// keeps says why sessions are not kept with these settings, in this store; nil: they are.
func (s *stores) keeps(settings config.Settings, store *session.Store) error {
	_, given := session.ConsentIn(s.config.DataDir)
	switch {
	case !given:
		return &refusal.HintError{Problem: "sessions are not kept on this machine: nobody has switched them on", Hint: "lean-ctx session on"}
	case settings.Sessions == config.SessionsOff:
		return &refusal.HintError{Problem: `sessions are switched off by the configuration ("sessions": "off")`, Hint: "change " + s.config.UserFile()}
	case store.Off():
		return &refusal.HintError{Problem: "sessions are switched off for this project", Hint: "lean-ctx session on"}
	}
	return nil
}

// sessionTool is the command that lists, imports and erases sessions.
func sessionTool(s *stores) *op.Tool {
	c := sessionCommands{s}
	open := ofCall(s, projectStores.sessions)
	show := op.New("show", "Show the outline of a session, or turns of it.", op.Reads, method2(open, (*session.Store).Show), "id").Shown("id", "s-7c1e22a0")
	s.withTold(&show)
	return &op.Tool{
		Name: "session", Command: "session", Summary: "What was said and done in sessions: list, show, search, import and erase them.",
		Operations: []op.Operation{
			op.New("list", "List sessions, the newest first; with words the best match first.", op.Reads, method2(open, (*session.Store).List)),
			show,
			op.New("grep", "Find turns by a regular expression.", op.Reads, method2(open, (*session.Store).Grep)).Shown("regexp", "(?i)never commit"),
			op.New("import", "Take in the sessions that clients have kept so far: of the named clients, or files, or of all.", op.Changes, c.take).Long(),
			op.New("erase", "Remove sessions for good: one, those before a day, or all of the project.", op.Destroys, method2(open, (*session.Store).EraseThem)).
				Shown("id", "s-7c1e22a0").ByPerson(),
			op.New("off", "Keep no more sessions of this project. What was kept stays.", op.Changes, c.off).ByPerson(),
			op.New("on", "Keep sessions on this machine from now on, this project's among them.", op.Changes, c.on).ByPerson(),
		},
	}
}

// method2 makes an operation's function of a store's method.
func method2[S, A, R any](open func(context.Context, op.Scope) (S, error), call func(S, context.Context, A) (R, error)) func(context.Context, op.Scope, A) (R, error) {
	return func(ctx context.Context, sc op.Scope, a A) (none R, err error) {
		store, err := open(ctx, sc)
		if err != nil {
			return none, err
		}
		return call(store, ctx, a)
	}
}

// sessionCommands are the actions of `lean-ctx session` that need more than the store.
type sessionCommands struct{ stores *stores }

func (c sessionCommands) off(ctx context.Context, sc op.Scope, _ noArgs) (plainText, error) {
	return c.turn(ctx, sc, true)
}

func (c sessionCommands) on(ctx context.Context, sc op.Scope, _ noArgs) (plainText, error) {
	if _, err := session.Consenting(c.stores.config.DataDir, "session on", time.Now(), c.stores.transcriptFolders(), true); err != nil {
		return "", err
	}
	return c.turn(ctx, sc, false)
}

func (c sessionCommands) turn(ctx context.Context, sc op.Scope, off bool) (plainText, error) {
	w, err := c.stores.of(ctx, sc)
	if err != nil {
		return "", err
	}
	store, err := w.sessions()
	if err == nil {
		err = store.Switch(off)
	}
	if err != nil {
		return "", err
	}
	if off {
		return plainText(fmt.Sprintf("Sessions of %s are not kept any more. What was kept stays: lean-ctx session list, erase.", w.project.Name)), nil
	}
	return keptHere, w.keepsSessions()
}

// keptHere is the one line that tells that sessions are kept.
const keptHere plainText = "From now on what is said and done in sessions is kept on this machine alone, redacted: lean-ctx session list. To switch that off: lean-ctx session off (this project), or \"sessions\": \"off\" in config.json."

// importing says which sessions are to be taken in.
type importing struct {
	Sources     []string `json:"sources,omitempty" arg:"1" jsonschema:"clients (claude-code, codex, gemini) or files of transcripts; all clients if left out"`
	Since       string   `json:"since,omitempty" jsonschema:"only transcripts that changed after it: a day, or an age such as 90d"`
	AllProjects bool     `json:"all_projects,omitempty" jsonschema:"each session into the project of its directory, not only those of this one"`
	DryRun      bool     `json:"dry_run,omitempty" jsonschema:"say what would be taken in, take in nothing"`
}

// imported counts what was taken in.
type imported struct {
	Sessions int    `json:"sessions"`
	Turns    int    `json:"turns"`
	Files    int    `json:"files"`   // that were looked at
	Others   int    `json:"others"`  // of other projects
	Erased   int    `json:"erased"`  // that were erased before
	Unread   int    `json:"unread"`  // that could not be read
	Lines    int    `json:"skipped"` // of an unknown kind
	DryRun   bool   `json:"dry_run,omitempty"`
	Problem  string `json:"problem,omitempty"` // the first
}

// Text is the counts in a sentence.
func (x imported) Text() string {
	verb := "Took in"
	if x.DryRun {
		verb = "Would take in"
	}
	var text strings.Builder
	text.WriteString(fmt.Sprintf("%s %s", verb, prose.Count(x.Sessions, "session")))
	if !x.DryRun {
		text.WriteString(" with " + prose.Count(x.Turns, "new turn"))
	}
	text.WriteString(" from " + prose.Count(x.Files, "transcript"))
	for _, part := range []struct {
		n    int
		what string
	}{{x.Others, "of other projects"}, {x.Erased, "erased before"}, {x.Unread, "not read"}} {
		if part.n > 0 {
			text.WriteString(fmt.Sprintf("; %d %s", part.n, part.what))
		}
	}
	if x.Problem != "" {
		text.WriteString(" (" + prose.Line(x.Problem) + ")")
	}
	return text.String() + "."
}

func (c sessionCommands) take(ctx context.Context, sc op.Scope, a importing) (out imported, err error) {
	w, err := c.stores.of(ctx, sc)
	if err != nil {
		return out, err
	}
	if err := w.keepsSessions(); err != nil {
		return out, err
	}
	if !sc.ByAgent() { // who imports says where the transcripts are
		if _, err := session.Consenting(c.stores.config.DataDir, "session import", time.Now(), c.stores.transcriptFolders(), true); err != nil {
			return out, err
		}
	}
	files, err := c.transcripts(a)
	if err != nil {
		return out, err
	}
	if sc.ByAgent() {
		for _, f := range files {
			if a.AllProjects || !c.stores.ownTranscript(f.Client, f.Path) { // it may have written the file itself
				return out, &op.ForbiddenError{What: "a file that does not lie where its client keeps transcripts, and those of other projects, are taken in for a person alone: ask the user to type it at a terminal"}
			}
		}
	}
	out.Files, out.DryRun = len(files), a.DryRun
	progress := op.Progress(ctx)
	took := map[*session.Store]bool{}
	homes := map[string]*session.Store{} // of directories; nil: of no project that takes part
	for i, f := range files {
		if err := context.Cause(ctx); err != nil {
			return out, err
		}
		if progress != nil {
			progress(i, len(files))
		}
		failed := func(err error) {
			out.Unread++
			if out.Problem == "" {
				out.Problem = err.Error()
			}
		}
		head, err := transcript.Head(ctx, f.Client, f.Path)
		if err != nil {
			failed(err)
			continue
		}
		own := c.stores.ownTranscript(f.Client, f.Path)
		store, known := homes[head.Dir]
		if !known || !own {
			// A file from anywhere says of itself which project it is of.
			store, err = c.home(ctx, sc, w, head.Dir, a.AllProjects && own)
			if err != nil {
				failed(err)
				continue
			}
			if own {
				homes[head.Dir] = store
			}
		}
		if head.Dir == "" && f.named {
			store, err = w.sessions()
		}
		switch {
		case err != nil:
			failed(err)
			continue
		case store == nil:
			out.Others++
			continue
		case a.DryRun:
			out.Sessions++
			continue
		}
		taken, err := store.TakeIn(ctx, f.Client, f.Path, 0)
		out.Lines += taken.Skipped
		switch {
		case errors.Is(err, session.ErrElsewhere):
			out.Others++
		case errors.Is(err, session.ErrErased):
			out.Erased++
		case err != nil:
			failed(err)
		case taken.Turns > 0:
			out.Sessions++
			out.Turns += taken.Turns
			took[store] = true
		}
	}
	for store := range took { // a search need not scan it then
		if err := store.Index(ctx, time.Time{}); err != nil {
			return out, err
		}
	}
	return out, nil
}

// home is the store of the project that a directory belongs to; nil if its sessions are not to be taken in.
func (c sessionCommands) home(ctx context.Context, sc op.Scope, w projectStores, dir string, all bool) (*session.Store, error) {
	own, err := w.sessions()
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(dir) {
		return nil, nil
	}
	projects, _, err := c.stores.projectRegistry(sc)
	if err != nil {
		return nil, err
	}
	var found project.Project
	if info, e := os.Stat(dir); e == nil && info.IsDir() {
		found, err = projects.Lookup(ctx, dir)
	}
	switch {
	case err != nil:
		return nil, nil // a directory of no project
	case found.Hash == w.project.Hash:
		return own, nil
	case found.Hash == "":
		if _, ok := relativeIn(w.roots(), dir); ok {
			return own, nil // it is gone now
		}
	}
	if !all || found.Hash == "" || !found.Known {
		return nil, nil
	}
	m, err := c.stores.membership(found.Hash)
	if err != nil {
		return nil, err
	}
	other := c.stores.in(op.Scope{Project: found.Root}, projectPlace{Project: found, at: m})
	if other.keepsSessions() != nil {
		return nil, nil
	}
	return other.sessions()
}

// incoming is a transcript of an import.
type incoming struct {
	transcript.File
	named bool // by the call
}

// transcripts lists the files of an import.
func (c sessionCommands) transcripts(a importing) (files []incoming, err error) {
	var since time.Time
	if a.Since != "" {
		from, err := args.ParseInstant("since", a.Since, time.Now(), false)
		if err != nil {
			return nil, err
		}
		since = from.Time
	}
	sources := a.Sources
	if len(sources) == 0 {
		sources = transcript.Names()
	}
	for _, source := range sources {
		if slices.Contains(transcript.Names(), source) {
			for _, folder := range c.stores.knownFolders(source) {
				found, _ := transcript.Find(source, folder) // what cannot be listed is left out
				for _, f := range found {
					files = append(files, incoming{File: f})
				}
			}
			continue
		}
		path, err := c.stores.config.Path(source)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, refusal.Argument("sources", "%q is neither a client (%s) nor a file", prose.Clip(source, 80), strings.Join(transcript.Names(), ", "))
		}
		client := transcript.ClientOf(path)
		if client == "" {
			return nil, refusal.Argument("sources", "%s is no transcript of %s", prose.Clip(source, 80), strings.Join(transcript.Names(), ", "))
		}
		files = append(files, incoming{transcript.File{Client: client, Path: path, Size: info.Size(), Modified: info.ModTime()}, true})
	}
	return slices.DeleteFunc(files, func(f incoming) bool { return f.Modified.Before(since) }), nil
}
