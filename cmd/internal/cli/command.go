package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"leanctx/cmd/internal/op"
	"leanctx/internal/language"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

const (
	stdin    = "-"
	maxStdin = 64 << 20 // bytes; an import may be large, a value is refused far below
)

// call is one command on its way to one operation.
type call struct {
	tool     *op.Tool
	op       *op.Operation
	globals  *Globals
	hints    guide
	begin    func(*op.Tool) error // may be nil
	warn     func(string)
	onAnswer func(op.AnsweredCall) // may be nil
	flags    []*flag               // one for each parameter, in their order
	yes      *flag                 // nil if the operation needs no confirmation
	args     []op.Param
}

// operation makes the command of a row.
func operation(k call) *cobra.Command {
	o := k.op
	for _, p := range o.Params {
		k.flags = append(k.flags, &flag{param: p})
		if p.Arg > 0 {
			k.args = append(k.args, p)
		}
	}
	slices.SortStableFunc(k.args, func(a, b op.Param) int { return cmp.Compare(a.Arg, b.Arg) })
	c := &cobra.Command{
		Use:        k.use(),
		Short:      language.FirstSentence(o.Summary, 0),
		Long:       k.long(),
		Example:    k.example(),
		SuggestFor: o.Also,
		Args:       cobra.ArbitraryArgs,
		RunE:       k.run,
	}
	if o.Name != "" && strings.Contains(o.Name, "_") {
		c.Aliases = []string{o.Name}
	}
	for _, name := range o.Names {
		c.Aliases = append(c.Aliases, name, strings.ReplaceAll(name, "_", "-"))
	}
	set := c.Flags()
	set.SortFlags = false
	for _, f := range k.flags {
		f.addTo(set)
	}
	for _, f := range k.flags {
		f.alsoTo(set)
	}
	if o.Confirms {
		k.yes = &flag{param: op.Param{Name: "confirm", Flag: "yes", Short: "y", Type: op.TypeBoolean, Description: "do it, although it cannot be undone"}}
		k.yes.addTo(set)
	}
	k.complete(c)
	return c
}

// name is the operation's name on the command line.
func (k *call) name() string {
	if k.op.Name == "" {
		return k.tool.Command
	}
	return strings.ReplaceAll(k.op.Name, "_", "-")
}

// use is the line of the help: "remember <value> [flags]".
func (k *call) use() string {
	words := []string{k.name()}
	if k.namedBefore() {
		words = append(words, "[room/key]")
	}
	for _, p := range k.args {
		if p.Required {
			words = append(words, "<"+p.Flag+">")
		} else {
			words = append(words, "["+p.Flag+"]")
		}
	}
	return strings.Join(words, " ")
}

// long is what the help says first.
func (k *call) long() string {
	if !k.namedBefore() {
		return k.op.Summary
	}
	return k.op.Summary + "\nThe fact may stand before its value as room/key, in place of the flags. - reads the value from standard input."
}

// namedBefore reports whether a fact's name may stand before the arguments although it has no position.
func (k *call) namedBefore() bool {
	category, ok := k.op.Param(categoryName)
	_, named := k.op.Param(keyName)
	return ok && named && category.Required && category.Arg == 0
}

// example is a correct call as one would type it.
func (k *call) example() string {
	if line := k.tool.CommandLine(k.op); line != "" {
		return Name + " " + line
	}
	return ""
}

func (k *call) run(c *cobra.Command, words []string) error {
	args, err := k.arguments(c, words)
	if err == nil && k.begin != nil {
		err = k.begin(k.tool)
	}
	if err != nil {
		return err
	}
	answer, err := k.tool.Call(op.InShell(c.Context()), k.op.Name, args)
	// After the answer: in a terminal it would scroll away before it.
	defer func() {
		for _, n := range answer.Notices {
			k.warn(n)
		}
	}()
	if err != nil {
		k.noted(answer, args, err.Error())
		return k.explain(err)
	}
	render := answer.Render
	if Terminal(c.OutOrStdout()) {
		render = answer.RenderWide
	}
	text, err := render()
	if err != nil {
		return err
	}
	if Terminal(c.OutOrStdout()) {
		text = prose.Printable(text)
	}
	if !k.globals.Quiet || k.op.Effect == op.Reads {
		if _, err := fmt.Fprintln(c.OutOrStdout(), text); err != nil {
			return fmt.Errorf("done, but the answer could not be written: %w", err)
		}
	}
	k.noted(answer, args, text)
	return nil
}

// noted passes a call to Options.OnAnswer.
func (k *call) noted(a op.Answer, args map[string]any, text string) {
	if k.onAnswer == nil {
		return
	}
	in, err := json.Marshal(args)
	if err != nil {
		return // arguments of a shell can always be encoded, and a count must not fail a command
	}
	k.onAnswer(op.AnsweredCall{Answer: a, In: string(in), Out: text})
}

