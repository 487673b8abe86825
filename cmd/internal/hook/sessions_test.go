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
	mine := seenSession{Own: true, First: at(0), Last: at(59)}
	other := func(first int) seenSession { return seenSession{First: at(first), Last: at(59)} }
	ended := func(s seenSession, minute int) seenSession { s.Ended, s.Last = at(minute), at(minute); return s }
	asleep := func(s seenSession, minute int) seenSession { s.Last = at(minute); return s }
	late := seenSession{Own: true, First: at(20), Last: at(59)}
	for name, c := range map[string]struct {
		list       []seenSession
		registered int
		want       owner
	}{
		"nobody was seen":                         {nil, 10, Unsure},
		"the one session":                         {[]seenSession{mine}, 10, Own},
		"the one session, which ends":             {[]seenSession{ended(mine, 30)}, 10, Own},
		"before the one session":                  {[]seenSession{mine}, -10, Unsure},
		"two sessions":                            {[]seenSession{mine, other(5)}, 10, Unsure},
		"the other one came later":                {[]seenSession{mine, other(11)}, 10, Own},
		"the other one came later and has ended":  {[]seenSession{mine, ended(other(11), 12)}, 10, Own},
		"the other one had ended":                 {[]seenSession{mine, ended(other(5), 9)}, 10, Own},
		"the other one has ended since":           {[]seenSession{mine, ended(other(5), 11)}, 10, Unsure},
		"the other one slept":                     {[]seenSession{mine, asleep(other(-200), -51)}, 10, Own},
		"the other one slept for less":            {[]seenSession{mine, asleep(other(-200), -49)}, 10, Unsure},
		"the caller came later":                   {[]seenSession{late, other(5)}, 10, Other},
		"the caller came later, the other ended":  {[]seenSession{late, ended(other(5), 15)}, 10, Unsure},
		"the caller came later than two":          {[]seenSession{late, other(5), other(6)}, 10, Unsure},
		"the caller has no name":                  {[]seenSession{{Nameless: true, First: at(0), Last: at(59)}}, 10, Unsure},
		"the caller has no name, and came later":  {[]seenSession{{Nameless: true, First: at(20), Last: at(59)}, other(5)}, 10, Unsure},
		"one without a name was there":            {[]seenSession{mine, {Nameless: true, First: at(0), Last: at(59)}}, 10, Unsure},
		"one without a name was there alone":      {[]seenSession{late, {Nameless: true, First: at(0), Last: at(59)}}, 10, Unsure},
		"when the one session began is not known": {[]seenSession{{Own: true, Last: at(59)}}, 10, Unsure},
		"when the other one began is not known":   {[]seenSession{mine, {Last: at(59)}}, 10, Unsure},
		"at the moment when the session was seen": {[]seenSession{mine}, 0, Own},
		"at the moment when the other was seen":   {[]seenSession{mine, other(10)}, 10, Unsure},
		"at the moment when the other one ended":  {[]seenSession{mine, ended(other(5), 10)}, 10, Unsure},
	} {
		if got := ownerOf(c.list, at(c.registered)); got != c.want {
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
	see := func(minute int, client, event, session, project string) (said string) {
		c := Call{
			Client: client, Event: event, In: strings.NewReader(session), Dir: dir, Data: dir,
			Now: func() time.Time { return start.Add(time.Duration(minute) * time.Minute) },
		}
		look := func(_ context.Context, s *Session) error {
			for _, s := range s.seenIn(project) {
				end := ""
				if !s.Ended.IsZero() {
					end = fmt.Sprint(" ended ", s.Ended.Sub(start).Minutes())
				}
				if s.Own {
					end += " own"
				}
				if s.Nameless {
					end += " nameless"
				}
				said += fmt.Sprintf("[%v-%v%s]", s.First.Sub(start).Minutes(), s.Last.Sub(start).Minutes(), end)
			}
			return nil
		}
		c.Conclude = look
		c.Open = func(ctx context.Context, s *Session) (ProjectView, error) { return new(known), look(ctx, s) }
		run(c)
		return said
	}
	const cleared, again, third = `{"session_id":"2","reason":"clear"}`, `{"session_id":"4","source":"clear"}`, `{"session_id":"5","source":"clear"}`
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
		{4, "claude-code", SessionEnd, one, "p", []string{"[0-4 ended 4 own]", "[3-3]"}},
		{5, "claude-code", PreCompact, two, "p", []string{"[0-4 ended 4]", "[3-5 own]"}},
		{6, "claude-code", SessionStart, one, "p", []string{"[0-6 own]", "[3-5]"}},
		{7, "claude-code", SessionStart, none, "p", []string{"[0-6]", "[3-5]", "[7-7 nameless]"}},
		{8, "claude-code", SessionEnd, cleared, "p", []string{"[0-6]", "[3-8 ended 8 own]", "[7-7 nameless]"}},
		{8, "claude-code", SessionStart, again, "p", []string{"[0-6]", "[3-8 own]", "[7-7 nameless]"}}, // goes on
		{8, "claude-code", SessionStart, third, "p", []string{"[0-6]", "[3-8]", "[8-8 own]", "[7-7 nameless]"}},
		{9, "claude-code", SessionEnd, `{"session_id":"4","reason":"clear"}`, "p", []string{"[0-6]", "[3-9 ended 9 own]", "[8-8]", "[7-7 nameless]"}},
		{9, "claude-code", SessionEnd, `{"session_id":"5","reason":"clear"}`, "p", []string{"[0-6]", "[3-9 ended 9]", "[8-9 ended 9 own]", "[7-7 nameless]"}},
		{9, "claude-code", SessionStart, `{"session_id":"6","source":"clear"}`, "p", // either of them
			[]string{"[0-6]", "[3-9 ended 9]", "[8-9 ended 9]", "[9-9 own]", "[7-7 nameless]"}},
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
	if got := see(10, "claude-code", UserPrompt, `{"session_id":"7"}`, "p"); strings.Contains(got, "[9-9") || !strings.Contains(got, "[8-9 ended 9]") {
		t.Error(got)
	}
	if list := (Call{Data: filepath.Join(dir, "none")}).session(input{}).seenIn("p"); list != nil {
		t.Error(list)
	}
	if exists(filepath.Join(dir, "none")) {
		t.Error("a data directory was made")
	}
}
