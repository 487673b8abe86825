package language

// negations are the words that deny something, in English and a few other languages.
var negations = wordSet(`not no never none nor neither nobody nothing nowhere without cannot не нет ни никогда без nicht kein keine nie ohne pas
	jamais sans nunca sin`)

// Negates reports whether a word in lower case denies something. The short form n't is a word of its own to some
// readers and a part of one to others: each reads it where it cuts its words.
func Negates(word string) bool { return negations[word] }
