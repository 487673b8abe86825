package conflict

import (
	"slices"
	"strings"

	"leanctx/internal/language"
)

// opposites are pairs of verbs and other words of which a sentence about one thing has one or the other.
var opposites = func() map[string][]string {
	out := map[string][]string{}
	for pair := range strings.FieldsSeq(`keep/drop keep/remove keep/delete keeps/drops allow/forbid allowed/forbidden enable/disable enabled/disabled use/avoid add/remove always/never start/stop
		before/after with/without required/optional include/exclude included/excluded accept/reject accepted/rejected open/closed public/private on/off must/may merge/rebase commit/ignore committed/ignored support/drop supports/drops
		internal/external manual/automatic manually/automatically sync/async first/last minimum/maximum`) {
		a, b, _ := strings.Cut(pair, "/")
		out[a], out[b] = append(out[a], b), append(out[b], a)
	}
	return out
}()

var denials = []string{"no", "not", "never", "don't", "doesn't", "cannot", "nobody", "nothing"}

// The most words in which two values differ that are nearly the same, and the fewest that both have.
const (
	maxDiffering = 3
	minCommon    = 3
)

// Turns reports whether a value has a word that another value about the same thing may have in another way: a day, a verb with
// an opposite, a denial. Only such a value may be [Nearly] another.
func Turns(value string) bool {
	sentence := clauseOf(value)
	return language.Dated(value) || slices.ContainsFunc(sentence, func(w string) bool { return slices.Contains(denials, w) || len(opposites[w]) > 0 })
}

// Nearly reports whether two values are one sentence but for a day, a verb and its opposite, or a denial: they are about the
// same thing and say otherwise. Other words tell two things of one kind apart: "Marta looks after the heron service".
func Nearly(a, b string) bool {
	x, y := clauseOf(a), clauseOf(b)
	head := 0
	for head < min(len(x), len(y)) && x[head] == y[head] {
		head++
	}
	tail := 0
	for tail < min(len(x), len(y))-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	if head+tail < minCommon {
		return false
	}
	dx, dy := x[head:len(x)-tail], y[head:len(y)-tail]
	if len(dx) > maxDiffering || len(dy) > maxDiffering || len(dx)+len(dy) == 0 {
		return false
	}
	s, t := strings.Join(dx, " "), strings.Join(dy, " ")
	switch {
	case language.Dated(s) && language.Dated(t):
		return true
	case slices.Contains(opposites[s], t):
		return true
	}
	return len(dx) == 0 && denies(dy) || len(dy) == 0 && denies(dx)
}

// denies reports whether some words are a denial and nothing else.
func denies(list []string) bool {
	denial := false
	for _, w := range list {
		if slices.Contains(denials, w) {
			denial = true
		} else if w != "do" && w != "does" && w != "must" {
			return false
		}
	}
	return denial
}

// clauseOf are the words of the first clause of a value, up to a semicolon or the end of its first sentence.
func clauseOf(value string) []string {
	value = strings.TrimSpace(value)
	if i := strings.IndexByte(value, ';'); i > 0 {
		value = value[:i]
	}
	value = value[:language.SentenceEnd(value, "")]
	list := strings.Fields(strings.ToLower(strings.ReplaceAll(value, "’", "'")))
	for i, w := range list {
		list[i] = strings.Trim(w, `.,:!?"()`+"`")
	}
	return slices.DeleteFunc(list, func(w string) bool { return w == "" })
}
