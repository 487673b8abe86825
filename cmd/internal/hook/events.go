package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
)

const dataLine = prose.MemoryHeading

// Deadline is how long an event may take before it is given up, unless its caller sets another.
const Deadline = time.Second

const (
	maxFacts   = 6 // beside a prompt
	maxAtTool  = 2 // lines beside a tool
	maxNotices = 3 // of another kind, beside them
	maxChanges = 4 // of what was told; the next event tells more
	// maxText is in characters. Codex puts more than 2,500 tokens into a file; other
	// clients cut at 10,000 characters.
	maxText = 7_000
)

// ProjectView is what an event asks of a project. Only Conclude changes something there.
type ProjectView interface {
	// Briefing is what a session should begin with, and the facts in it. It is
	// empty if nothing is known.
	Briefing(ctx context.Context) (text string, facts []Told, err error)
	// Relevant lists the facts for a prompt, the best first, but for those that the
	// reader was told.
	Relevant(ctx context.Context, prompt string) ([]Notice, error)
	// AtTool lists what there is to say at a call of a tool: reminders, gotchas, others' claims
	// and facts on its files, which are absolute paths, and facts on its command.
	AtTool(ctx context.Context, files []string, command string) ([]Notice, error)
	// Unread lists the notices on unread messages of the session's agent.
	Unread(ctx context.Context) ([]Notice, error)
	// Conclude writes the automatic diary entry of the session's agent.
	Conclude(ctx context.Context) error
}

// Call is one run of a client's hook.
type Call struct {
	Client string // of the table
	Event  string
	In     io.Reader // the client's JSON; nil: none
	Dir    string    // the working directory, if the client names none
	Data   string    // our data directory
	Now    func() time.Time
	Clean  func(text string) string // takes secrets out of what is logged; nil: there are none

	// InAgent says that the environment bears the mark of an agent's shell. Claude Code 2.1 sets its mark for its hooks too, so it
	// tells something only of a client whose word is kept without a transcript.
	InAgent bool

	// Open opens the project of a session. It returns nil if hooks are off there.
	Open func(ctx context.Context, s *Session) (ProjectView, error)
}

// Run answers an event in the client's JSON, or with nothing, and then keeps what was said in the
// session. It takes at most [Deadline], or until the deadline of ctx if that has one: what was found until
// shortly before is told without the rest. It logs errors in logs/hook.log.
func (c Call) Run(ctx context.Context) (answer []byte) {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, Deadline)
		defer cancel()
	}
	answered, kept := make(chan []byte, 1), make(chan struct{})
	go func() {
		defer close(kept)
		answer, keep, err := c.answer(ctx)
		if err != nil {
			c.log("no answer", err)
		}
		answered <- answer
		if keep != nil {
			keep(ctx)
		}
	}()
	select {
	case answer = <-answered:
	case <-ctx.Done():
		c.log("given up", context.Cause(ctx))
		return nil // the rest ends with the process
	}
	select {
	case <-kept:
	case <-ctx.Done(): // what was not taken in waits for the next event
	}
	return answer
}

// answer finds the answer to an event. keep is what is left to do after it; nil: nothing.
func (c Call) answer(ctx context.Context) (out []byte, keep func(context.Context), err error) {
	defer func() {
		if cause := recover(); cause != nil {
			out, err = nil, fmt.Errorf("internal error: %v", cause)
		}
	}()
	if c.Event == "user-prompt-submit" { // as entries written by hand name it, after Claude Code's UserPromptSubmit
		c.Event = UserPrompt
	}
	if !slices.Contains(Names(), c.Client) {
		return nil, nil, fmt.Errorf("unknown client %q", c.Client)
	}
	if !slices.Contains(Events(), c.Event) {
		return nil, nil, fmt.Errorf("unknown event %q", c.Event)
	}
	in, err := read(c.In)
	if err != nil {
		return nil, nil, err
	}
	c.Client = in.client(c.Client)
	if dir := in.dir(); dir != "" {
		c.Dir = dir
	}
	s := c.session(in)
	v, err := c.Open(ctx, s)
	if err == nil && v == nil {
		c.pauseAll(in, s.event.At)
	}
	if err != nil || v == nil {
		return nil, nil, err
	}
	if k, ok := v.(keepingView); ok {
		keep = c.keeping(k, in, s)
	}
	out, err = c.told(ctx, v, in, s)
	return out, keep, err
}

