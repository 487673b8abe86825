package hook

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/cmd/internal/op"
	"leanctx/internal/prose"
)

// Joined is the session of a client to which a call of our server belongs.
type Joined struct {
	Client  string // of the table
	Session string // the client's name of it
	began   time.Time
	reader  string // the subagent that makes the call, if a hook has seen it; empty: the session itself
}

// ToolCall is a call of one of our tools, as our server sees it.
type ToolCall struct {
	Client string // as the connection names it
	ID     string // the client's name of the call; may be empty
	Sum    string // see [op.CallSum]
	Thread string // the client's session, where it says so
	At     time.Time
}

// callWindow is how long after the hook of a call the call itself comes: a person may be asked between the two.
const callWindow = 5 * time.Minute

// SessionOf finds the session of a client that makes a call. The client may say so, or a hook has just seen the call, or
// only one session of the client lives in the project. certain: it is not the last of these.
func SessionOf(data, project string, c ToolCall) (j Joined, certain, ok bool) {
	client := ClientOf(c.Client)
	log, _ := readLog(data, project, c.At.Add(-maxSilence)) // without it nothing is known
	latest, readers := map[Joined]SessionEvent{}, map[Joined]string{}
	var seen []Joined
	for _, x := range log {
		of := Joined{Client: x.Client, Session: x.Session}
		latest[of] = x
		recent := c.At.Sub(x.At) < callWindow
		if recent && (c.ID != "" && slices.Contains(x.Calls, c.ID) || slices.Contains(x.Calls, c.Sum)) {
			readers[of] = x.Reader
		}
		if x.Session != "" && recent && (c.ID != "" && slices.Contains(x.Calls, c.ID) || slices.Contains(x.Calls, c.Sum)) && !slices.Contains(seen, of) {
			seen = append(seen, of)
		}
		if c.ID != "" && slices.Contains(x.Calls, c.ID) { // two sessions may make equal calls, but no two have one name
			seen = []Joined{of}
			break
		}
	}
	switch {
	case c.Thread != "":
		j = Joined{Client: client, Session: c.Thread}
		return with(j, latest, readers), true, true
	case len(seen) == 1:
		return with(seen[0], latest, readers), true, true
	}
	var living []Joined
	for of, x := range latest {
		if of.Client == client && of.Session != "" && x.Event != SessionEnd {
			living = append(living, of)
		}
	}
	if len(living) != 1 {
		return Joined{}, false, false
	}
	return with(living[0], latest, readers), false, true
}

// with adds when the session began and who makes the call, if hooks have seen that.
func with(j Joined, latest map[Joined]SessionEvent, readers map[Joined]string) Joined {
	of := Joined{Client: j.Client, Session: j.Session}
	j.began, j.reader = latest[of].Began, readers[of]
	return j
}

// ClientOf is the client of the table that a connection's name means; else the name itself.
func ClientOf(name string) string {
	found := ""
	for _, c := range clientNames() {
		if agents.WorksIn(strings.ReplaceAll(strings.ToLower(name), " ", "-"), c) && len(c) > len(found) {
			found = c
		}
	}
	if found == "" {
		return name
	}
	return found
}

// briefsFor is how long after a client's hook began a session it is taken to begin the next one too.
const briefsFor = 7 * 24 * time.Hour

// Briefs reports whether a hook of a client gives its sessions in a project their briefing.
func Briefs(data, project, client string, at time.Time) bool {
	log, err := readLog(data, project, at.Add(-briefsFor))
	client = ClientOf(client)
	return err == nil && slices.ContainsFunc(log, func(x SessionEvent) bool { return x.Client == client && x.Event == SessionStart })
}

// Answered is the event of an answer of our server.
const Answered = "answer"

// ToldAs is how a session's log names a fact that was told: the version's id, a blank and category/key.
func ToldAs(id, category, key string) string {
	return id + " " + prose.ShortLine(category) + "/" + prose.ShortLine(key)
}

// Note records that an answer of our server told a session some facts, see [ToldAs].
func (j Joined) Note(data, project string, told []string, at time.Time) {
	s := &Session{Client: j.Client, data: data, project: project}
	s.event = SessionEvent{At: at.UTC(), Client: j.Client, Session: j.Session, Event: Answered, trace: trace{ID: rand.Text(), Began: j.began, Told: told, Reader: j.reader}}
	for _, x := range told {
		id, _, _ := strings.Cut(x, " ")
		s.event.Shown = append(s.event.Shown, id)
	}
	if s.event.Began.IsZero() {
		s.event.Began = s.event.At
	}
	s.write()
}

// Name is the agent that the session is in a project until it registers as another one.
func (j Joined) Name(project string) string {
	return agents.SessionName(j.Client, j.Session, project)
}

// ownTools are the tools of our server.
var ownTools = []string{"ctx_overview", "ctx_knowledge", "ctx_recall", "ctx_agent", "ctx_task", "ctx_share", "ctx_cost"}

// ownTool is which of our tools is called; empty: none. Clients put the name of the server before it.
func (in input) ownTool() string {
	name := in.text("tool_name", "toolName")
	i := strings.LastIndex(name, "ctx_")
	if i < 0 || !slices.Contains(ownTools, name[i:]) {
		return ""
	}
	return name[i:]
}

// calls are the names by which our server knows a call of one of our tools.
func (in input) calls(tool string) (names []string) {
	if id := in.text("tool_use_id", "toolUseId"); id != "" {
		names = append(names, id)
	}
	args, _ := json.Marshal(in["tool_input"]) // it was decoded from JSON
	return append(names, op.CallSum(tool, args))
}
