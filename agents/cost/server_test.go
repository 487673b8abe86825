package cost

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leanctx/internal/proctest"
)

func TestMain(m *testing.M) { proctest.Main(m, job.run) }

const processCalls = 200

// job is what another process does: it notes calls, as a server, and ends if it
// is not to do so for ever.
type job struct {
	Dir     string
	Forever bool
}

func (j job) run(context.Context) error {
	l, err := Open(j.Dir, &Options{ProjectHash: own, LongLived: true})
	if err != nil {
		return err
	}
	if j.Forever {
		for i := 1; ; i++ {
			l.Note(Receipt{Agent: "a", Tool: "x", OutSize: 4})
			l.flush()
			fmt.Println(i)
		}
	}
	for i := range processCalls {
		l.Note(Receipt{Agent: fmt.Sprint("agent-", os.Getpid()), Session: fmt.Sprint(os.Getpid()), Tool: "ctx_knowledge", Action: "recall", In: "one two three", OutSize: 4})
		if i%20 == 0 {
			l.flush()
		}
	}
	return l.Close()
}

// Several processes that write at once lose nothing and count nothing
// twice.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	const processes = 6
	var work sync.WaitGroup
	for range processes {
		work.Go(func() {
			if out, err := proctest.Command(t, job{Dir: dir}).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	work.Wait()
	r := report(t, open(t, dir, Options{Now: time.Now}))
	if r.Total.Calls != processes*processCalls || len(r.Agents) != processes || r.Total.Out != processes*processCalls || r.Total.In != 3*r.Total.Calls {
		t.Errorf("%+v", r.Total)
	}
	if r.Total.Estimated == 0 {
		t.Error("a receipt without a text was not marked")
	}
}

// A killed process takes none of the receipts with it that it had written.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	var sum int64
	for round := range 5 {
		cmd := proctest.Command(t, job{Dir: dir, Forever: true})
		written := int64(0)
		_ = proctest.Run(cmd, func(line string) { // it fails: it is killed
			written, _ = strconv.ParseInt(line, 10, 64)
			if written == int64(50+round) {
				if err := cmd.Process.Kill(); err != nil {
					t.Error(err)
				}
			}
		})
		l := open(t, dir, Options{Now: time.Now})
		got := report(t, l).Total.Calls
		if got < sum+written || got > sum+written+1 || written < int64(50+round) {
			t.Errorf("%d of %d or one more", got, sum+written)
		}
		sum = got
	}
}

// A server writes within a second, without being asked.
func TestServerWritesSoon(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := open(t, dir, Options{LongLived: true})
		l.Note(Receipt{Agent: "a", Tool: "x", In: "hello world", Out: ""})
		time.Sleep(time.Second)
		synctest.Wait()
		killed := open(t, dir, Options{}) // another process, which sees only what is on disk
		if got := report(t, killed).Total; got.In != 2 || got.Out != 0 || got.Estimated != 0 {
			t.Errorf("%+v", got)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// When more waits than may wait, the rest is dropped; nothing blocks.
func TestQueueIsBounded(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	for range maxQueue + 10 {
		l.Note(Receipt{Agent: "a", Tool: "x", OutSize: 4})
	}
	if got := report(t, l).Total.Calls; got != maxQueue {
		t.Error(got)
	}
}

// Two servers, one after the other and at once: totals survive, sessions are
// apart.
func TestSessions(t *testing.T) {
	dir := t.TempDir()
	clock := func() time.Time { return noon }
	first := open(t, dir, Options{LongLived: true, Now: clock})
	second := open(t, dir, Options{LongLived: true, Now: clock})
	one, two := first.As(Actor{Client: "codex", Session: "s1"}), second.As(Actor{Agent: "claude-b7e2", Session: "s2"})
	one.Note(Receipt{Tool: "x", OutSize: 40})
	two.Note(Receipt{At: noon.Add(time.Minute), Tool: "x", OutSize: 80})
	for _, l := range []*Usage{first, second} {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		l.Note(Receipt{Tool: "x", OutSize: 1000}) // too late, and harmless
	}
	l := open(t, dir, Options{Now: clock})
	for session, tokens := range map[string]int64{"s1": 10, "s2": 20} {
		s, err := l.As(Actor{Session: session}).Session(t.Context(), SessionQuery{})
		if err != nil || s.Total.Tokens() != tokens || s.Session != session {
			t.Errorf("%+v %v", s, err)
		}
	}
	// a command of its own asks about the last session
	s, err := l.As(Actor{Session: "shell-1"}).Session(t.Context(), SessionQuery{})
	if err != nil || s.Session != "s2" || s.Agents[0].Name != "claude-b7e2" {
		t.Errorf("%+v %v", s, err)
	}
	if r := report(t, l); r.Total.Tokens() != 30 || r.Agents[1].Name != "codex" {
		t.Errorf("%+v", r)
	}
}
