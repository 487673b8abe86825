package replica_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/replica"
	"leanctx/knowledge/state"
)

// machine is a store with a clone of the repository.
type machine struct {
	store *knowledge.Store
	root  string
	id    string
	user  string // whose machine it is; empty: not known
	clock time.Time
	calm  bool     // nothing is undone, erased or local, and no value is said twice
	said  []string // what was acknowledged then

	alone   bool            // it trusts nobody
	accepts bool            // a person takes in all that waits
	trusts  map[string]bool // the replicas that it trusts
}

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func newMachine(t interface {
	Fatal(...any)
	Helper()
}, dir string, skew time.Duration) *machine {
	t.Helper()
	m := &machine{root: filepath.Join(dir, "tree"), clock: start.Add(skew)}
	if err := os.MkdirAll(m.root, 0o755); err != nil {
		t.Fatal(err)
	}
	store, err := knowledge.Open(filepath.Join(dir, "store"), &knowledge.Options{
		ProjectHash: "0123456789abcdef", ProjectRoot: m.root, Now: func() time.Time { return m.clock }, Erased: replica.Purge, Person: func() string { return m.user },
	})
	if err != nil {
		t.Fatal(err)
	}
	m.store = store
	return m
}

func (m *machine) as(agent string) *knowledge.Store {
	return m.store.As(knowledge.Actor{Agent: agent, Kind: knowledge.KindAgent, Session: "s-" + agent})
}

func (m *machine) sync(t interface{ Fatalf(string, ...any) }) replica.Report {
	m.clock = m.clock.Add(time.Second)
	m.trustAll(t)
	r, err := replica.Sync(context.Background(), m.store, replica.Options{Root: m.root, Accept: m.accepts, ByUser: m.accepts})
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	m.id = r.Replica
	return r
}

// trustAll has a person trust whoever has written into the repository.
func (m *machine) trustAll(t interface{ Fatalf(string, ...any) }) {
	if m.alone {
		return
	}
	for name := range m.logs() {
		id := strings.TrimSuffix(name, ".jsonl")
		if m.trusts[id] || id == m.id || len(id) != 8 {
			continue
		}
		if _, err := replica.Trust(context.Background(), m.store, m.root, id); err == nil {
			if m.trusts == nil {
				m.trusts = map[string]bool{}
			}
			m.trusts[id] = true
		}
	}
}

func (m *machine) export(t interface{ Fatalf(string, ...any) }) string {
	var b bytes.Buffer
	err := m.store.View(context.Background(), func(st *state.State, _ time.Time) error {
		b.Reset()
		d, err := replica.Document(st, m.store.Dir())
		if err != nil {
			return err
		}
		return formats.EncodeNative(&b, d)
	})
	if err != nil {
		t.Fatalf("export: %v", err)
	}
	return b.String()
}

