package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/agents/session"
	"leanctx/formats/transcript"
	"leanctx/internal/prose"
)

// The most bytes of a transcript that an event takes in. What does not fit waits for the next event.
const (
	besidePrompt = 256 << 10
	besideOthers = 1 << 20
)

// besideEnd is how long the end of a session may take to write down words for searches. A client gives it 1.5 s and more.
const besideEnd = 200 * time.Millisecond

// keepingView is a [ProjectView] that keeps what was said in sessions.
type keepingView interface {
	Keeps() bool
	Keep(ctx context.Context, x saying) error
}

// askingView is a [ProjectView] that knows whether somebody is to be asked for the consent to keep sessions.
type askingView interface{ AskForSessions() []Notice }

const (
	askID    = "sessions-not-kept"
	askEvery = 7 * 24 * time.Hour
)

// AskForSessions is the last line of a briefing, once a week, where an earlier version connected a client: what is said
// is not kept, since nobody has agreed to it.
func (p *Stores) AskForSessions() []Notice {
	s := p.session
	if s.event.Session == "" || p.Unasked == nil || !exists(filepath.Join(s.data, recordName)) || !p.Unasked() {
		return nil
	}
	week, err := readLog(s.data, s.project, s.event.At.Add(-askEvery))
	if err != nil || slices.ContainsFunc(week, func(x SessionEvent) bool { return slices.Contains(x.Shown, askID) }) {
		return nil
	}
	return []Notice{{ID: askID, Text: "What is said in sessions is not kept: lean-ctx was connected by a version that did not keep it. The user can have it kept, on this machine alone: lean-ctx session on"}}
}

// saying is what an event tells of what was said.
type saying struct {
	client     string
	transcript string // the client writes the session down there; empty: it names none
	most       int64  // bytes of it to take in
	left       bool   // take in what clients that were killed have left
	ends       bool   // there is time to write down the words of what was taken in
	session    string // the client's name of it
	dir        string
	turns      []transcript.Turn // where there is no transcript: what the hook itself was told
}

// keeping is what an event has to keep, as a function that does so; nil: nothing. It says nothing: not to the client, and
// an error goes into the log.
func (c Call) keeping(v keepingView, in input, s *Session) func(context.Context) {
	x := saying{client: c.Client, session: in.session(), dir: c.Dir, most: besideOthers}
	switch c.Event {
	case SessionStart:
		x.left = true
	case UserPrompt:
		x.most = besidePrompt
	case SessionEnd:
		x.ends = true
	case PostTool, PreCompact, Stop:
	case SubagentStop:
		x.transcript = in.text("agent_transcript_path")
	default:
		return nil
	}
	if slices.Contains(transcript.Names(), c.Client) {
		if c.Event != SubagentStop {
			x.transcript = in.text("transcript_path")
		}
	} else {
		x.turns = c.heard(in)
	}
	if x.transcript == "" && len(x.turns) == 0 && !x.left {
		return nil
	}
	if !v.Keeps() {
		if !session.Open(session.Dir(c.Data, s.project), nil).Off() { // that is known to the second
			c.pause(x.transcript, s.event.At)
		}
		return nil
	}
	if err := session.Resume(c.Data, c.Client, x.transcript, s.event.At); err != nil {
		c.log("not kept", err)
		return nil
	}
	if (c.Event == SessionStart || c.Event == UserPrompt) && c.clean(x.transcript) == x.transcript {
		s.event.Transcript = x.transcript
	}
	return func(ctx context.Context) {
		defer func() {
			if cause := recover(); cause != nil {
				c.log("not kept", fmt.Errorf("internal error: %v", cause))
			}
		}()
		err := v.Keep(ctx, x)
		for _, silent := range []error{session.ErrBusy, session.ErrElsewhere, session.ErrErased} {
			if errors.Is(err, silent) {
				return
			}
		}
		if err != nil {
			c.log("not kept", err)
		}
	}
}

// pause notes that sessions, or all hooks, are off by a setting while the client writes a transcript.
func (c Call) pause(path string, now time.Time) {
	if !slices.Contains(transcript.Names(), c.Client) {
		return
	}
	if err := session.Pause(c.Data, c.Client, path, now); err != nil {
		c.log("not noted that sessions are off", err)
	}
}

// pauseAll is what an event does where hooks are off.
func (c Call) pauseAll(in input, now time.Time) {
	for _, member := range []string{"transcript_path", "agent_transcript_path"} {
		c.pause(in.text(member), now)
	}
}

