package language

import (
	"slices"
	"testing"
	"time"
)

var clock = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func TestPartsOfAPeriodAreRead(t *testing.T) {
	for text, want := range map[string][3]string{ // first day, last day, as of
		"in early 2026":                          {"2026-01-01", "2026-05-01", "2026-05-01"},
		"late June 2026":                         {"2026-06-21", "2026-06-30", "2026-06-30"},
		"mid-July 2026":                          {"2026-07-11", "2026-07-21", "2026-07-16"},
		"in the middle of July 2026":             {"2026-07-11", "2026-07-21", "2026-07-16"},
		"at the end of 2025":                     {"2025-09-02", "2025-12-31", "2025-12-31"},
		"at the beginning of 2025":               {"2025-01-01", "2025-05-01", "2025-01-01"},
		"in the first half of August 2026":       {"2026-08-01", "2026-08-15", "2026-08-15"},
		"in the second half of May 2026":         {"2026-05-16", "2026-05-31", "2026-05-31"},
		"in the week of 4 May 2026":              {"2026-05-04", "2026-05-10", "2026-05-10"},
		"the week of 10 May 2026":                {"2026-05-04", "2026-05-10", "2026-05-10"},
		"in the last week of April":              {"2026-04-24", "2026-04-30", "2026-04-30"},
		"in the first week of April 2026":        {"2026-04-01", "2026-04-07", "2026-04-07"},
		"the second week of April 2026":          {"2026-04-08", "2026-04-14", "2026-04-14"},
		"between January and March 2026":         {"2026-01-01", "2026-03-31", "2026-03-31"},
		"between 2026-03-01 and 2026-01-15":      {"2026-01-15", "2026-03-01", "2026-03-01"},
		"between October and March 2026":         {"2025-10-01", "2026-03-31", "2026-03-31"},
		"between October 2025 and March":         {"2025-10-01", "2026-03-31", "2026-03-31"},
		"from 2026-03-01 to 2026-04-15":          {"2026-03-01", "2026-04-15", "2026-04-15"},
		"between early May and mid June 2026":    {"2026-05-01", "2026-06-20", "2026-06-20"},
		"last Friday":                            {"2026-11-27", "2026-11-27", "2026-11-27"},
		"last Saturday":                          {"2026-11-21", "2026-11-21", "2026-11-21"},
		"in H1 2026":                             {"2026-01-01", "2026-06-30", "2026-06-30"},
		"in Q2 2026":                             {"2026-04-01", "2026-06-30", "2026-06-30"},
		"who was on call until 2026-09-14":       {"2026-09-13", "2026-09-13", "2026-09-13"},
		"before 2026-06-08":                      {"2026-06-07", "2026-06-07", "2026-06-07"},
		"the last week of the first half of May": {"2026-05-09", "2026-05-15", "2026-05-15"},
		"between Tom and 2026-01-01":             {"2026-01-01", "2026-01-01", "2026-01-01"},
	} {
		d, _, ok := FindDate(Words(text), clock, clock)
		day := func(t time.Time) string { return t.Format(time.DateOnly) }
		if !ok || day(d.AsOf) != want[2] || day(d.From) != want[0] {
			t.Errorf("%q: %+v, want %v", text, d, want)
		}
	}
}

func TestDatesThatDoNotExist(t *testing.T) {
	for text, want := range map[string]string{
		"what did we use on 2026-02-30":              "2026-02-30",
		"which region on 2026-13-01":                 "2026-13-01",
		"what was it on 31.02.2026":                  "31.02.2026",
		"who was on call on 30 February":             "30 February",
		"who was on call on February 30th, 2026":     "February 30th, 2026",
		"what changed on the 31st of April 2026":     "31st of April 2026",
		"what did we use on 29 February 2026":        "29 February 2026",
		"what did we use in Febtober":                "Febtober",
		"prices in Octember 2026":                    "Octember 2026",
		"what changed in Q5 2026":                    "Q5 2026",
		"what changed since 2026-13":                 "2026-13",
		"as of 2026-02-01T25:00Z":                    "2026-02-01T25:00Z",
		"which release on 45 May 2026":               "45 May 2026",
		"what did we use on 29 February 2024":        "",
		"what did we use on 29 February":             "",
		"may 45 users connect":                       "",
		"what about 2026-02-28 and 2026-03-31":       "",
		"on 12/31/2025 or 12.31.2025":                "",
		"CVE-2026-13-99 and ticket 2026-13":          "",
		"every member of the team remembers October": "",
		"who was on call in Ocotber":                 "",
		"version 1.2.30":                             "",
		"":                                           "",
	} {
		span, ok := Impossible(Words(text))
		if got := text[span[0]:span[1]]; got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestInstantsAndSeveralDates(t *testing.T) {
	for text, want := range map[string][]string{
		"which region on 2026-03-01T10:00:00+02:00":         {"2026-03-01T08:00:00Z"},
		"which region at 2026-03-01T23:30-05:00":            {"2026-03-02T04:30:00Z"},
		"which region in March 2026 and in August 2026":     {"2026-03-31", "2026-08-31"},
		"on 2026-03-01, 2026-04-01 and 2026-05-01":          {"2026-03-01", "2026-04-01", "2026-05-01"},
		"in 2025 and on 2026-02-01":                         {"2026-02-01", "2025-12-31"},
		"between March and May 2026 and in the summer 2025": {"2026-05-31", "2025-07-15"},
		"on 29 February": {"2024-02-29"},
	} {
		d, _, ok := FindDate(Words(text), clock, clock)
		if !ok {
			t.Errorf("%q: none", text)
			continue
		}
		got := []string{d.Day()}
		for _, x := range d.Also {
			got = append(got, x.Day())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if _, _, ok := ReadDate("February 30", clock); ok {
		t.Error("February 30 is a date")
	}
}
