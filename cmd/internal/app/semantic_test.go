package app

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/embed"
	"leanctx/embed/vectors"
	"leanctx/knowledge"
)

// noModel is where no model is installed.
func noModel(t testing.TB) *embed.Models {
	m := &embed.Models{Dir: filepath.Join(t.TempDir(), "models"), Logger: slog.New(slog.DiscardHandler)}
	t.Cleanup(func() { m.Close() })
	return m
}

// semanticStore opens the store in dir with the built-in encoder.
func semanticStore(t testing.TB, dir string, lasting bool) *knowledge.Store {
	t.Helper()
	s, err := knowledge.Open(dir, &knowledge.Options{Encoders: noModel(t), LongLived: lasting})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func assert(t testing.TB, s *knowledge.Store, category, key, value string) {
	t.Helper()
	if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: category, Key: key, Value: value}); err != nil {
		t.Fatal(err)
	}
}

func recall(t testing.TB, s *knowledge.Store, q knowledge.Question) knowledge.Recalled {
	t.Helper()
	r, err := s.Recall(t.Context(), q)
	if err != nil {
		t.Fatalf("recall %.60q (%s): %v", q.Query, q.Mode, err)
	}
	return r
}

// paraphrases are facts with two questions each that share no word with them.
func paraphrases(t testing.TB) (facts []string, asked map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "embed", "testdata", "paraphrases.txt"))
	if err != nil {
		t.Fatal(err)
	}
	asked = map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if q, ok := strings.CutPrefix(line, "? "); ok {
			asked[q] = facts[len(facts)-1]
		} else if line != "" && !strings.HasPrefix(line, "#") {
			facts = append(facts, line)
		}
	}
	return facts, asked
}

// What a question finds that shares no word with its fact, from the first
// minute and without a download.
func TestParaphrasedQuestions(t *testing.T) {
	s := semanticStore(t, t.TempDir(), true)
	facts, asked := paraphrases(t)
	for _, f := range facts {
		assert(t, s, "fact", "", f)
	}
	ndcg := func(mode string) float64 {
		sum := 0.0
		for q, want := range asked {
			r := recall(t, s, knowledge.Question{Query: q, Mode: mode})
			if i := slices.IndexFunc(r.Facts, func(f knowledge.Found) bool { return f.Value == want }); i >= 0 {
				sum += 1 / math.Log2(float64(i+2))
			}
		}
		return sum / float64(len(asked))
	}
	words, semantic, hybrid, auto := ndcg("lexical"), ndcg("semantic"), ndcg("hybrid"), ndcg("auto")
	t.Logf("nDCG@10 of %d paraphrased questions: lexical %.3f, semantic %.3f, hybrid %.3f, auto %.3f", len(asked), words, semantic, hybrid, auto)
	for mode, got := range map[string]float64{"semantic": semantic, "hybrid": hybrid, "auto": auto} {
		if got < 5*words || got < 0.28 {
			t.Errorf("%s %.3f is not five times %.3f, or below .28", mode, got, words)
		}
	}
}

// A value that was superseded is never told as current, in a store that has
// vectors of it, nor after it was erased.
func TestSemanticNeverStale(t *testing.T) {
	dir := t.TempDir()
	s := semanticStore(t, dir, false)
	assert(t, s, "security", "login", "Authentication uses JWT tokens signed with RS256.")
	q := knowledge.Question{Query: "how do users log in", Mode: "semantic"}
	if r := recall(t, s, q); len(r.Facts) != 1 || !strings.HasPrefix(r.Text(), "Semantic recall 'how do users log in' (showing 1):\n  [security/login]: Authentication uses JWT tokens signed with RS256. (score: ") || !strings.Contains(r.Text(), "sem: ") {
		t.Fatalf("%s", r.Text())
	}
	if _, err := knowledge.EmbeddingsReindex(t.Context(), s, knowledge.Reindexing{}); err != nil {
		t.Fatal(err)
	}
	assert(t, s, "security", "login", "Users sign in with OAuth2 and PKCE.")
	for _, store := range []*knowledge.Store{s, semanticStore(t, dir, false), semanticStore(t, dir, true)} {
		r := recall(t, store, q)
		if len(r.Facts) != 1 || !strings.Contains(r.Facts[0].Value, "OAuth2") {
			t.Errorf("%s", r.Text())
		}
	}
	if _, err := s.Remove(t.Context(), knowledge.Withdrawal{Category: "security", Key: "login", Erase: true}); err != nil {
		t.Fatal(err)
	}
	if r := recall(t, s, q); len(r.Facts) > 0 {
		t.Errorf("erased: %s", r.Text())
	}
	if data, err := os.ReadFile(filepath.Join(dir, "embeddings.bin")); err == nil && len(data) > 0 {
		t.Errorf("embeddings.bin holds %d bytes after all was erased", len(data))
	}
}

