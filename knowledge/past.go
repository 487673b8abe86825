package knowledge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"leanctx/embed/vectors"
	"leanctx/formats"
	"leanctx/internal/language"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
	"leanctx/knowledge/meaning"
	"leanctx/knowledge/recall"
	"leanctx/knowledge/state"
)

// # Questions about the past
//
// Package language reads what a question asks of another time than now. Such a question is answered from all versions of the
// facts that its words and its meaning find, those that are over included. The present is asked first, as for any other
// question: where that answers better, it stays the answer. So a question about the present that holds "before" or "still"
// is answered as if nothing had been read, and so is one about a past of which nothing is known.

// Bounds of what a question about the past looks at.
const (
	maxPastFacts    = 60
	maxPastOver     = 500 // facts that have no value any more, where neither words nor what is true now lead to an answer
	maxPastVersions = 40  // of a fact, those with words of the question first
)

// pastFact is a fact that a question about the past may mean, with all that it ever was.
type pastFact struct {
	versions []*fact.Version
	held     []fact.Held // what is believed, oldest first
	looked   []*pastVersion

	meant   float64 // how likely the question means this fact
	subject float64 // how likely its words of what it asks about do, the values of others left out
	about   float64 // the share of those words that it covers
	named   float64 // the share of the question that its name covers

	formerName bool // the question names it as it was called once
}

// pastVersion is a version of a fact that a question about the past may mean.
type pastVersion struct {
	*fact.Version
	of *pastFact
	at int // in held, -1: it was corrected

	recall.Answer         // for the whole question
	adds          float64 // the share of the question that the value covers beyond the fact's name
	old, new      float64 // the share of the values that the question names
}

// likely puts the versions of an answer in order: what the question says of a value counts.
func (v *pastVersion) likely() float64 { return v.Score + .3*v.adds }

func (v *pastVersion) period() fact.Period {
	if v.at < 0 {
		return fact.PeriodOf(v.Version)
	}
	return v.of.held[v.at].Period
}

// holds reports whether a version is true at an instant.
func (v *pastVersion) holds(now time.Time) bool { return v.at >= 0 && v.period().Contains(now) }

// over reports whether a version was true, and no longer is.
func (v *pastVersion) over(now time.Time) bool {
	return v.at >= 0 && !fact.Before(now, v.period().Until)
}

// pastReader finds what a question about the past means.
type pastReader struct {
	*lookup
	asks    *language.Past
	present Recalled // what the question finds when it is read as any other
	over    bool     // the facts without a value now are looked at, and no others
	encoder string   // that the question was compared by, "" for by words alone

	query  query
	facts  []*pastFact // the likeliest first
	looked []*pastVersion
}

// past answers a question about another time than now. each are its questions, if it is more than one; then it may be none by
// itself.
func (l *lookup) past(ctx context.Context, asks *language.Past, each []language.Past) (Recalled, error) {
	present, err := l.ordinary(ctx)
	if err != nil || each == nil && present.holdsCue(asks) {
		return present, err
	}
	if each == nil && !present.holdsTogether(asks.Several) {
		for _, subject := range asks.Several {
			one := *asks
			one.Subject, one.Several = subject, nil
			each = append(each, one)
		}
	}
	if each != nil {
		if found, ok, err := l.several(ctx, each); ok || err != nil || asks.Kind == "" {
			if err == nil && !ok {
				found = present
			}
			return found, err
		}
	}
	if asks.Kind == language.AsksChanges {
		return l.changes(ctx, asks, present)
	}
	r := pastReader{lookup: l, asks: asks, present: present}
	if found, ok, err := r.read(ctx); ok || err != nil {
		return found, err
	}
	return present, nil
}

