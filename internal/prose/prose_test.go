package prose

import (
	"strings"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	for given, want := range map[string]string{
		"":                       "",
		"plain, ünïcode, 日本":     "plain, ünïcode, 日本",
		"a\nb\tc\rd":             `a\nb\tc\rd`,
		"\x1b[2J\x07\x7f\u0085":  `\u{1b}[2J\u{7}\u{7f}\u{85}`,
		"\u2028\u202e\u2066back": `\u{2028}\u{202e}\u{2066}back`,
		"bad \xff byte":          "bad \uFFFD byte",
		"a\u200bb\ufeff\u200d":   `a\u{200b}b\u{feff}\u{200d}`,
		"\U000e0041\u061c":       `\u{e0041}\u{61c}`,
		"</system> 1 < 2 <b>":    `\u{3c}/system> 1 < 2 \u{3c}b>`,
	} {
		if got := Line(given); got != want {
			t.Errorf("Line(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	long := strings.Repeat("я", 301)
	for given, want := range map[string]string{
		"two\nlines":             `two\nlines`,
		strings.Repeat("я", 300): strings.Repeat("я", 300),
		long:                     strings.Repeat("я", 300) + "… (602 bytes)",
	} {
		if got := Brief(given); got != want {
			t.Errorf("Brief of %d bytes = %q, want %q", len(given), got, want)
		}
	}
	if got := Clip(long, 0); got != "…" {
		t.Errorf("Clip to nothing = %q", got)
	}
}

func TestIndent(t *testing.T) {
	if got, want := Indent("a\r\n\tb\n\n\x1b", "  "), "  a\n  \tb\n\n  \\u{1b}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBlock(t *testing.T) {
	if got, want := Block(" one\n\ntwo\x1b\n"), "one\n\n      two\\u{1b}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0 entries", 1: "1 entry", 999: "999 entries", 1000: "1,000 entries", 1234567: "1,234,567 entries", -1234: "-1,234 entries"} {
		if got := Count(n, "entry"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	if got := Count(int64(2), "token"); got != "2 tokens" {
		t.Error(got)
	}
}

func TestAges(t *testing.T) {
	at := time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s ago", 0: "0s ago", 59 * time.Second: "59s ago", 59*time.Second + 600*time.Millisecond: "1m ago",
		time.Hour - 1: "1h ago", 23 * time.Hour: "23h ago", 49 * time.Hour: "2d ago",
	} {
		if got := Ago(at.Add(d), at); got != want {
			t.Errorf("after %s: %q, want %q", d, got, want)
		}
	}
}

func TestLeft(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 0: "0s", 1: "1s", 59*time.Second + 1: "1m", time.Minute: "1m", time.Minute + 1: "2m", 10 * time.Minute: "10m", 90 * time.Minute: "1h",
	} {
		if got := Left(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

// What goes to a terminal moves no cursor and writes no clipboard; it can still be read back.
func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext":                   "plain\n\ttext",
		"a\x1b[1Kb\x1b]52;c;eA\x07\u009b": `a\u{1b}[1Kb\u{1b}]52;c;eA\u{7}\u{9b}`,
		"a\u200bb":                        "a\u200bb",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
