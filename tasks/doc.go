// Package tasks keeps the work that the agents of a project give each other:
// what is to be done, by whom, where it stands, what was said about it and
// what came of it.
//
// # States
//
// A task is in one of the eight states of A2A 1.0, which are Created (that
// protocol's SUBMITTED), Working, InputRequired, AuthRequired, Completed,
// Failed, Canceled and Rejected. Which may follow which is one closed table, in
// leanctx/tasks/state; whatever is not in it is refused with what would be possible. The
// last four are final: what comes after is another task that refers to the
// first. Working after Working tells of progress. Every transition is kept
// with who, when and why, for ever.
//
// # Whose a task is
//
// A task is addressed to an agent, to a type of agent, or to nobody. One that
// is addressed to a type or to nobody is free: the first who claims it, or sets
// it to a state in which work is done, has it. Because that is decided under
// the store's lock on the newest state, exactly one of many has it.
//
// How a task stands is said by who has it and by who gave it, as client and
// agent of A2A do: its creator cancels it, answers what it waits for, and may
// end it, but does not work on it beside its assignee. Who takes over a creator's
// work stands in for it with the open tasks that it gave; else nobody but a
// person could cancel them once it is gone. It goes on to count as their
// creator too, for it may have handed over one piece of work and live on. To put
// the receiver in its place was rejected: who asked for something stays part of
// what was asked. Every other agent is
// refused, and told who may; all may comment. Who is no agent may do all that
// the table allows, be it a person at the command line or a client that never
// registered: where one client is alone in a project, nobody is locked out.
//
// A task whose assignee went silent says so wherever it is shown, and stays
// where it is: nobody knows whether the work is half done. Another agent may
// claim it then, which is noted.
//
// # The file
//
// tasks.json holds the tasks of all projects; a handle sees those of one. The
// layout is described in snapshot.go: what lists need of a task is one line
// and is read at once, its thread stays text until it is asked for. Tasks that
// were finished over 90 days ago stand at the end of the file and are read only
// when one of them is asked for; so they cost a command nothing, and none is
// ever thrown away.
//
// # Secrets
//
// Every text that comes in is redacted before anything else is done with it:
// see package secret.
//
// # Decisions
//
// We keep the words of an update in the history and those of a message in the
// thread; the same text in both was rejected because it would be stored and
// shown twice.
//
// We let an illegal transition be an error of its own and not one of
// arguments: the call was right, the task was elsewhere.
//
// We look at silence when a task is shown and never write it down; a state
// that changes because a clock went on would need somebody to commit it.
//
// We make ids from what is recorded; chance was rejected because a decision
// may be made again and must come out the same, the clock alone because two
// tasks of one instant would then have one id.
//
// We leave tasks that were finished over 90 days ago out of a list unless a
// state was asked for, and say so; a list of years of work would show the same
// fifty, at the price of reading all of it.
//
// We keep one file with a part for old tasks; a second file was rejected
// because a task would move from one to the other in two writes.
//
// We refuse a message to a final task, as the protocol does; it would be read
// by nobody, for the task is in no one's list of work any more.
package tasks
