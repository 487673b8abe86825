package verdict

import (
	"math/bits"
	"strconv"
	"strings"
	"sync"
	"time"
)

func decimal(n int) string { return strconv.Itoa(n) }

// numeral reads a token that begins with a digit, a sign or a currency. It
// reports false for what is no number and no quantity: a version, a date.
func (r *reader) numeral(t string) bool {
	text, currency, suffix, ok := digits(t)
	if !ok {
		return false
	}
	if currency != "" {
		if by, ok := multiplier(suffix); ok {
			if text, ok = times(text, by); !ok {
				return false
			}
		} else if suffix != "" {
			return false
		}
		q, ok := measured(text, currency, true)
		if ok {
			r.add(q)
		}
		return ok
	}
	if suffix == "" {
		r.add(atom{class: number, text: text, raw: t})
		return true
	}
	if by, ok := multiplier(suffix); ok && len(suffix) <= 2 {
		if text, ok := times(text, by); ok {
			r.add(atom{class: number, text: text, raw: "+"})
			return true
		}
		return false
	}
	if q, ok := measured(text, strings.TrimPrefix(suffix, "-"), suffix[0] != '-'); ok {
		r.add(q)
		return true
	}
	if d, err := time.ParseDuration(t); err == nil && d > 0 && len(t) < 32 {
		r.add(timeOf(uint64(d), 1))
		return true
	}
	return false
}

// digits divides a token into a number without grouping, a currency before it
// and what follows it.
func digits(t string) (text, currency, suffix string, ok bool) {
	sign := ""
	rest := t
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		sign, rest = rest[:1], rest[1:]
	}
	for _, c := range [...]string{"$", "€", "£"} {
		if after, found := strings.CutPrefix(rest, c); found {
			currency, rest = c, after
			break
		}
	}
	if rest == "" || !isDigit(rest[0]) {
		return "", "", "", false
	}
	i := 0
	for i < len(rest) && isDigit(rest[i]) {
		i++
	}
	whole := rest[:i]
	if i <= 3 && rest[0] != '0' && i < len(rest) && strings.IndexByte(",_'", rest[i]) >= 0 {
		var b strings.Builder
		b.WriteString(whole)
		by := rest[i]
		j := i
		for j+3 < len(rest) && rest[j] == by && isDigit(rest[j+1]) && isDigit(rest[j+2]) && isDigit(rest[j+3]) && (j+4 == len(rest) || !isDigit(rest[j+4])) {
			b.WriteString(rest[j+1 : j+4])
			j += 4
		}
		if j > i {
			whole, i = b.String(), j
		}
	}
	text = sign + whole
	if i+1 < len(rest) && rest[i] == '.' && isDigit(rest[i+1]) {
		j := i + 1
		for j < len(rest) && isDigit(rest[j]) {
			j++
		}
		if j < len(rest) && rest[j] == '.' {
			return "", "", "", false // a version
		}
		text += rest[i:j]
		i = j
	}
	return text, currency, rest[i:], true
}

// groups reports whether b continues the digits of a: 10 000.
func groups(a, b atom) bool {
	if len(b.text) != 3 || b.raw != b.text || a.text[0] == '0' || len(a.text) > 30 {
		return false
	}
	for i := range len(a.text) {
		if !isDigit(a.text[i]) {
			return false
		}
	}
	return a.raw == "" || a.raw == a.text && len(a.text) <= 3
}

// scale multiplies a decimal number by factor and a power of ten. The result is
// a whole number without trailing zeros and its power of ten; ok is false if it
// is too large to be exact.
func scale(text string, factor uint64, power int) (sign string, whole uint64, exp int, ok bool) {
	if text[0] == '-' || text[0] == '+' {
		sign, text = text[:1], text[1:]
	}
	int, frac, _ := strings.Cut(text, ".")
	whole, err := strconv.ParseUint(int+frac, 10, 64)
	if err != nil {
		return "", 0, 0, false
	}
	exp = power - len(frac)
	for whole != 0 && whole%10 == 0 {
		whole /= 10
		exp++
	}
	over, whole := bits.Mul64(whole, factor)
	if over != 0 {
		return "", 0, 0, false
	}
	if whole == 0 {
		return sign, 0, 0, true
	}
	for whole%10 == 0 {
		whole /= 10
		exp++
	}
	return sign, whole, exp, true
}

