package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/knowledge/search/index"
)

func TestNothing(t *testing.T) {
	x := open(t, project()...)
	for _, query := range []string{
		"", " \n", "???", "*", "--- ... ///", "\x00", "\xff\xfe", "\u200c\u200d", "\u0301",
		"quantum chromodynamics", "recipe for borscht", "who won the world cup in 1998",
		"how do I convert a string to a list in pandas", "погода в Париже", "天気", "🍕",
		"redistribution", "citizens", "authentic italian recipes", "author of a novel",
	} {
		if got := ids(t, x, query); got != nil {
			t.Errorf("%q found %v", query, got)
		}
	}
}

// A query is text: what is syntax elsewhere changes nothing, not even a score.
func TestQueriesAreNoSyntax(t *testing.T) {
	x := open(t, project()...)
	for query, words := range map[string]string{
		"+redis -database":               "redis database",
		`"redis database"`:               "redis database",
		"redis* database?":               "redis database",
		"redis AND database":             "redis and database",
		"redis~2 database^5":             "redis 2 database 5",
		"(redis OR database":             "redis or database",
		"/redis/ database":               "redis database",
		"redis && !database || []{}":     "redis database",
		`redis\ database\`:               "redis database",
		"\xff redis\xc3\x28database\x00": "redis database",
		"redis\u200b\ufeff database":     "redis database",
		`+a -b "c" f:x^2 /re/ *?~`:       "a b c f:x 2 re",
		`+a -redis "database" *?~`:       "a redis database",
	} {
		if diff := cmp.Diff(search1(t, x, words), search1(t, x, query)); diff != "" {
			t.Errorf("%q and %q (-want +got):\n%s", query, words, diff)
		}
	}
	if len(search1(t, x, "redis database")) == 0 {
		t.Error("the words find nothing")
	}
	for _, query := range []string{"*", "?", "d*e", "?atabase", "*atabase", "*:*", "/.*/", "[a TO z]", "category:*"} {
		if got := ids(t, x, query); got != nil {
			t.Errorf("%q found %v", query, got)
		}
	}
}

func TestLongQueries(t *testing.T) {
	x := open(t, madeUps(0, 300)...)
	words := make([]string, 20_000)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", i)
	}
	words[100] = "garbage"
	for _, text := range []string{strings.Join(words, " "), strings.Repeat("token ", 20_000), strings.Repeat("é", 100_000), strings.Repeat("a.b/", 30_000),
		strings.Repeat("?", 100_000), strings.Repeat("*~ ", 40_000), strings.Repeat("\u0301", 60_000), strings.Repeat("数", 40_000), strings.Repeat("\xff", 100_000), strings.Repeat("the ", 30_000)} {
		if _, _, err := x.Search(t.Context(), Query{Text: text}, nil); err != nil {
			t.Errorf("%.20q…: %v", text, err)
		}
	}
	var kept []planned
	err := x.View(func(sources []index.Source) (err error) {
		kept, err = newSearch(sources, &x.tune).plan(parse(strings.Join(words, " ")))
		return err
	})
	if err != nil || len(kept) != maxTerms || !slices.ContainsFunc(kept, func(t planned) bool { return t.term == "garbag" }) {
		t.Errorf("kept %d terms, %v", len(kept), err)
	}
}
