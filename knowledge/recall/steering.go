package recall

import (
	"slices"
	"strings"
	"sync"

	"leanctx/internal/language"
	"leanctx/knowledge/words"
)

// steering are the words of courtesy and of instruction with which somebody steers an agent. Alone they ask for nothing, but a
// rule on what they tell the agent to do is worth hearing.
const steering = `thank thanks thx ty please pls sorry hi hey hello great good nice perfect awesome excellent amazing cool well
	fine ok okay okey yes yeah yep yup sure no nope nah right correct exactly agreed lgtm wow true done look looks looking sound
	sounds seem seems work works worked better simpler shorter longer smaller faster bit little
	go ahead continue proceed carry keep going next more again retry try redo undo revert stop wait cancel abort resume start
	finish do it make fix solve change changes commit push merge save apply run execute explain show tell say give add remove
	delete rename rewrite write clean update check verify use let need want think know mean
	one thing things everything anything something nothing same other another last first both rest step part way
	too also yet still just really very now then here there back up down out off away instead`

var steeringTerms = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, w := range words.Terms(steering) {
		out[w] = true
	}
	return out
})

// interrogatives ask: "what changed" wants an answer, "change it" does not.
var interrogatives = []string{"what", "what's", "which", "who", "whose", "whom", "where", "when", "why", "how"}

// Asks reports whether a prompt is a question, and not a task: it has a question mark at its end, or begins with what, which,
// who and the like.
func (q *Question) Asks() bool {
	if q.Long {
		return false
	}
	if strings.HasSuffix(strings.TrimSpace(q.text), "?") {
		return true
	}
	w := language.Words(q.text)
	return len(w) > 0 && slices.Contains(interrogatives, w[0].Text)
}

// Steers reports whether a prompt holds nothing but words of courtesy and of instruction: "thanks, looks good, commit it". It
// needs the rules on commits, and no other fact that shares a word with it.
func (q *Question) Steers() bool {
	if q.Long || slices.ContainsFunc(language.Words(q.text), func(w language.Word) bool { return slices.Contains(interrogatives, w.Text) }) {
		return false
	}
	return !slices.ContainsFunc(q.terms, func(t term) bool {
		return !steeringTerms()[t.text] && !words.IsStop(strings.ToLower(t.written)) && strings.ContainsFunc(t.text, letterOrDigit)
	})
}
