package fact

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"leanctx/internal/language"
)

// Summary is what order, counts and filters need of a version: all but its texts. A
// cold command has those of all facts without reading the facts.
type Summary struct {
	ID            string // of the version
	Period        Period // valid
	RecordedFrom  time.Time
	LastConfirmed time.Time
	LastActive    time.Time // when it was last confirmed or restored: its confidence falls from then on
	Confidence    float64
	HalfLife      time.Duration // of the confidence; zero: it does not fall
	Merit         float64       // the part of its salience that neither time nor reading changes
	Read          Retrievals    // those that the version itself tells of
	Renamed       time.Time     // when its fact got its name; zero: it always had it
	Withdrawn     time.Time     // when it was taken back or given an end; zero: never
	Pinned        Pin
	Archived      bool
	Decision      bool
	Standing      bool // see [Standing]
	Demands       bool // standing, and its value says how something has to be done: see [language.Demands]
	Long          bool // standing, and also its opening is long
	Form          bool // standing by the form of its value alone
	User          bool // a user asserted it
	Critical      bool // a gotcha of the worst kind
	Unconfirmed   bool // see [Unconfirmed]
}

// Pin says who pinned a fact.
type Pin uint8

// The pins.
const (
	Unpinned     Pin = iota
	Pinned           // by somebody
	PinnedByUser     // or by somebody else, of what a user asserted
)

// Summarize is the summary of a version.
func Summarize(v *Version) Summary {
	standing := Standing(v)
	form := standing && !ArchetypeGiven(v) && !language.Practice(v.Category, v.Value)
	s := Summary{
		ID: v.ID, Period: PeriodOf(v), RecordedFrom: v.RecordedFrom, LastConfirmed: v.LastConfirmed, LastActive: lastActive(v),
		Confidence: v.Confidence, Archived: v.ArchivedAt != nil, Decision: v.Archetype == "decision",
		Standing: standing, Demands: standing && language.Demands(v.Value), Form: form, Long: standing && len(language.Opening(v.Value)) > longOpening, User: ByUser(v), Critical: Critical(v), Unconfirmed: Unconfirmed(v),
		Read:  Retrievals{Count: v.RetrievalCount},
		Merit: 20*(1-1/float64(Witnesses(v))) + bonusOf(v) + 5*math.Tanh(float64(v.FeedbackUp-v.FeedbackDown)/4),
	}
	if Decays(v) {
		s.HalfLife = KindOf(v).HalfLife
	}
	if v.LastRetrieved != nil {
		s.Read.Last = *v.LastRetrieved
	}
	if v.RenamedAt != nil {
		s.Renamed = *v.RenamedAt
	}
	if v.RetractedAt != nil {
		s.Withdrawn = *v.RetractedAt
	}
	if PinnedHere(v) {
		s.Pinned = Pinned
		if ByUser(v) {
			s.Pinned = PinnedByUser
		}
	}
	return s
}

// longOpening is how many bytes the opening of a standing fact has that is long: a rule is shorter.
const longOpening = 110

// lastActive is when a version was last confirmed or restored.
func lastActive(v *Version) time.Time {
	if v.RestoredAt != nil && v.RestoredAt.After(v.LastConfirmed) {
		return *v.RestoredAt
	}
	return v.LastConfirmed
}

// EffectiveConfidence is [EffectiveConfidence] of the version.
func (s *Summary) EffectiveConfidence(t time.Time, r Retrievals) float64 {
	c := min(max(s.Confidence, 0), 1)
	if s.HalfLife == 0 {
		return c
	}
	h := float64(s.HalfLife) * (1 + 0.5*math.Log2(1+float64(min(r.Count, 15))))
	return max(c*math.Exp2(-float64(max(t.Sub(s.LastActive), 0))/h), min(c, floor))
}

// Salience is [Salience] of the version.
func (s *Summary) Salience(t time.Time, r Retrievals) float64 {
	touched := s.LastActive
	if r.Last.After(touched) {
		touched = r.Last
	}
	idle := max(t.Sub(touched).Hours()/24, 0)
	x := 40*s.EffectiveConfidence(t, r) + s.Merit + min(10, 10*math.Log1p(float64(r.Count))/math.Log(32)) + 10*math.Exp2(-idle/14)
	return min(max(x, 0), 100)
}

// firstMark is the lowest bit of the marks of a stored summary, beside those of its Pin.
const firstMark = 1 << 2

// marks are the marks of a summary, from the lowest bit on. A new one comes last.
func (s *Summary) marks() [9]*bool {
	return [...]*bool{&s.Archived, &s.Decision, &s.Standing, &s.User, &s.Critical, &s.Unconfirmed, &s.Demands, &s.Form, &s.Long}
}

// never is the zero time. It stands for a time that there is not.
var never = time.Time{}.Unix()

// Append adds the stored form of a summary to b: numbers of variable length, without
// names. To change it is another version of the index.
func (s *Summary) Append(b []byte) []byte {
	marks := uint64(s.Pinned)
	for i, is := range s.marks() {
		if *is {
			marks |= firstMark << i
		}
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, marks), uint64(len(s.ID)))
	b = append(b, s.ID...)
	var until time.Time
	if s.Period.Until != nil {
		until = *s.Period.Until
	}
	for _, t := range [...]time.Time{s.Period.From, until, s.RecordedFrom, s.LastConfirmed, s.LastActive, s.Read.Last, s.Renamed, s.Withdrawn} {
		b = binary.AppendUvarint(b, uint64(t.Unix()-never))
		b = binary.AppendUvarint(b, uint64(t.Nanosecond()))
	}
	for _, n := range [...]uint64{uint64(s.HalfLife), uint64(s.Read.Count), math.Float64bits(s.Confidence), math.Float64bits(s.Merit)} {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// errSummary says that a text holds no summary.
var errSummary = errors.New("a stored summary cannot be read")

// ParseSummary reads what Append wrote, and gives the rest of b.
func ParseSummary(b []byte) (s Summary, rest []byte, err error) {
	number := func() uint64 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			err = errSummary
			return 0
		}
		b = b[n:]
		return x
	}
	marks, size := number(), number()
	if size > uint64(len(b)) {
		return s, nil, errSummary
	}
	s.ID, b = string(b[:size]), b[size:]
	var until time.Time
	for _, t := range [...]*time.Time{&s.Period.From, &until, &s.RecordedFrom, &s.LastConfirmed, &s.LastActive, &s.Read.Last, &s.Renamed, &s.Withdrawn} {
		at := int64(number()) + never
		*t = time.Unix(at, int64(number())).UTC()
	}
	if !until.IsZero() {
		s.Period.Until = new(until)
	}
	s.HalfLife, s.Read.Count = time.Duration(number()), int(number())
	s.Confidence, s.Merit = math.Float64frombits(number()), math.Float64frombits(number())
	s.Pinned = Pin(marks & (firstMark - 1))
	for i, is := range s.marks() {
		*is = marks&(firstMark<<i) != 0
	}
	return s, b, err
}
