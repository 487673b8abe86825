package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"time"

	"leanctx/formats"
)

var (
	errOrder = errors.New("the facts are not in the order of their names")
	errRange = errors.New("a number does not fit the key table")
)

// Build reads a snapshot from its first byte to its last and makes its table.
func Build(ctx context.Context, r io.Reader, of Snapshot) ([]byte, error) {
	if len(of.Checksum) != 8 {
		return nil, fmt.Errorf("%q is no checksum", of.Checksum)
	}
	b := &builder{wordOf: map[string]uint32{}, rooms: map[string]room{}, settled: noTime, touched: noTime}
	rest, err := formats.WalkNative(r, func(text []byte, at int64) error {
		if b.versions&1023 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return b.add(text, at)
	})
	if err != nil {
		return nil, err
	}
	if d, err := formats.DecodeNative(rest.Text); err != nil || len(d.Facts) > 0 {
		return nil, errors.Join(errOrder, err)
	}
	b.end()
	return b.finish(of, rest), b.err
}

// room is a category: the first spelling is that of the version recorded first.
type room struct {
	first  time.Time
	spelt  uint32
	folded uint32
}

// builder collects the sections of a table.
type builder struct {
	lines    lines
	section  [sections][]byte
	versions uint32
	wordOf   map[string]uint32
	rooms    map[string]room
	order    []string // the rooms, as they come
	settled  int64
	latest   time.Time // the end of the last earlier period
	touched  int64
	touch    time.Time // the last recording or confirmation
	ids      []string
	aliases  []alias
	err      error

	category, key string // of the fact at hand, folded
	at, upTo      int64
	sum           uint32
	first         uint32 // its first version
}

// add takes a version in.
func (b *builder) add(text []byte, at int64) error {
	v, ok := b.lines.read(text)
	if !ok {
		list, err := formats.DecodeFacts(text)
		if err != nil {
			return err
		}
		v = list[0]
	}
	if v.ID == "" || len(b.section[secNames])+len(b.section[secIDs]) > math.MaxInt32 {
		return errRange
	}
	category, key := formats.FoldName(v.Category), formats.FoldName(v.Key)
	switch {
	case b.versions > 0 && category == b.category && key == b.key:
		b.sum = crc32.Update(b.sum, castagnoli, []byte(formats.FactSeparator))
	case b.versions > 0 && (category < b.category || category == b.category && key < b.key):
		return errOrder
	default:
		b.end()
		b.category, b.key, b.at, b.sum, b.first = category, key, at, 0, b.versions
	}
	b.sum, b.upTo = crc32.Update(b.sum, castagnoli, text), at+int64(len(text))
	b.room(category, v)
	b.version(v)
	return b.err
}

func (b *builder) room(category string, v *formats.Fact) {
	r, known := b.rooms[category]
	if !known {
		b.order = append(b.order, category)
	}
	if !known || v.RecordedFrom.Before(r.first) {
		b.rooms[category] = room{v.RecordedFrom, b.word(v.Category), b.word(category)}
	}
}

// end finishes the fact at hand.
func (b *builder) end() {
	if b.versions == b.first {
		return
	}
	f := le.AppendUint32(b.section[secFacts], b.word(b.category))
	f = b.name(f)
	f = le.AppendUint64(f, uint64(b.at))
	f = le.AppendUint32(f, b.small(int(b.upTo-b.at)))
	f = le.AppendUint32(f, b.sum)
	f = le.AppendUint32(f, b.first)
	f = le.AppendUint32(f, b.versions-b.first)
	b.section[secFacts] = le.AppendUint32(f, 0)
}

// name writes where the folded key stands: most keys are folded as they are
// written, and then it is there already.
func (b *builder) name(o []byte) []byte {
	written := b.section[secTraits][int(b.first)*traitSize+8:]
	if at, n := le.Uint32(written), le.Uint32(written[4:]); string(b.section[secNames][at:at+n]) == b.key {
		return append(o, written[:8]...)
	}
	return b.string(o, secNames, b.key)
}

// version writes what a [Sketch] will tell.
func (b *builder) version(v *formats.Fact) {
	o := le.AppendUint32(le.AppendUint32(b.section[secTimes], flags(v)), uint32(len(b.section[secFacts])/factSize))
	for _, t := range []*time.Time{&v.ValidFrom, &v.RecordedFrom, &v.LastConfirmed, v.ValidUntil, v.RecordedUntil} {
		o = le.AppendUint64(o, uint64(b.time(t)))
	}
	b.section[secTimes] = o
	o = b.string(b.section[secTraits], secIDs, v.ID)
	o = b.string(o, secNames, v.Key)
	o = le.AppendUint32(o, b.word(v.Category))
	o = le.AppendUint32(o, b.word(v.Archetype))
	o = le.AppendUint64(o, math.Float64bits(v.Confidence))
	for _, n := range []int{v.ConfirmationCount, v.RetrievalCount, v.FeedbackUp, v.FeedbackDown} {
		o = le.AppendUint32(o, b.small(n))
	}
	b.section[secTraits] = le.AppendUint64(o, uint64(b.time(v.LastRetrieved)))
	for _, p := range v.Beliefs {
		if p.RecordedUntil.After(b.latest) {
			b.latest = p.RecordedUntil
			b.settled = b.time(&p.RecordedUntil)
		}
	}
	for _, t := range []time.Time{v.RecordedFrom, v.LastConfirmed} {
		if b.touched == noTime || t.After(b.touch) {
			b.touch, b.touched = t, b.time(&t)
		}
	}
	for _, a := range v.Aliases {
		b.aliases = append(b.aliases, alias{hash(formats.FoldName(a)), b.versions})
	}
	key, _ := keyOf(v.ID)
	b.section[secKeys] = le.AppendUint64(b.section[secKeys], key)
	b.ids = append(b.ids, v.ID)
	b.versions++
}

