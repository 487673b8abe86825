package knowledge

import (
	"context"
	"strings"
	"unicode"

	"leanctx/knowledge/fact"
	"leanctx/knowledge/search"
)

// Semantic compares texts by meaning. Vectors of two encoders are never
// compared: whoever asks names the encoder, by one of [Vectors.Encoders].
type Semantic interface {
	// Encode gives the vector of a question, nil where it holds no word that
	// the encoder knows.
	Encode(ctx context.Context, encoder, text string) ([]float32, error)

	// Near gives what is nearest in meaning, the nearest first.
	Near(ctx context.Context, encoder string, n Nearby) ([]Near, error)

	// Learn makes and keeps the vectors that these texts lack, in their order,
	// and says how many it made. When ctx ends what was made is kept, so that
	// the next call goes on from there.
	Learn(ctx context.Context, encoder string, texts []Meant, progress func(done, missing int)) (int, error)
}

// Vectors tells about vectors, and takes them away.
type Vectors interface {
	// Encoders are those that can be used now, the best first. wanted: there
	// is a question for them. The last one is instant.
	Encoders(wanted bool) []Encoding

	// Report says what is kept.
	Report() VectorReport

	// Drop takes the vectors of these versions off the disk, all where ids is
	// nil.
	Drop(ids []string) error
}

// Encoding is an encoder that can be used. An instant one takes microseconds a
// text, any other so long that only a server has the time.
type Encoding struct {
	Name    string
	Instant bool
}

// Meant is a text to be encoded, and the version of a fact that it is of.
type Meant struct{ ID, Text string }

// Nearby asks for what is near a vector.
type Nearby struct {
	Vector  []float32
	Limit   int
	Allowed func(id string) bool // nil: all

	// Among, where it is not nil, is all that is compared: an instant encoder
	// encodes it on the spot, of another one only what is kept is found.
	Among []Meant
	// Tail may have no vectors yet: an instant encoder encodes it on the spot.
	Tail []Meant
}

// Near is a version and its cosine, -1 to 1.
type Near struct {
	ID     string
	Cosine float64
}

// VectorReport says what vectors there are.
type VectorReport struct {
	Model        string          // "present", "missing" or "broken"
	AutoDownload bool            // a model is downloaded when it is first needed
	Path         string          // of the file that describes them
	Entries      []VectorEntries // by encoder
	Why          string          // what is used, and why nothing better
}

// VectorEntries counts the vectors of one encoder.
type VectorEntries struct {
	Encoder string `json:"encoder"`
	Entries int    `json:"entries"`
}

// meantMost is how much of a text is encoded, in bytes. More would cost a
// command that compares fifty facts what it has not.
const meantMost = 4 << 10

// meant is the text by which a fact is found: the words of its key and
// aliases, then its value. Of a key the parts that hold a digit are left out;
// they are numbers, dates and ids more often than words.
func meant(d search.Doc) Meant {
	var b strings.Builder
	for _, name := range append([]string{d.Key}, d.Aliases...) {
		for _, w := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if strings.IndexFunc(w, unicode.IsDigit) < 0 {
				b.WriteString(w)
				b.WriteByte(' ')
			}
		}
	}
	text := strings.TrimSuffix(b.String(), " ")
	if text != "" {
		text += ": "
	}
	return Meant{d.ID, cutBytes(text+d.Value, meantMost)}
}

func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// bearing is a question as an encoder has it.
type bearing struct {
	Encoding
	vector []float32
	names  []string // that what is near should hold; none where the caller asked for meaning
	scan   bool     // look at all facts, not only at those that words found
	asked  bool     // the caller asked for meaning: the floor is lower
	alone  bool     // words have no part in it
}

