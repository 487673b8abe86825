package language

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// PastKind is what a question asks about another time than now.
type PastKind string

// The kinds of questions about the past, and the one about what is to come.
const (
	AsksBefore   PastKind = "before"   // the value that another one followed, or what held before an event
	AsksEarlier  PastKind = "earlier"  // the values before the present one
	AsksAfter    PastKind = "after"    // the value that followed another one
	AsksSince    PastKind = "since"    // when a value began
	AsksUntil    PastKind = "until"    // when a value ended
	AsksEver     PastKind = "ever"     // whether a value ever held
	AsksFirst    PastKind = "first"    // the oldest value
	AsksAll      PastKind = "all"      // all values so far
	AsksStill    PastKind = "still"    // whether a value holds yet
	AsksWho      PastKind = "who"      // who said so
	AsksWhy      PastKind = "why"      // why one value followed another
	AsksChanges  PastKind = "changed"  // what changed in a period
	AsksTimeline PastKind = "timeline" // the values over time
	AsksCount    PastKind = "count"    // how many times a value changed
	AsksPlan     PastKind = "planned"  // what will be
)

// Past is what a question asks about another time than now.
type Past struct {
	Kind    PastKind
	Subject string    // the words that say of what, without those of time and of asking
	Verb    string    // of the subject, the verb of what was ever or still done: a word that facts seldom have
	Several []string  // the same one by one, where a question asks for several things
	Old     string    // the value that another one followed: X in "after X", "from X to Y"
	New     string    // the value, or the event, that followed: Y in "before Y", "from X to Y"
	Cue     string    // the words that tell the kind. Where a fact holds them too, they may be what is looked for
	From    time.Time // the period, zero where its end or beginning is open
	Until   time.Time
}

const (
	maxPastWords = 30      // a longer text is a task
	maxPastText  = 2 << 10 // bytes
)

// pastCues are the words of which a question about the past has at least one: most have none, and are not read further.
var pastCues = map[string]bool{
	"before": true, "prior": true, "until": true, "till": true, "earlier": true, "previously": true, "formerly": true, "previous": true, "former": true, "used": true, "use": true, "past": true, "old": true,
	"after": true, "replaced": true, "replace": true, "followed": true, "succeeded": true, "superseded": true, "came": true, "took": true, "instead": true, "become": true, "became": true,
	"since": true, "when": true, "long": true, "day": true, "date": true, "point": true, "ever": true, "once": true, "originally": true, "initially": true, "first": true, "beginning": true, "start": true, "outset": true, "begin": true,
	"far": true, "still": true, "anymore": true, "more": true, "who": true, "whom": true, "whose": true, "why": true, "reason": true, "come": true,
	"changed": true, "change": true, "changes": true, "new": true, "different": true, "happened": true, "decided": true, "decide": true, "decisions": true, "learned": true, "learnt": true, "learn": true, "agreed": true, "added": true, "removed": true, "dropped": true, "ended": true,
	"history": true, "time": true, "times": true, "often": true, "evolved": true, "evolve": true, "evolution": true, "timeline": true, "years": true, "months": true, "now": true, "along": true,
	"will": true, "next": true, "going": true, "planned": true, "upcoming": true, "future": true, "back": true, "preceded": true, "beforehand": true, "predecessor": true, "forerunner": true, "successor": true, "replacement": true, "made": true, "many": true, "miss": true, "missed": true, "anything": true, "something": true, "already": true, "days": true, "had": true,
}

// changeVerbs are the forms of verbs by which a value takes the place of another one.
const changeVerbs = `move|moved|moving|switch|switched|switching|migrate|migrated|migrating|change|changed|changing|go|went|gone|going|replace|replaced|replacing|swap|swapped|swapping|drop|dropped|dropping|leave|left|leaving|abandon|abandoned|ditch|ditched|retire|retired|stop|stopped|choose|chose|chosen|pick|picked|adopt|adopted|raise|raised|lower|lowered|increase|increased|reduce|reduced|rename|renamed|introduce|introduced|remove|removed|convert|converted|upgrade|upgraded|relicense|relicensed|turn|turned|shift|shifted|transition|transitioned|bring|brought|get|got`

// endVerbs are those by which one ends.
const endVerbs = `stop|stopped|stopping|end|ended|ending|drop|dropped|retire|retired|abandon|abandoned|leave|left|quit|cease|ceased|expire|expired|cancel|cancelled|canceled|terminate|terminated|discontinue|discontinued|decommission|decommissioned|remove|removed|get rid|got rid|give up|gave up|given up|ditch|ditched|kill|killed|shut|close|closed|phase out|phased out|switch off|switched off|turn off|turned off|lose|lost|finish|finished|run out|ran out|do away|did away|done away`

// tellVerbs are those of somebody who says or decides.
const tellVerbs = `said|told|tells|says|decided|chose|picked|recorded|noted|wrote|claimed|stated|asserted|mentioned|reported|entered|logged|registered|filed|put down|put in|came up with|brought up|signed off|confirmed|announced|agreed|approved|proposed|suggested|changed|switched|moved|set|introduced|added|removed|ended|insisted|taught|established|documented|remembered|stored|informed|replaced|raised|lowered|dropped|wanted|asked`

// pastForm is a pattern of a question, over its words in lower case joined by spaces.
type pastForm struct {
	kind    PastKind
	pattern string
	tense   tense // what must hold of the words before the pattern's group "cue"
	when    bool  // it needs a period
}

// tense is what the verbs of a question must be.
type tense int

const (
	anyTense   tense = iota
	wasTense         // it speaks of what was: did, was, had, used, a verb in the past; and of nothing that is
	hasTense         // the same, or of what has been
	notPresent       // it speaks of nothing that is
)

