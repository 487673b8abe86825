package verdict

import (
	"strings"
	"sync"

	"leanctx/knowledge/words"
)

// contraction divides a short form: don't is do not.
func contraction(w string) (first, second string, ok bool) {
	switch w {
	case "cannot", "can't":
		return "can", "not", true
	case "won't":
		return "will", "not", true
	case "let's":
		return "let", "us", true
	case "it's", "that's", "there's", "here's", "what's", "who's", "he's", "she's":
		return w[:len(w)-2], "is", true
	}
	for _, c := range [...]struct{ short, long string }{{"n't", "not"}, {"'re", "are"}, {"'ve", "have"}, {"'ll", "will"}, {"'m", "am"}} {
		if first, ok := strings.CutSuffix(w, c.short); ok && first != "" {
			return first, c.long, true
		}
	}
	return "", "", false
}

// americanOf has British words in lower case, each before its American spelling.
var americanOf = sync.OnceValue(func() map[string]string {
	return pairs(`licence license licences licenses defence defense offence offense pretence pretense
	centre center centres centers metre meter metres meters litre liter litres liters fibre fiber fibres fibers
	theatre theater theatres theaters calibre caliber catalogue catalog catalogues catalogs
	dialogue dialog dialogues dialogs analogue analog grey gray greyed grayed artefact artifact artefacts artifacts
	programme program programmes programs judgement judgment judgements judgments ageing aging queueing queuing
	acknowledgement acknowledgment acknowledgements acknowledgments fulfil fulfill enrol enroll
	practise practice practised practiced practises practices practising practicing
	whilst while amongst among towards toward afterwards afterward forwards forward backwards backward
	upwards upward downwards downward learnt learned sceptical skeptical cheque check cheques checks`)
})

func pairs(list string) map[string]string {
	all, out := strings.Fields(list), map[string]string{}
	for i := 0; i < len(all); i += 2 {
		out[all[i]] = all[i+1]
	}
	return out
}

// isation are the endings that follow -is- or -iz-.
var isation = words.Set(`e ed es ing er ers able ation ations ational`)

// verbsInIze are the stems of verbs that are written -ise or -ize.
var verbsInIze = words.Set(`normal initial serial deserial optim author organ reorgan synchron custom priorit deprioritis recogn minim maxim
	summar util categor central decentral final parallel visual virtual standard stabil special general material modern
	token vector random memo canonical capital character emphas familiar formal global local internal external harmon
	ideal immun industrial item legal linear modular moderniz monet neutral parameter personal polar popular public
	quant rational real sanit social symbol synthes anonym pseudonym container tenant apolog critic digit energ equal
	homogen hypothes mobil organis penal revolution scrutin subsid vandal denormal unauthor uninitial unoptim unrecogn
	unorgan`)

// nounsInOr are the stems of words that are written -our or -or.
var nounsInOr = words.Set(`col discol behavi misbehavi fav hon neighb lab flav harb hum rum vap endeav arm sav vig rig od`)

// doubled are the stems that double their l in British spelling alone.
var doubled = words.Set(`cance labe mode remode trave signa channe leve tota tunne fue marsha unmarsha initia dia equa`)

// american is the American spelling of a British word in lower case.
func american(w string) string {
	if len(w) < 4 {
		return w
	}
	if spelling, ok := americanOf()[w]; ok {
		return spelling
	}
	if i := strings.LastIndex(w, "is"); i >= 3 && isation(w[i+2:]) && verbsInIze(w[:i]) {
		return w[:i] + "iz" + w[i+2:]
	}
	if i := strings.LastIndex(w, "ys"); i >= 4 && isation(w[i+2:]) && (w[:i] == "anal" || w[:i] == "paral" || w[:i] == "catal") && w[i+2:] != "is" {
		return w[:i] + "yz" + w[i+2:]
	}
	if i := strings.Index(w, "our"); i >= 2 && nounsInOr(w[:i]) {
		return w[:i] + "or" + w[i+3:]
	}
	if i := strings.LastIndex(w, "ll"); i >= 3 && doubled(w[:i]) {
		switch w[i+2:] {
		case "ed", "ing", "er", "ers":
			return w[:i+1] + w[i+2:]
		}
	}
	return w
}

// truths are the words that mean yes or no, if a value is nothing else.
var truths = map[string]string{
	"true": "yes", "yes": "yes", "on": "yes", "enabled": "yes",
	"false": "no", "no": "no", "off": "no", "disabled": "no",
}

// opposites are words of a key that turn yes into no, beside negations and endings.
var opposites = words.Set(`disable disables disabling skip skips skipping ignore ignores block blocks hide hides mute suppress omit
	prevent deny denies`)

// notations are words of a key whose value is what somebody types or copies.
var notations = words.Set(`tag tags format formats spelling notation syntax casing quote quotes quoting prefix suffix template
	pattern regex regexp command commands cmd`)

// prepositions begin a complement: before one a phrase may be extended.
var prepositions = words.Set(`for in on with at by via to from as of per during through behind inside under over`)

// copulas link a subject to what is said of it.
var copulas = words.Set(`is are be was were will can may must should`)

// fillers say nothing of their own in a refinement.
var fillers = words.Set(`a an the is are we use uses`)

// endings are words that, where they were added, may say that the rest no longer
// holds, does not hold everywhere, or is not certain.
var endings = words.Set(`longer anymore until till ended ends end expired expires stopped stop stops ceased removed remove removes dropped
	drop drops deleted disabled retired sunset discontinued withdrawn deprecated deprecate obsolete legacy outdated
	superseded unsupported unused was were had used former formerly previous previously once originally initially old
	ago earlier fixed resolved solved closed completed finished done reverted undone cancelled canceled unblocked
	replaced replaces replace replacing replacement migrated migrate migrating moved moving switched switching changed
	changing renamed raised lowered increased decreased reduced bumped upgraded downgraded became rejected reject
	declined denied abandoned considered considering proposed proposal planned planning todo maybe perhaps possibly
	probably might may could would will if except excluding only but however although though yet unless instead rather
	against off away leaving forbidden forbids prohibited banned ban avoid avoids disallowed illegal refused wrong false
	incorrect mistake broken failed fails partly partially hardly barely rarely seldom sometimes optional optionally
	almost nearly few or either alternatively -> =>`)

// resolutions are the endings that a bug, a task or a blocker comes to.
var resolutions = words.Set(`fixed resolved solved closed completed finished done unblocked`)

// orderings are words of a key or value that say that order counts, or that relate
// what stands before them to what follows.
var orderings = words.Set(`order orders ordered ordering sequence step steps stage stages phase phases pipeline workflow process procedure flow
	chain path priority priorities prioritize precedence preference preferred prefer prefers rank ranks ranking ranked
	fallback fallbacks failover primary secondary main default first second third last next then finally before after
	followed follows respectively respective than over above below unless only instead rather except but versus vs into
	until while whereas because since so if when later latter former top -> => > <`)

// introductions are words before a list that belong to all its items: verbs and
// prepositions.
var introductions = words.Set(`use using support include including are is with on in for by of via like need require allow run deploy accept enable
	disable install store cache log track read write build ship check test have contain provide both between commit edit
	keep avoid target to at`)

// introduces reports whether a word before a list belongs to all its items. A plural
// does too.
func introduces(w string) bool {
	return introductions(w) || len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us")
}

// conclusions are words behind a list that stands first, which belong to all its items.
var conclusions = words.Set(`are were must should can will may have run need require use`)