// Vectors are a cache: whatever becomes of their files, and whatever is asked,
// there is an answer.
func TestSemanticBadInput(t *testing.T) {
	dir := t.TempDir()
	s := semanticStore(t, dir, true)
	assert(t, s, "security", "login", "Authentication uses JWT tokens signed with RS256.")
	assert(t, s, "db", "primary", "PostgreSQL 16 is the primary data store.")
	ask := func(what string) {
		t.Helper()
		findsLogin(t, what, s, semanticStore(t, dir, false))
	}
	ask("fresh")
	if _, err := knowledge.EmbeddingsReindex(t.Context(), s, knowledge.Reindexing{}); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "embeddings.bin")
	whole, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	other := []byte(strings.ReplaceAll(string(whole), "static-minilm", "static-MINILM"))
	for what, data := range map[string][]byte{"truncated": whole[:len(whole)/2], "empty": {}, "no vectors": []byte("not vectors"), "of another encoder": other} {
		if err := os.WriteFile(bin, data, 0o600); err != nil {
			t.Fatal(err)
		}
		ask(what)
	}
	for _, name := range []string{bin, filepath.Join(dir, "embeddings.json")} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		ask("without " + filepath.Base(name))
	}
	for _, q := range []string{" ", "?!", "\x00\xff", "как войти", "如何登录", "🔑🚪", "cafe\u0301", "a\u200bb", strings.Repeat("login ", 64<<10/6)} {
		for _, mode := range []string{"auto", "exact", "lexical", "semantic", "hybrid"} {
			recall(t, s, knowledge.Question{Query: q, Mode: mode})
		}
	}
	if r := recall(t, s, knowledge.Question{Query: "how do users log in", Mode: "semantic", AsOf: "2020-01-01"}); len(r.Facts) > 0 {
		t.Errorf("as of a time before all facts: %s", r.Text())
	}
}

// findsLogin asks each store by meaning for the fact about logins.
func findsLogin(t *testing.T, what string, stores ...*knowledge.Store) {
	t.Helper()
	for _, s := range stores {
		if r := recall(t, s, knowledge.Question{Query: "how do users log in", Mode: "semantic"}); len(r.Facts) == 0 || !strings.Contains(r.Facts[0].Value, "JWT") {
			t.Errorf("%s: %s", what, r.Text())
		}
	}
}

// A damaged row of the file is found by the question that reads it. It is answered all the same, and
// the vectors are made again.
func TestDamagedVectorsAreMadeAgain(t *testing.T) {
	dir := t.TempDir()
	s := semanticStore(t, dir, false)
	for i := range 300 {
		assert(t, s, "fact", fmt.Sprint("k", i), fmt.Sprintf("Service %d listens on port %d.", i, 8000+i))
	}
	assert(t, s, "security", "login", "Authentication uses JWT tokens signed with RS256.")
	if _, err := knowledge.EmbeddingsReindex(t.Context(), s, knowledge.Reindexing{}); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "embeddings.bin")
	whole, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	bad := slices.Clone(whole)
	bad[len(bad)-1] ^= 1
	if err := os.WriteFile(bin, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	findsLogin(t, "damaged", s, semanticStore(t, dir, false))
	if now, err := os.ReadFile(bin); err != nil || string(now) != string(whole) {
		t.Errorf("the vectors are not what they were: %d bytes, %v", len(now), err)
	}
}

