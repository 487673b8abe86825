package app

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream"
	"leanctx/knowledge"
)

var long = flag.Bool("long", false, "also measure a team: a join of 20,000 facts, and remember beside a bare publish")

// A store is published by join, and fetched by the next machine.
func TestTeamJoinOfALargeStore(t *testing.T) {
	n := 200
	if *long {
		n = 20_000
	}
	m := newMachines(t)
	var lines bytes.Buffer
	for i := range n {
		fmt.Fprintf(&lines, `{"category":"room %d","key":"fact %d","value":"the value of fact number %d"}`+"\n", i%40, i, i)
	}
	file := filepath.Join(m.dir, "facts.jsonl")
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	m.on("a", 0, "knowledge", "import", file)
	for _, machine := range []string{"a", "b"} {
		start := time.Now()
		m.says(machine, fmt.Sprintf("The team has %s", map[bool]string{true: "20,000 facts", false: "200 facts"}[*long]), "team", "join", m.url)
		t.Logf("machine %s joined in %v", machine, time.Since(start).Round(time.Millisecond))
	}
	a, _ := m.on("a", 0, "knowledge", "export", "--shared")
	b, _ := m.on("b", 0, "knowledge", "export", "--shared")
	if a != b {
		t.Error("the machines have other facts")
	}
}

// remember and recall in a server that is in a team, beside a bare publish that is synced and
// the same recall alone. All take turns in one run.
func TestTeamFigures(t *testing.T) {
	if !*long {
		t.Skip("figures: -long")
	}
	m := newMachines(t)
	nc, err := nats.Connect(m.url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := natsjs.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), natsjs.StreamConfig{Name: "bare", Subjects: []string{"bare.>"}, Storage: natsjs.FileStorage}); err != nil {
		t.Fatal(err)
	}
	stream := jetstream.Open(&jetstream.Options{Server: jetstream.Server{URL: m.url}, Stream: "shop"})
	defer stream.Close()
	if _, _, err := stream.Join(t.Context(), jetstream.Project{Hash: "0123456789abcdef"}, false); err != nil {
		t.Fatal(err)
	}
	open := func(team journal.Team) *knowledge.Store {
		s, err := knowledge.Open(t.TempDir(), &knowledge.Options{ProjectHash: "0123456789abcdef", LongLived: true, Team: team})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	team, alone := open(stream.Log), open(nil)
	i := 0
	remember := func(s *knowledge.Store) func() {
		return func() {
			if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "room", Key: fmt.Sprint("fact ", i), Value: fmt.Sprint("the value of fact number ", i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	recall := func(s *knowledge.Store) func() {
		return func() {
			if r, err := s.Recall(t.Context(), knowledge.Question{Query: fmt.Sprint("fact number ", i)}); err != nil || len(r.Facts) == 0 {
				t.Fatal(err, r.Text())
			}
		}
	}
	bare := func() {
		if _, err := js.Publish(t.Context(), "bare.x", make([]byte, 500)); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"bare publish", "remember, team", "remember, alone", "recall, team", "recall, alone"}
	took := make([][]time.Duration, len(names))
	for i = range 400 {
		do := []func(){bare, remember(team), remember(alone), recall(team), recall(alone)}
		turns := []int{0, 1, 2, 3, 4}
		if i%2 == 1 {
			turns = []int{0, 2, 1, 4, 3} // who recalls second finds the processor's caches filled
		}
		for _, k := range turns {
			start := time.Now()
			do[k]()
			took[k] = append(took[k], time.Since(start))
		}
	}
	median := func(k int) time.Duration {
		slices.Sort(took[k])
		return took[k][len(took[k])/2]
	}
	for k, name := range names {
		t.Logf("%-16s median %v", name, median(k))
	}
	t.Logf("remember is %.1f times a bare publish; recall in a team %.2f times alone", float64(median(1))/float64(median(0)), float64(median(3))/float64(median(4)))
}