// told is what a session is told at an event.
func (c Call) told(ctx context.Context, v ProjectView, in input, s *Session) (out []byte, err error) {
	switch c.Event {
	case SubagentStop:
		return nil, nil
	case PreCompact, SessionEnd, Stop:
		err = v.Conclude(ctx)
		if x, ok := v.(endingView); ok && c.Event == SessionEnd {
			err = errors.Join(err, x.Consolidate(ctx))
		}
		s.pass()
		return nil, err
	}
	if tool := in.ownTool(); tool != "" && c.Event == PreTool { // our server finds the session by it
		s.event.Calls = in.calls(tool)
		s.write()
		return nil, nil
	}
	if category, key, ok := in.assertion(); ok && c.Event == PostTool {
		if own, ok := v.(assertedView); ok { // what the session stored itself it knows
			s.event.Shown, err = own.Asserted(ctx, category, key)
			s.write()
		}
		return nil, err
	}
	if r, ok := v.(rootedView); ok && c.Event == PostTool && in.edits() {
		for _, file := range r.Within(in.files(c.Dir)) {
			s.event.Edited = append(s.event.Edited, c.clean(file)) // a name may hold a secret
		}
	}
	looking, cancel := beforeTelling(ctx)
	defer cancel()
	a, err := c.find(looking, v, in, s)
	if x, ok := v.(changingView); ok && (c.Event == UserPrompt || c.Event == PreTool || c.Event == PostTool || s.resumed) {
		changes, e := inTime(looking, x.Changed)
		err = errors.Join(err, e)
		a.list = append(changes, a.list...)
	}
	if x, ok := v.(readingView); ok {
		a.list = append(a.list, s.unshown(x.NotRead())...)
	}
	if errors.Is(err, errLate) {
		c.log("told in part", err)
	} else if err != nil {
		return nil, err
	}
	text := a.text
	for _, n := range a.list {
		text = strings.TrimPrefix(text+"\n"+n.Text, "\n")
		if n.Fact != "" {
			told := Told{Fact: n.Fact, Part: n.ID, Why: n.Why}
			if n.Told != "" {
				told.Part = "" // the notice says it
			}
			a.facts = append(a.facts, told)
		}
	}
	note := c.forPerson(ctx, v)
	if text == "" {
		s.pass()
		if note == "" {
			return nil, nil
		}
		return []byte(encoded(replyJSON{Person: note})), nil
	}
	text = prose.CutFacts(dataLine+"\n"+text, maxText)
	if !s.give(text, a.source, a.facts, a.list) {
		return nil, nil
	}
	return reply(c.Client, c.Event, in.event(), text, note), nil
}

// personView is a [ProjectView] that has something to tell the person at a session's start, and not
// the model.
type personView interface {
	ForPerson(ctx context.Context) string
}

// assertedView is a [ProjectView] that knows facts by name.
type assertedView interface {
	// Asserted lists the ids of the current versions of a fact.
	Asserted(ctx context.Context, category, key string) ([]string, error)
}

// changingView is a [ProjectView] that knows what has changed of what the session was told.
type changingView interface {
	Changed(ctx context.Context) ([]Notice, error)
}

// readingView is a [ProjectView] that knows what it did not read.
type readingView interface{ NotRead() []Notice }

// endingView is a [ProjectView] that makes facts of what agents wrote down in a session.
type endingView interface{ Consolidate(context.Context) error }

// rootedView is a [ProjectView] that knows where its files are.
type rootedView interface {
	// Within are the paths of those files that are in the project, from its root.
	Within(files []string) []string
}

// forPerson is what the client shows to the person alone.
func (c Call) forPerson(ctx context.Context, v ProjectView) string {
	p, ok := v.(personView)
	if !ok || c.Event != SessionStart || !slices.Contains([]string{"claude-code", "gemini"}, c.Client) {
		return ""
	}
	return p.ForPerson(ctx)
}

// answer is what there is to say at an event.
type answer struct {
	source string // what it answers
	text   string // the briefing
	facts  []Told
	list   []Notice
}

func (c Call) find(ctx context.Context, v ProjectView, in input, s *Session) (a answer, err error) {
	switch c.Event {
	case SessionStart:
		a.source = in.text("source", "trigger")
		a, err = c.briefed(ctx, v, a)
		if x, ok := v.(askingView); ok && err == nil && a.source != "compact" {
			a.list = x.AskForSessions()
		}
	case SubagentStart:
		a.source = in.text("agent_id", "subagent_id", "agent_type", "subagent_type")
		if a, err = c.briefed(ctx, v, a); err == nil {
			a.list, err = c.relevant(ctx, v, in)
		}
		a.list = few(a.list)
	case UserPrompt:
		a.source = in.prompt()
		a.list, err = c.relevant(ctx, v, in)
		if x, ok := v.(saidView); ok && err == nil && !slices.ContainsFunc(a.list, func(n Notice) bool { return n.Fact != "" }) {
			said, e := inTime(ctx, func(ctx context.Context) ([]Notice, error) {
				return x.Said(ctx, strings.TrimSpace(a.source), in.session())
			})
			if e == nil { // its error does not affect the rest
				a.list = append(a.list, said...)
			}
		}
		if unread, e := inTime(ctx, v.Unread); e == nil { // its error does not affect the rest
			a.list = append(unread, a.list...)
		}
		a.list = few(s.unshown(a.list))
	case PreTool, PostTool:
		files, command := in.files(c.Dir), in.command()
		if c.Event == PostTool && tellsBefore(c.Client) { // what is known of it was told before it ran
			command = ""
		}
		a.source = strings.Join(files, "\x00") + "\x00" + command
		a.list, err = v.AtTool(ctx, files, command)
		a.list = s.unshown(a.list)
		a.list = a.list[:min(len(a.list), maxAtTool)]
	}
	return a, err
}

