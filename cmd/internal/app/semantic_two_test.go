package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/internal/proctest"
	"leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/transfer"
)

func health(t testing.TB, s *knowledge.Store) advice.Report {
	t.Helper()
	r, err := advice.Health(t.Context(), s, knowledge.Examining{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Health names facts that say nearly the same, and no others: not the same
// value, not other numbers, nothing that is over, archived or settled.
func TestHealthNearlySame(t *testing.T) {
	dir := t.TempDir()
	s := semanticStore(t, dir, true)
	for _, f := range [][2]string{
		{"tests", "Run the tests with go test ./..."}, {"testing", "Tests are run by go test ./..."},
		{"style", "Tabs for indentation, not spaces"}, {"indent", "Indent with tabs instead of spaces"},
		{"port a", "Service 1 listens on port 8001"}, {"port b", "Service 2 listens on port 8002"},
		{"same a", "The log goes to stderr always"}, {"same b", "The log goes to stderr always."},
		{"db", "PostgreSQL 16 is the primary database"}, {"deploy", "We deploy to AWS ECS in eu-central-1"},
		{"spaces", "Indent with tabs instead of spaces everywhere"},
		{"runs", "The metrics server runs on the host"}, {"runs not", "The metrics server does not run on the host"},
	} {
		assert(t, s, "fact", f[0], f[1])
	}
	assert(t, s, "fact", "spaces", "Line length is at most 120 columns") // superseded: no pair of it any more
	for _, store := range []*knowledge.Store{s, semanticStore(t, dir, false)} {
		r := health(t, store)
		var got []string
		for _, p := range r.NearDuplicates {
			got = append(got, p.First.Key+"+"+p.Second.Key)
		}
		if want := "[testing+tests indent+style]"; fmt.Sprint(got) != want || !r.HasVectors {
			t.Errorf("%v, want %s", got, want)
		}
		if text := r.Text(); !strings.Contains(text, "\nNearly the same under two names: 2\n  [fact/testing] 'Tests are run by go test ./...' and [fact/tests] 'Run the tests with go test ./...' (99% alike)\n") {
			t.Error(text)
		}
	}
	plain, err := knowledge.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if text := health(t, plain).Text(); !strings.Contains(text, "\nNearly the same under two names: not compared, there are no vectors\n") {
		t.Error(text)
	}
	if _, err := advice.Judge(t.Context(), s, advice.Verdict{Category: "fact", Key: "tests", Target: "fact/testing", Verdict: "compatible"}); err != nil {
		t.Fatal(err)
	}
	if r := health(t, s); len(r.NearDuplicates) != 1 {
		t.Errorf("a settled pair is told: %v", r.NearDuplicates)
	}
}

// Of very many facts the newest are compared with all, and the answer says so.
func TestHealthOfManyFacts(t *testing.T) {
	if proctest.Raced {
		t.Skip("not proven: 5 million comparisons take a minute under the race detector; the run without it makes them")
	}
	s := semanticStore(t, t.TempDir(), false)
	var list []string
	for i := range 3200 {
		value := fmt.Sprintf("Service %d listens on port %d", i, 8000+i)
		key := fmt.Sprint("k", i)
		switch i {
		case 0, 3198:
			key, value = fmt.Sprint("tests", i), "Run the tests with go test ./..."+strings.Repeat("!", i/3000)
		case 1, 3199:
			key, value = fmt.Sprint("testing", i), "Tests are run by go test ./..."
		}
		at := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC).Format(time.RFC3339)
		list = append(list, fmt.Sprintf(`{"category":"fact","key":%q,"value":%q,"created_at":%q,"last_confirmed":%q,"valid_from":%q}`, key, value, at, at, at))
	}
	file := filepath.Join(t.TempDir(), "facts.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(list, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Import(t.Context(), s, transfer.Incoming{File: file}); err != nil {
		t.Fatal(err)
	}
	want := "(the newest 1562 of 3200 facts compared with all)\n  [fact/testing3199]"
	if text := health(t, s).Text(); !strings.Contains(text, want) {
		t.Errorf("%s", text)
	}
}

// The second stage of recall looks at one project, tells nothing that is over as
// if it held, and writes no fact.
func TestSecondStage(t *testing.T) {
	root := t.TempDir()
	here, there := filepath.Join(root, "here"), filepath.Join(root, "there")
	a, b := semanticStore(t, here, true), semanticStore(t, there, true)
	assert(t, a, "security", "login", "Authentication uses JWT tokens signed with RS256.")
	assert(t, a, "security", "login", "Users sign in with a passkey.")
	assert(t, a, "db", "primary", "PostgreSQL 16 is the primary data store.")
	assert(t, b, "security", "login", "Authentication uses JWT tokens signed with RS256.")
	if _, err := a.Remove(t.Context(), knowledge.Withdrawal{Category: "db", Key: "primary"}); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(here, "knowledge.journal"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	before := read()
	for _, mode := range []string{"auto", "semantic", "hybrid"} {
		for _, q := range []string{"how do users log in", "how do people authenticate", "which database do we use", "signed tokens", "relational storage engine"} {
			for _, store := range []*knowledge.Store{a, semanticStore(t, here, false)} {
				for _, f := range recall(t, store, knowledge.Question{Query: q, Mode: mode}).Facts {
					if f.Value != "Users sign in with a passkey." {
						t.Errorf("%s, %q: told %s", mode, q, f.Value)
					}
				}
			}
		}
	}
	if r := recall(t, a, knowledge.Question{Query: "how do people authenticate", Mode: "semantic"}); len(r.Facts) != 1 {
		t.Errorf("the second stage found nothing: %s", r.Text())
	}
	if read() != before {
		t.Error("a recall wrote to the journal")
	}
}

// A question by words and meaning finds what was remembered before it was asked,
// however often others write while it is answered.
func TestHybridSeesWhatWasJustRemembered(t *testing.T) {
	dir := t.TempDir()
	s, other := semanticStore(t, dir, true), semanticStore(t, dir, false)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			_, err := other.Remember(ctx, knowledge.Assertion{Category: "noise", Key: fmt.Sprint("n", i%7), Value: fmt.Sprint("the harbour holds ", i, " boats")})
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	for i := range max(4, proctest.Rounds(20)) {
		key := fmt.Sprint("k", i)
		assert(t, other, "fact", key, fmt.Sprint("the garden of house ", i, " has apple trees"))
		for _, mode := range []string{"hybrid", "auto"} {
			r := recall(t, s, knowledge.Question{Query: fmt.Sprint("apple trees house ", i), Category: "fact", Mode: mode, Limit: 40})
			if !slices.ContainsFunc(r.Facts, func(f knowledge.Found) bool { return f.Key == key }) {
				t.Errorf("%s: %s is not among %d facts", mode, key, len(r.Facts))
			}
		}
	}
}

// A command that writes the index leaves vectors that the next one can use: in a store
// with more facts than a command encodes before its answer, the newest fact is found by
// its meaning at once.
func TestVectorsFollowTheIndex(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "facts.jsonl")
	var list []string
	for i := range 1100 {
		list = append(list, fmt.Sprintf(`{"category":"service","key":"s%d","value":"Service %d listens on port %d."}`, i, i, 8000+i))
	}
	if err := os.WriteFile(file, []byte(strings.Join(list, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := semanticStore(t, dir, false)
	if _, err := transfer.Import(t.Context(), s, transfer.Incoming{File: file}); err != nil {
		t.Fatal(err)
	}
	done := func() {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = semanticStore(t, dir, false)
	}
	done()
	for i := range 70 {
		assert(t, s, "note", fmt.Sprint("n", i), fmt.Sprintf("Note %d is short.", i))
	}
	assert(t, s, "kitchen", "bread", "A recipe for a loaf from my own kitchen oven.")
	recall(t, s, knowledge.Question{Query: "short notes", Mode: "lexical"})
	done()
	if r := recall(t, s, knowledge.Question{Query: "how do i bake something at home"}); len(r.Facts) == 0 || r.Facts[0].Key != "bread" {
		t.Errorf("%s", r.Text())
	}
}
