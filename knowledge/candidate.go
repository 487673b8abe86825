package knowledge

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"time"
)

// candidates are the facts that may stand in a briefing. There may be very
// many and few are taken, so they are kept small and are never sorted whole.
type candidates struct {
	state  *state
	list   []candidate // a heap, the best first
	rooms  map[string]int
	recent []candidate // decisions
	heaped bool
	intent intent // decides between those of about the same salience
}

// candidate is one of them.
type candidate struct {
	name     id
	version  string   // its id
	v        *Version // nil when it is still to be read
	from     time.Time
	salience float64
	pinned   bool
	wanted   int // how much the name has to do with what the caller works on
}

// decisionsMost is how many recent decisions a briefing has.
const decisionsMost = 3

func (c *candidates) add(n id, v *Version, today time.Time) {
	x := candidate{name: n, version: v.ID, from: v.ValidFrom, pinned: v.Pinned, salience: salience(v, today, retrievals{}), wanted: c.intent.meets(n.category, n.key)}
	if c.state.base == nil || v.Value != "" {
		x.v = v
	}
	c.list = append(c.list, x)
	c.rooms[n.category]++
	if v.Archetype == "decision" {
		i, _ := slices.BinarySearchFunc(c.recent, x, newestFirst)
		if i < decisionsMost {
			c.recent = slices.Insert(c.recent, i, x)
			c.recent = c.recent[:min(len(c.recent), decisionsMost)]
		}
	}
}

func newestFirst(a, b candidate) int { return cmp.Or(b.from.Compare(a.from), compareCandidates(a, b)) }

func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.name.category, b.name.category), cmp.Compare(a.name.key, b.name.key), cmp.Compare(a.version, b.version))
}

// decisions are the newest, newest first.
func (c *candidates) decisions() []string {
	out := []string{}
	for _, x := range c.recent {
		if v := c.read(x); v != nil {
			out = append(out, clip(v.Value, 120))
		}
	}
	return out
}

func (c *candidates) read(x candidate) *Version {
	if x.v != nil {
		return x.v
	}
	return c.state.byID(x.version)
}

// next takes the best that is left: pinned ones first, then by salience, those
// within a point of it by what the caller works on, ties by name. It is nil when none is left, or one cannot be read.
func (c *candidates) next() (id, *Version) {
	if !c.heaped {
		heap.Init(c)
		c.heaped = true
	}
	if len(c.list) == 0 {
		return id{}, nil
	}
	x := heap.Pop(c).(candidate)
	return x.name, c.read(x)
}

// The methods of heap.Interface.

func (c *candidates) Len() int      { return len(c.list) }
func (c *candidates) Swap(i, j int) { c.list[i], c.list[j] = c.list[j], c.list[i] }

func (c *candidates) Less(i, j int) bool {
	a, b := &c.list[i], &c.list[j]
	if a.pinned != b.pinned {
		return a.pinned
	}
	return cmp.Or(cmp.Compare(math.Floor(b.salience), math.Floor(a.salience)), cmp.Compare(b.wanted, a.wanted), cmp.Compare(b.salience, a.salience), compareCandidates(*a, *b)) < 0
}

func (c *candidates) Push(x any) { c.list = append(c.list, x.(candidate)) }

func (c *candidates) Pop() any {
	last := len(c.list) - 1
	x := c.list[last]
	c.list = c.list[:last]
	return x
}
