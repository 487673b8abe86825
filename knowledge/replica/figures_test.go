package replica

import (
	"context"
	"crypto/ed25519"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
	"leanctx/knowledge/state"
)

var long = flag.Bool("long", false, "also take in 100 MB of log")

// written is a log of n assertions of one replica, of which each tenth is about a fact
// that is there.
func written(t testing.TB, dir string, n int) (bytes int) {
	t.Helper()
	var lines []*Line
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	first := &Line{ID: "9c41e07d-1", At: at, Op: opKey, Public: encodeKey(publicOf(key))}
	if err := first.encode(key); err != nil {
		t.Fatal(err)
	}
	lines = append(lines, first)
	for i := range n {
		l := &Line{
			ID: fmt.Sprintf("9c41e07d-%d", i+2), At: at.Add(time.Duration(i) * time.Second), By: "cursor-a3f8", Op: opAssert, Category: fmt.Sprintf("room-%d", i%20),
			Key: fmt.Sprintf("component-%d", i-i%10/9*(i%100)), Value: fmt.Sprintf("the component %d listens on port %d and keeps its state in PostgreSQL", i, 1000+i),
			Confidence: new(0.9), Source: fmt.Sprintf("src/part%d.ts:12", i), SourceKind: "agent", Session: "s1",
		}
		if err := l.encode(key); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	text := join(lines)
	if err := os.MkdirAll(filepath.Join(dir, logDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, logDir, "9c41e07d.jsonl"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return len(text)
}

func BenchmarkTakeIn10000Lines(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		written(b, dir, 10_000)
		s, err := knowledge.Open(filepath.Join(dir, "store"), nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Trust(context.Background(), s, dir, "9c41e07d"); err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		if _, err := Sync(context.Background(), s, Options{Root: dir}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(begin).Seconds(), "s/takein")
		begin = time.Now()
		if _, err := Sync(context.Background(), s, Options{Root: dir}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(begin).Microseconds())/1000, "ms/nothing-new")
		_ = s.Close()
	}
}

// A year of a busy team stays small.
func TestAYearOfABusyTeamIsUnder10MB(t *testing.T) {
	if n := written(t, t.TempDir(), 20_000); n > 10_000_000 {
		t.Errorf("20,000 lines take %d bytes", n)
	} else {
		t.Logf("20,000 lines take %.1f MB", float64(n)/1e6)
	}
}

// A log of 100 MB is taken in. It takes a minute, so it is only run with -long.
func TestLogOf100MBIsTakenIn(t *testing.T) {
	n := 2_000
	if *long {
		n = 330_000
	}
	dir := t.TempDir()
	size := written(t, dir, n)
	s, err := knowledge.Open(filepath.Join(dir, "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := Trust(t.Context(), s, dir, "9c41e07d"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	r, err := Sync(context.Background(), s, Options{Root: dir})
	if err != nil || r.TakenIn != n {
		t.Errorf("of %d lines %d were taken in: %v", n, r.TakenIn, err)
	}
	t.Logf("%d MB in %v", size>>20, time.Since(begin))
}

// What a stranger's lines cost does not grow with the square of their number. Here each is about the
// same as the next one, and the last is about a fact of this store.
func TestManyLinesOfAStrangerAreNotLookedAt(t *testing.T) {
	dir := t.TempDir()
	s, err := knowledge.Open(filepath.Join(dir, "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "arch", Key: "db", Value: "PostgreSQL 16"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Sync(t.Context(), s, Options{Root: dir}); err != nil {
		t.Fatal(err)
	}
	var lines []*Line
	add := func(l *Line) {
		l.ID, l.At = fmt.Sprintf("deadbeef-%d", len(lines)+1), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		if err := l.encode(nil); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	end := func(i int) formats.RelationEnd {
		if i == 0 {
			return formats.RelationEnd{Name: formats.Name{Category: "arch", Key: "db"}}
		}
		return formats.RelationEnd{Name: formats.Name{Category: "x", Key: fmt.Sprint("k", i)}}
	}
	const n = 4000
	for i := n; i > 0; i-- {
		add(&Line{Op: opRelate, Relation: &formats.Relation{From: end(i), To: end(i - 1), Kind: "related_to", Count: 1}})
	}
	for i := range n {
		add(&Line{Op: opAssert, Category: "arch", Key: "db", Value: fmt.Sprint("MySQL ", i), SourceKind: "agent"})
		add(&Line{Op: opRename, Category: "y", Key: fmt.Sprint("k", i), To: &formats.Name{Category: "y", Key: fmt.Sprint("k", i+1)}})
	}
	if err := os.WriteFile(filepath.Join(dir, logDir, "deadbeef.jsonl"), join(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		r, err := Sync(ctx, s, Options{Root: dir})
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "lines were not looked at") || r.TakenIn > mostEntries+mostVersions+mostMoves {
			t.Errorf("%d taken in, %q", r.TakenIn, r.Warnings)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Fatal("the lines of a stranger take more than 30 s")
	}
}

// TestAStrangersValuesBesideEachOtherAreFew: each costs the more the more of them a fact has.
func TestAStrangersValuesBesideEachOtherAreFew(t *testing.T) {
	var lines []*Line
	for i := range 3 * mostSeveral {
		for _, key := range []string{"db", "cache"} {
			lines = append(lines, &Line{Op: opAssert, Category: "arch", Key: key, Value: fmt.Sprint("MySQL ", i), SourceKind: "agent", Also: key == "db"})
		}
	}
	f := &Folded{}
	within := f.bounded(lines)
	several := 0
	for _, l := range within {
		several += l.several()
	}
	if several != mostSeveral || len(within) != mostSeveral+mostVersions || len(f.Over) != len(lines)-len(within) {
		t.Errorf("%d values beside others, %d lines, %d left", several, len(within), len(f.Over))
	}
}

// Of what strangers wrote so much is read, and what was taken in is indexed at once, so that no hook reads it
// all. Whatever stands in files before it, the key of a colleague is found.
func TestLinesOfStrangersHaveABudget(t *testing.T) {
	dir := t.TempDir()
	s, err := knowledge.Open(filepath.Join(dir, "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	written(t, dir, 10)
	var b strings.Builder
	for i := range 30 { // files that come before that of the colleague
		b.Reset()
		for j := range 100 {
			l := &Line{ID: fmt.Sprintf("%08x-%d", i, j+1), At: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Op: opAssert, Category: "x", Key: fmt.Sprint(i, "-", j), Value: strings.Repeat("v", 5000)}
			if err := l.encode(nil); err != nil {
				t.Fatal(err)
			}
			b.Write(l.text)
			b.WriteByte('\n')
		}
		if err := os.WriteFile(filepath.Join(dir, logDir, fmt.Sprintf("%08x.jsonl", i)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Sync(t.Context(), s, Options{Root: dir})
	if size := r.TakenIn * 5000; err != nil || size > maxOutside || size < maxOutside/4 || !strings.Contains(r.Text(), "lines were not looked at") {
		t.Fatalf("%v %s", err, r.Text())
	}
	if !index.Exists(filepath.Join(s.Dir(), "index")) {
		t.Error("there is no index")
	}
	if _, err := Trust(t.Context(), s, dir, "9c41e07d"); err != nil {
		t.Fatal(err)
	}
	if r, err = Sync(t.Context(), s, Options{Root: dir}); err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(st *state.State, _ time.Time) error {
		for i := range 9 {
			if vs := st.Versions(fact.IDOf(fmt.Sprintf("room-%d", i), fmt.Sprintf("component-%d", i))); len(vs) != 1 || vs[0].TakenIn {
				t.Errorf("%d: %+v", i, vs)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Lines under the id of a trusted replica that its key does not verify cost no more than those of
// strangers, in its own file and in others, and none of its own is passed over for those in others.
func TestForgedLinesHaveABudget(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 21_000)
	own, err := os.ReadFile(filepath.Join(dir, logDir, "9c41e07d.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	forger := ed25519.NewKeyFromSeed([]byte(strings.Repeat("f", ed25519.SeedSize)))
	l := &Line{ID: "9c41e07d-7", At: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Op: opAssert, Category: "x", Key: "y", Value: strings.Repeat("v", 100)}
	if err := l.encode(forger); err != nil {
		t.Fatal(err)
	}
	forged := []byte(strings.Repeat(string(l.text)+"\n", 45_000))
	trusted := keySet{"9c41e07d": {publicOf(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))}}
	for name, files := range map[string][]logFile{
		"in its own file": {{"9c41e07d.jsonl", append(slices.Clone(own), forged...)}},
		"in others":       {{"00000000.jsonl", forged}, {"9c41e07d.jsonl", own}, {"ffffffff.jsonl", forged}},
	} {
		in := incoming{trusted: trusted, now: l.At}
		begin := time.Now()
		in.read(files)
		t.Logf("%s: %v, %d lines", name, time.Since(begin), len(in.lines))
		genuine := 0
		for _, l := range in.lines {
			if l.Key != "y" {
				genuine++
			}
		}
		if genuine != 21_001 || len(in.lines) > genuine+2*maxOutside/len(l.text)+mostOutside || in.over < 4_000 || len(in.warnings) == 0 {
			t.Errorf("%s: %d of its lines, %d in all, %d not looked at", name, genuine, len(in.lines), in.over)
		}
	}
}

// A version with thousands of sources stands in several lines, which colleagues read: none is over the
// limit. A former version says that they are of a newer one.
func TestThousandsOfSourcesHaveRoom(t *testing.T) {
	open := func(dir string) *knowledge.Store {
		s, err := knowledge.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	dir := t.TempDir()
	a, b := open(t.TempDir()), open(t.TempDir())
	said := knowledge.Assertion{Category: "arch", Key: "db", Value: "PostgreSQL 16"}
	for _, value := range []string{"MySQL 8", said.Value} {
		said.Value = value
		if _, err := a.Remember(t.Context(), said); err != nil {
			t.Fatal(err)
		}
	}
	const n = 2_500
	err := a.Update(t.Context(), func(st *state.State, now time.Time) (events []state.Event, _ error) {
		v := fact.Current(st.Versions(fact.IDOf("arch", "db")), now)
		for i := range n {
			at := now.Add(time.Duration(i))
			events = append(events, state.Event{Confirm: &state.Confirmation{Category: "arch", Key: "db", ID: v.ID, Confidence: .8,
				Source: formats.Source{Kind: "agent", By: fmt.Sprint("codex-", i), Ref: strings.Repeat("src/", 100) + fmt.Sprint(i), Confidence: .8, At: at}}})
		}
		return append(events, state.Event{Questions: &state.NewQuestions{Category: "arch", Key: "db", ID: v.ID, Questions: []string{"which database?"}, At: now.Add(n)}}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Sync(t.Context(), a, Options{Root: dir})
	if err != nil || r.Warned() {
		t.Fatal(r.Text(), err)
	}
	text, err := os.ReadFile(filepath.Join(dir, r.file))
	if err != nil {
		t.Fatal(err)
	}
	newest := 0
	for line := range strings.Lines(string(text)) {
		l, err := parse([]byte(strings.TrimSpace(line)))
		if err != nil {
			t.Fatalf("a line of %d bytes: %v", len(line), err)
		}
		if newest = max(newest, l.Policy); l.Rest != (l.Policy == policySources) {
			t.Errorf("%s has policy %d", l.ID, l.Policy)
		}
	}
	if newest != policySources {
		t.Errorf("the newest policy is %d", newest)
	}
	if _, err := Trust(t.Context(), b, dir, r.Replica); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*knowledge.Store{b, a} {
		if r, err := Sync(t.Context(), s, Options{Root: dir}); err != nil || r.Warned() {
			t.Fatal(r.Text(), err)
		}
		err = s.View(t.Context(), func(st *state.State, now time.Time) error {
			v := fact.Current(st.Versions(fact.IDOf("arch", "db")), now)
			if v == nil || v.Value != said.Value || len(v.Sources) != n+1 || v.ConfirmationCount != n+1 || v.Sources[n].By != fmt.Sprint("codex-", n-1) || len(v.Questions) != 1 {
				t.Errorf("%.300v", v)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if r, err := Sync(t.Context(), a, Options{Root: dir, Check: true}); err != nil || r.Found() {
		t.Error(r.Text(), err)
	}
}

// What a line costs grows with its bytes, whatever separators it is full of, and what its writer says that he
// had read is kept once, not for each line.
func TestALineCostsWhatItsBytesDo(t *testing.T) {
	begin := time.Now()
	for range 100 {
		l := &Line{Op: opJudge, Pair: &formats.JudgedPair{KeyA: strings.Repeat("/", 2*maxRef), KeyB: strings.Repeat("/", 2*maxRef)}}
		if n := len(l.subjects()); n > 2*mostDivided+1 || l.fits() {
			t.Fatalf("%d subjects", n)
		}
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("the subjects of 100 lines take %v", took)
	}
	seen := map[string]uint64{}
	for i := range maxSeen {
		seen[fmt.Sprintf("%08x", i)] = 1
	}
	var lines []*Line
	for i := range 3000 {
		l := &Line{ID: fmt.Sprintf("deadbeef-%d", i+1), At: time.Date(2026, 3, 1, 9, 0, 0, i, time.UTC), Op: opAssert, Category: "x", Key: "y", Value: "z", Seen: map[string]uint64{"aaaaaaaa": uint64(i)}}
		if i == 0 {
			l.Seen = seen
		}
		if err := l.encode(nil); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ordered := newFolded().ordered(lines)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 20<<20 {
		t.Errorf("%d MB for what %d lines had read", n>>20, len(lines))
	}
	for i, l := range ordered {
		a, b := writer{id: "aaaaaaaa"}, writer{id: "00000001"}
		if !l.knows(ref{writer: b, seq: 1}) || l.knows(ref{writer: b, seq: 2}) || i > 0 && !l.knows(ref{writer: a, seq: uint64(i)}) || l.knows(ref{writer: a, seq: uint64(i + 1)}) {
			t.Fatalf("line %d knows something else", i)
		}
	}
}

// What lines from outside may hold is counted as what is stored of it: each version of a fact, and each period that was
// believed before, whether one line has them or many. Whoever reads a fact reads all of them.
func TestStrangersHistoryIsBounded(t *testing.T) {
	of := func(key, versions, periods int) (out []*formats.Fact) {
		for range versions {
			out = append(out, &formats.Fact{Category: "docs", Key: fmt.Sprint(key), Beliefs: make([]formats.Belief, periods)})
		}
		return out
	}
	for name, line := range map[string]func(key int) []*Line{
		"many in one line": func(key int) []*Line { return []*Line{{Op: opFact, Versions: of(key, 450, 0)}} },
		"earlier periods":  func(key int) []*Line { return []*Line{{Op: opFact, Versions: of(key, 10, 450)}} },
		"one in each line": func(key int) []*Line {
			return slices.Repeat([]*Line{{Op: opFact, More: true, Versions: of(key, 1, 0)}}, 450)
		},
		"assertions":     func(key int) []*Line { return slices.Repeat([]*Line{{Op: opAssert, Value: "v"}}, 450) },
		"as many as may": func(key int) []*Line { return []*Line{{Op: opFact, Versions: of(key, 10, 4)}} },
	} {
		var lines []*Line
		for key := range 500 {
			for _, l := range line(key) {
				l.Category, l.Key = "docs", fmt.Sprint(key)
				lines = append(lines, l)
			}
		}
		sizes, all := map[string]int{}, 0
		for _, l := range (&Folded{}).bounded(lines) {
			for _, v := range l.Versions {
				sizes[l.Key] += 1 + len(v.Beliefs)
			}
			if l.Op == opAssert {
				sizes[l.Key]++
			}
		}
		for key, n := range sizes {
			if all += n; n > mostVersions {
				t.Errorf("%s: fact %s has %d", name, key, n)
			}
		}
		if earlier := all - len(sizes); earlier > mostEarlier || name == "as many as may" && earlier < mostEarlier-50 {
			t.Errorf("%s: %d earlier ones in all", name, earlier)
		}
	}
}