// read answers the question from the facts that it means by their words, or by what they say now. Where that is nothing, those
// that say nothing now are compared by meaning: they have no vectors, so those are made.
func (r *pastReader) read(ctx context.Context) (found Recalled, ok bool, err error) {
	if err = r.find(ctx); err != nil {
		return found, false, err
	}
	if found, ok = r.answer(ctx); !ok && r.asks.Verb != "" && r.asks.Verb != r.asks.Subject {
		asks := *r.asks
		asks.Subject, asks.Verb = strings.Join(slices.DeleteFunc(strings.Fields(asks.Subject), func(w string) bool { return w == asks.Verb }), " "), ""
		r.asks = &asks
		return r.read(ctx)
	}
	if ok || r.encoder == "" || r.asks.Old+r.asks.New != "" || r.present.firm()+len(r.present.Missing) > 0 {
		return found, ok, nil
	}
	r.over = true
	if err = r.find(ctx); err != nil {
		return found, false, err
	}
	found, ok = r.byMeaning()
	return found, ok, nil
}

// several answers several questions: each by itself, under one first line. ok is false where not each of them has an answer of
// its own, which is when they are rather one.
func (l *lookup) several(ctx context.Context, each []language.Past) (out Recalled, ok bool, err error) {
	var headers []string
	told := map[string]bool{} // the first answers
	for _, asks := range each {
		if asks.Kind == language.AsksChanges {
			return out, false, nil
		}
		r := pastReader{lookup: l, asks: &asks}
		found, ok, err := r.read(ctx)
		if err != nil || !ok || found.firm() == 0 {
			return out, false, err
		}
		first := found.Facts[0].ID
		if told[first] {
			return out, false, nil
		}
		told[first] = true
		if !slices.Contains(headers, found.Read.Header) {
			headers = append(headers, found.Read.Header)
		}
		if out.Read == nil {
			out = found
			continue
		}
		out.Facts, out.Total = append(out.Facts, found.Facts...), out.Total+found.Total
	}
	out.Read.Header = strings.Join(headers, "; ")
	for i := 1; i < len(out.Facts); i++ { // they stand in the order in which they were asked for
		out.Facts[i].Score = min(out.Facts[i].Score, out.Facts[i-1].Score)
	}
	out.cut()
	return out, true, nil
}

// holdsCue reports whether the first answer of the present holds the words by which the question seems to ask about another
// time: then they are what is looked for ("before a deploy", a film of that name).
func (r *Recalled) holdsCue(asks *language.Past) bool {
	if r.firm() == 0 || r.Facts[0].coverage < leastCueCoverage {
		return false
	}
	f, some := &r.Facts[0], false
	text := f.Key + " " + f.Category + " " + f.Value
	for w := range strings.FieldsSeq(asks.Cue) {
		if !cueWords[w] {
			continue
		}
		if some = true; !fact.HoldsTerms(text, w) {
			return false
		}
	}
	return some
}

// holdsTogether reports whether the first answer of the present holds half the words of each of some things: then they are asked
// for together ("how long did the client and its parser share a format"), and none of them is a question of its own.
func (r *Recalled) holdsTogether(things []string) bool {
	if r.firm() == 0 || len(things) == 0 {
		return false
	}
	f := &r.Facts[0]
	held := content(f.Category + " " + f.Key + " " + f.Value)
	return !slices.ContainsFunc(things, func(thing string) bool {
		of := content(thing)
		return len(of) == 0 || 2*common(of, held) < len(of)
	})
}

// leastCueCoverage is the share of a question that a present fact covers whose words of time are taken for words.
const leastCueCoverage = .6

// cueWords are the words of time that a fact may be about.
var cueWords = func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`before after prior until till since previous previously former formerly earlier old first original originally once ever history timeline replaced followed succeeded changed changes decisions end ended still next planned upcoming future`) {
		out[w] = true
	}
	return out
}()

// words are the words of the question that say something of facts.
func (r *pastReader) words() string {
	return strings.TrimSpace(r.asks.Subject + " " + r.asks.Old + " " + r.asks.New)
}

// find finds the facts that the question may mean, and weighs their versions. If the kept vectors prove to be damaged it begins
// again without them.
func (r *pastReader) find(ctx context.Context) error {
	for {
		if err := r.findOnce(ctx); !errors.Is(err, vectors.ErrDamaged) {
			return err
		}
	}
}

