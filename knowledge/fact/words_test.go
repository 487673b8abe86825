package fact

import (
	"testing"
)

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