// lead is what a question may begin with.
const lead = `^(?:(?:so|and|but|hey|hi|ok|okay|please|well|also|then|now|just|tell|show|give|list|remind|can|could|you|me|us|do|know|i|wonder|wondered|say|exactly) )*`

// pastForms are tried in order; the first that fits is it. A group old or new is a value, cue is what the question says of time.
var pastForms = sync.OnceValue(func() (out []compiledForm) {
	for _, f := range []pastForm{
		// What changed.
		{AsksChanges, lead + `(?P<cue>what(?: s| is| has| have| had| all| else| exactly)* (?:changed|change|new|different|happened))\b`, anyTense, true},
		{AsksChanges, lead + `(?P<cue>what(?: all| else)* (?:was|were|has been|have been|had been|got|things were|facts were)(?: all| newly)* (?:changed|decided|learned|learnt|agreed|settled|added|removed|dropped|recorded|ended|replaced|introduced|retired|moved|new|different))\b`, anyTense, true},
		{AsksChanges, lead + `(?P<cue>what(?: all| else)* (?:did|have|had) (?:we|you|they|i|people|the team|somebody|anybody) (?:all )?(?:change|changed|decide|decided|learn|learned|learnt|agree|agreed|settle|settled|drop|dropped|replace|replaced|introduce|introduced))\b`, anyTense, true},
		{AsksChanges, lead + `(?P<cue>(?:what|which|all|any|the|were there|are there)(?: were| are)?(?: the| all| any| of| other)* (?:changes|decisions|news)(?: were made| were taken| did we make| did we take| happened| were there)?)\b`, anyTense, true},
		{AsksChanges, lead + `(?P<cue>(?:which|what) (?:facts|things|values) (?:have |had |were |has )?(?:changed|new|added|removed|decided|replaced))\b`, anyTense, true},
		{AsksChanges, lead + `(?P<cue>(?:changes|decisions))\b`, anyTense, true},
		{AsksChanges, lead + `(?P<cue>(?:did|has|have|was|is|were|are|there|there s)?(?: there)? ?(?:anything|something|any facts|anything else)(?: have| has| is| was)?(?: been)? (?:changed|change|changes|new|happened|happen|different|decided|added|removed))\b`, anyTense, true},
		{AsksChanges, lead + `(?P<cue>what (?:did|have|has) (?:i|we|you) (?:miss|missed))\b`, anyTense, true},
		// Why.
		{AsksWhy, `(?P<cue>why) (?:did|was|were|have|has|had) (?:.* )?(?:` + changeVerbs + `|` + endVerbs + `)\b`, anyTense, false},
		{AsksWhy, `(?P<cue>what (?:was|is) the reason) (?:for|that|why|behind|of) .*\b(?:` + changeVerbs + `|move|switch|change|migration)\b`, anyTense, false},
		{AsksWhy, `(?P<cue>why) (?:we|they|you|the team) (?:.* )?(?:` + changeVerbs + `|` + endVerbs + `)\b`, anyTense, false},
		{AsksWhy, `(?P<cue>why (?:do|does|don|doesn|are|aren|is|isn|can|cannot)(?: t)?(?: we| you| they| i)?(?: not)?) (?:.* )?(?:no longer|any more|anymore|any longer)\b`, anyTense, false},
		{AsksWhy, `(?P<cue>(?:for|from) (?:what|which) reason) (?:did|was|were|have|has|had) (?:.* )?(?:` + changeVerbs + `)\b`, anyTense, false},
		{AsksWhy, `(?P<cue>what (?:made|caused|led) (?:us|you|them|the team)(?: to)?) (?:.* )?(?:` + changeVerbs + `)\b`, anyTense, false},
		{AsksWhy, `(?P<cue>how come) (?:we|they|you|it|the) .*\b(?:` + changeVerbs + `)\b`, anyTense, false},
		// How many times, and over time.
		{AsksTimeline, lead + `(?P<cue>what(?: has| have| had| was| were| else| all| did we| have we)* (?:changed|change|decided|decide|learned|agreed)) (?:about|in|with|for|regarding|on|of)\b`, anyTense, false},
		{AsksCount, `(?P<cue>how (?:many times|often)) (?:did|has|have|had|was|were) .*\b(?:` + changeVerbs + `)\b`, anyTense, false},
		{AsksTimeline, `(?P<cue>how) (?:did|has|have|had) .*\b(?:changed|change|evolved|evolve|developed|develop|progressed)\b`, anyTense, false},
		{AsksTimeline, `(?P<cue>(?:the |a )?(?:whole |full |complete |entire )?(?:history|evolution|timeline) (?:of|for))\b`, anyTense, false},
		{AsksTimeline, `(?P<cue>over time|over the (?:years|months|weeks|past|last)|throughout the (?:years|months|project)|through the (?:years|months)|along the way)\b`, notPresent, false},
		// Since when, until when.
		{AsksSince, `(?P<cue>(?:since|from|as from|as of|starting|beginning) when(?: on)?|since how long|since (?:what|which) (?:day|date|month|year|time|version))\b`, anyTense, false},
		{AsksUntil, `(?P<cue>(?:until|till|up to) when) (?:was|were|did|had|could|have|has)\b`, anyTense, false},
		{AsksUntil, `(?P<cue>when) (?:exactly )?(?:did|was|were|has|have|had) (?:.* )?(?:` + endVerbs + `)\b`, anyTense, false},
		{AsksUntil, `(?P<cue>(?:on |in |at |by )?(?:what|which) (?:day|date|month|year|point|time)) (?:did|was|were|has|have|had) (?:.* )?(?:` + endVerbs + `)\b`, anyTense, false},
		{AsksSince, `(?P<cue>when) (?:exactly |first )?(?:did|was|were|has|have|had)\b`, anyTense, false},
		{AsksSince, `(?P<cue>(?:on|in|at) (?:what|which) (?:day|date|month|year|point)) (?:did|was|were|has|have|had)\b`, anyTense, false},
		{AsksUntil, lead + `(?P<cue>when) (?:(?:we|they|you|it|the \S+|our \S+) )?(?:stopped|ended|finished|dropped|retired|abandoned|ditched|removed|gave up|got rid)\b`, anyTense, false},
		{AsksSince, lead + `(?P<cue>when) (?:we|they|you|it) (?:have |had )?(?:moved|switched|migrated|changed|went|started|began|introduced|adopted|upgraded|replaced|chose|came|got)\b`, anyTense, false},
		{AsksSince, lead + `(?P<cue>when) (?:came|began|started|joined)\b`, anyTense, false},
		{AsksSince, `(?P<cue>(?:for )?how long) (?:have|has)\b`, anyTense, false},
		{AsksSince, `(?P<cue>(?:for )?how long) (?:do|does|is|are|am) .*\b(?:already|by now|now)\b`, anyTense, false},
		{AsksSince, `(?P<cue>(?:for )?how long) (?:are|is) (?:we|they|you) (?:already |now )?(?:on|with|using|running|at)\b`, anyTense, false},
		{AsksWho, lead + `(?P<cue>who (?:has |had )?replaced) .+ (?:with|by|through|in favour of|in favor of) .+`, anyTense, false},
		// Who came after somebody. Who replaced a thing with another one is asked otherwise: who switched it.
		{AsksAfter, lead + `(?P<subject>who) (?:has |had )?(?P<cue>replaced|succeeded|followed) (?P<old>[^~]+?)(?: in the role| in this role| in that role)?$`, anyTense, false},
		// Who said so.
		{AsksWho, lead + `(?P<cue>who(?: was it who| was it that| was the one who| has| had| have| all| else| first)* (?:` + tellVerbs + `))\b`, anyTense, false},
		{AsksWho, lead + `(?P<cue>whose (?:idea|decision|word|choice|call|suggestion|fact)) (?:was|is)\b`, anyTense, false},
		{AsksWho, `(?P<cue>by whom) (?:was|were)\b`, anyTense, false},
		// After.
		{AsksAfter, `(?P<subject>(?:what|which|who)(?: \S+){0,3}) (?P<cue>replaced|followed|succeeded|superseded|came after|came next after|came instead of|took over from|took the place of|took over for) (?P<old>.+)`, anyTense, false},
		{AsksAfter, `(?:what|which|who)(?P<subject>(?: \S+){0,3}?) (?:was|were|has|have|had|is|got) (?P<old>.+?)(?: been)? (?P<cue>replaced|superseded|followed|succeeded)(?: by| with)?(?: what)?$`, anyTense, false},
		{AsksAfter, `(?P<cue>(?:by|with) what) (?:was|were) (?P<old>.+) (?:replaced|superseded|followed|succeeded)`, anyTense, false},
		{AsksAfter, `what(?P<subject>(?: \S+){0,2}?) did (?:we|they|you) (?P<cue>replace) (?P<old>.+?)(?: with| by)$`, anyTense, false},
		{AsksAfter, `what(?P<subject> .*)? (?P<cue>instead of) (?P<old>.+)`, anyTense, false},
		{AsksAfter, `what(?: has)? (?P<cue>became|become|happened) (?:of|to|with) (?P<old>.+)`, anyTense, false},
		{AsksAfter, `(?P<subject>(?:what|which|who|where|how) .+?) (?P<cue>once|when|after) (?P<old>.+?) (?:was|were|had|got|has been|had been) (?:gone|left|over|(?:` + endVerbs + `)|replaced)$`, anyTense, false},
		{AsksAfter, `what did (?P<old>.+) (?P<cue>become)$`, anyTense, false},
		{AsksAfter, `(?P<subject>(?:what|which|who) .*)?\b(?P<cue>successor|replacement) (?:of|to|for) (?P<old>.+)`, notPresent, false},
		{AsksAfter, `(?:what|which|who) (?:is|was|were|are|became|s) (?P<old>\S+(?: \S+){0,3}?)(?: s)? (?P<cue>successor|replacement)$`, anyTense, false},
		{AsksAfter, lead + `(?:or |what about |how about |what was |what came |what |who )*(?P<cue>after) (?P<old>[^,]+?) (?P<subject>(?:what|which|who|where|how) (?:did|was|were|had|have|has|came) .+)`, anyTense, false},
		// Before.
		{AsksBefore, `(?P<subject>(?:what|which|who) .*)?\b(?P<cue>predecessor|forerunner) (?:of|to|for) (?P<new>.+)`, anyTense, false},
		{AsksBefore, `(?:what|which|who) (?:is|was|were|are|s) (?P<new>\S+(?: \S+){0,3}?)(?: s)? (?P<cue>predecessor|forerunner)$`, anyTense, false},
		{AsksAfter, `(?P<subject>what|which|who)(?: \S+){0,3} (?P<cue>preceded by) (?P<old>.+)`, anyTense, false},
		{AsksBefore, `(?P<subject>(?:what|which|who)(?: \S+){0,3}) (?P<cue>preceded|came before|came right before) (?P<new>.+)`, anyTense, false},
		{AsksBefore, `^(?P<cue>before|prior to) (?P<new>[^,]+?) (?P<subject>(?:what|which|who|where|how) .+)`, anyTense, false},
		{AsksBefore, lead + `(?P<cue>before|prior to) (?P<new>[^,]+?) (?P<subject>(?:we|they|you|i|it|there) (?:\S+ )?(?:had|used|ran|was|were|did|have|worked|stored|kept|hosted|deployed|lived|sat)\b.*)`, anyTense, false},
		{AsksBefore, `^(?:and |or |but |so )+(?:what about |how about |what was |what |who was |who )?(?P<cue>before|prior to) (?P<new>[^,]+)$`, anyTense, false},
		{AsksBefore, `^(?:what|how) about (?P<cue>before|prior to) (?P<new>[^,]+)$`, anyTense, false},
		{AsksBefore, `(?P<subject>.+?) (?:right |just |shortly )?(?P<cue>before|prior to|prior|previous to|until|ahead of) (?P<new>.+)`, wasTense, false},
		{AsksAfter, `(?P<subject>.+?) (?:right |just |shortly )?(?P<cue>after) (?P<old>.+)`, wasTense, false},
		{AsksUntil, `(?P<cue>(?:for )?how long) (?:did|was|were|had)\b`, anyTense, false},
		// Earlier.
		{AsksEarlier, `(?P<cue>(?:did|we|you|they|i|it|there|who|what|that)(?: all)? (?:used|use) to)\b`, wasTense, false},
		{AsksEarlier, `did (?:.* )?(?P<cue>use to)\b`, anyTense, false},
		{AsksEarlier, `(?P<cue>previously|formerly|beforehand|in the past|back then|earlier|before)(?: that| then| this| it)?$`, wasTense, false},
		{AsksEarlier, `(?P<cue>previously|formerly|in the past|back then|in (?:the )?(?:former|earlier|old) (?:times|days)|in those days)\b`, wasTense, false},
		{AsksEarlier, lead + `(?:what|who|which|where)(?: is| s| was| were| are| did| had)? (?:.* )?(?P<cue>previous|former|prior|preceding|earlier) \S+`, notPresent, false},
		{AsksEarlier, lead + `(?:all |the |our |my )*(?P<cue>previous|former|prior|preceding|earlier|old) \S+(?: \S+){0,3}$`, notPresent, false},
		{AsksEarlier, lead + `(?:what|who|which|where) (?:was|were) (?:our |the |their )?(?P<cue>old) \S+`, anyTense, false},
		// Ever, once, first, so far.
		{AsksFirst, `(?P<cue>originally|initially|at first|to begin with|to start with|in the beginning|at the (?:very )?(?:start|beginning|outset))\b`, wasTense, false},
		{AsksFirst, `(?:was|were|had|did) (?:.* )?(?P<cue>(?:the|our|their|its) (?:very )?first)\b`, wasTense, false},
		{AsksFirst, `(?P<cue>(?:the|our) (?:very )?first) .*\b(?:was|were|had|used|ran|did)\b`, notPresent, false},
		{AsksFirst, `(?:did|have|had) (?:we|they|you|i) (?P<cue>first)\b`, anyTense, false},
		{AsksFirst, lead + `(?:what|which|who|where|how)\b.* (?P<cue>first)$`, wasTense, false},
		{AsksAll, lead + `(?:every|all|each)(?: of| the| our)* (?:\S+ ){1,4}(?:we|they|you) (?:have |ve )?(?:ever )?(?P<cue>had|used|tried)$`, anyTense, false},
		{AsksAll, lead + `(?:which|what) (?:\S+ ){1,3}have (?:we|they|you) (?P<cue>had|used|tried)$`, anyTense, false},
		{AsksEver, `(?:was|were) there (?P<cue>(?:a|any|some) (?:time|point|moment|period)) (?:when|at which|where|in which)\b`, anyTense, false},
		{AsksAll, lead + `(?P<cue>how many) (?:\S+ ){1,4}(?:have|had|did) (?:we|they|you|there) (?:had|have|used|been)\b`, anyTense, false},
		{AsksAll, `(?P<cue>so far|up to now|until now|till now|to date|all along)\b`, hasTense, false},
		{AsksEver, `(?:did|have|has|had|was|were)\b.*\b(?P<cue>ever)\b`, anyTense, false},
		{AsksEver, `(?P<cue>at (?:some|any|one) (?:time|point|stage)|at any time|once upon a time)\b`, wasTense, false},
		{AsksEver, `(?:was|were|did|had) (?:\S+ ){1,4}(?P<cue>once)\b`, wasTense, false},
		// Still.
		{AsksStill, lead + `(?:do|does|is|are|am|can|may|must|has|have|were|was|should) .*(?P<cue>still|any more|anymore|no longer)\b`, anyTense, false},
		{AsksStill, lead + `(?:do|does|is|are|am|can|may|must|has|have) (?P<cue>still|no longer)\b`, anyTense, false},
		{AsksStill, lead + `(?:we|they|you) (?P<cue>still|no longer)\b`, anyTense, false},
		{AsksStill, `^\S+(?: \S+){0,3}? (?:is |are )?(?P<cue>still)(?: in use| used| valid| true| current| active| there)?$`, anyTense, false},
		// What is to come.
		{AsksPlan, `^(?:what|which|who|where|when|how)\b.*\b(?P<cue>will|going to|gonna)\b`, anyTense, false},
		{AsksPlan, `(?P<cue>planned|upcoming|in (?:the )?future|next (?:week|month|quarter|year|sprint))\b`, anyTense, false},
	} {
		out = append(out, compiledForm{f, cueOf(f.pattern), compiled(f.pattern)})
	}
	return out
})

