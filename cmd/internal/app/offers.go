package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"leanctx/formats"
	"leanctx/formats/foreign"
	"leanctx/internal/prose"
)

// maxOffer is the longest file, in bytes, that connect looks into.
const maxOffer = 1 << 20

// offers names what other programs have written about the project, with the command
// that imports it. home is the user's.
func offers(root, home string) (lines []string) {
	auto := filepath.Join(home, ".claude", "projects", strings.NewReplacer("/", "-", `\`, "-", ":", "-", ".", "-").Replace(root), "memory", "MEMORY.md")
	for _, path := range []string{
		filepath.Join(root, "CLAUDE.md"), filepath.Join(root, "AGENTS.md"), filepath.Join(root, "GEMINI.md"), auto,
		filepath.Join(root, ".beads", "issues.jsonl"),
	} {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxOffer {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		name, within := formats.PathIn(root, path)
		if !within {
			name = path
		}
		m, err := foreign.Parse([]foreign.File{{Name: name, Text: text}}, filepath.Base(root))
		switch {
		case errors.Is(err, foreign.ErrTasks):
			lines = append(lines, fmt.Sprintf("%s has issues of beads; to take them over as tasks: lean-ctx task import %[1]s", name))
		case err == nil && len(m.Records) > 0:
			lines = append(lines, fmt.Sprintf("%s has %s; to take them over: lean-ctx knowledge import %[1]s", name, prose.Count(len(m.Records), "statement")))
		}
	}
	return lines
}
