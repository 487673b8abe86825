package reminder

import (
	"strings"
	"testing"
	"time"

	"leanctx/formats"
)

// A reminder shows up for the files that its path means, and for no others.
func TestAtFile(t *testing.T) {
	for _, c := range []struct {
		glob string
		yes  []string
		no   []string
	}{
		{"src/auth/**", []string{"src/auth/a.go", "src/auth/x/y.go"}, []string{"src/a.go", "a/src/auth/b"}},
		{"**/*.proto", []string{"a.proto", "x/y/a.proto"}, []string{"a.go"}},
		{"src/**/test/*.ts", []string{"src/test/a.ts", "src/x/test/y/test/a.ts"}, []string{"src/test/x/a.ts"}},
		{"*.sql", []string{"a.sql", "db/a.sql"}, []string{"a.sql.bak"}},
		{"src/*.go", []string{"src/a.go"}, []string{"src/x/a.go", "src"}},
		{"docs", []string{"docs", "docs/a/b.md"}, []string{"docs2/a.md"}},
		{"docs/", []string{"docs/a/b.md"}, []string{"docs2/a.md"}},
		{"src/a.go", []string{"src/a.go"}, []string{"src/a.go2", "b/src/a.go"}},
		{"./src/a.go", []string{"src/a.go"}, nil},
		{`src\*.go`, []string{"src/a.go"}, nil},
		{"**/**/**/**/**/**/x", []string{"a/b/c/d/e/f/g/x"}, []string{strings.Repeat("a/", 200) + "y"}},
		{"", nil, []string{"a.go", ""}},
	} {
		r := formats.Reminder{Path: c.glob}
		for _, file := range c.yes {
			if !AtFile(r, file) {
				t.Errorf("%s does not stand for %s", c.glob, file)
			}
		}
		for _, file := range c.no {
			if AtFile(r, file) {
				t.Errorf("%s stands for %s", c.glob, file)
			}
		}
	}
}

// What is due on a day is due from its first instant on; what is done is due
// never, nor is what has no day.
func TestOpenAndDue(t *testing.T) {
	day := func(n int) *time.Time { return new(time.Date(2026, 1, n, 23, 59, 59, 0, time.UTC)) }
	today := time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC)
	list := []formats.Reminder{
		{ID: "none", State: StateOpen}, {ID: "16", State: StateOpen, Due: day(16)}, {ID: "done", State: StateDone, Due: day(1)},
		{ID: "15", State: StateOpen, Due: day(15)}, {ID: "14", State: StateOpen, Due: day(14)},
	}
	var got []string
	for _, r := range Open(list) {
		text := r.ID
		if Due(r, today) {
			text += " due"
		}
		got = append(got, text)
	}
	if want := "14 due, 15 due, 16, none"; strings.Join(got, ", ") != want {
		t.Errorf("%s, not %s", strings.Join(got, ", "), want)
	}
}

// A keyword is met as whole words in their order, in any spelling.
func TestAtWords(t *testing.T) {
	for _, c := range []struct {
		keyword, text string
		want          bool
	}{
		{"refresh token", "mend the Refresh-Token flow", true},
		{"refresh token", "token refresh", false},
		{"go", "a good one", false},
		{"журнал", "где Журнал?", true},
		{"", "anything", false},
		{" - ", "a - b", false},
	} {
		if got := AtWords(formats.Reminder{Keyword: c.keyword}, c.text); got != c.want {
			t.Errorf("%q in %q: %v", c.keyword, c.text, got)
		}
	}
}