// Paused is what a hook does where all hooks are off: it notes that nothing is to be kept of what is said meanwhile.
func (c Call) Paused(ctx context.Context) {
	if _, given := session.ConsentIn(c.Data); !given {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	noted := make(chan struct{})
	go func() {
		defer close(noted)
		if in, err := read(c.In); err == nil {
			c.Client = in.client(c.Client)
			c.pauseAll(in, time.Now())
		}
	}()
	select {
	case <-noted:
	case <-ctx.Done(): // a client that does not end its input is not waited for
	}
}

// heard are the turns that an event itself tells: a prompt, an answer, a call of a tool.
func (c Call) heard(in input) (turns []transcript.Turn) {
	turn := func(role, text string) {
		if text != "" {
			turns = append(turns, transcript.Turn{ID: shortHash(in.session(), role, text), Role: role, Text: text})
		}
	}
	switch c.Event {
	case UserPrompt:
		if prompt := transcript.Said(in.prompt()); prompt != "" && !isCommand(prompt) {
			role := transcript.User
			if c.InAgent || !c.connected() {
				role = transcript.Program // the client itself does not say so
			}
			turn(role, prompt)
		}
	case Stop, SessionEnd:
		turn(transcript.Agent, in.text("last_assistant_message", "prompt_response", "response", "text"))
	case PostTool:
		name := in.text("tool_name", "toolName", "tool")
		inner, _ := in["postToolUse"].(map[string]any)
		if name == "" {
			name = input(inner).text("toolName", "tool_name", "tool")
		}
		if name == "" {
			return nil
		}
		arguments := in.arguments(inner)
		gave, ok := in.gave(inner)
		id := in.text("tool_use_id", "toolUseId")
		if id == "" {
			id = shortHash(in.session(), name, string(arguments))
		}
		turns = append(turns, transcript.Called(id, name, arguments, gave, ok))
	}
	return turns
}

// connected reports whether somebody has connected the client.
func (c Call) connected() bool {
	r, err := Machine{Data: c.Data}.readRecord()
	return err == nil && slices.ContainsFunc(r.Files, func(x change) bool { return x.Client == c.Client })
}

// arguments are what a tool was asked, as JSON.
func (in input) arguments(inner input) []byte {
	for _, from := range []input{in, inner} {
		for _, name := range []string{"tool_input", "toolInput", "toolArgs", "input", "args", "parameters"} {
			switch x := from[name].(type) {
			case string: // an object as text, or a text
				if json.Valid([]byte(x)) {
					return []byte(x)
				}
				text, _ := json.Marshal(x) // a string has a form
				return text
			case map[string]any:
				text, _ := json.Marshal(x) // it was decoded from JSON
				return text
			}
		}
	}
	return nil
}

// gave is what a tool gave, and whether it succeeded, if the event says so.
func (in input) gave(inner input) (text string, ok *bool) {
	for _, from := range []input{in, inner} {
		for _, name := range []string{"tool_response", "tool_output", "toolResult", "tool_result", "result", "output"} {
			switch x := from[name].(type) {
			case string:
				text = x
			case map[string]any:
				text = input(x).text("textResultForLlm", "llmContent", "output", "stdout", "content", "text")
				if more := input(x).text("stderr", "error"); more != "" && more != text {
					text += "\n" + more
				}
				switch kind := input(x).text("resultType"); kind {
				case "success":
					ok = new(true)
				case "failure", "error":
					ok = new(false)
				}
			default:
				continue
			}
			if success, told := from["success"].(bool); told {
				ok = new(success)
			}
			return text, ok
		}
	}
	return "", nil
}

// Keeps reports whether what is said in the project is kept.
func (p *Stores) Keeps() bool {
	if p.sessions == nil && p.Sessions != nil {
		p.sessions, _ = p.Sessions() // settings that cannot be read are reported by what else reads them
	}
	return p.sessions != nil
}

// Keep takes in what was said in the session since the last time.
func (p *Stores) Keep(ctx context.Context, x saying) (err error) {
	store := p.sessions
	if len(x.turns) > 0 {
		for i := range x.turns {
			x.turns[i].At = p.session.event.At
		}
		_, err = store.Note(ctx, session.Events{Client: x.client, Session: x.session, Dir: x.dir, Turns: x.turns})
	}
	if x.transcript != "" && store.Keeps(x.client, x.transcript) {
		_, err = store.TakeIn(ctx, x.client, x.transcript, x.most)
	}
	if x.ends && err == nil {
		err = store.Index(ctx, time.Now().Add(besideEnd))
	}
	if x.left && err == nil {
		err = errors.Join(p.keepLeft(ctx, x), store.Expire(ctx))
	}
	return err
}

// keepLeft takes in what other sessions have left: those that hooks saw begin in the last days, and those whose records are
// the newest.
func (p *Stores) keepLeft(ctx context.Context, x saying) error {
	var files []session.Source
	for _, e := range slices.Backward(p.session.log) {
		if e.Transcript != "" {
			files = append(files, session.Source{Client: e.Client, Path: e.Transcript})
		}
	}
	return p.sessions.TakeInLeft(ctx, files, x.transcript, x.most)
}

// saidView is a [ProjectView] that knows what users said in earlier sessions.
type saidView interface {
	Said(ctx context.Context, prompt, session string) ([]Notice, error)
}

// besideUsers is how many bytes of sessions are looked through beside a prompt, the newest first.
const besideUsers = 8 << 20

// Said is at most one line that a user said about a question, in another session. Nobody asked for it, so it must be
// certain, and a prompt that asks nothing gets none.
func (p *Stores) Said(ctx context.Context, prompt, name string) ([]Notice, error) {
	if !p.Keeps() || !asks(prompt) {
		return nil, nil
	}
	list, err := p.sessions.Quotes(ctx, session.Quoting{Query: prompt, Users: true, Not: name, Most: 1, Bytes: besideUsers, Unasked: true})
	if err != nil || len(list) == 0 || asks(list[0].Text) {
		return nil, err
	}
	x := list[0]
	day := ""
	if !x.At.IsZero() {
		day = " " + x.At.UTC().Format(time.DateOnly)
	}
	ref := fmt.Sprintf("%s#%d", x.Session, x.N)
	return []Notice{{ID: "said-" + ref, Text: fmt.Sprintf("SAID in a session (not a fact) %s%s %s: \"%s\"", ref, day, x.Role, prose.Line(x.Text)), Once: true}}, nil
}

// asks reports whether a text is a short question.
func asks(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) <= maxQuestion && strings.HasSuffix(text, "?")
}

// maxQuestion is how long a question may be, in bytes. A longer prompt is a task.
const maxQuestion = 400