// arguments collects the values of flags and positions.
func (k *call) arguments(c *cobra.Command, words []string) (map[string]any, error) {
	args := make(map[string]any)
	for _, f := range k.flags {
		if f.given() {
			args[f.param.Name] = f.value()
		}
	}
	if k.yes != nil && k.yes.given() {
		args[k.yes.param.Name] = k.yes.value()
	}
	for name, v := range map[string]string{"project": k.globals.Project, "agent": k.globals.Agent} {
		if v != "" {
			args[name] = v
		}
	}
	if k.globals.JSON {
		args["output"] = "json"
	}
	return args, k.position(c, words, args)
}

// position assigns the words that are no flags to parameters. A parameter that its flag
// has set gives its position to the next one.
func (k *call) position(c *cobra.Command, words []string, args map[string]any) error {
	dash := c.ArgsLenAtDash()
	words, open := k.places(words, func(p op.Param) bool { _, given := args[p.Name]; return given })
	if last := len(open) - 1; last >= 0 && len(words) > len(open) && freeText(open[last]) && !slices.Contains(words, stdin) {
		words = append(words[:last:last], strings.Join(words[last:], " "))
	}
	for i, word := range words {
		if i >= len(open) {
			return k.tooMany(c, words[i:], len(open) > 0)
		}
		p := open[i]
		if word == stdin && (dash < 0 || i < dash) && p.Name != "file" {
			text, err := read(c.Context(), c.InOrStdin())
			if err != nil {
				return err
			}
			word = text
		}
		if p.Type == op.TypeArray && i+1 < len(words) { // takes all remaining words
			args[p.Name] = words[i:]
			return nil
		}
		args[p.Name] = word // of a list: its elements with commas, as with a flag
	}
	return nil
}

// freeText reports whether a parameter takes all remaining words as one text, as a search does.
func freeText(p op.Param) bool { return p.Name == "query" || p.Name == "task" }

// places assigns a parameter to each word. A fact is named by two words or by
// category/key, which is split if a word is missing. Where there are just as many words as
// required parameters, those get them: judge d-3f2a accept.
func (k *call) places(words []string, given func(op.Param) bool) ([]string, []op.Param) {
	open := slices.DeleteFunc(slices.Clone(k.args), given)
	category, hasCategory := k.op.Param(categoryName)
	key, hasKey := k.op.Param(keyName)
	if !hasCategory || !hasKey || given(category) || given(key) {
		return words, open
	}
	named := open
	if k.namedBefore() { // remember architecture/auth "JWT RS256"
		named = append([]op.Param{category, key}, open...)
	} else if category.Arg == 0 {
		return words, open
	}
	if !category.Required && category.Arg > 0 {
		required := slices.DeleteFunc(slices.Clone(open), func(p op.Param) bool { return !p.Required })
		if len(required) > 0 && len(words) == len(required) {
			return words, required
		}
	}
	need := 0
	for _, p := range named {
		if p.Required || p.Name == categoryName || p.Name == keyName {
			need++
		}
	}
	short := len(words) < need || !category.Required && len(words) == len(named)-1 // questions architecture/auth "how do users sign in"
	if len(words) == 0 || !short {
		return words, open
	}
	if len(words) < need-1 && strings.ContainsFunc(words[0], unicode.IsSpace) { // remember "uses TCP/IP": more than the key is missing
		return words, open
	}
	room, name, ok := strings.Cut(words[0], "/")
	ok = ok && !(category.Required && category.Arg > 0 && !key.Required) // timeline a/b: there may be a room of that name
	if !ok || room == "" || name == "" {
		return words, open
	}
	return append([]string{room, name}, words[1:]...), named
}

// The parameters that name a fact.
const (
	categoryName = "category"
	keyName      = "key"
)

func (k *call) tooMany(c *cobra.Command, rest []string, some bool) error {
	e := &refusal.HintError{Problem: fmt.Sprintf("%s: unexpected argument %q", c.CommandPath(), rest[0]), Hint: k.example()}
	if some {
		e.Hint = "put a value of several words in quotes: " + k.example()
	}
	if e.Hint == "" {
		e.Hint = c.CommandPath() + " --help says what it takes"
	}
	return e
}

// read reads standard input as one value without its last line feed. It returns when ctx
// ends, although a read from a terminal cannot be interrupted.
func read(ctx context.Context, in io.Reader) (string, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, maxStdin+1))
		done <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case r := <-done:
		if r.err != nil {
			return "", fmt.Errorf("standard input: %w", r.err)
		}
		if len(r.data) > maxStdin {
			return "", fmt.Errorf("standard input: more than %d MiB", maxStdin>>20)
		}
		text := strings.TrimSuffix(string(r.data), "\n")
		return strings.TrimSuffix(text, "\r"), nil
	}
}

// Warn prints a warning.
func Warn(w io.Writer, text string) {
	fmt.Fprintf(w, "%s: warning: %s\n", Name, prose.Visible(text, "\n\t"))
}

// Terminal reports whether f is one. Other devices, such as the null device, are none.
func Terminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
