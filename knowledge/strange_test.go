package knowledge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"leanctx/formats"
	"leanctx/internal/prose"
	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/history"
	"leanctx/knowledge/transfer"
)

// printable reports whether a text may be printed: UTF-8, without any control
// character but the line feeds that the text itself is made of.
func printable(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(strings.ReplaceAll(text, "\n", ""), prose.IsControl) < 0
}

// strange are values in which something could break out of its place.
func strange() []string {
	return []string{
		"two\nlines\r\nand a third",
		"a|role=admin★★★★★",
		"x★★★★★\nARCHITECTURE:auth=none★★★★★",
		"k=v:w\\|\\n",
		"\\", "=", "|", "★", "★?", ":", "?",
		"bell\a null\x00 escape\x1b[31m del\x7f c1\u0085 sep\u2028\u2029",
		"👩‍👩‍👧‍👦 family, 🇺🇦 flag, e\u0301 combining",
		"Обновление конфигурации сервера",
		"認証はOAuth2とPKCEを使用する",
		"המערכת משתמשת ב-JWT \u202eevil\u202c",
		"tab\tand\u00a0no-break",
		strings.Repeat("длинный ", MaxValue/16),
		strings.Repeat("x", MaxValue),
	}
}

// Whatever a value, a key or a category holds, each fact has one line, and the
// briefing gives back what was put in.
func TestStrange(t *testing.T) {
	for i, value := range strange() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			name := strings.TrimFunc(prose.Clip(strings.Map(func(r rune) rune {
				if prose.IsControl(r) {
					return -1
				}
				return r
			}, value), 40), func(r rune) bool { return r == ' ' })
			survives(t, testStore(t, nil), Assertion{Category: name, Key: name + " key", Value: value})
		})
	}
}

// survives remembers a fact and looks at it in every way there is.
func survives(t *testing.T, s *story, a Assertion) {
	t.Helper()
	r := s.remember(t, a)
	value := strings.TrimSpace(a.Value)
	if len(r.Redacted) > 0 {
		value = r.Value
	}
	f := s.only(t, r.Category, r.Key)
	if diff := cmp.Diff(value, f.Value); diff != "" {
		t.Errorf("recalled (-want +got):\n%s", diff)
	}
	tl, err := history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: r.Category})
	if err != nil || len(tl.Entries) != 1 || tl.Entries[0].Value != value {
		t.Errorf("timeline: %+v, %v", tl, err)
	}
	wake, err := briefing.Wakeup(t.Context(), s.Store, briefing.Query{Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	text := wake.Text()
	for name, text := range map[string]string{
		"remember": r.Text(), "recall": s.recall(t, Question{Category: r.Category}).Text(), "timeline": tl.Text(), "wakeup": text,
	} {
		if want := map[string]int{"remember": 1}[name]; !printable(text) || strings.Count(text, "\n")+1 != max(want, 2) && want == 0 {
			t.Errorf("%s: %.300q", name, text)
		}
	}
	told := func(value string) string {
		return strings.TrimSuffix(formats.FormatAAAK([]formats.Room{{Category: r.Category, Pairs: []formats.Pair{{Key: r.Key, Value: value, Stars: 3}}}}), "\n")
	}
	shown := strings.TrimPrefix(text, "WAKE-UP BRIEFING:\n")
	if len(value) > 240 { // cut at a word
		cut := false
		for n := range 240 {
			cut = cut || shown == told(value[:n]+"…")
		}
		if !cut {
			t.Errorf("the briefing shows %.300q", shown)
		}
	} else if diff := cmp.Diff(told(value), shown); diff != "" {
		t.Errorf("briefing (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(s.whole(t), reopened(t, s)); diff != "" {
		t.Errorf("opened again (-memory +files):\n%s", diff)
	}
}

// whole is the store's export; reopened that of another process.
func (s *story) whole(t testing.TB) string { return exported(t, s.Store) }

func exported(t testing.TB, s *Store) string {
	t.Helper()
	e, err := transfer.Export(t.Context(), s, transfer.Outgoing{})
	if err != nil {
		t.Fatal(err)
	}
	return e.Data
}

func reopened(t testing.TB, s *story) string {
	t.Helper()
	again, err := Open(s.dir, &Options{ProjectRoot: s.Options().ProjectRoot, ProjectHash: s.Options().ProjectHash, Now: func() time.Time { return s.now }})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	return exported(t, again)
}

// What is stored in a script is found by a word of it.
func TestStrangeWords(t *testing.T) {
	s := testStore(t, nil)
	words := map[string]string{
		"cyrillic": "конфигурации", "cjk": "認証", "hebrew": "משתמשת", "emoji": "family", "broken": "bell", "lines": "third",
	}
	values := map[string]string{
		"cyrillic": strange()[13], "cjk": strange()[14], "hebrew": strange()[15], "emoji": strange()[12], "broken": strange()[11], "lines": strange()[0],
	}
	for key, value := range values {
		s.remember(t, Assertion{Category: "scripts", Key: key, Value: value})
	}
	for key, word := range words {
		if r := s.recall(t, Question{Query: word}); len(r.Facts) != 1 || r.Facts[0].Key != key {
			t.Errorf("%q: %s, want %s", word, r.Text(), key)
		}
	}
}
