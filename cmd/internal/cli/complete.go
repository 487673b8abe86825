package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leanctx/cmd/internal/op"
)

// Blank is the argument to complete, as the table names it.
type Blank struct {
	Tool     string // the command of the tool; empty: an argument of every command
	Action   string // empty where the tool has none
	Argument string
	Category string // of a key: the category that was typed
}

// completionTime is how long a completion may read a store. Only a store that hangs takes it.
const completionTime = 5 * time.Second

// files are the arguments that the shell completes as paths of files.
var files = []string{"file", "path", "paths", "svg"}

// directories are the arguments that the shell completes as directories.
var directories = []string{"project", "keep", "dir"}

// complete adds completion to the command of a row, for each flag and each position.
func (k *call) complete(c *cobra.Command) {
	for _, f := range k.flags {
		p := f.param
		if p.Type == op.TypeBoolean {
			continue
		}
		// It fails only for an unknown flag, or one that has a completion already.
		_ = c.RegisterFlagCompletionFunc(p.Flag, func(c *cobra.Command, words []string, typed string) ([]string, cobra.ShellCompDirective) {
			return k.fill(c.Context(), p, k.category(words), nil, typed)
		})
	}
	c.ValidArgsFunction = func(c *cobra.Command, words []string, typed string) ([]string, cobra.ShellCompDirective) {
		words, open := k.places(append(words, typed), func(p op.Param) bool { return k.given(p.Name) != "" })
		words = words[:len(words)-1]
		if len(open) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		p := open[min(len(words), len(open)-1)]
		if len(words) >= len(open) && p.Type != op.TypeArray {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return k.fill(c.Context(), p, k.category(words), words, typed)
	}
}

// given is the value of a flag, or empty.
func (k *call) given(name string) string {
	for _, f := range k.flags {
		if f.param.Name == name && f.given() {
			return f.texts[len(f.texts)-1] // the last: cobra parses the flags twice
		}
	}
	return ""
}

// category is the category that was typed, by flag or by position.
func (k *call) category(words []string) string {
	if c := k.given(categoryName); c != "" {
		return c
	}
	if p, ok := k.op.Param(categoryName); ok && p.Arg == 1 && len(words) > 0 {
		return words[0]
	}
	return ""
}

// fill lists the values of an argument without those that were typed already. After a
// slash it completes category/key.
func (k *call) fill(ctx context.Context, p op.Param, category string, there []string, typed string) ([]string, cobra.ShellCompDirective) {
	ask := func(argument, category string) []string {
		return k.globals.values(ctx, Blank{Tool: k.tool.Command, Action: k.op.Name, Argument: argument, Category: category})
	}
	const done = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	room, _, slash := strings.Cut(typed, "/")
	if _, keyed := k.op.Param(keyName); slash && (p.Name == "target" || keyed && (p.Name == categoryName || p.Name == keyName)) {
		var facts []string
		for _, key := range ask(keyName, room) {
			facts = append(facts, room+"/"+key)
		}
		return facts, done
	}
	if p.Name == "target" {
		var rooms []string
		for _, room := range ask(categoryName, "") {
			name, about, _ := strings.Cut(room, "\t")
			rooms = append(rooms, described(name+"/\t"+about))
		}
		return rooms, done | cobra.ShellCompDirectiveNoSpace
	}
	values := slices.Clone(p.Enum)
	if len(values) == 0 && (p.Name != keyName || category != "") {
		if p.Name != keyName {
			category = ""
		}
		values = ask(p.Name, category)
	}
	if values == nil && slices.Contains(files, p.Name) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if values == nil && slices.Contains(directories, p.Name) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	values = slices.DeleteFunc(values, func(v string) bool {
		word, _, _ := strings.Cut(v, "\t")
		return slices.Contains(there, word)
	})
	return values, done
}

// globalCompletions completes the flags that every command has.
func globalCompletions(root *cobra.Command, g *Globals) {
	_ = root.RegisterFlagCompletionFunc("project", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
	_ = root.RegisterFlagCompletionFunc("agent", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return g.values(c.Context(), Blank{Argument: "agent"}), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	})
}

// values asks the store for values. It returns nothing if that takes too long.
func (g *Globals) values(ctx context.Context, b Blank) []string {
	if g.known == nil {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	values := g.known(ctx, b)
	for i, v := range values {
		values[i] = described(v)
	}
	return values
}

// described is a value for the shell: one word, a tab and a short description.
func described(v string) string {
	word, about, _ := strings.Cut(v, "\t")
	about = strings.Join(strings.Fields(about), " ")
	if short := []rune(about); len(short) > 60 {
		about = string(short[:59]) + "…"
	}
	if about == "" {
		return word
	}
	return word + "\t" + about
}

// shells are the supported shells: the name, how to load the completion once, and how to
// load it in every new shell.
var shells = []struct{ name, now, always, needs string }{
	{"bash", "source <(lean-ctx completion bash)", "lean-ctx completion bash > ~/.local/share/bash-completion/completions/lean-ctx", "\n\nIt needs the package bash-completion."},
	{"zsh", "source <(lean-ctx completion zsh)", `lean-ctx completion zsh > "${fpath[1]}/_lean-ctx"`, ""},
	{"fish", "lean-ctx completion fish | source", "lean-ctx completion fish > ~/.config/fish/completions/lean-ctx.fish", ""},
	{"powershell", "lean-ctx completion powershell | Out-String | Invoke-Expression", "lean-ctx completion powershell >> $PROFILE", ""},
}

// completion is the command that writes completion scripts.
func completion() *cobra.Command {
	c := &cobra.Command{
		Use: "completion", Short: "Write a completion script for your shell.",
		Args: cobra.ArbitraryArgs, RunE: group, ValidArgsFunction: cobra.NoFileCompletions,
	}
	for _, s := range shells {
		c.AddCommand(&cobra.Command{
			Use: s.name, Short: "Write the completion for " + s.name + ".", Args: none,
			Long:              "Write the completion for " + s.name + " to standard output. For this shell:\n\n  " + s.now + "\n\nFor every new one:\n\n  " + s.always + s.needs,
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE:              func(c *cobra.Command, _ []string) error { return script(c, s.name) },
		})
	}
	return c
}

func script(c *cobra.Command, shell string) error {
	root, w := c.Root(), c.OutOrStdout()
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	}
	return root.GenPowerShellCompletionWithDesc(w)
}
