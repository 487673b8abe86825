package hook

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed all:plugin
var pluginFiles embed.FS

// versionMark stands in the files of the plugin for this program's version.
const versionMark = "0.0.0-version"

// WritePlugin writes the directory that Claude Code, Codex and Copilot install
// a plugin from. It writes into a new directory, an empty one or one that it
// wrote before.
func (p Place) WritePlugin(dir, version string) (string, error) {
	files, err := fs.Sub(pluginFiles, "plugin")
	if err != nil {
		return "", err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		data, err := os.ReadFile(filepath.Join(dir, ".claude-plugin", "marketplace.json"))
		if err != nil || !strings.Contains(string(data), `"lean-ctx-market"`) {
			return "", &FileError{Path: dir, Problem: "is not empty: give a directory for the plugin alone"}
		}
	}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		f, err := readFile(to)
		if err != nil {
			return err
		}
		f.mode = 0o644
		return f.write([]byte(p.fillIn(string(data), version)))
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`Plugin written to %[1]s. To install it:
  claude plugin marketplace add %[1]s && claude plugin install lean-ctx@lean-ctx-market
  codex plugin marketplace add %[1]s && codex plugin add lean-ctx@lean-ctx-market
  copilot plugin marketplace add %[1]s && copilot plugin install lean-ctx@lean-ctx-market
  gemini extensions link %[1]s/gemini`, dir), nil
}

// fillIn puts the version and the command into a file of the plugin.
func (p Place) fillIn(text, version string) string {
	text = strings.ReplaceAll(text, versionMark, version)
	if p.Command == server {
		return text
	}
	begin := strings.TrimSuffix(line(p.Command, "", ""), " hook  ") // as a shell reads it
	quoted := string(compact(begin))
	text = strings.ReplaceAll(text, `"lean-ctx hook `, quoted[:len(quoted)-1]+" hook ")
	return strings.ReplaceAll(text, `"command": "lean-ctx"`, `"command": `+string(compact(p.Command)))
}
