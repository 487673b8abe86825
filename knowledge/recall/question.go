package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"leanctx/internal/language"
	"leanctx/knowledge/words"
)

// Options say how dates in a question are read.
type Options struct {
	Now    time.Time // what "last week" is counted from
	Newest time.Time // when the newest fact began: what a month without a year is counted back from. Zero: Now
	// NoDates treats dates in the question as words: the caller gave an as-of time, or the text is a prompt.
	NoDates bool
}

// Question is a question taken apart.
type Question struct {
	Date  *language.Date // the past day that it asks about, nil if none
	Past  bool           // it asks for what was ("originally", "used to"): the older of two facts comes first
	Long  bool           // it is a task rather than a question
	Texts []string       // what to encode for comparing by meaning: the question, or the sentences of a long one

	text  string // without its time, if it may be a name
	terms []term
	mass  float64 // the sum of the terms' weights
	size  Size
}

// term is a word of a question.
type term struct {
	text, written string
	whole         string // the compound that it is a part of, as one word
	weight        float64
	substitutes   []substitute // what counts for it, itself first
}

// substitute is a word of the store that counts for one of the question.
type substitute struct {
	text  string
	share float64 // how much it counts
}

// maxDatedWords is the length of a question, in words, up to which its dates set the as-of time. A longer text is a task,
// and its dates are deadlines and examples.
const maxDatedWords = 30

// Parse takes a question apart. Any text will do.
func Parse(text string, o *Options) *Question {
	if o == nil {
		o = &Options{}
	}
	text = strings.ToValidUTF8(text[:min(len(text), maxQuestionBytes)], " ")
	q := &Question{}
	words := language.Words(text[:min(len(text), 4<<10)])
	q.Long = len(words) > maxDatedWords
	if !q.Long {
		text = q.time(text, words, o)
	}
	q.Texts = []string{cut(text, maxEncoded)}
	if q.Long {
		q.Texts = sentences(text)
	}
	if len(text) < maxName {
		q.text = text
	}
	q.scan(text)
	return q
}

