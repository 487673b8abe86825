package embed

import (
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"plain words":                  "plain words",
		"Mixed CASE":                   "mixed case",
		"tab\tline\nend\r":             "tab line end ",
		"naïve CAFÉ résumé Ångström":   "naive cafe resume angstrom",
		"nai\u0308ve":                  "naive",
		"Йод и ёж":                     "иод и еж",
		"\u0130stanbul":                "istanbul",
		"zero\u200bwidth\u00adhyphen":  "zerowidthhyphen",
		"\ufefffirst\u0000\ufffd":      "first",
		"no\u00a0break\u2003em\u3000":  "no break em ",
		"bad \xff\xfe bytes":           "bad  bytes",
		"\u2028line":                   " line",
		"private \ue000":               "private ",
		"\u2126hm \u212a":              "ωhm k",
		"日本語と English":                 "日本語と english",
		"emoji 👩\u200d💻 \u2764\ufe0f!": "emoji 👩💻 ❤!",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range probes(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := clean(text)
		if !utf8.ValidString(once) {
			t.Fatalf("clean(%q) = %q, which is not UTF-8", text, once)
		}
		if twice := clean(once); twice != once {
			t.Fatalf("clean(%q) = %q, cleaned again %q", text, once, twice)
		}
	})
}