func (m *machine) logs() map[string]string {
	out := map[string]string{}
	files, _ := filepath.Glob(filepath.Join(m.root, ".lean-ctx", "log", "*.jsonl"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		out[filepath.Base(f)] = string(text)
	}
	return out
}

func (m *machine) put(name, text string) {
	dir := filepath.Join(m.root, ".lean-ctx", "log")
	_ = os.MkdirAll(dir, 0o755)
	_ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
}

// pull takes the files of another clone, as git would merge them: the owner's file as it
// is, and of another's file the longer one.
func (m *machine) pull(from *machine) {
	mine := m.logs()
	for name, text := range from.logs() {
		owner := strings.TrimSuffix(name, ".jsonl")
		if owner != m.id && (owner == from.id || strings.Count(text, "\n") > strings.Count(mine[name], "\n")) {
			m.put(name, text)
		}
	}
}

var (
	words = []string{"JWT RS256", "OAuth2 with PKCE", "Sessions in Redis", "PostgreSQL 16", "MySQL 8", "retries: 3", "retries: 5", "JWT RS256 and refresh tokens"}
	keys  = []string{"auth", "db", "cache"}
)

// say does something at random.
func (m *machine) say(t *rapid.T, agent string) {
	ctx := context.Background()
	s := m.as(agent)
	m.clock = m.clock.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "seconds")) * time.Second)
	key := rapid.SampledFrom(keys).Draw(t, "key")
	op := rapid.IntRange(0, 20).Draw(t, "op")
	if m.calm && (op == 12 || op >= 19) {
		op = 0
	}
	switch {
	case op < 9:
		a := knowledge.Assertion{Category: "arch", Key: key, Value: rapid.SampledFrom(words).Draw(t, "value")}
		switch rapid.IntRange(0, 9).Draw(t, "how") {
		case 0:
			a.Correct = true
		case 1:
			a.Also = true
		case 2:
			a.Source = "user"
		case 3:
			a.Pinned, a.Tags, a.Aliases = new(true), []string{"t"}, []string{"other " + key}
		case 4:
			a.ValidFrom = "2026-02-01"
		case 5:
			a.Privacy = "project_only"
		case 6:
			a.Confidence = new(0.4)
		}
		if m.calm {
			a.Value += fmt.Sprintf(", said as number %d by %s", len(m.said), filepath.Base(filepath.Dir(m.root)))
		}
		if _, err := s.Remember(ctx, a); err == nil && m.calm {
			m.said = append(m.said, a.Value)
		}
	case op < 11:
		_, _ = s.Remove(ctx, knowledge.Withdrawal{
			Category: "arch", Key: key,
			Until: rapid.SampledFrom([]string{"", "", "2026-02-15", "2026-04-01"}).Draw(t, "until"), Reason: rapid.SampledFrom([]string{"", "out of use"}).Draw(t, "reason"),
		})
	case op < 12:
		to := rapid.SampledFrom([]string{"auth", "db", "cache", "store"}).Draw(t, "to")
		_, _ = knowledge.Rename(ctx, s, knowledge.NewName{Category: "arch", Key: key, To: to, Merge: rapid.SampledFrom([]string{"", "true"}).Draw(t, "merge")})
	case op < 13:
		_, _ = knowledge.Undo(ctx, s, knowledge.UndoArgs{})
	case op < 14:
		_, _ = knowledge.Pattern(ctx, s, knowledge.Lesson{Type: "naming", Value: "snake_case", Examples: []string{rapid.SampledFrom(words).Draw(t, "example")}})
	case op < 15:
		_, _ = knowledge.Gotcha(ctx, s, knowledge.Mistake{Trigger: "editing .proto", Resolution: rapid.SampledFrom(words).Draw(t, "resolution")})
	case op < 16:
		_, _ = knowledge.Relate(ctx, s, knowledge.Link{Category: "arch", Key: key, Target: "arch/db"})
	case op < 17:
		_, _ = knowledge.Feedback(ctx, s, knowledge.Vote{Category: "arch", Key: key, Vote: "up"})
	case op < 18:
		_, _ = knowledge.Remind(ctx, s, knowledge.NewReminder{Value: "look at it", Keyword: key})
	case op < 19:
		_, _ = knowledge.Questions(ctx, s, knowledge.FactQuestions{Category: "arch", Key: key, Questions: "what is it?"})
	case op < 20:
		_, _ = s.Remove(ctx, knowledge.Withdrawal{Category: "arch", Key: key, Erase: true, Source: "user"})
	default:
		_, _ = s.Remember(ctx, knowledge.Assertion{Category: "arch", Key: key, Value: "a secret of this machine", Privacy: "local"})
	}
}

// Whatever was said on however many machines, and in whatever order they met: once all have
// taken in all, all export the same bytes. Every value that was acknowledged is on record.
func TestMachinesThatTookInTheSameAgreeToTheByte(t *testing.T) {
	n := 0
	dir := t.TempDir()
	few(t, 8)
	rapid.Check(t, func(t *rapid.T) {
		n++
		var all []*machine
		calm := rapid.Bool().Draw(t, "calm")
		for i := range rapid.IntRange(2, 4).Draw(t, "machines") {
			skew := time.Duration(rapid.IntRange(-30, 30).Draw(t, "skew")) * time.Minute
			m := newMachine(t, filepath.Join(dir, fmt.Sprint(n), fmt.Sprint(i)), skew)
			m.calm = calm
			all = append(all, m)
		}
		defer func() {
			for _, m := range all {
				_ = m.store.Close()
			}
		}()
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			m := rapid.SampledFrom(all).Draw(t, "machine")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				m.say(t, rapid.SampledFrom([]string{"cursor-a1", "claude-b2"}).Draw(t, "agent"))
			case 2:
				m.sync(t)
			case 3:
				m.pull(rapid.SampledFrom(all).Draw(t, "from"))
			}
		}
		settle(t, all)
		for _, m := range all { // while something is local, what others say of it is left out
			m.takeBackLocal(t, append(slices.Clip(keys), "store")...)
		}
		settle(t, all)
		want := all[0].export(t)
		for _, m := range all[1:] {
			if got := m.export(t); got != want {
				t.Fatalf("machines differ:\n%s", difference(want, got))
			}
		}
		for _, m := range all {
			for _, value := range m.said {
				if !strings.Contains(want, value) {
					t.Fatalf("lost: %q in\n%s", value, want)
				}
			}
		}
		if strings.Contains(want, "a secret of this machine") {
			t.Fatalf("a local fact was shared")
		}
		for _, m := range all {
			if r := m.sync(t); r.Written+r.TakenIn > 0 {
				t.Fatalf("a sync with nothing new: %s", r.Text())
			}
		}
	})
}

