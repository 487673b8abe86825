package knowledge_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/briefing"
)

// notes are findings that are always the same.
type notes struct {
	list   []Finding
	broken error
}

func (n notes) Findings(context.Context, time.Time) ([]Finding, error) { return n.list, n.broken }

func (n notes) Written(_ context.Context, from, until time.Time) (out []Finding, err error) {
	for _, f := range n.list {
		if !f.At.Before(from) && !f.At.After(until) {
			out = append(out, f)
		}
	}
	return out, n.broken
}

var noted = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

func TestSearchFindsWhatDiariesHold(t *testing.T) {
	list := []Finding{
		{"discovery", "Found N+1 queries in user loading", "cursor-a3f8", "diary:cursor-a3f8/1", noted},
		{"blocker", "loading is blocked", "cursor-a3f8", "diary:cursor-a3f8/2", noted},
		{"finding", "loading for your eyes", "cursor-a3f8", "message:3", noted},
	}
	s := testStore(t, &Options{Findings: notes{list: list}})
	for _, tt := range []struct {
		query string
		own   bool
		want  []string
	}{
		{"query in user loading", true, []string{"session-finding/20260320 Found N+1 queries in user loading"}},
		{"loading", true, []string{"session-finding/20260320 Found N+1 queries in user loading", "session-finding/20260320 loading for your eyes"}},
		{"loading", false, []string{"session-finding/20260320 Found N+1 queries in user loading"}},
		{"oad", true, nil},
	} {
		l := Library{Own: s.Store}
		if !tt.own {
			l = Library{Own: testStore(t, nil).Store, Others: func(yield func(*Store, error) bool) { yield(s.Store, nil) }}
		}
		r, err := l.Search(t.Context(), Lookup{Query: tt.query})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range r.Results {
			got = append(got, x.Category+"/"+x.Key+" "+x.Value)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s, own %v: %s", tt.query, tt.own, d)
		}
	}
}

// Facts do not become silent because a registry of agents is damaged.
func TestFactsWithoutTheirFindings(t *testing.T) {
	s := testStore(t, &Options{Findings: notes{broken: errors.New("registry.json: corrupt")}})
	if _, err := s.Remember(t.Context(), Assertion{Category: "a", Key: "auth", Value: "JWT"}); err != nil {
		t.Fatal(err)
	}
	l := Library{Own: s.Store}
	r, err := l.Search(t.Context(), Lookup{Query: "jwt"})
	if err != nil || !strings.Contains(r.Text(), "[a/auth] JWT") || !strings.Contains(r.Text(), "Not searched: diaries of ") || !strings.Contains(r.Text(), "registry.json: corrupt") {
		t.Errorf("got %v\n%s", err, r.Text())
	}
	if _, err := Consolidate(t.Context(), s.Store, Promotion{}); err != nil {
		t.Error(err)
	}
	if got := strings.Join(s.Notices(), "\n"); !strings.Contains(got, "registry.json: corrupt") {
		t.Errorf("nobody is told why: %q", got)
	}
}

func TestConsolidateNoneOfAKind(t *testing.T) {
	list := []Finding{
		{"decision", "use rotation", "cursor-a3f8", "diary:cursor-a3f8/1", noted},
		{"insight", "users stay", "cursor-a3f8", "diary:cursor-a3f8/2", noted},
	}
	for _, tt := range []struct {
		p     Promotion
		facts int
		bad   string
	}{
		{Promotion{MaxDecisions: new(0)}, 1, ""},
		{Promotion{MaxDecisions: new(0), MaxFindings: new(0)}, 0, ""},
		{Promotion{}, 2, ""},
		{Promotion{MaxDecisions: new(-1)}, 0, "max_decisions"},
		{Promotion{MaxFindings: new(-1)}, 0, "max_findings"},
	} {
		s := testStore(t, &Options{Findings: notes{list: list}})
		r, err := Consolidate(t.Context(), s.Store, tt.p)
		bad := ""
		if e, ok := errors.AsType[*ArgumentError](err); ok {
			bad = e.Argument
		}
		if len(r.Facts) != tt.facts || bad != tt.bad || err == nil && r.Left != 2-tt.facts {
			t.Errorf("%+v: got %+v, %v", tt.p, r, err)
		}
	}
}

// knownTasks is a workplace with one task.
type knownTasks struct{ office }

func (knownTasks) Reached(_ context.Context, task, state string) (bool, error) {
	switch {
	case task != "t-1":
		return false, errors.New("no task " + task)
	case state != "Completed":
		return false, errors.New("state must be Completed")
	}
	return false, nil
}

func TestRemindOfATaskThatThereIsNot(t *testing.T) {
	s := testStore(t, &Options{Coworkers: knownTasks{}})
	for task, good := range map[string]bool{"t-1:Completed": true, "t-9:Completed": false, "t-1:Soon": false, ":Completed": false, "t-1": false, "t-1: ": false} {
		_, err := Remind(t.Context(), s.Store, NewReminder{Value: "tell them", Task: task})
		e, refused := errors.AsType[*ArgumentError](err)
		if refused == good || refused && (e.Argument != "task" || !strings.HasPrefix(e.Problem, "task ")) {
			t.Errorf("%s: got %v", task, err)
		}
	}
}

// beside is what other stores keep.
type beside struct {
	texts  map[string]string // by ref
	broken error
}

func (k beside) Damage(context.Context) (told, aside []string, err error) {
	return []string{"tasks: commit 3 is lost"}, []string{"agents/tasks.json.corrupt-1"}, k.broken
}