// compiledForm is a form that is compiled when a question first has a word of its cue: to compile all takes 4 ms.
type compiledForm struct {
	pastForm
	cue     []string
	compile func() *regexp.Regexp
}

// common are words of cues that say nothing of a time.
var common = wordSet(`what which who whom how did do does was were is are am has have been be we you they i it us them me the a an our their its in on at of to for from by with all some any one and or s t there that this up no not can may`)

// cueOf are the words of a form's cue, of which a question has at least one, but the common ones. It is nil where it has only
// such.
func cueOf(pattern string) (out []string) {
	_, cue, _ := strings.Cut(pattern, "(?P<cue>")
	depth := 1
	end := strings.IndexFunc(cue, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth == 0
	})
	for w := range strings.FieldsFuncSeq(cue[:end], func(c rune) bool { return c < 'a' || c > 'z' }) {
		if !common[w] {
			out = append(out, w)
		}
	}
	return out
}

// mayFit reports whether a question has a word of the form's cue.
func (f *compiledForm) mayFit(words []Word) bool {
	return f.cue == nil || slices.ContainsFunc(words, func(w Word) bool { return slices.Contains(f.cue, w.Text) })
}

// ReadPast reads what a question asks about another time than now. ok is false for one about the present, or one whose time is
// a date ([FindDate]). "Last week" is counted from now, and a month without a year back from newest. Any text will do.
func ReadPast(text string, now, newest time.Time) (p Past, ok bool) {
	if len(text) > maxPastText {
		return p, false
	}
	words := Words(text)
	if len(words) < 2 || len(words) > maxPastWords {
		return p, false
	}
	some := false
	for i, w := range words {
		words[i].Text = meantCue(w.Text)
		some = some || pastCues[words[i].Text]
	}
	if !some {
		return p, false
	}
	r := newPastReader(text, words, now, newest)
	for _, f := range pastForms() {
		if !f.mayFit(words) {
			continue
		}
		if p, ok = r.read(&f); ok {
			return p, true
		}
	}
	return p, false
}

