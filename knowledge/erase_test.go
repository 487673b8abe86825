package knowledge_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/internal/proctest"
	. "leanctx/knowledge"
	"leanctx/knowledge/index"
	"leanctx/knowledge/words"
)

// files is every file under dir with its contents, but for locks and the
// record of retrievals.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, ".lock") || e.Name() == "retrievals.log" {
			return err
		}
		data, err := os.ReadFile(path)
		out = append(out, path+"\n"+string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// holds checks whether some file under dir has a text in it.
func holds(t testing.TB, dir, text string, want bool) {
	t.Helper()
	var in []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(data), bytes.ToLower([]byte(text))) {
			in = append(in, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if (len(in) > 0) != want {
		t.Errorf("%q is in %q", text, in)
	}
}

// finds checks whether the index on disk still finds a word, which its files
// hold in a form of their own.
func finds(t *testing.T, dir, word string, want bool) {
	t.Helper()
	x, err := index.Open(filepath.Join(dir, "index"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var terms []index.Term
	for _, w := range words.Terms(word) {
		terms = append(terms, index.Term{Text: w})
	}
	boosts := index.DefaultBoosts
	boosts[index.Former] = 1
	hits, err := x.Search(t.Context(), index.Query{Terms: terms, Boosts: boosts, Limit: 5})
	if err != nil || (len(hits) > 0) != want {
		t.Errorf("the index on disk finds %q: %v, %v", word, hits, err)
	}
}

const secretive = "Zwetschgendatschi"

// littered is a store with a fact to be erased. Its bytes are in every kind of file: snapshots,
// journals, files set aside, the index.
func littered(t *testing.T) *story {
	t.Helper()
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "secret", Key: "codename", Value: "first " + secretive, Aliases: []string{"alias of " + secretive}})
	s.remember(t, Assertion{Category: "secret", Key: "codename", Value: secretive, Source: "minutes of " + secretive})
	s.load(t, "", subjects(SyncTail+10))
	if r := s.recall(t, Question{Query: secretive}); len(r.Facts) != 1 {
		t.Fatal(r.Text())
	}
	for _, err := range []error{s.SyncIndex(t.Context()), s.Compact(t.Context())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.remember(t, Assertion{Category: "secret", Key: "codename", Value: secretive})
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.remember(t, Assertion{Category: "secret", Key: "codename", Value: secretive + " it is"})
	for name, text := range map[string]string{
		"knowledge.journal.torn": secretive, "knowledge.json.corrupt-20260101T000000.000000000Z": secretive, "knowledge.journal.corrupt-20260101T000000.000000000Z-1": secretive,
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(filepath.Join(s.dir, "knowledge.journal"), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(`00000000 {"torn":"` + secretive)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *story) erase(t *testing.T) Withdrawn {
	t.Helper()
	return must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "Secret", Key: "CODENAME", Erase: true}))
}

// Once a fact is erased, no file has its bytes; a tombstone stays, and nothing
// but an import with replace brings it back.
func TestErase(t *testing.T) {
	s := littered(t)
	backup := s.whole(t)
	holds(t, s.dir, secretive, true)
	finds(t, s.dir, secretive, true)
	if r := s.erase(t); len(r.Touched) != 3 || !strings.HasPrefix(r.Text(), "Erased [secret] codename") {
		t.Errorf("%+v", r)
	}
	holds(t, s.dir, secretive, false)
	finds(t, s.dir, secretive, false)
	if text := s.whole(t); !strings.Contains(text, `"tombstones"`) || strings.Contains(text, secretive) || text != reopened(t, s) {
		t.Errorf("no tombstone, or the value: %s", text)
	}
	for _, q := range []Question{{Query: secretive}, {Category: "secret"}, {Category: "secret", Key: "codename", AsOf: "2026-01-15T10:00:00.000000001Z"}, {Key: "alias of " + secretive}} {
		if r := s.recall(t, q); len(r.Facts) > 0 {
			t.Errorf("%+v: %s", q, r.Text())
		}
	}
	for _, merge := range []string{"skip-existing", "append"} {
		s.load(t, merge, backup)
		holds(t, s.dir, secretive, false)
	}
	if r := must[Restored](t)(Restore(t.Context(), s.Store, Restoration{Query: secretive})); len(r.Facts) > 0 {
		t.Error(r.Text())
	}
	if r := s.load(t, "replace", backup); r.Added != 1 {
		t.Errorf("replace: %s", r.Text())
	}
	s.only(t, "secret", "codename")
	s.erase(t)
	if err := s.SyncIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	holds(t, s.dir, secretive, false)
}

// Another process that has read the fact writes nothing of it once it is erased.
func TestEraseElsewhere(t *testing.T) {
	s := littered(t)
	other := &story{dir: s.dir, now: s.now.Add(time.Hour)}
	other.open(t, &Options{LongLived: true})
	if r := other.recall(t, Question{Query: secretive}); len(r.Facts) != 1 {
		t.Fatal(r.Text())
	}
	s.erase(t)
	for i := range SyncTail + 10 {
		other.remember(t, Assertion{Category: "new", Key: fmt.Sprint("key ", i), Value: fmt.Sprint("new value ", i)})
	}
	if r := other.recall(t, Question{Query: secretive}); len(r.Facts) != 0 {
		t.Error(r.Text())
	}
	for _, err := range []error{other.SyncIndex(t.Context()), other.Compact(t.Context())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	holds(t, s.dir, secretive, false)
	finds(t, s.dir, secretive, false)
	finds(t, s.dir, "value", true)
	if r := s.recall(t, Question{Query: "new value 7", Limit: 1}); len(r.Facts) != 1 || r.Facts[0].Key != "key 7" {
		t.Error(r.Text())
	}
}

// An index that is not worth keeping once the fact is gone is gone with it.
func TestEraseIndex(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "secret", Key: "codename", Value: secretive})
	for i := range SyncTail {
		s.remember(t, Assertion{Category: "other", Key: fmt.Sprint("key ", i), Value: fmt.Sprint("value ", i)})
	}
	if err := s.SyncIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	finds(t, s.dir, secretive, true)
	s.erase(t)
	finds(t, s.dir, secretive, false)
}

// An erasure that fails on the way says so, and asked for again is finished.
func TestEraseAgain(t *testing.T) {
	t.Parallel()
	total := 0
	from := littered(t)
	for n := 0; n <= total; n += proctest.Stride {
		s := &story{dir: copied(t, from.dir), now: from.now}
		at, failing := 0, true
		o := &Options{Fault: func(op, name string) error {
			if at++; failing && at == n {
				return fmt.Errorf("no space left for %s %s", op, name)
			}
			return nil
		}}
		again := &story{dir: s.dir, now: s.now.Add(time.Hour)}
		again.open(t, o)
		_, err := again.Remove(t.Context(), Withdrawal{Category: "secret", Key: "codename", Erase: true})
		if total = max(total, at); err != nil {
			if !strings.Contains(err.Error(), "no space left for") {
				t.Errorf("operation %d: %v", n, err)
			}
			failing = false
			again.erase(t)
		}
		holds(t, s.dir, secretive, false)
	}
	if total < 10 {
		t.Errorf("%d file operations: the test has no point", total)
	}
}

// Erasing needs something to erase.
func TestEraseRefused(t *testing.T) {
	s := littered(t)
	_, err := s.Remove(t.Context(), Withdrawal{Category: "secret", Key: "nothing", Erase: true})
	if _, missing := errors.AsType[*NotFoundError](err); !missing {
		t.Errorf("nothing there: %v", err)
	}
	if f := s.only(t, "secret", "codename"); f.Value != secretive+" it is" {
		t.Errorf("%+v", f)
	}
}
