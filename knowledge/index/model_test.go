package index_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"leanctx/knowledge/index"
	"leanctx/knowledge/words"
)

// commit is a change of the facts as a journal would hold it.
type commit struct {
	changed []index.Doc
	removed []string
}

// model is what the index must say: the facts in a map, and the journal they came from.
type model struct {
	dir     string
	x       *index.Index
	facts   map[string]index.Doc
	journal []commit
}

func (m *model) seq() uint64 { return uint64(len(m.journal)) }

// catchUp applies what the index lacks, as a caller does after Open.
func (m *model) catchUp(t *rapid.T) {
	for n := m.x.Position().Seq; n < m.seq(); n++ {
		c := m.journal[n]
		if err := m.x.Apply(position(n+1), c.changed, c.removed); err != nil {
			t.Fatal(err)
		}
	}
}

func (m *model) open(t *rapid.T) {
	x, err := index.Open(m.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.x = x
	m.catchUp(t)
}

func (m *model) close(t *rapid.T) {
	if err := m.x.Close(); err != nil {
		t.Fatal(err)
	}
}

func (m *model) all(yield func(index.Doc) bool) {
	for _, id := range slices.Sorted(maps.Keys(m.facts)) {
		if !yield(m.facts[id]) {
			return
		}
	}
}

func someDoc(t *rapid.T) index.Doc {
	words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 8)
	category, key := rapid.SampledFrom([]string{"decision", "testing"}).Draw(t, "category"), rapid.SampledFrom(vocabulary).Draw(t, "key")
	d := doc(category, key, strings.Join(words.Draw(t, "value"), " "))
	d.Aliases = rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 2).Draw(t, "aliases")
	d.Questions = []string{strings.Join(words.Draw(t, "question"), " ")}
	d.Former = []string{strings.Join(words.Draw(t, "former"), " ")}
	if rapid.Bool().Draw(t, "without hashes") {
		d.Hashes, d.Versions = nil, nil
	}
	if rapid.Bool().Draw(t, "retracted") {
		d.Summary, d.Value = nil, nil
	}
	return d
}

// holding are the facts that have a term in a field that is searched.
func (m *model) holding(term string, former bool) (ids []string) {
	for id, d := range m.facts {
		texts := slices.Concat([]string{d.Key, d.Category}, d.Aliases, d.Value, d.Questions)
		if former {
			texts = append(texts, d.Former...)
		}
		if slices.ContainsFunc(texts, func(s string) bool { return slices.Contains(words.Terms(s), term) }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (m *model) check(t *rapid.T) {
	same := func(what string, got, want any, err error) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Fatalf("%s: %v (-want +got)\n%s", what, err, d)
		}
	}
	ctx := t.Context()
	same("Count", m.x.Count(), len(m.facts), nil)
	same("Position", m.x.Position().Seq, m.seq(), nil)
	summaries := map[string]string{}
	for _, c := range []string{"decision", "testing"} {
		for _, key := range vocabulary {
			id := c + "/" + key
			got, err := m.x.Fact(ctx, id)
			same("Fact "+id, string(got), string(m.facts[id].Stored), err)
			if s := m.facts[id].Summary; s != nil {
				summaries[id] = string(s)
			}
		}
	}
	got := map[string]string{}
	err := m.x.Summaries(func(id string, summary []byte) bool { got[id] = string(summary); return true })
	same("Summaries", got, summaries, err)

	name := rapid.SampledFrom(vocabulary).Draw(t, "name")
	var named, hashed []string
	hash := "h" + name
	for id, d := range m.facts {
		if d.Key == name || slices.Contains(d.Aliases, name) {
			named = append(named, id)
		}
		if d.Hashes != nil && slices.Contains(d.Hashes(), hash) {
			hashed = append(hashed, id)
		}
	}
	slices.Sort(named)
	slices.Sort(hashed)
	ids, err := m.x.Named(ctx, name)
	same("Named "+name, ids, named, err)
	ids, err = m.x.Hashed(ctx, hash)
	same("Hashed "+hash, ids, hashed, err)
	ids, err = m.x.Holding(ctx, "v"+name)
	same("Holding "+name, ids, hashed, err)

	term := words.Terms(name)[0]
	for _, former := range []bool{false, true} {
		q := index.Query{Terms: terms(name), Boosts: index.DefaultBoosts, Limit: 1000}
		if former {
			q.Boosts[index.Former] = 1
		}
		hits, err := m.x.Search(ctx, q)
		var ids []string
		for i, h := range hits {
			ids = append(ids, h.ID)
			stored, err := m.x.Fact(ctx, h.ID)
			same("what is stored of "+h.ID, string(stored), string(m.facts[h.ID].Stored), err)
			if i > 0 && (hits[i-1].Score < h.Score || hits[i-1].Score == h.Score && hits[i-1].ID > h.ID) {
				t.Fatalf("%v comes before %v", hits[i-1], h)
			}
		}
		slices.Sort(ids)
		same("Search "+term, ids, m.holding(term, former), err)
	}
}

// An index says what a map of the facts says, in whatever order facts are changed, synced, built and opened.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top, err := os.MkdirTemp("", "index-model-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(top)
		m := &model{dir: filepath.Join(top, "index"), facts: map[string]index.Doc{}}
		m.open(t)
		defer func() { m.close(t) }()
		t.Repeat(map[string]func(*rapid.T){
			"": m.check,
			"change": func(t *rapid.T) {
				var c commit
				for range rapid.IntRange(1, 5).Draw(t, "changes") {
					d := someDoc(t)
					if !slices.ContainsFunc(c.changed, func(o index.Doc) bool { return o.ID == d.ID }) {
						c.changed = append(c.changed, d)
						m.facts[d.ID] = d
					}
				}
				m.journal = append(m.journal, c)
				m.catchUp(t)
			},
			"remove": func(t *rapid.T) {
				if len(m.facts) == 0 {
					t.Skip("nothing to remove")
				}
				id := rapid.SampledFrom(slices.Sorted(maps.Keys(m.facts))).Draw(t, "id")
				delete(m.facts, id)
				m.journal = append(m.journal, commit{removed: []string{id}})
				m.catchUp(t)
			},
			"sync": func(t *rapid.T) {
				err := m.x.Sync(t.Context(), func(to index.Position) ([]byte, error) { return fmt.Append(nil, to.Seq), nil })
				if errors.Is(err, index.ErrDamaged) { // a build without facts removed it
					m.close(t)
					m.open(t)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if at, ok := m.x.OnDisk(); ok && (m.x.Pending() != 0 || at.Seq != m.seq()) {
					t.Fatalf("synced, but %d are pending and the disk is at %d of %d", m.x.Pending(), at.Seq, m.seq())
				}
			},
			"build": func(t *rapid.T) {
				if err := index.Build(t.Context(), m.dir, position(m.seq()), m.all, nil, nil); err != nil {
					t.Fatal(err)
				}
				if err := m.x.Reload(); err != nil {
					t.Fatal(err)
				}
			},
			"reopen": func(t *rapid.T) {
				m.close(t)
				m.open(t)
			},
			"sync by another": func(t *rapid.T) {
				mine := m.x
				m.open(t)
				if err := m.x.Sync(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				m.close(t)
				m.x = mine
			},
		})
	})
}
