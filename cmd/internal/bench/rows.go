package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/knowledge"
)

// row is one measure: what it is called, what it stands beside, and how it is
// taken on a store. To measure something else is to write one more of them.
type row struct {
	group, name string
	unit        string
	floor       string
	chart       bool
	measure     func(ctx context.Context, b *bed) (Cell, error)
}

// The groups, in the order of the table and in that in which they are
// measured: first what must find the store as the last command left it.
const (
	groupDisk    = "on the disk"
	groupCommand = "a command, a new process each time"
	groupServer  = "in a running server"
	groupMemory  = "memory of a server"
	groupMeaning = "meaning, the built-in encoder"
	groupWhole   = "the whole store"
	groupCrew    = "agents at work"
)

// rows are all there are.
func rows() []row {
	return slices.Concat(diskRows(), commandRows(), serverRows(), memoryRows(), meaningRows(), wholeRows(), crewRows())
}

func names() (all []string) {
	for _, w := range rows() {
		all = append(all, w.group+": "+w.name)
	}
	return all
}

// chosen are the rows whose group and name hold one of some texts.
func chosen(texts []string) []row {
	if len(texts) == 0 {
		return rows()
	}
	return slices.DeleteFunc(rows(), func(w row) bool {
		return !slices.ContainsFunc(texts, func(t string) bool {
			return strings.Contains(strings.ToLower(w.group+": "+w.name), strings.ToLower(strings.TrimSpace(t)))
		})
	})
}

// recall is a kind of question.
type recall struct {
	name    string
	chart   bool
	nothing bool // is the right answer
	ask     func(q questions, i int) knowledge.Question
	scan    func(q questions, i int) string // what the scan looks for instead
}

const (
	recallRare      = "recall, a rare word"
	recallUnindexed = "recall, index deleted"
	remember        = "remember"
	rememberBare    = "remember, no index open"
)

func recalls() []recall {
	words := func(name string, of func(questions) []string) recall {
		text := func(q questions, i int) string { return pick(of(q), i) }
		return recall{name: name, scan: text, ask: func(q questions, i int) knowledge.Question { return knowledge.Question{Query: text(q, i)} }}
	}
	rare := words(recallRare, func(q questions) []string { return q.rare })
	common := words("recall, a common word", func(q questions) []string { return q.common })
	several := words("recall, a question", func(q questions) []string { return q.several })
	missing := words("recall, a word that is not there", func(q questions) []string { return q.missing })
	rare.chart, several.chart, missing.nothing = true, true, true
	key := recall{
		name: "recall, an exact key",
		scan: func(q questions, i int) string { return pick(q.keys, i).Key },
		ask:  func(q questions, i int) knowledge.Question { return pick(q.keys, i).question() },
	}
	return []recall{rare, common, several, missing, key}
}

// judge looks whether a question was answered: one that has an answer must get
// one, and one that has none must get none.
func (b *bed) judge(r recall, q knowledge.Question, empty bool) {
	switch asked := cmp.Or(q.Query, q.Category+"/"+q.Key); {
	case empty && !r.nothing:
		b.unexpected(fmt.Sprintf("nothing was found for %q", asked))
	case !empty && r.nothing:
		b.unexpected(fmt.Sprintf("something was found for %q", asked))
	}
}

func (k knownKey) question() knowledge.Question {
	return knowledge.Question{Category: k.Category, Key: k.Key}
}

// pick goes round a list; rehearsals have numbers below 0.
func pick[T any](list []T, i int) T { return list[(i%len(list)+len(list))%len(list)] }

// effort is how often a row is measured; the runs that were asked for, else as
// many as are usual, and fewer when they take long.
func (b *bed) effort(usual int, budget time.Duration) effort {
	e := effort{runs: usual, budget: budget}
	if b.Runs > 0 {
		e.runs = b.Runs
	}
	e.least = min(e.runs, 5)
	return e
}

// rarely is the effort for what takes seconds.
func (b *bed) rarely() effort {
	e := b.effort(3, 2*time.Second)
	e.least, e.once = 1, true
	return e
}
