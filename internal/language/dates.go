package language

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Dates in plain English are read here: 2026-02-01, February 2026, yesterday, last week, the end of 2025. A question's dates
// ([FindDate]) and an argument that is one ([ReadDate]) are read by the same rules.

// Date is a past day or period that a question names.
type Date struct {
	Text string    // as the question has it: "in January 2026"
	From time.Time // the start of its first day, UTC
	AsOf time.Time // the end of that day, UTC; for a longer period the end of its last day
	Also []Date    // the others that the question names, in their order

	instant bool // AsOf is an instant that was given in full, with its time zone
}

// Period reports whether the date is longer than a day.
func (d *Date) Period() bool { return d.AsOf.Sub(d.From) > 24*time.Hour }

// Day is the date as YYYY-MM-DD, and an instant as RFC 3339 has it.
func (d *Date) Day() string {
	if d.instant {
		return d.AsOf.Format(time.RFC3339)
	}
	return d.AsOf.Format(time.DateOnly)
}

// Word is a word of a text and where it stands.
type Word struct {
	Text       string // lower case
	Start, End int
}

// Words cuts a text into words of letters, digits and the signs that dates are written with.
func Words(text string) []Word {
	var out []Word
	start := -1
	flush := func(end int) {
		if start >= 0 {
			w := strings.TrimRight(text[start:end], ".-/'")
			w = strings.ToLower(w)
			if part, rest, ok := strings.Cut(w, "-"); ok && (part == "mid" || part == "early" || part == "late") && rest != "" { // mid-July
				out = append(out, Word{part, start, start + len(part)})
				start, w = start+len(part)+1, rest
			}
			if w != "" {
				out = append(out, Word{w, start, start + len(w)})
			}
			start = -1
		}
	}
	after := 0 // the end of an instant
	for i, r := range text {
		if i < after {
			continue
		}
		if start < 0 && '0' <= r && r <= '9' {
			if n := len(instantForm().FindString(beginning(text[i:]))); n > 0 {
				out = append(out, Word{strings.ToLower(text[i : i+n]), i, i + n})
				after = i + n
				continue
			}
		}
		in := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case in || start >= 0 && (r == '-' || r == '.' || r == '/'):
			if start < 0 {
				start = i
				if i > 0 && text[i-1] == '\'' && unicode.IsDigit(r) {
					start = i - 1 // '25
				}
			}
		default:
			flush(i)
		}
	}
	flush(len(text))
	return out
}

