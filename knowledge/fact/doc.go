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
//	version.go   a version, and what is believed of it when
//	timeline.go  the versions of a fact as they are believed now: [Timeline]
//	source.go    who asserts, and whom a fact is for
//	period.go    half-open periods and their ends
//	instant.go   points in time as somebody wrote them
//	slug.go      a key made of a value
//	terms.go     the words of a text, as a question is compared with it
//	salience.go  effective confidence, salience, the kinds of knowledge
//	severity.go  how much a contradiction matters
//
// # Decisions
//
// We keep the functions on versions beside the type of the file format, of which [Version] is an
// alias. A type of our own was rejected: every version would be copied when it is read and again
// when it is written.
package fact