// time takes the dates and the words of time out of a question.
func (q *Question) time(text string, words []language.Word, o *Options) string {
	newest := cmp.Or(o.Newest, o.Now)
	var spans [][2]int
	if !o.NoDates && !newest.IsZero() {
		if date, at, ok := language.FindDate(words, cmp.Or(o.Now, newest), newest); ok {
			q.Date, spans = date, at
			var names []string
			for _, s := range at {
				names = append(names, text[s[0]:s[1]])
			}
			q.Date.Text = strings.Join(names, ", ")
		}
	}
	for i := 0; i < len(words); i++ {
		if n, past := timeWords(words, i); n > 0 {
			q.Past = q.Past || past
			spans = append(spans, [2]int{words[i].Start, words[i+n-1].End})
			i += n - 1
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	if rest := without(text, spans); strings.ContainsFunc(rest, letterOrDigit) {
		return rest
	}
	q.Date, q.Past = nil, false // a question of nothing but a date looks for the date
	return text
}

func letterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// timeWords counts the words at i that say when, and tells whether they ask for what was.
func timeWords(w []language.Word, i int) (n int, past bool) {
	at := func(j int) string {
		if j < 0 || j >= len(w) {
			return ""
		}
		return w[j].Text
	}
	switch at(i) {
	case "now", "currently", "nowadays", "today":
		return 1, false
	case "these":
		if at(i+1) == "days" {
			return 2, false
		}
	case "at":
		if at(i+1) == "the" && at(i+2) == "moment" {
			return 3, false
		}
		if at(i+1) == "present" {
			return 2, false
		}
	case "originally", "previously", "formerly":
		return 1, true
	case "back":
		if at(i+1) == "then" {
			return 2, true
		}
	case "before":
		return boolInt(i == len(w)-1), true
	case "use", "used":
		// "what did we use to run", "we used to run", but not "is used to run".
		switch at(i - 1) {
		case "we", "you", "they", "i", "it", "there":
			if at(i+1) == "to" && (at(i) == "used" || at(i-2) == "did") {
				return 2, true
			}
		}
	}
	return 0, false
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// scan collects the words of the question, each once. Stop words are left out where there is any other.
func (q *Question) scan(text string) {
	seen := map[string]int{}
	var stops []term
	var order []int // of each token the term it is, -1 for none
	words.Scan(text, func(t words.Token) {
		switch t.Kind {
		case words.Tail:
			order = append(order, -1)
			return
		case words.Whole:
			for _, i := range order[max(0, len(order)-t.Span):] {
				if i >= 0 && q.terms[i].whole == "" {
					q.terms[i].whole = t.Term
				}
			}
			order = append(order, -1)
			return
		case words.Stop:
			order = append(order, -1)
			if len(stops) < maxTerms && !slices.ContainsFunc(stops, func(s term) bool { return s.text == t.Term }) {
				stops = append(stops, term{text: t.Term, written: t.Written})
			}
			return
		}
		i, ok := seen[t.Term]
		if !ok && len(q.terms) < maxLookedUp {
			i, ok = len(q.terms), true
			seen[t.Term] = i
			q.terms = append(q.terms, term{text: t.Term, written: t.Written})
		}
		if !ok {
			i = -1
		}
		order = append(order, i)
	})
	if len(q.terms) == 0 {
		q.terms = stops
	}
}

// sentences are those of a long text that say something, the longest first, and only a number of the first ones.
func sentences(text string) []string {
	var out []string
	for len(text) > 0 && len(out) < maxSentences {
		n := language.SentenceEnd(text, ";:")
		if s := strings.TrimSpace(text[:n]); strings.Count(s, " ") >= 2 {
			out = append(out, cut(s, maxEncoded))
		}
		text = text[n:]
	}
	if len(out) == 0 {
		out = append(out, "")
	}
	return out
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// Corpus is what the store knows of words. A word is a term of package words.
type Corpus interface {
	// Size says how much the store holds.
	Size() Size
	// Frequencies counts for each word the facts that hold it in the field where most do.
	Frequencies(words []string) ([]int, error)
	// Words gives the words of the store that begin with prefix, each with its frequency.
	Words(prefix string) (map[string]int, error)
}

// Size is how many facts a store holds, and how many words a field of them has on average, stop words left out.
type Size struct {
	Facts                           int
	Key, Questions, Value, Category float64
}

// Resolve looks the words of the question up in the store. It comes before [Question.Words] and [Question.Rank].
func (q *Question) Resolve(c Corpus) error {
	q.size = c.Size()
	var ask []string
	for i := range q.terms {
		t := &q.terms[i]
		t.substitutes = nil
		ask = append(ask, t.text)
		if t.whole != "" {
			ask = append(ask, t.whole)
		}
		words.Shortened(t.text, t.written, func(w string) { ask = append(ask, w) })
		if clipped(t.text) {
			for w := shorter(t.text); letters(w) >= minClip; w = shorter(w) {
				ask = append(ask, w)
			}
		}
	}
	counts, err := c.Frequencies(ask)
	if err != nil {
		return err
	}
	df := make(map[string]int, len(ask))
	for i, w := range ask {
		df[w] = counts[i]
	}
	for i := range q.terms {
		t := &q.terms[i]
		t.weight = q.rarity(df[t.text])
		if err := t.resolve(c, df); err != nil {
			return err
		}
	}
	if len(q.terms) > maxTerms {
		// A word that nothing stands for finds nothing. It stays only where there is room, so that it counts as not covered.
		slices.SortStableFunc(q.terms, func(a, b term) int {
			if (len(a.substitutes) == 0) != (len(b.substitutes) == 0) {
				return cmp.Compare(boolInt(len(a.substitutes) == 0), boolInt(len(b.substitutes) == 0))
			}
			return cmp.Compare(b.weight, a.weight)
		})
		q.terms = q.terms[:maxTerms]
	}
	q.mass = 0
	for _, t := range q.terms {
		q.mass += t.weight
	}
	return nil
}

// resolve finds what counts for a term.
func (t *term) resolve(c Corpus, df map[string]int) error {
	add := func(w string, share float64) {
		if df[w] > 0 {
			t.substitutes = append(t.substitutes, substitute{w, share})
		}
	}
	add(t.text, 1)
	words.Shortened(t.text, t.written, func(w string) { add(w, shareAbbreviation) })
	if len(t.substitutes) == 0 && t.whole != "" {
		add(t.whole, 1)
	}
	if len(t.substitutes) > 0 {
		return nil
	}
	first, size := utf8.DecodeRuneInString(t.text)
	if letters(t.text) < minAlike && !words.Unspaced(first) {
		return nil
	}
	// What begins with the word, else what is one edit away, else the longest word that it begins with.
	if err := t.alike(c, t.text, words.Prefixed, sharePrefix); err != nil || len(t.substitutes) > 0 || !clipped(t.text) {
		return err
	}
	if err := t.alike(c, t.text[:size], words.OneEdit, shareOneEdit); err != nil {
		return err
	}
	for w := shorter(t.text); letters(w) >= minClip && len(t.substitutes) == 0; w = shorter(w) {
		add(w, shareClipped)
	}
	return nil
}

// alike adds the words of the store that are like the term; of many the shortest.
func (t *term) alike(c Corpus, prefix string, how words.Likeness, share float64) error {
	found, err := c.Words(prefix)
	for w := range found {
		if how.Holds(t.text, w) {
			t.substitutes = append(t.substitutes, substitute{w, share})
		}
	}
	slices.SortFunc(t.substitutes, func(a, b substitute) int {
		return cmp.Or(cmp.Compare(len(a.text), len(b.text)), cmp.Compare(a.text, b.text))
	})
	t.substitutes = t.substitutes[:min(len(t.substitutes), maxAlike)]
	return err
}

// clipped reports whether a word may be taken for a misspelled or a longer one: a number one digit off is another number.
func clipped(w string) bool {
	first, _ := utf8.DecodeRuneInString(w)
	return len(w) <= maxClipped && !words.Unspaced(first) && !strings.ContainsFunc(w, unicode.IsDigit)
}

// shorter is a word without its last letter.
func shorter(w string) string {
	_, n := utf8.DecodeLastRuneInString(w)
	return w[:len(w)-n]
}

// rarity is what a word weighs that df facts hold.
func (q *Question) rarity(df int) float64 {
	return math.Log(float64(q.size.Facts+priorFacts+1) / float64(df+1))
}

// Word is a word to look for in the index.
type Word struct {
	Text   string
	Weight float64 // 1, less for what only stands for a word of the question; rarity is for the index to weigh
}

// Words are what to look for in the index. They are known after [Question.Resolve].
func (q *Question) Words() []Word {
	var out []Word
	for _, t := range q.terms {
		for _, s := range t.substitutes {
			out = append(out, Word{s.text, s.share})
		}
	}
	return out
}

// without is a text less some spans of it.
func without(text string, spans [][2]int) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s[0] < at {
			continue
		}
		b.WriteString(text[at:s[0]])
		b.WriteByte(' ')
		at = s[1]
	}
	b.WriteString(text[at:])
	return b.String()
}

// letters counts the characters of a word.
func letters(s string) int { return utf8.RuneCountInString(s) }