func (r *pastReader) findOnce(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	one := *r.lookup
	one.instant, one.pieces = true, nil
	one.parsed = recall.Parse(r.words(), &recall.Options{NoDates: true})
	texts := []string{r.asks.Subject, r.asks.Old, r.asks.New}
	one.parsed.Texts = append(one.parsed.Texts[:1:1], texts[0])
	m, err := one.encode(ctx)
	if err != nil {
		return err
	}
	if m != nil && m.nearest != nil {
		defer func() { cancel(); _, _ = m.nearest() }()
	}
	if r.encoder = ""; m != nil && m.each[0] != nil {
		r.encoder = m.encoder.Name
	}
	return r.store.log.Search(ctx, func(k state.Reader, x *state.Index) error {
		if r.query, err = r.lookup.query(r.store.at(k.At)); err != nil {
			return err
		}
		r.facts, r.looked = nil, nil
		if r.over {
			if err := one.parsed.Resolve(corpus{ctx, x}); err != nil {
				return err
			}
			for _, n := range k.Over(r.query.now, maxPastOver) {
				if vs := k.Versions(n); r.permits(vs) {
					r.facts = append(r.facts, r.factOf(vs, one.parsed))
				}
			}
			return r.weigh(ctx, x, one.parsed, m)
		}
		if err := r.gather(ctx, k, x, one.parsed, m); err != nil {
			return err
		}
		return r.weigh(ctx, x, one.parsed, m)
	})
}

// gather collects the facts: those with words of the question in any of their values, those that went by a name in it, and
// those whose present value is near by meaning.
func (r *pastReader) gather(ctx context.Context, k state.Reader, x *state.Index, parsed *recall.Question, m *questionMeaning) error {
	if err := parsed.Resolve(corpus{ctx, x}); err != nil {
		return err
	}
	seen := map[fact.ID]bool{}
	add := func(vs []*fact.Version) {
		if len(vs) == 0 || len(r.facts) == maxPastFacts {
			return
		}
		if n := fact.IDOf(vs[0].Category, vs[0].Key); !seen[n] && r.permits(vs) {
			seen[n] = true
			r.facts = append(r.facts, r.factOf(vs, parsed))
		}
	}
	if r.query.Key != "" {
		for _, n := range k.Named(r.query.Key) {
			add(k.Versions(n))
		}
	}
	for _, renamed := range k.Renames {
		if parsed.Names(renamed.From.Category, renamed.From.Key) {
			if now, _, ok := k.Became(fact.IDOf(renamed.From.Category, renamed.From.Key)); ok {
				n := len(r.facts)
				add(k.Versions(fact.IDOf(now.Category, now.Key)))
				for _, f := range r.facts[n:] {
					f.formerName = true
				}
			}
		}
	}
	boosts := index.DefaultBoosts
	boosts[index.Former] = 1
	query := index.Query{Boosts: boosts, Category: formats.FoldName(r.query.Category), Limit: maxPastFacts}
	for _, w := range parsed.Words() {
		query.Terms = append(query.Terms, index.Term(w))
	}
	hits, err := x.Search(ctx, query)
	if err != nil {
		return err
	}
	for _, h := range hits[:min(len(hits), 2*maxPastFacts/3)] {
		add(x.Versions(h.ID))
	}
	if m == nil || m.nearest == nil {
		return nil
	}
	near, err := m.nearest()
	if err != nil {
		return err
	}
	for _, t := range m.tail {
		near = append(near, vectors.Hit{ID: t.ID})
	}
	for _, n := range near {
		if len(r.facts) == maxPastFacts {
			break
		}
		v, err := x.Version(ctx, meaning.VersionOf(n.ID))
		if err != nil {
			return err
		}
		if v != nil {
			add(k.Versions(fact.IDOf(v.Category, v.Key)))
		}
	}
	return nil
}

// permits reports whether the filters of the question let a fact pass.
func (r *pastReader) permits(vs []*fact.Version) bool {
	q := &r.query
	if q.Category != "" && formats.FoldName(vs[0].Category) != formats.FoldName(q.Category) {
		return false
	}
	if q.Key != "" && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return fact.GoesBy(v, q.Key) }) {
		return false
	}
	return len(q.Tags) == 0 || slices.ContainsFunc(vs, func(v *fact.Version) bool {
		return !slices.ContainsFunc(q.Tags, func(t string) bool {
			return !slices.ContainsFunc(v.Tags, func(x string) bool { return formats.FoldName(x) == formats.FoldName(t) })
		})
	})
}

