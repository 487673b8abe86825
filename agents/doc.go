// Package agents lets several agents work on one project: they see each other,
// exchange messages, keep diaries, claim files, and hand work over.
//
// An agent is an id that [Store.Register] gave: its type and random hexadecimal digits. Ids are
// unique across projects, since they name files. The process that registered an agent holds a
// lock file for it. The kernel releases the lock with the process. An agent whose lock is free
// may be resumed by type and role. An agent that did nothing for 24 hours leaves the list.
//
// A broadcast waits seven days for agents that are away, a direct message until it is read,
// unless it has a ttl. All are read in the order of posting. Reading is a commit before the
// answer: a reader killed between the two loses that page. Giving the page again was rejected:
// no reader could recognise the repetition. If the commit cannot be written, as on a full disk,
// the answer says that the messages will come again.
//
// A claim is a lease with a fencing token, see leanctx/agents/lease. What goes to a type
// waits for one agent of it, which need not have registered yet.
//
// # Clocks
//
// Leases, ttls and silence go by the wall clock of the caller, compared with the clock of
// who acted. Recorded times never go back: one clock a year ahead would move them for
// everybody and end every claim. So a clock set back keeps claims for longer, and a claim
// from a clock more than a day ahead is void.
//
// # Handoff
//
// Claims and messages are in the registry, tasks in another store. A handoff moves the tasks
// first; then one commit moves the claims and gives the receiver its bundle. If that commit fails,
// the tasks are given back. A kill between the two leaves the tasks with the receiver; a
// repeated handoff does the rest. A promise on disk that the next process completes was
// rejected: every call in the project had to look for it.
//
// # Files
//
// registry.json with its journal holds all projects' agents, messages, claims and
// handoffs; diaries/<id>.json one agent's diary; live/<id>.lock and live/<id>.others.lock
// its locks. All are read whole. Texts are redacted before they are stored.
package agents
