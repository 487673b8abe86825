package app

import (
	"time"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/config"
)

// manual is what the manual pages say beside the commands.
func manual() cli.Manual {
	m := cli.Manual{
		About: "Keeps facts over time for the agents and people that work on a project: what is so, since when, who said it, how often it was " +
			"confirmed, and what it replaced. The same operations are tools of an MCP server (lean-ctx mcp) and commands. " +
			"A project is found by its git repository; what is kept of it is shared by its work trees and by every client on the machine.\n\n" +
			"Results go to standard output, everything else to standard error. A value may be given by position or by its flag; " +
			"- as an argument is standard input, and -- ends the flags.",
		Environment: []cli.Term{
			{Name: config.DataDirVar, Meaning: "Where everything is kept; ~/.lean-ctx by default."},
			{Name: config.ConfigDirVar, Meaning: "Where config.json is; the data directory by default."},
			{Name: config.ProjectVar, Meaning: "The project, as --project names it; by default the one that the working directory is in."},
			{Name: config.AgentVar, Meaning: "The id of the agent that calls, as --agent gives it."},
			{Name: config.HooksVar, Meaning: "With off the hooks of clients say nothing."},
			{Name: config.LogVar, Meaning: "What a server says on standard error: debug, info, warn or error; warn by default."},
			{Name: config.ModelsDirVar, Meaning: "Where the models for recall by meaning are; models in the data directory by default."},
			{Name: config.DownloadVar, Meaning: "With 1 a server fetches a model when it first needs one; nothing is fetched by default."},
		},
		Files: []cli.Term{
			{Name: "~/.lean-ctx", Meaning: "All that is kept, in directories and files that only their owner can read; with config.json, the user's configuration."},
			{Name: ".lean-ctx.json", Meaning: "At the root of a project: its configuration."},
			{Name: ".lean-ctx-id", Meaning: "At the root of a project: the identity that its memory is found by."},
		},
		Exits: []cli.Term{
			{Name: "0", Meaning: "Done. A recall that found nothing is done too."},
			{Name: "1", Meaning: "It failed; standard error says why."},
			{Name: "2", Meaning: "The command line, or the configuration, cannot be understood."},
			{Name: "3", Meaning: "A thing that was named does not exist."},
			{Name: "4", Meaning: "Done with warnings, under --strict."},
			{Name: "11", Meaning: "Another process holds the lock."},
			{Name: "12", Meaning: "A file is damaged, or was written by a newer version."},
			{Name: "130", Meaning: "Interrupted."},
		},
	}
	// Without a date the pages are of today.
	m.Date, _ = time.Parse(time.RFC3339, build().Date)
	return m
}
