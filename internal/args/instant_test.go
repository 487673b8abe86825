package args

import (
	"errors"
	"testing"
	"time"

	"leanctx/internal/refusal"
)

func TestParseInstant(t *testing.T) {
	now := time.Date(2026, 3, 20, 9, 12, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-02-01":                "2026-02-01T00:00:00Z",
		" 2026-02-01 ":              "2026-02-01T00:00:00Z",
		"2026-02-01T12:00:00+02:00": "2026-02-01T10:00:00Z",
		"3d":                        "2026-03-17T09:12:00Z",
		"90s":                       "2026-03-20T09:10:30Z",
		"2w":                        "2026-03-06T09:12:00Z",
		"0001-01-01":                "0001-01-01T00:00:00Z",
		"9999-12-31":                "9999-12-31T00:00:00Z",
		"2026-02":                   "2026-02-01T00:00:00Z",
		"2025":                      "2025-01-01T00:00:00Z",
		"today":                     "2026-03-20T00:00:00Z",
		"Yesterday":                 "2026-03-19T00:00:00Z",
		"last week":                 "2026-03-13T00:00:00Z",
		"last month":                "2026-02-01T00:00:00Z",
		"two weeks ago":             "2026-03-06T00:00:00Z",
		"in January":                "2026-01-01T00:00:00Z",
		"March 2025":                "2025-03-01T00:00:00Z",
		"1 Feb 2026":                "2026-02-01T00:00:00Z",
		"before christmas":          "2025-12-24T00:00:00Z",
	} {
		got, err := ParseInstant("as_of", text, now, false)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %v, %v; want %s", text, got.Time, err, want)
		}
	}
	for text, want := range map[string]string{"2026-02-01": "2026-02-01", "2026-02": "2026-02-28", "yesterday": "2026-03-19", "last month": "2026-02-28"} {
		if end, err := ParseInstant("as_of", text, now, true); err != nil || end.Format(time.RFC3339Nano) != want+"T23:59:59.999999999Z" || end.Text != want {
			t.Errorf("the end of %q: %v, %v", text, end, err)
		}
	}
	for text, want := range map[string]string{"3d": "2026-03-23T09:12:00Z", "2026-02-01": "2026-02-01T00:00:00Z", "2026-12": "2026-12-01T00:00:00Z"} {
		if got, err := ParseDue("due", text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("due %q: %v, %v; want %s", text, got.Time, err, want)
		}
	}
	if got, err := ParseDue("due", "december", now); err == nil {
		t.Errorf("a month that is over is due %v", got.Time)
	}
	for _, text := range []string{
		"", "yesterday-ish", "someday", "since 2026-02", "last week of it", "may or may not", "2026-02 2026-03", "2026-13-01", "2026-02-30", "2026-2-1", "0000-01-01", "10000-01-01", "0001-01-01T00:00:00+14:00",
		"9999-12-31T23:59:59-14:00", "-3d", "3", "d", "3y", "99999999999d", "2147483647w", "３d", "2026-02-01T25:00:00Z", "\x00", "2026-02-01\n2026-02-02",
	} {
		_, err := ParseInstant("as_of", text, now, false)
		if e, ok := errors.AsType[*refusal.ArgumentError](err); !ok || e.Argument != "as_of" {
			t.Errorf("%q: %v, want an argument error about as_of", text, err)
		}
	}
}

func FuzzParseInstant(f *testing.F) {
	for _, seed := range []string{"2026-02-01", "3d", "2026-02-01T12:00:00Z", "9999-12-31T23:59:59-14:00", "٣d"} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, end bool) {
		got, err := ParseInstant("x", text, time.Date(2026, 3, 20, 9, 12, 0, 0, time.UTC), end)
		if err != nil {
			return
		}
		if y := got.UTC().Year(); y < 1 || y > 9999 {
			t.Errorf("%q gave the year %d", text, y)
		}
		if _, err := got.MarshalJSON(); err != nil {
			t.Errorf("%q gave a time that cannot be written: %v", text, err)
		}
	})
}