func (k beside) Copies(_ context.Context, holds func(string) bool) (refs []string, err error) {
	for ref, text := range k.texts {
		if holds(text) {
			refs = append(refs, ref)
		}
	}
	return refs, k.broken
}

// Health tells of damage elsewhere, and that it could not look.
func TestHealthElsewhere(t *testing.T) {
	for _, k := range []beside{{}, {broken: errors.New("registry.json: corrupt")}} {
		h, err := advice.Health(t.Context(), testStore(t, &Options{OtherStores: k}).Store, Examining{})
		want := "Damage: tasks: commit 3 is lost"
		if k.broken != nil {
			want += "\nDamage: registry.json: corrupt"
		}
		if want += "\nSet aside: agents/tasks.json.corrupt-1"; err != nil || !strings.HasSuffix(h.Text(), want) {
			t.Errorf("got %s, %v, want %s", h.Text(), err, want)
		}
	}
}

// What is erased may stand in what agents wrote down; that is named.
func TestEraseNamesCopies(t *testing.T) {
	list := []Finding{
		{"discovery", "the password is Hunter-Two, says bob", "cursor-a3f8", "diary:cursor-a3f8/1", noted},
		{"insight", "users stay", "cursor-a3f8", "diary:cursor-a3f8/2", noted},
		{"finding", "hunter-two", "cursor-a3f8", "message:3", noted},
	}
	for _, tt := range []struct {
		n    notes
		k    beside
		want string
	}{
		{notes{list: list}, beside{}, "Erased [a] pass: it is off the disk; not touched: diary:cursor-a3f8/1, message:3, and other copies in diaries, shares and exports"},
		{notes{list: list[1:2]}, beside{}, "Erased [a] pass: it is off the disk; copies in diaries, shares and exports are not touched"},
		{notes{list: list}, beside{texts: map[string]string{"message:3": "hunter-two", "share:s-1/a.txt": "a\nHunter Two\n", "task:t-1": "hunters two"}},
			"Erased [a] pass: it is off the disk; not touched: diary:cursor-a3f8/1, message:3, share:s-1/a.txt, and other copies in diaries, shares and exports"},
		{notes{}, beside{broken: errors.New("shares.json: corrupt"), texts: map[string]string{"task:t-1": "hunter-two!"}},
			"Erased [a] pass: it is off the disk; not touched: task:t-1, and other copies in diaries, shares and exports"},
		{notes{broken: errors.New("registry.json: corrupt")}, beside{}, "Erased [a] pass: it is off the disk; copies in diaries, shares and exports are not touched"},
	} {
		s := testStore(t, &Options{Findings: tt.n, OtherStores: tt.k})
		if _, err := s.Remember(t.Context(), Assertion{Category: "a", Key: "pass", Value: "hunter-two"}); err != nil {
			t.Fatal(err)
		}
		r, err := s.Remove(t.Context(), Withdrawal{Category: "a", Key: "pass", Erase: true})
		if err != nil || r.Text() != tt.want {
			t.Errorf("got %q, %v", r.Text(), err)
		}
		if told := len(s.Notices()) > 0; told != (tt.n.broken != nil || tt.k.broken != nil) {
			t.Errorf("a notice: %v", told)
		}
	}
}

// A decision of a diary is told as a recent one as long as it is no fact. Then the fact is told, and a search gives it once.
func TestDecisionsOfDiariesAreRecent(t *testing.T) {
	list := []Finding{
		{"decision", "Ship the importer in May", "cursor-a3f8", "diary:cursor-a3f8/1", noted},
		{"decision", "Perhaps use Kafka for events?", "cursor-a3f8", "diary:cursor-a3f8/2", noted.Add(time.Minute)},
		{"decision", "Posted to one agent", "cursor-a3f8", "message:3", noted.Add(2 * time.Minute)},
		{"decision", "PostgreSQL 16.", "cursor-a3f8", "diary:cursor-a3f8/4", noted.Add(3 * time.Minute)},
		{"discovery", "Found N+1 queries", "cursor-a3f8", "diary:cursor-a3f8/5", noted.Add(4 * time.Minute)},
		{"decision", "Drop the old <b>API</b>", "claude-1acc", "diary:claude-1acc/1", noted.Add(5 * time.Minute)},
	}
	s := testStore(t, &Options{Findings: notes{list: list}})
	s.now = noted.Add(time.Hour)
	s.remember(t, Assertion{Category: "arch", Key: "db", Value: "PostgreSQL 16"})
	recent := func() []string {
		t.Helper()
		b, err := briefing.Wakeup(t.Context(), s.Store, briefing.Query{})
		if err != nil {
			t.Fatal(err)
		}
		return b.Decisions
	}
	if d := cmp.Diff([]string{"Drop the old <b>API</b> [? unconfirmed]", "Ship the importer in May [? unconfirmed]"}, recent()); d != "" {
		t.Error(d)
	}
	if _, err := Consolidate(t.Context(), s.Store, Promotion{}); err != nil {
		t.Fatal(err)
	}
	if got := recent(); len(got) != 0 { // they stand in their rooms
		t.Errorf("what is a fact is told twice: %q", got)
	}
	l := Library{Own: s.Store}
	r, err := l.Search(t.Context(), Lookup{Query: "ship the importer in May"})
	if err != nil || strings.Count(r.Text(), "Ship the importer") != 1 || !strings.Contains(r.Text(), "[decision/") {
		t.Errorf("%v\n%s", err, r.Text())
	}
}