// searchBy answers a question with words and meaning. Words come first: what
// they find is only put into order by meaning, with vectors made on the spot,
// which costs a command half a millisecond and no file. When words find nothing
// or only weak hits, all vectors are looked at, with the best encoder whose
// vectors are complete.
func (s *Store) searchBy(ctx context.Context, q Question, archive bool) (Recalled, error) {
	wanted := q.Mode == modeSemantic || q.Mode == modeHybrid
	if !wanted {
		by := s.quick(ctx, q)
		hits, err := s.ranked(ctx, q, archive, by)
		if err != nil || by == nil || !hits.weak() {
			return hits, err
		}
	}
	by, err := s.bearing(ctx, q, wanted)
	if err != nil {
		return Recalled{}, err
	}
	return s.ranked(ctx, q, archive, by)
}

// quick is the bearing of the instant encoder, nil where there is none.
func (s *Store) quick(ctx context.Context, q Question) *bearing {
	all := s.opts.Vectors.Encoders(false)
	if len(all) == 0 {
		return nil
	}
	return s.encoded(ctx, q, all[len(all)-1])
}

// encoded encodes a question; nil where that cannot be done: then words decide.
func (s *Store) encoded(ctx context.Context, q Question, e Encoding) *bearing {
	v, err := s.opts.Semantic.Encode(ctx, e.Name, cutBytes(q.Query, meantMost))
	if err != nil {
		s.opts.Logger.Debug("a question has no vector", "encoder", e.Name, "error", err)
	}
	if len(v) == 0 {
		return nil
	}
	return &bearing{Encoding: e, vector: v}
}

// bearing is that of the best encoder whose vectors can be used now; nil where
// none can be. Where meaning is wanted what is missing is made first. Else the
// table has no part in the names of a question: it puts all Johns near each
// other.
func (s *Store) bearing(ctx context.Context, q Question, wanted bool) (*bearing, error) {
	var names []string
	rest := q.Query
	if !wanted {
		names, rest = unnamed(q.Query)
	}
	for _, e := range s.opts.Vectors.Encoders(true) {
		if !e.Instant && !wanted && !s.opts.LongLived {
			continue // it takes longer than all else that a command does
		}
		var by *bearing
		if e.Instant { // the vectors need not be read where the question has none
			q.Query = rest
			if by = s.encoded(ctx, q, e); by == nil {
				continue
			}
		}
		ready, err := s.ready(ctx, e, wanted)
		if err != nil {
			return nil, err
		}
		if !ready {
			continue
		}
		if by == nil {
			by = s.encoded(ctx, q, e)
		}
		if by != nil {
			by.scan, by.asked, by.alone, by.names = true, wanted, q.Mode == modeSemantic, names
			return by, nil
		}
	}
	return nil, nil
}

// compare finds the cosines of what words found, and what they did not find.
func (s *Store) compare(ctx context.Context, a asked, facts []Found, keep func(string) bool) (map[string]float64, []Near, error) {
	by, cosines := a.by, map[string]float64{}
	among := make([]Meant, 0, min(len(facts), fusedMost))
	for _, x := range facts[:min(len(facts), fusedMost)] {
		among = append(among, meant(doc(x.v)))
	}
	if len(among) > 0 {
		list, err := s.opts.Semantic.Near(ctx, by.Name, Nearby{Vector: by.vector, Limit: len(among), Among: among})
		if err != nil {
			return nil, nil, err
		}
		for _, n := range list {
			cosines[n.ID] = n.Cosine
		}
	}
	if !by.scan {
		return cosines, nil, nil
	}
	tail, _ := s.unlearned(a.st, a.moment, by.Encoding)
	near, err := s.opts.Semantic.Near(ctx, by.Name, Nearby{Vector: by.vector, Limit: a.Limit + 10, Allowed: keep, Tail: tail})
	return cosines, near, err
}

// takes reports whether a near fact may be told: one that holds a name of the
// question, or is so near that it need not.
func (b *bearing) takes(v *fact.Version, cosine, least float64) bool {
	return len(b.names) == 0 || cosine >= least+otherNames || holdsOne(v.Category+" "+meant(doc(v)).Text, b.names)
}