// An older copy of the fact file is put back beside newer vectors: what it holds again is found by
// meaning, also after a new commit, which is later than the vectors.
func TestFactsSetBackBesideVectors(t *testing.T) {
	dir, before := t.TempDir(), filepath.Join(t.TempDir(), "before")
	remember := func(key, value string) {
		t.Helper()
		s := semanticStore(t, dir, false)
		assert(t, s, "security", key, value)
		if _, err := knowledge.EmbeddingsReindex(t.Context(), s, knowledge.Reindexing{}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	remember("login", "Authentication uses JWT tokens signed with RS256.")
	if err := os.CopyFS(before, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	remember("login", "The kitchen is cleaned on Fridays.")
	for _, name := range []string{"embeddings.bin", "embeddings.json"} {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(before, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := semanticStore(t, before, false)
	assert(t, s, "office", "plants", "The plants need water twice a week.")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r := recall(t, semanticStore(t, before, false), knowledge.Question{Query: "how do users log in", Mode: "semantic"}); len(r.Facts) == 0 || !strings.Contains(r.Facts[0].Value, "JWT") {
		t.Errorf("%s", r.Text())
	}
}

// A store is copied, a fact removed, and the copy of the fact file put back beside the vectors that
// were there then: the fact is found by meaning again.
func TestRemovedFactIsSetBackBesideVectors(t *testing.T) {
	dir, before := t.TempDir(), filepath.Join(t.TempDir(), "before")
	s := semanticStore(t, dir, false)
	assert(t, s, "security", "login", "Authentication uses JWT tokens signed with RS256.")
	assert(t, s, "office", "plants", "The plants need water twice a week.")
	reindex := func() {
		t.Helper()
		if _, err := knowledge.EmbeddingsReindex(t.Context(), s, knowledge.Reindexing{}); err != nil {
			t.Fatal(err)
		}
	}
	reindex()
	if err := os.CopyFS(before, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(t.Context(), knowledge.Withdrawal{Category: "security", Key: "login"}); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"removed", "removed, and its vector too"} {
		older := filepath.Join(t.TempDir(), "older")
		if err := os.CopyFS(older, os.DirFS(before)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"embeddings.bin", "embeddings.json"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(older, name), data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		findsLogin(t, what, semanticStore(t, older, false), semanticStore(t, older, true))
		reindex()
	}
}

// However many facts said what a question asks for, and say something else now, one that says it in
// other words is found.
func TestFormerValuesHideNoFact(t *testing.T) {
	dir := t.TempDir()
	s := semanticStore(t, dir, true)
	assert(t, s, "security", "login", "Authentication uses JWT tokens signed with RS256.")
	for _, says := range []string{"Users log in with password number %d.", "The plants on floor %d need water twice a week."} {
		for i := range 250 {
			assert(t, s, "room", fmt.Sprint("k", i), fmt.Sprintf(says, i))
		}
		recall(t, s, knowledge.Question{Query: "how do users log in", Mode: "semantic"}) // so many vectors are kept
	}
	findsLogin(t, "former values", s, semanticStore(t, dir, false), semanticStore(t, dir, true))
	for i := range 250 {
		assert(t, s, "room", fmt.Sprint("k", i), fmt.Sprintf("Users log in with password number %d.", i))
	}
	recall(t, s, knowledge.Question{Query: "how do users log in", Mode: "semantic"})
	for i := range 250 {
		if _, err := s.Remove(t.Context(), knowledge.Withdrawal{Category: "room", Key: fmt.Sprint("k", i)}); err != nil {
			t.Fatal(err)
		}
	}
	findsLogin(t, "removed", s, semanticStore(t, dir, false), semanticStore(t, dir, true))
}

// Two processes that reindex at once end up with the same.
func TestReindexAtOnce(t *testing.T) {
	dir := t.TempDir()
	a, b := semanticStore(t, dir, false), semanticStore(t, dir, false)
	for i := range 300 {
		assert(t, a, "fact", fmt.Sprint("k", i), fmt.Sprintf("Service %d listens on port %d.", i, 8000+i))
	}
	var wg sync.WaitGroup
	for _, s := range []*knowledge.Store{a, b} {
		wg.Go(func() {
			r, err := knowledge.EmbeddingsReindex(context.WithoutCancel(t.Context()), s, knowledge.Reindexing{})
			if err != nil || r.Text() != "Embeddings reindex ok (embedded 300 facts)." {
				t.Errorf("%s, %v", r.Text(), err)
			}
		})
	}
	wg.Wait()
	for _, s := range []*knowledge.Store{a, b} {
		st, err := knowledge.EmbeddingsStatus(t.Context(), s, knowledge.NoArgs{})
		want := fmt.Sprintf("Knowledge embeddings: model=built-in, auto_download=off, index_entries=300, path=%s\n", filepath.Join(dir, "embeddings.json"))
		if err != nil || !strings.HasPrefix(st.Text(), want) || st.Backlog != 0 {
			t.Errorf("%s, %v", st.Text(), err)
		}
	}
	if r, err := knowledge.EmbeddingsReset(t.Context(), a, knowledge.NoArgs{}); err != nil || r.Text() != "Embeddings index reset." {
		t.Errorf("%s, %v", r.Text(), err)
	}
	if st, err := knowledge.EmbeddingsStatus(t.Context(), b, knowledge.NoArgs{}); err != nil || st.IndexEntries != 0 || st.Backlog != 300 {
		t.Errorf("%s, %v", st.Text(), err)
	}
}

// A model that cannot be used is a status and no failure.
func TestBrokenModel(t *testing.T) {
	for what, current := range map[string]string{"gone": "all-MiniLM-L6-v2@00000000\n", "no name": "../x\n", "empty": ""} {
		dir := t.TempDir()
		m := noModel(t)
		if err := os.MkdirAll(m.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(m.Dir, "current"), []byte(current), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := knowledge.Open(dir, &knowledge.Options{Encoders: m})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		assert(t, s, "security", "login", "Authentication uses JWT tokens signed with RS256.")
		if r := recall(t, s, knowledge.Question{Query: "how do users log in", Mode: "hybrid"}); len(r.Facts) != 1 {
			t.Errorf("%s: %s", what, r.Text())
		}
		st, err := knowledge.EmbeddingsStatus(t.Context(), s, knowledge.NoArgs{})
		if err != nil || !strings.HasPrefix(st.Text(), "Knowledge embeddings: model=broken, ") {
			t.Errorf("%s: %s, %v", what, st.Text(), err)
		}
	}
}

// Questions have a vector of their own. They may be given to a fact that has a vector already,
// in another process too. They are found in other words, and removed with the fact.
func TestQuestionsHaveAVector(t *testing.T) {
	dir := t.TempDir()
	s := semanticStore(t, dir, true)
	assert(t, s, "security", "login", "Authentication uses JWT tokens signed with RS256.")
	assert(t, s, "db", "primary", "PostgreSQL 16 is the primary data store.")
	q := knowledge.Question{Query: "lunch menu", Mode: "semantic"}
	if r := recall(t, s, q); len(r.Facts) > 0 {
		t.Fatalf("%s", r.Text())
	}
	other := semanticStore(t, dir, false)
	if _, err := knowledge.Questions(t.Context(), other, knowledge.FactQuestions{Category: "db", Key: "primary", Questions: "what meals does the canteen serve at noon"}); err != nil {
		t.Fatal(err)
	}
	for _, store := range []*knowledge.Store{s, other, semanticStore(t, dir, false)} {
		if r := recall(t, store, q); len(r.Facts) == 0 || r.Facts[0].Key != "primary" || r.Facts[0].Maybe || len(r.Facts) > 1 && !r.Facts[1].Maybe {
			t.Errorf("%s", r.Text())
		}
	}
	if r, err := knowledge.EmbeddingsReindex(t.Context(), s, knowledge.Reindexing{}); err != nil || r.Embedded != 2 {
		t.Errorf("two facts, one with questions: %+v, %v", r, err)
	}
	if st, err := knowledge.EmbeddingsStatus(t.Context(), s, knowledge.NoArgs{}); err != nil || st.IndexEntries != 2 || st.Entries[0].Entries != 3 {
		t.Errorf("two facts, one with questions: %s, %v", st.Text(), err)
	}
	if _, err := s.Remove(t.Context(), knowledge.Withdrawal{Category: "db", Key: "primary"}); err != nil {
		t.Fatal(err)
	}
	if st, err := knowledge.EmbeddingsStatus(t.Context(), s, knowledge.NoArgs{}); err != nil || st.IndexEntries != 1 || st.Backlog != 0 {
		t.Errorf("%s, %v", st.Text(), err)
	}
}

// What was removed has no vector any more. What ends later keeps it.
func TestRemoveTakesTheVector(t *testing.T) {
	dir := t.TempDir()
	s := semanticStore(t, dir, false)
	assert(t, s, "security", "login", "Authentication uses JWT tokens signed with RS256.")
	assert(t, s, "db", "primary", "PostgreSQL 16 is the primary data store.")
	if _, err := knowledge.EmbeddingsReindex(t.Context(), s, knowledge.Reindexing{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(t.Context(), knowledge.Withdrawal{Category: "db", Key: "primary", Until: time.Now().AddDate(1, 0, 0).Format(time.DateOnly)}); err != nil {
		t.Fatal(err)
	}
	if st := status(t, s); st.IndexEntries != 2 {
		t.Errorf("%d vectors after one was given an end, want 2", st.IndexEntries)
	}
	for want, key := range [][2]string{{"db", "primary"}, {"security", "login"}} {
		if _, err := s.Remove(t.Context(), knowledge.Withdrawal{Category: key[0], Key: key[1]}); err != nil {
			t.Fatal(err)
		}
		st, err := knowledge.EmbeddingsStatus(t.Context(), s, knowledge.NoArgs{})
		if err != nil || st.IndexEntries != 1-want {
			t.Errorf("%d vectors after %s was removed, want %d, %v", st.IndexEntries, key, 1-want, err)
		}
	}
}

// during are encoders that do something before they encode the first text.
type during struct {
	*embed.Models
	once sync.Once
	what func()
}

func (d *during) With(name string, f func(vectors.Encoder) error) error {
	return d.Models.With(name, func(e vectors.Encoder) error { return f(duringEncoder{e, d}) })
}

type duringEncoder struct {
	vectors.Encoder
	during *during
}

func (e duringEncoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	e.during.once.Do(e.during.what)
	return e.Encoder.Encode(ctx, texts)
}

// What another process erases while vectors are made has none in the end.
func TestErasedWhileEncoding(t *testing.T) {
	dir := t.TempDir()
	other := semanticStore(t, dir, false)
	assert(t, other, "security", "login", "Authentication uses JWT tokens signed with RS256.")
	assert(t, other, "db", "primary", "PostgreSQL 16 is the primary data store.")
	s, err := knowledge.Open(dir, &knowledge.Options{Encoders: &during{Models: noModel(t), what: func() {
		if _, err := other.Remove(t.Context(), knowledge.Withdrawal{Category: "db", Key: "primary", Erase: true}); err != nil {
			t.Error(err)
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := knowledge.EmbeddingsReindex(t.Context(), s, knowledge.Reindexing{}); err != nil {
		t.Fatal(err)
	}
	if st := status(t, other); len(st.Entries) != 1 || st.Entries[0].Entries != 1 { // IndexEntries counts only facts that there are
		t.Errorf("vectors of one fact: %v", st.Entries)
	}
}
