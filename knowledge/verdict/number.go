package verdict

import (
	"math/bits"
	"strconv"
	"strings"
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
	dimension, factor, power, ok := unit(of, attached)
	if !ok {
		return atom{}, false
	}
	sign, whole, exp, ok := scale(text, factor, power)
	if !ok { // not exact: equal only as written
		return atom{class: quantity, text: dimension + "*" + strconv.FormatUint(factor, 10) + "e" + decimal(power) + " " + text}, true
	}
	a := atom{class: quantity, text: dimension + " " + sign + strconv.FormatUint(whole, 10) + "e" + decimal(exp)}
	if dimension == "time" && sign == "" && exp >= 0 && exp < 18 {
		if nanos, ok := pow10(whole, exp); ok {
			a.nanos = nanos
			a.step, _ = pow10(factor, power)
		}
	}
	return a, true
}

// timeOf is a time of so many nanoseconds, whose least unit is step.
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

// unit finds a unit: its dimension, and what one of it is in the base unit, as
// factor times a power of ten.
func unit(u string, attached bool) (dimension string, factor uint64, power int, ok bool) {
	if left, right, found := strings.Cut(u, "/"); found {
		per := ""
		switch right {
		case "s", "sec", "second":
			per = "/s"
		case "min", "minute":
			per = "/min"
		case "h", "hr", "hour":
			per = "/h"
		case "d", "day":
			per = "/d"
		default:
			return "", 0, 0, false
		}
		dimension, factor, power, ok = unit(left, attached)
		return dimension + per, factor, power, ok
	}
	switch u { // where the case of a letter tells
	case "Kb":
		return "bits", 1, 3, true
	case "Mb":
		return "bits", 1, 6, true
	case "Gb":
		return "bits", 1, 9, true
	case "Tb":
		return "bits", 1, 12, true
	case "B":
		return "bytes", 1, 0, true
	case "m": // after a space it may be a metre
		return "time", 60, 9, attached
	case "w":
		return "time", 604800, 9, attached
	}
	if len(u) > 12 {
		return "", 0, 0, false
	}
	switch strings.ToLower(u) {
	case "ns", "nanosecond", "nanoseconds":
		return "time", 1, 0, true
	case "us", "microsecond", "microseconds":
		return "time", 1, 3, true
	case "ms", "msec", "msecs", "millisecond", "milliseconds":
		return "time", 1, 6, true
	case "s", "sec", "secs", "second", "seconds":
		return "time", 1, 9, true
	case "min", "mins", "minute", "minutes":
		return "time", 60, 9, true
	case "h", "hr", "hrs", "hour", "hours":
		return "time", 3600, 9, true
	case "d", "day", "days":
		return "time", 86400, 9, true
	case "wk", "week", "weeks":
		return "time", 604800, 9, true
	case "month", "months":
		return "months", 1, 0, true
	case "yr", "yrs", "year", "years":
		return "months", 12, 0, true
	case "byte", "bytes":
		return "bytes", 1, 0, true
	case "kb", "kilobyte", "kilobytes":
		return "bytes", 1, 3, true
	case "mb", "megabyte", "megabytes":
		return "bytes", 1, 6, true
	case "gb", "gigabyte", "gigabytes":
		return "bytes", 1, 9, true
	case "tb", "terabyte", "terabytes":
		return "bytes", 1, 12, true
	case "pb", "petabyte", "petabytes":
		return "bytes", 1, 15, true
	case "kib", "kibibyte", "kibibytes":
		return "bytes", 1 << 10, 0, true
	case "mib", "mebibyte", "mebibytes":
		return "bytes", 1 << 20, 0, true
	case "gib", "gibibyte", "gibibytes":
		return "bytes", 1 << 30, 0, true
	case "tib", "tebibyte", "tebibytes":
		return "bytes", 1 << 40, 0, true
	case "bit", "bits":
		return "bits", 1, 0, true
	case "kbit", "kbits", "kilobits":
		return "bits", 1, 3, true
	case "mbit", "mbits", "megabits":
		return "bits", 1, 6, true
	case "gbit", "gbits", "gigabits":
		return "bits", 1, 9, true
	case "kbps":
		return "bits/s", 1, 3, true
	case "mbps":
		return "bits/s", 1, 6, true
	case "gbps":
		return "bits/s", 1, 9, true
	case "%", "percent", "pct":
		return "percent", 1, 0, true
	case "$", "usd", "dollar", "dollars":
		return "USD", 1, 0, true
	case "€", "eur", "euro", "euros":
		return "EUR", 1, 0, true
	case "£", "gbp":
		return "GBP", 1, 0, true
	case "hz":
		return "Hz", 1, 0, true
	case "khz":
		return "Hz", 1, 3, true
	case "mhz":
		return "Hz", 1, 6, true
	case "ghz":
		return "Hz", 1, 9, true
	case "px", "pixel", "pixels":
		return "px", 1, 0, true
	}
	return "", 0, 0, false
}

// numberWord is the number that an English word names.
func numberWord(w string) (int, bool) {
	if len(w) < 3 || len(w) > 9 {
		return 0, false
	}
	switch w {
	case "zero":
		return 0, true
	case "one":
		return 1, true
	case "two":
		return 2, true
	case "three":
		return 3, true
	case "four":
		return 4, true
	case "five":
		return 5, true
	case "six":
		return 6, true
	case "seven":
		return 7, true
	case "eight":
		return 8, true
	case "nine":
		return 9, true
	case "ten":
		return 10, true
	case "eleven":
		return 11, true
	case "twelve", "dozen":
		return 12, true
	case "thirteen":
		return 13, true
	case "fourteen":
		return 14, true
	case "fifteen":
		return 15, true
	case "sixteen":
		return 16, true
	case "seventeen":
		return 17, true
	case "eighteen":
		return 18, true
	case "nineteen":
		return 19, true
	case "twenty":
		return 20, true
	case "thirty":
		return 30, true
	case "forty":
		return 40, true
	case "fifty":
		return 50, true
	case "sixty":
		return 60, true
	case "seventy":
		return 70, true
	case "eighty":
		return 80, true
	case "ninety":
		return 90, true
	case "hundred":
		return 100, true
	}
	return 0, false
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