// factOf is a fact with those of its versions that are looked at: of many the first, the last ones, and those that hold words of
// the question.
func (r *pastReader) factOf(vs []*fact.Version, parsed *recall.Question) *pastFact {
	f := &pastFact{versions: vs, held: fact.Timeline(vs, r.query.now)}
	slices.SortStableFunc(f.held, func(a, b fact.Held) int {
		return cmp.Or(a.Period.From.Compare(b.Period.From), a.RecordedFrom.Compare(b.RecordedFrom))
	})
	words := parsed.Words()
	for i, h := range f.held {
		f.looked = append(f.looked, &pastVersion{Version: h.Version, of: f, at: i})
	}
	for _, v := range vs {
		if !fact.Believed(v) {
			f.looked = append(f.looked, &pastVersion{Version: v, of: f, at: -1})
		}
	}
	if len(f.looked) > maxPastVersions {
		held := make(map[*pastVersion]int, len(f.looked)) // how many words
		for _, v := range f.looked {
			text := strings.ToLower(v.Value)
			for _, w := range words {
				if strings.Contains(text, w.Text) {
					held[v]++
				}
			}
			if v.at == 0 || v.at >= len(f.held)-2 {
				held[v] += len(words)
			}
		}
		slices.SortStableFunc(f.looked, func(a, b *pastVersion) int { return cmp.Compare(held[b], held[a]) })
		f.looked = f.looked[:maxPastVersions]
	}
	return f
}

// wholeShare is how much it counts beside the share of words in common that a value holds the words of the question as they
// are written: of MySQL and PostgreSQL both have the part "sql".
const wholeShare = .2

// wholeWords is the share of the words of a text that a value holds as they are, or begins a word with.
func wholeWords(text, value string) float64 {
	of, in := language.Words(text), language.Words(value[:min(len(value), 4<<10)])
	n := 0
	for _, w := range of {
		if slices.ContainsFunc(in, func(x language.Word) bool {
			return x.Text == w.Text || len(w.Text) >= 4 && strings.HasPrefix(x.Text, w.Text)
		}) {
			n++
		}
	}
	return float64(n) / float64(max(len(of), 1))
}

// weigh says of each version what speaks for it.
func (r *pastReader) weigh(ctx context.Context, x *state.Index, parsed *recall.Question, m *questionMeaning) error {
	c := &candidates{}
	for _, f := range r.facts {
		for _, v := range f.looked {
			r.looked, c.versions = append(r.looked, v), append(c.versions, v.Version)
			ranked := candidateOf(v.Version)
			ranked.Dormant = false
			c.ranked = append(c.ranked, ranked)
		}
	}
	compared := m.compared()
	if m != nil {
		if err := c.addVectors(ctx, &r.store.vectors, m.encoder, &vectors.Space{}, 0); err != nil {
			return err
		}
		compared.Vectors = m.each[:1]
		if m.each[0] == nil {
			compared = nil
		}
	}
	for i, a := range parsed.All(c.ranked, compared) {
		r.looked[i].Answer = a
	}
	part := func(text string, of []recall.Candidate, by *recall.Meaning) ([]recall.Answer, error) {
		q := recall.Parse(text, &recall.Options{NoDates: true})
		if err := q.Resolve(corpus{ctx, x}); err != nil {
			return nil, err
		}
		return q.All(of, by), nil
	}
	names, values := make([]recall.Candidate, len(c.ranked)), make([]recall.Candidate, len(c.ranked))
	for i, one := range c.ranked {
		names[i] = recall.Candidate{Category: one.Category, Key: one.Key, Aliases: one.Aliases}
		values[i] = recall.Candidate{Value: one.Value}
	}
	for i, a := range parsed.All(names, nil) {
		v := r.looked[i]
		if v.of.formerName {
			a.Coverage, v.Coverage, v.Score = 1, 1, max(v.Score, .9)
		}
		v.of.named = max(v.of.named, a.Coverage)
		v.adds = max(0, v.Coverage-a.Coverage) + wholeShare*wholeWords(r.words(), v.Value)
	}
	for _, one := range []struct {
		text string
		to   func(*pastVersion) *float64
	}{{r.asks.Old, func(v *pastVersion) *float64 { return &v.old }}, {r.asks.New, func(v *pastVersion) *float64 { return &v.new }}} {
		if one.text == "" {
			continue
		}
		whole, err := part(one.text, c.ranked, nil)
		if err != nil {
			return err
		}
		alone, err := part(one.text, values, nil)
		if err != nil {
			return err
		}
		for i := range whole {
			if alone[i].Coverage > 0 {
				*one.to(r.looked[i]) = whole[i].Coverage + wholeShare*wholeWords(one.text, values[i].Value)
			}
		}
	}
	if r.asks.Subject != "" {
		var by *recall.Meaning
		if compared != nil && len(m.each) > 1 && m.each[1] != nil {
			by = &recall.Meaning{Vectors: m.each[1:2]}
		}
		of, err := part(r.asks.Subject, c.ranked, by)
		if err != nil {
			return err
		}
		for i, a := range of {
			f := r.looked[i].of
			f.subject, f.about = max(f.subject, a.Score), max(f.about, a.Coverage)
		}
	}
	for _, v := range r.looked {
		v.of.meant = max(v.of.meant, v.likely())
	}
	slices.SortStableFunc(r.facts, func(a, b *pastFact) int { return cmp.Compare(b.meant, a.meant) })
	slices.SortStableFunc(r.looked, func(a, b *pastVersion) int { return cmp.Compare(b.likely(), a.likely()) })
	return nil
}

