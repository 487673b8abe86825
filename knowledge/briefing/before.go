package briefing

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"leanctx/formats"
	"leanctx/internal/language"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
)

// Tool is a call of a tool that is about to run.
type Tool struct {
	Command string   // of a shell; may be empty
	Files   []string // that it edits or read, from the project's root, with / between the parts
}

const (
	maxBefore       = 2 // facts before a tool
	maxBeforeTokens = 120
	maxToolFiles    = 4 // of a call are looked up

	// minCommand is what the words of a command weigh from which on a user's fact is told, and a word of its key adds keyCommand.
	minCommand = 10
	keyCommand = 2.5
	// minPath is the same for the words of a path.
	minPath = 12

	// usersLead puts what a user says before all that agents say: there is place for two lines, and an agent may write many.
	usersLead = 1e6
)

// Before chooses what to tell before a tool runs. A command is a question about its own words, a file about its path. A
// user's fact or a gotcha is told that names the file or a folder above it, or has it as its source, or whose words weigh
// enough. An agent's fact is told only if it names the path. Mostly there is nothing.
func Before(ctx context.Context, s *knowledge.Store, tool Tool, told, part func(id string) bool) ([]Line, error) {
	var list []Line
	seen := map[string]bool{}
	add := func(v *fact.Version, why string, score float64) {
		if !seen[v.ID] && (told == nil || !told(v.ID)) {
			seen[v.ID] = true
			list = append(list, Line{v, why, score, false})
		}
	}
	files := tool.Files[:min(len(tool.Files), maxToolFiles)]
	command := language.ReadCommand(tool.Command)
	if command.Words != "" {
		grounds, err := knowledge.GroundsOf(ctx, s, command.Words, command.Purposes...)
		if err != nil {
			return nil, err
		}
		for _, g := range grounds {
			for _, p := range command.Paths {
				if names(g.Version, path.Clean(p)) {
					add(g.Version, "names "+p, pathScore(g.Version))
				}
			}
			score := g.Words
			if g.Key > 0 {
				score += keyCommand
			}
			if weighsMore(g.Version) && score >= minCommand {
				add(g.Version, "words "+strings.Join(g.Found, ", ")+fmt.Sprintf(" of the command (%.1f)", score), score)
			}
		}
		list = append(list, rules(grounds, list, func(id string) bool { return told != nil && told(id) || part != nil && part(id) })...)
	}
	for _, file := range files {
		grounds, err := knowledge.GroundsOf(ctx, s, file)
		if err != nil {
			return nil, err
		}
		for _, g := range grounds {
			switch {
			case names(g.Version, file):
				add(g.Version, "names "+file, pathScore(g.Version))
			case weighsMore(g.Version) && g.Words >= minPath:
				add(g.Version, "words "+strings.Join(g.Found, ", ")+fmt.Sprintf(" of the path (%.1f)", g.Words), g.Words)
			}
		}
	}
	for i := range list {
		if fact.Stated(list[i].Version) {
			list[i].Score += usersLead
		}
	}
	return few(list, maxBefore, maxBeforeTokens), nil
}

// pathScore puts what names a path before what shares words with it, and a user's first.
func pathScore(v *fact.Version) float64 {
	if weighsMore(v) {
		return 2 * minPath
	}
	return minPath + 1
}

// names reports whether a fact names a file: an agent's by its path, a user's or a gotcha also by a folder above it or its
// name, or as a source.
func names(v *fact.Version, file string) bool {
	mine := weighsMore(v)
	if slices.ContainsFunc(v.Sources, func(x formats.Source) bool { return mine && sourceFile(x.Ref) == file }) {
		return true
	}
	about := len(v.Key) + 1 + language.SentenceEnd(v.Value, "")
	at := 0
	text := v.Key + " " + v.Value[:min(len(v.Value), maxNaming)]
	for word := range strings.FieldsSeq(text) {
		at += strings.Index(text[at:], word)
		if !reminder.Names(word, file) || tooWide(word) {
			continue
		}
		// A folder that a fact names in passing is not what it is about.
		if strings.Contains(word, file) || mine && (at < about || strings.Contains(word, path.Base(file))) {
			return true
		}
	}
	return false
}

// maxNaming is how many bytes of a value are looked through for the name of a file.
const maxNaming = 8 << 10

// tooWide reports whether a word names files by nothing but an extension, or all files.
func tooWide(word string) bool {
	word = strings.Trim(word, "`'\"()[]<>,:;!?*")
	return word == "" || word == "/" || word == "."
}

// sourceFile is the file of a source, without its lines.
func sourceFile(ref string) string {
	file, _, _ := strings.Cut(ref, ":")
	return path.Clean(file)
}
