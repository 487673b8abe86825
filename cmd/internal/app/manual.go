package app

import (
	"time"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/config"
)

// manual are the texts of the manual page beside the commands.
func manual() cli.Manual {
	m := cli.Manual{
		About: "Keeps facts over time for the agents and people that work on a project: what is true, since when, who said so, how often it was " +
			"confirmed, and what it replaced. The same operations are tools of an MCP server (lean-ctx mcp) and commands. " +
			"A project is found by its git repository. All its work trees, and all clients on the machine, share one memory.\n\n" +
			"Results go to standard output, everything else to standard error. A value may be given by position or by its flag; " +
			"- as an argument is standard input, and -- ends the flags.",
		Environment: []cli.Term{
			{Name: config.DataDirVar, Meaning: "The data directory; ~/.lean-ctx by default."},
			{Name: config.ConfigDirVar, Meaning: "Where config.json is; the data directory by default."},
			{Name: config.ProjectVar, Meaning: "The project, as with --project; by default that of the working directory."},
			{Name: config.AgentVar, Meaning: "The id of the calling agent, as with --agent."},
			{Name: config.HooksVar, Meaning: "off silences the hooks of all clients."},
			{Name: config.LogVar, Meaning: "Level of the log on standard error: debug, info, warn or error; warn by default."},
			{Name: config.ModelsDirVar, Meaning: "The directory of installed models; models in the data directory by default."},
			{Name: config.DownloadVar, Meaning: "1: a server downloads a model when it first needs one; by default nothing is downloaded."},
		},
		Files: []cli.Term{
			{Name: "~/.lean-ctx", Meaning: "The data directory, readable by its owner only. config.json in it is the user's configuration."},
			{Name: ".lean-ctx.json", Meaning: "The configuration of a project, in its root directory."},
			{Name: ".lean-ctx-id", Meaning: "The identity of a project, in its root directory. Its memory is found by it."},
		},
		Exits: []cli.Term{
			{Name: "0", Meaning: "Done. A recall that found nothing is done too."},
			{Name: "1", Meaning: "It failed; standard error says why."},
			{Name: "2", Meaning: "The command line or the configuration is wrong."},
			{Name: "3", Meaning: "A thing that was named does not exist."},
			{Name: "4", Meaning: "Done with warnings, under --strict; or a check found something."},
			{Name: "11", Meaning: "Another process holds the lock, or the team's server cannot be reached."},
			{Name: "12", Meaning: "A file is damaged, or was written by a newer version."},
			{Name: "130", Meaning: "Interrupted."},
		},
	}
	// If the build has no date, the pages bear today's.
	m.Date, _ = time.Parse(time.RFC3339, build().Date)
	return m
}
