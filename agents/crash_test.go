package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/agents/diary"
	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// desk is who is to do which task, on a journal of its own, as a store of
// tasks has it.
type desk struct {
	log *journal.Log[map[string]string, given]
}

type given struct{ Task, To string }

type deskMachine struct{}

func (deskMachine) New() map[string]string { return map[string]string{} }

func (deskMachine) Fold(s map[string]string, c journal.Commit[given]) map[string]string {
	for _, e := range c.Events {
		s[e.Task] = e.To
	}
	return s
}

func (deskMachine) Clone(s map[string]string) map[string]string { return maps.Clone(s) }

func (deskMachine) Encode(w io.Writer, s map[string]string, h journal.Header) error {
	return json.NewEncoder(w).Encode(s) // never compacted
}

func (deskMachine) Decode([]byte) (map[string]string, error) { return nil, errors.New("no snapshot") }

func openDesk(dir string, fault func(op, name string) error) (*desk, error) {
	log, err := journal.Open(dir, deskMachine{}, &journal.Options{Name: "tasks", Fault: fault})
	return &desk{log}, err
}

func (d *desk) give(ctx context.Context, events ...given) error {
	_, err := d.log.Update(ctx, func(map[string]string, time.Time) ([]given, error) { return events, nil })
	return err
}

func (d *desk) OpenTasks(ctx context.Context, agent string) (ids []string, err error) {
	err = d.log.View(ctx, func(s map[string]string, _ journal.Head) error {
		for _, id := range slices.Sorted(maps.Keys(s)) {
			if s[id] == agent {
				ids = append(ids, id)
			}
		}
		return nil
	})
	return ids, err
}

func (d *desk) Reassign(ctx context.Context, from, to, _ string, only ...string) (ids []string, err error) {
	_, err = d.log.Update(ctx, func(s map[string]string, _ time.Time) (events []given, _ error) {
		ids = nil
		for _, id := range slices.Sorted(maps.Keys(s)) {
			if s[id] == from && (only == nil || slices.Contains(only, id)) {
				ids, events = append(ids, id), append(events, given{id, to})
			}
		}
		return events, nil
	})
	return ids, err
}

const sender, receiver = "talker-0000", "talker-0001"

