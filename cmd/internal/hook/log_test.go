package hook

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// TestASessionReadsWhatItMustKnow: of the lines of other sessions a hook decodes a few. It knows all the same what it would
// know if it had decoded each.
func TestASessionReadsWhatItMustKnow(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		data, now := t.TempDir(), time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
		pick := func(list ...string) string { return list[r.IntN(len(list))] }
		at := now.Add(-50 * time.Hour)
		path := func(at time.Time) string { return logPath(data, "p", at.Format(time.DateOnly)) }
		if err := os.MkdirAll(filepath.Dir(path(at)), 0o700); err != nil {
			t.Fatal(err)
		}
		for n := range r.IntN(60) {
			at = at.Add(time.Duration(r.IntN(7200)) * time.Second)
			x := SessionEvent{At: at, Client: pick("claude-code", "codex"), Session: pick("", "a", "b", `c","event":"`), Event: pick(SessionStart, UserPrompt, PostTool, SessionEnd),
				trace: trace{ID: fmt.Sprint(n), Began: at, Key: pick("", "k1", "k2"), Reader: pick("", "", "sub"), Reset: r.IntN(9) == 0, Cleared: r.IntN(5) == 0}}
			if r.IntN(2) == 0 {
				x.Facts, x.Shown, x.Told = []string{"r/k"}, []string{pick("v1", "v2")}, []string{pick("v1 r/k", "v2 r/l")}
			}
			if r.IntN(4) == 0 {
				x.Edited = []string{pick("f.go", "g.go")}
			}
			if r.IntN(6) == 0 {
				x.Follows = pick("a", "b")
			}
			line, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			if r.IntN(10) == 0 {
				line = line[:r.IntN(len(line))]
			}
			f, err := openFile(path(at), os.O_CREATE|os.O_APPEND|os.O_WRONLY)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = f.Write(append(line, '\n')); err != nil {
				t.Fatal(err)
			}
			if err = f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		s := &Session{Client: pick("claude-code", "codex"), data: data, project: "p", follows: r.IntN(2) == 0}
		s.event = SessionEvent{At: now, Client: s.Client, Session: pick("", "a", "b", `c","event":"`), Event: PostTool, trace: trace{Reader: pick("", "sub")}}
		since := now.Add(-sessionTTL)
		all, _ := readLog(data, "p", since)
		known := func(log []SessionEvent) (out []any) {
			s := *s
			s.look(log)
			for _, id := range []string{"v1", "v2"} {
				out = append(out, s.told(id), s.toldPart(id))
			}
			for _, file := range []string{"f.go", "g.go"} {
				x, ok := s.editOf(file)
				out = append(out, x.At, x.Session, ok)
			}
			list, stamp := s.toldFacts()
			return append(out, list, stamp, s.names(), s.latest, s.event.Began, s.event.Follows)
		}
		if got, want := known(s.readFor(since)), known(all); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: a session knows\n%v\nnot\n%v", seed, got, want)
		}
	}
}
