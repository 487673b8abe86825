package jetstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream"
	"leanctx/internal/proctest"
)

func TestEveryMachineHasEveryCommit(t *testing.T) {
	s := serve(t)
	a, b := join(t, s.url()), join(t, s.url())
	var last journal.Head
	for i := range 6 {
		h := []*home{a, b}[i%2].add(t, "x")
		if h.Seq != last.Seq+1 || !h.At.After(last.At) {
			t.Errorf("commit %d at %v after commit %d at %v", h.Seq, h.At, last.Seq, last.At)
		}
		last = h
	}
	c := join(t, s.url()) // one that comes later
	for _, h := range []*home{a, b, c} {
		if got := h.newest(t); got["x"] != 6 {
			t.Errorf("%v", got)
		}
		if at := h.head(t); at.Sum != last.Sum {
			t.Errorf("the last commit is %08x, not %08x", at.Sum, last.Sum)
		}
	}
}

// A commit that others made in between is decided on.
func TestDecidesOnTheNewestState(t *testing.T) {
	s := serve(t)
	const homes, each = 4, 10
	var wg sync.WaitGroup
	for range homes {
		h := join(t, s.url())
		wg.Go(func() {
			for range each {
				h.write(t, func(now counters, _ time.Time) ([]event, error) {
					return []event{{Key: strings.Repeat("x", now["n"]+1)}, {Key: "n"}}, nil
				})
			}
		})
	}
	wg.Wait()
	got := join(t, s.url()).newest(t)
	want := counters{"n": homes * each}
	for i := range homes * each {
		want[strings.Repeat("x", i+1)]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// Logs of one stream do not take each other's messages for their own.
func TestLogsOfOneStream(t *testing.T) {
	s := serve(t)
	a, b := join(t, s.url()), join(t, s.url())
	open := func(h *home, name string) *testLog {
		l, err := journal.Open(h.dir, machine{}, &journal.Options{Name: name, Remote: h.stream.Log(name)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	for _, name := range []string{"one", "two"} {
		if _, err := open(a, name).Update(t.Context(), add(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"one", "two"} {
		err := open(b, name).View(t.Context(), func(now counters, _ journal.Head) error {
			if !maps.Equal(now, counters{name: 1}) {
				t.Errorf("%s: %v", name, now)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A decision that changes nothing is made on the newest state too.
func TestRefusesOnTheNewestState(t *testing.T) {
	s := serve(t)
	a, b := join(t, s.url()), join(t, s.url())
	a.add(t, "x")
	b.add(t, "x")
	taken := errors.New("taken")
	_, err := a.update(t, func(now counters, _ time.Time) ([]event, error) {
		if now["x"] < 2 {
			return nil, errors.New("decided on an old state")
		}
		return nil, taken
	})
	if err != taken {
		t.Error(err)
	}
}

func TestAcknowledgedCommitSurvivesTheCopysDisk(t *testing.T) {
	s := serve(t)
	full := errors.New("disk full")
	var fail bool
	a := join(t, s.url(), func(_ *jetstream.Options, o *journal.Options) {
		o.Fault = func(op, name string) error {
			if fail && op == "write" && name == "state.journal" {
				return full
			}
			return nil
		}
	})
	a.add(t, "x")
	fail = true
	if _, err := a.update(t, add("x")); !errors.Is(err, journal.ErrInDoubt) || !errors.Is(err, full) {
		t.Error(err)
	}
	fail = false
	if got := a.newest(t); got["x"] != 2 {
		t.Errorf("%v", got)
	}
}

// The answer to a publish is lost in every way a network has. The commit is in
// the log exactly once.
func TestLostAnswer(t *testing.T) {
	for name, fault := range map[string]proctest.Fault{"dropped": proctest.DropAnswers, "cut in half": proctest.Halve} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			a, b := join(t, s.url()), join(t, s.url())
			a.add(t, "x")
			b.newest(t)
			decided := false
			_, err := a.update(t, func(counters, time.Time) ([]event, error) {
				if !decided {
					decided = true
					s.Set(fault)
					time.AfterFunc(50*time.Millisecond, func() { s.Set(proctest.Pass); s.Cut() })
				}
				return []event{{Key: "x"}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range []*home{a, b} {
				if got := h.newest(t); got["x"] != 2 {
					t.Errorf("%v", got)
				}
			}
		})
	}
}

// Without an answer in time the writer learns that the outcome is not known,
// and the next command knows it.
func TestInDoubt(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	a.add(t, "x")
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	_, err := a.Update(ctx, func(counters, time.Time) ([]event, error) {
		s.Set(proctest.DropAnswers)
		go func() { // when the server has the commit, as its answer shows
			<-s.Dropped
			giveUp()
		}()
		return []event{{Key: "x"}}, nil
	})
	if !errors.Is(err, journal.ErrInDoubt) {
		t.Fatal(err)
	}
	s.Set(proctest.Pass)
	s.Cut()
	if got := a.newest(t); got["x"] != 2 { // the request had gone through
		t.Errorf("%v", got)
	}
	a.add(t, "x")
	if got := a.newest(t); got["x"] != 3 {
		t.Errorf("%v", got)
	}
}

func TestOffline(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	a.add(t, "x")
	a.close()
	s.Set(proctest.Refuse)
	s.Cut()
	a.open(t, s.url(), func(so *jetstream.Options, _ *journal.Options) { so.Wait = 50 * time.Millisecond })
	if got := a.copied(t); got["x"] != 1 {
		t.Errorf("%v", got)
	}
	ws := a.Warnings()
	if len(ws) != 1 || ws[0].Kind != journal.Offline || !strings.Contains(ws[0].Text, s.Addr()) {
		t.Errorf("%v", ws)
	}
	before, err := os.ReadFile(journalOf(a))
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Update(t.Context(), add("x"))
	if !errors.Is(err, journal.ErrOffline) || !strings.Contains(err.Error(), s.Addr()) {
		t.Error(err)
	}
	if after, _ := os.ReadFile(journalOf(a)); string(after) != string(before) {
		t.Error("the copy was written")
	}
	s.Set(proctest.Pass)
	for { // the refusal counts for a moment
		if _, err = a.Update(t.Context(), add("x")); err == nil || !errors.Is(err, journal.ErrOffline) {
			break
		}
	}
	if got := a.copied(t); err != nil || got["x"] != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestRestartedServer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	for range 3 {
		a.add(t, "x")
		s.restart(t, func() {})
	}
	if got := join(t, s.url()).newest(t); got["x"] != 3 {
		t.Errorf("%v", got)
	}
}

// The server's disk is set back to what it was. Machines that know more do not
// write, and what is there is not overwritten.
func TestServersDiskSetBack(t *testing.T) {
	for name, others := range map[string]int{"shorter": 0, "as long": 2, "longer": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			a := join(t, s.url())
			backup := t.TempDir()
			a.add(t, "x")
			s.restart(t, func() { copyDir(t, s.dir, backup) })
			a.add(t, "x")
			a.add(t, "x")
			s.restart(t, func() { copyDir(t, backup, s.dir) })
			b := join(t, s.url())
			for range others { // a new machine cannot know
				b.add(t, "y")
			}
			want := b.newest(t)
			for range 2 {
				if _, err := a.update(t, add("x")); !errors.Is(err, journal.ErrDiverged) {
					t.Errorf("%v", err)
				}
			}
			if got := a.copied(t); got["x"] != 3 {
				t.Errorf("the copy: %v", got)
			}
			if got := b.newest(t); !maps.Equal(got, want) {
				t.Errorf("the stream: %v", got)
			}
			ws := a.Warnings()
			if len(ws) == 0 || ws[0].Kind != journal.Diverged {
				t.Errorf("%v", ws)
			}
		})
	}
}

func connect(t testing.TB, url string) natsjs.JetStream {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := natsjs.New(nc, natsjs.WithDefaultTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func TestStreamsThatAreRefused(t *testing.T) {
	s := serve(t)
	js := connect(t, s.url())
	join(t, s.url())
	for _, c := range []natsjs.StreamConfig{
		{Name: "theirs", Subjects: []string{"orders.>"}},
		{Name: "newer", Subjects: []string{"leanctx.newer.>"}, Metadata: map[string]string{"lean-ctx": "4"}},
		{Name: "older", Subjects: []string{"leanctx.older.>"}, Metadata: map[string]string{"lean-ctx": "2"}},
	} {
		if _, err := js.CreateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	try := func(name string, p jetstream.Project, sure bool) error {
		st := jetstream.Open(&jetstream.Options{Server: jetstream.Server{URL: s.url()}, Stream: name})
		defer st.Close()
		_, _, err := st.Join(t.Context(), p, sure)
		for errors.Is(err, journal.ErrOffline) {
			_, _, err = st.Join(t.Context(), p, sure)
		}
		return err
	}
	if err := try("theirs", project, true); !errors.Is(err, journal.ErrForeign) {
		t.Error(err)
	}
	if err := try("newer", project, true); !errors.Is(err, journal.ErrNewer) {
		t.Error(err)
	}
	if err := try("older", project, true); !errors.Is(err, journal.ErrForeign) || !strings.Contains(err.Error(), "join under another name") {
		t.Error(err)
	}
	other := jetstream.Project{Hash: "fedcba9876543210", FirstCommits: []string{"decade"}}
	if _, ok := errors.AsType[*jetstream.OtherProjectError](try("shop", other, true)); !ok {
		t.Error("another project joined")
	}
	plain := jetstream.Project{Hash: "fedcba9876543210"}
	if _, ok := errors.AsType[*jetstream.OtherProjectError](try("shop", plain, false)); !ok {
		t.Error("a project that cannot be compared joined without a confirmation")
	}
	if err := try("shop", plain, true); err != nil {
		t.Error(err)
	}
	clone := jetstream.Project{Hash: "fedcba9876543210", FirstCommits: project.FirstCommits}
	if err := try("shop", clone, false); err != nil {
		t.Error(err)
	}
}

func TestCommitLargerThanAMessage(t *testing.T) {
	t.Parallel()
	s := serveSmall(t)
	a, b := join(t, s.url()), join(t, s.url())
	a.add(t, "x")
	a.write(t, func(counters, time.Time) ([]event, error) { return []event{{Key: "x", Pad: largePad}}, nil })
	a.add(t, "x")
	if got := b.newest(t); got["x"] != 3 {
		t.Errorf("%v", got)
	}
	if a.head(t).Sum != b.head(t).Sum {
		t.Error("the machines differ")
	}
}

func TestFullStream(t *testing.T) {
	s := serve(t)
	a := join(t, s.url())
	a.add(t, "x")
	js := connect(t, s.url())
	st, err := js.Stream(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	c := st.CachedInfo().Config
	c.MaxBytes = 1024
	if _, err := js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	pad := strings.Repeat("x", 2048)
	_, err = a.update(t, func(counters, time.Time) ([]event, error) { return []event{{Key: "x", Pad: pad}}, nil })
	if !errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrInDoubt) {
		t.Error(err)
	}
	if got := a.newest(t); got["x"] != 1 {
		t.Errorf("%v", got)
	}
}

func TestClockADayAhead(t *testing.T) {
	s := serve(t)
	a := join(t, s.url(), func(so *jetstream.Options, o *journal.Options) {
		so.Now = func() time.Time { return time.Now().Add(24 * time.Hour) }
		o.Now = so.Now
	})
	if _, err := a.update(t, add("x")); err == nil || !strings.Contains(err.Error(), "24h0m0s ahead") {
		t.Error(err)
	}
	b := join(t, s.url())
	if h := b.add(t, "x"); h.Seq != 1 {
		t.Errorf("%+v", h)
	}
}

// A process that does not know that the store joined a team, or left it, does
// not write.
func TestStoreThatJoinedOrLeft(t *testing.T) {
	s := serve(t)
	a := join(t, s.url())
	a.add(t, "x")
	alone, err := journal.Open(a.dir, machine{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if _, err := alone.Update(t.Context(), add("x")); !errors.Is(err, journal.ErrElsewhere) || !strings.Contains(err.Error(), "broke off, run that again") {
		t.Error(err)
	}
	if d, err := journal.Detach(t.Context(), a.stream.Named, time.Minute, a.dir); err != nil || d.Old != nil || d.InDoubt > 0 {
		t.Fatal(d, err)
	}
	if _, err := a.update(t, add("x")); !errors.Is(err, journal.ErrElsewhere) {
		t.Error(err)
	}
	if h, err := alone.Update(t.Context(), add("x")); err != nil || h.Seq != 2 {
		t.Errorf("%+v, %v", h, err)
	}
}

// A write whose outcome is not known is in the log that a machine keeps when it leaves, once,
// whether the server has it or not, and whether it answers by then or not.
func TestLeaveWithAWriteInDoubt(t *testing.T) {
	for name, fault := range map[string]proctest.Fault{"stored": proctest.DropAnswers, "lost": proctest.DropAll} {
		for _, answers := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, server answers again %v", name, answers), func(t *testing.T) {
				t.Parallel()
				s := serve(t)
				a := join(t, s.url())
				a.add(t, "x")
				ctx, giveUp := context.WithCancel(t.Context())
				defer giveUp()
				_, err := a.Update(ctx, func(counters, time.Time) ([]event, error) {
					s.Set(fault)
					go func() { <-s.Dropped; giveUp() }() // the request, or the server's answer
					return []event{{Key: "doubt"}}, nil
				})
				if !errors.Is(err, journal.ErrInDoubt) {
					t.Fatal(err)
				}
				after := proctest.Pass
				if !answers {
					after = proctest.Refuse
				}
				s.Set(after)
				s.Cut()
				if !answers {
					ctx, giveUp := context.WithTimeout(t.Context(), 100*time.Millisecond)
					defer giveUp()
					if _, err := a.Update(ctx, add("x")); !errors.Is(err, journal.ErrOffline) {
						t.Errorf("a write while one is in doubt: %v", err)
					}
				}
				wait := time.Minute
				if !answers {
					wait = 100 * time.Millisecond
				}
				d, err := journal.Detach(t.Context(), a.stream.Named, wait, a.dir)
				if err != nil || (d.Old == nil) != answers {
					t.Errorf("%+v, %v", d, err)
				}
				if known := answers && fault == proctest.DropAnswers; known == (d.InDoubt > 0) {
					t.Errorf("%d in doubt", d.InDoubt)
				}
				alone, err := journal.Open(a.dir, machine{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer alone.Close()
				err = alone.View(t.Context(), func(got counters, _ journal.Head) error {
					if !maps.Equal(got, counters{"x": 1, "doubt": 1}) {
						t.Errorf("%v", got)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				if d, err := journal.Detach(t.Context(), a.stream.Named, time.Second, a.dir); err != nil || d.InDoubt > 0 {
					t.Errorf("again: %+v, %v", d, err)
				}
			})
		}
	}
}

// A damaged copy is not emptied before the server answers.
func TestDamagedCopyOffline(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	for range 3 {
		a.add(t, "x")
	}
	a.close()
	text, err := os.ReadFile(journalOf(a))
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-20] ^= 1 // of the last commit
	if err := os.WriteFile(journalOf(a), text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Set(proctest.Refuse)
	s.Cut()
	a.open(t, s.url())
	for range 2 {
		ctx, giveUp := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer giveUp()
		if _, err := a.Update(ctx, add("x")); !errors.Is(err, journal.ErrOffline) {
			t.Error(err)
		}
		if got := a.copied(t); got["x"] != 2 {
			t.Errorf("%v", got)
		}
	}
	s.Set(proctest.Pass)
	if got := a.newest(t); got["x"] != 3 {
		t.Errorf("%v", got)
	}
}

// A copy that is damaged is made anew.
func TestDamagedCopy(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, h *home){
		"a line": func(t *testing.T, h *home) {
			text, err := os.ReadFile(journalOf(h))
			if err != nil {
				t.Fatal(err)
			}
			text[len(text)/2] ^= 1
			if err := os.WriteFile(journalOf(h), text, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"the end": func(t *testing.T, h *home) {
			if err := os.Truncate(journalOf(h), 150); err != nil {
				t.Fatal(err)
			}
		},
		"the journal": func(t *testing.T, h *home) {
			if err := os.Remove(journalOf(h)); err != nil {
				t.Fatal(err)
			}
		},
		"all": func(t *testing.T, h *home) {
			if err := os.RemoveAll(h.dir); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			a := join(t, s.url())
			for range 3 {
				a.add(t, "x")
			}
			a.close()
			damage(t, a)
			a.open(t, s.url())
			a.add(t, "x")
			if got := a.newest(t); got["x"] != 4 {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestCompactedCopyFollows(t *testing.T) {
	s := serve(t)
	a, b := join(t, s.url()), join(t, s.url())
	a.add(t, "x")
	if err := a.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.add(t, "x")
	if got := a.newest(t); got["x"] != 2 {
		t.Errorf("%v", got)
	}
	a.close()
	a.open(t, s.url())
	a.add(t, "x")
	if got := b.newest(t); got["x"] != 3 {
		t.Errorf("%v", got)
	}
}

// Commits of a newer program, more than are fetched at once, are in the copy once: that program
// will fold them.
func TestCommitsNotUnderstoodAreKeptOnce(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	h := a.add(t, "x")
	remote, place := a.stream.Log("counters"), uint64(0)
	if err := remote.Fetch(t.Context(), 0, func(at uint64, _ []byte) error { place = at; return nil }); err != nil {
		t.Fatal(err)
	}
	seq, prev, pad := h.Seq, h.Sum, strings.Repeat("x", 700<<10)
	for range 7 {
		seq++
		commit := fmt.Appendf(nil, `{"seq":%d,"prev":"%08x","at":"2026-01-01T00:00:00Z","events":[{"key":7,"pad":"%s"}]}`, seq, prev, pad)
		var err error
		if place, err = remote.Publish(t.Context(), place, commit); err != nil {
			t.Fatal(err)
		}
		prev = crc32.Checksum(commit, crc32.MakeTable(crc32.Castagnoli))
	}
	b := &home{dir: t.TempDir()}
	b.open(t, s.url())
	for range 2 {
		if err := fetch(t, b); !errors.Is(err, journal.ErrNewer) {
			t.Errorf("%v", err)
		}
	}
	data, err := os.ReadFile(filepath.Join(b.dir, "state.journal"))
	if n := bytes.Count(data, fmt.Appendf(nil, `{"seq":%d,`, h.Seq+1)); n != 1 || err != nil {
		t.Errorf("the copy has it %d times, %v", n, err)
	}
}

// A server's log follows the stream by itself.
func TestFollows(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	b := &home{dir: t.TempDir()}
	b.open(t, s.url(), func(_ *jetstream.Options, o *journal.Options) { o.LongLived = true })
	for i := range 3 {
		a.add(t, "x")
		for b.copied(t)["x"] != i+1 { // the test's own time limit ends this
			time.Sleep(time.Millisecond)
		}
	}
}

// The others see what a machine has whose server follows the stream.
func TestFollowerReportsWhatItHas(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	a.add(t, "x")
	a.add(t, "x")
	b := &home{dir: t.TempDir()}
	b.open(t, s.url(), func(so *jetstream.Options, o *journal.Options) { so.Machine, o.LongLived = "b", true })
	for { // the test's own time limit ends this
		st, err := a.stream.Status(t.Context())
		if err != nil && !errors.Is(err, journal.ErrOffline) {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(st.Machines, func(m jetstream.Machine) bool { return m.Name == "b" }); i >= 0 {
			if m := st.Machines[i]; m.Last != st.Last || st.Last == 0 {
				t.Errorf("%+v, of %+v", m, st)
			}
			return
		}
	}
}

// What a follower could not fetch it does not report to the others.
func TestFollowerThatCannotFetch(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := join(t, s.url())
	a.add(t, "x")
	b := jetstream.Open(&jetstream.Options{Server: jetstream.Server{URL: s.url()}, Stream: "shop", Machine: "b"})
	defer b.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	looks := 0
	b.Log("counters").Follow(ctx, func() error {
		if looks++; looks == 1 {
			a.add(t, "x") // it looks again
			return errors.New("no room")
		}
		stop()
		st, err := a.stream.Status(t.Context())
		for errors.Is(err, journal.ErrOffline) {
			st, err = a.stream.Status(t.Context())
		}
		if err != nil || len(st.Machines) > 0 {
			t.Errorf("%+v, %v", st.Machines, err)
		}
		return nil
	})
}

// A follower that gets its connection late misses no commit that is made before it has subscribed.
func TestFollowerThatConnectsLate(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := &home{dir: t.TempDir()}
	join(t, s.url())
	a.open(t, s.nats.URL()) // not through the proxy
	s.Set(proctest.Refuse)
	b := jetstream.Open(&jetstream.Options{Server: jetstream.Server{URL: s.url()}, Stream: "shop"})
	defer b.Close()
	b.LookOnlyAtNews()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	looks := 0
	b.Log("counters").Follow(ctx, func() error {
		switch looks++; looks {
		case 1:
			s.Set(proctest.Pass)
			return errors.New("away")
		case 2:
			a.add(t, "x")
		default: // the test's own time limit ends this
			stop()
		}
		return nil
	})
}

// A server that takes a connection and says nothing holds up no command that ends.
func TestCloseDoesNotWaitForAConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := jetstream.Open(&jetstream.Options{Server: jetstream.Server{URL: "nats://" + l.Addr().String()}, Stream: "shop"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err = s.Log("counters").Fetch(ctx, 0, nil)
	if !errors.Is(err, journal.ErrOffline) {
		t.Errorf("fetch: %v, want offline", err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The attempt goes on: its connection is still open.
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("close waited for the attempt to connect: %v", err)
	}
}
