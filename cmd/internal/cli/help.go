package cli

// helpTemplate is the help of a command, the example before the flags.
const helpTemplate = `{{or .Long .Short}}
{{if .HasExample}}
Example:
  {{.Example}}
{{end}}
Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} <command> [flags]{{else}}{{.UseLine}}{{end}}
{{if .HasAvailableSubCommands}}
Commands:
{{range .Commands}}{{if .IsAvailableCommand}}  {{rpad .Name .NamePadding}}  {{.Short}}
{{end}}{{end}}{{end}}{{if .LocalNonPersistentFlags.HasAvailableFlags}}
Flags:
{{.LocalNonPersistentFlags.FlagUsagesWrapped 80}}{{end}}
Flags of every command:
{{if .HasParent}}{{.InheritedFlags.FlagUsagesWrapped 80}}{{else}}{{.PersistentFlags.FlagUsagesWrapped 80}}{{end -}}
{{if .HasAvailableSubCommands}}
{{.CommandPath}} <command> --help says more about a command.
{{end}}`
