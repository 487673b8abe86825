// Package recall ranks facts for a question, and decides whether to answer. It knows nothing of an index, a store or an
// encoder: the caller brings candidates, and gets answers in order.
//
// # Use
//
//	q := recall.Parse(text, &recall.Options{Now: now, Newest: newest}) // dates, words of time, words
//	err := q.Resolve(corpus)                                           // rarity, and what stands for words that the store lacks
//	words := q.Words()                                                 // for the index: take its best 50
//	vectors := encode(q.Texts)                                         // and the nearest 50 by meaning
//	answers := q.Rank(candidates, &recall.Meaning{Vectors: vectors})   // nil: by words alone
//
// Candidates are facts as they were at q.Date.AsOf, or now if q.Date is nil. If that finds nothing, parse again with
// NoDates. If [Date.Mentions] finds the date in a candidate's value, do so too: then the date is part of what is searched for.
// A question with q.Past asks about the past: give former versions as candidates too.
//
// # Rank
//
//	w(t)  = ln((N + 301) / (df + 1))                       rarity of a word; N facts, df of them have it
//	words = Σ w·2.2x/(x + 1.2),  x = Σ boost·tf/(1 − b + b·length/average)    BM25F over key, questions, value, category
//	rank  = .25·words + 2·coverage + 7·cosine + 1.7·name      with a transformer .28·words + .6·coverage + 10·cosine
//
// coverage is the share of Σ w that the fact covers. cosine is the best of the question's texts with key and value, or
// with the stored questions less .03. name is that with the key alone or with the stored questions. A word that the
// store lacks is replaced by its abbreviation or long form, or by words that it begins. Else it is replaced by words
// one edit away, or by its own beginning. Each counts for less than the word itself. Of more than 24 words the rarest
// count. A task of more than 30 words is compared by meaning sentence by sentence. Then a newer fact about the same
// thing is put before an older one, which comes right behind it. The two share their odds by the probability that one
// supersedes the other. The features of that are shared words, the cosine of the two, the category, and words such as
// "switched". Facts of one form about several subjects, or within an hour of each other, do not supersede each other.
//
// # Whether to answer
//
//	log odds = 5·words/Σw + 4.2·cosine + 1.4·ln(1 + n) − 6.15 − .25·ln(N/90)     n words of the question
//
// is the probability p that the first three answer, by the features of the first: its score (1 for the fact of that name).
// With a transformer it is 3.65·words/Σw + 7.4·cosine + ln(1 + n) − 6.5. From p = .50 on there is an answer: the first
// line, and those behind it of .04 or more; three of less may answer. A line behind has p·e^rank/Σe^rank, over ten lines.
// From p = .25 on three lines may answer, and where a cosine is .20 + .02·ln(N/90) or more; by words alone from .10, with a
// transformer from .04. Behind the first these are the best by rank + (10 − 5·ln(N/90))·cosine, of a cosine of .15 or more,
// and have p·e^(rank/2)/Σe^(rank/2), over three lines. Lines below .015 are not shown. MEASURED.md has the experiments.
package recall