// instantForm matches an instant as RFC 3339 has it, with or without seconds.
var instantForm = compiled(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})`)

// beginning is the beginning of a text that may be an instant, else "".
func beginning(text string) string {
	if len(text) < len("2006-01-02T15:04Z") || text[4] != '-' || text[7] != '-' || text[10] != 'T' && text[10] != 't' {
		return ""
	}
	return text[:min(len(text), len("2006-01-02T15:04:05.999999999+07:00"))]
}

// readInstant reads what [instantForm] matches.
func readInstant(w string) (t time.Time, ok bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, strings.ToUpper(w)); err == nil {
			return t.UTC(), true
		}
	}
	return t, false
}

// period is a stretch of days, from the first to the last one.
type period struct {
	first, last time.Time
	day         bool // a single day was named
}

func dayOf(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

func oneDay(t time.Time) period { return period{t, t, true} }

func monthOf(y int, m time.Month) period {
	return period{dayOf(y, m, 1), dayOf(y, m+1, 0), false}
}

func yearOf(y int) period { return period{dayOf(y, 1, 1), dayOf(y, 12, 31), false} }

// dates reads dates in the words of a question.
type dates struct {
	words  []Word
	now    time.Time // what "last week" and "3 days ago" are counted from
	newest time.Time // what a month without a year is counted back from
}

// mention is a period and the words i to j that name it.
type mention struct {
	period
	i, j   int
	inFull bool      // with its year: it needs no word that leads to it
	at     time.Time // the day that is meant by it, if that is not the last one

	instant time.Time // where it names one
}

// asOf is the day that a mention means for somebody who asks what was true then.
func (m *mention) asOf() time.Time {
	if m.at.IsZero() {
		return m.last
	}
	return m.at
}

func endOfDay(day time.Time) time.Time { return day.Add(24*time.Hour - time.Nanosecond) }

// notAsOf are words after which a date does not set the as-of time: something runs since, until or by that day, or is
// planned for it.
var notAsOf = map[string]bool{"since": true, "until": true, "till": true, "by": true, "for": true, "from": true, "next": true, "after": true, "than": true, "v": true, "version": true}

// leads are the words that lead to a date and belong to it.
var leads = map[string]bool{"in": true, "on": true, "at": true, "during": true, "around": true, "back": true, "of": true, "the": true, "last": true, "this": true, "early": true, "late": true, "mid": true, "over": true, "as": true, "about": true}

// FindDate gives the past date of a question, the most precise one and of equals the first, and the spans of all. "Last week" is
// counted from now, and a month without a year back from newest.
func FindDate(words []Word, now, newest time.Time) (date *Date, spans [][2]int, ok bool) {
	d := dates{words, now, newest}
	named := d.named()
	var all []Date
	best, precise := 0, false
	for _, f := range named {
		if f, ok := d.led(f, len(named) > 1); ok {
			spans = append(spans, [2]int{d.words[f.i].Start, d.words[f.j].End})
			if f.day && !precise {
				best, precise = len(all), true
			}
			one := Date{From: f.first, AsOf: endOfDay(f.asOf())}
			if !f.instant.IsZero() {
				one = Date{From: f.instant, AsOf: f.instant, instant: true}
			}
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return nil, nil, false
	}
	date = &all[best]
	date.Also = slices.Delete(slices.Clone(all), best, best+1)
	return date, spans, true
}

// named are the dates in the words, in their order. Two that bound a period ("between March and May 2026") are one.
func (d *dates) named() (all []mention) {
	for i := 0; i < len(d.words); i++ {
		f, ok := d.at(i)
		if !ok {
			continue
		}
		if n := len(all); n > 0 && d.bounds(&all[n-1], &f) {
			all[n-1] = d.between(all[n-1], f)
		} else {
			all = append(all, f)
		}
		i = f.j
	}
	return all
}

// bounds reports whether two dates are the ends of a period: between A and B, from A to B.
func (d *dates) bounds(a, b *mention) bool {
	lead := a.i - 1
	for d.word(lead) == "the" || d.word(lead) == "of" || parts[d.word(lead)] {
		lead--
	}
	joint := a.j + 1
	switch d.word(joint) {
	case "and":
		if d.word(lead) != "between" {
			return false
		}
	case "to", "until", "till", "through":
		if d.word(lead) != "from" && d.word(lead) != "between" {
			return false
		}
	default:
		return false
	}
	for joint++; joint < b.i; joint++ {
		if w := d.word(joint); w != "the" && w != "of" && !parts[w] {
			return false
		}
	}
	return true
}

// between is the period from the first day of one date to the last day of another, whichever is the earlier. A month
// without a year lies in the year of the other one.
func (d *dates) between(a, b mention) mention {
	whole := b.j
	a, b = d.narrow(a), d.narrow(b)
	shift := func(m *mention, years int) {
		m.first, m.last = m.first.AddDate(years, 0, 0), m.last.AddDate(years, 0, 0)
	}
	switch {
	case !a.inFull && b.inFull:
		if shift(&a, b.first.Year()-a.first.Year()); a.first.After(b.last) {
			shift(&a, -1)
		}
	case a.inFull && !b.inFull:
		if shift(&b, a.first.Year()-b.first.Year()); b.last.Before(a.first) {
			shift(&b, 1)
		}
	}
	if b.first.Before(a.first) {
		a, b = b, a
	}
	i := min(a.i, b.i)
	if w := d.word(i - 1); w == "between" || w == "from" {
		i--
	}
	return mention{period: period{a.first, b.last, false}, i: i, j: whole, inFull: true}
}

// parts are the words that name a part of a period.
var parts = map[string]bool{"early": true, "mid": true, "middle": true, "late": true, "end": true, "beginning": true, "start": true, "half": true, "week": true, "first": true, "second": true, "third": true, "fourth": true, "last": true}

// narrow takes in the words before a date that name a part of it: early, mid, late, the end of, the first half of, the last
// week of, the week of.
func (d *dates) narrow(f mention) mention {
	i := f.i
	for d.word(i-1) == "of" || d.word(i-1) == "the" || d.word(i-1) == "in" && parts[d.word(i-2)] {
		i--
	}
	days := int(f.last.Sub(f.first).Hours()/24) + 1
	day := func(n int) time.Time { return f.first.AddDate(0, 0, n) }
	nth := slices.Index([]string{"first", "second", "third", "fourth"}, d.word(i-2))
	switch w := d.word(i - 1); {
	case w == "early":
		f.last = day(max(days/3, 1) - 1)
	case w == "late":
		f.first = day(days - max(days/3, 1))
	case w == "mid" || w == "middle":
		f.at = f.first.Add(f.last.Sub(f.first) / 2).Truncate(24 * time.Hour)
		f.first, f.last = day(days/3), day(days-days/3-1)
	case w == "end":
		f.at = f.last
		f.first = day(days - max(days/3, 1))
	case w == "beginning" || w == "start":
		f.at = f.first
		f.last = day(max(days/3, 1) - 1)
	case w == "half" && nth == 0:
		f.last = day(max(days/2, 1) - 1)
		i--
	case w == "half" && (nth == 1 || d.word(i-2) == "last"):
		f.first = day(days / 2)
		i--
	case w == "week" && days > 7 && nth >= 0:
		f.first, f.last = day(7*nth), day(min(7*nth+6, days-1))
		i--
	case w == "week" && days > 7 && d.word(i-2) == "last":
		f.first = day(days - 7)
		i--
	case w == "week" && f.day:
		f.first = f.first.AddDate(0, 0, -(int(f.first.Weekday())+6)%7)
		f.last = f.first.AddDate(0, 0, 6)
	default:
		return f
	}
	f.i, f.day, f.inFull = i-1, false, true
	return d.narrow(f)
}

// ReadDate reads a text that is nothing but a date: its first and its last day. Words that lead to it may stand before it ("in
// January", "the end of 2025"). A month without a year is the last one that is over.
func ReadDate(text string, now time.Time) (first, last time.Time, ok bool) {
	d := dates{Words(text), now, now}
	if len(d.words) == 0 || len(d.words) > 8 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return first, last, false
	}
	if today := now.UTC().Truncate(24 * time.Hour); len(d.words) == 1 && d.words[0].Text == "today" {
		return today, today, true
	}
	for i := range d.words {
		f, ok := d.at(i)
		if !ok || f.j != len(d.words)-1 {
			continue
		}
		if f, _ = d.led(f, false); f.i > 0 {
			return first, last, false
		}
		if !f.at.IsZero() && !f.at.Equal(f.last) || f.last.Before(f.first) { // the start of it, before it
			f.first, f.last = f.asOf(), f.asOf()
		}
		return f.first, f.last, true
	}
	return first, last, false
}

// led takes in the words that lead to a date: a preposition, "the end of". A date without a year that nothing leads to
// is only a word, unless it stands beside another one. A date that is not over is the present.
func (d *dates) led(f mention, adjacent bool) (mention, bool) {
	f = d.narrow(f)
	i, led := f.i, f.inFull || f.day && adjacent
	preposition := false
	for i > 0 {
		w := d.words[i-1].Text
		switch {
		case w == "before" || (w == "until" || w == "till") && d.was(i-1):
			f.first, f.last, f.at, led = f.first.AddDate(0, 0, -1), f.first.AddDate(0, 0, -1), time.Time{}, true
		case leads[w]:
			preposition = preposition || w == "in" || w == "on" || w == "at" || w == "during"
			led = led || w != "the" && w != "of"
		case notAsOf[w] && !preposition:
			return f, false
		default:
			w = ""
		}
		if w == "" {
			break
		}
		i--
	}
	f.i = i
	return f, led && f.asOf().Before(d.newest)
}

// was reports whether the words before one speak of what was: until then, that is.
func (d *dates) was(i int) bool {
	for j := range i {
		switch d.word(j) {
		case "was", "were", "did", "had":
			return true
		}
	}
	return false
}

// at reads the date that begins with word i, without what leads to it.
func (d *dates) at(i int) (mention, bool) {
	for _, read := range []func(int) (mention, bool){d.numeric, d.monthFirst, d.dayFirst, d.yearly, d.relative, d.year} {
		if f, ok := read(i); ok {
			return f, true
		}
	}
	return mention{}, false
}

// numeric reads 2026-02-01, 2026/02/01, 2026-02 and 1.2.2026.
func (d *dates) numeric(i int) (mention, bool) {
	w := d.words[i].Text
	if t, ok := readInstant(w); ok {
		return mention{period: oneDay(t.Truncate(24 * time.Hour)), i: i, j: i, inFull: true, instant: t}, true
	}
	for _, layout := range []string{"2006-01-02", "2006/01/02", "2.1.2006"} {
		if t, err := time.Parse(layout, w); err == nil {
			return mention{period: oneDay(t), i: i, j: i, inFull: true}, true
		}
	}
	if t, err := time.Parse("2006-01", w); err == nil {
		return mention{period: monthOf(t.Year(), t.Month()), i: i, j: i, inFull: true}, true
	}
	return mention{}, false
}

// word is the text of word i, empty past the end.
func (d *dates) word(i int) string {
	if i < 0 || i >= len(d.words) {
		return ""
	}
	return d.words[i].Text
}

// yearAt reads a year after a date: 2025, '25, of 2025, last year. n is how many words it takes.
func (d *dates) yearAt(i int) (y, n int, ok bool) {
	switch w := d.word(i); {
	case w == "of" || w == "in":
		if y, ok := calendarYear(d.word(i + 1)); ok {
			return y, 2, true
		}
	case w == "last" && d.word(i+1) == "year":
		return d.now.Year() - 1, 2, true
	case w == "this" && d.word(i+1) == "year":
		return d.now.Year(), 2, true
	case len(w) == 3 && w[0] == '\'':
		if y, err := strconv.Atoi(w[1:]); err == nil {
			return 2000 + y, 1, true
		}
	default:
		if y, ok := calendarYear(w); ok {
			return y, 1, true
		}
	}
	return 0, 0, false
}

func calendarYear(w string) (int, bool) {
	y, err := strconv.Atoi(w)
	return y, err == nil && len(w) == 4 && 1970 <= y && y < 2100
}

// dayAt reads the day of a month: 1, 1st, 21st.
func dayAt(w string) (int, bool) {
	n, ok := ordinal(w)
	return n, ok && 1 <= n && n <= 31
}

var monthNames = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// monthAt reads a month: its name, its first three letters, or from six letters on its name with one slip.
func monthAt(w string) (time.Month, bool) {
	if len(w) < 3 {
		return 0, false
	}
	for i, name := range monthNames {
		if w == name || w == name[:3] || w == "sept" && i == 8 || len(name) > 5 && len(w) > 5 && OneEditApart(w, name) {
			return time.Month(i + 1), true
		}
	}
	return 0, false
}

// monthFirst reads march 2026, feb 1st 2026, october '25, and a month alone.
func (d *dates) monthFirst(i int) (mention, bool) {
	m, ok := monthAt(d.word(i))
	if !ok {
		return mention{}, false
	}
	j, day := i, 0
	if n, ok := dayAt(d.word(j + 1)); ok {
		day, j = n, j+1
	}
	return d.inMonth(i, j, m, day)
}

// dayFirst reads 1 march 2026 and 1st of february.
func (d *dates) dayFirst(i int) (mention, bool) {
	day, ok := dayAt(d.word(i))
	if !ok {
		return mention{}, false
	}
	j := i + 1
	if d.word(j) == "of" {
		j++
	}
	m, ok := monthAt(d.word(j))
	if !ok {
		return mention{}, false
	}
	return d.inMonth(i, j, m, day)
}

// inMonth is a month or a day of it. It lies in the year that follows word j, else in the last year in which it is
// over, and for the 29th of February there was such a day.
func (d *dates) inMonth(i, j int, m time.Month, day int) (mention, bool) {
	in := func(y int) period {
		if day > 0 {
			for range maxLeap {
				if t := dayOf(y, m, day); t.Month() == m {
					return oneDay(t)
				}
				y--
			}
		}
		return monthOf(y, m)
	}
	if day > 0 && !hasDay(m, day) {
		return mention{}, false
	}
	if y, n, ok := d.yearAt(j + 1); ok {
		if day > 0 && dayOf(y, m, day).Month() != m {
			return mention{}, false
		}
		return mention{period: in(y), i: i, j: j + n, inFull: true}, true
	}
	return mention{period: d.latest(in), i: i, j: j}, true
}

// maxLeap is one more than the years from one leap year to the next.
const maxLeap = 9

// hasDay reports whether a month has a day, in a leap year.
func hasDay(m time.Month, day int) bool { return dayOf(2000, m, day).Month() == m }

// Impossible finds the dates in words that do not exist: 2026-02-30, 31 April, Q5 2026, in Febtober. It gives the first words
// and where they stand.
func Impossible(words []Word) (span [2]int, ok bool) {
	d := dates{words: words}
	for i := range words {
		if n := d.impossibleAt(i); n > 0 {
			return [2]int{words[i].Start, words[i+n-1].End}, true
		}
	}
	return span, false
}

var (
	dayForm     = compiled(`^[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}$`)
	dottedForm  = compiled(`^([0-9]{1,2})\.([0-9]{1,2})\.((?:19|20)[0-9]{2})$`)
	monthForm   = compiled(`^(?:19|20)[0-9]{2}-[0-9]{2}$`)
	quarterForm = compiled(`^q[0-9]$`)
	inventForm  = compiled(`^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:uary|tober|ober|ember)$`)
)

// impossibleAt counts the words at i that are a date which does not exist.
func (d *dates) impossibleAt(i int) int {
	w := d.word(i)
	_, year, hasYear := d.yearAt(i + 1)
	switch {
	case instantForm().MatchString(w):
		if _, ok := readInstant(w); !ok {
			return 1
		}
	case dayForm().MatchString(w):
		for _, layout := range []string{"2006-1-2", "2006/1/2"} {
			if _, err := time.Parse(layout, w); err == nil {
				return 0
			}
		}
		return 1
	case dottedForm().MatchString(w):
		for _, layout := range []string{"2.1.2006", "1.2.2006"} {
			if _, err := time.Parse(layout, w); err == nil {
				return 0
			}
		}
		return 1
	case monthForm().MatchString(w) && d.leads(i):
		if _, err := time.Parse("2006-01", w); err != nil {
			return 1
		}
	case quarterForm().MatchString(w) && hasYear && (w < "q1" || w > "q4"):
		return 1 + year
	case inventForm().MatchString(w) && (hasYear || d.leads(i)):
		if _, ok := monthAt(w); !ok {
			if hasYear {
				return 1 + year
			}
			return 1
		}
	}
	if m, ok := monthAt(w); ok {
		if day, ok := ordinal(d.word(i + 1)); ok && !d.hasDay(m, day, i+2) {
			return d.withYear(i, 2)
		}
	}
	if day, ok := ordinal(w); ok {
		n := 1
		if d.word(i+1) == "of" {
			n = 2
		}
		if m, ok := monthAt(d.word(i + n)); ok && !d.hasDay(m, day, i+n+1) {
			return d.withYear(i, n+1)
		}
	}
	return 0
}

// leads reports whether a word stands before word i that leads to a date.
func (d *dates) leads(i int) bool {
	w := d.word(i - 1)
	return leads[w] && w != "the" && w != "over" || notAsOf[w] && w != "v" && w != "version" && w != "than" || w == "before" || w == "between"
}

// hasDay reports whether a month has a day, in the year at word i where there is one. A number above 31 without a year is a
// number ("may 45 users").
func (d *dates) hasDay(m time.Month, day, i int) bool {
	if y, _, ok := d.yearAt(i); ok {
		return day > 0 && dayOf(y, m, day).Month() == m
	}
	return day == 0 || day > 31 || hasDay(m, day)
}

// withYear counts n words at i, and the year behind them.
func (d *dates) withYear(i, n int) int {
	if _, years, ok := d.yearAt(i + n); ok {
		return n + years
	}
	return n
}

// ordinal reads a number of one or two digits: 30, 30th.
func ordinal(w string) (int, bool) {
	for _, end := range []string{"st", "nd", "rd", "th", "."} {
		w = strings.TrimSuffix(w, end)
	}
	n, err := strconv.Atoi(w)
	return n, err == nil && len(w) <= 2
}

// latest is the last one of a yearly period that is over.
func (d *dates) latest(in func(year int) period) period {
	y := d.newest.Year()
	if p := in(y); p.last.Before(d.newest) {
		return p
	}
	return in(y - 1)
}

// yearly are names of periods that come back each year. Most of a season is past by its middle, which is what
// somebody means who names no month. A holiday is no single day: a day that is named in full is more precise.
var yearly = map[string]struct{ month, day, toMonth, toDay int }{
	"christmas": {12, 25, 12, 25}, "xmas": {12, 25, 12, 25}, "new year": {1, 1, 1, 1}, "easter": {4, 1, 5, 0},
	"spring": {3, 1, 4, 15}, "summer": {6, 1, 7, 15}, "autumn": {9, 1, 10, 15}, "fall": {9, 1, 10, 15}, "winter": {12, 1, 13, 15},
	"q1": {1, 1, 4, 0}, "q2": {4, 1, 7, 0}, "q3": {7, 1, 10, 0}, "q4": {10, 1, 13, 0},
	"h1": {1, 1, 7, 0}, "h2": {7, 1, 13, 0},
}

// yearly reads Christmas, autumn 2025, last summer, and Q3 2025, which needs its year.
func (d *dates) yearly(i int) (mention, bool) {
	name, j := d.word(i), i
	if name == "new" && strings.HasPrefix(d.word(i+1), "year") {
		name, j = "new year", i+1
	}
	is, ok := yearly[name]
	if !ok {
		return mention{}, false
	}
	in := func(y int) period {
		return period{dayOf(y, time.Month(is.month), is.day), dayOf(y, time.Month(is.toMonth), is.toDay), false}
	}
	if y, n, ok := d.yearAt(j + 1); ok {
		return mention{period: in(y), i: i, j: j + n, inFull: true}, true
	}
	return mention{period: d.latest(in), i: i, j: j}, name[0] != 'q' && name[0] != 'h'
}

// spelled are the numbers from 0 that a question may write as words.
var spelled = strings.Fields("no one two three four five six seven eight nine ten eleven twelve")

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// relative reads yesterday, last Monday, last year, last month, last week, 3 days ago, two weeks ago, a year ago.
func (d *dates) relative(i int) (mention, bool) {
	today := d.now.UTC().Truncate(24 * time.Hour)
	if d.word(i) == "yesterday" {
		return mention{period: oneDay(today.AddDate(0, 0, -1)), i: i, j: i, inFull: true}, true
	}
	if d.word(i) == "last" && d.word(i+2) != "of" {
		if n := slices.Index(weekdays, d.word(i+1)); n >= 0 {
			return mention{period: oneDay(today.AddDate(0, 0, -(int(today.Weekday())-n+6)%7-1)), i: i, j: i + 1, inFull: true}, true
		}
		switch d.word(i + 1) {
		case "year":
			return mention{period: yearOf(today.Year() - 1), i: i, j: i + 1, inFull: true}, true
		case "month":
			first := dayOf(today.Year(), today.Month()-1, 1)
			return mention{period: monthOf(first.Year(), first.Month()), i: i, j: i + 1, inFull: true}, true
		case "week":
			return mention{period: oneDay(today.AddDate(0, 0, -7)), i: i, j: i + 1, inFull: true}, true
		}
	}
	n, err := strconv.Atoi(d.word(i))
	if w := d.word(i); w == "a" {
		n, err = 1, nil
	} else if k := slices.Index(spelled, w); k > 0 {
		n, err = k, nil
	}
	if err != nil || n < 1 || n > 1000 || d.word(i+2) != "ago" {
		return mention{}, false
	}
	switch strings.TrimSuffix(d.word(i+1), "s") {
	case "day":
		return mention{period: oneDay(today.AddDate(0, 0, -n)), i: i, j: i + 2, inFull: true}, true
	case "week":
		return mention{period: oneDay(today.AddDate(0, 0, -7*n)), i: i, j: i + 2, inFull: true}, true
	case "month":
		return mention{period: oneDay(today.AddDate(0, -n, 0)), i: i, j: i + 2, inFull: true}, true
	case "year":
		return mention{period: oneDay(today.AddDate(-n, 0, 0)), i: i, j: i + 2, inFull: true}, true
	}
	return mention{}, false
}

// year reads a year, which needs a word that leads to it.
func (d *dates) year(i int) (mention, bool) {
	y, ok := calendarYear(d.word(i))
	return mention{period: yearOf(y), i: i, j: i}, ok
}

// Mentions reports whether a text names the same time as the question's date. Then the date is what is looked for, and
// not the time that is asked about.
func (d *Date) Mentions(text string) bool {
	w := Words(text)
	if !strings.ContainsFunc(text, unicode.IsDigit) {
		return false
	}
	far := d.AsOf.AddDate(100, 0, 0)
	other := dates{words: w, now: d.AsOf, newest: far}
	for i := range w {
		if f, ok := other.at(i); ok && f.inFull && f.last.Format(time.DateOnly) == d.Day() {
			return true
		}
	}
	return false
}
