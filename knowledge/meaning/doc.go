// Package meaning says what the store has to know of encoders and vectors, to
// recall facts by meaning. It has no facts and no vectors.
//
// Package vectors keeps and compares what encoders give. A fact is encoded as [Of] says:
// the words of its key and aliases, then its value.
//
// How words and meaning are joined is in package recall.
package meaning
