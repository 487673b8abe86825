package briefing

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/intent"
	"leanctx/knowledge/ledger"
)

// candidates are the facts that may stand in a briefing. There may be very
// many and few are taken, so they are kept small and are never sorted whole.
type candidates struct {
	state  *ledger.State
	most   int         // how many of the best are kept; 0: all
	list   []candidate // a heap, the best first
	total  int         // how many there are
	rooms  map[string]int
	recent []candidate // decisions
	heaped bool
	intent intent.Words // decides between those of about the same salience

	worst *candidate // any that comes after it is not among the best
	short bool       // more were asked for than were kept
}

// candidatesKept is how many of the best are kept at first: far more than an
// ordinary budget holds.
const candidatesKept = 512

// candidate is one of them.
type candidate struct {
	name     fact.ID
	version  string        // its id
	v        *fact.Version // nil when it is still to be read
	from     time.Time
	salience float64
	pinned   bool
	wanted   int // how much the name has to do with what the caller works on
}

// decisionsMost is how many recent decisions a briefing has.
const decisionsMost = 3

func (c *candidates) add(n fact.ID, v *fact.Version, today time.Time) {
	x := candidate{name: n, version: v.ID, from: v.ValidFrom, pinned: v.Pinned, salience: fact.Salience(v, today, fact.Retrievals{}), wanted: c.intent.Meets(n.Category, n.Key)}
	if !c.state.Sketched(v) {
		x.v = v
	}
	c.total++
	c.rooms[n.Category]++
	c.keep(x)
	if v.Archetype == "decision" {
		i, _ := slices.BinarySearchFunc(c.recent, x, newestFirst)
		if i < decisionsMost {
			c.recent = slices.Insert(c.recent, i, x)
			c.recent = c.recent[:min(len(c.recent), decisionsMost)]
		}
	}
}

// keep takes x in if it may be among the best.
func (c *candidates) keep(x candidate) {
	if c.worst != nil && bestFirst(&x, c.worst) > 0 {
		return
	}
	c.list = append(c.list, x)
	if c.most > 0 && len(c.list) >= 2*c.most {
		c.cut()
	}
}

// cut leaves the best.
func (c *candidates) cut() {
	slices.SortFunc(c.list, func(a, b candidate) int { return bestFirst(&a, &b) })
	c.list = c.list[:c.most]
	c.worst = new(c.list[c.most-1])
}

func newestFirst(a, b candidate) int { return cmp.Or(b.from.Compare(a.from), compareCandidates(a, b)) }

func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.name.Category, b.name.Category), cmp.Compare(a.name.Key, b.name.Key), cmp.Compare(a.version, b.version))
}

// decision is a recent one, in short.
type decision struct {
	name fact.ID
	text string
}

// decisions are the newest, newest first.
func (c *candidates) decisions() (out []decision) {
	for _, x := range c.recent {
		if v := c.read(x); v != nil {
			out = append(out, decision{x.name, prose.Clip(v.Value, 120)})
		}
	}
	return out
}

func texts(list []decision) []string {
	out := make([]string, len(list))
	for i, d := range list {
		out[i] = d.text
	}
	return out
}

func (c *candidates) read(x candidate) *fact.Version {
	if x.v != nil {
		return x.v
	}
	return c.state.ByID(x.version)
}

// next takes the best that is left: pinned ones first, then by salience, those
// within a point of it by what the caller works on, ties by name. It is nil when none is left, or one cannot be read.
func (c *candidates) next() (fact.ID, *fact.Version) {
	if !c.heaped {
		heap.Init(c)
		c.heaped = true
	}
	if len(c.list) == 0 {
		c.short = c.worst != nil
		return fact.ID{}, nil
	}
	x := heap.Pop(c).(candidate)
	return x.name, c.read(x)
}

// The methods of heap.Interface.

func (c *candidates) Len() int      { return len(c.list) }
func (c *candidates) Swap(i, j int) { c.list[i], c.list[j] = c.list[j], c.list[i] }

func (c *candidates) Less(i, j int) bool {
	return bestFirst(&c.list[i], &c.list[j]) < 0
}

func bestFirst(a, b *candidate) int {
	if a.pinned != b.pinned {
		if a.pinned {
			return -1
		}
		return 1
	}
	if d := cmp.Compare(math.Floor(b.salience), math.Floor(a.salience)); d != 0 {
		return d
	}
	return cmp.Or(cmp.Compare(b.wanted, a.wanted), cmp.Compare(b.salience, a.salience), compareCandidates(*a, *b))
}

func (c *candidates) Push(x any) { c.list = append(c.list, x.(candidate)) }

func (c *candidates) Pop() any {
	last := len(c.list) - 1
	x := c.list[last]
	c.list = c.list[:last]
	return x
}
