// Package words takes texts apart: the one analyzer, through which facts and queries go alike. It knows nothing of
// facts or of an index.
//
// # What is a term
//
// [Terms]: The steps are NFKC; runs of letters and digits; compounds by their parts and as a whole (getUserName,
// user_name, src/auth.go). A version number stays one word. Then come lower case, without accents and vowel points.
// Stems are by script: English for Latin, Russian for Cyrillic. Chinese, Japanese, Korean, Thai, Lao, Khmer and
// Burmese are cut into bigrams. Emoji and currency signs are words. Any text will do; invalid UTF-8 is as a space.
//
// A change here changes what is found in an index made before: the index's version of the mapping goes up with it.
//
// # What stands for a term
//
// [Likeness] is a word's beginning, or a slip of the pen; [Shortened] knows what is short for what, from a list.
//
// A beginning of four or five letters is not taken for an abbreviation. port, child and green begin portfolio,
// childhood and greenhouse as auth begins authentication. Neither the share of the word (.44, .56, .50; auth .57, repo
// .40) nor the ending tells them apart. Hence a list, which also has what is shorter (app, env, db) and what is no
// beginning (k8s, msg). A stem that has two meanings is told by the word as it was written: author is not
// authorization. Names of six letters and more were left to the rule (intern of internship, disney of disneyland).
package words