// maxPasts is how many questions a text may hold.
const maxPasts = 4

// questionEnd matches what stands between two questions: a question mark, or a joint before a word that asks.
var questionEnd = compiled(`(?i)\?[\s.]+\pL|[,;]?\s+(?:and|or|also|as well as)\s+(?:also\s+)?(?:who|what|which|when|where|how|why|since when|until when|did|was|were|do|does|is|are)\s`)

// ReadSeveral reads the questions of a text of several, which all ask about another time than now. Else it is nil.
func ReadSeveral(text string, now, newest time.Time) (out []Past) {
	if len(text) > maxPastText {
		return nil
	}
	ends := questionEnd().FindAllStringIndex(text, maxPasts)
	if len(ends) == 0 || len(ends) == maxPasts {
		return nil
	}
	from := 0
	for _, end := range append(ends, []int{len(text)}) {
		p, ok := ReadPast(text[from:end[0]], now, newest)
		if !ok {
			return nil
		}
		out = append(out, p)
		from = end[0]
	}
	return out
}

// mistyped are the cues that are long enough to be known with one slip, and which no other word of English is a slip away from.
var mistyped = []string{"before", "previously", "previous", "earlier", "originally", "initially", "formerly", "succeeded", "predecessor", "successor", "instead", "history", "timeline", "anymore", "replaced"}

