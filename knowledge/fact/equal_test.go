package fact

import (
	"testing"
)

func TestSameValue(t *testing.T) {
	same := [][2]string{
		{"JWT RS256", "jwt rs256."},
		{"JWT RS256", "  JWT \n RS256 "},
		{"Uses PostgreSQL 16", "uses PostgreSQL 16!"},
		{"Das Tor ist groß", "das Tor ist GROSS"},
		{"Мы используем Postgres", "мы ИСПОЛЬЗУЕМ postgres"},
		{"cafe\u0301 au lait", "café au lait"},
		{"テストを書く。", "テストを書く"},
		{"wait…", "wait"},
		{"HTTP API", "http api"},
		{"", ""},
	}
	for _, p := range same {
		if !SameValue(p[0], p[1]) || !SameValue(p[1], p[0]) {
			t.Errorf("%q and %q should be the same", p[0], p[1])
		}
	}
	different := [][2]string{
		{"userId", "userid"},
		{"C", "C#"},
		{"100", "100%"},
		{"PostgreSQL 15", "PostgreSQL 16"},
		{"do not cache", "do cache"},
		{"uses JWT not OAuth for auth", "uses OAuth not JWT for auth"},
		{"timeout is 15 minutes", "timeout is 30 minutes"},
		{"src/Auth.go", "src/auth.go"},
		{"Max_Size", "max_size"},
		{"OAuth2", "oauth2"},
		{"wait..", "wait"},
		{"a b", "ab"},
		{"v1.2", "v1,2"},
		{"$HOME", "$Home"},
	}
	for _, p := range different {
		if SameValue(p[0], p[1]) || SameValue(p[1], p[0]) {
			t.Errorf("%q and %q should differ", p[0], p[1])
		}
	}
}

func TestSlug(t *testing.T) {
	for value, want := range map[string]string{
		"Uses JWT for all services, always": "uses-jwt-for-all-services",
		"Fix: обновление конфига":           "fix-обновление-конфига",
		"日本語のキー":                            "日本語のキー",
		"★ | = 🎉":                           "note",
		"ＦＵＬＬ width":                        "full-width",
		"  --x--  ":                         "x",
		"Expired links stay in the table":   "expired-links-stay",
		"Очередь держится там, где и журнал": "очередь-держится",
		"Turn logging on":           "turn-logging-on",  // all of it
		"We do not use it as it is": "we-do-not-use-it", // it has no others
	} {
		if got := Slug(value); got != want {
			t.Errorf("slug(%q) = %q, want %q", value, got, want)
		}
	}
}
