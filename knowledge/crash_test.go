package knowledge_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
	. "leanctx/knowledge"
	"leanctx/knowledge/transfer"
)

// saga is a script of operations on one store; each is one commit at most.
type saga struct {
	*Store
	now time.Time
}

type chapter struct {
	name string
	run  func(ctx context.Context, s *saga) error
}

func remembering(a Assertion) chapter {
	return chapter{"remember " + a.Key, func(ctx context.Context, s *saga) error {
		_, err := s.Remember(ctx, a)
		return err
	}}
}

func importing(merge, text string) chapter {
	return chapter{"import " + merge, func(ctx context.Context, s *saga) error {
		_, err := transfer.Import(ctx, s.Store, transfer.Incoming{Merge: merge, Data: strings.NewReader(text)})
		return err
	}}
}

var compacting = chapter{"compact", func(ctx context.Context, s *saga) error { return s.Compact(ctx) }}

// chapters is the script of the crash tests.
func chapters() []chapter {
	return []chapter{
		remembering(Assertion{Category: "architecture", Key: "auth", Value: "JWT RS256", Confidence: new(.95)}),
		remembering(Assertion{Category: "architecture", Key: "auth", Value: "jwt rs256."}),
		remembering(Assertion{Category: "architecture", Key: "auth", Value: "OAuth2 + PKCE"}),
		remembering(Assertion{Category: "architecture", Key: "auth", Value: "Basic", ValidFrom: "2025-12-01", ValidUntil: "2025-12-24"}),
		compacting,
		remembering(Assertion{Category: "secret", Key: "codename", Value: "Zwetschgendatschi"}),
		importing("", `{"category":"deployment","key":"host","value":"AWS ECS"}`+"\n"+`{"category":"deployment","key":"region","value":"eu-central-1"}`),
		{"pattern and gotcha", func(ctx context.Context, s *saga) error {
			_, err := Gotcha(ctx, s.Store, Mistake{Trigger: "go mod tidy", Resolution: "pin bleve"})
			return err
		}},
		{"relate", func(ctx context.Context, s *saga) error {
			_, err := Relate(ctx, s.Store, Link{Category: "architecture", Key: "auth", Target: "deployment/host"})
			return err
		}},
		compacting,
		{"remove", func(ctx context.Context, s *saga) error {
			_, err := s.Remove(ctx, Withdrawal{Category: "deployment", Key: "region"})
			return err
		}},
		{"erase", func(ctx context.Context, s *saga) error {
			_, err := s.Remove(ctx, Withdrawal{Category: "secret", Key: "codename", Erase: true})
			return err
		}},
		remembering(Assertion{Category: "architecture", Key: "db", Value: "PostgreSQL 16"}),
	}
}

// begin opens the script's store; its clock is the number of the chapter, so
// that equal stories give equal files.
func begin(dir string, fault func(op, name string) error) (*saga, error) {
	s := &saga{}
	st, err := Open(dir, &Options{
		ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e", Fault: fault,
		Now: func() time.Time { return s.now },
	})
	s.Store = st
	return s, err
}

func (s *saga) tell(ctx context.Context, i int) error {
	s.now = at(1).Add(time.Duration(i) * time.Hour)
	return chapters()[i].run(ctx, s)
}

// whole is everything that a store in dir holds, as a new process sees it.
func whole(t testing.TB, dir string) string {
	t.Helper()
	s, err := begin(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.whole(t)
}

func (s *saga) whole(t testing.TB) string { return exported(t, s.Store) }

// told is what a store holds before each chapter and after the last.
func told(t testing.TB) []string {
	t.Helper()
	dir := t.TempDir()
	s, err := begin(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out := []string{s.whole(t)}
	for i, c := range chapters() {
		if err := s.tell(t.Context(), i); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		out = append(out, s.whole(t))
	}
	if diff := cmp.Diff(out[len(out)-1], whole(t, dir)); diff != "" {
		t.Fatalf("opened again (-memory +files):\n%s", diff)
	}
	return out
}

// operations are the file operations of the whole script, and of which chapter.
func operations(t testing.TB) (ops []string, of []int) {
	t.Helper()
	chapter := 0
	s, err := begin(t.TempDir(), func(op, name string) error {
		ops, of = append(ops, op+" "+name), append(of, chapter)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for chapter = range chapters() {
		if err := s.tell(t.Context(), chapter); err != nil {
			t.Fatal(err)
		}
	}
	return ops, of
}

// crash tells the story until the file operation of its number, and dies there.
func (j task) crash(ctx context.Context) error {
	n, torn := 0, false
	die := func() error {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		if err == nil {
			select {} // until it is dead
		}
		return err
	}
	s, err := begin(j.Dir, func(op, _ string) error {
		if n++; n < j.Number {
			return nil
		}
		if j.Torn && op == "write" && !torn {
			torn = true
			return &journal.ShortWrite{Bytes: 40, Err: syscall.EIO}
		}
		return die()
	})
	for i := range chapters() {
		if err == nil {
			err = s.tell(ctx, i)
		}
		if err == nil {
			_, err = fmt.Println(i)
		}
	}
	return err
}

// dies runs the script in another process until the operation n kills it, and
// tells how many chapters were answered.
func (j task) dies(t *testing.T) (answered int) {
	err := proctest.Run(proctest.Command(t, j), func(line string) {
		if line != strconv.Itoa(answered) {
			t.Errorf("%q, want chapter %d", line, answered)
		}
		answered++
	})
	if err == nil {
		t.Fatal("the process did not die")
	}
	return answered
}

// A store that is killed before any file operation, or in the middle of any write, has
// everything that was answered. The operation at hand is there whole or not at all. From there
// the store goes on to the same end.
func TestCrash(t *testing.T) {
	t.Parallel()
	want := told(t)
	ops, _ := operations(t)
	t.Logf("%d file operations", len(ops))
	turns := make(chan struct{}, 2)
	var wg sync.WaitGroup
	defer wg.Wait()
	for n := 0; n < len(ops); n += proctest.Stride {
		op := ops[n]
		for _, torn := range []bool{false, true} {
			if torn && !strings.HasPrefix(op, "write") {
				continue
			}
			turns <- struct{}{}
			wg.Go(func() {
				defer func() { <-turns }()
				t.Run(fmt.Sprintf("%d %s torn=%v", n+1, op, torn), func(t *testing.T) {
					task{Job: "crash", Dir: t.TempDir(), Number: n + 1, Torn: torn}.survives(t, want)
				})
			})
		}
	}
}

func (j task) survives(t *testing.T, want []string) {
	answered := j.dies(t)
	got := whole(t, j.Dir)
	switch {
	case got == want[answered]:
	case answered < len(chapters()) && got == want[answered+1]:
		if answered < len(chapters()) && chapters()[answered].name != "erase" {
			answered++
		}
	default:
		t.Fatalf("after %d chapters (-want +got):\n%s", answered, cmp.Diff(want[answered], got))
	}
	s, err := begin(j.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := answered; i < len(chapters()); i++ {
		if err := s.tell(t.Context(), i); err != nil {
			t.Fatalf("%s, after the crash: %v", chapters()[i].name, err)
		}
	}
	if diff := cmp.Diff(want[len(want)-1], s.whole(t)); diff != "" {
		t.Errorf("told to the end (-want +got):\n%s", diff)
	}
	holds(t, j.Dir, "Zwetschgendatschi", false)
}
