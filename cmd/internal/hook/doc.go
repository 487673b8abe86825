// Package hook joins the program to the clients that agents work in: connect
// writes the entries of a client's configuration and disconnect takes them out
// again, and the examination (doctor) starts what is configured and says what
// is wrong.
//
// # The table
//
// terminals.go and editors.go are data: for each client the file and key of its
// MCP servers in each scope, the form of an entry, the file and form of its
// hooks, and how one sees that it is there. What is not certain of a client's hooks is left out:
// most show a model the MCP instructions, with the briefing in them. Where hooks
// may not run, a project's rule sends a model for it: Cursor and Windsurf have
// files of their own for that, others read AGENTS.md.
//
// # Edits
//
// A file is never read, changed and written anew from its meaning: that would
// cost its comments, its order and its indentation. We look up places in the
// text with a parser that knows them (hujson for JSON with comments, the
// unstable parser of go-toml, goccy/go-yaml), put text in there or take it out,
// and read the result again before it is written: what it says must be what it
// said before and our entry. A file that cannot be read is refused with the
// place, and the snippet to paste.
//
// TOML and YAML entries are blocks of lines. Rewriting the syntax tree was
// rejected: go-toml keeps no comments, and goccy/go-yaml keeps them but not
// every indentation. gopkg.in/yaml.v3 was rejected, since nobody keeps it now.
//
// # The way back
//
// Every change is recorded in connect.json of the data directory as the text
// that was put in and taken out, with a checksum of the file before and after,
// and written before the file is.
// While a file is as we left it, disconnect undoes the record and gets the file
// of before to the byte; files and directories that we made go. A file that
// somebody changed since (Claude Code rewrites its own all the time) is edited
// by its structure: our entry goes, and of what holds it only what we made. A
// backup beside each file was rejected: it would be one more file in people's
// dotfiles, and the record does the same.
//
// An entry of our name that starts something else was written by a person. Its
// text is in the record while ours stands in its place, and disconnect puts it
// back; without a record it is left alone. To refuse it was rejected: whoever
// names the client wants it connected.
//
// What a hook answers during a session is the package answer below this one;
// probe starts a server that an entry names, for doctor.
package hook