// meantCue is the cue that a word is with one slip, else the word.
func meantCue(w string) string {
	if len(w) < 5 || pastCues[w] || w == "replaces" || w == "replacer" {
		return w
	}
	for _, cue := range mistyped {
		if w[0] == cue[0] && OneEditApart(w, cue) {
			return cue
		}
	}
	return w
}

// pastReader reads a question.
type pastReader struct {
	dates
	text   string
	plain  string // its words in lower case, joined by spaces; those of titles and quotations are written so that no form holds them
	starts []int  // where each word begins in plain
}

// hidden stands before a word of a title or a quotation.
const hidden = "~"

func newPastReader(text string, words []Word, now, newest time.Time) *pastReader {
	r := &pastReader{dates: dates{words, now, newest}, text: text}
	capitals := 0
	for _, w := range words {
		if capitalized(text[w.Start:w.End]) {
			capitals++
		}
	}
	quoted := quotations(text)
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		r.starts = append(r.starts, b.Len())
		title := i > 0 && capitals*3 < len(words)*2 && capitalized(text[w.Start:w.End]) && pastCues[w.Text]
		if title || slices.ContainsFunc(quoted, func(q [2]int) bool { return q[0] < w.Start && w.End <= q[1] }) {
			b.WriteString(hidden)
		}
		b.WriteString(w.Text)
	}
	r.plain = b.String()
	return r
}

// capitalized reports whether a word begins with a capital letter.
func capitalized(word string) bool {
	c, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(c)
}

// quotations are the stretches of a text between quotation marks.
func quotations(text string) (out [][2]int) {
	ends := map[rune]rune{'"': '"', '“': '”', '„': '“', '«': '»', '‘': '’', '`': '`', '\'': '\''}
	var end rune
	start, before := 0, ' '
	for i, c := range text {
		switch {
		case end == 0 && ends[c] != 0 && !unicode.IsLetter(before) && !unicode.IsDigit(before):
			end, start = ends[c], i
		case end != 0 && c == end:
			out = append(out, [2]int{start, i})
			end = 0
		}
		before = c
	}
	return out
}