// takeBackLocal ends what is local on a machine.
func (m *machine) takeBackLocal(t interface{ Fatal(...any) }, names ...string) {
	for _, key := range names {
		m.clock = m.clock.Add(time.Second)
		local := false
		_ = m.store.View(context.Background(), func(st *state.State, _ time.Time) error {
			v := fact.Current(st.Versions(fact.IDOf("arch", key)), m.clock)
			local = v != nil && v.Privacy == knowledge.PrivacyLocal
			return nil
		})
		if local {
			if _, err := m.as("").Remove(context.Background(), knowledge.Withdrawal{Category: "arch", Key: key, Source: "user"}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// few has a property checked so many times, unless the command line says how often.
func few(t *testing.T, checks int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f.Value.String() != f.DefValue {
		return
	}
	if err := flag.Set("rapid.checks", fmt.Sprint(checks)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set("rapid.checks", f.DefValue) })
}

// settle has all machines write what they have and take in what the others wrote.
func settle(t interface{ Fatalf(string, ...any) }, all []*machine) {
	for range 2 {
		for _, m := range all {
			m.sync(t)
		}
		for _, m := range all {
			for _, from := range all {
				m.pull(from)
			}
			m.sync(t)
		}
	}
}

func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			from := max(0, i-12)
			return "- " + strings.Join(x[from:min(len(x), i+4)], "\n- ") + "\n+ " + strings.Join(y[from:min(len(y), i+4)], "\n+ ")
		}
	}
	return "the second is longer"
}

// What was erased before anybody was told of it is nobody else's business: the shared
// memory is the same without it.
func TestErasureOfWhatWasNeverToldStaysHome(t *testing.T) {
	a, b := newMachine(t, filepath.Join(t.TempDir(), "a"), 0), newMachine(t, filepath.Join(t.TempDir(), "b"), 0)
	defer a.store.Close()
	defer b.store.Close()
	a.remember(t, "kept", "JWT RS256")
	a.sync(t)
	a.remember(t, "slip", "said too much")
	if _, err := a.store.Remove(t.Context(), knowledge.Withdrawal{Category: "arch", Key: "slip", Erase: true}); err != nil {
		t.Fatal(err)
	}
	settle(t, []*machine{a, b})
	if x, y := a.export(t), b.export(t); x != y {
		t.Errorf("machines differ:\n%s", difference(x, y))
	}
}

// A removal travels with its reason, and with the end that it gave.
func TestReasonsAndEndsAreTold(t *testing.T) {
	a, b, file := pair(t)
	a.clock = a.clock.Add(time.Hour)
	if _, err := a.as("cursor-a1").Remove(t.Context(), knowledge.Withdrawal{Category: "arch", Key: "auth", Until: "2026-04-01", Reason: "OAuth2 by then"}); err != nil {
		t.Fatal(err)
	}
	settle(t, []*machine{a, b})
	if text := a.logs()[file]; !strings.Contains(text, `"op":"retract"`) || !strings.Contains(text, `"valid_until":"2026-04-01T00:00:00Z"`) || !strings.Contains(text, `"reason":"OAuth2 by then"`) {
		t.Error(text)
	}
	if x, y := a.export(t), b.export(t); x != y || !strings.Contains(y, `"retracted_reason": "OAuth2 by then"`) {
		t.Errorf("machines differ:\n%s", difference(x, y))
	}
}

// An end that one gave while another confirmed the fact is not lost: it stands as a dispute.
func TestPlannedEndOfAFactConfirmedApartIsDisputed(t *testing.T) {
	a, b, file := pair(t)
	settle(t, []*machine{a, b})
	a.clock, b.clock = a.clock.Add(2*time.Hour), b.clock.Add(time.Hour)
	ends := knowledge.Assertion{Category: "arch", Key: "auth", Value: "JWT RS256", Correct: true, ValidUntil: "2026-12-01"}
	if _, err := a.as("cursor-a1").Remember(t.Context(), ends); err != nil {
		t.Fatal(err)
	}
	vote := knowledge.Vote{Category: "arch", Key: "auth", Vote: "up"} // no line tells of votes alone
	if _, err := knowledge.Feedback(t.Context(), a.as("cursor-a1"), vote); err != nil {
		t.Fatal(err)
	}
	b.remember(t, "auth", "JWT RS256")
	b.sync(t)
	settle(t, []*machine{a, b})
	if text := a.logs()[file]; !strings.Contains(text, `"op":"fact"`) {
		t.Fatal(text)
	}
	if x, y := a.export(t), b.export(t); x != y || !strings.Contains(y, `"valid_until": "2026-12-01T00:00:00Z"`) {
		t.Errorf("%s\nmachines differ, or the end is lost:\n%s\n%s", a.logs()[file], difference(x, y), y)
	}
}
