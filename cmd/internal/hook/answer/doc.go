// Package answer is what the hooks of a client call during a session: an event
// and the client's JSON come in, the client's own JSON goes out, or nothing.
//
// # Hooks never break a session
//
// An event ends with exit code 0, within a second, and prints nothing if
// anything at all goes wrong; what it was is in logs/hook.log. What two
// clients' hooks would say twice is said once: the first of them makes a file
// named after session, event and source, which takes no lock.
//
// # What is told
//
// A fact beside a prompt and a reminder beside a file are told a session once.
// The briefing is told at each start, also of a session that was compacted or
// resumed: then it is no longer in the context. What hooks themselves put
// before a prompt is not searched for: Gemini CLI hands the briefing on to its
// prompt hook, where it would find itself.
//
// # Whose agent
//
// Several sessions of a client may work in a project, and what comes with an
// event does not say which agent is whose. What is an agent's own (what lies
// unread, its diary) is only for the session in which it registered, if that is
// certain; see [Whose]. A claim is told of unless its holder is certain to be
// the caller's.
package answer