// read reads a question by a form.
func (r *pastReader) read(f *compiledForm) (p Past, ok bool) {
	form := f.compile()
	at := form.FindStringSubmatchIndex(r.plain)
	if at == nil {
		return p, false
	}
	group := func(name string) (from, to int) { // as words, from up to not including to
		i := form.SubexpIndex(name)
		if i < 0 || at[2*i] < 0 {
			return 0, 0
		}
		return r.wordAt(at[2*i]), r.wordAt(at[2*i+1])
	}
	from, to := group("cue")
	p = Past{Kind: f.kind, Cue: strings.ReplaceAll(r.joined(from, to), hidden, "")}
	if !r.speaks(f.tense, from) || f.kind == AsksEarlier && former[r.word(from)] && r.ofAnother(from) {
		return p, false
	}
	taken := make([]bool, len(r.words))
	take := func(from, to int) {
		for i := from; i < to; i++ {
			taken[i] = true
		}
	}
	take(from, to)
	if f.when {
		if p.From, p.Until, ok = r.period(taken); !ok && !r.anchor(&p, taken) {
			return p, false
		}
	} else {
		_, _, dated := FindDate(r.words, r.now, r.newest)
		switch p.Kind {
		case AsksBefore, AsksAfter, AsksEarlier, AsksFirst, AsksAll, AsksEver:
			if dated {
				return p, false // its time is that date
			}
		case AsksPlan:
		default:
			for _, m := range r.named() {
				if m.inFull {
					take(m.i, m.j+1)
				}
			}
		}
	}
	if p.Kind == AsksPlan {
		p.From, p.Until = r.ahead(taken)
	}
	r.takeWords(taken)
	if from, to := group("old"); to > from {
		r.value(&p.Old, &p, from, to, taken)
	}
	if from, to := group("new"); to > from {
		r.value(&p.New, &p, from, to, taken)
	}
	if p.Kind == AsksBefore && p.New == "" || p.Kind == AsksAfter && p.Old == "" && p.New == "" {
		if p.Kind == AsksAfter {
			return p, false
		}
		p.Kind = AsksEarlier // before that, before it
	}
	if p.Old == "" && p.New == "" && (p.Kind == AsksSince || p.Kind == AsksWhy || p.Kind == AsksUntil || p.Kind == AsksWho) {
		r.fromTo(&p, 0, len(r.words), taken)
	}
	if p.Kind == AsksEver || p.Kind == AsksStill {
		p.Verb = r.verb(to, taken)
	}
	p.Several = r.several(taken)
	p.Subject = strings.TrimSpace(p.Subject + " " + r.rest(0, len(r.words), taken))
	if p.Subject == "" && p.Old == "" && p.New == "" && p.Kind != AsksChanges && p.From.IsZero() {
		return p, false
	}
	return p, true
}

// verb is the word behind "ever" or "still" where that is a verb of the question: did we ever X, do they still X.
func (r *pastReader) verb(i int, taken []bool) string {
	helped := slices.ContainsFunc(r.words[:min(i, len(r.words))], func(w Word) bool { return helping[w.Text] })
	if !helped || i >= len(r.words) || taken[i] || !r.lower(i) {
		return ""
	}
	return r.text[r.words[i].Start:r.words[i].End]
}

var helping = wordSet(`do does did have has had don didn`)

// wordAt is the number of the word that begins at a place of plain, or behind it.
func (r *pastReader) wordAt(place int) int {
	i, _ := slices.BinarySearch(r.starts, place)
	return i
}

func (r *pastReader) joined(from, to int) string {
	if from >= to {
		return ""
	}
	end := len(r.plain)
	if to < len(r.starts) {
		end = r.starts[to] - 1
	}
	return r.plain[r.starts[from]:end]
}

var (
	presentVerbs = wordSet(`is are am do does can may must should shall will need needs isn aren don doesn`)
	pastVerbs    = wordSet(`did was were had didn wasn weren hadn led ran drove came went held kept made built wrote said told chose took stood began got paid sent spoke sold bought owned could would used looked lay sat grew knew gave won lost met read drew flew fell left hosted`)
	notVerbs     = wordSet(`need feed speed seed embed red bed based shared feed fed used embedded hundred indeed exceed`)
)

