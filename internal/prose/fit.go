package prose

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxAnswer is the most bytes of an answer to a model. What can be had only once (messages,
// shares) is given by at most [MaxGiven] at a time, and the rest waits.
const (
	MaxAnswer = 60_000
	MaxGiven  = 48_000
)

// Cut is what [Fit] and [FitJSON] took away.
type Cut struct {
	Clipped int // lines or texts that were shortened
	Missing int // lines or elements that were left out
}

// shortest is the length in bytes below which no line is clipped: lines are left out then.
const shortest = 400

// Fit shortens an answer to a number of bytes. It clips the longest lines first, and then leaves out
// the last ones.
func Fit(text string, most int) (string, Cut) {
	var cut Cut
	if len(text) <= most {
		return text, cut
	}
	lines := strings.Split(text, "\n")
	longest := longestThatFits(most, func(longest int) int {
		size := 0
		for _, l := range lines {
			size += min(len(l), longest+clipMark) + 1
		}
		return size
	})
	size := 0
	for i, l := range lines {
		if short := clipped(l, longest); short != l {
			lines[i] = short
			cut.Clipped++
		}
		if size += len(lines[i]) + 1; size > most {
			cut.Missing = len(lines) - i
			lines = lines[:i]
			break
		}
	}
	return strings.Join(lines, "\n"), cut
}

// longestThatFits is the greatest length, at least shortest, for which a size is not above most.
func longestThatFits(most int, size func(longest int) int) int {
	low, high := shortest, most
	for low < high {
		if middle := (low + high + 1) / 2; size(middle) <= most {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// clipMark is the most bytes of what clipped adds.
const clipMark = 32

// clipped is a text cut to a number of bytes, and how many follow.
func clipped(s string, most int) string {
	if len(s) <= most+clipMark {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return fmt.Sprintf("%s… (+%s bytes)", s[:most], Number(len(s)-most))
}

// FitJSON is [Fit] for an object of JSON, which stays one. It clips the longest texts first, and then
// leaves out the last elements of the longest lists. The object gets a member "cut", with a hint.
func FitJSON(text string, most int, hint string) string {
	if len(text) <= most {
		return text
	}
	const room = 200
	fit := func(longest, elements int) (string, Cut) {
		var cut Cut
		out := shortenJSON([]byte(text), longest, elements, &cut)
		return string(out), cut
	}
	longest := longestThatFits(most, func(longest int) int {
		short, _ := fit(longest, len(text))
		return len(short) + len(hint) + room
	})
	short, cut := fit(longest, len(text))
	for elements := 1 << 12; len(short)+len(hint)+room > most && elements > 0; elements = elements * 3 / 4 {
		short, cut = fit(longest, elements)
	}
	object, ok := strings.CutSuffix(short, "}")
	if !ok {
		return short
	}
	note, _ := JSON(map[string]any{"clipped": cut.Clipped, "left_out": cut.Missing, "hint": hint}) // texts and numbers can be encoded
	if object != "{" {
		object += ","
	}
	return object + `"cut":` + note + "}"
}

// shortenJSON clips the texts of a JSON value and leaves out elements of its lists. What is no JSON
// stays as it is.
func shortenJSON(text []byte, longest, elements int, cut *Cut) []byte {
	var b bytes.Buffer
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	enc := jsontext.NewEncoder(&b, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		kind, n := dec.StackIndex(dec.StackDepth())
		if next := dec.PeekKind(); kind == '[' && n >= int64(elements) && next != ']' {
			if dec.SkipValue() != nil {
				return text
			}
			cut.Missing++
			continue
		}
		t, err := dec.ReadToken()
		if err != nil {
			return []byte(escapedJSON(strings.TrimSpace(b.String())))
		}
		if t.Kind() == '"' && !(kind == '{' && n%2 == 0) {
			if s := t.String(); len(s) > longest+clipMark {
				t = jsontext.String(clipped(s, longest))
				cut.Clipped++
			}
		}
		if enc.WriteToken(t) != nil {
			return text
		}
	}
}
