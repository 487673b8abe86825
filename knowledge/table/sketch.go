package table

import (
	"iter"
	"math"
	"time"

	"leanctx/formats"
)

// Sketch is a version without its text: id, names, periods, confidence,
// counts, archetype, pin and whether it is archived, though not since when.
// What it has not is empty: value, sources, tags, aliases, earlier periods,
// sessions, privacy. It is good until it is drawn again.
type Sketch struct {
	Fact    formats.Fact
	Aliases bool // it has aliases
	Periods bool // it has earlier periods

	until, recordedUntil, retrieved, archived time.Time
}

// The flags of a version.
const (
	flagPinned = 1 << iota
	flagArchived
	flagAliases
	flagPeriods
	flagPlain // its id is a plain one: see keyOf
)

// Draw fills s with a version.
func (t *Table) Draw(version int, s *Sketch) {
	t.DrawTimes(version, s)
	b := t.trait(version)
	f := &s.Fact
	f.ID, f.Key, f.Category, f.Archetype = t.id(b), t.name(b[8:]), t.words[le.Uint32(b[16:])], t.words[le.Uint32(b[20:])]
	f.Confidence = math.Float64frombits(le.Uint64(b[24:]))
	f.ConfirmationCount, f.RetrievalCount = count(b[32:]), count(b[36:])
	f.FeedbackUp, f.FeedbackDown = count(b[40:]), count(b[44:])
	f.LastRetrieved = t.maybe(b[48:], &s.retrieved)
}

// DrawTimes fills s with the times and flags of a version only, and leaves the
// rest as it was. It takes a fifth of the time.
func (t *Table) DrawTimes(version int, s *Sketch) {
	b := t.times(version)
	flags := le.Uint32(b)
	f := &s.Fact
	f.Pinned, s.Aliases, s.Periods = flags&flagPinned != 0, flags&flagAliases != 0, flags&flagPeriods != 0
	f.ArchivedAt = nil
	if flags&flagArchived != 0 {
		f.ArchivedAt = &s.archived
	}
	f.ValidFrom, _ = t.timeAt(b[8:])
	f.RecordedFrom, _ = t.timeAt(b[16:])
	f.LastConfirmed, _ = t.timeAt(b[24:])
	f.ValidUntil = t.maybe(b[32:], &s.until)
	f.RecordedUntil = t.maybe(b[40:], &s.recordedUntil)
}

func count(b []byte) int { return int(int32(le.Uint32(b))) }

// A time is written as the nanoseconds since 1970 where they fit; noTime stands
// for none, and the codes just above it for the odd times.
const (
	noTime   = math.MinInt64
	firstOdd = noTime + 1
	farthest = 9_200_000_000 // seconds from 1970 whose nanoseconds fit
)

func (t *Table) timeAt(b []byte) (time.Time, bool) { return t.time(int64(le.Uint64(b))) }

func (t *Table) time(code int64) (time.Time, bool) {
	switch {
	case code == noTime:
		return time.Time{}, false
	case code < -farthest*1e9:
		return t.odd[code-firstOdd], true
	}
	return time.Unix(0, code).UTC(), true
}

func (t *Table) maybe(b []byte, into *time.Time) *time.Time {
	at, ok := t.timeAt(b)
	if !ok {
		return nil
	}
	*into = at
	return into
}

// TouchedAfter yields the versions that were recorded or confirmed after an
// instant.
func (t *Table) TouchedAfter(at time.Time) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !t.after(t.touched(), at) {
			return
		}
		for n := range t.VersionCount() {
			b := t.times(n)
			if (t.after(b[16:], at) || t.after(b[24:], at)) && !yield(n) {
				return
			}
		}
	}
}

func (t *Table) after(b []byte, at time.Time) bool {
	code := int64(le.Uint64(b))
	if s := at.Unix(); code >= -farthest*1e9 && s > -farthest && s < farthest {
		return code > at.UnixNano()
	}
	x, _ := t.time(code)
	return x.After(at)
}