// maxFormer is how many facts are looked at whose former values hold words of a question that nothing present answers.
const maxFormer = 10

// former names the facts that once had a value that the question names with all its words, where nothing present answers.
func (l *lookup) former(ctx context.Context, r *Recalled) error {
	if l.parsed == nil || l.parsed.Long || len(l.parsed.Words()) == 0 {
		return nil
	}
	return l.store.log.Search(ctx, func(k state.Reader, x *state.Index) error {
		r.Missing = nil
		query := index.Query{Category: formats.FoldName(r.query.Category), Limit: maxFormer}
		query.Boosts[index.Former] = 1
		for _, w := range l.parsed.Words() {
			query.Terms = append(query.Terms, index.Term(w))
		}
		hits, err := x.Search(ctx, query)
		for _, h := range hits {
			if len(r.Missing) == maxMissing {
				break
			}
			vs := x.Versions(h.ID)
			if len(vs) > 0 && (&pastReader{lookup: l, query: r.query}).permits(vs) {
				r.addFormer(vs, l.question.Query)
			}
		}
		return err
	})
}

// addFormer adds a fact that had a value of which the question has all words.
func (r *Recalled) addFormer(vs []*fact.Version, question string) {
	asked := content(question)
	var was *fact.Held // what has the most words of the question, of equals the last one
	most := 0
	for _, h := range slices.Backward(fact.Timeline(vs, r.query.now)) {
		if fact.Before(r.query.now, h.Period.Until) || !holdsAllWords(asked, h.Value) {
			continue
		}
		if n := common(asked, content(h.Value)); n > most {
			was, most = &h, n
		}
	}
	switch {
	case was == nil:
	case len(fact.AllCurrent(vs, r.query.now)) == 0:
		r.addMissing(vs)
	default:
		m := Missing{Category: was.Category, Key: was.Key, Value: was.Value, At: *was.Period.Until, Trust: fact.TrustIn(was.Version)}
		if now := fact.Current(vs, r.query.now); now != nil {
			m.Now = now.Value
		}
		r.Missing = append(r.Missing, m)
	}
}

// holdsAllWords reports whether all words of a value that carry meaning were asked for. A number or a version may be left out.
func holdsAllWords(asked map[string]bool, value string) bool {
	some := false
	for w := range content(value) {
		switch {
		case asked[w]:
			some = some || !strings.ContainsFunc(w, unicode.IsDigit)
		case !strings.ContainsFunc(w, unicode.IsDigit):
			return false
		}
	}
	return some
}
