// Package fact treats a fact as a value in time. All functions need only its versions and an
// instant. They tell which version is believed when, how sure a value still is and how much it
// matters. They also tell how much its replacement deserves a second look.
//
// Nothing here reads a clock or a file, and no version is changed in place: who
// puts one right gets a copy. That is what makes the policy of an assertion, in
// package knowledge, a table of cases.
//
// # Files
//
//	version.go   a version, what is believed of it when, and who stands behind it
//	timeline.go  the versions of a fact as they are believed now: [Timeline]
//	period.go    half-open periods and their ends
//	instant.go   points in time as somebody wrote them
//	words.go     the words of a text, and a key made of them
//	salience.go  effective confidence, salience, the kinds of knowledge
//
// # Decisions
//
// We keep the functions on versions beside the type of the file format, of which [Version] is an
// alias. A type of our own was rejected: every version would be copied when it is read and again
// when it is written.
package fact
