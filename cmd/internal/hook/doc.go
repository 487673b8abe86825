// Package hook connects the program to the clients that agents work in.
//
// [Machine.Connect] adds our MCP server and our session hooks to a client's configuration.
// [Machine.Disconnect] takes them out. [Machine.Examine] (doctor) starts what is configured and
// says what is wrong.
//
// # Adding a client
//
// clients.go is a table with one row for each client: its files, keys, entry and
// hooks. A row is all that a new client needs. Leave out hooks of which you are
// not certain: most clients show the MCP instructions, which hold the briefing.
//
// # What always holds
//
//   - A file that cannot be read is refused, with the place and a snippet to
//     paste. The other files are edited all the same.
//   - Connecting twice changes nothing the second time.
//   - Comments, order, indentation, line ends and byte order mark stay. JSON is
//     edited with hujson's Patch (json.go), TOML and YAML as lines (text.go). Only our own
//     entry may lose the comments that somebody wrote into it.
//   - The record connect.json in the data directory keeps the whole former file,
//     and is written before the file is. While a file is as we left it,
//     disconnect restores it to the byte. Files and directories that we made go.
//   - A file that somebody changed since (Claude Code rewrites its own all the
//     time) loses our entries and nothing else.
//   - An entry of our name that starts something else was written by a person.
//     Connect replaces it, and disconnect puts it back.
//
// A backup beside each file was rejected: it would be one more file in people's
// dotfiles.
//
// # During a session
//
// [Call.Run] answers a client's hook. It never breaks a session: it ends within
// a second and says nothing if anything goes wrong (logs/hook.log). A session is
// shown each line once; the briefing comes at each start, also after compaction.
// What belongs to an agent is shown only to the session in which it registered,
// if that is certain (ownerOf). A log of each day tells which sessions there were,
// and which facts they got (sessions.go, [ReadBriefings]). It is kept for 30 days.
package hook
