// Package jetstream keeps the logs of a team's project in a NATS JetStream
// stream. It is the only importer of the NATS client.
//
// A project has one stream, and each of its logs one subject of it:
// leanctx.<stream>.<log>. A message is one commit, byte for byte as in the
// journals of the machines. [Stream.Log] is the [journal.Remote] of a log.
//
// # What always holds
//
//   - A commit is published with the sequence of the last message on its
//     subject, so one decided on an older state is refused by the server.
//   - A publish without an answer is repeated with the same message id until the
//     outcome is known or the context ends: then it is [journal.ErrInDoubt]. The
//     server drops the repetition for two hours; later, and after a crash of
//     ours, the chain of checksums in the commits refuses it.
//   - The codes 10071 and 10164 mean that another commit is there, or that one
//     is being settled. The next message on the subject shows which: it is ours,
//     another's, or missing. In the last case we wait and repeat.
//   - For seconds after a failure the last message of a subject may be an old
//     one. A stream that ends too early is looked at again before it counts as
//     set back.
//   - A stream whose metadata does not say that this program made it, or says
//     another project or a newer format, is refused.
//
// A commit that is larger than a message may be is kept in the stream's object
// store, and the message names the object. There the snapshots are too, from which
// a new machine starts: the stream keeps what came after. See snapshot.go, and
// remotesnapshot.go of package journal.
//
// The servers must sync every write (sync_interval: always). A client cannot
// ask for that, nor see it.
package jetstream
