package hook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An agent is a session's when no other one was there to register it.
func TestOwnerOf(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC) }
	seen := func(session string, first, last int, event string) SessionEvent {
		x := SessionEvent{At: at(last), Session: session, Event: event}
		x.Began = at(first)
		return x
	}
	type list []SessionEvent // the caller's first
	mine, late, nameless := seen("mine", 0, 59, UserPrompt), seen("mine", 20, 59, UserPrompt), seen("", 0, 59, UserPrompt)
	other := func(first int) SessionEvent { return seen(fmt.Sprint("other ", first), first, 59, UserPrompt) }
	ended := func(x SessionEvent, minute int) SessionEvent { x.Event, x.At = SessionEnd, at(minute); return x }
	asleep := func(x SessionEvent, minute int) SessionEvent { x.At = at(minute); return x }
	for name, c := range map[string]struct {
		list       list
		registered int
		want       owner
	}{
		"the one session":                         {list{mine}, 10, Own},
		"the one session, which ends":             {list{ended(mine, 30)}, 10, Own},
		"before the one session":                  {list{mine}, -10, Unsure},
		"two sessions":                            {list{mine, other(5)}, 10, Unsure},
		"the other one came later":                {list{mine, other(11)}, 10, Own},
		"the other one came later and has ended":  {list{mine, ended(other(11), 12)}, 10, Own},
		"the other one had ended":                 {list{mine, ended(other(5), 9)}, 10, Own},
		"the other one has ended since":           {list{mine, ended(other(5), 11)}, 10, Unsure},
		"the other one slept":                     {list{mine, asleep(other(-200), -51)}, 10, Own},
		"the other one slept for less":            {list{mine, asleep(other(-200), -49)}, 10, Unsure},
		"the caller came later":                   {list{late, other(5)}, 10, Other},
		"the caller came later, the other ended":  {list{late, ended(other(5), 15)}, 10, Unsure},
		"the caller came later than two":          {list{late, other(5), other(6)}, 10, Unsure},
		"the caller has no name":                  {list{nameless}, 10, Unsure},
		"the caller has no name, and came later":  {list{seen("", 20, 59, UserPrompt), other(5)}, 10, Unsure},
		"one without a name was there":            {list{mine, nameless}, 10, Unsure},
		"one without a name was there alone":      {list{late, nameless}, 10, Unsure},
		"when the one session began is not known": {list{{Session: "mine", At: at(59)}}, 10, Unsure},
		"when the other one began is not known":   {list{mine, {Session: "other", At: at(59)}}, 10, Unsure},
		"at the moment when the session was seen": {list{mine}, 0, Own},
		"at the moment when the other was seen":   {list{mine, other(10)}, 10, Unsure},
		"at the moment when the other one ended":  {list{mine, ended(other(5), 10)}, 10, Unsure},
	} {
		caller := Session{event: c.list[0], latest: map[string]SessionEvent{}}
		for _, x := range c.list {
			caller.latest[x.Session] = x
		}
		if got := caller.ownerOf(at(c.registered)); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// What hooks saw of sessions: when first and last, and whether they ended. The data
// directory's name may hold any character.
func TestSeenSessions(t *testing.T) {
	dir, start := filepath.Join(t.TempDir(), "data [1]"), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	see := func(minute int, client, event, session, project string) (seen string) {
		c := Call{
			Client: client, Event: event, In: strings.NewReader(session), Dir: dir, Data: dir,
			Now: func() time.Time { return start.Add(time.Duration(minute) * time.Minute) },
		}
		c.Open = func(_ context.Context, s *Session) (ProjectView, error) {
			s.enter(project)
			for name, x := range s.latest {
				end := ""
				if x.Event == SessionEnd {
					end = " ended"
				}
				if name == s.event.Session {
					end += " own"
				}
				if name == "" {
					end += " nameless"
				}
				seen += fmt.Sprintf("[%v-%v%s]", x.Began.Sub(start).Minutes(), x.At.Sub(start).Minutes(), end)
			}
			return new(fakeProject), nil
		}
		run(c)
		return seen
	}
	const one, two, none = `{"session_id":"1"}`, `{"session_id":"2"}`, `{}`
	for i, c := range []struct {
		minute                          int
		client, event, session, project string
		want                            []string
	}{
		{0, "claude-code", SessionStart, one, "p", []string{"[0-0 own]"}},
		{1, "claude-code", UserPrompt, one, "p", []string{"[0-1 own]"}},
		{2, "codex", SessionStart, two, "p", []string{"[2-2 own]"}},
		{2, "claude-code", SessionStart, two, "q", []string{"[2-2 own]"}},
		{3, "claude-code", Stop, two, "p", []string{"[0-1]", "[3-3 own]"}},
		{4, "claude-code", SessionEnd, one, "p", []string{"[0-4 ended own]", "[3-3]"}},
		{5, "claude-code", PreCompact, two, "p", []string{"[0-4 ended]", "[3-5 own]"}},
		{6, "claude-code", SessionStart, one, "p", []string{"[0-6 own]", "[3-5]"}},
		{7, "claude-code", SessionStart, none, "p", []string{"[0-6]", "[3-5]", "[7-7 own nameless]"}},
		{8, "claude-code", SessionEnd, `{"session_id":"2","reason":"clear"}`, "p", []string{"[0-6]", "[3-8 ended own]", "[7-7 nameless]"}},
		{8, "claude-code", SessionStart, `{"session_id":"3"}`, "p", []string{"[0-6]", "[3-8 ended]", "[8-8 own]", "[7-7 nameless]"}},
		{8, "claude-code", SessionEnd, `{"session_id":"3","reason":"exit"}`, "p", []string{"[0-6]", "[3-8 ended]", "[8-8 ended own]", "[7-7 nameless]"}},
		{8, "claude-code", SessionStart, `{"session_id":"4","source":"clear"}`, "p", []string{"[0-6]", "[3-8 own]", "[7-7 nameless]", "[8-8 ended]"}}, // goes on
		{8, "claude-code", SessionStart, `{"session_id":"5","source":"clear"}`, "p", []string{"[0-6]", "[3-8]", "[8-8 own]", "[7-7 nameless]", "[8-8 ended]"}},
		{9, "claude-code", SessionEnd, `{"session_id":"4","reason":"clear"}`, "p", []string{"[0-6]", "[3-9 ended own]", "[8-8]", "[7-7 nameless]", "[8-8 ended]"}},
		{9, "claude-code", SessionEnd, `{"session_id":"5","reason":"clear"}`, "p", []string{"[0-6]", "[3-9 ended]", "[8-9 ended own]", "[7-7 nameless]", "[8-8 ended]"}},
		{9, "claude-code", SessionStart, `{"session_id":"6","source":"clear"}`, "p", // either of them
			[]string{"[0-6]", "[3-9 ended]", "[8-9 ended]", "[9-9 own]", "[7-7 nameless]", "[8-8 ended]"}},
	} {
		got := see(c.minute, c.client, c.event, c.session, c.project)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%d: got %s, want %s", i, got, want)
			}
		}
		if len(got) != len(strings.Join(c.want, "")) {
			t.Errorf("%d: got %s, want %s", i, got, c.want)
		}
	}
	// A line that is not whole is none.
	path := logPath(dir, "p", "2026-03-01")
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, log[:len(log)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	if got := see(10, "claude-code", UserPrompt, `{"session_id":"7"}`, "p"); strings.Contains(got, "[9-9") || !strings.Contains(got, "[8-9 ended]") {
		t.Error(got)
	}
	nowhere := Call{Data: filepath.Join(dir, "none"), Event: UserPrompt}.session(input{})
	nowhere.enter("p")
	if nowhere.pass(); exists(filepath.Join(dir, "none")) {
		t.Error("a data directory was made")
	}
}

// TestASessionThatIsResumedLater: one of weeks ago knows what it was told, and one that no log has any more begins anew.
func TestASessionThatIsResumedLater(t *testing.T) {
	dir, began := t.TempDir(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(now time.Time, in string) (told int) {
		c := Call{
			Client: "claude-code", Event: SessionStart, In: strings.NewReader(in), Dir: dir, Data: dir, Now: func() time.Time { return now },
			Open: func(_ context.Context, s *Session) (ProjectView, error) {
				s.enter("p")
				list, _ := s.toldFacts()
				told = len(list)
				return &fakeProject{briefing: "x", told: []Told{{Fact: "a/c", ID: "f-1"}}}, nil
			},
		}
		if got := run(c); !strings.Contains(string(got), "x") {
			t.Errorf("%s: %s", now, got)
		}
		return told
	}
	at(began, `{"session_id":"1","source":"startup"}`)
	for _, days := range []int{29, 80} { // the second is a month and more after the first
		if got := at(began.AddDate(0, 0, days), `{"session_id":"1","source":"resume"}`); (got > 0) != (days == 29) {
			t.Errorf("after %d days: %d", days, got)
		}
	}
}
