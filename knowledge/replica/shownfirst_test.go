package replica_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/replica"
)

// What would change of what the user said is named first and always, however many other changes a stranger
// puts before it, and a person takes in what an answer named and nothing else.
func TestPersonTakesInWhatWasNamed(t *testing.T) {
	m := attacked(t)
	var text strings.Builder
	seen := map[string]uint64{m.id: 1 << 40}
	n := 0
	wait := func(l replica.Line) {
		n++
		m.clock = m.clock.Add(time.Minute)
		l.Seen, l.At = seen, m.clock
		text.WriteString(replica.Claims("deadbeef", n, l, nil))
	}
	for i := range 30 {
		key := fmt.Sprintf("a%02d", i)
		m.clock = m.clock.Add(time.Minute)
		m.remember(t, key, "said here")
		wait(replica.Line{Op: "assert", Key: key, Value: "see docs"})
	}
	for i := range 25 {
		key := fmt.Sprintf("zz%02d", i)
		if _, err := m.as("").Remember(t.Context(), knowledge.Assertion{Category: "arch", Key: key, Value: "never push", Source: "user"}); err != nil {
			t.Fatal(err)
		}
		wait(replica.Line{Op: "assert", Key: key, Value: "always push"})
	}
	wait(replica.Line{Op: "retract", Key: "auth"})
	m.put("deadbeef.jsonl", text.String())
	m.clock = m.clock.Add(time.Hour)
	first := m.mustTry(t).Text()
	if i := strings.Index(first, "[arch/a00]"); i < strings.Index(first, "[arch/zz24]") || !strings.Contains(first, "[arch/auth] ") || !strings.Contains(first, "… 10 more") {
		t.Fatal(first)
	}
	r, err := replica.Sync(t.Context(), m.store, replica.Options{Root: m.root, Accept: true, ByUser: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.Accepted {
		if !strings.Contains(first, w.Fact+" ") {
			t.Errorf("it was not named: %s", w.Line())
		}
	}
	if len(r.Accepted) != 46 || len(r.Waiting) != 10 {
		t.Errorf("%d taken in, %d wait\n%s", len(r.Accepted), len(r.Waiting), r.Text())
	}
	r, err = replica.Sync(t.Context(), m.store, replica.Options{Root: m.root, Accept: true, ByUser: true})
	if err != nil || len(r.Accepted) != 10 || len(r.Waiting) != 0 {
		t.Errorf("%d taken in, %d wait, %v", len(r.Accepted), len(r.Waiting), err)
	}
}

// A sync that was ended after it had taken in many lines, and before they were in the index, is made good by the
// next one, though that has nothing to take in.
func TestNextSyncMakesTheIndex(t *testing.T) {
	m := attacked(t)
	var text strings.Builder
	for i := range 700 {
		text.WriteString(replica.Claims("deadbeef", i+1, replica.Line{Op: "assert", Key: fmt.Sprint("k", i), Value: "see docs", At: start.Add(-time.Hour)}, nil))
	}
	m.put("deadbeef.jsonl", text.String())
	m.mustTry(t)
	stored := func() bool {
		if err := m.store.OpenIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
		at := m.store.Condition().Index
		return at.Stored && at.Pending <= 500
	}
	if !stored() {
		t.Fatal("the first one makes none")
	}
	dir := m.store.Dir()
	if err := m.store.Close(); err != nil {
		t.Fatal(err)
	}
	gone, _ := filepath.Glob(filepath.Join(dir, "index*"))
	for _, name := range gone {
		_ = os.RemoveAll(name)
	}
	var err error
	if m.store, err = knowledge.Open(dir, &knowledge.Options{ProjectHash: "0123456789abcdef", ProjectRoot: m.root, Now: func() time.Time { return m.clock }}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r := m.mustTry(t); r.TakenIn > 0 {
			t.Fatal(r.Text())
		}
	}
	if len(gone) == 0 || !stored() {
		t.Errorf("%v", gone)
	}
}
