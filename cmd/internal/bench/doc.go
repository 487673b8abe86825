// Package bench makes a project's store of any size and measures what each
// operation costs on it, beside a floor: the least that a program could do
// which keeps the same promise. It is what `lean-ctx bench` runs.
//
// # The facts
//
// A seed and a size always give the same facts, on every machine: all draws are
// of whole numbers. Categories, keys in camel, snake and kebab case, and values
// of 5 to 40 words are what software projects have; the words follow Zipf's
// law, some 250 of them built in and the rest made of syllables, more of them
// the more facts there are. One fact of twenty superseded another value, one of
// ten was confirmed several times, one of a hundred has aliases and one tags;
// there are patterns and gotchas too. The facts come in by one import, what
// JSON lines have no place for by remember, then the store is compacted, and a
// few more facts are remembered, which is how an ordinary hour leaves it.
//
// # Cold and warm
//
// A command is a new process each time, of the very program that runs the
// benchmark, from its start to its end; files are in the system's cache, as
// they are for the second command of a session. A server's rows are measured in
// a store as a server has it: opened for long, whole in memory, the index open
// and in step. One row goes over MCP to a server that is a process of its own.
//
// # The floors
//
//	an empty Go program  func main() {}, compiled for this run, started in the
//	                     same way; without a compiler true(1), and it says so
//	append and fsync     as many bytes as the commit took, to a bare file on
//	                     the same disk
//	scan of all values   strings.Contains over all values, in memory
//	a hash of its bytes  FNV-1a of the text that is encoded
//	the products alone   of one vector with all others, int8, on all processors
//	the encoding alone   of the texts that a reindexing makes vectors of
//	others               the reading or writing of as many bytes; a server of an
//	                     empty project; the imported file
//
// Each run of a row is followed by one of its floor, so that both see the same
// machine, however busy it is. The ratio is that of the medians. A row's first
// run does not count: it is a rehearsal, unless it takes seconds. p95 of few
// runs is the longest of them.
//
// # What is checked
//
// Answers are looked at: a question that has an answer must get one, and one
// that has none must not. What is otherwise is told in a note, since fast wrong
// answers are worth nothing. Figures are the promises in numbers; a run tells
// those that its sizes and rows allow.
//
// # Decisions
//
// We measure through the public operations and the program itself; benchmarks
// inside the packages (go test -bench) are for those who change them, and see
// what a user never does.
//
// We compile the floor of a command. A hidden subcommand of this program that
// ends at once was rejected: by then its packages have initialised, which is
// half of what a command costs.
//
// We compare figures taken at different times as multiples of their floors; the
// disk of a shared machine is not the same a minute later.
package bench
