package cli

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"leanctx/cmd/internal/op"
)

// Blank is the argument to complete, as the table names it.
type Blank struct {
	Tool     string // the command of the tool
	Argument string
	Category string // of a key: the category that was typed
}

// completionTime is how long a completion may read a store. Only a store that hangs takes it.
const completionTime = 5 * time.Second

// files are the arguments that the shell completes as paths of files.
var files = []string{"file", "path", "paths", "svg", "keep", "dir"}

// complete adds completion to the command of a row, for each flag and each position.
func (k *call) complete(c *cobra.Command) {
	for _, f := range k.flags {
		p := f.param
		if p.Type == op.TypeBoolean {
			continue
		}
		// It fails only for an unknown flag, or one that has a completion already.
		_ = c.RegisterFlagCompletionFunc(p.Flag, func(c *cobra.Command, words []string, typed string) ([]string, cobra.ShellCompDirective) {
			return k.values(c.Context(), p, k.category(words), typed)
		})
	}
	c.ValidArgsFunction = func(c *cobra.Command, words []string, typed string) ([]string, cobra.ShellCompDirective) {
		words, open := k.places(append(words, typed), func(p op.Param) bool { return k.given(p.Name) != "" })
		n := len(words) - 1
		switch {
		case n < len(open):
			return k.values(c.Context(), open[n], k.category(words[:n]), typed)
		case len(open) > 0 && open[len(open)-1].Type == op.TypeArray:
			return k.values(c.Context(), open[len(open)-1], "", typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
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

// values lists the values of an argument. After a slash it completes category/key.
func (k *call) values(ctx context.Context, p op.Param, category, typed string) ([]string, cobra.ShellCompDirective) {
	if target, ok := k.op.Param("target"); ok && len(p.Enum) > 0 && strings.Contains(typed, "/") {
		p = target // a fact's name, where a dispute would have a verdict
	}
	const done = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if len(p.Enum) > 0 {
		return p.Enum, done
	}
	if slices.Contains(files, p.Name) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if k.globals.known == nil {
		return nil, done
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	room, _, slash := strings.Cut(typed, "/")
	if !slash || !slices.Contains([]string{categoryName, keyName, "target"}, p.Name) {
		return plainWords(k.globals.known(ctx, Blank{Tool: k.tool.Command, Argument: p.Name, Category: category})), done
	}
	var facts []string
	for _, key := range k.globals.known(ctx, Blank{Tool: k.tool.Command, Argument: keyName, Category: room}) {
		facts = append(facts, room+"/"+key)
	}
	return plainWords(facts), done
}

// plainWords are the values that mean themselves in every shell. Bash puts what several values begin with on the line as it is,
// and cobra's script evaluates the line when the key is pressed again: a name such as $(rm -r .) would be run. Other names
// are typed in quotes by hand. A description loses the characters by which a shell would evaluate it.
func plainWords(values []string) (out []string) {
	for _, value := range values {
		name, description, described := strings.Cut(value, "\t")
		if !isPlain(name) {
			continue
		}
		if described {
			name += "\t" + strings.Map(func(r rune) rune {
				if strings.ContainsRune("$`\\", r) || unicode.IsControl(r) {
					return -1
				}
				return r
			}, description)
		}
		out = append(out, name)
	}
	return out
}

// isPlain reports whether a text is one word to a shell, without a meaning of its own and no flag.
func isPlain(s string) bool {
	return s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return r >= utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) || r < utf8.RuneSelf && !strings.ContainsRune(plainASCII, r)
	})
}

// plainASCII are the characters that no shell quotes.
const plainASCII = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@+,"

// completion adds cobra's command that writes completion scripts.
func completion(root *cobra.Command, hints guide) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args, c.RunE = cobra.ArbitraryArgs, hints.group // an unknown shell is a mistake in the words
			for _, shell := range c.Commands() {
				shell.Args = none
			}
		}
	}
}