func wordSet(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

// compiled is an expression that is compiled when it is first used: every command links this package, and few read a question.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// former are the adjectives of what was, prepositions the words that lead from one thing to another.
var (
	former       = wordSet(`previous former prior preceding earlier old`)
	prepositions = wordSet(`of for with about from to on in by`)
)

// ofAnother reports whether an adjective belongs to another thing than the one asked for: the table of former customers.
func (r *pastReader) ofAnother(i int) bool {
	for j := range i {
		if prepositions[r.word(j)] && r.word(j-1) != "name" && r.word(j-1) != "which" && r.word(j-1) != "value" {
			return !r.speaks(wasTense, i)
		}
	}
	return false
}

// speaks reports whether the words before the one at to speak of a time. Where none stand before it, all words count.
func (r *pastReader) speaks(of tense, to int) bool {
	if of == anyTense {
		return true
	}
	from := 0
	if to == 0 {
		to = len(r.words)
	}
	was, is, has := false, false, false
	infinitive := false // after did
	for i := from; i < to; i++ {
		infinitive = infinitive || r.word(i) == "did" || r.word(i) == "didn"
		switch w := r.word(i); {
		case (w == "do" || w == "need" || w == "can") && (r.word(i-1) == "to" || infinitive):
		case presentVerbs[w]:
			is = true
		case (w == "has" || w == "have") && r.word(i+1) == "to":
			is = true
		case w == "has" || w == "have" || w == "been" || w == "ve":
			has = true
		case pastVerbs[w] || len(w) > 4 && strings.HasSuffix(w, "ed") && !notVerbs[w]:
			was = true
		}
	}
	switch of {
	case wasTense:
		return (was || has) && !is
	case hasTense:
		return (was || has) && !is
	}
	return !is || r.words[0].Text == "what" && r.word(1) == "is" || r.words[0].Text == "who" && r.word(1) == "is"
}

// period reads the period of a question about changes.
func (r *pastReader) period(taken []bool) (from, until time.Time, ok bool) {
	today := r.now.UTC().Truncate(24 * time.Hour)
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	take := func(i, n int) bool {
		for ; n > 0; n-- {
			taken[i+n-1] = true
		}
		return true
	}
	for i := range r.words {
		w, next := r.word(i), r.word(i+1)
		led := r.word(i - 1)
		switch {
		case w == "today":
			return today, until, take(i, 1)
		case w == "recently" || w == "lately":
			return today.AddDate(0, 0, -14), until, take(i, 1)
		case w == "this" && (next == "week" || next == "month" || next == "year" || next == "morning"):
			from = map[string]time.Time{"week": monday, "month": dayOf(today.Year(), today.Month(), 1), "year": dayOf(today.Year(), 1, 1), "morning": today}[next]
			return from, until, take(i, 2)
		case w == "last" && next == "week" && r.word(i+2) != "of":
			if led == "since" {
				return monday.AddDate(0, 0, -7), until, take(i-1, 3)
			}
			return monday.AddDate(0, 0, -7), endOfDay(monday.AddDate(0, 0, -1)), take(i, 2)
		case w == "last" || w == "past":
			n, unit, words := 1, next, 2
			if k, ok := number(next); ok {
				n, unit, words = k, r.word(i+2), 3
			} else if w == "last" || !strings.HasSuffix(next, "s") && next != "week" && next != "month" && next != "year" && next != "day" {
				continue
			}
			if from, ok = back(today, n, unit); ok {
				return from, until, take(i, words)
			}
		case (led == "since" || led == "on") && slices.Contains(weekdays, w):
			day := today.AddDate(0, 0, -(int(today.Weekday())-slices.Index(weekdays, w)+6)%7-1)
			if led == "on" {
				until = endOfDay(day)
			}
			return day, until, take(i-1, 2)
		}
	}
	all := r.named()
	for _, m := range all {
		m = r.narrow(m)
		i := m.i
		for r.word(i-1) == "the" {
			i--
		}
		lead := r.word(i - 1)
		if !m.inFull && lead != "in" && lead != "during" && lead != "since" && lead != "after" && lead != "before" && lead != "until" && lead != "till" && lead != "on" && lead != "from" && lead != "last" && lead != "over" && lead != "by" {
			continue
		}
		take(i, m.j-i+1)
		if i > 0 {
			taken[i-1] = taken[i-1] || lead != ""
		}
		switch lead {
		case "since", "from":
			return m.first, until, true
		case "after":
			return m.last.AddDate(0, 0, 1), until, true
		case "before", "until", "till", "by":
			last := m.first.Add(-time.Nanosecond)
			if lead != "before" {
				last = endOfDay(m.last)
			}
			return from, last, true
		}
		return m.first, endOfDay(m.last), true
	}
	return from, until, false
}

// ahead reads the period of a question about what is to come: next month, in January 2027. Both are zero where it names none.
func (r *pastReader) ahead(taken []bool) (from, until time.Time) {
	today := r.now.UTC().Truncate(24 * time.Hour)
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	take := func(i, n int) {
		for ; n > 0; n-- {
			taken[i+n-1] = true
		}
	}
	for i := range r.words {
		if r.word(i) != "next" {
			continue
		}
		take(i, min(2, len(r.words)-i))
		y, m, _ := today.Date()
		switch r.word(i + 1) {
		case "week", "sprint":
			return monday.AddDate(0, 0, 7), endOfDay(monday.AddDate(0, 0, 13))
		case "month":
			return dayOf(y, m+1, 1), endOfDay(dayOf(y, m+2, 0))
		case "quarter":
			first := (m-1)/3*3 + 4
			return dayOf(y, first, 1), endOfDay(dayOf(y, first+3, 0))
		case "year":
			return dayOf(y+1, 1, 1), endOfDay(dayOf(y+1, 12, 31))
		}
	}
	for _, m := range r.named() {
		if m = r.narrow(m); m.inFull {
			take(m.i, m.j-m.i+1)
			return m.first, endOfDay(m.last)
		}
	}
	return from, until
}

func number(w string) (int, bool) {
	if k := slices.Index(spelled, w); k > 0 {
		return k, true
	}
	n := 0
	for _, c := range w {
		if c < '0' || c > '9' || n > 1000 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, n > 0
}

// back is a day so many units before another one.
func back(day time.Time, n int, unit string) (time.Time, bool) {
	switch strings.TrimSuffix(unit, "s") {
	case "day":
		return day.AddDate(0, 0, -n), true
	case "week":
		return day.AddDate(0, 0, -7*n), true
	case "month":
		return day.AddDate(0, -n, 0), true
	case "year":
		return day.AddDate(-n, 0, 0), true
	}
	return day, false
}

// anchor reads the event that the period of a question about changes counts from: since, after or before it.
func (r *pastReader) anchor(p *Past, taken []bool) bool {
	for i := range r.words {
		if w := r.word(i); !taken[i] && (w == "since" || w == "after") && i+1 < len(r.words) {
			taken[i] = true
			r.takeWords(taken)
			r.value(&p.New, p, i+1, len(r.words), taken)
			return p.New != ""
		}
	}
	return false
}

// asking are words of asking and of change, which say nothing of the fact. A capital letter makes a name of them.
var asking = wordSet(`what which who whom whose where when why how the a an our we us you they i it its their them this that these those there my your
	is are am was were be been being do does did done have has had will would could can may might must should shall
	use used using uses move moved moving moves switch switched switching switches migrate migrated migrating migration change changed changes changing go goes went going gone start started starting begin began begun stop stopped stopping
	end ended drop dropped dropping leave left quit keep kept come came get got put take took taken replace replaced replacing replacement follow followed succeed succeeded introduce introduced introduction adopt adopted adoption add added adding
	choose chose chosen pick picked decide decided say said tell told run ran running work worked working make made made in on at of to for from with by as into onto out off up down and or but so then than
	over time times every first ever still now right just exactly yet already once again also all any some so place list show give me please very already actually really anymore more longer long any history values value
	moved shift shifted transition back upon about made until till since s t`)

// vague are words that say little of a fact beside any other word.
var vague = wordSet(`pay pays paid paying buy bought buying rely relied relying depend depended depending somebody someone anybody anyone nobody person guy named called remain remained remaining stay stayed staying want wanted need needed thing things something anything stuff rid`)

// takeWords takes the words of asking, and the vague ones where there are others.
func (r *pastReader) takeWords(taken []bool) {
	for i, w := range r.words {
		taken[i] = taken[i] || r.lower(i) && (asking[w.Text] || w.Text == "last" && (changing().MatchString(r.word(i+1)) || r.word(i+1) == "time"))
	}
	if !slices.Contains(taken, false) {
		return
	}
	left := 0
	for i, w := range r.words {
		if !taken[i] && !(r.lower(i) && vague[w.Text]) {
			left++
		}
	}
	for i, w := range r.words {
		taken[i] = taken[i] || left > 0 && r.lower(i) && vague[w.Text]
	}
}

// lower reports whether a word is no name, title or quotation.
func (r *pastReader) lower(i int) bool {
	return (i == 0 || !capitalized(r.text[r.words[i].Start:r.words[i].End])) && !strings.HasPrefix(r.plain[r.starts[i]:], hidden)
}

// rest are the words that nothing took, as written.
func (r *pastReader) rest(from, to int, taken []bool) string {
	var out []string
	for i := from; i < to; i++ {
		if !taken[i] {
			out = append(out, r.text[r.words[i].Start:r.words[i].End])
		}
	}
	return strings.Join(out, " ")
}

// maxSeveral is how many things a question may ask for at once.
const maxSeveral = 4

// owned are the words by which a thing belongs to the one named before: "the importer and its jobs" are asked for together.
var owned = wordSet(`his her its their`)

// several are the words that nothing took, one by one where "and" or a comma stands between them. It is nil for one thing, and
// for several that are asked for together.
func (r *pastReader) several(taken []bool) (out []string) {
	from := 0
	for i := range r.words {
		ends := i+1 == len(r.words) || strings.ContainsAny(r.text[r.words[i].End:r.words[i+1].Start], ",;")
		if w := r.word(i); !ends && w != "and" && w != "plus" {
			continue
		}
		if len(out) > 0 && owned[r.word(from)] {
			return nil
		}
		if rest := r.rest(from, i+1, taken); rest != "" {
			out = append(out, rest)
		}
		from = i + 1
	}
	if len(out) < 2 || len(out) > maxSeveral {
		return nil
	}
	return out
}

// value reads a value, or an event, from some words: what follows "to" where something moved there, else all of them.
func (r *pastReader) value(to *string, p *Past, from, end int, taken []bool) {
	if cut := r.clause(from, end); cut < end {
		end = cut
	}
	if r.fromTo(p, from, end, taken) {
		return
	}
	*to = r.rest(from, end, taken)
	for i := from; i < end; i++ {
		taken[i] = true
	}
}

// clause is where the clause ends that begins at a word: at a comma in the text.
func (r *pastReader) clause(from, end int) int {
	for i := from; i+1 < end; i++ {
		if between := r.text[r.words[i].End:r.words[i+1].Start]; strings.ContainsAny(between, ",;:?!") {
			return i + 1
		}
	}
	return end
}

// changing are the words after which "to" leads to a value: moved to, went up to, the switch to.
var changing = compiled(`^(?:` + changeVerbs + `|moves|switches|changes|changeover|migration|transition|relicensed|up|down|over|back|back up|came|come|set|grew|grow|rise|rose|fell|fall|added)$`)

// fromTo reads "from X to Y", "to Y" and "from X" among some words, where something changed. What stands before them is of the
// subject.
func (r *pastReader) fromTo(p *Past, from, end int, taken []bool) bool {
	change := -1
	for i := from; i < end; i++ {
		w := r.word(i)
		if changing().MatchString(w) && (i == 0 || !capitalized(r.text[r.words[i].Start:r.words[i].End])) {
			change = i
			break
		}
	}
	if change < 0 {
		return false
	}
	source, target := -1, -1
	for i := change + 1; i < end; i++ {
		switch w := r.word(i); {
		case w == "from" && source < 0:
			source = i
		case (w == "to" || w == "into" || w == "with" && r.replaces(change)) && target < 0 && i+1 < end && !(asking[r.word(i+1)] && i+2 >= end) && !r.isVerb(i+1):
			target = i
		}
	}
	if source < 0 && target < 0 {
		return false
	}
	set := func(to *string, i, end int) {
		*to = r.rest(i+1, end, taken)
		for ; i < end; i++ {
			taken[i] = true
		}
	}
	switch {
	case source >= 0 && target > source:
		set(&p.Old, source, target)
		set(&p.New, target, end)
	case source >= 0 && target >= 0:
		set(&p.New, target, source)
		set(&p.Old, source, end)
	case target >= 0:
		set(&p.New, target, end)
	default:
		set(&p.Old, source, end)
	}
	if p.Subject = strings.TrimSpace(p.Subject + " " + r.rest(from, end, taken)); true {
		for i := from; i < end; i++ {
			taken[i] = true
		}
	}
	return p.Old != "" || p.New != ""
}

// replaces reports whether a word says that something was replaced, with something.
func (r *pastReader) replaces(i int) bool {
	w := r.word(i)
	return strings.HasPrefix(w, "replac") || strings.HasPrefix(w, "swap")
}

// isVerb reports whether "to" before a word is of a verb: to use, to be.
func (r *pastReader) isVerb(i int) bool {
	switch r.word(i) {
	case "use", "be", "have", "do", "run", "make", "keep", "get", "go", "work", "take", "support", "write", "ship", "send", "store", "log", "deploy", "build", "test", "host":
		return r.word(i+1) != "" && !capitalized(r.text[r.words[i].Start:r.words[i].End])
	}
	return false
}
