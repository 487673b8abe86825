package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

var long = flag.Bool("long", false, "run the long variants of the tests of processes")

// pick is the size of a test: the small one unless -long is given.
func pick(small, big int) int {
	if *long {
		return big
	}
	return small
}

// job is what another process does.
type job struct {
	Do     string
	Dir    string
	Root   string
	Number int
	Count  int
	Of     int    // processes
	At     int    // the file operation to die at
	Brief  bool   // talk: end after the last post
	Agent  string // hold: the id to resume
}

func TestMain(m *testing.M) { proctest.Main(m, job.run) }

func (j job) run(ctx context.Context) error {
	o := &Options{ProjectRoot: j.Root, ProjectHash: hash, LongLived: j.Do == "serve"}
	if j.Do == "handoff" {
		return j.handoff(ctx, o)
	}
	s, err := Open(j.Dir, o)
	if err != nil {
		return err
	}
	me := s.As(Actor{Agent: fmt.Sprintf("talker-%04x", j.Number)})
	switch j.Do {
	case "talk", "serve":
		err = j.talk(ctx, me)
	case "claim":
		err = j.claim(ctx, me)
	case "hold":
		var r Registered
		if r, err = s.As(Actor{Agent: j.Agent}).Register(ctx, Registration{AgentType: "cursor", Role: "dev"}); err == nil {
			fmt.Println(r.AgentID)
			_, err = io.Copy(io.Discard, os.Stdin) // until the test kills or lets go
		}
	}
	return errors.Join(err, s.Close())
}

// talk posts to everybody and to single agents, reads in between, and prints
// every message that it posted or read, as JSON. It ends when it has read all
// that is for it.
func (j job) talk(ctx context.Context, s *Store) error {
	enc := json.NewEncoder(os.Stdout)
	got := 0
	take := func() error {
		r, err := proctest.Again(journal.ErrLocked, func() (Messages, error) { return s.Read(ctx, ReadArgs{Limit: 200}) })
		for _, m := range r.Messages {
			got++
			if err := enc.Encode(m); err != nil {
				return err
			}
		}
		return err
	}
	for i := range j.Count {
		p := PostArgs{Message: said(j.Number, i)}
		if i%2 == 1 {
			p.ToAgent = fmt.Sprintf("talker-%04x", j.addressee(j.Number, i))
		}
		if _, err := proctest.Again(journal.ErrLocked, func() (Posted, error) { return s.Post(ctx, p) }); err != nil {
			return err
		}
		if err := enc.Encode(Message{From: "me", Message: p.Message, Number: uint64(i)}); err != nil {
			return err
		}
		if i%10 == 9 {
			if err := take(); err != nil {
				return err
			}
		}
	}
	for want := len(j.expected(j.Number)); got < want && !j.Brief; {
		if err := take(); err != nil {
			return err
		}
	}
	return take() // and nothing more
}

func said(from, i int) string { return fmt.Sprintf("message %d of %d", i, from) }

// addressee is to whom a process's i-th message goes if it is a direct one.
func (j job) addressee(from, i int) int { return (from + 1 + i%(j.Of-1)) % j.Of }

// expected are the messages that a process is to read.
func (j job) expected(to int) []string {
	var out []string
	for from := range j.Of {
		for i := range j.Count {
			if from != to && (i%2 == 0 || j.addressee(from, i) == to) {
				out = append(out, said(from, i))
			}
		}
	}
	slices.Sort(out)
	return out
}

// talkers registers the agents of the processes, so that all are there before
// the first message.
func talkers(t testing.TB, s *Store, n int) {
	t.Helper()
	err := s.update(t.Context(), func(_ *project, now time.Time) (events []event, _ error) {
		for i := range n {
			a := &agent{ID: fmt.Sprintf("talker-%04x", i), Type: "talker", Status: statusActive, Registered: now, Active: now}
			events = append(events, event{By: a.ID, Agent: a})
		}
		return events, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Ten processes talk: everything is read once by everyone it is for.
func TestProcessesTalk(t *testing.T) {
	b := newFixture(t)
	b.opts.Now = time.Now
	j := job{Do: "talk", Dir: b.dir, Root: b.root, Of: 10, Count: pick(50, 500)}
	talkers(t, b.open(), j.Of)
	var wg sync.WaitGroup
	for n := range j.Of {
		k := j
		if k.Number = n; n == 0 {
			k.Do = "serve" // which compacts meanwhile
		}
		c := proctest.Command(t, k)
		wg.Go(func() {
			var errs bytes.Buffer
			c.Stderr = &errs
			out, err := c.Output()
			if err != nil {
				t.Errorf("process %d: %v: %s", n, err, &errs)
				return
			}
			var got []string
			for dec := json.NewDecoder(bytes.NewReader(out)); ; {
				var m Message
				if err := dec.Decode(&m); err != nil {
					break
				}
				if m.From != "me" {
					got = append(got, m.Message)
				}
			}
			slices.Sort(got)
			if want := j.expected(n); !slices.Equal(got, want) {
				t.Errorf("process %d read %d messages, want %d", n, len(got), len(want))
			}
		})
	}
	wg.Wait()
}

// A process that is killed while it talks takes no message from anybody else,
// and none of its own that was answered.
func TestProcessesTalkKilled(t *testing.T) {
	b := newFixture(t)
	b.opts.Now = time.Now
	j := job{Do: "talk", Dir: b.dir, Root: b.root, Of: 4, Count: 60, Brief: true}
	s := b.open()
	talkers(t, s, j.Of)
	answered := make([]int, 3)
	var wg sync.WaitGroup
	for n := range answered { // the fourth reads when they are dead
		k := j
		k.Number = n
		c := proctest.Command(t, k)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			dec := json.NewDecoder(out)
			for m := (Message{}); dec.Decode(&m) == nil; m = (Message{}) {
				if m.From != "me" {
					continue
				}
				if answered[n]++; answered[n] == 20+10*n {
					_ = c.Process.Kill()
				}
			}
			_ = c.Wait()
		})
	}
	wg.Wait()
	fourth := s.As(Actor{Agent: "talker-0003"})
	got := map[string]int{}
	for r := read(t, fourth); len(r.Messages) > 0; r = read(t, fourth) {
		for _, m := range r.Messages {
			got[m.Message]++
		}
	}
	for from, n := range answered {
		if n < 20+10*from {
			t.Errorf("process %d was not killed on its way", from)
		}
		for i := range n {
			if want := i%2 == 0 || j.addressee(from, i) == 3; want && got[said(from, i)] != 1 {
				t.Errorf("%s was read %d times", said(from, i), got[said(from, i)])
			}
		}
	}
}