// times is a number multiplied by a power of ten, with all its digits.
func times(text string, power int) (string, bool) {
	sign, whole, exp, ok := scale(text, 1, power)
	switch {
	case !ok:
		return "", false
	case exp < 0:
		digits := strconv.FormatUint(whole, 10)
		if len(digits) <= -exp {
			digits = strings.Repeat("0", -exp-len(digits)+1) + digits
		}
		return sign + digits[:len(digits)+exp] + "." + digits[len(digits)+exp:], true
	}
	return sign + strconv.FormatUint(whole, 10) + strings.Repeat("0", exp), true
}

// multiplier is the power of ten that a word or letter behind a number stands for.
func multiplier(w string) (power int, ok bool) {
	switch w {
	case "k", "K", "thousand":
		return 3, true
	case "M", "million":
		return 6, true
	case "bn", "billion":
		return 9, true
	}
	return 0, false
}

// measured is the quantity of a number and a unit. attached tells that the unit
// follows without a space.
func measured(text, of string, attached bool) (atom, bool) {
	u, ok := unitOf(of, attached)
	if !ok {
		return atom{}, false
	}
	sign, whole, exp, ok := scale(text, u.factor, u.power)
	if !ok { // not exact: equal only as written
		return atom{class: quantity, text: u.dimension + "*" + strconv.FormatUint(u.factor, 10) + "e" + decimal(u.power) + " " + text}, true
	}
	a := atom{class: quantity, text: u.dimension + " " + sign + strconv.FormatUint(whole, 10) + "e" + decimal(exp)}
	if u.dimension == "time" && sign == "" && exp >= 0 && exp < 18 {
		if nanos, ok := pow10(whole, exp); ok {
			a.nanos = nanos
			a.step, _ = pow10(u.factor, u.power)
		}
	}
	return a, true
}

// Quantity is a number with a unit in a form that equal quantities share; ok is false where the unit is
// not known.
func Quantity(number, unit string) (form string, ok bool) {
	a, ok := measured(number, unit, true)
	return a.text, ok
}

// timeOf is a time in nanoseconds, whose least unit is step.
func timeOf(nanos, step uint64) atom {
	_, whole, exp, _ := scale(strconv.FormatUint(nanos, 10), 1, 0)
	return atom{class: quantity, text: "time " + strconv.FormatUint(whole, 10) + "e" + decimal(exp), nanos: nanos, step: step}
}

func pow10(n uint64, exp int) (uint64, bool) {
	for range exp {
		over, next := bits.Mul64(n, 10)
		if over != 0 {
			return 0, false
		}
		n = next
	}
	return n, true
}

// unit is a unit of measure: its dimension, and what one of it is in the base unit, as
// factor times a power of ten.
type unit struct {
	dimension string
	factor    uint64
	power     int
}

// units are the units by their names in lower case.
var units = sync.OnceValue(func() map[string]unit { return byName(unitNames) })

