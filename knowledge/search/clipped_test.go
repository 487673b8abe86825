package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// clippedProject is a project whose names are short for longer words.
func clippedProject() []Doc {
	return []Doc{
		{ID: "token", Category: "auth", Key: "token-type", Value: "Uses JWT"},
		{ID: "config", Category: "setup", Key: "config", Value: "lies in the home of who runs it"},
		{ID: "deploy", Category: "setup", Key: "deploy-target", Value: "a rented machine; java inside"},
		{ID: "store", Category: "db", Key: "main", Value: "rows and columns", Aliases: []string{"postgres"}},
		{ID: "repo", Category: "code", Key: "repo", Value: "one for all services"},
		{ID: "port", Category: "code", Key: "port-with-tls", Value: "8080 everywhere"},
		{ID: "k8s", Category: "infra", Key: "k8s-run", Value: "three nodes"},
		{ID: "member", Category: "team", Key: "subscriber-list", Value: "once a year in Lisbon"},
		{ID: "app", Category: "db-2", Key: "app", Value: "what people see"},
		{ID: "env", Category: "setup", Key: "env", Value: "two of them"},
		{ID: "rights", Category: "team", Key: "authorization", Value: "by role"},
		{ID: "ru", Category: "настройки", Key: "конфиг", Value: "лежит рядом"},
	}
}

func TestNamesThatBeginWords(t *testing.T) {
	x := open(t, clippedProject()...)
	for _, tt := range []struct {
		promise, query string
		want           []string
	}{
		{"a category", "authentication", []string{"token"}},
		{"any ending", "Authenticated", []string{"token"}},
		{"said in short in several ways", "configuration", []string{"config"}},
		{"three letters", "application", []string{"app"}},
		{"three letters", "environments", []string{"env"}},
		{"two letters, in any field", "database", []string{"store", "app"}},
		{"in short for what is written out", "cfg", []string{"config"}},
		{"in short before other words that begin so", "auth", []string{"token"}},
		{"a number for letters", "kubernetes", []string{"k8s"}},
		{"a part of a key", "deployments", []string{"deploy"}},
		{"an alias", "postgresql", []string{"store"}},
		{"a small part of the word", "repository", []string{"repo"}},
		{"another script", "конфигурация", []string{"ru"}},
		{"any name of six letters or more", "deploymentarium", []string{"deploy"}},
		{"a word that only begins like a name", "portfolio", nil},
		{"the same stem, another word", "author", []string{"rights"}},
		{"not half of what was asked", "investment portfolio", nil},
		{"not a stop word", "withdrawal", nil},
		{"not any few letters", "runtime", nil},
		{"not with a digit", "k8sify", nil},
		{"not a number", "8080443", nil},
		{"not a value's word", "javascript", nil},
	} {
		if diff := cmp.Diff(tt.want, ids(t, x, tt.query)); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", tt.promise, tt.query, diff)
		}
	}
	hits, _, err := x.Search(t.Context(), Query{Text: "authentication", Exact: true}, nil)
	if err != nil || len(hits) > 0 {
		t.Errorf("the exact words found %v, %v", hits, err)
	}
}

// A name that begins a word gives way to the word itself, and outdoes no other word of the query, however rare
// the name and common the word.
func TestNamesThatBeginWordsGiveWay(t *testing.T) {
	docs := []Doc{{ID: "name", Category: "c", Key: "auth", Value: "x"}}
	for i := range 9 {
		docs = append(docs, Doc{ID: fmt.Sprint("real", i), Category: "c", Key: fmt.Sprint("k", i), Value: "redis keeps what sessions there are"})
	}
	got := ids(t, open(t, docs...), "authentication redis")
	if len(got) < 9 || slices.ContainsFunc(got[:9], func(id string) bool { return !strings.HasPrefix(id, "real") }) {
		t.Errorf("found %v: a name before the words", got)
	}
	docs[1].Value += ", authentication among them"
	if got := ids(t, open(t, docs...), "authentication"); !slices.Equal(got, []string{"real0"}) {
		t.Errorf("found %v: want the word itself and nothing else", got)
	}
}
