package words

import (
	"strings"
	"sync"
)

// stops are function words, question words and the verbs of asking. The list is short on purpose and used for ranking
// only. Stop words are indexed like any other, so a query of nothing else still finds what holds them.
var stops = Set(`a an the this that these those there here i me my mine we us our ours you your yours he him his she her hers it its
	they them their theirs am is are was were be been being do does did done doing have has had having can could will
	would shall should may might must and or but if then than so because as while of in on at to from by for with about
	into onto out up over under between use used uses using what which who whom whose when where why how not no nor dont
	doesnt didnt isnt arent wasnt cant wont whats im ive some any all each such too very just also only same other own
	both
	и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне было вот от меня о из ему ли
	если или ни быть был него до вас уж вам там потом себя ей они тут где есть для мы тебя их чем была сам без кто этот
	того потому какой какая какие какое при об это эта эти нас наш про над под через когда почему зачем куда чей мой
	свой были будет`)

// IsStop reports whether a folded word is a stop word. A long one is not looked up: it may be any text.
func IsStop(s string) bool { return len(s) <= 16 && stops(s) }

// Set returns a function that reports whether a word is in a list. The set is made at the first
// call, because most commands use few of these sets.
func Set(list string) func(word string) bool {
	set := sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for w := range strings.FieldsSeq(list) {
			out[w] = true
		}
		return out
	})
	return func(word string) bool { return set()[word] }
}
