package knowledge

import (
	"sync"
	"sync/atomic"

	"leanctx/knowledge/conflict"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/meaning"
	"leanctx/knowledge/recall"
	"leanctx/knowledge/state"
)

// Of how many bytes a cache may be, about. Forms are asked for by each assertion, readings by each
// question, which compares a hundred facts.
const (
	maxForms    = 1 << 20
	maxReadings = 3 << 20
)

// maxDerivedText is how long the text of a version may be of which something is kept: a longer one would
// push out many others.
const maxDerivedText = 3 << 10

// derived keeps what was read from versions: their words, or their forms for a comparison. A version is
// never written into, so nothing that is kept has to be brought up to date. A version that was changed
// is another one in memory. When the cache is full it drops the half that was not asked for lately, so
// it needs no order.
//
// It is of use in a server. A command reads its versions from the disk, each time anew.
type derived[V any] struct {
	read func(*fact.Version) V
	size func(*fact.Version, V) int // about how many bytes it takes
	most int                        // bytes

	mu            sync.Mutex
	recent, older map[*fact.Version]V
	bytes         int         // in recent
	times         int         // that everything was dropped
	drops         state.Drops // of the state that it was last used with
}

// of is what was read from a version.
func (x *derived[V]) of(v *fact.Version) V {
	x.mu.Lock()
	got, recent := x.recent[v]
	again := false
	if !recent {
		got, again = x.older[v]
	}
	times := x.times
	x.mu.Unlock()
	if recent {
		return got
	}
	if !again {
		got = x.read(v)
	}
	if textSize(v) > maxDerivedText {
		return got
	}
	n := x.size(v, got)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.times != times {
		return got // the text may have been erased meanwhile
	}
	if x.bytes += n; x.recent == nil || x.bytes > x.most/2 {
		x.recent, x.older, x.bytes = map[*fact.Version]V{}, x.recent, n
	}
	x.recent[v] = got
	return got
}

func textSize(v *fact.Version) int {
	n := len(v.Key) + len(v.Value)
	for _, q := range v.Questions {
		n += len(q)
	}
	return n
}

// drop drops everything.
func (x *derived[V]) drop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.recent, x.older, x.bytes = nil, nil, 0
	x.times++
}

// follow drops everything if a fact was dropped from the state: its text may have been erased.
func (x *derived[V]) follow(k state.Reader) (dropped bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := k.Drops()
	if dropped = n != x.drops; dropped {
		x.recent, x.older, x.bytes, x.drops = nil, nil, 0, n
		x.times++
	}
	return dropped
}

// caches are what a store keeps of its versions.
type caches struct {
	forms    derived[conflict.Form]
	readings derived[*reading]
	reader   atomic.Pointer[recall.Reader] // of the readings: it keeps their words
}

// reading is what ranking needs of a version's texts.
type reading struct {
	*recall.Reading
	sum  uint64 // of [meaning.Of]
	name string // [meaning.OfName]
}

// inForm is how much larger a form is than its text.
const inForm = 10

// inMap is what an entry of a cache takes beside what it holds.
const inMap = 80

func (c *caches) init() {
	c.reader.Store(recall.NewReader())
	c.forms.read = func(v *fact.Version) conflict.Form { return conflict.Of(statementOf(v)) }
	c.forms.most, c.forms.size = maxForms, func(v *fact.Version, _ conflict.Form) int { return inForm * textSize(v) }
	c.readings.read = func(v *fact.Version) *reading {
		x, by := candidateOf(v), c.reader.Load()
		if textSize(v) > maxDerivedText { // its words are not kept either
			by = recall.NewReader()
		}
		return &reading{by.Read(&x), meaning.Of(v).Hash(), meaning.OfName(v)}
	}
	c.readings.most, c.readings.size = maxReadings, func(_ *fact.Version, r *reading) int { return inMap + r.Size() + len(r.name) }
}

func (c *caches) follow(k state.Reader) {
	c.forms.follow(k)
	if c.readings.follow(k) || c.reader.Load().Size() > maxReadings/2 { // most of its words may be of readings that were dropped
		c.reader.Store(recall.NewReader())
		c.readings.drop()
	}
}
