package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// found is what searches find: sessions, turns and scores.
func foundBy(t *testing.T, s *Store) (list []string) {
	t.Helper()
	for _, query := range []string{"router", "which branch does work go to", "test fails", "limit", "is said", "nobody said this"} {
		for _, q := range []search{{query: query}, {query: query, user: true}, {query: query, said: true}} {
			found, _, err := s.rank(t.Context(), nil, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range lines(found, 10) {
				if !s.load(x.file, &x.hit) {
					t.Error("not loaded")
				}
				list = append(list, fmt.Sprintf("%s %s#%d %.6f %.6f", query, x.session, x.turn.N, x.score, x.share))
			}
		}
	}
	return list
}

// A search finds by the word list what it finds without it, whatever part of the sessions the list covers, and whatever
// stands there instead of it.
func TestTheWordListChangesNoAnswer(t *testing.T) {
	s := open(t)
	session := put(t, filepath.Join(t.TempDir(), forkName), spoken(0, 5))
	take(t, s, fixture(t, "claude-code-2.1.197/session.jsonl", sessionName), 0)
	take(t, s, session, 0)
	list := filepath.Join(s.dir, wordsName)
	check := func(way string, covered bool) {
		t.Helper()
		got := foundBy(t, s)
		text, err := os.ReadFile(list)
		if err := os.Remove(list); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if want := foundBy(t, s); !slices.Equal(got, want) || len(want) < 10 {
			t.Errorf("%s: %s\nwithout it: %s", way, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if err == nil {
			put(t, list, string(text))
		}
		scans := []*scanned{}
		targets, err := s.targets()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range targets {
			scans = append(scans, &scanned{target: x})
		}
		if err := s.wordList(scans, newWordSet(nil), search{}); err != nil {
			t.Fatal(err)
		}
		for _, x := range scans {
			if covered && x.covered != x.size {
				t.Errorf("%s: of %s %d bytes of %d are covered", way, x.file, x.covered, x.size)
			}
		}
	}
	index := func() {
		t.Helper()
		if err := s.Index(t.Context(), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	check("no list", false)
	index()
	check("all is covered", true)
	put(t, session, spoken(0, 12))
	take(t, s, session, 0)
	check("a session went on", false)
	index()
	check("and is covered", true)
	whole, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut < len(whole); cut += 211 {
		put(t, list, string(whole[:cut]))
		check(fmt.Sprint("torn at ", cut), false)
		index()
		check(fmt.Sprint("torn at ", cut, " and made again"), true)
	}
	for _, text := range []string{"", "of another version\n", wordsHead + strings.Repeat("x", 1000), strings.Replace(string(whole), "claude", "clauds", 1)} {
		put(t, list, text)
		check("damaged", false)
		index()
		check("and made again", true)
	}
	// A list of sessions that are gone is nobody's.
	put(t, list, string(whole))
	names, err := s.files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.Truncate(s.path(name), 300); err != nil {
			t.Fatal(err)
		}
	}
	if got := foundBy(t, s); len(got) != 0 {
		t.Error(got)
	}
}

// What is erased is in the word list no more, and what is not stays there.
func TestAnErasedSessionLeavesTheWordList(t *testing.T) {
	s := open(t)
	id := take(t, s, fixture(t, "claude-code-2.1.197/session.jsonl", sessionName), 0).ID
	take(t, s, put(t, filepath.Join(t.TempDir(), forkName), spoken(0, 5)), 0)
	if err := s.Index(t.Context(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	names := func() (list []string) {
		text, err := os.ReadFile(filepath.Join(s.dir, wordsName))
		if err != nil {
			t.Fatal(err)
		}
		for b := range blocks(bytes.NewReader(text)) {
			list = append(list, b.name)
		}
		return list
	}
	before := names()
	if _, err := s.EraseThem(t.Context(), Erasure{ID: id}); err != nil {
		t.Fatal(err)
	}
	if after := names(); len(before) != 2 || len(after) != 1 || !reflect.DeepEqual(after, slices.DeleteFunc(before, func(name string) bool { return strings.Contains(name, "e3025ff2") })) {
		t.Error(before, after)
	}
}
