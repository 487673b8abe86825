// Package verdict compares two values of a fact without a model.
//
// A value is read into atoms: words, names, numbers, quantities and pauses.
// [Compare] answers:
//
//	Equal      the same atoms; the new assertion confirms the old value
//	Refined    the new value says all that the old one says, and more
//	Different  anything else
//
// [Canonical] makes the form that values are compared by: values are equal if their
// forms are. [Form.Hash] finds equal values in an index.
//
// # What counts
//
// Words are compared without case, names (userId, src/a.go) as written.
// A quantity is a number with its unit in a base unit. 500 ms is 0.5 s, 10 MB
// is 10,000,000 bytes, 50 % is 50%. It never equals a number without a unit.
// A bare number keeps its digits: Go 1.20 is not Go 1.2. Number words up to a
// hundred, a dozen, and grouped digits (10,000) are numbers. So are an hour, half
// a minute, v1.4 and :8080, which is port 8080.
//
// These do not count:
//
//   - white space, one closing mark, articles, and quotes, back-ticks and parentheses around words;
//   - the mark between a name and its value (port: 8080);
//   - British or American spelling, and contractions;
//   - at the beginning, the words of the whole key, and then is, are, use, uses or we use;
//   - which word says yes or no (true, on, enabled), if it is the whole value and the key denies nothing.
//
// All of these count if the key speaks of a command, a tag or a format.
// The order of words counts, except between the items of a list. A list has at
// least three items, or two joined by "and"; the items have the same number of
// words. Order counts there too if the key or the value speaks of order, if the items may belong
// to several things (dev and prod: a and b), and between bare numbers (255, 0, 0).
//
// A refinement keeps every atom of the old value in order, with its negation.
// It may insert little inside a phrase, and more around it. It adds no "not",
// no word of ending ("until", "removed", "only") and no alternative ("or").
//
// Doubt goes to Different: a false confirmation costs trust.
package verdict

// Kind is how a new value relates to an old one.
type Kind uint8

// The kinds.
const (
	Different Kind = iota
	Refined        // the new value says all that the old one says, and more
	Equal
)

// Compare tells how the new value of a key relates to the old one. The key is read
// as by [Canonical]; it may be empty.
func Compare(key, old, new string) Kind {
	if old == new {
		return Equal
	}
	return Canonical(key, old).Compare(Canonical(key, new))
}

// Compare tells how f, the new value, relates to the old one.
func (old Form) Compare(f Form) Kind {
	switch {
	case old.equal(f):
		return Equal
	case old.refinedBy(f):
		return Refined
	}
	return Different
}
