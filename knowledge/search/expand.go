package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"leanctx/knowledge/search/index"
	"leanctx/knowledge/words"
)

const (
	minPrefix     = 4  // letters a word needs before it stands for all that begin with it
	minPrefixWide = 3  // and where nothing else was found
	minFuzzy      = 4  // letters a word needs before a slip of the pen is assumed
	maxClipped    = 24 // and the most it may have
	maxExpansions = 32 // words that one may stand for; the nearest in length are kept
	likeLetters   = 5  // letters that agree where a word alike adds tuning.like
)

// possible reports whether term may be expanded this way at all.
func possible(how words.Likeness, term string, wide bool) bool {
	n := utf8.RuneCountInString(term)
	if how == words.Prefixed {
		r, _ := utf8.DecodeRuneInString(term)
		return n >= minPrefix || wide && n >= minPrefixWide || words.Unspaced(r)
	}
	if n < minFuzzy {
		return false
	}
	// A number or an identifier one digit off is another one, not a slip.
	return !strings.ContainsAny(term, "0123456789.")
}

// expanded is the words that stand for another.
type expanded struct {
	words    []string
	discount float64 // how much less one counts for a score than the word itself
	likeness strength
	fields   index.Field // those before it are where they do
	guess    bool        // not to outdo a word that is there
}

// expansions finds the words of the index that stand for one of the query: what is short for it or what it is
// short for, else those that begin with it, else those one edit away, else the longest word of a name that it
// begins with.
func (r *search) expansions(t asked) (expanded, error) {
	if r.query.exact {
		return expanded{}, nil
	}
	if found, err := r.shortened(t); err != nil || len(found.words) > 0 {
		return found, err
	}
	letters := utf8.RuneCountInString(t.term)
	if first, _ := utf8.DecodeRuneInString(t.term); words.Unspaced(first) {
		letters = r.tune.ideograph
	}
	for _, way := range []struct {
		how      words.Likeness
		discount float64
		letters  int
	}{{words.Prefixed, r.tune.prefix, letters}, {words.OneEdit, r.tune.fuzzy, letters - r.tune.slip}} {
		if !possible(way.how, t.term, r.wide) {
			continue
		}
		found := map[string]bool{}
		for _, s := range r.found {
			if err := s.source.Similar(t.term, way.how, func(w string) { found[w] = true }); err != nil {
				return expanded{}, err
			}
		}
		living, err := r.living(found)
		if err != nil {
			return expanded{}, err
		}
		if len(living) > 0 {
			if way.how == words.Prefixed {
				for _, w := range living {
					way.letters = max(way.letters, agreeing(t.said, w))
				}
			}
			return expanded{living, way.discount, r.tune.strength(way.letters), index.FieldCount, false}, nil
		}
	}
	return r.clipped(t.term)
}

// strength is what a word alike adds to relevance in a value and in a name, where the word itself adds 1.
type strength struct{ value, name float64 }

// strength tells it by how many letters agree: the more, the less it is by chance. One letter makes up for a
// dictionary some ten times as large, as a store has that is forty times as large.
func (t *tuning) strength(letters int) strength {
	s := t.like + t.letter*float64(letters-likeLetters)
	within := func(s float64) float64 { return min(max(s, t.leastLike), t.mostLike) }
	return strength{within(s), within(s + t.named)}
}

// shortened finds the words of the index that a word is short for, or that are short for it.
func (r *search) shortened(t asked) (expanded, error) {
	found, err := map[string]bool{}, error(nil)
	words.Shortened(t.term, t.said, func(w string) {
		df, e := r.count(w, index.FieldCount)
		if found[w] = df > 0; df == 0 {
			delete(found, w)
		}
		err = cmp.Or(err, e)
	})
	return expanded{nearest(found), r.tune.short, strength{r.tune.mostLike, r.tune.mostLike}, index.FieldCount, true}, err
}

// clipped finds the longest word of a name that term begins with: a name may be the beginning of a word, and who
// asks writes the word out. Of values that is not so.
func (r *search) clipped(term string) (expanded, error) {
	first, _ := utf8.DecodeRuneInString(term)
	if words.Unspaced(first) || strings.ContainsAny(term, "0123456789.") {
		return expanded{}, nil
	}
	n := utf8.RuneCountInString(term)
	for w := term; n > r.tune.minClipped; {
		_, last := utf8.DecodeLastRuneInString(w)
		w, n = w[:len(w)-last], n-1
		if n > maxClipped || words.IsStop(w) {
			continue
		}
		df, err := r.count(w, index.NameFields)
		if err != nil {
			return expanded{}, err
		}
		if df > 0 {
			return expanded{[]string{w}, r.tune.clipped, r.tune.strength(n - r.tune.slip), index.NameFields, true}, nil
		}
	}
	return expanded{}, nil
}

// living keeps the nearest of the words found that any fact still holds. The others are gone when the index is
// next written, and must not show in an answer before.
func (r *search) living(found map[string]bool) ([]string, error) {
	list := inLength(found)
	n := 0
	for _, w := range list {
		df, err := r.count(w, index.FieldCount)
		if err != nil {
			return nil, err
		}
		if df > 0 {
			list[n] = w
			if n++; n == maxExpansions {
				break
			}
		}
	}
	return list[:n], nil
}

// nearest keeps the shortest of the words found.
func nearest(found map[string]bool) []string {
	out := inLength(found)
	return out[:min(len(out), maxExpansions)]
}

// inLength puts words in a fixed order, the shortest first.
func inLength(found map[string]bool) []string {
	out := make([]string, 0, len(found))
	for w := range found {
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return out
}

// agreeing is how many letters two words begin with in common.
func agreeing(a, b string) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		x, i := utf8.DecodeRuneInString(a)
		y, j := utf8.DecodeRuneInString(b)
		if x != y {
			break
		}
		a, b, n = a[i:], b[j:], n+1
	}
	return n
}
