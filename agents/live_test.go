package agents

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// living starts a process that registers an agent and lives on.
func (b *fixture) living(t *testing.T, agent string) (id string, end func(kill bool)) {
	t.Helper()
	c := proctest.Command(t, job{Do: "hold", Dir: b.dir, Root: b.root, Agent: agent})
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), func(kill bool) {
		if kill {
			_ = c.Process.Kill()
		}
		_ = in.Close()
		_ = c.Wait()
	}
}

// A living connection keeps its agent; a killed one leaves it to who comes next.
func TestLiveness(t *testing.T) {
	b := newFixture(t)
	b.opts.Now = time.Now
	start := func() (id string, end func(kill bool)) { return b.living(t, "") }
	first, end := start()
	second, end2 := start()
	if first == second {
		t.Fatalf("both are %s", first)
	}
	s := b.open()
	named := must[Registered](t)(s.As(Actor{Agent: first, Session: "x"}).Register(t.Context(), Registration{AgentType: "cursor"}))
	if named.AgentID != first || !named.Resumed || named.Role != "dev" {
		t.Errorf("named: %+v", named)
	}
	if err := s.Leave("x"); err != nil {
		t.Error(err)
	}
	end(true)
	third, end3 := start()
	if third != first {
		t.Errorf("%s is not resumed after a kill: %s", first, third)
	}
	end2(false)
	fourth, end4 := start()
	if fourth != second {
		t.Errorf("%s is not resumed after its process ended: %s", second, fourth)
	}
	end3(false)
	end4(false)
	if files, _ := os.ReadDir(b.dir + "/live"); len(files) > 0 {
		t.Errorf("%d lock files are left: %v", len(files), files)
	}
	if strings.Contains(first, strconv.Itoa(os.Getpid())) {
		t.Errorf("%s names a process", first)
	}
}

// An agent is resumed by nobody while any process that acts as it lives,
// whichever of them registered it.
func TestLivenessShared(t *testing.T) {
	b := newFixture(t)
	b.opts.Now = time.Now
	first, end := b.living(t, "")
	second, end2 := b.living(t, first)
	third, end3 := b.living(t, first)
	if second != first || third != first {
		t.Fatalf("%s, %s, %s", first, second, third)
	}
	end(true)
	other, end4 := b.living(t, "")
	if other == first {
		t.Errorf("%s is given away although two processes act as it", first)
	}
	end2(true)
	again, end := b.living(t, "")
	if again == first || again == other {
		t.Errorf("%s is given away although a process acts as it", again)
	}
	end(false)
	end3(false)
	end4(true)
	heir, end5 := b.living(t, "")
	if heir != first && heir != other && heir != again {
		t.Errorf("%s is new although three agents are free", heir)
	}
	end5(false)
	s := b.open().As(Actor{Session: "x"})
	if r := must[Registered](t)(s.Register(t.Context(), Registration{AgentType: "cursor", Role: "dev"})); !r.Resumed {
		t.Errorf("%+v", r)
	}
	if err := s.Leave("x"); err != nil {
		t.Error(err)
	}
	if files, _ := os.ReadDir(b.dir + "/live"); len(files) > 1 { // the lock of the one that was killed
		t.Errorf("%d lock files are left: %v", len(files), files)
	}
}

// A server that could not take an agent's lock tries again. Connections of one process that
// share an agent keep it until the last one ends.
func TestLivenessOfConnections(t *testing.T) {
	b := newFixture(t)
	b.opts.LongLived = true
	one, two := b.open(), b.open()
	x, y := one.As(Actor{Session: "x"}), one.As(Actor{Session: "y"})
	r := must[Registered](t)(x.Register(t.Context(), Registration{AgentType: "cursor"}))
	must[Registered](t)(one.As(Actor{Agent: r.AgentID, Session: "y"}).Register(t.Context(), Registration{AgentType: "cursor"}))
	if err := one.Leave("x"); err != nil {
		t.Fatal(err)
	}
	z := must[Registered](t)(two.As(Actor{Session: "z"}).Register(t.Context(), Registration{AgentType: "cursor"}))
	if z.AgentID == r.AgentID {
		t.Error("an agent was given away whose second connection lives")
	}
	root, err := journal.OpenDir(b.dir + "/live")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	looks, ok, err := journal.TryLock(root, r.AgentID+".others.lock") // somebody looks whether it is free
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	w := two.As(Actor{Agent: r.AgentID, Session: "w"})
	must[Registered](t)(w.Register(t.Context(), Registration{AgentType: "cursor"}))
	expect(t, "holds", two.live.Holds(r.AgentID), false)
	if err := looks.Unlock(); err != nil {
		t.Fatal(err)
	}
	read(t, w)
	expect(t, "holds", two.live.Holds(r.AgentID), true)
	if err := y.Leave("y"); err != nil {
		t.Fatal(err)
	}
	v := must[Registered](t)(one.As(Actor{Session: "v"}).Register(t.Context(), Registration{AgentType: "cursor"}))
	expect(t, "resumed", v.Resumed, false)
}