func flags(v *formats.Fact) (f uint32) {
	if v.Pinned {
		f |= flagPinned
	}
	if v.ArchivedAt != nil {
		f |= flagArchived
	}
	if len(v.Aliases) > 0 {
		f |= flagAliases
	}
	if len(v.Beliefs) > 0 {
		f |= flagPeriods
	}
	if _, plain := keyOf(v.ID); plain {
		f |= flagPlain
	}
	return f
}

func (b *builder) small(n int) uint32 {
	if n < math.MinInt32 || n > math.MaxInt32 {
		b.err = errRange
	}
	return uint32(int32(n))
}

func (b *builder) time(t *time.Time) int64 {
	if t == nil {
		return noTime
	}
	if s := t.Unix(); s > -farthest && s < farthest {
		return t.UnixNano()
	}
	o := le.AppendUint64(b.section[secOdd], uint64(t.Unix()))
	b.section[secOdd] = le.AppendUint32(o, uint32(t.Nanosecond()))
	return firstOdd + int64(len(b.section[secOdd])/oddSize-1)
}

// string writes a text to a section, and to o where it stands there.
func (b *builder) string(o []byte, section int, s string) []byte {
	o = le.AppendUint32(o, uint32(len(b.section[section])))
	b.section[section] = append(b.section[section], s...)
	return le.AppendUint32(o, uint32(len(s)))
}

// word is a text of which there are few different ones.
func (b *builder) word(s string) uint32 {
	n, ok := b.wordOf[s]
	if !ok {
		n = uint32(len(b.wordOf))
		b.wordOf[s] = n
		b.section[secWords] = b.string(b.section[secWords], secText, s)
	}
	return n
}

// slots is the hash of the ids; half of it stays empty.
func (b *builder) slots() []byte {
	n := 2
	for n < 2*len(b.ids) {
		n *= 2
	}
	out, last := make([]byte, n*slotSize), n-1
	for n, id := range b.ids {
		key, _ := keyOf(id)
		i := slotOf(key) & last
		for le.Uint32(out[i*slotSize+8:]) != 0 {
			i = (i + 1) & last
		}
		le.PutUint64(out[i*slotSize:], key)
		le.PutUint32(out[i*slotSize+8:], uint32(n)+1)
	}
	return out
}

// alias is another name by which a version goes.
type alias struct {
	hash    uint64
	version uint32
}

func (b *builder) aliased() (out []byte) {
	slices.SortFunc(b.aliases, func(x, y alias) int { return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.version, y.version)) })
	for _, a := range b.aliases {
		out = le.AppendUint32(le.AppendUint64(out, a.hash), a.version)
	}
	return out
}

// finish puts the table together.
func (b *builder) finish(of Snapshot, rest formats.Rest) []byte {
	b.section[secSlots], b.section[secAliases] = b.slots(), b.aliased()
	for _, name := range b.order {
		r := b.rooms[name]
		b.section[secRooms] = le.AppendUint32(le.AppendUint32(b.section[secRooms], r.folded), r.spelt)
	}
	for i := range secWords {
		for page := range slices.Chunk(b.section[i], pageSize(i)) {
			b.section[secSums] = le.AppendUint32(b.section[secSums], Sum(page))
		}
	}
	o := make([]byte, summedFrom, HeaderSize)
	copy(o, magic)
	o = le.AppendUint64(le.AppendUint64(le.AppendUint64(o, of.Seq), of.Generation), uint64(of.Size))
	o = append(o, of.Checksum...)
	o = le.AppendUint64(le.AppendUint64(o, uint64(rest.From)), uint64(rest.To))
	o = le.AppendUint64(le.AppendUint32(o, Sum(rest.Text)), uint64(b.settled))
	o = le.AppendUint64(o, uint64(b.touched))
	for i, data := range b.section {
		o = le.AppendUint32(o, uint32(len(data)/sizes[i]))
	}
	for _, data := range b.section[secWords:] {
		o = le.AppendUint32(o, Sum(data))
	}
	o = append(o, make([]byte, HeaderSize-len(o))...)
	le.PutUint32(o[sumAt:], Sum(o[summedFrom:]))
	return slices.Concat(append([][]byte{o}, b.section[:]...)...)
}
