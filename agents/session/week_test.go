package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/formats/transcript"
)

// TestQuestionsToAWeek asks a week of sessions, beside the sessions of three real clients, what was said in it: how often the
// turn that answers is among the first lines, and how many strangers are answered.
func TestQuestionsToAWeek(t *testing.T) {
	s := open(t)
	for client, name := range map[string]string{"claude-code": "claude-code-2.1.197/session.jsonl", "codex": "codex-0.171.0/session.jsonl", "gemini": "gemini-0.61.0/chats/session.jsonl"} {
		if _, err := s.TakeIn(t.Context(), client, fixture(t, name, fmt.Sprintf("%s-0f8fad5b.jsonl", client)), 0); err != nil {
			t.Fatal(err)
		}
	}
	turns := map[string]string{} // session#n → text
	for i, part := range strings.Split(weekFile(t, "week.txt"), "\n= ")[1:] {
		lines := strings.Split(strings.TrimSpace(part), "\n")
		at, err := time.Parse(time.DateOnly, lines[0])
		if err != nil {
			t.Fatal(err)
		}
		e := Events{Client: "windsurf", Session: fmt.Sprintf("%08x", i)}
		for j, line := range lines[1:] {
			x := transcript.Turn{ID: fmt.Sprint(i, j), At: at.Add(time.Duration(j) * time.Minute), Text: line[2:]}
			switch line[0] {
			case '>':
				x.Role = transcript.User
			case '<':
				x.Role = transcript.Agent
			default:
				x.Role, x.Tool, x.Input, x.Text = transcript.Tool, "Bash", line[2:], ""
			}
			e.Turns = append(e.Turns, x)
		}
		got, err := s.Note(t.Context(), e)
		if err != nil || got.Turns != len(e.Turns) {
			t.Fatal(got, err)
		}
		fromTranscript(t, s, got.ID)
		for j, x := range e.Turns {
			turns[fmt.Sprintf("%s#%d", got.ID, j+1)] = x.Text
		}
	}
	parts := strings.Split(weekFile(t, "questions.txt"), "\n-\n")
	for i, floor := range []struct {
		name            string
		turn, quoted    float64 // at least: among three lines; quoted to who asks
		answered, asked float64 // at most, of strangers: quoted; told unasked
	}{{"in the turn's words", .6, .45, 1, 1}, {"in other words", .7, .25, 1, 1}, {"strangers", 0, 0, .1, .05}} {
		var n, session1, session5, line1, line3, quoted, answered, unasked, wrong float64
		for line := range strings.Lines(parts[i]) {
			question, want, ok := strings.Cut(strings.TrimSpace(line), "|")
			if !ok || strings.HasPrefix(line, "#") {
				continue
			}
			question, want = strings.TrimSpace(question), strings.TrimSpace(want)
			right := func(session string, turn int) bool {
				return want != "" && strings.Contains(turns[fmt.Sprintf("%s#%d", session, turn)], want)
			}
			home := ""
			for id, text := range turns {
				if want != "" && strings.Contains(text, want) {
					home, _, _ = strings.Cut(id, "#")
				}
			}
			if want != "" && home == "" {
				t.Errorf("no turn has %q", want)
			}
			n++
			list, _, err := s.rank(t.Context(), nil, search{query: question})
			if err != nil {
				t.Fatal(err)
			}
			for j, x := range list[:min(5, len(list))] {
				if x.id == home {
					session5++
					if j == 0 {
						session1++
					}
				}
			}
			hit := false
			for j, x := range lines(list, 3) {
				if right(x.session, x.ref.n) {
					hit = true
					line3++
					if j == 0 {
						line1++
					}
				}
			}
			quotes, err := s.Quotes(t.Context(), Quoting{Query: question, Most: 3})
			if err != nil {
				t.Fatal(err)
			}
			if len(quotes) > 0 {
				answered++
				good := false
				for _, x := range quotes {
					good = good || right(x.Session, x.N)
				}
				if good {
					quoted++
				} else {
					wrong++
				}
			}
			alone, err := s.Quotes(t.Context(), Quoting{Query: question, Most: 1, Users: true, Unasked: true})
			if err != nil {
				t.Fatal(err)
			}
			unasked += float64(len(alone))
			if want != "" && !hit {
				t.Logf("not found: %s", question)
			}
		}
		t.Logf("%s: n=%.0f session@1 %.2f @5 %.2f turn@1 %.2f @3 %.2f quoted right %.2f wrong %.2f unasked %.2f", floor.name, n, session1/n, session5/n, line1/n, line3/n, quoted/n, wrong/n, unasked/n)
		if line3/n < floor.turn || quoted/n < floor.quoted || answered/n > floor.answered || unasked/n > floor.asked {
			t.Errorf("%s: worse than it was", floor.name)
		}
	}
}

func weekFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