// briefed adds the briefing to an answer.
func (c Call) briefed(ctx context.Context, v ProjectView, a answer) (answer, error) {
	return inTime(ctx, func(ctx context.Context) (out answer, err error) {
		out = a
		out.text, out.facts, err = v.Briefing(ctx)
		return out, err
	})
}

// few limits what a model gets at once. Reminders do not displace facts.
func few(list []Notice) (out []Notice) {
	facts, others := 0, 0
	for _, n := range list {
		count, most := &others, maxNotices
		if n.Fact != "" {
			count, most = &facts, maxFacts
		}
		if *count++; *count <= most {
			out = append(out, n)
		}
	}
	return out
}

// relevant finds the facts for a prompt. A command of the client is no question.
func (c Call) relevant(ctx context.Context, v ProjectView, in input) ([]Notice, error) {
	prompt := strings.TrimSpace(in.prompt())
	if prompt == "" || isCommand(prompt) {
		return nil, nil
	}
	return v.Relevant(ctx, prompt)
}

// isCommand reports whether a prompt is a command of the client, such as /clear. A prompt that
// begins with a path has a second slash.
func isCommand(prompt string) bool {
	name, slash := strings.CutPrefix(strings.Fields(prompt)[0], "/")
	return slash && !strings.Contains(name, "/")
}

// replyJSON holds the forms in which clients take context.
type replyJSON struct {
	Context  string        `json:"additionalContext,omitempty"`
	Cursor   string        `json:"additional_context,omitempty"`
	Cline    string        `json:"contextModification,omitempty"`
	Specific *specificJSON `json:"hookSpecificOutput,omitempty"`
	Person   string        `json:"systemMessage,omitempty"` // shown to the user, not to the model
}

type specificJSON struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext"`
}

// reply is a text in the client's form. Codex refuses unknown members. Copilot takes its own
// form or Claude Code's, depending on how the hook is written.
func reply(client, event, name, text, note string) []byte {
	for _, c := range clients() { // what it did not say, the table knows
		for _, e := range c.hooks.events {
			if name == "" && c.name == client && e.name == event {
				name = e.clientName
			}
		}
	}
	r := replyJSON{Context: text}
	switch client {
	case "claude-code", "codex", "gemini", "windsurf":
		r = replyJSON{Specific: &specificJSON{name, text}, Person: note}
	case "copilot", "vscode":
		r.Specific = &specificJSON{name, text}
	case "cursor":
		r = replyJSON{Cursor: text}
	case "cline":
		r = replyJSON{Cline: text}
	}
	return []byte(encoded(r))
}

// maxLog is the size in bytes at which a log is renamed to .1.
const maxLog = 1 << 20

// log appends an error to logs/hook.log, if there is a data directory.
func (c Call) log(text string, err error) {
	if !exists(c.Data) {
		return
	}
	path := filepath.Join(c.Data, "logs", "hook.log")
	if logProblem(path) != nil {
		return // somebody leads us to another file
	}
	if info, err := os.Lstat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1") // two at once: one of them does it
	}
	if f, e := openFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY); e == nil {
		slog.New(slog.NewTextHandler(f, nil)).Warn(text, "client", c.clean(c.Client), "event", c.clean(c.Event), "error", c.clean(fmt.Sprint(err)))
		_ = f.Close()
	}
}

// clean is a text without secrets.
func (c Call) clean(text string) string {
	if c.Clean == nil {
		return text
	}
	return c.Clean(text)
}

// sessionName is the client's name of the session, as it stands in logs. One that holds a secret is
// replaced, and is still another's for each session.
func (c Call) sessionName(in input) string {
	name := in.session()
	if strings.Trim(name, "0123456789abcdefABCDEF-") == "" { // as nearly all clients name theirs
		return name
	}
	if clean := c.clean(name); clean != name {
		return clean + "-" + shortHash(name)
	}
	return name
}
