// Package advice says what in a store deserves a look, and takes the verdict.
//
// [Health] reports contradictions, disputes, likely conflicts, duplicates, stale facts and
// damage. [Check] compares facts with the files that they name as sources. Both only read.
//
// [Judge] settles a pair of facts that health names, or a dispute. The verdict is stored with
// the facts, so the pair is not named again.
package advice
