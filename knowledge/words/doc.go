// Package words is the analyzer: it splits texts into terms, facts and queries alike. It knows nothing of facts or of an
// index.
//
// # What is a term
//
// [Terms]: The steps are NFKC; runs of letters and digits; compounds by their parts and as a whole (getUserName,
// user_name, src/auth.go). A version number stays one word. Then come lower case, without accents and vowel points.
// Stems are by script: English for Latin, Russian for Cyrillic. Chinese, Japanese, Korean, Thai, Lao, Khmer and
// Burmese are cut into bigrams. Emoji and currency signs are words. Any text is valid; invalid UTF-8 counts as a space.
//
// A change here changes what existing indexes find. Raise the index's mapping version with it.
//
// # Replacements for a term
//
// [Likeness] finds words by a prefix or one edit; [Shortened] knows abbreviations, from a list.
//
// A prefix of four or five letters is not taken for an abbreviation: port, child and green begin portfolio, childhood and
// greenhouse, as auth begins authentication. Neither the share of the word (.44, .56, .50; auth .57, repo .40) nor its
// ending separates the two kinds. Hence a list. It also has shorter ones (app, env, db) and those that are no prefix (k8s,
// msg). If two words have one stem, the written word decides: author is not authorization. Prefixes of six letters or
// more need no list (intern of internship, disney of disneyland).
package words
