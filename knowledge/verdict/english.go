package verdict

import "strings"

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

// american is the American spelling of a British word in lower case.
func american(w string) string {
	if len(w) < 4 {
		return w
	}
	switch w {
	case "licence", "licences":
		return strings.Replace(w, "nce", "nse", 1)
	case "defence", "offence", "pretence":
		return w[:len(w)-2] + "se"
	case "centre", "metre", "litre", "fibre", "theatre", "calibre":
		return w[:len(w)-2] + "er"
	case "centres", "metres", "litres", "fibres", "theatres":
		return w[:len(w)-3] + "ers"
	case "catalogue", "dialogue", "analogue":
		return w[:len(w)-2]
	case "catalogues", "dialogues":
		return w[:len(w)-3] + "s"
	case "grey", "greyed":
		return "gra" + w[3:]
	case "artefact", "artefacts":
		return "artifact" + w[8:]
	case "programme":
		return "program"
	case "programmes":
		return "programs"
	case "judgement", "judgements":
		return "judgment" + w[9:]
	case "acknowledgement", "acknowledgements":
		return "acknowledgment" + w[15:]
	case "ageing":
		return "aging"
	case "queueing":
		return "queuing"
	case "fulfil", "enrol":
		return w + "l"
	case "practise", "practised", "practises", "practising":
		return strings.Replace(w, "ctis", "ctic", 1)
	case "whilst":
		return "while"
	case "amongst":
		return "among"
	case "towards", "afterwards", "forwards", "backwards", "upwards", "downwards":
		return w[:len(w)-1]
	case "learnt":
		return "learned"
	case "sceptical":
		return "skeptical"
	case "cheque", "cheques":
		return strings.Replace(w, "que", "ck", 1)
	}
	if i := strings.LastIndex(w, "is"); i >= 3 && isation(w[i+2:]) && verbInIze(w[:i]) {
		return w[:i] + "iz" + w[i+2:]
	}
	if i := strings.LastIndex(w, "ys"); i >= 4 && isation(w[i+2:]) && (w[:i] == "anal" || w[:i] == "paral" || w[:i] == "catal") && w[i+2:] != "is" {
		return w[:i] + "yz" + w[i+2:]
	}
	if i := strings.Index(w, "our"); i >= 2 && nounInOr(w[:i]) {
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

func isation(ending string) bool {
	switch ending {
	case "e", "ed", "es", "ing", "er", "ers", "able", "ation", "ations", "ational":
		return true
	}
	return false
}

// verbInIze reports whether a stem makes a verb that is written -ise or -ize.
func verbInIze(stem string) bool {
	switch stem {
	case "normal", "initial", "serial", "deserial", "optim", "author", "organ", "reorgan", "synchron", "custom", "priorit",
		"deprioritis", "recogn", "minim", "maxim", "summar", "util", "categor", "central", "decentral", "final", "parallel", "visual",
		"virtual", "standard", "stabil", "special", "general", "material", "modern", "token", "vector", "random", "memo",
		"canonical", "capital", "character", "emphas", "familiar", "formal", "global", "local", "internal", "external",
		"harmon", "ideal", "immun", "industrial", "item", "legal", "linear", "modular", "moderniz", "monet", "neutral", "parameter",
		"personal", "polar", "popular", "public", "quant", "rational", "real", "sanit", "social", "symbol", "synthes", "anonym",
		"pseudonym", "container", "tenant", "apolog", "critic", "digit", "energ", "equal", "homogen", "hypothes", "mobil", "organis",
		"penal", "revolution", "scrutin", "subsid", "vandal", "denormal", "unauthor", "uninitial", "unoptim", "unrecogn", "unorgan":
		return true
	}
	return false
}

// nounInOr reports whether a stem makes a word that is written -our or -or.
func nounInOr(stem string) bool {
	switch stem {
	case "col", "discol", "behavi", "misbehavi", "fav", "hon", "neighb", "lab", "flav", "harb", "hum", "rum", "vap", "endeav", "arm", "sav", "vig", "rig", "od":
		return true
	}
	return false
}

// doubled reports whether a stem doubles its l in British spelling alone.
func doubled(stem string) bool {
	switch stem {
	case "cance", "labe", "mode", "remode", "trave", "signa", "channe", "leve", "tota", "tunne", "fue", "marsha", "unmarsha", "initia", "dia", "equa":
		return true
	}
	return false
}

// negation reports whether a word denies something.
func negation(w string) bool {
	switch w {
	case "not", "no", "never", "none", "nor", "neither", "nobody", "nothing", "nowhere", "without",
		"не", "нет", "ни", "никогда", "без", "nicht", "kein", "keine", "nie", "ohne", "pas", "jamais", "sans", "nunca", "sin":
		return true
	}
	return false
}

// preposition reports whether a word begins a complement: before it a phrase
// may be extended.
func preposition(w string) bool {
	switch w {
	case "for", "in", "on", "with", "at", "by", "via", "to", "from", "as", "of", "per", "during", "through", "behind", "inside", "under", "over":
		return true
	}
	return false
}

func copula(w string) bool {
	switch w {
	case "is", "are", "be", "was", "were", "will", "can", "may", "must", "should":
		return true
	}
	return false
}

// empty reports whether a word says nothing of its own in a refinement.
func empty(w string) bool {
	switch w {
	case "a", "an", "the", "is", "are", "we", "use", "uses":
		return true
	}
	return false
}

// ending reports whether a word, where it was added, may say that the rest no
// longer holds, does not hold everywhere, or is not certain.
func ending(w string) bool {
	switch w {
	case "longer", "anymore", "until", "till", "ended", "ends", "end", "expired", "expires", "stopped", "stop", "stops", "ceased",
		"removed", "remove", "removes", "dropped", "drop", "drops", "deleted", "disabled", "retired", "sunset", "discontinued", "withdrawn",
		"deprecated", "deprecate", "obsolete", "legacy", "outdated", "superseded", "unsupported", "unused",
		"was", "were", "had", "used", "former", "formerly", "previous", "previously", "once", "originally", "initially", "old", "ago", "earlier",
		"fixed", "resolved", "solved", "closed", "completed", "finished", "done", "reverted", "undone", "cancelled", "canceled", "unblocked",
		"replaced", "replaces", "replace", "replacing", "replacement", "migrated", "migrate", "migrating", "moved", "moving", "switched", "switching", "changed", "changing", "renamed",
		"raised", "lowered", "increased", "decreased", "reduced", "bumped", "upgraded", "downgraded", "became",
		"rejected", "reject", "declined", "denied", "abandoned", "considered", "considering", "proposed", "proposal", "planned", "planning",
		"todo", "maybe", "perhaps", "possibly", "probably", "might", "may", "could", "would", "will", "if",
		"except", "excluding", "only", "but", "however", "although", "though", "yet", "unless", "instead", "rather", "against", "off", "away", "leaving",
		"forbidden", "forbids", "prohibited", "banned", "ban", "avoid", "avoids", "disallowed", "illegal", "refused", "wrong", "false", "incorrect", "mistake", "broken", "failed", "fails",
		"partly", "partially", "hardly", "barely", "rarely", "seldom", "sometimes", "optional", "optionally", "almost", "nearly", "few",
		"or", "either", "alternatively", "->", "=>":
		return true
	}
	return false
}

// ordering reports whether a word of a key or value says that order counts, or
// relates what stands before it to what follows.
func ordering(w string) bool {
	switch w {
	case "order", "orders", "ordered", "ordering", "sequence", "step", "steps", "stage", "stages", "phase", "phases", "pipeline", "workflow", "process",
		"procedure", "flow", "chain", "path", "priority", "priorities", "prioritize", "precedence", "preference", "preferred", "prefer", "prefers", "rank", "ranks", "ranking", "ranked",
		"fallback", "fallbacks", "failover", "primary", "secondary", "main", "default", "first", "second", "third", "last", "next", "then", "finally",
		"before", "after", "followed", "follows", "respectively", "respective", "than", "over", "above", "below", "unless", "only", "instead", "rather",
		"except", "but", "versus", "vs", "into", "until", "while", "whereas", "because", "since", "so", "if", "when", "later", "latter", "former", "top", "->", "=>", ">", "<":
		return true
	}
	return false
}

// introduces reports whether a word before a list belongs to all its items: a
// plural, a verb, a preposition.
func introduces(w string) bool {
	switch w {
	case "use", "using", "support", "include", "including", "are", "is", "with", "on", "in", "for", "by", "of", "via", "like", "need", "require", "allow",
		"run", "deploy", "accept", "enable", "disable", "install", "store", "cache", "log", "track", "read", "write", "build", "ship", "check", "test", "have", "contain", "provide",
		"both", "between", "commit", "edit", "keep", "avoid", "target", "to", "at":
		return true
	}
	return len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us")
}

// concludes reports whether a word behind a list that stands first belongs to all its items.
func concludes(w string) bool {
	switch w {
	case "are", "were", "must", "should", "can", "will", "may", "have", "run", "need", "require", "use":
		return true
	}
	return false
}
