package knowledge

import (
	"sync"

	"leanctx/knowledge/conflict"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/recall"
	"leanctx/knowledge/state"
)

// maxDerived is how many bytes of texts a cache may be of. What is kept takes about ten times as much
// memory as its text: some 2 MB a cache, of which there are two.
const maxDerived = 200 << 10

// derived keeps what was read from versions: their words, or their forms for a comparison. A version is
// never written into, so nothing that is kept has to be brought up to date. A version that was changed
// is another one in memory. When the cache is full it drops the half that was not asked for lately, so
// it needs no order.
//
// It is of use in a server. A command reads its versions from the disk, each time anew.
type derived[V any] struct {
	read func(*fact.Version) V

	mu            sync.Mutex
	recent, older map[*fact.Version]V
	bytes         int         // of texts in recent
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
	x.mu.Unlock()
	if recent {
		return got
	}
	if !again {
		got = x.read(v)
	}
	n := len(v.Key) + len(v.Value)
	for _, q := range v.Questions {
		n += len(q)
	}
	if n > maxDerived/64 {
		return got // it would push out many others
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.bytes += n; x.recent == nil || x.bytes > maxDerived/2 {
		x.recent, x.older, x.bytes = map[*fact.Version]V{}, x.recent, n
	}
	x.recent[v] = got
	return got
}

// follow drops everything if a fact was dropped from the state: its text may have been erased.
func (x *derived[V]) follow(k state.Reader) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := k.Drops(); n != x.drops {
		x.recent, x.older, x.bytes, x.drops = nil, nil, 0, n
	}
}

// caches are what a store keeps of its versions.
type caches struct {
	forms    derived[conflict.Form]
	readings derived[*recall.Reading]
}

func (c *caches) init() {
	c.forms.read = func(v *fact.Version) conflict.Form { return conflict.Of(statementOf(v)) }
	c.readings.read = func(v *fact.Version) *recall.Reading {
		x := candidateOf(v)
		return x.Read()
	}
}

func (c *caches) follow(k state.Reader) {
	c.forms.follow(k)
	c.readings.follow(k)
}
