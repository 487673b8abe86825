// Package agents lets several agents work on one project: they see each other,
// talk without losing or repeating a word, keep diaries that outlive them, do
// not edit the same file at once, and pass work on whole.
//
// # Who is who
//
// An agent is an id that [Store.Register] gave: its type and four random
// hexadecimal digits or more. Nothing of a process is in it, so that several
// agents of one process are several agents, and one agent may go on in another
// process. A call names its agent; a connection that registered is that agent when it
// names none. Ids are never used twice, in any project, for they name files.
//
// A process holds a lock file for each agent that it registered. The kernel
// lets go of it with the process, so an agent whose lock can be had is nobody's, and who
// registers with its type and role goes on as it. The lock is taken before
// the commit. Whether an agent is at work is another question, and its last
// activity answers it: after 24 hours it leaves the list. Every commit of an agent is a
// sign of life; calls that commit nothing write one down once in five minutes.
//
// # Messages
//
// What stands on the scratchpad, and who has still to see which of it, is
// leanctx/agents/scratchpad's. Nothing is dropped unread: broadcasts wait for
// agents that are away, for seven days, direct messages for ever.
//
// Reading is a commit, made before the answer is given. A reader that is
// killed between the two has lost that one page; to give it again was rejected because
// every lost answer would then be a repetition, and there is nothing by which a reader
// could tell. A read that finds nothing takes no lock and writes nothing.
//
// A read that cannot be written down, as on a full disk, gives the messages all
// the same and says that they will come again. To refuse it was rejected: nobody
// could then learn what the others say about the full disk, and a repetition
// that was foretold misleads nobody.
//
// # Claims
//
// A claim is a lease with a fencing token, which grows with every lease of the
// project; to renew keeps it. A directory stands for all that is in it. Paths
// are those that symbolic links lead to, so that a file has one name.
//
// It is the journal that decides who has a path, so there is one holder at a
// time, and the token tells a late one from it.
//
// # Clocks
//
// How long something lasts (a lease, a ttl, an agent's silence) is told by the
// clock of who asks, compared with the clock of who did it. We do not compare recorded
// times, although these never go back: one process whose clock is a year ahead moves
// them by a year for everybody, and with them would end every claim there is, silence
// every agent, and then hold time still for a year. What remains: a clock that is set back
// keeps claims for as much longer; one that claims from more than a day ahead claims nothing;
// and no single clock has broadcasts dropped that others have not read.
//
// # Handoff
//
// Claims and messages are in the registry, tasks in a store of their own. A
// handoff is first a promise in the registry; then the tasks move; then one
// commit moves the claims, with new tokens, and gives the receiver its bundle.
// Whoever next looks at agents, claims or tasks in the project first keeps a
// promise whose process was killed, under a lock file of the sender's, so that it
// is not done twice at once. To move the tasks last was rejected: the receiver
// would have been told of tasks that it has not. Only the process that made a promise takes
// it back, when the tasks could not be moved at all.
// With tasks that the sender gave to others the receiver stands in for it; see
// leanctx/tasks.
//
// # Files
//
//	registry.json, .journal     all projects' agents, messages, claims, handoffs
//	diaries/<id>.json, .journal an agent's diary
//	live/<id>.lock              held by the process that an agent lives in
//	live/<id>.others.lock       shared by all others that act as it
//
// One registry for all projects keeps ids unique; a handle sees the part of
// its own project only. Texts are redacted before they are stored.
package agents
