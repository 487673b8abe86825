package meaning

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnnamed(t *testing.T) {
	for _, tt := range []struct {
		question string
		names    []string
		rest     string
	}{
		{"", nil, ""},
		{"how do users log in", nil, "how do users log in"},
		{"When did Anna meet Bert's aunt?", []string{"anna", "bert"}, "When did meet aunt?"},
		{"Anna asked. What did Bert say?", []string{"bert"}, "Anna asked. What did say?"},
		{"where is the API of GitHub", []string{"github"}, "where is the API of"},
		{"may I say I'm here, or O’Brien?", []string{"o’brien"}, "may I say I'm here, or"},
		{"How To Deploy The Server", nil, "How To Deploy The Server"},
		{"кто сказал Анне про сервер", []string{"анне"}, "кто сказал про сервер"},
		{"誰がサーバーを", nil, "誰がサーバーを"},
		{"x \xff\xfe Ünal … !!! ' ’", []string{"ünal"}, "x \xff\xfe … !!! ' ’"},
	} {
		names, rest := Unnamed(tt.question)
		if d := cmp.Diff(tt.names, names); d != "" || rest != tt.rest {
			t.Errorf("%q: rest %q, names %s", tt.question, rest, d)
		}
	}
}
