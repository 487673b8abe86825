package fact

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
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
	s := Summary{
		ID: v.ID, Period: PeriodOf(v), RecordedFrom: v.RecordedFrom, LastConfirmed: v.LastConfirmed, LastActive: lastActive(v),
		Confidence: v.Confidence, Archived: v.ArchivedAt != nil, Decision: v.Archetype == "decision",
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
	if v.Pinned {
		s.Pinned = Pinned
		if byUser(v) {
			s.Pinned = PinnedByUser
		}
	}
	return s
}

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

// The marks of a stored summary.
const (
	markEnds = 1 << iota
	markArchived
	markDecision
	markPinned
	markPinnedByUser
	markRead
	markRenamed
	markWithdrawn
)

// Append adds the stored form of a summary to b: numbers of variable length, without
// names. To change it is another version of the index.
func (s *Summary) Append(b []byte) []byte {
	marks := byte(0)
	for _, m := range []struct {
		mark byte
		set  bool
	}{{markEnds, s.Period.Until != nil}, {markArchived, s.Archived}, {markDecision, s.Decision}, {markPinned, s.Pinned == Pinned}, {markPinnedByUser, s.Pinned == PinnedByUser}, {markRead, !s.Read.Last.IsZero()}, {markRenamed, !s.Renamed.IsZero()}, {markWithdrawn, !s.Withdrawn.IsZero()}} {
		if m.set {
			marks |= m.mark
		}
	}
	b = append(b, marks)
	b = binary.AppendUvarint(b, uint64(len(s.ID)))
	b = append(b, s.ID...)
	times := []time.Time{s.Period.From, s.RecordedFrom, s.LastConfirmed, s.LastActive}
	if s.Period.Until != nil {
		times = append(times, *s.Period.Until)
	}
	if !s.Read.Last.IsZero() {
		times = append(times, s.Read.Last)
	}
	if !s.Renamed.IsZero() {
		times = append(times, s.Renamed)
	}
	if !s.Withdrawn.IsZero() {
		times = append(times, s.Withdrawn)
	}
	for _, t := range times {
		b = binary.AppendVarint(b, t.Unix())
		b = binary.AppendUvarint(b, uint64(t.Nanosecond()))
	}
	b = binary.AppendVarint(b, int64(s.HalfLife))
	b = binary.AppendVarint(b, int64(s.Read.Count))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.Confidence))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(s.Merit))
}

// errSummary says that a text holds no summary.
var errSummary = errors.New("a stored summary cannot be read")

// ParseSummary reads what Append wrote, and gives the rest of b.
func ParseSummary(b []byte) (s Summary, rest []byte, err error) {
	if len(b) == 0 {
		return s, nil, errSummary
	}
	marks := b[0]
	b = b[1:]
	ok := true
	unsigned := func() uint64 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			ok = false
			return 0
		}
		b = b[n:]
		return x
	}
	signed := func() int64 {
		x, n := binary.Varint(b)
		if n <= 0 {
			ok = false
			return 0
		}
		b = b[n:]
		return x
	}
	bytes := func(n uint64) []byte {
		if n > uint64(len(b)) {
			ok = false
			return make([]byte, min(n, 8))
		}
		x := b[:n]
		b = b[n:]
		return x
	}
	instant := func() time.Time {
		at := signed()
		return time.Unix(at, int64(unsigned())).UTC()
	}
	float := func() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(bytes(8))) }
	s.ID = string(bytes(unsigned()))
	s.Period.From, s.RecordedFrom, s.LastConfirmed, s.LastActive = instant(), instant(), instant(), instant()
	if marks&markEnds != 0 {
		s.Period.Until = new(instant())
	}
	if marks&markRead != 0 {
		s.Read.Last = instant()
	}
	if marks&markRenamed != 0 {
		s.Renamed = instant()
	}
	if marks&markWithdrawn != 0 {
		s.Withdrawn = instant()
	}
	s.HalfLife, s.Read.Count, s.Confidence, s.Merit = time.Duration(signed()), int(signed()), float(), float()
	s.Archived, s.Decision = marks&markArchived != 0, marks&markDecision != 0
	switch {
	case marks&markPinnedByUser != 0:
		s.Pinned = PinnedByUser
	case marks&markPinned != 0:
		s.Pinned = Pinned
	}
	if !ok {
		return s, nil, errSummary
	}
	return s, b, nil
}