var unitNames = map[unit]string{
	{"time", 1, 0}:        "ns nanosecond nanoseconds",
	{"time", 1, 3}:        "us microsecond microseconds",
	{"time", 1, 6}:        "ms msec msecs millisecond milliseconds",
	{"time", 1, 9}:        "s sec secs second seconds",
	{"time", 60, 9}:       "min mins minute minutes",
	{"time", 3600, 9}:     "h hr hrs hour hours",
	{"time", 86400, 9}:    "d day days",
	{"time", 604800, 9}:   "wk week weeks",
	{"months", 1, 0}:      "month months",
	{"months", 12, 0}:     "yr yrs year years",
	{"bytes", 1, 0}:       "byte bytes",
	{"bytes", 1, 3}:       "kb kilobyte kilobytes",
	{"bytes", 1, 6}:       "mb megabyte megabytes",
	{"bytes", 1, 9}:       "gb gigabyte gigabytes",
	{"bytes", 1, 12}:      "tb terabyte terabytes",
	{"bytes", 1, 15}:      "pb petabyte petabytes",
	{"bytes", 1 << 10, 0}: "kib kibibyte kibibytes",
	{"bytes", 1 << 20, 0}: "mib mebibyte mebibytes",
	{"bytes", 1 << 30, 0}: "gib gibibyte gibibytes",
	{"bytes", 1 << 40, 0}: "tib tebibyte tebibytes",
	{"bits", 1, 0}:        "bit bits",
	{"bits", 1, 3}:        "kbit kbits kilobits",
	{"bits", 1, 6}:        "mbit mbits megabits",
	{"bits", 1, 9}:        "gbit gbits gigabits",
	{"bits/s", 1, 3}:      "kbps",
	{"bits/s", 1, 6}:      "mbps",
	{"bits/s", 1, 9}:      "gbps",
	{"percent", 1, 0}:     "% percent pct",
	{"USD", 1, 0}:         "$ usd dollar dollars",
	{"EUR", 1, 0}:         "€ eur euro euros",
	{"GBP", 1, 0}:         "£ gbp",
	{"Hz", 1, 0}:          "hz",
	{"Hz", 1, 3}:          "khz",
	{"Hz", 1, 6}:          "mhz",
	{"Hz", 1, 9}:          "ghz",
	{"px", 1, 0}:          "px pixel pixels",
}

func byName(lists map[unit]string) map[string]unit {
	out := map[string]unit{}
	for u, names := range lists {
		for name := range strings.FieldsSeq(names) {
			out[name] = u
		}
	}
	return out
}

// exactUnits are those that the case of a letter tells from others.
var exactUnits = map[string]unit{
	"Kb": {"bits", 1, 3}, "Mb": {"bits", 1, 6}, "Gb": {"bits", 1, 9}, "Tb": {"bits", 1, 12}, "B": {"bytes", 1, 0},
	"m": {"time", 60, 9}, "w": {"time", 604800, 9},
}

var rates = map[string]string{
	"s": "/s", "sec": "/s", "second": "/s", "min": "/min", "minute": "/min", "h": "/h", "hr": "/h", "hour": "/h", "d": "/d", "day": "/d",
}

// unitOf finds a unit, also one of a rate (MB/s). attached tells that it follows a number
// without a space.
func unitOf(name string, attached bool) (unit, bool) {
	if left, right, found := strings.Cut(name, "/"); found {
		u, ok := unitOf(left, attached)
		u.dimension += rates[right]
		return u, ok && rates[right] != ""
	}
	if u, ok := exactUnits[name]; ok {
		return u, name != "m" || attached // after a space it may be a metre
	}
	if len(name) > 12 {
		return unit{}, false
	}
	u, ok := units()[strings.ToLower(name)]
	return u, ok
}

// numberWords are the numbers that English words name.
var numberWords = map[string]int{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "dozen": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
	"eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
	"eighty": 80, "ninety": 90, "hundred": 100,
}

// numberWord takes in a number that was written as a word, with the one before
// it: twenty five, two hundred, two dozen.
func (r *reader) numberWord(n int, w string) {
	if at := len(r.atoms); at > 0 && r.colon != at && r.atoms[at-1].class == number {
		last := &r.atoms[at-1]
		before, err := strconv.Atoi(last.text)
		switch {
		case err != nil || before < 0:
		case (w == "hundred" || w == "dozen") && before > 0 && before < 100:
			last.text, last.raw = decimal(before*n), w
			return
		case n > 0 && n < 10 && before >= 20 && before < 100 && before%10 == 0 && last.raw != "" && !isDigit(last.raw[0]) && last.raw != "hundred" && last.raw != "dozen":
			last.text, last.raw = decimal(before+n), w
			return
		}
	}
	r.add(atom{class: number, text: decimal(n), raw: w})
}