// office is a fixture with two agents, the first of which has work to pass on.
func office(t *testing.T) *fixture {
	t.Helper()
	b := newFixture(t)
	b.opts.Now = time.Now
	s := b.open()
	talkers(t, s, 2)
	from := s.As(Actor{Agent: sender})
	must[diary.Noted](t)(from.Diary(t.Context(), Note{Message: "half done"}))
	for _, path := range []string{"a.go", "b.go"} {
		must[Claimed](t)(from.Claim(t.Context(), ClaimArgs{Path: path}))
	}
	d, err := openDesk(b.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.log.Close()
	if err := d.give(t.Context(), given{"t-1", sender}, given{"t-2", sender}, given{"t-3", receiver}); err != nil {
		t.Fatal(err)
	}
	return b
}

// settled is whether the handoff happened, as the next process sees it: all of it or nothing.
// tasks are those of the bundle.
func settled(t *testing.T, b *fixture, tasks int) (done bool) {
	t.Helper()
	d, err := openDesk(b.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.log.Close()
	b.opts.Tasks = d
	s := b.open().As(Actor{Agent: receiver})
	r := must[Synced](t)(s.Sync(t.Context(), NoArgs{}))
	if n := s.Notices(); len(n) > 0 {
		for _, text := range n {
			if !strings.Contains(text, "unfinished") && !strings.Contains(text, "torn") {
				t.Logf("notice: %s", text)
			}
		}
	}
	holders := map[string]int{}
	for _, c := range r.Claims {
		holders[c.AgentID]++
	}
	got := fmt.Sprint(len(r.Handoffs), len(r.Tasks), holders)
	switch got {
	case fmt.Sprint(0, 1, map[string]int{sender: 2}):
	case fmt.Sprint(1, 3, map[string]int{receiver: 2}):
		if h := r.Handoffs[0]; h.Summary != "go on" || len(h.Tasks) != tasks || len(h.Claims) != 2 || len(h.Diary) != 1 {
			t.Errorf("bundle: %+v", h)
		}
		done = true
	default:
		t.Errorf("half: bundles, tasks, claims = %s", got)
	}
	if again := read(t, s); len(again.Handoffs) > 0 {
		t.Errorf("the bundle comes twice: %+v", again)
	}
	return done
}

// handoff hands over and dies at a file operation.
func (j job) handoff(ctx context.Context, o *Options) error {
	o.Fault = killAt(j.At)
	d, err := openDesk(j.Dir, o.Fault)
	if err != nil {
		return err
	}
	o.Tasks = d
	s, err := Open(j.Dir, o)
	if err != nil {
		return err
	}
	_, err = s.As(Actor{Agent: sender}).Handoff(ctx, HandoffArgs{ToAgent: receiver, Message: "go on"})
	return errors.Join(err, s.Close())
}

// killAt is a fault that kills the process at its n-th operation.
func killAt(n int) func(op, name string) error {
	return func(string, string) error {
		if n--; n < 0 {
			if self, err := os.FindProcess(os.Getpid()); err != nil || self.Kill() != nil {
				panic("a process that cannot end itself")
			}
			select {} // the end is on its way
		}
		return nil
	}
}

// A handoff whose process is killed at any file operation is done once it is repeated. What was
// answered is done without.
func TestHandoffKilled(t *testing.T) {
	for at, killed := 0, true; killed; at++ {
		b := office(t)
		killed = proctest.Command(t, job{Do: "handoff", Dir: b.dir, Root: b.root, At: at}).Run() != nil
		tasks := 2
		if killed {
			d, err := openDesk(b.dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			left, err := d.OpenTasks(t.Context(), sender)
			if err != nil {
				t.Fatal(err)
			}
			o := b.opts
			o.Tasks = d
			s, err := Open(b.dir, &o)
			if err != nil {
				t.Fatal(err)
			}
			again := must[HandedOver](t)(s.As(Actor{Agent: sender}).Handoff(t.Context(), HandoffArgs{ToAgent: receiver, Message: "go on"}))
			if tasks = len(left); again.Nothing {
				tasks = 2
			}
			_, _ = s.Close(), d.log.Close()
		}
		if !settled(t, b, tasks) {
			t.Errorf("operation %d: not done", at)
		}
	}
}

// A handoff in which any one file operation fails is done or not done, and
// what it answers is true.
func TestHandoffFails(t *testing.T) {
	broken := errors.New("the disk is broken")
	for at := 0; ; at++ {
		b := office(t)
		left, armed := at, false
		fault := func(op, name string) error {
			if armed {
				if left--; left < 0 {
					armed = false
					return broken
				}
			}
			return nil
		}
		d, err := openDesk(b.dir, fault)
		if err != nil {
			t.Fatal(err)
		}
		o := b.opts
		o.Tasks, o.Fault = d, fault
		s, err := Open(b.dir, &o)
		if err != nil {
			t.Fatal(err)
		}
		armed = true
		_, err = s.As(Actor{Agent: sender}).Handoff(t.Context(), HandoffArgs{ToAgent: receiver, Message: "go on"})
		armed = false
		_, _ = s.Close(), d.log.Close()
		done := settled(t, b, 2)
		switch {
		case err == nil && !done:
			t.Errorf("operation %d: it was answered and is not done", at)
		case err != nil && !errors.Is(err, broken):
			t.Errorf("operation %d: %v", at, err)
		case err != nil && done:
			t.Errorf("operation %d: it is done, and the answer was: %v", at, err)
		}
		if left >= 0 {
			break
		}
	}
}

// Whatever is cut off the registry's end, what is left can be read and written.
func TestTornRegistry(t *testing.T) {
	b := office(t)
	whole, err := os.ReadFile(filepath.Join(b.dir, "registry.journal"))
	if err != nil {
		t.Fatal(err)
	}
	for cut := len(whole) - 1; cut > 0; cut -= 97 {
		c := newFixture(t)
		c.opts.Now = time.Now
		if err := os.MkdirAll(c.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.dir, "registry.journal"), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		a := join(t, c.open(), "cursor", "")
		post(t, a, PostArgs{Message: "after"})
		expect(t, "list", must[Agents](t)(c.open().List(t.Context(), ListArgs{})).Total >= 1, true)
	}
}
